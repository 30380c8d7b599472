// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All runs, live and finished: their records, and the files of /proc that show
 * them.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string_helpers.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>
#include <rdma/rdma_cm.h>
#include "agree.h"
#include "krping_trace.h"
#include "phase.h"
#include "protect.h"
#include "registry.h"
#include "verdict.h"

static unsigned int krping_history = 1024;
module_param_named(history, krping_history, uint, 0644);
MODULE_PARM_DESC(history, "finished runs that /proc/krping_runs remembers (default 1024)");

/*
 * Guards the list of records, the members that struct krping_record names for
 * it, and the counters below. It is held while a page of /proc is printed, so
 * nothing slow is done under it.
 */
static DEFINE_MUTEX(krping_registry_lock);
static LIST_HEAD(krping_records);
static LIST_HEAD(krping_over); /* those of runs that are freed, as they ended */
static u32 krping_last_id;
static unsigned int krping_nr_finished; /* only runs that are freed */
static unsigned long krping_nr_evicted;

static void krping_record_free(struct krping_record *rec)
{
	list_del(&rec->list);
	list_del(&rec->over);
	put_pid(rec->pid);
	kfree(rec->protect);
	kfree(rec);
}

/*
 * Forget the runs that ended first. A server of many clients is older than they,
 * and ends last. Caller holds krping_registry_lock.
 */
static void krping_evict(void)
{
	unsigned int keep = READ_ONCE(krping_history);

	while (krping_nr_finished > keep) {
		krping_record_free(list_first_entry(&krping_over,
						    struct krping_record,
						    over));
		krping_nr_finished--;
		krping_nr_evicted++;
	}
}

/**
 * krping_record_create - make the record of a new run, with the next number
 * @phases: where its thread will be
 * @verdict: how it will end
 * @net_cookie: its network namespace
 * @parent: record of the run that it belongs to; NULL: the current task is its writer
 *
 * Context: process; sleeps.
 * Return: its record, or -ENOMEM; -EOVERFLOW: there are no numbers left.
 */
struct krping_record *krping_record_create(const struct krping_phases *phases,
					   struct krping_verdict *verdict,
					   u64 net_cookie,
					   const struct krping_record *parent)
{
	struct krping_record *rec = kzalloc_obj(*rec);

	if (!rec)
		return ERR_PTR(-ENOMEM);
	if (krping_lat_init(&rec->lat)) {
		kfree(rec);
		return ERR_PTR(-ENOMEM);
	}
	rec->phases = phases;
	rec->verdict = verdict;
	rec->live = true;
	rec->pid = get_pid(parent ? parent->pid : task_tgid(current));
	rec->parent = parent ? parent->id : 0;
	rec->net_cookie = net_cookie;

	mutex_lock(&krping_registry_lock);
	if (krping_last_id == U32_MAX) {
		mutex_unlock(&krping_registry_lock);
		put_pid(rec->pid);
		krping_lat_end(&rec->lat);
		kfree(rec);
		return ERR_PTR(-EOVERFLOW);
	}
	rec->id = ++krping_last_id;
	rec->start_ns = ktime_get_ns();
	list_add_tail(&rec->list, &krping_records);
	mutex_unlock(&krping_registry_lock);
	return rec;
}

/* A run has found its device, or this has another name now. Sleeps. */
void krping_record_device(struct krping_record *rec, const char *name)
{
	mutex_lock(&krping_registry_lock);
	if (rec->dev[0] && !rec->dev_was[0] && strcmp(rec->dev, name))
		strscpy(rec->dev_was, rec->dev, sizeof(rec->dev_was));
	strscpy(rec->dev, name, sizeof(rec->dev));
	mutex_unlock(&krping_registry_lock);
}

/* The peer has shown what size its pings have. Sleeps. */
void krping_record_size(struct krping_record *rec, u32 size)
{
	mutex_lock(&krping_registry_lock);
	rec->params.size = size;
	mutex_unlock(&krping_registry_lock);
}

/**
 * krping_record_listens - a server can be reached
 * @rec: record of its run
 * @src: the address at which it listens
 *
 * Context: the run's thread; sleeps.
 */
