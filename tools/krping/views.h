/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The parts of the one program krping. Each is a program of its own for its user: argv[0] is the
 * name that its usage is printed with, and what is returned is the exit status.
 */
#ifndef KRP_KRPING_VIEWS_H
#define KRP_KRPING_VIEWS_H

#include <stdbool.h>

/* Does another part than krp_runs_main() answer this word? */
bool krp_is_view(const char *word);

int krp_runs_main(int argc, char **argv);
int krp_top_main(int argc, char **argv);
int krp_stages_main(int argc, char **argv);
int krp_mr_main(int argc, char **argv);
int krp_trace_main(int argc, char **argv);
int krp_record_main(int argc, char **argv);

#endif /* KRP_KRPING_VIEWS_H */
