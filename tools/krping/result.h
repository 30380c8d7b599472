/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The result of a run, in words, as a table and as JSON. All comes from its
 * line in /proc/krping_runs.
 */
#ifndef KRP_KRPING_RESULT_H
#define KRP_KRPING_RESULT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "cmdtext.h"
#include "runhist.h"
#include "../lib/runs.h"
#include "../lib/tool.h"

/*
 * The exit status. err is the result of the write, 0 or an errno; r may be NULL
 * if the line was not found. A run without end that is ended by a signal has
 * done what it was asked for, if it did anything.
 */
enum krp_exit krp_result_exit(int err, const struct krp_run_info *r);

/*
 * Why the run failed, and what can be done about it, in one line without a
 * newline; the module's own words, if they say more, in brackets.
 */
void krp_result_cause(char *buf, size_t size, int err, const struct krp_run_info *r,
		      const struct krp_cmdtext *cmd);

/* True if there are figures to show: the run has begun its loop, or was waited for in vain. */
bool krp_result_has_figures(int err, const struct krp_run_info *r);
/* Prints the figures, like ping. */
void krp_result_summary(FILE *f, const struct krp_run_info *r, const struct krp_cmdtext *cmd);

/*
 * Prints a row of what came in an interval, and before the first row a line of
 * names. elapsed_ns is the run's time at its end.
 */
void krp_result_interval(FILE *f, const struct krp_runhist *rh, uint64_t elapsed_ns, bool head);
void krp_result_interval_json(json_object *o, const struct krp_run_info *r,
			      const struct krp_runhist *rh, uint64_t elapsed_ns);

/* Adds what the line has, and the rates. */
void krp_result_json(json_object *o, const struct krp_run_info *r);

/* With whom the run is connected, by what, and for what, on one line without a newline. */
void krp_result_connected(char *buf, size_t size, const struct krp_run_info *r);
/*
 * How far a run is, on one line without a newline; last is the run at the
 * display before, for the rate, or NULL.
 */
void krp_result_progress(char *buf, size_t size, const struct krp_run_info *r,
			 const struct krp_run_info *last, const struct krp_cmdtext *cmd);

/* Prints a table, one line for each run, no wider than width if that is possible. */
void krp_result_list(FILE *f, const struct krp_run_info *const *v, size_t nr, unsigned int width);

#endif /* KRP_KRPING_RESULT_H */
