// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include <linux/types.h>

#include "alloc.h"
#include "names.h"
#include "out.h"
#include "procfile.h"
#include "runs.h"
#include "../../bpf/slot.h"

/* Finished runs that are not asked for again. */
#define KEEP_MAX 2048

/* clang-format off */
static const struct krp_field fields[] = {
#define F(key, kind, member)	KRP_FIELD(key, kind, struct krp_run_info, member)
	F("id", U32, id),
	F("parent", U32, parent),
	F("peer_run", U32, peer_run),
	F("name", TEXT, name),
	F("pid", U32, pid),
	F("role", TEXT, role),
	F("test", TEXT, test),
	F("dev", TEXT, dev),
	F("port", U32, port),
	F("qp", U32, qp),
	F("src", TEXT, src),
	F("dst", TEXT, dst),
	F("state", TEXT, state),
	F("size", U32, size),
	F("count", U64, count),
	F("iters", U64, iters),
	F("errno", INT, err),
	F("start_ns", U64, start_ns),
	F("elapsed_ns", U64, elapsed_ns),
	F("send_bytes", U64, send_bytes),
	F("send_msgs", U64, send_msgs),
	F("recv_bytes", U64, recv_bytes),
	F("recv_msgs", U64, recv_msgs),
	F("write_bytes", U64, write_bytes),
	F("write_msgs", U64, write_msgs),
	F("read_bytes", U64, read_bytes),
	F("read_msgs", U64, read_msgs),
	F("lat_min_ns", U64, lat_min_ns),
	F("lat_mean_ns", U64, lat_mean_ns),
	F("lat_max_ns", U64, lat_max_ns),
	F("fastreg", U64, fastreg),
	F("localinv", U64, localinv),
	F("reminv", U64, reminv),
	F("phase", TEXT, phase),
	F("phase_start_ns", U64, phase_start_ns),
	F("cq", U32, cq),
	F("classic", BOOL, classic),
	F("rejects", U32, rejects),
	F("scq", U32, scq),
	F("poll_ctx", TEXT, poll_ctx),
	F("lat_p50_ns", U64, lat_p50_ns),
	F("lat_p90_ns", U64, lat_p90_ns),
	F("lat_p99_ns", U64, lat_p99_ns),
	F("lat_p999_ns", U64, lat_p999_ns),
	F("moves", U32, moves),
	F("bits_per_s", U64, bits_per_s),
	F("msgs_per_s", U64, msgs_per_s),
	F("regs_per_s", U64, regs_per_s),
	F("split_iters", U64, split.iters),
	F("own_host_ns", U64, split.own_host_ns),
	F("peer_host_ns", U64, split.peer_host_ns),
	F("network_ns", U64, split.network_ns),
	F("lat_sum_ns", U64, lat_sum_ns),
	F("clients", U32, clients),
	F("served", U32, served),
	F("failed", U32, failed),
	F("mem_mode", TEXT, mem_mode),
	F("readinv", U64, readinv),
	F("offset", U32, offset),
	F("moved_bytes", U64, moved_bytes),
	F("srq", U32, srq),
	F("queues", U32, queues),
	F("disk", TEXT, disk),
	F("dev_was", TEXT, dev_was),
	F("reason", TEXT, reason),
#undef F
};
/* clang-format on */

#define NR_FIELDS (sizeof(fields) / sizeof(*fields))

static void parse_header(struct krp_runs *runs, char *line)
{
	char *word, *save;

	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (!strncmp(word, "events=", 7))
			runs->events_abi = strtoul(word + 7, NULL, 0);
		else if (!strncmp(word, "evicted=", 8))
			runs->evicted = strtoull(word + 8, NULL, 0);
		else if (!strncmp(word, "nonce=", 6))
			runs->nonce = strtoull(word + 6, NULL, 0);
	}
}

