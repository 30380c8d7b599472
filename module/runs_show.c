// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The lines of a run in the files of /proc. Each function prints one, with the registry's lock;
 * without a record it prints the header.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string_helpers.h>
#include <linux/user_namespace.h>
#include "agree.h"
#include "phase.h"
#include "protect.h"
#include "registry.h"
#include "runs_show.h"
#include "verdict.h"

#define x(n, s) s,
static const char *const roles[] = { KRPING_ROLES(x) };
static const char *const tests[] = { KRPING_TESTS(x) };
static const char *const polls[] = { KRPING_POLLS(x) };
static const char *const mems[] = { KRPING_MEMS(x) };
static const char *const states[] = { KRPING_STATES(x) };
static const char *const phase_names[] = { KRPING_PHASES(x) };
#undef x

/* The classic format: a line for each running command, and no header. */
int krping_stats_show(struct seq_file *m, const struct krping_record *rec)
{
	const struct krping_stats *s;

	if (!rec || !rec->verdict || rec->params.role == KRPING_ROLE_STOP)
		return 0;
	if (!READ_ONCE(rec->has_cq)) {
		seq_printf(m, "%u listen\n", rec->id);
		return 0;
	}
	s = &rec->stats;
	seq_printf(m, "%u-%s %llu %llu %llu %llu %llu %llu %llu %llu\n", rec->id, rec->dev,
		   (u64)atomic64_read(&s->send.bytes), (u64)atomic64_read(&s->send.msgs),
		   (u64)atomic64_read(&s->recv.bytes), (u64)atomic64_read(&s->recv.msgs),
		   (u64)atomic64_read(&s->write.bytes), (u64)atomic64_read(&s->write.msgs),
		   (u64)atomic64_read(&s->read.bytes), (u64)atomic64_read(&s->read.msgs));
	return 0;
}

static void show_addr(struct seq_file *m, const char *key, bool may_know,
		      const struct sockaddr_in6 *addr)
{
	if (may_know && addr->sin6_family)
		seq_printf(m, " %s=%pISpc", key, addr);
	else
		seq_printf(m, " %s=-", key);
}

/* Who works with whom, and by which process, is for those who may run krping. */
static void show_identity(struct seq_file *m, const struct krping_record *rec)
{
	bool may_know = file_ns_capable(m->file, &init_user_ns, CAP_NET_ADMIN);
	pid_t pid = 0;

	/* As everywhere in this /proc; 0 if its PID namespace cannot see the writer. */
	if (may_know)
		pid = pid_nr_ns(rec->pid, proc_pid_ns(file_inode(m->file)->i_sb));
	seq_printf(m,
		   "id=%u parent=%u peer_run=%u name=%s pid=%d role=%s test=%s dev=%s port=%u qp=%u",
		   rec->id, rec->parent, rec->peer_run,
		   rec->params.name[0] ? rec->params.name : "-", pid,
		   rec->params.given ? roles[rec->params.role] : "-",
		   krping_record_has_test(rec) ? tests[rec->params.test] : "-",
		   rec->dev[0] ? rec->dev : "-", rec->port, rec->qp);
	show_addr(m, "src", may_know, &rec->src);
	show_addr(m, "dst", may_know, &rec->dst);
}

/* The phase, and its begin if somebody wants phases: read until both belong together. */
static void show_phase(struct seq_file *m, const struct krping_phases *phases)
{
	u32 phase;
	u64 t;

	if (!phases) {
		seq_puts(m, " phase=- phase_start_ns=0");
		return;
	}
	do {
		t = READ_ONCE(phases->t_phase);
		/* Pairs with __krping_enter(): the time before the phase. */
		smp_rmb();
		phase = READ_ONCE(phases->phase);
		/* The same: the phase is that of this time. */
		smp_rmb();
	} while (t != READ_ONCE(phases->t_phase));
	seq_printf(m, " phase=%s phase_start_ns=%llu", phase_names[phase], t);
}

static void show_figures(struct seq_file *m, const struct krping_record *rec)
{
	const struct krping_split_sum *split = &rec->split;
	struct krping_figures f;

	krping_record_figures(rec, &f);
	seq_printf(m, " lat_p50_ns=%llu lat_p90_ns=%llu lat_p99_ns=%llu lat_p999_ns=%llu",
		   f.p_ns[0], f.p_ns[1], f.p_ns[2], f.p_ns[3]);
	seq_printf(m, " moves=%u bits_per_s=%llu msgs_per_s=%llu regs_per_s=%llu",
		   READ_ONCE(rec->moves), f.bits_per_s, f.msgs_per_s, f.regs_per_s);
	seq_printf(m, " split_iters=%llu own_host_ns=%llu peer_host_ns=%llu network_ns=%llu",
		   READ_ONCE(split->iters), READ_ONCE(split->host_ns), READ_ONCE(split->peer_ns),
		   READ_ONCE(split->net_ns));
}

