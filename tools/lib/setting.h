/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What figures depend on, and what a reader needs beside them: the kernel, its clock, whether the
 * machine is a real one, the devices of the runs with their drivers and MTUs, and the CPUs.
 */
#ifndef KRP_LIB_SETTING_H
#define KRP_LIB_SETTING_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runs.h"

/* CPUs with higher numbers are left out. */
#define KRP_SETTING_CPUS 8192
/* Runs of which the CPUs were read are remembered by the last digits of their ids. */
#define KRP_SETTING_DONE 4096
/* Room for the text of CPUs, and for that of all. */
#define KRP_SETTING_LIST 128
#define KRP_SETTING_TEXT 1024

struct krp_cpus {
	uint64_t word[KRP_SETTING_CPUS / 64];
	unsigned int nr; /* how many are in the set */
};

struct krp_setting_dev {
	char dev[KRP_ESCAPED(KRPING_DEV_NAME_MAX)]; /* escaped, as /proc gives it to us */
	uint32_t port;
	char driver[64]; /* escaped; "": not known */
	uint32_t mtu;	 /* of the interface with the run's local address; 0: not known */
	struct krp_cpus
		irqs; /* the CPUs of its interrupts; none: not known, or it has no interrupts */
};

/* A text is "" where it is not known. */
struct krp_setting {
	const char *root; /* in front of /proc and /sys: "" but in tests */
	char kernel[65], clock[32], accelerator[32];
	unsigned int online;	 /* CPUs */
	struct krp_cpus threads; /* where threads of the runs may run */
	struct krp_setting_dev *devs;
	unsigned int nr_devs;
	uint32_t done[KRP_SETTING_DONE];
	bool has_tids; /* we are in the first PID namespace, in which the kernel side numbers threads */
	/* What was printed last. */
	char *said_text, *said_json;
};

/* Reads what does not depend on runs. */
void krp_setting_open(struct krp_setting *s, const char *root);
void krp_setting_close(struct krp_setting *s);
/*
 * A run is shown: reads its device, unless that is known already. To be called again as long as the
 * run is shown, since it may not have one yet. false: out of memory.
 */
bool krp_setting_run(struct krp_setting *s, const struct krp_run_info *info);
/* The run's thread has this number, and goes on: reads its CPUs. 0: the run is not shown. */
void krp_setting_thread(struct krp_setting *s, uint32_t run, uint32_t tid);
/* Was that called for the run? */
bool krp_setting_has(const struct krp_setting *s, uint32_t run);

/*
 * One line, without its end, that begins with '#'. What does not fit into width characters is left
 * out, the least important first, and a '~' at the end tells that something is.
 */
void krp_setting_text(const struct krp_setting *s, char *buf, size_t size, unsigned int width);
json_object *krp_setting_json(const struct krp_setting *s);

/* Reads the clock source again, and prints the line if it is not what was printed last. */
void krp_setting_head(struct krp_setting *s, FILE *f, unsigned int width);
/*
 * The same as the member "setting" of an object: of the first one, of those in which it is not what it
 * was before, and of the final one.
 */
void krp_setting_add(struct krp_setting *s, json_object *o, bool final);

/* For tests: parts of the above. */
void krp_cpus_parse(struct krp_cpus *c, const char *list); /* adds those of a list as "0-3,8" */
void krp_cpus_text(const struct krp_cpus *c, char *buf, size_t size);
/*
 * What the machine is emulated or virtualized by. signature is that of CPUID, or ""; flag tells that
 * the CPU says it is a guest's, real that it says it is not; type is of /sys/hypervisor, product of
 * DMI. "" if nothing of these tells.
 */
void krp_accelerator(char *buf, size_t size, const char *signature, bool flag, bool real,
		     const char *type, const char *product);

#endif /* KRP_LIB_SETTING_H */
