// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs: their life, their result, and the registry of all of them.
 */
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string_helpers.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include "run.h"

static unsigned int krping_history = 1024;
module_param_named(history, krping_history, uint, 0644);
MODULE_PARM_DESC(history, "finished runs that /proc/krping_runs remembers (default 1024)");

static unsigned int krping_events_abi = KRPING_EVENTS_ABI;
module_param_named(events_abi, krping_events_abi, uint, 0444);
MODULE_PARM_DESC(events_abi, "version of the tracepoints' arguments (read only)");

static const struct krping_test *const krping_tests[] = {
	[KRPING_TEST_RPING] = &krping_test_rping,
};

#define KRPING_FINISH_MS 1000 /* for the iteration that is under way */

/*
 * Guards the list of records, their run pointers, and the counters below. Held
 * while a page of /proc is printed, so nothing slow is done under it.
 */
static DEFINE_MUTEX(krping_registry_lock);
static LIST_HEAD(krping_records);
static u32 krping_last_id;
static unsigned int krping_nr_finished; /* and gone */
static unsigned long krping_nr_evicted;

/* Tells this load of the module from every other, here and on other hosts. */
u64 krping_nonce;

/**
 * krping_fail - report why a run cannot go on, and tell its thread to stop
 * @run: the run
 * @err: negative errno
 * @fmt: the reason, in words
 *
 * The first cause stays. Once the run has done what it was asked for there is
 * none any more: what comes later belongs to the tear-down. The thread is told
 * in any case: also a good run may be waiting, to leave its connection, for
 * what will never come.
 *
 * Context: any.
 * Return: the run's first cause, a negative errno.
 */
int krping_fail(struct krping_run *run, int err, const char *fmt, ...)
{
	unsigned long flags;
	va_list args;

	spin_lock_irqsave(&run->fail_lock, flags);
	if (!run->err && !run->good) {
		va_start(args, fmt);
		vscnprintf(run->reason, sizeof(run->reason), fmt, args);
		va_end(args);
		WRITE_ONCE(run->err, err);
	}
	spin_unlock_irqrestore(&run->fail_lock, flags);
	/* Pairs with krping_is_stopping(): who sees it sees the cause, too. */
	smp_store_release(&run->stopping, true);
	wake_up(&run->wq);
	return READ_ONCE(run->err) ?: err;
}

/**
 * krping_is_stopping - was the run told to stop?
 * @run: the run
 *
 * Every wait of the thread ends on it.
 *
 * Context: any.
 */
bool krping_is_stopping(const struct krping_run *run)
{
	/* Pairs with krping_fail(). */
	return smp_load_acquire(&run->stopping);
}

/**
 * krping_stopped - what a wait returns that ended because the run is stopping
 * @run: the run
 *
 * Context: the run's thread.
 * Return: the run's cause; -ECANCELED for a good run, which has none.
 */
int krping_stopped(const struct krping_run *run)
{
	return READ_ONCE(run->err) ?: -ECANCELED;
}

/**
 * krping_must_stop - should a wait end although nothing came?
 * @run: the run
 *
 * Return: true if the run is stopping, or if the connection is gone.
 */
bool krping_must_stop(const struct krping_run *run)
{
	return krping_is_stopping(run) || READ_ONCE(run->ep.flushed) ||
	       test_bit(KRPING_CM_DISCONNECTED, &run->cm.seen);
}

/*
 * KILL, or a second signal. One without a handler ends the process by KILL as
 * well, but with its own number as the exit code.
 */
static bool krping_is_killed(const struct krping_run *run)
{
	return fatal_signal_pending(current) &&
	       (run->asked_kills ||
		READ_ONCE(current->signal->group_exit_code) == SIGKILL);
}

/* A signal has come. The first one starts the clock of KRPING_FINISH_MS. */
static bool krping_heard(struct krping_run *run)
{
	if (!signal_pending(current) || krping_is_killed(run))
		return false;
	if (!run->asked) {
		run->asked = true;
		run->asked_kills = !fatal_signal_pending(current);
		run->asked_until = jiffies + msecs_to_jiffies(KRPING_FINISH_MS);
	}
	return true;
}

