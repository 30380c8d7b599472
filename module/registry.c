// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The records of all runs, live and finished. */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <rdma/rdma_cm.h>
#include "krping_trace.h"
#include "registry.h"
#include "verdict.h"

static unsigned int krping_history = 1024;
module_param_named(history, krping_history, uint, 0644);
MODULE_PARM_DESC(history, "finished runs that /proc/krping_runs remembers (default 1024)");

/*
 * Guards the records' lists, the members that struct krping_record names for the lock, and
 * the counters below. A page of /proc is printed with it: nothing slow is done under it.
 */
DEFINE_MUTEX(krping_registry_lock);
static DEFINE_XARRAY(krping_records); /* by id */
static LIST_HEAD(krping_over);	      /* those of runs that are freed, as they ended */
static u32 krping_last_id;
static unsigned int krping_nr_finished; /* only runs that are freed */
unsigned long krping_nr_evicted;

static void krping_record_free(struct krping_record *rec)
{
	xa_erase(&krping_records, rec->id);
	list_del(&rec->over);
	put_pid(rec->pid);
	kfree(rec);
}

/*
 * Makes the record of a new run, with the next number. Without a @parent the current task is
 * the run's writer. Returns the record, or -ENOMEM, or -EOVERFLOW: there are no numbers left.
 */
struct krping_record *krping_record_create(const struct krping_phases *phases,
					   struct krping_verdict *verdict, u64 net_cookie,
					   const struct krping_record *parent)
{
	struct krping_record *rec = kzalloc_obj(*rec);
	int ret = -EOVERFLOW;

	if (!rec || krping_lat_init(&rec->lat)) {
		kfree(rec);
		return ERR_PTR(-ENOMEM);
	}
	rec->phases = phases;
	rec->verdict = verdict;
	rec->pid = get_pid(parent ? parent->pid : task_tgid(current));
	rec->parent = parent ? parent->id : 0;
	rec->net_cookie = net_cookie;
	mutex_lock(&krping_registry_lock);
	if (krping_last_id != U32_MAX) {
		rec->id = krping_last_id + 1;
		rec->start_ns = ktime_get_ns();
		ret = xa_err(xa_store(&krping_records, rec->id, rec, GFP_KERNEL));
	}
	if (!ret)
		krping_last_id = rec->id;
	mutex_unlock(&krping_registry_lock);
	if (!ret)
		return rec;
	put_pid(rec->pid);
	krping_lat_end(&rec->lat);
	kfree(rec);
	return ERR_PTR(ret);
}

/* A run has found its device, or the device has another name now. */
void krping_record_device(struct krping_record *rec, const char *name)
{
	mutex_lock(&krping_registry_lock);
	if (rec->dev[0] && !rec->dev_was[0] && strcmp(rec->dev, name))
		strscpy(rec->dev_was, rec->dev, sizeof(rec->dev_was));
	strscpy(rec->dev, name, sizeof(rec->dev));
	mutex_unlock(&krping_registry_lock);
}

/* Per second of the time that the iterations took; their set-up is not in it. */
static u64 krping_rate(u64 n, u64 sum_ns)
{
	return sum_ns ? mul_u64_u64_div_u64(n, NSEC_PER_SEC, sum_ns) : 0;
}

/* Bytes that the iterations of a run have moved. */
u64 krping_record_moved(const struct krping_record *rec)
{
	return READ_ONCE(rec->moved) ?:
		       READ_ONCE(rec->iters) * READ_ONCE(rec->moves) * rec->params.size;
}

/* What a run has measured so far; another task's run is read with the registry's lock. */
void krping_record_figures(const struct krping_record *rec, struct krping_figures *f)
{
	/* Read before the time that they took, of which there is never less. */
	u64 moves = READ_ONCE(rec->iters) * READ_ONCE(rec->moves);
	u64 moved = krping_record_moved(rec);
	u64 regs = READ_ONCE(rec->fastreg);
	u64 sum_ns = READ_ONCE(rec->lat.sum_ns);

	/* The iterations of a disk are its requests, which overlap, and it may be idle. */
	if (rec->params.test == KRPING_TEST_BLOCK)
		sum_ns = (READ_ONCE(rec->end_ns) ?: ktime_get_ns()) - rec->start_ns;
	krping_lat_percentiles(&rec->lat, f->p_ns);
	f->bits_per_s = krping_rate(moved * 8, sum_ns);
	f->msgs_per_s = krping_rate(moves, sum_ns);
	f->regs_per_s = krping_rate(regs, sum_ns);
}