/* A line is another run, behind those that are there already. */
static void parse_line(void *ctx, char *line)
{
	struct krp_runs *runs = ctx;
	struct krp_run_info *r;

	if (*line == '#') {
		parse_header(runs, line + 1);
		return;
	}
	if (runs->nr == runs->room)
		runs->v = krp_grow(runs->v, &runs->room, 2 * runs->room ?: 64, sizeof(*r));
	r = &runs->v[runs->nr];
	memset(r, 0, sizeof(*r));
	krp_fields_parse(r, fields, NR_FIELDS, line);
	/* Ids begin at 1: a line without one is not a run. */
	if (r->id)
		runs->nr++;
}

int krp_runs_parse(struct krp_runs *runs, FILE *f)
{
	runs->nr = 0;
	return krp_procfile_lines(f, parse_line, runs);
}

void krp_run_json(json_object *o, const struct krp_run_info *r)
{
	krp_json_u64(o, "run", r->id);
	krp_fields_json(o, r, fields + 1, NR_FIELDS - 2);
	krp_json_text(o, "reason", r->reason);
}

/* A run that failed goes on for a while, and its phase is shown until it is over. */
bool krp_run_is_over(const struct krp_run_info *r)
{
	return krp_run_finished(r) && !strcmp(r->phase, "-");
}

/* Keeps the runs before the first one that may have changed. */
static void keep_finished(struct krp_runs *runs)
{
	size_t nr = 0, old;

	while (nr < runs->nr && krp_run_is_over(&runs->v[nr]))
		nr++;
	runs->nr = nr;
	if (nr <= KEEP_MAX)
		return;
	old = nr - KEEP_MAX / 2;
	memmove(runs->v, runs->v + old, (nr - old) * sizeof(*runs->v));
	runs->nr -= old;
}

/* Reads what is behind the last run that is kept. */
static int read_more(struct krp_runs *runs)
{
	uint32_t from;
	FILE *f;
	int err;

	keep_finished(runs);
	from = runs->nr ? runs->v[runs->nr - 1].id + 1 : 0;
	f = krp_procfile_open(KRP_PROC_RUNS, &from);
	if (!from)
		runs->nr = 0;
	if (!f)
		return -errno;
	err = krp_procfile_lines(f, parse_line, runs);
	fclose(f);
	return err;
}

int krp_runs_read(struct krp_runs *runs)
{
	uint64_t nonce = runs->nonce;
	int err = read_more(runs);

	if (err || runs->nonce == nonce || !nonce)
		return err;
	/* The module was loaded again, and has begun to count again. */
	runs->nr = 0;
	return read_more(runs);
}

void krp_runs_free(struct krp_runs *runs)
{
	free(runs->v);
	memset(runs, 0, sizeof(*runs));
}