/**
 * krping_is_asked - has a signal asked an endless run to end?
 * @run: the run
 *
 * That is how an endless run ends, so it is no failure of it. It ends between
 * two iterations, for both ends to have the same number of them.
 *
 * Context: the run's thread.
 * Return: true if so; false for a run with a count, which has not done what it
 * was asked, and after KILL or a second signal, which end any run at once.
 */
bool krping_is_asked(struct krping_run *run)
{
	return !run->params.count && krping_heard(run);
}

/**
 * krping_asked_left - how long may a wait go on in spite of a signal?
 * @run: the run
 *
 * An endless run finishes its iteration, and a good one sees its last message
 * off; for either it has a second in all.
 *
 * Context: the run's thread.
 * Return: jiffies; 0: not at all.
 */
unsigned long krping_asked_left(struct krping_run *run)
{
	if ((run->params.count && !run->good) || !krping_heard(run) ||
	    time_after_eq(jiffies, run->asked_until))
		return 0;
	return run->asked_until - jiffies;
}

static noinline void krping_trace_state(struct krping_run *run,
					enum krping_state old,
					enum krping_state state)
{
	krping_trace(state, run->rec->id, old, state,
		     state == KRPING_STATE_ERROR ? run->err : 0);
}

/**
 * krping_set_state - a state transition
 * @run: the run
 * @state: the new state
 *
 * Context: the run's thread, the only one that may.
 */
void krping_set_state(struct krping_run *run, enum krping_state state)
{
	enum krping_state old = run->rec->state;

	WRITE_ONCE(run->rec->state, state);
	if (trace_krping_state_enabled())
		krping_trace_state(run, old, state);
}

/*
 * An rxe without a socket of each namespace would send the packets of another
 * one through the initial one, where they go astray or, worse, arrive.
 */
static bool krping_device_works_in(const struct ib_device *dev,
				   const struct net *net)
{
	return KRPING_RXE_NETNS || net_eq(net, &init_net) ||
	       dev->ops.driver_id != RDMA_DRIVER_RXE;
}

/**
 * krping_run_device - a run has found its device
 * @run: the run
 * @dev: the device
 *
 * From now on krping_device_removed() reaches the run.
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or the run's cause: -ENODEV, it is being removed; -EOPNOTSUPP, it
 * has no fast registration, or does not work in the run's network namespace.
 */
int krping_run_device(struct krping_run *run, struct ib_device *dev)
{
	bool there;

	mutex_lock(&krping_registry_lock);
	there = krping_device_is_there(dev);
	run->ep.dev = dev;
	strscpy(run->rec->dev, dev_name(&dev->dev), sizeof(run->rec->dev));
	mutex_unlock(&krping_registry_lock);

	if (!there)
		return krping_fail(run, -ENODEV, "device %s was removed",
				   run->rec->dev);
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return krping_fail(run, -EOPNOTSUPP,
				   "%s has no fast registration",
				   run->rec->dev);
	if (!krping_device_works_in(dev, run->net))
		return krping_fail(run, -EOPNOTSUPP,
				   "%s works only in the initial network namespace with this kernel",
				   run->rec->dev);
	return 0;
}

/* A listener on all addresses has no device of its own. */
static bool krping_run_is_on(const struct krping_run *run,
			     const struct ib_device *dev, bool last)
{
	if (run->ep.dev)
		return run->ep.dev == dev;
	return last && run->params.role == KRPING_ROLE_SERVER;
}

/* Where krping_device_removed() waits for runs to be freed. */
static DECLARE_WAIT_QUEUE_HEAD(krping_freed);

static bool krping_device_has_runs(const struct ib_device *dev)
{
	struct krping_record *rec;
	bool has = false;

	mutex_lock(&krping_registry_lock);
	list_for_each_entry(rec, &krping_records, list) {
		if (rec->run && rec->run->ep.dev == dev) {
			has = true;
			break;
		}
	}
	mutex_unlock(&krping_registry_lock);
	return has;
}

