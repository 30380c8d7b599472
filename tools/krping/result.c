// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

static bool known(const char *text)
{
	return *text && strcmp(text, "-");
}

/* A command that the module's parser refused has no role: nothing was run. */
static bool refused(int err, const struct krp_run_info *r)
{
	return err == EINVAL && (!r || !known(r->role));
}

enum krp_exit krp_result_exit(int err, const struct krp_run_info *r)
{
	if (!err)
		return KRP_EXIT_OK;
	if (refused(err, r) || (err == EPERM && !r))
		return KRP_EXIT_ENV;
	return KRP_EXIT_BROKEN;
}

static bool begins(const struct krp_run_info *r, const char *words)
{
	return r && !strncmp(r->reason, words, strlen(words));
}

/* By a signal, or by somebody's "krping stop". */
static void interrupted(FILE *f, const struct krp_run_info *r)
{
	const char *word = begins(r, "stopped by ") ? r->reason : "interrupted";

	if (!r)
		fputs(word, f);
	else if (r->clients)
		fprintf(f, "%s after %u of %u clients", word, r->served, r->clients);
	else if (r->count)
		fprintf(f, "%s after %" PRIu64 " of %" PRIu64 " iterations", word, r->iters,
			r->count);
	else if (!strcmp(r->role, "server") && !r->cq)
		fprintf(f, "%s before a client came", word);
	else if (!r->cq)
		fprintf(f, "%s before there was a connection", word);
	else
		fprintf(f, "%s in iteration %" PRIu64 ", which did not end within a second", word,
			r->iters);
}

/* The parser refused the command. */
static bool invalid(FILE *f, int err, const struct krp_run_info *r)
{
	if (!refused(err, r))
		return false;
	fprintf(f, "%s; see \"krping help\"", r && *r->reason ? r->reason : "the command is wrong");
	return true;
}

/* The user's own timeout=, which says nothing of the peer. */
static void too_late(FILE *f, const struct krp_run_info *r)
{
	fputs(r->reason, f);
	if (r->clients)
		fprintf(f, ": %u of %u clients", r->served, r->clients);
	else if (r->cq && (r->iters || known(r->src)))
		fprintf(f, ": %" PRIu64 " iterations", r->iters);
	else if (!strcmp(r->role, "server"))
		fputs(": no client came", f);
	else if (known(r->dst))
		fprintf(f, ": no answer from %s", r->dst);
	else
		fputs(": there was no connection", f);
}

/* The device is gone, or there never was one for the address. */
static void no_device(FILE *f, const struct krp_run_info *r, const struct krp_cmdtext *cmd)
{
	if (r && known(r->dev))
		fprintf(f, "the RDMA device %s was removed", r->dev);
	else if (!strcmp(cmd->role, "client"))
		fprintf(f,
			"no RDMA device leads to %s; compare \"ip route get %s\" with \"rdma link\"",
			cmd->host, cmd->host);
	else if (*cmd->host)
		fprintf(f,
			"no RDMA device has the address %s; compare \"ip address\" with \"rdma link\"",
			cmd->host);
	else
		fputs("there is no RDMA device; see \"rdma link\"", f);
}

/* The value of an option cannot be had here, and the reason names the option. */
static bool is_of_option(const struct krp_run_info *r)
{
	static const char *const options[] = {
		"addr6: ", "bind: ", "tos: ", "comp_vector: ", "cpu: ", "window: ", "test=block: "
	};
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (begins(r, options[i]))
			return true;
	}
	return false;
}

