/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The command text and what it means. Pure C: the same two files are built
 * into the module and, for tests and fuzzing, on the host.
 */
#ifndef KRPING_COMMAND_H
#define KRPING_COMMAND_H

#include <linux/types.h>
#include "address.h"
#include "krping_abi.h"

#define KRPING_COUNT_MAX   0x7fffffff /* "int", as it always was */
#define KRPING_TXDEPTH	   64	      /* of bw and fast; that of old krpings */
#define KRPING_TXDEPTH_MAX 65535
#define KRPING_INLINE_MAX  4096 /* no device has as much */
#define KRPING_WARMUP_MAX  1000000
#define KRPING_CLIENTS_MAX 256

/* The options of this version, in the order of /proc/krping_help. */
enum krping_option_id {
	KRPING_OPT_SERVER,
	KRPING_OPT_CLIENT,
	KRPING_OPT_STOP,
	KRPING_OPT_ADDR,
	KRPING_OPT_ADDR6,
	KRPING_OPT_PORT,
	KRPING_OPT_BIND,
	KRPING_OPT_TOS,
	KRPING_OPT_COUNT,
	KRPING_OPT_SIZE,
	KRPING_OPT_RANDOM_SIZE,
	KRPING_OPT_OFFSET,
	KRPING_OPT_TIMEOUT,
	KRPING_OPT_IDLE,
	KRPING_OPT_TEST,
	KRPING_OPT_FR,
	KRPING_OPT_WLAT,
	KRPING_OPT_RLAT,
	KRPING_OPT_BW,
	KRPING_OPT_FAST,
	KRPING_OPT_DUPLEX,
	KRPING_OPT_TXDEPTH,
	KRPING_OPT_POST_LIST,
	KRPING_OPT_SIGNAL,
	KRPING_OPT_INLINE_SIZE,
	KRPING_OPT_WARMUP,
	KRPING_OPT_INTERVAL,
	KRPING_OPT_ACCEPT,
	KRPING_OPT_MEM_MODE,
	KRPING_OPT_POLL_CTX,
	KRPING_OPT_POLL,
	KRPING_OPT_COMP_VECTOR,
	KRPING_OPT_CPU,
	KRPING_OPT_SRQ,
	KRPING_OPT_CHAIN,
	KRPING_OPT_SERVER_INV,
	KRPING_OPT_READ_INV,
	KRPING_OPT_LOCAL_DMA_LKEY,
	KRPING_OPT_SPLIT,
	KRPING_OPT_VALIDATE,
	KRPING_OPT_VERBOSE,
	KRPING_OPT_NAME,
	KRPING_OPT_CLIENTS,
	KRPING_OPT_PERSISTENT,
	KRPING_OPT_ID,

	KRPING_NR_OPTIONS
};

/**
 * struct krping_params - what one command asks for
 * @given:	bits of enum krping_option_id: the options that were in the text
 * @timeout_ns:	how long the run may take; 0: no limit
 * @idle_ns:	server: for how long a client may be silent, or gone; 0: no limit
 * @interval_ns: pause between two iterations; 0: none
 * @role:	enum krping_role
 * @test:	enum krping_test_id
 * @port:	TCP port space number, 1..65535, host order
 * @size:	bytes of a ping, 1..KRPING_SIZE_MAX
 * @offset:	of the buffers' first bytes in their pages
 * @count:	iterations; 0 is until the peer leaves or a signal arrives
 * @txdepth:	requests in the send queue, 1..KRPING_TXDEPTH_MAX; 0: as many as the
 *		test wants
 * @post_list:	requests in one post, 1..KRPING_TXDEPTH_MAX; 0: one
 * @signal:	requests of which one has a completion, 1..KRPING_TXDEPTH_MAX; 0: one
 * @inline_size: WRITEs up to so many bytes carry their data in the request; 0: none
 * @warmup:	iterations before the first one that counts
 * @accept_tests: server: bits of enum krping_test_id, the tests that it takes of a
 *		client; 0: all
 * @accept_size: server: the largest size that it takes of a client; 0: any
 * @mem_mode:	enum krping_mem_mode; KRPING_MEM_DMA also sets a flag, for events
 * @poll_ctx:	enum krping_poll_ctx
 * @comp_vector: completion vector, if the option was given
 * @cpu:	number of a CPU, if the option was given
 * @flags:	KRPING_RUN_F_*
 * @name:	label of the run, for people; empty: it has none
 * @clients:	how many clients are served at once, each by a run of its own,
 *		1..KRPING_CLIENTS_MAX; 0: the command's run serves one itself
 * @id:		stop: the run
 * @tos:	type of service, if the option was given; server: that of its client
 * @addr:	the server's address; none, or 0: any
 * @bind:	client: its own address; none: the one that the route has
 */
struct krping_params {
	__u64 given;
	__u64 timeout_ns;
	__u64 idle_ns;
	__u64 interval_ns;
	__u32 role;
	__u32 test;
	__u32 port;
	__u32 size;
	__u32 offset;
	__u32 count;
	__u32 txdepth;
	__u32 post_list;
	__u32 signal;
	__u32 inline_size;
	__u32 warmup;
	__u32 accept_tests;
	__u32 accept_size;
	__u32 mem_mode;
	__u32 poll_ctx;
	__u32 comp_vector;
	__u32 cpu;
	__u32 flags;
	char name[KRPING_NAME_MAX];
	__u32 clients;
	__u32 id;
	__u32 tos;
	struct krping_address addr;
	struct krping_address bind;
};

/* How the two ends of a connection settle an option. */
enum krping_agree {
	KRPING_AGREE_LOCAL, /* each end has its own */
	KRPING_AGREE_SAME,  /* a difference is refused, by name */
	KRPING_AGREE_ADOPT, /* a server without it takes the client's value */
	KRPING_AGREE_ASK, /* a flag: a server also has it if the client asks */
	KRPING_AGREE_WANT, /* a server that has it wants the same of the client */
};

int krping_command_parse(const char *text, size_t len,
			 struct krping_params *params, char *reason,
			 size_t reason_size);
const char *krping_params_agree(struct krping_params *mine,
				const struct krping_params *peer);
const char *krping_params_same(const struct krping_params *mine,
			       const struct krping_params *peer);
void krping_params_values(const struct krping_params *mine,
			  const struct krping_params *peer, const char *name,
			  char *text, size_t size);
const char *krping_params_classic(const struct krping_params *mine);
__u32 krping_params_size_max(const struct krping_params *params);
int krping_option_given(const struct krping_params *params,
			enum krping_option_id id);
int krping_option_help(unsigned int row, char *line, size_t size);

#endif /* KRPING_COMMAND_H */
