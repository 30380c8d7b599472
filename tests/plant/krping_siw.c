// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Brings siw, once or as often as can be, into the state in which it needs one of our patches,
 * and tells whether it came out of it well. For tests/guest/siw.t. The parameter
 * "patch" names the patch:
 *
 *	readq-init        there is memory for the IRQ of a QP, none for its ORQ:
 *	                  is the IRQ freed once?
 *	alloc-mr          no STag for an MR: is its list of pages freed?
 *	unaccepted-close  a peer leaves before it was accepted: does the listener
 *	                  live on?
 *	qp-gone           a connection closes while a callback of its socket uses the
 *			  QP: is the QP kept until the callback is done?
 *	accept-socket     the peer's first message comes as soon as the MPA reply is
 *	                  out: the test sees whether siw hears it
 *	notify-barrier    whoever asks for a signal is told that he has missed
 *	                  nothing, although he has: the test sees whether krping
 *	                  finds the completion all the same
 *
 * A siw without the patch must not crash the kernel: this module prevents that
 * siw frees an object a second time, or uses it after it was freed. So the log
 * is clean as well, and the guest goes on with the next test.
 *
 * The probes are on functions that are exported, called through a table
 * or a pointer (siw_accept(), siw_destroy_listen(), siw_destroy_qp(),
 * siw_cm_llp_state_change(), siw_qp_llp_data_ready(), siw_free_qp()) or called by
 * another file of siw (siw_qp_modify(), siw_mr_add_mem(), siw_qp_llp_close()), so
 * that no compiler inlines them. No function here may have the name of one of siw's functions,
 * since a probe takes the function of the module that was loaded last.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/net.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/version.h>
#include <net/sock.h>
#include <net/tcp_states.h>

static char *patch = "none";
module_param(patch, charp, 0444);
MODULE_PARM_DESC(patch, "whose bug is provoked");

static unsigned int wait_ms = 5000;
module_param(wait_ms, uint, 0444);
MODULE_PARM_DESC(wait_ms, "for the peer, at most, in ms");

static unsigned long provoked, freed;
module_param(provoked, ulong, 0444);
MODULE_PARM_DESC(provoked, "1: it came to that state");
module_param(freed, ulong, 0444);
MODULE_PARM_DESC(freed, "how often the object in question was freed");

static bool armed = true;	 /* until the state is reached */
static struct task_struct *task; /* the task in siw_qp_modify() or siw_accept() */
static void *object;		 /* the object in question */
static void *kept;		 /* that object, if it is ours to free */

/*
 * Replacements for a probed function: the probe lets the CPU go on here, with
 * the stack and the arguments of that function.
 */
static void do_nothing(void)
{
}

static void *do_null(void)
{
	return NULL;
}

static long do_zero(void)
{
	return 0;
}

static long do_enomem(void)
{
	return -ENOMEM;
}

static int do_instead(struct pt_regs *regs, void *func)
{
	instruction_pointer_set(regs, (unsigned long)func);
	return 1;
}

/* A probe that has a post handler is never optimized, so it may change where the CPU goes on. */
static void on_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static void *probe_arg(struct pt_regs *regs, unsigned int n)
{
	return (void *)regs_get_kernel_argument(regs, n);
}

/* Remembers the task that is in the probed function, one at a time. */
static int on_enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return !READ_ONCE(armed) || cmpxchg(&task, NULL, current) ? 1 : 0;
}

static int on_leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	WRITE_ONCE(task, NULL);
	return 0;
}

/*
 * readq-init: siw_qp_modify() allocates the IRQ, then the ORQ
 */

static unsigned int vmallocs; /* of the task */

static int on_qp_modify_enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	int skip = on_enter(ri, regs);

	if (!skip)
		vmallocs = 0;
	return skip;
}

static int on_vmalloc(struct kprobe *kp, struct pt_regs *regs)
{
	if (READ_ONCE(task) != current || !armed || ++vmallocs != 2)
		return 0;
	WRITE_ONCE(armed, false);
	provoked = 1;
	return do_instead(regs, do_null);
}

/* If the same address is allocated again, its new owner may free it. */
static int on_vmalloc_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (READ_ONCE(object) && (void *)regs_return_value(regs) == READ_ONCE(object))
		WRITE_ONCE(object, NULL);
	return 0;
}