/* true: the reason has nothing to add. */
static bool explain(FILE *f, int err, const struct krp_run_info *r, const struct krp_cmdtext *cmd)
{
	bool client = !strcmp(cmd->role, "client");

	if (is_of_option(r) && !refused(err, r)) {
		fputs(r->reason, f);
		return true;
	}
	switch (err) {
	case EINVAL:
		if (invalid(f, err, r))
			return true;
		break;
	case EPERM:
		fputs("it needs root, with the capability CAP_NET_ADMIN of the initial user namespace",
		      f);
		return false;
	case ENODEV:
		no_device(f, r, cmd);
		return false;
	case EADDRINUSE:
		fprintf(f,
			"port %s is taken; choose another one, or see \"krping list\" and \"rdma resource show cm_id\"",
			cmd->port);
		return false;
	case EADDRNOTAVAIL:
		fprintf(f, "%s is no address of this host; see \"ip address\"", cmd->host);
		return false;
	case EOPNOTSUPP:
		fprintf(f, "%s cannot do what this needs",
			r && known(r->dev) ? r->dev : "the RDMA device");
		return false;
	case ENETUNREACH:
		fprintf(f, "there is no route to %s; see \"ip route get %s\"", cmd->host,
			cmd->host);
		return false;
	case EHOSTUNREACH:
		fprintf(f, "%s cannot be reached; are its host and link up?", cmd->host);
		return false;
	case ETIMEDOUT:
		if (begins(r, "not done within")) {
			too_late(f, r);
			return true;
		}
		fprintf(f, "no answer from %s; are its host and link up?", cmd->host);
		return false;
	case ECONNREFUSED:
		/* A server that refused has given its own reason. */
		if (r && strstr(r->reason, "server"))
			break;
		fprintf(f,
			"connection refused: nobody listens on %s; start \"krping server%s%s\" there",
			cmd->target, strcmp(cmd->port, KRP_PORT_DEFAULT) ? " port=" : "",
			strcmp(cmd->port, KRP_PORT_DEFAULT) ? cmd->port : "");
		return false;
	case EBUSY:
		if (begins(r, "the server's window")) {
			fprintf(f,
				"another client has the disk of the server on %s; wait for its end, or give both ro, or that server shared",
				cmd->target);
			return true;
		}
		fprintf(f,
			"the server on %s serves another client; wait for its end, or start one on another port",
			cmd->target);
		return true;
	case EPROTO:
		fputs("the two ends do not agree; give both the same options", f);
		return false;
	case ECONNRESET:
		fprintf(f, "the %s left too early; \"krping list -a\" there may say why",
			client ? "server" : "client");
		return false;
	case EBADMSG:
		fputs("data are not what was sent: changed on the way, or at the other end", f);
		return false;
	case EIO:
		/* The table has what was seen. */
		if (r && !strncmp(r->reason, "case ", 5)) {
			fputs(r->reason, f);
			return true;
		}
		fputs("a work request failed; see \"rdma statistic\", and \"krping list -a\" at the other end",
		      f);
		return false;
	case EINTR:
		interrupted(f, r);
		return true;
	case ENOMEM:
		fputs("out of memory; a smaller size= needs less", f);
		return false;
	case EOVERFLOW:
		fputs("all run numbers are used up; unload the module and load it again", f);
		return false;
	}
	fputs(strerror(err), f);
	return false;
}

void krp_result_cause(char *buf, size_t size, int err, const struct krp_run_info *r,
		      const struct krp_cmdtext *cmd)
{
	FILE *f = fmemopen(buf, size, "w");

	*buf = '\0';
	if (!f)
		return;
	if (!explain(f, err, r, cmd) && r && *r->reason)
		fprintf(f, " [%s]", r->reason);
	fclose(f);
	buf[size - 1] = '\0';
}

/*
 * The rate of the loop alone. The iterations fill the loop without gaps, so
 * their mean times their number is its time. Set-up, waiting for a client and
 * tear-down are not in it.
 */
static double iters_per_s(const struct krp_run_info *r)
{
	/* Requests of a disk overlap, and come when somebody wants one. */
	if (!strcmp(r->test, "block"))
		return r->elapsed_ns ? r->iters * 1e9 / r->elapsed_ns : 0;
	return r->iters && r->lat_mean_ns ? 1e9 / r->lat_mean_ns : 0;
}

static double mb_per_s(const struct krp_run_info *r, double rate)
{
	return rate * krp_run_bytes_of_iter(r) / 1e6;
}

/* An end that only has the memory, and ended well. */
static bool posts_nothing(const struct krp_run_info *r)
{
	return krp_run_may_be_passive(r) && !r->iters && !r->err;
}

bool krp_result_has_figures(int err, const struct krp_run_info *r)
{
	return r && known(r->role) && (!err || err == EINTR || r->iters);
}