void krping_record_listens(struct krping_record *rec,
			   const struct sockaddr_storage *src)
{
	mutex_lock(&krping_registry_lock);
	rec->src = *src;
	mutex_unlock(&krping_registry_lock);
}

/**
 * krping_record_seeks - the peer that a run is going to be connected with
 * @rec: its record
 * @dst: the peer's address
 *
 * Whoever waits for a peer that does not answer sees which one that is.
 *
 * Context: the run's thread; sleeps.
 */
void krping_record_seeks(struct krping_record *rec,
			 const struct sockaddr_storage *dst)
{
	mutex_lock(&krping_registry_lock);
	rec->dst = *dst;
	mutex_unlock(&krping_registry_lock);
}

/**
 * krping_record_connected - record the peer of a run and the agreed options
 * @rec: its record
 * @params: the options that were agreed
 * @classic: the peer sent no private data of ours
 * @peer_run: the peer's run id, or 0
 * @port: port of the device
 * @addr: addresses of both ends
 *
 * Context: the run's thread; sleeps.
 */
void krping_record_connected(struct krping_record *rec,
			     const struct krping_params *params, bool classic,
			     u32 peer_run, u32 port,
			     const struct rdma_addr *addr)
{
	mutex_lock(&krping_registry_lock);
	rec->params = *params;
	rec->classic = classic;
	rec->peer_run = peer_run;
	rec->port = port;
	rec->src = addr->src_addr;
	rec->dst = addr->dst_addr;
	mutex_unlock(&krping_registry_lock);
}

/**
 * krping_record_parsed - the run's command was understood
 * @rec: its record
 * @params: the options of the command
 *
 * Context: the run's thread; sleeps.
 */
void krping_record_parsed(struct krping_record *rec,
			  const struct krping_params *params)
{
	mutex_lock(&krping_registry_lock);
	rec->params = *params;
	rec->parsed = true;
	mutex_unlock(&krping_registry_lock);
}

/**
 * krping_record_protects - the run is one of test=protect
 * @rec: its record; nothing happens if it has a table
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or -ENOMEM.
 */
int krping_record_protects(struct krping_record *rec)
{
	struct krping_protect *protect;

	if (rec->protect)
		return 0;
	protect = kzalloc_obj(*protect);
	if (!protect)
		return -ENOMEM;
	mutex_lock(&krping_registry_lock);
	rec->protect = protect;
	mutex_unlock(&krping_registry_lock);
	return 0;
}

/**
 * krping_record_judges - a case of test=protect is over
 * @rec: record of the run, with what both ends saw
 * @nr: the case
 * @judgement: what it came to
 *
 * Context: the run's thread; sleeps.
 */
void krping_record_judges(struct krping_record *rec, enum krping_case nr,
			  enum krping_judgement judgement)
{
	mutex_lock(&krping_registry_lock);
	rec->protect->cases[nr].judgement = judgement;
	mutex_unlock(&krping_registry_lock);
}

/* Per second of the time that the iterations took; their set-up is not in it. */
static u64 krping_rate(u64 n, u64 sum_ns)
{
	return sum_ns ? mul_u64_u64_div_u64(n, NSEC_PER_SEC, sum_ns) : 0;
}

/* Bytes that the iterations of a run have moved. */
static u64 krping_record_moved(const struct krping_record *rec)
{
	return READ_ONCE(rec->moved) ?:
		       READ_ONCE(rec->iters) * READ_ONCE(rec->moves) *
			       rec->params.size;
}

/**
 * krping_record_figures - what a run has measured so far, or in all
 * @rec: its record
 * @f: receives the figures
 *
 * Context: the run's thread, or any with the registry's lock.
 */
void krping_record_figures(const struct krping_record *rec,
			   struct krping_figures *f)
{
	/* Read before the time that they took, of which there is never less. */
	u64 moves = READ_ONCE(rec->iters) * READ_ONCE(rec->moves);
	u64 moved = krping_record_moved(rec);
	u64 regs = READ_ONCE(rec->fastreg);
	u64 sum_ns = READ_ONCE(rec->lat.sum_ns);

