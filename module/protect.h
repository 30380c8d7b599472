/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * test=protect: what each end saw of its case, and what that comes to.
 */
#ifndef KRPING_PROTECT_H
#define KRPING_PROTECT_H

#include <linux/types.h>
#include "krping_abi.h"

struct krping_verdict;
struct seq_file;

/* What an end saw: its half of a case. */
struct krping_note {
	u8 saw;	   /* bits of KRPING_SAW_* */
	u8 status; /* enum ib_wc_status, with KRPING_SAW_ERROR */
	u8 events; /* bits of enum ib_event_type, which the provider raised */
	u32 moved; /* bytes of this end's memory that are not what they were */
};

/* KRPING_JUDGE_NONE: the case is not over. */
struct krping_protect {
	struct krping_note client;
	struct krping_note server;
	enum krping_judgement judgement;
};

enum krping_wr_kind krping_case_verb(enum krping_case nr);
enum krping_wrong krping_case_wrong(enum krping_case nr);
u64 krping_note_pack(const struct krping_note *note);
void krping_note_unpack(struct krping_note *note, u64 packed);
enum krping_judgement krping_judge(enum krping_case nr, bool iwarp,
				   const struct krping_note *client,
				   const struct krping_note *server);
bool krping_judgement_is_bad(enum krping_judgement judgement);
int krping_case_fail(struct krping_verdict *verdict, enum krping_case nr,
		     enum krping_judgement judgement);
void krping_protect_show(struct seq_file *m, enum krping_case nr,
			 const struct krping_protect *found);

#endif /* KRPING_PROTECT_H */
