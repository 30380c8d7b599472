// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A command: its text is read, and what it asks for is done. Each command has a number, and a
 * line in /proc/krping_runs; so has a command that was refused, or that only ends another run.
 *
 * A run lives in a kernel thread, and the task that wrote its command waits for it. A signal to
 * the writer asks the run to end; a second one that kills the writer, or KILL, ends it at once.
 *
 * A task also has to return from the system call when it is frozen, stopped, or traced. Nobody
 * has asked the run to end then, so it goes on. The kernel repeats the call afterwards, also
 * behind a signal's handler: a task that writes the same text to the same open file again finds
 * its run, and waits on. When the file is closed instead, the run is asked to end.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "cpu.h"
#include "dbg.h"
#include "dispatch.h"
#include "life.h"
#include "link.h"
#include "pd.h"
#include "registry.h"
#include "run.h"
#include "serve.h"
#include "writer.h"

/* A command whose run lives. */
struct krping_cmd {
	struct list_head list; /* of the open file, while the writer is away */
	refcount_t refs;       /* of the writer, or its file; and of the thread */
	struct krping_writer writer;
	char *text;
	size_t len;
	struct krping_job job;
	struct krping_run *run; /* NULL: it is over, and ret is its result */
	int ret;
	bool over;
};

/* Guards the lists, and krping_cmd.run once the thread is there. */
static DEFINE_SPINLOCK(krping_cmd_lock);

static void krping_cmd_put(struct krping_cmd *cmd)
{
	if (!refcount_dec_and_test(&cmd->refs))
		return;
	put_task_struct(cmd->writer.task);
	kfree(cmd->text);
	kfree(cmd);
}

static void krping_cmd_over(struct krping_cmd *cmd)
{
	/* Pairs with krping_cmd_is_over(): who sees this sees the result. */
	smp_store_release(&cmd->over, true);
	wake_up(&cmd->writer.wait);
}

static void krping_cmd_thread(void *data)
{
	struct krping_cmd *cmd = data;
	struct krping_run *run = cmd->run;

	cmd->ret = krping_run_live(run, run->params.clients ? krping_serve : krping_run_test);
	spin_lock(&krping_cmd_lock);
	cmd->run = NULL;
	spin_unlock(&krping_cmd_lock);
	/* Nothing is left of the run after the write(), unless the tear-down takes long. */
	if (run->stalls) {
		krping_cmd_over(cmd);
		krping_link_down(run, false);
	}
	krping_run_free(run);
	krping_cmd_over(cmd);
	krping_cmd_put(cmd);
	module_put_and_kthread_exit(0);
}

static int krping_cmd_start(struct krping_cmd *cmd)
{
	int ret;

	/* The thread's; the writer has its own until it returns. */
	refcount_inc(&cmd->refs);
	__module_get(THIS_MODULE);
	ret = krping_job_start(&cmd->job, cmd->run, krping_cmd_thread, cmd);
	if (ret) {
		module_put(THIS_MODULE);
		refcount_dec(&cmd->refs);
	}
	return ret;
}

/*
 * Asks a run to end, which a task wants. A run whose disk is open goes on until that is closed, or
 * until it is asked @again. Returns 0, or -EBUSY: it goes on.
 */
static int krping_run_is_told(struct krping_run *run, const char *reason, bool again)
{
	bool held = krping_run_is_held(run);

	if (held && again && READ_ONCE(run->verdict.asked))
		krping_kill(&run->verdict);
	krping_run_ask(run, -EINTR, reason);
	return held && !krping_must_end(&run->verdict) ? -EBUSY : 0;
}

static int krping_cmd_ask(struct krping_cmd *cmd, bool kill, bool again)
{
	int ret = 0;

	spin_lock(&krping_cmd_lock);
	if (cmd->run && kill)
		krping_kill(&cmd->run->verdict);
	if (cmd->run)
		ret = krping_run_is_told(cmd->run, "interrupted", again);
	spin_unlock(&krping_cmd_lock);
	return ret;
}

