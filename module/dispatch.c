// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A command: its text is read, and what it asks for is done. Each command has a
 * number, and a line in /proc/krping_runs; so has one that was refused, and one
 * that only ends another run.
 *
 * A run lives in a kernel thread, and the task that wrote its command waits for it.
 * A signal to the writer asks the run to end; a second one that kills the writer, or
 * KILL, ends the run at once. The writer then waits until the run is over.
 *
 * A task is also called out of its sleep when it is frozen, stopped, or traced, and
 * has to return from the system call for that. Nobody has asked the run to end, so it
 * goes on. The kernel repeats the call afterwards, also behind a signal's handler: a
 * task that writes the same text to the same open file again finds its run, and waits
 * on. When the file is closed instead, the run is asked to end.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "cpu.h"
#include "dbg.h"
#include "dispatch.h"
#include "dma_key.h"
#include "life.h"
#include "registry.h"
#include "run.h"
#include "serve.h"
#include "writer.h"

#define KRPING_LEFT_MS 500 /* see krping_cmd_wait() */

/**
 * struct krping_cmd - a command whose run lives
 * @list:	in the list of an open file, while the writer is away
 * @refs:	of the writer, or its file; and of the thread
 * @writer:	who waits
 * @text:	the command
 * @len:	its length in bytes
 * @job:	the thread
 * @run:	the run until it is over, then NULL
 * @ret:	its result then
 * @over:	the run is over
 * @left:	nothing is left of it
 *
 * krping_cmd_lock guards @list and @run.
 */
struct krping_cmd {
	struct list_head list;
	refcount_t refs;
	struct krping_writer writer;
	char *text;
	size_t len;
	struct krping_job job;
	struct krping_run *run;
	int ret;
	bool over;
	bool left;
};

static DEFINE_SPINLOCK(krping_cmd_lock);

static void krping_cmd_put(struct krping_cmd *cmd)
{
	if (!refcount_dec_and_test(&cmd->refs))
		return;
	krping_writer_exit(&cmd->writer);
	kfree(cmd->text);
	kfree(cmd);
}

/*
 * The run's thread
 */

static void krping_cmd_thread(void *data)
{
	struct krping_cmd *cmd = data;
	struct krping_run *run = cmd->run;

	cmd->ret = krping_run_live(run, krping_serves_many(run) ?
						krping_serve :
						krping_run_test);
	spin_lock(&krping_cmd_lock);
	cmd->run = NULL;
	spin_unlock(&krping_cmd_lock);
	/* Pairs with krping_cmd_is_over(). */
	smp_store_release(&cmd->over, true);
	wake_up(&cmd->writer.wait);
	krping_run_leave(run);
	WRITE_ONCE(cmd->left, true);
	wake_up(&cmd->writer.wait);
	krping_cmd_put(cmd);
	module_put_and_kthread_exit(0);
}

/*
 * The writer
 */

static void krping_cmd_ask(struct krping_cmd *cmd)
{
	spin_lock(&krping_cmd_lock);
	if (cmd->run)
		krping_run_ask(cmd->run, -EINTR, "interrupted");
	spin_unlock(&krping_cmd_lock);
}

static void krping_cmd_kill(struct krping_cmd *cmd)
{
	spin_lock(&krping_cmd_lock);
	if (cmd->run) {
		krping_kill(&cmd->run->verdict);
		krping_conn_interrupt(&cmd->run->conn);
	}
	spin_unlock(&krping_cmd_lock);
}

static bool krping_cmd_is_over(struct krping_cmd *cmd)
{
	/* Pairs with krping_cmd_thread(): who sees this sees the result. */
	return smp_load_acquire(&cmd->over);
}

static bool krping_cmd_wakes(struct krping_cmd *cmd)
{
	return READ_ONCE(cmd->writer.call) || krping_cmd_is_over(cmd);
}

