/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KRPING_RUNS_SHOW_H
#define KRPING_RUNS_SHOW_H

struct krping_record;
struct seq_file;

int krping_stats_show(struct seq_file *m, const struct krping_record *rec);
int krping_runs_show(struct seq_file *m, const struct krping_record *rec);
int krping_hist_show(struct seq_file *m, const struct krping_record *rec);
int krping_protects_show(struct seq_file *m, const struct krping_record *rec);

#endif /* KRPING_RUNS_SHOW_H */