/**
 * krping_device_removed - a device goes away; end all the runs on it
 * @dev: the device
 * @last: there is no other, so that who listens on all listens on none
 *
 * A run that has done what it was asked for keeps its good result, but stops
 * waiting for its peer like all the others.
 *
 * Waits for the runs that have found the device. rdma_cm would wait for their
 * ids, but lets the device go a moment before it gives back what an id holds of
 * it (cma_release_dev(): the GID, after the device).
 *
 * Context: process; sleeps, not interruptible, as long as their tear-down
 * takes.
 */
void krping_device_removed(struct ib_device *dev, bool last)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct krping_record *rec;

	mutex_lock(&krping_registry_lock);
	list_for_each_entry(rec, &krping_records, list) {
		struct krping_run *run = rec->run;

		if (!run || !krping_run_is_on(run, dev, last))
			continue;
		krping_fail(run, -ENODEV, "device %s was removed",
			    dev_name(&dev->dev));
		krping_cm_interrupt(run);
	}
	mutex_unlock(&krping_registry_lock);

	add_wait_queue(&krping_freed, &wait);
	while (krping_device_has_runs(dev))
		wait_woken(&wait, TASK_UNINTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	remove_wait_queue(&krping_freed, &wait);
}

/*
 * Life
 */

#define KRPING_STALL_MS 500 /* see krping_run_teardown() */

static struct workqueue_struct *krping_wq;
static void krping_down_work(struct work_struct *work);

static void krping_record_free(struct krping_record *rec)
{
	list_del(&rec->list);
	put_pid(rec->pid);
	kfree(rec);
}

/* Forget the oldest finished runs. Caller holds krping_registry_lock. */
static void krping_evict(void)
{
	unsigned int keep = READ_ONCE(krping_history);
	struct krping_record *rec, *next;

	list_for_each_entry_safe(rec, next, &krping_records, list) {
		if (krping_nr_finished <= keep)
			break;
		if (rec->run)
			continue;
		krping_record_free(rec);
		krping_nr_finished--;
		krping_nr_evicted++;
	}
}

static struct krping_run *krping_run_create(void)
{
	struct krping_run *run = kvzalloc(sizeof(*run), GFP_KERNEL);
	struct krping_record *rec = kzalloc(sizeof(*rec), GFP_KERNEL);

	if (!run || !rec)
		goto out_nomem;

	run->rec = rec;
	run->net = get_net(current->nsproxy->net_ns);
	run->task = current;
	init_waitqueue_head(&run->wq);
	spin_lock_init(&run->fail_lock);
	INIT_WORK(&run->down, krping_down_work);
	init_completion(&run->is_down);
	rec->run = run;
	rec->live = true;
	rec->pid = get_pid(task_tgid(current));
	rec->net_cookie = run->net->net_cookie;

	mutex_lock(&krping_registry_lock);
	if (krping_last_id == U32_MAX) {
		mutex_unlock(&krping_registry_lock);
		put_net(run->net);
		put_pid(rec->pid);
		kfree(rec);
		kvfree(run);
		return ERR_PTR(-EOVERFLOW);
	}
	rec->id = ++krping_last_id;
	rec->start_ns = ktime_get_ns();
	list_add_tail(&rec->list, &krping_records);
	mutex_unlock(&krping_registry_lock);
	return run;

out_nomem:
	kfree(rec);
	kvfree(run);
	return ERR_PTR(-ENOMEM);
}

/* The result stands. Caller holds krping_registry_lock. */
static void krping_run_publish(struct krping_run *run)
{
	struct krping_record *rec = run->rec;

	rec->err = run->err;
	strscpy(rec->reason, run->reason, sizeof(rec->reason));
	rec->live = false;
}

