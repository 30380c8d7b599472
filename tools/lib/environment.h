/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What figures depend on, and what a reader needs beside them: the kernel, its clock, the devices of the
 * runs with their drivers, and the CPUs.
 */
#ifndef KRP_LIB_ENVIRONMENT_H
#define KRP_LIB_ENVIRONMENT_H

#include <json-c/json.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runs.h"

/* CPUs with higher numbers are left out. */
#define KRP_ENVIRONMENT_CPUS 8192
/* Runs of which the CPUs were read are remembered by the last digits of their ids. */
#define KRP_ENVIRONMENT_DONE 4096
/* Room for the text of CPUs, and for that of all. */
#define KRP_ENVIRONMENT_LIST 128
#define KRP_ENVIRONMENT_TEXT 1024

/* The bytes of a set of CPUs. */
#define KRP_ENVIRONMENT_SET (KRP_ENVIRONMENT_CPUS / 8)

struct krp_environment_dev {
	char dev[KRP_ESCAPED(KRPING_DEV_NAME_MAX)]; /* escaped, as /proc gives it to us */
	uint32_t port;
	char driver[64]; /* escaped; "": not known */
};

/* A text is "" where it is not known. */
struct krp_environment {
	const char *root; /* in front of /proc and /sys: "" but in tests */
	char kernel[65], clock[32];
	unsigned int online;				       /* CPUs */
	cpu_set_t threads[KRP_ENVIRONMENT_CPUS / CPU_SETSIZE]; /* where threads of the runs may run */
	struct krp_environment_dev *devs;
	unsigned int nr_devs;
	uint32_t done[KRP_ENVIRONMENT_DONE];
	bool has_tids; /* we are in the first PID namespace, in which the kernel side numbers threads */
	json_object *recorded; /* what a recording has instead of all that; NULL: this is live */
	/* What was printed last. */
	char *said_text, *said_json;
};

/* Reads what does not depend on runs. */
void krp_environment_open(struct krp_environment *s, const char *root);
void krp_environment_close(struct krp_environment *s);
/*
 * A run is shown: reads its device, unless that is known already. To be called again as long as the
 * run is shown, since it may not have one yet.
 */
void krp_environment_run(struct krp_environment *s, const struct krp_run_info *info);
/* The run's thread has this number, and goes on: reads its CPUs. 0: the run is not shown. */
void krp_environment_thread(struct krp_environment *s, uint32_t run, uint32_t tid);
/* Was that called for the run? */
bool krp_environment_has(const struct krp_environment *s, uint32_t run);

/* One line, without its end, that begins with '#'. If it is longer than width it is cut, and ends in '~'. */
void krp_environment_text(const struct krp_environment *s, char *buf, size_t size,
			  unsigned int width);
/* What a recording has may be anything but NULL. */
json_object *krp_environment_json(const struct krp_environment *s);

/* Reads the clock source again, and prints the line if it is not what was printed last. */
void krp_environment_head(struct krp_environment *s, FILE *f, unsigned int width);
/*
 * The same as the member "setting" of an object: of the first one, of those in which it is not what it
 * was before, and of the final one.
 */
void krp_environment_add(struct krp_environment *s, json_object *o, bool final);

#define KRP_CPUS_POSSIBLE "/sys/devices/system/cpu/possible"

/*
 * One more than the highest number of a CPU that this machine can have, or a negative errno. An array that is indexed by CPU needs
 * this many elements: numbers may be missing, so that there can be fewer CPUs than that.
 */
int krp_cpu_ids(void);

/* For tests: the same of a list such as 0-3,8, and -EINVAL: it is no such list; and a set as such a list. */
int krp_cpu_ids_of(const char *list);
void krp_cpus_text(const cpu_set_t *set, char *buf, size_t size);

#endif /* KRP_LIB_ENVIRONMENT_H */
