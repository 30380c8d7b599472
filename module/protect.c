// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test=protect: what each end saw of its case, and what that comes to.
 */
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <rdma/ib_verbs.h>
#include "protect.h"
#include "verdict.h"

static const struct {
	const char *name;
	enum krping_wr_kind verb;
	enum krping_wrong wrong;
} krping_cases[] = {
#define x(n, s, v, w) \
	[KRPING_CASE_##n] = { .name = s, .verb = KRPING_WR_##v, .wrong = KRPING_WRONG_##w },
	KRPING_CASES(x)
#undef x
};

static const char *const judgements[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_JUDGE_, n, s)
	KRPING_JUDGEMENTS(x)
#undef x
};

/* What the client does in a case. */
enum krping_wr_kind krping_case_verb(enum krping_case nr)
{
	return krping_cases[nr].verb;
}

/* What is wrong with that. */
enum krping_wrong krping_case_wrong(enum krping_case nr)
{
	return krping_cases[nr].wrong;
}

/* A note as the address of a message. */
u64 krping_note_pack(const struct krping_note *note)
{
	return (u64)note->moved << 32 | note->events << 16 | note->status << 8 | note->saw;
}

/* The message is the peer's, and may have anything. */
void krping_note_unpack(struct krping_note *note, u64 packed)
{
	note->moved = packed >> 32;
	note->events = packed >> 16;
	note->status = packed >> 8;
	note->saw = packed;
}

/*
 * On iWARP nothing answers a WRITE or a SEND, and elsewhere a SEND_WITH_INV is answered
 * when it has arrived. So the client has the completion before the server has judged
 * the access.
 */
static bool krping_completes_early(enum krping_wr_kind verb, bool iwarp)
{
	return verb == KRPING_WR_SEND_INV || (verb == KRPING_WR_RDMA_WRITE && iwarp);
}

static enum krping_judgement krping_judge_right(const struct krping_note *client,
						const struct krping_note *server)
{
	const u8 good = KRPING_SAW_COMPLETED | KRPING_SAW_MESSAGE;

	if (client->saw & KRPING_SAW_NO_VERB)
		return KRPING_JUDGE_UNSUPPORTED;
	if (client->saw & KRPING_SAW_NOTHING)
		return KRPING_JUDGE_SILENT;
	return client->saw == good && server->saw == KRPING_SAW_MESSAGE ? KRPING_JUDGE_WORKS :
									  KRPING_JUDGE_FAILED;
}

/*
 * What a case comes to. A wrong access has to end with an error completion, with an
 * event of the queue pair, or with the end of the connection, and nothing may have
 * moved. If the peer's answer to a message behind the access came, nobody has refused
 * the access.
 */
enum krping_judgement krping_judge(enum krping_case nr, bool iwarp,
				   const struct krping_note *client,
				   const struct krping_note *server)
{
	enum krping_wrong wrong = krping_cases[nr].wrong;
	bool local = wrong >= KRPING_WRONG_LOCAL_INVALIDATED;
	u8 saw = client->saw;

	if (!wrong)
		return krping_judge_right(client, server);
	if (client->moved || server->moved)
		return KRPING_JUDGE_LEAK;
	/* The next request may go well if the provider did not take this one. */
	if (saw & KRPING_SAW_REFUSED)
		return KRPING_JUDGE_PROTECTED;
	if (saw & KRPING_SAW_MESSAGE || server->saw & KRPING_SAW_MESSAGE)
		return KRPING_JUDGE_LEAK;
	if (saw & KRPING_SAW_COMPLETED &&
	    (local || !krping_completes_early(krping_cases[nr].verb, iwarp)))
		return KRPING_JUDGE_LEAK;
	/* The server's device has refused it, and told its own end. */
	if (server->saw & KRPING_SAW_ERROR || server->events)
		return KRPING_JUDGE_PROTECTED;
	/* The peer's device did not answer, not even with a refusal. */
	if (saw & KRPING_SAW_NOTHING ||
	    (saw & KRPING_SAW_ERROR && client->status == IB_WC_RETRY_EXC_ERR))
		return KRPING_JUDGE_SILENT;
	return saw & (KRPING_SAW_ERROR | KRPING_SAW_END) ? KRPING_JUDGE_PROTECTED :
							   KRPING_JUDGE_SILENT;
}

bool krping_judgement_is_bad(enum krping_judgement judgement)
{
	return judgement == KRPING_JUDGE_FAILED || judgement == KRPING_JUDGE_LEAK ||
	       judgement == KRPING_JUDGE_SILENT;
}

/* Returns the run's cause. */
int krping_case_fail(struct krping_verdict *verdict, enum krping_case nr,
		     enum krping_judgement judgement)
{
	return krping_fail(verdict, -EIO, "case %s is not as it has to be: %s",
			   krping_cases[nr].name, judgements[judgement]);
}

/* Words of the core, without blanks. */
static void krping_show_words(struct seq_file *m, const char *words)
{
	for (; *words; words++)
		seq_putc(m, *words == ' ' ? '_' : *words);
}

static void krping_show_note(struct seq_file *m, const char *who, const struct krping_note *note)
{
	static const struct {
		u8 saw;
		const char *word;
	} words[] = {
		{ KRPING_SAW_NO_VERB, "no_such_verb" },	 { KRPING_SAW_REFUSED, "not_posted" },
		{ KRPING_SAW_COMPLETED, "completed" },	 { KRPING_SAW_MESSAGE, "message" },
		{ KRPING_SAW_OTHER_DATA, "other_data" }, { KRPING_SAW_END, "end" },
		{ KRPING_SAW_NOTHING, "nothing" },
	};
	const char *sep = "";
	unsigned int i;

	seq_printf(m, " %s=", who);
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (!(note->saw & words[i].saw))
			continue;
		seq_printf(m, "%s%s", sep, words[i].word);
		sep = "+";
	}
	if (note->saw & KRPING_SAW_ERROR) {
		seq_puts(m, sep);
		krping_show_words(m, ib_wc_status_msg(note->status));
		sep = "+";
	}
	for (i = 0; i < 8; i++) {
		if (!(note->events & BIT(i)))
			continue;
		seq_puts(m, sep);
		krping_show_words(m, ib_event_msg(i));
		sep = "+";
	}
	if (!*sep)
		seq_putc(m, '-');
	seq_printf(m, " %s_moved=%u", who, note->moved);
}

/* The line of a run in /proc/krping_protect, behind its number and role. */
void krping_protect_show(struct seq_file *m, enum krping_case nr,
			 const struct krping_protect *found)
{
	static const char *const verbs[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_WR_, n, s)
		KRPING_WRS(x)
#undef x
	};
	static const char *const wrongs[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_WRONG_, n, s)
		KRPING_WRONGS(x)
#undef x
	};

	seq_printf(m, " case=%s verb=%s wrong=%s", krping_cases[nr].name,
		   verbs[krping_cases[nr].verb], wrongs[krping_cases[nr].wrong]);
	krping_show_note(m, "client", &found->client);
	krping_show_note(m, "server", &found->server);
	seq_printf(m, " verdict=%s\n", judgements[found->judgement]);
}
