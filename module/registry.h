/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * All runs, live and finished.
 */
#ifndef KRPING_REGISTRY_H
#define KRPING_REGISTRY_H

#include <linux/seq_file.h>
#include "record.h"

struct rdma_addr;

/**
 * struct krping_file - an open file of /proc, in its seq_file.private
 * @from:	krping_runs, krping_hist: the first run that this reader wants
 * @cut:	krping: the last command was too long, and did not end with a newline
 * @away:	krping: commands whose writers were called away, see dispatch.c
 */
struct krping_file {
	u32 from;
	bool cut;
	struct list_head away;
};

/**
 * struct krping_figures - what a run has measured
 * @p_ns:	percentiles of the time that an iteration took
 * @bits_per_s:	data that its iterations moved, a second of the time they took
 * @msgs_per_s:	how often they moved it
 * @regs_per_s:	registrations that this end posted
 */
struct krping_figures {
	u64 p_ns[KRPING_NR_PERCENTILES];
	u64 bits_per_s;
	u64 msgs_per_s;
	u64 regs_per_s;
};

struct krping_record *krping_record_create(const struct krping_phases *phases,
					   struct krping_verdict *verdict,
					   u64 net_cookie,
					   const struct krping_record *parent);
bool krping_record_tell(u32 id,
			void (*tell)(struct krping_verdict *verdict, u32 by),
			u32 by);
void krping_set_state(struct krping_record *rec, enum krping_state state);
void krping_record_parsed(struct krping_record *rec,
			  const struct krping_params *params);
void krping_record_device(struct krping_record *rec, const char *name);
void krping_record_size(struct krping_record *rec, u32 size);
void krping_record_listens(struct krping_record *rec,
			   const struct sockaddr_storage *src);
void krping_record_seeks(struct krping_record *rec,
			 const struct sockaddr_storage *dst);
void krping_record_connected(struct krping_record *rec,
			     const struct krping_params *params, bool classic,
			     u32 peer_run, u32 port,
			     const struct rdma_addr *addr);
void krping_record_figures(const struct krping_record *rec,
			   struct krping_figures *f);
int krping_record_protects(struct krping_record *rec);
void krping_record_judges(struct krping_record *rec, enum krping_case nr,
			  enum krping_judgement judgement);
void krping_record_result(struct krping_record *rec);
void krping_record_freed(struct krping_record *rec);

extern const struct seq_operations krping_stats_seq_ops;
extern const struct seq_operations krping_runs_seq_ops;
extern const struct seq_operations krping_hist_seq_ops;
extern const struct seq_operations krping_protect_seq_ops;
void krping_registry_exit(void);

#endif /* KRPING_REGISTRY_H */
