/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What two krpings tell each other when they connect: struct krping_priv of
 * module/agree.h, for peers in user space. All numbers are big endian.
 */
#ifndef KRPING_TEST_PRIV_H
#define KRPING_TEST_PRIV_H

#include <stdint.h>

#define PRIV_MAGIC   0x4b525047
#define PRIV_VERSION 3

struct priv {
	uint32_t magic;
	uint8_t version, type, test, can;
	uint32_t size, count;
	uint64_t nonce;
	uint32_t run;
	union {
		struct { /* of a REJECT */
			uint16_t why;
			char option[16];
		} __attribute__((packed));
		struct {
			uint16_t queue, queues, depth;
		};
	};
	uint32_t flags;
	uint32_t warmup;
	uint8_t tos;
	uint8_t case_nr;
} __attribute__((packed));

#endif /* KRPING_TEST_PRIV_H */