static int on_vfree(struct kprobe *kp, struct pt_regs *regs)
{
	void *addr = probe_arg(regs, 0);

	if (!addr || !provoked)
		return 0;
	/* The first free is that of siw_qp_readq_init(), which frees the IRQ. */
	if (READ_ONCE(task) == current && !freed) {
		WRITE_ONCE(object, addr);
		freed = 1;
		return 0;
	}
	if (addr != READ_ONCE(object))
		return 0;
	freed++;
	return do_instead(regs, do_nothing);
}

/*
 * alloc-mr: siw_mr_add_mem(mr, pd, list of pages, ...)
 */

static int on_add_mem(struct kprobe *kp, struct pt_regs *regs)
{
	void *list = probe_arg(regs, 2);

	/* An MR for all of the memory has no list. */
	if (!list || !xchg(&armed, false))
		return 0;
	WRITE_ONCE(object, list);
	kept = list;
	provoked = 1;
	return do_instead(regs, do_enomem);
}

static int on_list_kfree(struct kprobe *kp, struct pt_regs *regs)
{
	void *addr = probe_arg(regs, 0);

	if (addr && addr == READ_ONCE(object)) {
		WRITE_ONCE(object, NULL);
		kept = NULL;
		freed++;
	}
	return 0;
}

/*
 * unaccepted-close: siw_accept_newconn() calls kernel_accept()
 */

static bool peer_left;

static bool spin_until(bool (*is)(void *), void *arg)
{
	u64 end = ktime_get_ns() + (u64)wait_ms * NSEC_PER_MSEC;

	while (!is(arg)) {
		if (ktime_get_ns() > end)
			return false;
		cpu_relax();
	}
	return true;
}

static bool has_left(void *arg)
{
	return READ_ONCE(peer_left);
}

static int on_kernel_accept(struct kprobe *kp, struct pt_regs *regs)
{
	struct socket *sock = probe_arg(regs, 0);

	if (!xchg(&armed, false))
		return 0;
	/* The listener's endpoint, which its child sockets share until they are accepted. */
	WRITE_ONCE(object, READ_ONCE(sock->sk->sk_user_data));
	provoked = spin_until(has_left, NULL);
	return 0;
}

static int on_state_change(struct kprobe *kp, struct pt_regs *regs)
{
	struct sock *sk = probe_arg(regs, 0);

	if (sk->sk_state == TCP_CLOSE || sk->sk_state == TCP_CLOSE_WAIT)
		WRITE_ONCE(peer_left, true);
	return 0;
}

static int on_cep_kfree(struct kprobe *kp, struct pt_regs *regs)
{
	void *addr = probe_arg(regs, 0);

	if (!addr || addr != READ_ONCE(object))
		return 0;
	/* The endpoint is freed while it listens. */
	kept = addr;
	freed++;
	return do_instead(regs, do_nothing);
}

/* siw_destroy_listen() would use the endpoint that was freed, so it is skipped. */
static int on_destroy_listen(struct kprobe *kp, struct pt_regs *regs)
{
	WRITE_ONCE(object, NULL);
	return freed ? do_instead(regs, do_zero) : 0;
}

/*
 * qp-gone: the peer's FIN makes siw call, on one CPU, siw_qp_llp_data_ready(),
 * which finds the QP and takes its lock by down_read_trylock(). On the other CPU
 * siw_cm_work_handler() calls siw_qp_llp_close(), and drops its reference of the
 * QP. The last reference is that one, if siw_destroy_qp() already waits for it.
 *
 * The callback is held with the socket locked. If a timer of the socket expires on
 * the other CPU meanwhile, that CPU waits for the lock until wait_ms is over, and
 * this attempt was in vain.
 */

static struct task_struct *destroyer; /* the task in siw_destroy_qp() */
static bool in_callback, held, destroyer_waits, closed, qp_freed;

static bool is_true(void *flag)
{
	return READ_ONCE(*(bool *)flag);
}

static int on_data_ready(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct sock *sk = probe_arg(regs, 0);

	/* The end that closes last has a QP that nobody has begun to close. */
	if (sk->sk_state != TCP_CLOSE_WAIT || !in_serving_softirq() || !xchg(&armed, false))
		return 1;
	WRITE_ONCE(task, current);
	WRITE_ONCE(in_callback, true);
	return 0;
}

static int on_data_ready_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	WRITE_ONCE(task, NULL);
	/* What it did with the QP comes before. */
	smp_store_release(&in_callback, false);
	return 0;
}

#define FREED_MS 200 /* for a reference that is not dropped; the CPUs do nothing else meanwhile */

