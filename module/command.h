/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The command text and what it means. Pure C: the same two files are built
 * into the module and, for tests and fuzzing, on the host.
 */
#ifndef KRPING_COMMAND_H
#define KRPING_COMMAND_H

#include <linux/types.h>
#include "krping_abi.h"

#define KRPING_COUNT_MAX 0x7fffffff /* "int", as it always was */

/* The options of this version, in the order of /proc/krping_help. */
enum krping_option_id {
	KRPING_OPT_SERVER,
	KRPING_OPT_CLIENT,
	KRPING_OPT_ADDR,
	KRPING_OPT_PORT,
	KRPING_OPT_COUNT,
	KRPING_OPT_SIZE,
	KRPING_OPT_TIMEOUT,
	KRPING_OPT_TEST,
	KRPING_OPT_FR,
	KRPING_OPT_MEM_MODE,
	KRPING_OPT_POLL_CTX,
	KRPING_OPT_POLL,
	KRPING_OPT_COMP_VECTOR,
	KRPING_OPT_CPU,
	KRPING_OPT_CHAIN,
	KRPING_OPT_SERVER_INV,
	KRPING_OPT_VALIDATE,
	KRPING_OPT_VERBOSE,

	KRPING_NR_OPTIONS
};

/**
 * struct krping_params - what one command asks for
 * @given:	bits of enum krping_option_id: the options that were in the text
 * @timeout_ns:	how long the run may take; 0: no limit
 * @role:	enum krping_role
 * @test:	enum krping_test_id
 * @addr:	IPv4 address, network order; 0 is any
 * @port:	TCP port space number, 1..65535, host order
 * @size:	bytes of a ping, 1..KRPING_SIZE_MAX
 * @count:	iterations; 0 is until the peer leaves or a signal arrives
 * @poll_ctx:	enum krping_poll_ctx
 * @comp_vector: completion vector, if the option was given
 * @cpu:	number of a CPU, if the option was given
 * @flags:	KRPING_RUN_F_*
 */
struct krping_params {
	__u64 given;
	__u64 timeout_ns;
	__u32 role;
	__u32 test;
	__be32 addr;
	__u32 port;
	__u32 size;
	__u32 count;
	__u32 poll_ctx;
	__u32 comp_vector;
	__u32 cpu;
	__u32 flags;
};

/* How the two ends of a connection settle an option. */
enum krping_agree {
	KRPING_AGREE_LOCAL, /* each end has its own */
	KRPING_AGREE_SAME,  /* a difference is refused, by name */
	KRPING_AGREE_ADOPT, /* a server without it takes the client's value */
};

int krping_command_parse(const char *text, size_t len,
			 struct krping_params *params, char *reason,
			 size_t reason_size);
const char *krping_params_agree(struct krping_params *mine,
				const struct krping_params *peer);
int krping_option_given(const struct krping_params *params,
			enum krping_option_id id);
int krping_option_help(unsigned int row, char *line, size_t size);

#endif /* KRPING_COMMAND_H */