void krp_result_summary(FILE *f, const struct krp_run_info *r, const struct krp_cmdtext *cmd)
{
	double rate = iters_per_s(r);
	char run[sizeof(r->name) + 20], where[sizeof(run) + sizeof(r->dev) + 20],
		peer[128] = "", split[KRP_SPLIT_TEXT];
	const char *sep = "", *label = krp_run_label(r), *word = krp_run_time_word(r);
	bool cases = !strcmp(r->test, "protect");
	/* How long a case took says nothing: most of it is making a connection. */
	bool timed = r->iters && !cases;

	fprintf(f, "--- %s krping %s statistics ---\n", cmd->target, r->role);
	if (r->clients) {
		fprintf(f, "served %u client%s, %u failed, time %s\n", r->served,
			r->served == 1 ? "" : "s", r->failed, krp_ns(r->elapsed_ns).s);
	} else if (posts_nothing(r)) {
		fprintf(f, "test=%s of %u bytes, time %s; the other end posts, and measures\n",
			r->test, r->size, krp_ns(r->elapsed_ns).s);
	} else {
		fprintf(f, "%" PRIu64, r->iters);
		if (r->count)
			fprintf(f, " of %" PRIu64, r->count);
		fprintf(f, " %s of %s%u bytes, time %s%s\n", cases ? "cases" : "iterations",
			r->moved_bytes && r->moved_bytes < r->iters * r->moves * r->size ?
				"up to " :
				"",
			r->size, krp_ns(r->elapsed_ns).s,
			r->iters && !strcmp(r->role, "server") ? " with waiting" : "");
	}
	if (timed && r->moves)
		fprintf(f, "%s iterations/s, %s MB/s, ", krp_rate(rate).s,
			krp_rate(mb_per_s(r, rate)).s);
	else if (timed)
		fprintf(f, "%s registrations/s, ", krp_rate(r->regs_per_s).s);
	if (timed)
		fprintf(f, "%s min/avg/max = %s/%s/%s\n", word, krp_ns(r->lat_min_ns).s,
			krp_ns(r->lat_mean_ns).s, krp_ns(r->lat_max_ns).s);
	if (timed)
		fprintf(f, "%s p50/p90/p99/p99.9 = %s/%s/%s/%s\n", word, krp_ns(r->lat_p50_ns).s,
			krp_ns(r->lat_p90_ns).s, krp_ns(r->lat_p99_ns).s, krp_ns(r->lat_p999_ns).s);
	krp_split_text(split, sizeof(split), &r->split);
	if (*split)
		fprintf(f, "%s\n", split);
	snprintf(run, sizeof(run), "run %u%s%s%s", r->id, label ? " \"" : "", label ?: "",
		 label ? "\"" : "");
	snprintf(where, sizeof(where), "%s", run);
	/* A run that did not connect has no port. */
	if (known(r->dev) && r->port)
		snprintf(where, sizeof(where), "%s on %s/%u", run, r->dev, r->port);
	else if (known(r->dev))
		snprintf(where, sizeof(where), "%s on %s", run, r->dev);
	if (r->classic)
		snprintf(peer, sizeof(peer), "a classic peer at %s", r->dst);
	else if (r->peer_run)
		snprintf(peer, sizeof(peer), "peer run %u at %s", r->peer_run, r->dst);
	if (*peer)
		sep = strlen(where) + strlen(peer) + 2 < 80 ? ", " : "\n";
	fprintf(f, "%s%s%s\n", where, sep, peer);
	if (r->rejects)
		fprintf(f, "%u other client%s refused\n", r->rejects,
			r->rejects == 1 ? " was" : "s were");
}

static const unsigned int interval_percentiles[] = { KRP_P50, KRP_P90, KRP_P99, KRP_P999 };

static double interval_rate(const struct krp_runhist *rh, double what)
{
	return rh->elapsed_ns ? what * 1e9 / rh->elapsed_ns : 0;
}

void krp_result_interval(FILE *f, const struct krp_runhist *rh, uint64_t elapsed_ns, bool head)
{
	/* clang-format off */
	struct krp_table t = { .headless = !head, .col = {
		{ "TIME", 7 }, { "ITERS", 7 }, { "ITER/S", 7 }, { "MB/S", 7 }, { "MIN", 7 },
		{ "P50", 7 }, { "P90", 7 }, { "P99", 7 }, { "P99.9", 7 }, { "MAX", 7 },
	} };
	/* clang-format on */
	const struct krp_sum *s = &rh->sum;
	unsigned int i;

	krp_cell(&t, "%s", krp_ns(elapsed_ns).s);
	krp_cell(&t, "%s", krp_count(s->count).s);
	krp_cell(&t, "%s", krp_rate(interval_rate(rh, s->count)).s);
	krp_cell(&t, "%s", krp_rate(interval_rate(rh, rh->bytes / 1e6)).s);
	krp_cell(&t, "%s", s->count ? krp_ns(s->min).s : "-");
	for (i = 0; i < 4; i++)
		krp_cell(&t, "%s",
			 s->count ?
				 krp_ns(krp_hist_percentile(&rh->hist, s, interval_percentiles[i]))
					 .s :
				 "-");
	krp_cell(&t, "%s", s->count ? krp_ns(s->max).s : "-");
	krp_table_print(f, &t, 0);
}

void krp_result_interval_json(json_object *o, const struct krp_run_info *r,
			      const struct krp_runhist *rh, uint64_t elapsed_ns)
{
	krp_json_u64(o, "run", r->id);
	krp_json_u64(o, "elapsed_ns", elapsed_ns);
	krp_json_u64(o, "interval_ns", rh->elapsed_ns);
	krp_json_rate(o, "iters_per_s", interval_rate(rh, rh->sum.count));
	krp_json_rate(o, "mb_per_s", interval_rate(rh, rh->bytes / 1e6));
	krp_json_sum(o, &rh->sum, &rh->hist);
}

void krp_result_json(json_object *o, const struct krp_run_info *r)
{
	double rate = iters_per_s(r);

	krp_run_json(o, r);
	krp_json_rate(o, "iters_per_s", rate);
	krp_json_rate(o, "mb_per_s", mb_per_s(r, rate));
}