/* Has the writer a signal that does more than to stop a task, or to let it go on? */
static bool krping_is_signalled(void)
{
	/* That of the current task stays. */
	struct sighand_struct *sighand =
		rcu_dereference_protected(current->sighand, true);
	sigset_t pending;

	spin_lock_irq(&sighand->siglock);
	sigorsets(&pending, &current->pending.signal,
		  &current->signal->shared_pending.signal);
	sigandnsets(&pending, &pending, &current->blocked);
	spin_unlock_irq(&sighand->siglock);
	sigdelsetmask(&pending, sigmask(SIGSTOP) | sigmask(SIGTSTP) |
					sigmask(SIGTTIN) | sigmask(SIGTTOU) |
					sigmask(SIGCONT));
	return !sigisemptyset(&pending);
}

/*
 * The writer has a signal: the run is over soon. A signal without a handler also ends
 * the process by SIGKILL, but leaves its own number as the exit code. A process that
 * dies gets no second signal.
 */
static void krping_cmd_end(struct krping_cmd *cmd)
{
	bool dies = fatal_signal_pending(current);

	if (dies && READ_ONCE(current->signal->group_exit_code) == SIGKILL)
		krping_cmd_kill(cmd);
	else
		krping_cmd_ask(cmd);
	while (!dies && !krping_cmd_is_over(cmd)) {
		krping_writer_serve(&cmd->writer);
		dies = wait_event_killable(cmd->writer.wait,
					   krping_cmd_wakes(cmd));
		if (dies)
			krping_cmd_kill(cmd);
	}
	while (!krping_cmd_is_over(cmd)) {
		krping_writer_serve(&cmd->writer);
		wait_event(cmd->writer.wait, krping_cmd_wakes(cmd));
	}
}

static int krping_cmd_wait(struct list_head *away, struct krping_cmd *cmd)
{
	int ret = 0;

	while (!ret && !krping_cmd_is_over(cmd)) {
		/* A call that sleeps would end at once. */
		if (signal_pending(current)) {
			ret = -ERESTARTSYS;
			break;
		}
		krping_writer_serve(&cmd->writer);
		ret = wait_event_interruptible(cmd->writer.wait,
					       krping_cmd_wakes(cmd));
	}
	if (ret && !krping_is_signalled()) {
		spin_lock(&krping_cmd_lock);
		list_add(&cmd->list, away);
		spin_unlock(&krping_cmd_lock);
		/* Not EINTR, whose reader would take the run for ended. */
		return -ERESTARTNOINTR;
	}
	if (ret)
		krping_cmd_end(cmd);
	/* Who looks for resources after the write() finds none, unless that takes long. */
	wait_event_timeout(cmd->writer.wait, READ_ONCE(cmd->left),
			   msecs_to_jiffies(KRPING_LEFT_MS));
	ret = cmd->ret;
	krping_cmd_put(cmd);
	return ret;
}

static void krping_cmd_settle(struct krping_run *run)
{
	krping_run_settle(run);
	krping_run_free(run);
}

/* Lets a run live, and waits until it is over. The command frees the text. */
static int krping_cmd_carry_out(struct list_head *away, char *text, size_t len,
				struct krping_run *run)
{
	const struct krping_params *params = &run->params;
	struct krping_cmd *cmd = kzalloc_obj(*cmd);
	int cpu = KRPING_CPU_ANY, ret = -ENOMEM;

	if (!cmd) {
		kfree(text);
		goto out_run;
	}
	refcount_set(&cmd->refs, 2);
	krping_writer_init(&cmd->writer);
	cmd->text = text;
	cmd->len = len;
	cmd->run = run;
	cmd->job.fn = krping_cmd_thread;
	cmd->job.data = cmd;
	run->conn.writer = &cmd->writer;
	run->listener.writer = &cmd->writer;
	/* The run refuses a CPU that is not there. */
	if (krping_option_given(params, KRPING_OPT_CPU) &&
	    params->cpu < nr_cpu_ids && cpu_online(params->cpu))
		cpu = params->cpu;
	/* The writer has a reference of the module until it returns. */
	__module_get(THIS_MODULE);
	ret = krping_job_start(&cmd->job, run->rec->id, cpu);
	if (!ret)
		return krping_cmd_wait(away, cmd);
	module_put(THIS_MODULE);
out_run:
	ret = krping_fail(&run->verdict, ret, "starting a thread: error %pe",
			  ERR_PTR(ret));
	krping_cmd_settle(run);
	/* Until then a stop may reach the writer by its run. */
	if (cmd) {
		krping_cmd_put(cmd);
		krping_cmd_put(cmd);
	}
	return ret;
}

