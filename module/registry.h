/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KRPING_REGISTRY_H
#define KRPING_REGISTRY_H

#include <linux/mutex.h>
#include <linux/seq_file.h>
#include "record.h"

/* An open file of /proc that has something of each run, in seq_file.private. */
struct krping_file {
	/* Prints a run, or without a record the header. */
	int (*show)(struct seq_file *m, const struct krping_record *rec);
	u32 from;	       /* the first run that this reader wants */
	bool cut;	       /* krping: the last command was too long, without a newline */
	struct list_head away; /* krping: of writers that were called away */
};

/* What a run has measured, for a second of the time that its iterations took. */
struct krping_figures {
	u64 p_ns[KRPING_NR_PERCENTILES]; /* of the time of an iteration */
	u64 bits_per_s;
	u64 msgs_per_s;
	u64 regs_per_s;
};

extern struct mutex krping_registry_lock;
extern unsigned long krping_nr_evicted; /* with the registry's lock */

/* clang-format off */
/* Sets a member of a record that other tasks read with the registry's lock. */
#define krping_record_set(member, value)				\
do {									\
	mutex_lock(&krping_registry_lock);				\
	(member) = (value);						\
	mutex_unlock(&krping_registry_lock);				\
} while (0)
/* clang-format on */

struct krping_record *krping_record_create(const struct krping_phases *phases,
					   struct krping_verdict *verdict, u64 net_cookie,
					   const struct krping_record *parent);
struct krping_record *krping_record_find(u32 id);
void krping_set_state(struct krping_record *rec, enum krping_state state);
void krping_record_device(struct krping_record *rec, const char *name);
u64 krping_record_moved(const struct krping_record *rec);
void krping_record_figures(const struct krping_record *rec, struct krping_figures *f);
void krping_record_result(struct krping_record *rec);
void krping_record_freed(struct krping_record *rec);

extern const struct seq_operations krping_records_seq_ops;
void krping_registry_exit(void);

#endif /* KRPING_REGISTRY_H */
