/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reads /proc/krping_runs: which runs there are, running and finished. */
#ifndef KRP_LIB_RUNS_H
#define KRP_LIB_RUNS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../../trace/krping_abi.h"
#include "escape.h"

#define KRP_PROC_RUNS "/proc/krping_runs"

/* Host or network: whose time iterations were, all in all. */
struct krp_split {
	uint64_t iters, own_host_ns, peer_host_ns, network_ns;
};

/* A value that is unknown is 0 or "-"; texts are escaped. */
struct krp_run_info {
	uint32_t id, parent, peer_run, pid, port, qp, size, cq, scq;
	uint64_t count, iters, start_ns, elapsed_ns;
	uint64_t send_bytes, send_msgs, recv_bytes, recv_msgs;
	uint64_t write_bytes, write_msgs, read_bytes, read_msgs;
	uint64_t fastreg, localinv, reminv, readinv;
	uint64_t lat_min_ns, lat_mean_ns, lat_max_ns; /* of complete iterations */
	uint64_t lat_sum_ns;			      /* all of them together */
	uint64_t lat_p50_ns, lat_p90_ns, lat_p99_ns, lat_p999_ns;
	uint32_t moves;				     /* how often an iteration moves its data */
	uint64_t moved_bytes;			     /* by complete iterations, all together */
	uint64_t bits_per_s, msgs_per_s, regs_per_s; /* of the time that they took */
	struct krp_split split;
	uint64_t phase_start_ns; /* when phase began; known while somebody wants phases */
	uint32_t rejects;
	uint32_t clients, served, failed; /* clients is 0 for a run that serves no others */
	uint32_t offset, srq;		  /* srq: RECVs of its shared receive queue */
	uint32_t queues;		  /* connections */
	int err;
	bool classic;
	char name[KRP_ESCAPED(KRPING_NAME_MAX)];
	char role[16], test[16], poll_ctx[16], mem_mode[16], state[24], phase[24];
	char dev[KRP_ESCAPED(KRPING_DEV_NAME_MAX)];	/* its name of now, while the run goes on */
	char dev_was[KRP_ESCAPED(KRPING_DEV_NAME_MAX)]; /* the first one, if that was another */
	char disk[16]; /* of a client of test=block, also when it is gone */
	char src[72], dst[72];
	char reason[KRPING_REASON_MAX];
};

struct krp_runs {
	struct krp_run_info *v; /* by ascending id */
	size_t nr, room;
	unsigned int events_abi;
	uint64_t evicted, nonce;
};

/*
 * Parses what f has. Keys that it does not know are skipped: a newer module
 * may have more. A last line without its end is dropped. 0 or -errno.
 */
int krp_runs_parse(struct krp_runs *runs, FILE *f);
/* All that the line of a run says, by its keys, but for "run" instead of id. */
void krp_run_json(json_object *o, const struct krp_run_info *r);
/* Parses KRP_PROC_RUNS. 0 or -errno. */
int krp_runs_read(struct krp_runs *runs);
void krp_runs_free(struct krp_runs *runs);
const struct krp_run_info *krp_runs_find(const struct krp_runs *runs, uint32_t id);
bool krp_run_finished(const struct krp_run_info *r);
/* True if its line does not change any more. */
bool krp_run_is_over(const struct krp_run_info *r);
/* The run's label; NULL: it was given none. */
const char *krp_run_label(const struct krp_run_info *r);
/* What the time of an iteration is: where several requests are in flight, only how far their completions are apart. */
const char *krp_run_time_word(const struct krp_run_info *r);
/* True for a server that has its port, and no client yet. */
bool krp_run_listens(const struct krp_run_info *r);
/* In this test such an end only has the memory, unless the test is duplex: its device answers. */
bool krp_run_may_be_passive(const struct krp_run_info *r);
/* An address as /proc has it, such as dst, without the port: a number that mostly nobody chose. */
void krp_run_host(const char *addr, char *buf, size_t size);
/* The bytes that an iteration moves; where each has another size, in the mean so far. */
double krp_run_bytes_of_iter(const struct krp_run_info *r);
/* The state in eight letters or fewer. */
const char *krp_state_short(const char *state);

/* Room for the text of krp_split_text(). */
#define KRP_SPLIT_TEXT 96

/* The means of the iterations that were split, in words; empty if none was. */
void krp_split_text(char *buf, size_t size, const struct krp_split *split);
void krp_split_json(json_object *o, const struct krp_split *split);
/* What came between two looks at a run. */
struct krp_split krp_split_since(const struct krp_split *now, const struct krp_split *before);

/*
 * What run_start and conn told of a run that /proc does not list: it was read before the run began, or has forgotten it since. Valid
 * until the next call; NULL: its run_start was not seen. How often an iteration moves its data depends on signal= in bw and fast,
 * which is not known then: of these it is the least.
 */
struct krp_head;
const struct krp_run_info *krp_run_info_of(const struct krp_head *head);

#endif /* KRP_LIB_RUNS_H */