/* The writer, which is away, does not come back. */
static void krping_cmd_drop(struct krping_cmd *cmd)
{
	spin_lock(&krping_cmd_lock);
	list_del(&cmd->list);
	spin_unlock(&krping_cmd_lock);
	krping_cmd_ask(cmd);
	krping_writer_leave(&cmd->writer);
	krping_cmd_put(cmd);
}

static struct krping_cmd *krping_cmd_of_current(struct list_head *away)
{
	struct krping_cmd *cmd, *found = NULL;

	spin_lock(&krping_cmd_lock);
	list_for_each_entry(cmd, away, list)
		if (cmd->writer.task == current)
			found = cmd;
	spin_unlock(&krping_cmd_lock);
	/* Only this task takes it off the list, or who closes the file. */
	return found;
}

/**
 * krping_dispatch_gone - the file is closed: writers that are away do not come back
 * @away: of the file
 *
 * Context: process; nobody writes to the file.
 */
void krping_dispatch_gone(struct list_head *away)
{
	struct krping_cmd *cmd, *next;

	list_for_each_entry_safe(cmd, next, away, list)
		krping_cmd_drop(cmd);
}

static void krping_stop_tell(struct krping_verdict *verdict, u32 by)
{
	struct krping_run *run =
		container_of(verdict, struct krping_run, verdict);
	char reason[32];

	snprintf(reason, sizeof(reason), "stopped by id=%u", by);
	krping_run_ask(run, -EINTR, reason);
}

/* The run is told, and nobody waits for its end. */
static int krping_stop(struct krping_run *run)
{
	if (krping_record_tell(run->params.id, krping_stop_tell, run->rec->id))
		return 0;
	return krping_fail(&run->verdict, -ENOENT, "id=%u: no such run goes on",
			   run->params.id);
}

/* Takes @text, which is freed when nobody needs it. */
static int krping_cmd_begin(struct list_head *away, char *text, size_t len)
{
	struct krping_run *run = krping_run_create(NULL);
	int ret;

	if (IS_ERR(run)) {
		kfree(text);
		return PTR_ERR(run);
	}
	krping_dbg(run->rec->id, "proc write |%.*s|", (int)len, text);

	ret = krping_command_parse(text, len, &run->params,
				   run->verdict.reason);
	run->verdict.err = ret;
	if (!ret) {
		krping_record_parsed(run->rec, &run->params);
		if (run->params.mem_mode == KRPING_MEM_DMA)
			ret = krping_dma_key_check(&run->verdict);
	}
	if (!ret && run->params.role != KRPING_ROLE_STOP)
		return krping_cmd_carry_out(away, text, len, run);
	kfree(text);
	if (!ret)
		ret = krping_stop(run);
	krping_cmd_settle(run);
	return ret;
}

/**
 * krping_dispatch - carry out a command, or wait on for it
 * @away: commands whose writers were called away, of the open file that this one was
 *	written to
 * @text: its text, from kmalloc(), need not be NUL-terminated; is freed
 * @len: length in bytes
 *
 * Returns when the run has ended. The run's record then has its result, or the reason
 * for its failure. If this task was called away from another command, nobody waits for
 * that one any more: its run is asked to end.
 *
 * Context: process; sleeps, ends early on a signal.
 * Return: 0, or the negative errno of the first cause; -ERESTARTNOINTR: the task is
 * called away, and the run goes on.
 */
int krping_dispatch(struct list_head *away, char *text, size_t len)
{
	struct krping_cmd *cmd = krping_cmd_of_current(away);

	if (!cmd)
		return krping_cmd_begin(away, text, len);
	if (cmd->len != len || memcmp(cmd->text, text, len)) {
		krping_cmd_drop(cmd);
		return krping_cmd_begin(away, text, len);
	}
	kfree(text);
	spin_lock(&krping_cmd_lock);
	list_del(&cmd->list);
	spin_unlock(&krping_cmd_lock);
	return krping_cmd_wait(away, cmd);
}
