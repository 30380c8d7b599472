/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * test=protect: what each end saw of a case, and what that comes to.
 */
#ifndef KRPING_PROTECT_H
#define KRPING_PROTECT_H

#include <linux/types.h>
#include "krping_abi.h"

struct seq_file;

/**
 * struct krping_note - what an end saw of a case
 * @saw:	bits of KRPING_SAW_*
 * @status:	enum ib_wc_status, with KRPING_SAW_ERROR
 * @events:	bits of enum ib_event_type, the events that the provider raised
 * @moved:	bytes of this end's memory that are not what they were
 */
struct krping_note {
	u8 saw;
	u8 status;
	u8 events;
	u32 moved;
};

/**
 * struct krping_protect_case - a case that was made
 * @client, @server: what these ends saw
 * @judgement:	what it came to; KRPING_JUDGE_NONE: it was not made
 */
struct krping_protect_case {
	struct krping_note client;
	struct krping_note server;
	enum krping_judgement judgement;
};

/**
 * struct krping_protect - what a run of test=protect has found
 * @cases:	each case
 */
struct krping_protect {
	struct krping_protect_case cases[KRPING_NR_CASES];
};

enum krping_wr_kind krping_case_verb(enum krping_case nr);
enum krping_wrong krping_case_wrong(enum krping_case nr);
const char *krping_case_name(enum krping_case nr);
u64 krping_note_pack(const struct krping_note *note);
void krping_note_unpack(struct krping_note *note, u64 packed);
enum krping_judgement krping_judge(enum krping_case nr, bool iwarp,
				   const struct krping_note *client,
				   const struct krping_note *server);
bool krping_judgement_is_bad(enum krping_judgement judgement);
void krping_protect_show(struct seq_file *m, u32 id, bool client,
			 const struct krping_protect *protect);

#endif /* KRPING_PROTECT_H */