	krping_lat_percentiles(&rec->lat, f->p_ns);
	f->bits_per_s = krping_rate(moved * 8, sum_ns);
	f->msgs_per_s = krping_rate(moves, sum_ns);
	f->regs_per_s = krping_rate(regs, sum_ns);
}

/**
 * krping_record_result - the run has its final result
 * @rec: its record
 *
 * Who reads the record sees the final state, the errno and the reason, or none of
 * them.
 *
 * Context: the run's thread; sleeps. The run may still be torn down after this.
 */
void krping_record_result(struct krping_record *rec)
{
	mutex_lock(&krping_registry_lock);
	rec->err = rec->verdict->err;
	WRITE_ONCE(rec->state,
		   rec->err ? KRPING_STATE_ERROR : KRPING_STATE_DONE);
	strscpy(rec->reason, rec->verdict->reason, sizeof(rec->reason));
	krping_lat_end(&rec->lat);
	rec->live = false;
	rec->phases = NULL;
	rec->verdict = NULL;
	mutex_unlock(&krping_registry_lock);
}

/**
 * krping_record_freed - the run is gone
 * @rec: its record, which may be forgotten from now on
 *
 * Context: process; sleeps.
 */
void krping_record_freed(struct krping_record *rec)
{
	mutex_lock(&krping_registry_lock);
	list_add_tail(&rec->over, &krping_over);
	krping_nr_finished++;
	krping_evict();
	mutex_unlock(&krping_registry_lock);
}

static noinline void krping_set_state_traced(struct krping_record *rec,
					     enum krping_state state)
{
	krping_trace(state, rec->id, ktime_get_ns(), rec->state, state, 0);
	WRITE_ONCE(rec->state, state);
}

/**
 * krping_set_state - a state transition
 * @rec: record of the run
 * @state: the new state, which is not a final one: see krping_record_result()
 *
 * Context: the run's thread, the only one that may.
 */
void krping_set_state(struct krping_record *rec, enum krping_state state)
{
	if (trace_krping_state_enabled())
		krping_set_state_traced(rec, state);
	else
		WRITE_ONCE(rec->state, state);
}

/*
 * /proc
 */

static u64 krping_reader_cookie(void)
{
	return current->nsproxy->net_ns->net_cookie;
}

/* The initial namespace sees all runs, another namespace only its own. */
static bool krping_visible(const struct krping_record *rec)
{
	return current->nsproxy->net_ns == &init_net ||
	       rec->net_cookie == krping_reader_cookie();
}

/**
 * krping_record_tell - tell a run that goes on, and that the current task may see
 * @id: its number
 * @tell: is called for it; does not sleep. The run does not end meanwhile
 * @by: number of the run that tells
 *
 * Context: process; sleeps.
 * Return: false: there is no such run.
 */
bool krping_record_tell(u32 id,
			void (*tell)(struct krping_verdict *verdict, u32 by),
			u32 by)
{
	struct krping_record *rec;
	bool found = false;

	mutex_lock(&krping_registry_lock);
	list_for_each_entry(rec, &krping_records, list) {
		/* A command that is being read may still be refused. */
		if (rec->id != id || !rec->live || !rec->parsed ||
		    rec->params.role == KRPING_ROLE_STOP ||
		    !krping_visible(rec))
			continue;
		tell(rec->verdict, by);
		found = true;
		break;
	}
	mutex_unlock(&krping_registry_lock);
	return found;
}

/*
 * A position is the id of the run to go on with, so that a reader neither skips
 * nor repeats a run when others end between two reads; 0 is the header.
 */
static void *krping_seq_find(struct krping_record *after, loff_t *pos)
{
	struct krping_record *rec = after;

	if (!rec)
		rec = list_entry(&krping_records, struct krping_record, list);
	list_for_each_entry_continue(rec, &krping_records, list)
		if (rec->id >= *pos && krping_visible(rec)) {
			*pos = rec->id;
			return rec;
		}
	*pos = (loff_t)U32_MAX + 1;
	return NULL;
}

static void *krping_seq_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&krping_registry_lock);
	return *pos ? krping_seq_find(NULL, pos) : SEQ_START_TOKEN;
}

