/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which runs a tool has seen, and how much of each. The slots of runs belong to the
 * kernel side, which gives them to other runs in its own time: a tool that looks
 * seldom may miss runs, and one that reads seldom may miss records. Both are counted.
 */
#ifndef KRP_LIB_FOLLOW_H
#define KRP_LIB_FOLLOW_H

#include "iters.h"
#include "programs.h"

/* The running totals of a run, as each of its records has them. */
struct krp_totals {
	uint64_t records; /* records */
	uint64_t ns;	  /* their time */
	uint64_t whole;	  /* complete iterations */
};

/* What a tool has seen of the run in a slot. */
struct krp_followed {
	uint32_t run; /* 0: none */
	uint64_t serial;
	bool late;		 /* its beginning is not in the account */
	bool over;		 /* its end was taken */
	uint64_t t_first, t_end; /* what is accounted for; t_end: so far */
	struct krp_totals all;	 /* as of t_end */
	struct krp_totals seen;	 /* of what was handed over, and counted */
};

struct krp_follow {
	const struct krp_programs *w;
	struct krp_iters iters;
	struct krp_followed *slot;
	/*
	 * Is called for each record of a run that is followed, in the order of the run. It
	 * has to call krp_follow_seen() for what counts as seen: the parts of an iteration may
	 * count only when all of them were read.
	 */
	void (*take)(struct krp_followed *s, const struct krp_rec *rec);
	/* Is called when the slot is about to be another run's, as far as the tool is concerned. */
	void (*drop)(uint32_t slot);
	/* Records that came before an earlier one of their run. */
	uint64_t (*early)[(KRP_REC_MAX + 7) / 8];
	unsigned int nr_early, room;
	bool all_early;	    /* what is missing does not come any more */
	uint64_t overtaken; /* iters.overtaken when the reading began */
	uint64_t nr_taken;  /* runs that were seen */
	uint64_t nr_gone;   /* runs whose end was not seen */
};

/*
 * Follows all runs from now on: the programs begin to tell. take may be NULL: then no records are read. Dies if there is
 * no memory.
 */
void krp_follow_open(struct krp_follow *f, const struct krp_programs *w,
		     void (*take)(struct krp_followed *s, const struct krp_rec *rec),
		     void (*drop)(uint32_t slot));
void krp_follow_close(struct krp_follow *f);

/* The run in a slot, which may be new; NULL: none, or one that is over. */
struct krp_followed *krp_follow_slot(struct krp_follow *f, uint32_t slot);
/* Fills "slots", which has room for all of them, with those that have such a run. Returns how many these are. */
uint32_t krp_follow_slots(struct krp_follow *f, uint32_t *slots);
/*
 * Reads all records that there are. If a run had ended before, then all that will ever be
 * known of it was read.
 */
void krp_follow_read(struct krp_follow *f);

static inline void krp_follow_seen(struct krp_followed *s, const struct krp_totals *t)
{
	s->seen.records += t->records;
	s->seen.ns += t->ns;
	s->seen.whole += t->whole;
}

/* The run in a slot, whose end was taken, is no longer followed. */
void krp_follow_drop(struct krp_follow *f, uint32_t slot);
/* Has the run in a slot ended, which is followed? */
bool krp_follow_ended(struct krp_follow *f, uint32_t slot);

/* The run in a slot has ended, and what was told of it until then is in "r". */
void krp_follow_end(struct krp_followed *s, const struct krp_run *r);

/* What was not seen. */
static inline struct krp_totals krp_follow_missed(const struct krp_followed *s)
{
	return (struct krp_totals){
		.records = s->all.records - s->seen.records,
		.ns = s->all.ns - s->seen.ns,
		.whole = s->all.whole - s->seen.whole,
	};
}

/* Runs that went before they were looked at, or before their end was. */
uint64_t krp_follow_unseen(const struct krp_follow *f);

#endif /* KRP_LIB_FOLLOW_H */
