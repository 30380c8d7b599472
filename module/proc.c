// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The files of /proc: krping takes commands and shows the running ones, krping_runs has the
 * results, krping_hist how long the iterations of running ones took, krping_protect what
 * test=protect has found, krping_help the options. krperf is krping for older scripts.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include "dispatch.h"
#include "proc.h"
#include "registry.h"
#include "runs_show.h"

static int krping_proc_open(struct inode *inode, struct file *file)
{
	struct krping_file *writer;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	writer = __seq_open_private(file, &krping_records_seq_ops, sizeof(*writer));
	if (!writer)
		return -ENOMEM;
	writer->show = krping_stats_show;
	INIT_LIST_HEAD(&writer->away);
	/*
	 * A write lasts as long as its run, and must not hold the lock of the file position
	 * meanwhile, on which a second writer of the same open file would sleep deaf to signals.
	 */
	file->f_mode &= ~FMODE_ATOMIC_POS;
	return 0;
}

static int krping_proc_release(struct inode *inode, struct file *file)
{
	struct krping_file *writer = ((struct seq_file *)file->private_data)->private;

	krping_dispatch_gone(&writer->away);
	return seq_release_private(inode, file);
}

/*
 * A shell's echo writes a long line in pieces, also after the first one was refused. So a write
 * behind a command that was too long is the rest of it, up to a newline or to a short piece, and
 * refused without being a run.
 */
static int krping_is_rest(struct krping_file *writer, const char __user *buf, size_t len)
{
	bool was_cut = READ_ONCE(writer->cut);
	bool too_long = len > KRPING_CMD_MAX;
	char last = '\n';

	if (too_long && get_user(last, buf + len - 1))
		return -EFAULT;
	if (was_cut || too_long)
		WRITE_ONCE(writer->cut, last != '\n');
	return was_cut ? -EINVAL : 0;
}

static ssize_t krping_proc_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	/* One byte above the limit, so that the parser sees a long text. */
	size_t copied = min_t(size_t, len, KRPING_CMD_MAX + 1);
	struct seq_file *m = file->private_data;
	struct krping_file *writer = m->private;
	char *text;
	int ret;

	/*
	 * Neither a helper that was handed the descriptor nor a privileged program that is made
	 * to write to its standard output gets a run.
	 */
	if (!file_ns_capable(file, &init_user_ns, CAP_NET_ADMIN) || !capable(CAP_NET_ADMIN))
		return -EPERM;
	ret = krping_is_rest(writer, buf, len);
	if (ret)
		return ret;
	text = memdup_user_nul(buf, copied);
	if (IS_ERR(text))
		return PTR_ERR(text);

	/* This reference makes rmmod fail; without it rmmod waits for runs. */
	if (try_module_get(THIS_MODULE)) {
		ret = krping_dispatch(&writer->away, text, copied);
		module_put(THIS_MODULE);
	} else {
		kfree(text);
		ret = -ENODEV;
	}
	return ret ?: len;
}

static const struct proc_ops krping_proc_ops = {
	.proc_open = krping_proc_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = krping_proc_release,
	.proc_write = krping_proc_write,
};

/* The inode has the function that shows a run. */
static int krping_runs_open(struct inode *inode, struct file *file)
{
	struct krping_file *reader;

	reader = __seq_open_private(file, &krping_records_seq_ops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->show = pde_data(inode);
	return 0;
}

/*
 * "from=ID": a tool that looks at the runs each second wants that run and later ones.
 * The file's mode is for readers; root may also write.
 */
static ssize_t krping_runs_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct seq_file *m = file->private_data;
	struct krping_file *reader = m->private;
	char text[24];
	u32 from;
	int ret;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	if (strncmp(text, "from=", 5))
		return -EINVAL;
	ret = kstrtou32(text + 5, 10, &from);
	if (ret)
		return ret;
	WRITE_ONCE(reader->from, from);
	return len;
}

static const struct proc_ops krping_runs_ops = {
	.proc_open = krping_runs_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = seq_release_private,
	.proc_write = krping_runs_write,
};

static int krping_help_show(struct seq_file *m, void *v)
{
	char line[160];
	unsigned int row;

	seq_puts(m, "# A command: options between commas, written to /proc/krping.\n"
		    "# agree: local, each end has its own; same, both must have it;\n"
		    "#        adopt, a server that was given none takes the client's;\n"
		    "#        ask, it is the server's, and a client may ask for it;\n"
		    "#        want, a server that has it wants the same of its client.\n"
		    "# option   value         side   agree meaning\n");
	for (row = 0; krping_option_help(row, line, sizeof(line)); row++)
		if (line[0])
			seq_printf(m, "%s\n", line);
	return 0;
}

/* Removed by entry, not by name: a name that was taken is not our file. */
static struct proc_dir_entry *krping_entries[6];

int krping_proc_init(void)
{
	struct proc_dir_entry **e = krping_entries;

	e[0] = proc_create_data("krping_runs", 0444, NULL, &krping_runs_ops, krping_runs_show);
	e[1] = proc_create_data("krping_hist", 0444, NULL, &krping_runs_ops, krping_hist_show);
	e[2] = proc_create_data("krping_protect", 0444, NULL, &krping_runs_ops,
				krping_protects_show);
	e[3] = proc_create_single("krping_help", 0444, NULL, krping_help_show);
	/* Last, since runs can begin now, and removal would wait for them. */
	if (e[0] && e[1] && e[2] && e[3])
		e[4] = proc_create("krping", 0600, NULL, &krping_proc_ops);
	if (!e[4]) {
		krping_proc_exit();
		return -ENOMEM;
	}
	/* Only an alias, which may fail: a module krperf has that name. */
	e[5] = proc_symlink("krperf", NULL, "krping");
	return 0;
}

/* Removes the files that exist, and waits until nobody reads them. */
void krping_proc_exit(void)
{
	int i = ARRAY_SIZE(krping_entries);

	while (i--)
		proc_remove(krping_entries[i]);
}
