// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* test=protect: what each end saw of its case, and what that comes to. */
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <rdma/ib_verbs.h>
#include "protect.h"

const struct krping_case_row krping_cases[KRPING_NR_CASES] = {
#define x(n, s, v, w) \
	[KRPING_CASE_##n] = { .name = s, .verb = KRPING_WR_##v, .wrong = KRPING_WRONG_##w },
	KRPING_CASES(x)
#undef x
};

const char *const krping_judgements[KRPING_NR_JUDGEMENTS] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_JUDGE_, n, s)
	KRPING_JUDGEMENTS(x)
#undef x
};

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
 * What a case comes to. A wrong access has to end with an error completion, with an event of the
 * queue pair, or with the end of the connection, and nothing may have moved. If the peer's answer
 * to a message behind the access came, nobody has refused the access.
 */
enum krping_judgement krping_judge(enum krping_case nr, bool iwarp,
				   const struct krping_note *client,
				   const struct krping_note *server)
{
	enum krping_wr_kind verb = krping_cases[nr].verb;
	enum krping_wrong wrong = krping_cases[nr].wrong;
	u8 saw = client->saw;
	bool early;

	if (!wrong)
		return krping_judge_right(client, server);
	if (client->moved || server->moved)
		return KRPING_JUDGE_LEAK;
	/* The next request may go well if the provider did not take this one. */
	if (saw & KRPING_SAW_REFUSED)
		return KRPING_JUDGE_PROTECTED;
	if (saw & KRPING_SAW_MESSAGE || server->saw & KRPING_SAW_MESSAGE)
		return KRPING_JUDGE_LEAK;
	/*
	 * On iWARP nothing answers a WRITE or a SEND, and elsewhere a SEND_WITH_INV is answered
	 * when it has arrived. So the client has the completion before the server has judged
	 * the access.
	 */
	early = verb == KRPING_WR_SEND_INV || (verb == KRPING_WR_RDMA_WRITE && iwarp);
	if (saw & KRPING_SAW_COMPLETED && (wrong >= KRPING_WRONG_LOCAL_INVALIDATED || !early))
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

static void krping_show_word(struct seq_file *m, const char **sep, const char *word)
{
	seq_puts(m, *sep);
	/* Words of the core have blanks. */
	for (; *word; word++)
		seq_putc(m, *word == ' ' ? '_' : *word);
	*sep = "+";
}

static void krping_show_note(struct seq_file *m, const char *who, const struct krping_note *note)
{
	/* By bits of KRPING_SAW_*. The core has a word for an error. */
	static const char *const words[] = { "completed", NULL,	     "not_posted", "message",
					     "end",	  "nothing", "other_data" };
	const char *sep = "";
	unsigned int i;

	seq_printf(m, " %s=", who);
	if (note->saw & KRPING_SAW_NO_VERB)
		krping_show_word(m, &sep, "no_such_verb");
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (note->saw & BIT(i) && words[i])
			krping_show_word(m, &sep, words[i]);
	if (note->saw & KRPING_SAW_ERROR)
		krping_show_word(m, &sep, ib_wc_status_msg(note->status));
	for (i = 0; i < 8; i++)
		if (note->events & BIT(i))
			krping_show_word(m, &sep, ib_event_msg(i));
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
	seq_printf(m, " verdict=%s\n", krping_judgements[found->judgement]);
}