static int on_trylock(struct kprobe *kp, struct pt_regs *regs)
{
	u64 end;

	if (READ_ONCE(task) != current || !in_serving_softirq() || xchg(&held, true))
		return 0;
	if (!spin_until(is_true, &closed))
		return 0;
	end = ktime_get_ns() + (u64)FREED_MS * NSEC_PER_MSEC;
	while (!READ_ONCE(qp_freed) && ktime_get_ns() < end)
		cpu_relax();
	return 0;
}

static bool sleep_until(bool *flag)
{
	unsigned long end = jiffies + msecs_to_jiffies(wait_ms);

	while (!READ_ONCE(*flag)) {
		if (time_after(jiffies, end))
			return false;
		msleep(1);
	}
	return true;
}

static void (*llp_close)(void *qp);

/* Closes late: when the callback is held, and whoever destroys the QP waits. */
static void do_close_late(void *qp)
{
	provoked = sleep_until(&held) && sleep_until(&destroyer_waits);
	llp_close(qp);
	WRITE_ONCE(closed, true);
}

static int on_llp_close(struct kprobe *kp, struct pt_regs *regs)
{
	if (READ_ONCE(object))
		return 0;
	WRITE_ONCE(object, probe_arg(regs, 0));
	llp_close = (void *)kp->addr;
	return do_instead(regs, do_close_late);
}

/* The generic QP is the first thing in siw's. */
static int on_destroy_qp(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (probe_arg(regs, 0) != READ_ONCE(object))
		return 1;
	WRITE_ONCE(destroyer, current);
	return 0;
}

static int on_destroy_qp_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	WRITE_ONCE(destroyer, NULL);
	return 0;
}

static int on_wait(struct kprobe *kp, struct pt_regs *regs)
{
	if (READ_ONCE(destroyer) == current)
		WRITE_ONCE(destroyer_waits, true);
	return 0;
}

static bool callback_is_done(void *arg)
{
	/* Pairs with on_data_ready_return(). */
	return !smp_load_acquire(&in_callback);
}

/* The last reference is gone. Nobody destroys the QP before this returns, and so the callback ends unharmed. */
static int on_free_qp(struct kprobe *kp, struct pt_regs *regs)
{
	if (!READ_ONCE(closed) || !READ_ONCE(in_callback))
		return 0;
	freed++;
	WRITE_ONCE(qp_freed, true);
	spin_until(callback_is_done, NULL);
	return 0;
}

/*
 * accept-socket: siw_accept() sends the reply by kernel_sendmsg()
 */

struct sent_reply {
	struct sock *sk;
	u32 rcv_nxt;
};

static bool has_come(void *arg)
{
	struct sent_reply *sent = arg;

	return READ_ONCE(tcp_sk(sent->sk)->rcv_nxt) != sent->rcv_nxt;
}

static int on_send(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct sent_reply *sent = (struct sent_reply *)ri->data;

	if (READ_ONCE(task) != current || !xchg(&armed, false))
		return 1;
	sent->sk = ((struct socket *)probe_arg(regs, 0))->sk;
	sent->rcv_nxt = READ_ONCE(tcp_sk(sent->sk)->rcv_nxt);
	return 0;
}

static int on_sent(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	provoked = spin_until(has_come, ri->data);
	return 0;
}

/*
 * notify-barrier: siw_req_notify_cq() returns how many completions there are
 */

static atomic_t completions;

static int on_complete_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&completions);
	return 0;
}

static bool has_completed(void *arg)
{
	return atomic_read(&completions) != *(int *)arg;
}

/* Mostly the thread is faster than the completion, so it is held up. */
static int on_notify(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	int before = atomic_read(&completions);

	spin_until(has_completed, &before);
	return 0;
}

static int on_notify_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if ((int)regs_return_value(regs) > 0) {
		regs_set_return_value(regs, 0);
		WRITE_ONCE(provoked, 1);
	}
	return 0;
}

/*
 * The patches
 */

#define SIW_PROBE(name, symbol, pre)     \
	static struct kprobe name = {    \
		.symbol_name = symbol,   \
		.pre_handler = pre,      \
		.post_handler = on_post, \
	}

#define SIW_RETPROBE(name, symbol, entry, ret, size) \
	static struct kretprobe name = {             \
		.kp.symbol_name = symbol,            \
		.entry_handler = entry,              \
		.handler = ret,                      \
		.data_size = size,                   \
	}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define SIW_VMALLOC "__vmalloc_node_range_noprof"