static bool krping_cmd_is_over(struct krping_cmd *cmd)
{
	/* Pairs with krping_cmd_over(). */
	return smp_load_acquire(&cmd->over);
}

/*
 * Has the writer a signal that ends a task by default? Others stop a task, or let it go on, or are
 * ignored: for the handler that a shell has for a child's end or another window the call is left,
 * and repeated.
 */
static bool krping_is_signalled(void)
{
	/* The current task keeps its sighand. */
	struct sighand_struct *sighand = rcu_dereference_protected(current->sighand, true);
	sigset_t pending;

	spin_lock_irq(&sighand->siglock);
	sigorsets(&pending, &current->pending.signal, &current->signal->shared_pending.signal);
	sigandnsets(&pending, &pending, &current->blocked);
	spin_unlock_irq(&sighand->siglock);
	sigdelsetmask(&pending, SIG_KERNEL_STOP_MASK | SIG_KERNEL_IGNORE_MASK);
	return !sigisemptyset(&pending);
}

/*
 * The writer has a signal. A signal without a handler also ends the process by SIGKILL, but
 * leaves its own number as the exit code. A process that dies gets no second signal. Returns 0: the
 * run is over; or -EBUSY: it goes on.
 */
static int krping_cmd_end(struct krping_cmd *cmd)
{
	bool dies = fatal_signal_pending(current);
	int ret = krping_cmd_ask(cmd,
				 dies && READ_ONCE(current->signal->group_exit_code) == SIGKILL,
				 true);

	if (ret)
		return ret;
	if (!dies && wait_event_killable(cmd->writer.wait, krping_cmd_is_over(cmd)))
		krping_cmd_ask(cmd, true, true);
	wait_event(cmd->writer.wait, krping_cmd_is_over(cmd));
	return 0;
}

/* The writer is called away: it may come back. */
static void krping_cmd_leave(struct list_head *away, struct krping_cmd *cmd)
{
	spin_lock(&krping_cmd_lock);
	list_add(&cmd->list, away);
	spin_unlock(&krping_cmd_lock);
}

static int krping_cmd_wait(struct list_head *away, struct krping_cmd *cmd)
{
	struct krping_writer *writer = &cmd->writer;
	int ret;

	/* With a signal, a call that sleeps would end at once. */
	while (!krping_cmd_is_over(cmd) && !signal_pending(current)) {
		krping_writer_serve(writer);
		wait_event_interruptible(writer->wait,
					 READ_ONCE(writer->call) ||
						 krping_cmd_is_over(cmd));
	}
	if (!krping_cmd_is_over(cmd)) {
		/* Not EINTR, whose reader would take the run for ended. */
		ret = krping_is_signalled() ? krping_cmd_end(cmd) : -ERESTARTNOINTR;
		if (ret) {
			krping_cmd_leave(away, cmd);
			return ret;
		}
	}
	ret = cmd->ret;
	krping_cmd_put(cmd);
	return ret;
}

/* Takes the command from which the current task was called away; NULL: none. */
static struct krping_cmd *krping_cmd_take(struct list_head *away)
{
	struct krping_cmd *cmd, *found = NULL;

	spin_lock(&krping_cmd_lock);
	list_for_each_entry(cmd, away, list)
		if (cmd->writer.task == current)
			found = cmd;
	if (found)
		list_del(&found->list);
	spin_unlock(&krping_cmd_lock);
	return found;
}

/* The writer, which was called away, does not come back. */
static void krping_cmd_drop(struct krping_cmd *cmd)
{
	krping_cmd_ask(cmd, false, false);
	krping_cmd_put(cmd);
}

/* The file is closed: writers that are away do not come back. */
void krping_dispatch_gone(struct list_head *away)
{
	struct krping_cmd *cmd, *next;

	list_for_each_entry_safe(cmd, next, away, list)
		krping_cmd_drop(cmd);
}