static void *krping_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	const struct krping_file *reader = m->private;

	++*pos;
	/* Its reader may want only the runs from an id on. */
	*pos = max_t(loff_t, *pos, READ_ONCE(reader->from));
	return krping_seq_find(v == SEQ_START_TOKEN ? NULL : v, pos);
}

static void krping_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&krping_registry_lock);
}

/* The classic format: a line for each running command, and no header. */
static int krping_stats_show(struct seq_file *m, void *v)
{
	const struct krping_record *rec = v;
	const struct krping_stats *s;

	if (v == SEQ_START_TOKEN || !rec->live ||
	    (rec->parsed && rec->params.role == KRPING_ROLE_STOP))
		return 0;
	if (!READ_ONCE(rec->has_cq)) {
		seq_printf(m, "%u listen\n", rec->id);
		return 0;
	}
	s = &rec->stats;
	seq_printf(m, "%u-%s %llu %llu %llu %llu %llu %llu %llu %llu\n",
		   rec->id, rec->dev, READ_ONCE(s->send_bytes),
		   READ_ONCE(s->send_msgs), READ_ONCE(s->recv_bytes),
		   READ_ONCE(s->recv_msgs), READ_ONCE(s->write_bytes),
		   READ_ONCE(s->write_msgs), READ_ONCE(s->read_bytes),
		   READ_ONCE(s->read_msgs));
	return 0;
}

static void krping_show_addr(struct seq_file *m, const char *key,
			     const struct sockaddr_storage *addr)
{
	if (addr->ss_family)
		seq_printf(m, " %s=%pISpc", key, addr);
	else
		seq_printf(m, " %s=-", key);
}

static void krping_show_stats(struct seq_file *m, const struct krping_stats *s)
{
	seq_printf(m,
		   " send_bytes=%llu send_msgs=%llu recv_bytes=%llu recv_msgs=%llu",
		   READ_ONCE(s->send_bytes), READ_ONCE(s->send_msgs),
		   READ_ONCE(s->recv_bytes), READ_ONCE(s->recv_msgs));
	seq_printf(m,
		   " write_bytes=%llu write_msgs=%llu read_bytes=%llu read_msgs=%llu",
		   READ_ONCE(s->write_bytes), READ_ONCE(s->write_msgs),
		   READ_ONCE(s->read_bytes), READ_ONCE(s->read_msgs));
}

/* Who works with whom, and by which process, is for those who may run krping. */
static bool krping_may_know(struct seq_file *m)
{
	return file_ns_capable(m->file, &init_user_ns, CAP_NET_ADMIN);
}

/*
 * The writer's number in the PID namespace for which this /proc was mounted, as
 * everywhere in /proc; 0 if that namespace cannot see the writer, or the reader may not.
 */
static pid_t krping_pid_of(struct seq_file *m, const struct krping_record *rec)
{
	if (!krping_may_know(m))
		return 0;
	return pid_nr_ns(rec->pid, proc_pid_ns(file_inode(m->file)->i_sb));
}

/*
 * Show the phase that a run is in and, if somebody wants phases, when it
 * began. The thread goes on meanwhile, so read until both belong together.
 */
static void krping_show_where(struct seq_file *m,
			      const struct krping_phases *phases)
{
	static const char *const names[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_PHASE_, n, s)
		KRPING_PHASES(x)
#undef x
	};
	u32 phase;
	u64 t;

	if (!phases) {
		seq_puts(m, " phase=- phase_start_ns=0");
		return;
	}
	do {
		t = READ_ONCE(phases->t_phase);
		/* Pairs with __krping_enter(). */
		smp_rmb();
		phase = READ_ONCE(phases->phase);
		/* Pairs with __krping_enter(), too. */
		smp_rmb();
	} while (t != READ_ONCE(phases->t_phase));
	seq_printf(m, " phase=%s phase_start_ns=%llu", names[phase], t);
}

static void krping_show_lat(struct seq_file *m, const struct krping_lat *lat,
			    u64 iters)
{
	seq_printf(m, " lat_min_ns=%llu lat_mean_ns=%llu lat_max_ns=%llu",
		   READ_ONCE(lat->min_ns),
		   iters ? div64_u64(READ_ONCE(lat->sum_ns), iters) : 0,
		   READ_ONCE(lat->max_ns));
}