const struct krp_run_info *krp_runs_find(const struct krp_runs *runs, uint32_t id)
{
	size_t low = 0, high = runs->nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (runs->v[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < runs->nr && runs->v[low].id == id ? &runs->v[low] : NULL;
}

bool krp_run_finished(const struct krp_run_info *r)
{
	return !strcmp(r->state, "DONE") || !strcmp(r->state, "ERROR");
}

const char *krp_run_label(const struct krp_run_info *r)
{
	return *r->name && strcmp(r->name, "-") ? r->name : NULL;
}

const char *krp_run_time_word(const struct krp_run_info *r)
{
	bool flight = !strcmp(r->test, "bw") || !strcmp(r->test, "fast") || !strcmp(r->test, "fr");

	return flight || (r->queues > 1 && !strcmp(r->test, "rlat")) ? "spacing" : "latency";
}

bool krp_run_listens(const struct krp_run_info *r)
{
	return !strcmp(r->role, "server") && !strcmp(r->state, "IDLE") && *r->src &&
	       strcmp(r->src, "-");
}

void krp_run_host(const char *addr, char *buf, size_t size)
{
	const char *end;

	if (*addr == '[') {
		addr++;
		end = strchr(addr, ']');
	} else {
		end = strrchr(addr, ':');
	}
	snprintf(buf, size, "%.*s", end ? (int)(end - addr) : (int)strlen(addr), addr);
}

double krp_run_bytes_of_iter(const struct krp_run_info *r)
{
	/* A tool may know of a run that /proc does not list any more. */
	if (r->moved_bytes && r->iters)
		return (double)r->moved_bytes / r->iters;
	return (double)r->moves * r->size;
}

bool krp_run_may_be_passive(const struct krp_run_info *r)
{
	static const char *const passive[][2] = {
		{ "fr", "server" },
		{ "rlat", "server" },
		{ "bw", "server" },
		{ "fast", "client" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(passive) / sizeof(passive[0]); i++) {
		if (!strcmp(r->test, passive[i][0]) && !strcmp(r->role, passive[i][1]))
			return true;
	}
	return false;
}

const char *krp_state_short(const char *state)
{
	/* clang-format off */
	static const char *const names[][2] = {
		{ "CONNECT_REQUEST", "CONREQ" },
		{ "ADDR_RESOLVED", "ADDR" },
		{ "ROUTE_RESOLVED", "ROUTE" },
		{ "CONNECTED", "CONN" },
		{ "RDMA_READ_ADV", "READ_ADV" },
		{ "RDMA_READ_COMPLETE", "READ_CMP" },
		{ "RDMA_WRITE_ADV", "WRIT_ADV" },
		{ "RDMA_WRITE_COMPLETE", "WRIT_CMP" },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(state, names[i][0]))
			return names[i][1];
	}
	return state;
}

void krp_split_text(char *buf, size_t size, const struct krp_split *split)
{
	uint64_t all = split->own_host_ns + split->peer_host_ns + split->network_ns;
	double percent = all ? 100.0 / all : 0;

	buf[0] = '\0';
	if (!split->iters)
		return;
	snprintf(buf, size,
		 "own host %s %.0f %%, peer's host %s %.0f %%, network and devices %s %.0f %%",
		 krp_ns(split->own_host_ns / split->iters).s, split->own_host_ns * percent,
		 krp_ns(split->peer_host_ns / split->iters).s, split->peer_host_ns * percent,
		 krp_ns(split->network_ns / split->iters).s, split->network_ns * percent);
}

void krp_split_json(json_object *o, const struct krp_split *split)
{
	krp_json_u64(o, "split_iters", split->iters);
	krp_json_u64(o, "own_host_ns", split->own_host_ns);
	krp_json_u64(o, "peer_host_ns", split->peer_host_ns);
	krp_json_u64(o, "network_ns", split->network_ns);
}

struct krp_split krp_split_since(const struct krp_split *now, const struct krp_split *before)
{
	return (struct krp_split){
		.iters = now->iters - before->iters,
		.own_host_ns = now->own_host_ns - before->own_host_ns,
		.peer_host_ns = now->peer_host_ns - before->peer_host_ns,
		.network_ns = now->network_ns - before->network_ns,
	};
}

static uint32_t moves_of(uint32_t test)
{
	switch (test) {
	case KRPING_TEST_FR:
	case KRPING_TEST_PROTECT:
		return 0;
	case KRPING_TEST_RPING:
	case KRPING_TEST_WLAT:
		return 2;
	default:
		return 1;
	}
}

const struct krp_run_info *krp_run_info_of(const struct krp_head *head)
{
	static struct krp_run_info info;

	if (head->late)
		return NULL;
	info = (struct krp_run_info){ .id = head->run };
	snprintf(info.role, sizeof(info.role), "%s", krp_name(&krp_role_names, head->role));
	snprintf(info.test, sizeof(info.test), "%s", krp_name(&krp_test_names, head->test));
	/* The bits begin with that of the context 1. */
	snprintf(info.poll_ctx, sizeof(info.poll_ctx), "%s",
		 krp_name(&krp_poll_names, ffs(head->flags / KRPING_RUN_F_SOFTIRQ)));
	krp_escape(info.name, sizeof(info.name), head->name, sizeof(head->name));
	krp_escape(info.dev, sizeof(info.dev), head->dev, sizeof(head->dev));
	if (!*head->dev)
		strcpy(info.dev, "-");
	info.peer_run = head->peer_run;
	info.port = head->port;
	info.qp = head->qp;
	info.size = head->size;
	info.moves = moves_of(head->test);
	info.count = head->count;
	info.pid = head->pid;
	info.parent = head->parent;
	info.start_ns = head->t_first;
	return &info;
}