/* Nobody waits for the end of the run that is told. */
static int krping_stop(struct krping_run *run)
{
	struct krping_record *rec;
	char reason[32];
	int ret = -ENOENT;

	snprintf(reason, sizeof(reason), "stopped by id=%u", run->rec->id);
	mutex_lock(&krping_registry_lock);
	rec = krping_record_find(run->params.id);
	if (rec)
		ret = krping_run_is_told(container_of(rec->verdict, struct krping_run, verdict),
					 reason, true);
	mutex_unlock(&krping_registry_lock);
	if (ret == -ENOENT)
		return krping_fail(&run->verdict, ret, "id=%u: no such run goes on",
				   run->params.id);
	if (ret)
		return krping_fail(&run->verdict, ret,
				   "id=%u: its disk is open: the run ends when that is closed, or by another stop",
				   run->params.id);
	return 0;
}

/* Reads the command, and does what takes no thread. */
static int krping_cmd_read(struct krping_cmd *cmd)
{
	struct krping_run *run = cmd->run;
	int ret;

	krping_dbg(run->rec->id, "proc write |%.*s|", (int)cmd->len, cmd->text);
	ret = krping_command_parse(cmd->text, cmd->len, &run->params, run->verdict.reason);
	run->verdict.err = ret;
	if (ret)
		return ret;
	krping_record_set(run->rec->params, run->params);
	if (run->params.role == KRPING_ROLE_STOP)
		return krping_stop(run);
	if (run->params.mem_mode == KRPING_MEM_DMA)
		return krping_dma_key_check(&run->verdict);
	if (run->params.test == KRPING_TEST_BLOCK && run->params.role == KRPING_ROLE_CLIENT &&
	    !capable(CAP_SYS_ADMIN))
		return krping_fail(&run->verdict, -EPERM, "test=block: needs CAP_SYS_ADMIN");
	return 0;
}

/* The command takes the text. */
static int krping_cmd_begin(struct list_head *away, char *text, size_t len)
{
	struct krping_cmd *cmd = kzalloc_obj(*cmd);
	struct krping_run *run = cmd ? krping_run_create(NULL) : ERR_PTR(-ENOMEM);
	int ret;

	if (IS_ERR(run)) {
		kfree(cmd);
		kfree(text);
		return PTR_ERR(run);
	}
	refcount_set(&cmd->refs, 1);
	cmd->writer.task = get_task_struct(current);
	init_waitqueue_head(&cmd->writer.wait);
	cmd->text = text;
	cmd->len = len;
	cmd->run = run;
	run->conn.cm.writer = &cmd->writer;
	run->listener.cm.writer = &cmd->writer;
	ret = krping_cmd_read(cmd);
	if (!ret && run->params.role != KRPING_ROLE_STOP) {
		ret = krping_cmd_start(cmd);
		if (!ret)
			return krping_cmd_wait(away, cmd);
	}
	/* Until then a stop may reach the writer by its run. */
	krping_record_result(run->rec);
	krping_run_free(run);
	krping_cmd_put(cmd);
	return ret;
}

/*
 * Carries out a command, whose text is from kmalloc() and is freed, or waits on for the one in
 * @away from which this task was called away. If that is another one, its run is asked to end.
 *
 * Returns 0, or the negative errno of the first cause when the run has its result;
 * -ERESTARTNOINTR: the task is called away, and the run goes on.
 */
int krping_dispatch(struct list_head *away, char *text, size_t len)
{
	struct krping_cmd *cmd = krping_cmd_take(away);

	if (cmd && cmd->len == len && !memcmp(cmd->text, text, len)) {
		kfree(text);
		return krping_cmd_wait(away, cmd);
	}
	if (cmd)
		krping_cmd_drop(cmd);
	return krping_cmd_begin(away, text, len);
}
