// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * /proc/krping_observe: what observers ask krping_iter for.
 *
 * Some words of krping_iter cost each ping extra readings of the clock. They are there
 * while somebody asks for them by name: an observer writes what it wants, and keeps the
 * file open. The wish ends with the file, and so also with an observer that is killed.
 * Reading the file shows how many ask for what.
 */
#include <linux/bits.h>
#include <linux/capability.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include "krping_abi.h"
#include "observe.h"
#include "wants.h"

/*
 * Anybody may open the file, as anybody may call perf_event_open(): a tool that has
 * CAP_PERFMON and not root's files may ask, too.
 */
#define KRPING_OBSERVE_MODE 0666
#define KRPING_OBSERVE_TEXT 64 /* longest text, in bytes */

static const char *const krping_observe_names[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_OBSERVE_, n, s)
	KRPING_OBSERVES(x)
#undef x
};

/**
 * struct krping_observer - an open file
 * @asked:	bits of enum krping_observe
 *
 * Written with krping_observe_lock held.
 */
struct krping_observer {
	unsigned int asked;
};

static DEFINE_MUTEX(krping_observe_lock);
static unsigned int krping_observers[KRPING_NR_OBSERVES];

/* What the file is to ask for from now on. */
static void krping_observer_set(struct krping_observer *observer,
				unsigned int asked)
{
	unsigned int changed, i;

	mutex_lock(&krping_observe_lock);
	changed = observer->asked ^ asked;
	for (i = 0; i < KRPING_NR_OBSERVES; i++) {
		if (!(changed & BIT(i)))
			continue;
		krping_observers[i] += asked & BIT(i) ? 1 : -1;
		krping_want_observed(i, asked & BIT(i));
	}
	observer->asked = asked;
	mutex_unlock(&krping_observe_lock);
}

static int krping_observe_show(struct seq_file *m, void *v)
{
	unsigned int i;

	mutex_lock(&krping_observe_lock);
	for (i = 0; i < KRPING_NR_OBSERVES; i++)
		seq_printf(m, "%s %u\n", krping_observe_names[i],
			   krping_observers[i]);
	mutex_unlock(&krping_observe_lock);
	return 0;
}

static int krping_observe_open(struct inode *inode, struct file *file)
{
	struct krping_observer *observer;
	int ret;

	observer = kzalloc_obj(*observer);
	if (!observer)
		return -ENOMEM;
	ret = single_open(file, krping_observe_show, observer);
	if (ret)
		kfree(observer);
	return ret;
}

static int krping_observe_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct krping_observer *observer = m->private;

	krping_observer_set(observer, 0);
	kfree(observer);
	return single_release(inode, file);
}

/* Both the task that opened the file and the task that writes, as in proc.c. */
static bool krping_may_observe(struct file *file)
{
	return (file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
		file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN)) &&
	       perfmon_capable();
}

static int krping_observe_word(const char *word)
{
	unsigned int i;

	for (i = 0; i < KRPING_NR_OBSERVES; i++)
		if (!strcmp(word, krping_observe_names[i]))
			return i;
	return -EINVAL;
}

static ssize_t krping_observe_write(struct file *file, const char __user *buf,
				    size_t len, loff_t *pos)
{
	struct seq_file *m = file->private_data;
	struct krping_observer *observer = m->private;
	char text[KRPING_OBSERVE_TEXT + 1], *rest = text, *word;
	unsigned int asked = 0;
	int which;

	if (!krping_may_observe(file))
		return -EPERM;
	if (len > KRPING_OBSERVE_TEXT)
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	while ((word = strsep(&rest, " \t\n"))) {
		if (!*word)
			continue;
		which = krping_observe_word(word);
		if (which < 0)
			return which;
		asked |= BIT(which);
	}
	if (!asked)
		return -EINVAL;
	krping_observer_set(observer, observer->asked | asked);
	return len;
}

static const struct proc_ops krping_observe_ops = {
	.proc_open = krping_observe_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = krping_observe_release,
	.proc_write = krping_observe_write,
};

/**
 * krping_observe_create - make /proc/krping_observe
 *
 * Removing it waits for those who are just reading or writing, and closes it for those
 * who have it open.
 *
 * Context: process; sleeps.
 * Return: the file, or NULL.
 */
struct proc_dir_entry *krping_observe_create(void)
{
	return proc_create("krping_observe", KRPING_OBSERVE_MODE, NULL,
			   &krping_observe_ops);
}