#else
#define SIW_VMALLOC "__vmalloc_node_range"
#endif

SIW_RETPROBE(qp_modify, "siw_qp_modify", on_qp_modify_enter, on_leave, 0);
SIW_PROBE(vmalloc_probe, SIW_VMALLOC, on_vmalloc);
SIW_RETPROBE(vmalloc_return, SIW_VMALLOC, NULL, on_vmalloc_return, 0);
SIW_PROBE(vfree_probe, "vfree", on_vfree);
SIW_PROBE(add_mem, "siw_mr_add_mem", on_add_mem);
SIW_PROBE(list_kfree, "kfree", on_list_kfree);
SIW_PROBE(kernel_accept_probe, "kernel_accept", on_kernel_accept);
SIW_PROBE(state_change, "siw_cm_llp_state_change", on_state_change);
SIW_PROBE(cep_kfree, "kfree", on_cep_kfree);
SIW_PROBE(destroy_listen, "siw_destroy_listen", on_destroy_listen);
SIW_RETPROBE(data_ready, "siw_qp_llp_data_ready", on_data_ready, on_data_ready_return, 0);
SIW_PROBE(trylock, "down_read_trylock", on_trylock);
SIW_PROBE(llp_close_probe, "siw_qp_llp_close", on_llp_close);
SIW_RETPROBE(destroy_qp, "siw_destroy_qp", on_destroy_qp, on_destroy_qp_return, 0);
SIW_PROBE(wait_probe, "wait_for_completion", on_wait);
SIW_PROBE(free_qp, "siw_free_qp", on_free_qp);
SIW_RETPROBE(accept, "siw_accept", on_enter, on_leave, 0);
SIW_RETPROBE(sendmsg, "kernel_sendmsg", on_send, on_sent, sizeof(struct sent_reply));
SIW_RETPROBE(sqe_complete, "siw_sqe_complete", NULL, on_complete_return, 0);
SIW_RETPROBE(rqe_complete, "siw_rqe_complete", NULL, on_complete_return, 0);
SIW_RETPROBE(notify, "siw_req_notify_cq", on_notify, on_notify_return, 0);

static const struct {
	const char *patch;
	struct kprobe *kps[4];
	struct kretprobe *rps[3];
} provocations[] = {
	{ "readq-init", { &vfree_probe, &vmalloc_probe }, { &vmalloc_return, &qp_modify } },
	{ "alloc-mr", { &list_kfree, &add_mem } },
	{ "unaccepted-close",
	  { &cep_kfree, &state_change, &destroy_listen, &kernel_accept_probe } },
	{ "qp-gone",
	  { &trylock, &llp_close_probe, &wait_probe, &free_qp },
	  { &data_ready, &destroy_qp } },
	{ "accept-socket", {}, { &sendmsg, &accept } },
	{ "notify-barrier", {}, { &sqe_complete, &rqe_complete, &notify } },
};

static struct kprobe *kps[ARRAY_SIZE(provocations[0].kps)];
static struct kretprobe *rps[ARRAY_SIZE(provocations[0].rps)];
static unsigned int nr_kps, nr_rps;

static void unregister_probes(void)
{
	unregister_kretprobes(rps, nr_rps);
	unregister_kprobes(kps, nr_kps);
	kfree(kept);
}

static int __init krping_siw_init(void)
{
	unsigned int i, k;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(provocations); i++)
		if (!strcmp(patch, provocations[i].patch))
			break;
	if (i == ARRAY_SIZE(provocations))
		return -EINVAL;
	for (k = 0; k < ARRAY_SIZE(kps) && provocations[i].kps[k] && !ret; k++) {
		ret = register_kprobe(provocations[i].kps[k]);
		if (!ret)
			kps[nr_kps++] = provocations[i].kps[k];
	}
	for (k = 0; k < ARRAY_SIZE(rps) && provocations[i].rps[k] && !ret; k++) {
		ret = register_kretprobe(provocations[i].rps[k]);
		if (!ret)
			rps[nr_rps++] = provocations[i].rps[k];
	}
	if (ret)
		unregister_probes();
	return ret;
}
module_init(krping_siw_init);

static void __exit krping_siw_exit(void)
{
	unregister_probes();
}
module_exit(krping_siw_exit);

MODULE_DESCRIPTION("What siw's patches are for, for tests");
MODULE_LICENSE("Dual BSD/GPL");