void krp_result_connected(char *buf, size_t size, const struct krp_run_info *r)
{
	bool client = !strcmp(r->role, "client");
	char peer[sizeof(r->dst)];

	krp_run_host(r->dst, peer, sizeof(peer));
	snprintf(buf, size, "run %u %s %s on %s/%u, test=%s size=%u", r->id,
		 client ? "is connected to" : "serves", client ? r->dst : peer, r->dev, r->port,
		 r->test, r->size);
}

void krp_result_progress(char *buf, size_t size, const struct krp_run_info *r,
			 const struct krp_run_info *last, const struct krp_cmdtext *cmd)
{
	double rate = iters_per_s(r);
	char of[64];

	if (krp_run_listens(r) && r->clients) {
		snprintf(buf, size, "%s on %s: served %u clients, %u failed, %s", r->role,
			 cmd->target, r->served, r->failed, krp_ns(r->elapsed_ns).s);
		return;
	}
	if (krp_run_listens(r)) {
		snprintf(buf, size, "%s on %s: waits for a client, %s", r->role, cmd->target,
			 krp_ns(r->elapsed_ns).s);
		return;
	}
	/* Both addresses are known only when there is a connection. */
	if (!strcmp(r->role, "client") && known(r->dst) && !known(r->src)) {
		snprintf(buf, size, "run %u client: no answer from %s %s, %s", r->id, r->dst,
			 strcmp(r->state, "ROUTE_RESOLVED") ? "yet" : "to the connection request",
			 krp_ns(r->elapsed_ns).s);
		return;
	}
	if (last && r->elapsed_ns > last->elapsed_ns)
		rate = (r->iters - last->iters) * 1e9 / (r->elapsed_ns - last->elapsed_ns);
	if (r->count)
		snprintf(of, sizeof(of), " of %" PRIu64 " iterations (%d %%)", r->count,
			 (int)(r->iters * 100 / r->count));
	snprintf(buf, size, "run %u %s: %s, %" PRIu64 "%s, %s/s, %s", r->id, r->role, r->state,
		 r->iters, r->count ? of : " iterations", krp_rate(rate).s,
		 krp_ns(r->elapsed_ns).s);
}

/*
 * The list
 */

/* The run in a word: the port of a server that waits, the errno of a run that failed. */
static void state_text(char *buf, size_t size, const struct krp_run_info *r)
{
	const char *name = r->err ? strerrorname_np(r->err) : NULL;
	const char *port = strrchr(r->src, ':');

	if (krp_run_listens(r) && port)
		snprintf(buf, size, "LISTEN%s", port);
	else if (!strcmp(r->state, "ERROR") && name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%s", krp_state_short(r->state));
}

void krp_result_list(FILE *f, const struct krp_run_info *const *v, size_t nr, unsigned int width)
{
	/* clang-format off */
	struct krp_table t = { .col = {
		{ "ID", 4 }, { "ROLE", -6 }, { "TEST", -5 }, { "DEV", -6 }, { "PEER", -6 },
		{ "SIZE", 6 }, { "ITERS", 6 }, { "STATE", -6 }, { "ELAPSED", 7 },
	} };
	/* clang-format on */
	struct krp_col *more = &t.col[9];
	bool disk = false, label = false;
	const char *colon;
	char state[32];
	size_t i;

	for (i = 0; i < nr; i++) {
		disk |= known(v[i]->disk);
		label |= krp_run_label(v[i]) != NULL;
	}
	if (disk)
		*more++ = (struct krp_col){ "DISK", -4 };
	if (label)
		*more++ = (struct krp_col){ "NAME", -4 };
	for (i = 0; i < nr; i++) {
		const struct krp_run_info *r = v[i];

		colon = strcmp(r->role, "server") ? NULL : strrchr(r->dst, ':');
		state_text(state, sizeof(state), r);
		krp_cell(&t, "%u", r->id);
		krp_cell(&t, "%s", r->role);
		krp_cell(&t, "%s", r->test);
		krp_cell(&t, "%s", r->dev);
		/* The port of a client is a number that nobody chose, so it is left out. */
		krp_cell(&t, "%.*s", colon ? (int)(colon - r->dst) : -1, r->dst);
		/* A command that was refused has no size. */
		krp_cell(&t, r->size ? "%u" : "-", r->size);
		krp_cell(&t, "%s", krp_count(r->iters).s);
		krp_cell(&t, "%s", state);
		krp_cell(&t, "%s", krp_ns(r->elapsed_ns).s);
		if (disk)
			krp_cell(&t, "%s", known(r->disk) ? r->disk : "-");
		if (label)
			krp_cell(&t, "%s", krp_run_label(r) ?: "-");
	}
	krp_table_print(f, &t, width);
}