static void krping_show_figures(struct seq_file *m,
				const struct krping_record *rec)
{
	struct krping_figures f;

	krping_record_figures(rec, &f);
	seq_printf(m,
		   " lat_p50_ns=%llu lat_p90_ns=%llu lat_p99_ns=%llu lat_p999_ns=%llu",
		   f.p_ns[0], f.p_ns[1], f.p_ns[2], f.p_ns[3]);
	seq_printf(m,
		   " moves=%u bits_per_s=%llu msgs_per_s=%llu regs_per_s=%llu",
		   READ_ONCE(rec->moves), f.bits_per_s, f.msgs_per_s,
		   f.regs_per_s);
}

static void krping_show_split(struct seq_file *m,
			      const struct krping_split_sum *sum)
{
	seq_printf(m,
		   " split_iters=%llu own_host_ns=%llu peer_host_ns=%llu network_ns=%llu",
		   READ_ONCE(sum->iters), READ_ONCE(sum->host_ns),
		   READ_ONCE(sum->peer_ns), READ_ONCE(sum->net_ns));
}

static int krping_runs_show(struct seq_file *m, void *v)
{
	static const char *const roles[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_ROLE_, n, s)
		KRPING_ROLES(x)
#undef x
	};
	static const char *const tests[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_TEST_, n, s)
		KRPING_TESTS(x)
#undef x
	};
	static const char *const polls[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_POLL_, n, s)
		KRPING_POLLS(x)
#undef x
	};
	static const char *const states[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_STATE_, n, s)
		KRPING_STATES(x)
#undef x
	};
	static const char *const mems[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_MEM_, n, s)
		KRPING_MEMS(x)
#undef x
	};
	const struct krping_record *rec = v;
	bool runs;
	u64 iters, end;
	int err;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m,
			   "# krping runs abi=1 events=%u evicted=%lu nonce=0x%llx\n",
			   KRPING_EVENTS_ABI, krping_nr_evicted, krping_nonce);
		return 0;
	}
	runs = rec->parsed && rec->params.role != KRPING_ROLE_STOP;
	iters = READ_ONCE(rec->iters);
	end = READ_ONCE(rec->end_ns) ?: ktime_get_ns();
	err = rec->live ? READ_ONCE(rec->verdict->err) : rec->err;
	seq_printf(m,
		   "id=%u parent=%u peer_run=%u name=%s pid=%d role=%s test=%s dev=%s port=%u qp=%u",
		   rec->id, rec->parent, rec->peer_run,
		   rec->params.name[0] ? rec->params.name : "-",
		   krping_pid_of(m, rec),
		   rec->parsed ? roles[rec->params.role] : "-",
		   runs ? tests[rec->params.test] : "-",
		   rec->dev[0] ? rec->dev : "-", rec->port, rec->qp);
	if (krping_may_know(m)) {
		krping_show_addr(m, "src", &rec->src);
		krping_show_addr(m, "dst", &rec->dst);
	} else {
		seq_puts(m, " src=- dst=-");
	}
	seq_printf(m,
		   " state=%s size=%u count=%u iters=%llu errno=%d start_ns=%llu elapsed_ns=%llu",
		   states[READ_ONCE(rec->state)], rec->params.size,
		   rec->params.count, iters, -err, rec->start_ns,
		   end - rec->start_ns);
	krping_show_stats(m, &rec->stats);
	krping_show_lat(m, &rec->lat, iters);
	seq_printf(m, " fastreg=%llu localinv=%llu reminv=%llu",
		   READ_ONCE(rec->fastreg), READ_ONCE(rec->localinv),
		   READ_ONCE(rec->reminv));
	krping_show_where(m, rec->phases);
	seq_printf(m, " cq=%u classic=%d rejects=%d scq=%u poll_ctx=%s",
		   rec->cq, rec->classic, atomic_read(&rec->rejects), rec->scq,
		   runs ? polls[rec->params.poll_ctx] : "-");
	krping_show_figures(m, rec);
	krping_show_split(m, &rec->split);
	seq_printf(m, " lat_sum_ns=%llu", READ_ONCE(rec->lat.sum_ns));
	seq_printf(m, " clients=%u served=%u failed=%u", rec->params.clients,
		   READ_ONCE(rec->served), READ_ONCE(rec->failed));
	seq_printf(m, " mem_mode=%s readinv=%llu",
		   runs ? mems[rec->params.mem_mode] : "-",
		   READ_ONCE(rec->readinv));
	seq_printf(m, " offset=%u moved_bytes=%llu", rec->params.offset,
		   krping_record_moved(rec));
	seq_printf(m, " srq=%u srq_lost=%u", READ_ONCE(rec->srq),
		   READ_ONCE(rec->srq_lost));
	if (rec->dev_was[0] && strcmp(rec->dev, rec->dev_was))
		seq_printf(m, " dev_was=%s", rec->dev_was);
	seq_puts(m, " reason=\"");
	/* Until a run is over its cause may still be being written. */
	if (!rec->live)
		seq_escape_str(m, rec->reason,
			       ESCAPE_ANY | ESCAPE_NAP | ESCAPE_APPEND, "\"\\");
	seq_puts(m, "\"\n");
	return 0;
}