int krping_runs_show(struct seq_file *m, const struct krping_record *rec)
{
	const struct krping_stats *s;
	const struct krping_lat *lat;
	u64 iters, end, sum_ns;
	int err;

	if (!rec) {
		seq_printf(m, "# krping runs abi=1 events=%u evicted=%lu nonce=0x%llx\n",
			   KRPING_EVENTS_ABI, krping_nr_evicted, krping_nonce);
		return 0;
	}
	s = &rec->stats;
	lat = &rec->lat;
	iters = READ_ONCE(rec->iters);
	sum_ns = READ_ONCE(lat->sum_ns);
	end = READ_ONCE(rec->end_ns) ?: ktime_get_ns();
	err = rec->verdict ? READ_ONCE(rec->verdict->err) : rec->err;
	show_identity(m, rec);
	seq_printf(m,
		   " state=%s size=%u count=%u iters=%llu errno=%d start_ns=%llu elapsed_ns=%llu",
		   states[READ_ONCE(rec->state)], rec->params.size, rec->params.count, iters, -err,
		   rec->start_ns, end - rec->start_ns);
	seq_printf(m, " send_bytes=%llu send_msgs=%llu recv_bytes=%llu recv_msgs=%llu",
		   (u64)atomic64_read(&s->send.bytes), (u64)atomic64_read(&s->send.msgs),
		   (u64)atomic64_read(&s->recv.bytes), (u64)atomic64_read(&s->recv.msgs));
	seq_printf(m, " write_bytes=%llu write_msgs=%llu read_bytes=%llu read_msgs=%llu",
		   (u64)atomic64_read(&s->write.bytes), (u64)atomic64_read(&s->write.msgs),
		   (u64)atomic64_read(&s->read.bytes), (u64)atomic64_read(&s->read.msgs));
	seq_printf(m, " lat_min_ns=%llu lat_mean_ns=%llu lat_max_ns=%llu", READ_ONCE(lat->min_ns),
		   iters ? div64_u64(sum_ns, iters) : 0, READ_ONCE(lat->max_ns));
	seq_printf(m, " fastreg=%llu localinv=%llu reminv=%llu", READ_ONCE(rec->fastreg),
		   READ_ONCE(rec->localinv), READ_ONCE(rec->reminv));
	show_phase(m, rec->phases);
	seq_printf(m, " cq=%u classic=%d rejects=%d scq=%u poll_ctx=%s", rec->cq, rec->classic,
		   atomic_read(&rec->rejects), rec->scq,
		   krping_record_has_test(rec) ? polls[rec->params.poll_ctx] : "-");
	show_figures(m, rec);
	seq_printf(m, " lat_sum_ns=%llu clients=%u served=%u failed=%u", sum_ns,
		   rec->params.clients, READ_ONCE(rec->served), READ_ONCE(rec->failed));
	seq_printf(m, " mem_mode=%s readinv=%llu offset=%u moved_bytes=%llu",
		   krping_record_has_test(rec) ? mems[rec->params.mem_mode] : "-",
		   READ_ONCE(rec->readinv), rec->params.offset, krping_record_moved(rec));
	seq_printf(m, " srq=%u srq_lost=%u queues=%u", READ_ONCE(rec->srq),
		   READ_ONCE(rec->srq_lost), rec->params.queues);
	if (rec->disks)
		seq_printf(m, " disk=krping%u", rec->disks - 1);
	else
		seq_puts(m, " disk=-");
	if (rec->dev_was[0] && strcmp(rec->dev, rec->dev_was))
		seq_printf(m, " dev_was=%s", rec->dev_was);
	seq_puts(m, " reason=\"");
	/* Until a run is over its cause may still be being written. */
	if (!rec->verdict)
		seq_escape_str(m, rec->reason, ESCAPE_ANY | ESCAPE_NAP | ESCAPE_APPEND, "\"\\");
	seq_puts(m, "\"\n");
	return 0;
}

/* A bucket is shown by its smallest value, so that a reader need not know how wide it is. */
int krping_hist_show(struct seq_file *m, const struct krping_record *rec)
{
	/* Under the lock, and too large for the stack. */
	static u64 bucket[KRP_HIST_BUCKETS];
	struct krping_lat lat = { .bucket = bucket };
	const char *sep = "";
	u64 iters;
	u32 i;

	if (!rec) {
		seq_printf(m, "# krping hist abi=1 per_octave=%d bits=%d\n", KRP_HIST_SUB,
			   KRP_HIST_BITS);
		return 0;
	}
	if (!rec->verdict)
		return 0;
	iters = krping_lat_copy(&rec->lat, &lat);
	if (!iters)
		return 0;
	seq_printf(m, "id=%u iters=%llu elapsed_ns=%llu lat_sum_ns=%llu", rec->id, iters,
		   ktime_get_ns() - rec->start_ns, lat.sum_ns);
	seq_printf(m, " lat_min_ns=%llu lat_max_ns=%llu buckets=", lat.min_ns, lat.max_ns);
	for (i = 0; i < KRP_HIST_BUCKETS; i++) {
		if (!bucket[i])
			continue;
		seq_printf(m, "%s%llu:%llu", sep, krp_hist_low(i), bucket[i]);
		sep = ",";
	}
	seq_putc(m, '\n');
	return 0;
}

int krping_protects_show(struct seq_file *m, const struct krping_record *rec)
{
	if (!rec) {
		seq_puts(m, "# krping protect abi=1\n");
		return 0;
	}
	if (!rec->protect.judgement)
		return 0;
	seq_printf(m, "id=%u parent=%u role=%s", rec->id, rec->parent,
		   rec->params.role == KRPING_ROLE_CLIENT ? "client" : "server");
	krping_protect_show(m, rec->params.case_nr, &rec->protect);
	return 0;
}