/*
 * The run has its final result: a reader sees the state, the errno and the reason, or none of
 * them. The run may still be torn down, or has never lived.
 */
void krping_record_result(struct krping_record *rec)
{
	mutex_lock(&krping_registry_lock);
	if (!rec->end_ns)
		WRITE_ONCE(rec->end_ns, ktime_get_ns());
	rec->err = rec->verdict->err;
	WRITE_ONCE(rec->state, rec->err ? KRPING_STATE_ERROR : KRPING_STATE_DONE);
	strscpy(rec->reason, rec->verdict->reason, sizeof(rec->reason));
	krping_lat_end(&rec->lat);
	rec->phases = NULL;
	rec->verdict = NULL;
	mutex_unlock(&krping_registry_lock);
}

/* The run is gone. Forgets the runs that were gone first, if there are too many. */
void krping_record_freed(struct krping_record *rec)
{
	mutex_lock(&krping_registry_lock);
	list_add_tail(&rec->over, &krping_over);
	krping_nr_finished++;
	while (krping_nr_finished > READ_ONCE(krping_history)) {
		krping_record_free(list_first_entry(&krping_over, struct krping_record, over));
		krping_nr_finished--;
		krping_nr_evicted++;
	}
	mutex_unlock(&krping_registry_lock);
}

static noinline void krping_set_state_traced(struct krping_record *rec, enum krping_state state)
{
	krping_trace(state, rec->id, ktime_get_ns(), rec->state, state, 0);
	WRITE_ONCE(rec->state, state);
}

/* A transition to a state that is no final one. In the run's thread. */
void krping_set_state(struct krping_record *rec, enum krping_state state)
{
	if (trace_krping_state_enabled())
		krping_set_state_traced(rec, state);
	else
		WRITE_ONCE(rec->state, state);
}

/* The initial namespace sees all runs, another namespace only its own. */
static bool krping_visible(const struct krping_record *rec)
{
	const struct net *net = current->nsproxy->net_ns;

	return net == &init_net || rec->net_cookie == net->net_cookie;
}

/* A run that goes on, and that the current task may see; with the lock it does not end meanwhile. */
struct krping_record *krping_record_find(u32 id)
{
	struct krping_record *rec = xa_load(&krping_records, id);

	lockdep_assert_held(&krping_registry_lock);
	if (!rec || !rec->verdict || !krping_record_has_test(rec) || !krping_visible(rec))
		return NULL;
	return rec;
}

/*
 * A position is the id of the run to go on with, so that a reader neither skips nor repeats a
 * run when others end between two reads; 0 is the header.
 */
static void *krping_seq_find(loff_t *pos)
{
	struct krping_record *rec;
	unsigned long id;

	xa_for_each_start(&krping_records, id, rec, *pos) {
		if (!krping_visible(rec))
			continue;
		*pos = id;
		return rec;
	}
	*pos = (loff_t)U32_MAX + 1;
	return NULL;
}

static void *krping_seq_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&krping_registry_lock);
	return *pos ? krping_seq_find(pos) : SEQ_START_TOKEN;
}

static void *krping_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	const struct krping_file *reader = m->private;

	*pos = max_t(loff_t, *pos + 1, READ_ONCE(reader->from));
	return krping_seq_find(pos);
}

static void krping_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&krping_registry_lock);
}

static int krping_seq_show(struct seq_file *m, void *v)
{
	const struct krping_file *file = m->private;

	return file->show(m, v == SEQ_START_TOKEN ? NULL : v);
}

/* Of a file with something of each run, whose krping_file has the function. */
const struct seq_operations krping_records_seq_ops = {
	.start = krping_seq_start,
	.next = krping_seq_next,
	.stop = krping_seq_stop,
	.show = krping_seq_show,
};

/* Forgets all runs, when none is left and no command can come. */
void krping_registry_exit(void)
{
	struct krping_record *rec, *next;

	list_for_each_entry_safe(rec, next, &krping_over, over)
		krping_record_free(rec);
}