/* The run is gone after it, its record stays. */
static void krping_run_free(struct krping_run *run)
{
	mutex_lock(&krping_registry_lock);
	run->rec->run = NULL;
	krping_nr_finished++;
	krping_evict();
	mutex_unlock(&krping_registry_lock);
	wake_up_all(&krping_freed);

	put_net(run->net);
	kvfree(run);
}

/* It did what it was asked for; what went wrong since then is tear-down. */
static void krping_run_good(struct krping_run *run)
{
	spin_lock_irq(&run->fail_lock);
	run->err = 0;
	run->reason[0] = '\0';
	run->good = true;
	spin_unlock_irq(&run->fail_lock);
}

/*
 * The peer left, or the queue pair was flushed, and nothing else has been said
 * about it.
 */
static void krping_run_reset(struct krping_run *run)
{
	const char *what = "the queue pair failed";
	char more[KRPING_LAST_WORDS];

	if (run->ep.peer_left)
		what = "the peer disconnected";
	krping_ep_last_words(run, more, sizeof(more));
	if (run->params.count)
		krping_fail(run, -ECONNRESET,
			    "%s after %llu of %u iterations%s", what, run->iter,
			    run->params.count, more);
	else
		krping_fail(run, -ECONNRESET, "%s in iteration %llu%s", what,
			    run->iter, more);
}

static void krping_run_test(struct krping_run *run)
{
	int ret;

	if (run->params.role == KRPING_ROLE_CLIENT)
		ret = krping_connect_client(run) ?: run->test->client(run);
	else
		ret = krping_connect_server(run) ?: run->test->server(run);

	if (!ret)
		krping_run_good(run);
	else if (ret == -EINTR)
		krping_fail(run, ret, "interrupted");
	else if (!READ_ONCE(run->err))
		krping_run_reset(run);
}

/*
 * The one way down, from every point on the way up: first nobody talks to us,
 * then nothing runs, then nothing refers to memory, then it goes. Only the
 * run's thread has phases.
 */
static void krping_run_down(struct krping_run *run, bool thread)
{
	if (thread)
		krping_enter(run, KRPING_PHASE_DISCONNECT, 0, 0);
	krping_disconnect(run);
	if (thread)
		krping_enter(run, KRPING_PHASE_DRAIN, 0, 0);
	krping_ep_drain(run);
	if (thread)
		krping_enter(run, KRPING_PHASE_FREE, 0, 0);
	krping_ep_destroy_qp(run, run->cm.id);
	run->test->free(run);
	krping_ep_destroy_pd(run);
	krping_destroy_ids(run);
}

/* Of the thread and the work, whoever is the last to leave frees the run. */
static void krping_run_leave(struct krping_run *run)
{
	if (test_and_set_bit(0, &run->left))
		krping_run_free(run);
}

static void krping_down_work(struct work_struct *work)
{
	struct krping_run *run = container_of(work, struct krping_run, down);

	krping_run_down(run, false);
	complete(&run->is_down);
	krping_run_leave(run);
}

/*
 * On iWARP a connection that is being made can be neither left nor destroyed
 * before the peer has answered or the provider has lost its patience (10 s on
 * siw). The thread, which may have been told to end by a signal, does not wait
 * for that. Returns true if the work has, or has had, a part in the run.
 */
static bool krping_run_teardown(struct krping_run *run)
{
	if (run->in_iter)
		run->phase_flags = KRPING_PHASE_F_ABORT;
	if (!krping_cm_may_stall(run)) {
		krping_run_down(run, true);
		return false;
	}
	krping_enter(run, KRPING_PHASE_DISCONNECT, 0, 0);
	queue_work(krping_wq, &run->down);
	wait_for_completion_timeout(&run->is_down,
				    msecs_to_jiffies(KRPING_STALL_MS));
	return true;
}

/**
 * krping_run_command - carry out a command
 * @text: its text, need not be NUL-terminated
 * @len: length in bytes
 *
 * Works in the caller's context and returns when the run has ended. What it
 * did, or why it did not, is then in the run's record.
 *
 * Context: process; sleeps, ends early on a signal.
 * Return: 0, or the negative errno of the first cause.
 */