/*
 * A line for each run that goes on and has iterations. A bucket is shown by its
 * smallest value, so that a reader need not know how wide it is.
 */
static int krping_hist_show(struct seq_file *m, void *v)
{
	/* Under the lock, and too large for the stack. */
	static u64 bucket[KRP_HIST_BUCKETS];
	const struct krping_record *rec = v;
	struct krping_lat lat = { .bucket = bucket };
	const char *sep = "";
	u64 iters;
	u32 i;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m, "# krping hist abi=1 per_octave=%d bits=%d\n",
			   KRP_HIST_SUB, KRP_HIST_BITS);
		return 0;
	}
	if (!rec->live)
		return 0;
	iters = krping_lat_copy(&rec->lat, &lat);
	if (!iters)
		return 0;
	seq_printf(m, "id=%u iters=%llu elapsed_ns=%llu lat_sum_ns=%llu",
		   rec->id, iters, ktime_get_ns() - rec->start_ns, lat.sum_ns);
	seq_printf(m, " lat_min_ns=%llu lat_max_ns=%llu buckets=", lat.min_ns,
		   lat.max_ns);
	for (i = 0; i < KRP_HIST_BUCKETS; i++) {
		if (!bucket[i])
			continue;
		seq_printf(m, "%s%llu:%llu", sep, krp_hist_low(i), bucket[i]);
		sep = ",";
	}
	seq_putc(m, '\n');
	return 0;
}

/* A line for each case that a run of test=protect has made, in order. */
static int krping_protect_seq_show(struct seq_file *m, void *v)
{
	const struct krping_record *rec = v;

	if (v == SEQ_START_TOKEN)
		seq_puts(m, "# krping protect abi=1\n");
	else if (rec->protect)
		krping_protect_show(m, rec->id,
				    rec->params.role == KRPING_ROLE_CLIENT,
				    rec->protect);
	return 0;
}

const struct seq_operations krping_stats_seq_ops = {
	.start = krping_seq_start,
	.next = krping_seq_next,
	.stop = krping_seq_stop,
	.show = krping_stats_show,
};

const struct seq_operations krping_runs_seq_ops = {
	.start = krping_seq_start,
	.next = krping_seq_next,
	.stop = krping_seq_stop,
	.show = krping_runs_show,
};

const struct seq_operations krping_hist_seq_ops = {
	.start = krping_seq_start,
	.next = krping_seq_next,
	.stop = krping_seq_stop,
	.show = krping_hist_show,
};

const struct seq_operations krping_protect_seq_ops = {
	.start = krping_seq_start,
	.next = krping_seq_next,
	.stop = krping_seq_stop,
	.show = krping_protect_seq_show,
};

/**
 * krping_registry_exit - forget all the runs
 *
 * Context: module exit, when no command can come any more and all runs are
 * gone.
 */
void krping_registry_exit(void)
{
	struct krping_record *rec, *next;

	list_for_each_entry_safe(rec, next, &krping_records, list)
		krping_record_free(rec);
}
