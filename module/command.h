/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command text and what it means. Tests and fuzzers build this on the host. */
#ifndef KRPING_COMMAND_H
#define KRPING_COMMAND_H

#include <linux/types.h>
#include "krping_abi.h"

#define KRPING_COUNT_MAX   0x7fffffff /* "int", as it always was */
#define KRPING_TXDEPTH	   64	      /* of bw and fast; that of old krpings */
#define KRPING_TXDEPTH_MAX 65535
#define KRPING_INLINE_MAX  4096 /* no device has as much */
#define KRPING_WARMUP_MAX  1000000
#define KRPING_CLIENTS_MAX 256
#define KRPING_QUEUES_MAX  16

/* test=block: a request lies in a chunk of the window, which has contiguous memory. */
#define KRPING_BLOCK_CHUNK (256 * 1024)
#define KRPING_BLOCK_DEPTH 256	/* requests in flight on a connection, at most */
#define KRPING_BLOCK_UNIT  4096 /* of the window, and of a largest request */
#define KRPING_BLOCK_DATA  4096 /* of a write that are in the message of its capsule, at most */

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
	KRPING_OPT_CASE,
	KRPING_OPT_DUPLEX,
	KRPING_OPT_QUEUES,
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
	KRPING_OPT_WINDOW,
	KRPING_OPT_SHARED,
	KRPING_OPT_RO,
	KRPING_OPT_SECTOR,
	KRPING_OPT_IN_CAPSULE,
	KRPING_OPT_LOCAL_INV,
	KRPING_OPT_IO_TIMEOUT,
	KRPING_OPT_NAME,
	KRPING_OPT_CLIENTS,
	KRPING_OPT_PERSISTENT,
	KRPING_OPT_ID,

	KRPING_NR_OPTIONS
};

#define KRPING_SCOPE_SIZE 16 /* as the name of an interface, with its NUL */

/*
 * An address: of IPv4 the first four bytes, in network order. A link-local address
 * of IPv6 has a scope, the name or number of an interface. Which one that is depends
 * on a network namespace, see krping_cm_addr().
 */
struct krping_address {
	__u16 family; /* 0: there is none */
	__u8 bytes[16];
	char scope[KRPING_SCOPE_SIZE];
};

/* What one command asks for. */
struct krping_params {
	__u64 given;	     /* bits of enum krping_option_id */
	__u64 timeout_ns;    /* 0: no limit */
	__u64 idle_ns;	     /* server: a client may be silent, or gone; 0: no limit */
	__u64 interval_ns;   /* 0: no pause */
	__u64 io_timeout_ns; /* test=block, client: of a request */
	__u32 role;	     /* enum krping_role */
	__u32 test;	     /* enum krping_test_id */
	__u32 case_nr;	     /* enum krping_case, of test=protect */
	__u32 port;	     /* host order */
	__u32 size;	     /* bytes of a ping */
	__u32 offset;	     /* of the buffers' first bytes in their pages */
	__u32 count;	     /* 0: until the peer leaves or a signal arrives */
	__u32 queues;	     /* connections of the run */
	__u32 txdepth;	     /* of each; 0: as many as the test wants */
	__u32 post_list;     /* 0: one */
	__u32 signal;	     /* 0: one */
	__u32 inline_size;   /* 0: none */
	__u32 window;	     /* test=block, server: bytes */
	__u32 in_capsule;    /* test=block, client: bytes of a write whose capsule has the data */
	__u32 sector;	     /* test=block, client: bytes of a logical block */
	__u32 warmup;
	__u32 accept_tests;	    /* server: bits of enum krping_test_id; 0: all */
	__u32 accept_size;	    /* server: 0: any */
	__u32 mem_mode;		    /* enum krping_mem_mode; DMA also sets a flag, for events */
	__u32 poll_ctx;		    /* enum krping_poll_ctx */
	__u32 comp_vector;	    /* if given */
	__u32 cpu;		    /* if given */
	__u32 flags;		    /* KRPING_RUN_F_* */
	char name[KRPING_NAME_MAX]; /* label of the run; empty: none */
	__u32 clients;		    /* at once, each a run; 0: the command's run serves one */
	__u32 id;		    /* stop: the run */
	__u32 tos;		    /* if given */
	struct krping_address addr; /* the server's; none, or 0: any */
	struct krping_address bind; /* the client's; none: by the route */
};

int krping_command_parse(const char *text, size_t len, struct krping_params *params, char *reason);
const char *krping_params_agree(struct krping_params *mine, const struct krping_params *peer);
const char *krping_params_same(const struct krping_params *mine, const struct krping_params *peer);
void krping_params_values(const struct krping_params *mine, const struct krping_params *peer,
			  const char *name, char *text, size_t size);
const char *krping_params_classic(const struct krping_params *mine);
__u32 krping_params_size_max(const struct krping_params *params);
int krping_option_given(const struct krping_params *params, enum krping_option_id id);
int krping_address_is_any(const struct krping_address *address);
int krping_option_help(unsigned int row, char *line, size_t size);

#endif /* KRPING_COMMAND_H */