int krping_run_command(const char *text, size_t len)
{
	struct krping_run *run = krping_run_create();
	struct krping_record *rec;
	bool shared = false;
	int ret;

	if (IS_ERR(run))
		return PTR_ERR(run);
	rec = run->rec;
	krping_dbg(run, "proc write |%.*s|", (int)len, text);

	ret = krping_command_parse(text, len, &run->params, run->reason,
				   sizeof(run->reason));
	if (ret) {
		run->err = ret;
		rec->state = KRPING_STATE_ERROR;
		rec->end_ns = ktime_get_ns();
		goto out;
	}
	rec->params = run->params;
	rec->parsed = true;
	run->test = krping_tests[run->params.test];

	krping_trace(run_start, rec->id, rec->start_ns, rec->parent,
		     run->params.role, run->params.test, run->params.size,
		     run->params.count, run->params.flags, pid_nr(rec->pid),
		     current->comm);
	/* The first phase begins with the run. */
	run->t_next = rec->start_ns;
	krping_enter(run,
		     run->params.role == KRPING_ROLE_CLIENT ?
			     KRPING_PHASE_RESOLVE_ADDR :
			     KRPING_PHASE_LISTEN,
		     0, 0);
	krping_set_state(run, KRPING_STATE_IDLE);

	krping_run_test(run);
	shared = krping_run_teardown(run);

	ret = run->err;
	krping_set_state(run, ret ? KRPING_STATE_ERROR : KRPING_STATE_DONE);
	WRITE_ONCE(rec->end_ns, ktime_get_ns());
	krping_phases_end(run, rec->end_ns);
	krping_trace(run_end, rec->id, rec->end_ns, run->iter, ret,
		     rec->end_ns - rec->start_ns, run->phase, run->t_phase);
out:
	mutex_lock(&krping_registry_lock);
	krping_run_publish(run);
	mutex_unlock(&krping_registry_lock);
	if (shared)
		krping_run_leave(run);
	else
		krping_run_free(run);
	return ret;
}

/*
 * /proc
 */

static u64 krping_reader_cookie(void)
{
	return current->nsproxy->net_ns->net_cookie;
}

/* The initial namespace sees all the runs, another one its own. */
static bool krping_visible(const struct krping_record *rec)
{
	return current->nsproxy->net_ns == &init_net ||
	       rec->net_cookie == krping_reader_cookie();
}

/*
 * A position is the id to go on with, so that a reader neither skips nor
 * repeats a run when others end between two reads; 0 is the header.
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
	const u32 *from = m->private;

	++*pos;
	/* Of krping_runs a reader may want but the runs from one on. */
	if (from)
		*pos = max_t(loff_t, *pos, READ_ONCE(*from));
	return krping_seq_find(v == SEQ_START_TOKEN ? NULL : v, pos);
}

static void krping_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&krping_registry_lock);
}

