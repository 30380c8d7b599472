/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* test=protect: what each end saw of its case, and what that comes to. */
#ifndef KRPING_PROTECT_H
#define KRPING_PROTECT_H

#include <linux/types.h>
#include "krping_abi.h"

struct seq_file;

/* By its number: what the client does in a case, and what is wrong with that. */
struct krping_case_row {
	const char *name;
	enum krping_wr_kind verb;
	enum krping_wrong wrong;
};

extern const struct krping_case_row krping_cases[KRPING_NR_CASES];
extern const char *const krping_judgements[KRPING_NR_JUDGEMENTS];

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

u64 krping_note_pack(const struct krping_note *note);
void krping_note_unpack(struct krping_note *note, u64 packed);
enum krping_judgement krping_judge(enum krping_case nr, bool iwarp,
				   const struct krping_note *client,
				   const struct krping_note *server);
void krping_protect_show(struct seq_file *m, enum krping_case nr,
			 const struct krping_protect *found);

#endif /* KRPING_PROTECT_H */