/* The classic line: of running commands only, and nothing before the first. */
static int krping_stats_show(struct seq_file *m, void *v)
{
	const struct krping_record *rec = v;
	const struct krping_stats *s;

	if (v == SEQ_START_TOKEN || !rec->live)
		return 0;
	if (!READ_ONCE(rec->cq)) {
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

/*
 * The writer as the PID namespace numbers it that this /proc was mounted for,
 * which is how all of /proc does it; 0 where that namespace cannot see it.
 */
static pid_t krping_pid_of(struct seq_file *m, const struct krping_record *rec)
{
	return pid_nr_ns(rec->pid, proc_pid_ns(file_inode(m->file)->i_sb));
}

/*
 * The phase that a run is in, and since when, where somebody traces phases. The
 * thread goes on meanwhile, so it is asked for until both are of the same phase.
 */
static void krping_show_where(struct seq_file *m, const struct krping_run *run)
{
	static const char *const phases[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_PHASE_, n, s)
		KRPING_PHASES(x)
#undef x
	};
	u32 phase;
	u64 t;

	if (!run) {
		seq_puts(m, " phase=- phase_start_ns=0");
		return;
	}
	do {
		t = READ_ONCE(run->t_phase);
		/* Pairs with __krping_enter(). */
		smp_rmb();
		phase = READ_ONCE(run->phase);
		/* Pairs with __krping_enter(), too. */
		smp_rmb();
	} while (t != READ_ONCE(run->t_phase));
	seq_printf(m, " phase=%s phase_start_ns=%llu", phases[phase], t);
}

static int krping_runs_show(struct seq_file *m, void *v)
{
	static const char *const roles[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_ROLE_, n, s)
		KRPING_ROLES(x)
#undef x
	};
	static const char *const states[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_STATE_, n, s)
		KRPING_STATES(x)
#undef x
	};
	const struct krping_record *rec = v;
	u64 iters, end;
	int err;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m,
			   "# krping runs abi=1 events=%u evicted=%lu nonce=0x%llx\n",
			   KRPING_EVENTS_ABI, krping_nr_evicted, krping_nonce);
		return 0;
	}
	iters = READ_ONCE(rec->iters);
	end = READ_ONCE(rec->end_ns) ?: ktime_get_ns();
	err = rec->live ? READ_ONCE(rec->run->err) : rec->err;
	seq_printf(m,
		   "id=%u parent=%u peer_run=%u name=- pid=%d role=%s test=%s dev=%s port=%u qp=%u",
		   rec->id, rec->parent, rec->peer_run, krping_pid_of(m, rec),
		   rec->parsed ? roles[rec->params.role] : "-",
		   rec->parsed ? krping_tests[rec->params.test]->name : "-",
		   rec->dev[0] ? rec->dev : "-", rec->port, rec->qp);
	krping_show_addr(m, "src", &rec->src);
	krping_show_addr(m, "dst", &rec->dst);
	seq_printf(m,
		   " state=%s size=%u count=%u iters=%llu errno=%d start_ns=%llu elapsed_ns=%llu",
		   states[READ_ONCE(rec->state)], rec->params.size,
		   rec->params.count, iters, -err, rec->start_ns,
		   end - rec->start_ns);
	krping_show_stats(m, &rec->stats);
	seq_printf(m, " lat_min_ns=%llu lat_mean_ns=%llu lat_max_ns=%llu",
		   READ_ONCE(rec->lat_min_ns),
		   iters ? div64_u64(READ_ONCE(rec->lat_sum_ns), iters) : 0,
		   READ_ONCE(rec->lat_max_ns));
	seq_printf(m, " fastreg=%llu localinv=%llu reminv=%llu",
		   READ_ONCE(rec->fastreg), READ_ONCE(rec->localinv),
		   READ_ONCE(rec->reminv));
	krping_show_where(m, rec->live ? rec->run : NULL);
	seq_printf(m, " cq=%u classic=%d rejects=%d reason=\"", rec->cq,
		   rec->classic, atomic_read(&rec->rejects));
	/* Until a run is over its cause may still be being written. */
	if (!rec->live)
		seq_escape_str(m, rec->reason,
			       ESCAPE_ANY | ESCAPE_NP | ESCAPE_APPEND, "\"\\");
	seq_puts(m, "\"\n");
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

/**
 * krping_registry_init - make ready for runs
 *
 * Return: 0, or -ENOMEM.
 */
int krping_registry_init(void)
{
	krping_wq = alloc_workqueue("krping", WQ_UNBOUND, 0);
	return krping_wq ? 0 : -ENOMEM;
}

/**
 * krping_registry_exit - forget all the runs
 *
 * Context: module exit, when no command can come any more; sleeps until the
 * last of them is torn down.
 */
void krping_registry_exit(void)
{
	struct krping_record *rec, *next;

	destroy_workqueue(krping_wq);
	list_for_each_entry_safe(rec, next, &krping_records, list)
		krping_record_free(rec);
}
