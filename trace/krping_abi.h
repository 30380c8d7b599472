/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Numbers and names that the module, its BPF programs and its tools share.
 *
 * This header holds plain enums and limits and includes nothing, so that it
 * compiles in the kernel, in BPF and in user space. Every list is append-only:
 * a number, once released, keeps its meaning. A list macro is expanded twice,
 * once to the enum and once to its table of names; the names are what users
 * see in trace output, in /proc/krping_runs and in the tools.
 */
#ifndef KRPING_ABI_H
#define KRPING_ABI_H

/* clang-format off */

/*
 * Version of the tracepoint prototypes. Appending an event, an argument or an
 * enum value does not change it; anything else does. The module shows it as
 * the parameter events_abi and in the first line of /proc/krping_runs.
 */
#define KRPING_EVENTS_ABI	1

#define KRPING_DEV_NAME_MAX	64	/* IB_DEVICE_NAME_MAX */
#define KRPING_NAME_MAX		32	/* longest name= of a run, NUL included */
#define KRPING_MSG_SIZE		16	/* the classic advertisement, in bytes */
#define KRPING_SIZE_MAX		(2 * 1024 * 1024) /* 512 pages, as rxe registers at once */
#define KRPING_OFFSET_MAX	4095
#define KRPING_SIZE_CONTIGUOUS	(128 * 1024)	/* larger buffers are of single pages */
#define KRPING_CMD_MAX		1024	/* longest command text, in bytes */
#define KRPING_REASON_MAX	160	/* longest reason text, NUL included */

/* STOP is a command that has a line in /proc/krping_runs, but no events. */
#define KRPING_ROLES(x)			\
	x(SERVER,	"server")	\
	x(CLIENT,	"client")	\
	x(STOP,		"stop")

#define KRPING_TESTS(x)			\
	x(RPING,	"rping")	\
	x(FR,		"fr")		\
	x(WLAT,		"wlat")		\
	x(RLAT,		"rlat")		\
	x(BW,		"bw")		\
	x(FAST,		"fast")

/* Who polls the completion queues. */
#define KRPING_POLLS(x)			\
	x(THREAD,	"thread")	\
	x(SOFTIRQ,	"softirq")	\
	x(WORKQUEUE,	"workqueue")	\
	x(BUSY,		"busy")

/* What the keys that a run advertises are of. */
#define KRPING_MEMS(x)			\
	x(REG,		"reg")		\
	x(DMA,		"dma")

/* The numbers up to ERROR are those that krping has printed since 2007. */
#define KRPING_STATES(x)				\
	x(NEW,			"NEW")			\
	x(IDLE,			"IDLE")			\
	x(CONNECT_REQUEST,	"CONNECT_REQUEST")	\
	x(ADDR_RESOLVED,	"ADDR_RESOLVED")	\
	x(ROUTE_RESOLVED,	"ROUTE_RESOLVED")	\
	x(CONNECTED,		"CONNECTED")		\
	x(RDMA_READ_ADV,	"RDMA_READ_ADV")	\
	x(RDMA_READ_COMPLETE,	"RDMA_READ_COMPLETE")	\
	x(RDMA_WRITE_ADV,	"RDMA_WRITE_ADV")	\
	x(RDMA_WRITE_COMPLETE,	"RDMA_WRITE_COMPLETE")	\
	x(ERROR,		"ERROR")		\
	x(DONE,			"DONE")

/*
 * Phases. Set-up and tear-down belong to every test, the rest to the test that
 * is named beside them. NONE is what a run is in before its first phase.
 */
#define KRPING_PHASES(x)				\
	x(NONE,			"none")			\
	x(RESOLVE_ADDR,		"resolve_addr")		\
	x(RESOLVE_ROUTE,	"resolve_route")	\
	x(LISTEN,		"listen")		\
	x(ALLOC,		"alloc")		\
	x(CONNECT,		"connect")		\
	x(ACCEPT,		"accept")		\
	x(DISCONNECT,		"disconnect")		\
	x(DRAIN,		"drain")		\
	x(FREE,			"free")			\
	/* rping, client */				\
	x(FILL,			"fill")			\
	x(REG_SOURCE,		"reg_source")		\
	x(SEND_SOURCE,		"send_source")		\
	x(WAIT_READ,		"wait_read")		\
	x(REG_SINK,		"reg_sink")		\
	x(SEND_SINK,		"send_sink")		\
	x(WAIT_WRITE,		"wait_write")		\
	x(VALIDATE,		"validate")		\
	/* rping, server */				\
	x(WAIT_SOURCE,		"wait_source")		\
	x(REG_READ,		"reg_read")		\
	x(RDMA_READ,		"read")			\
	x(GO_AHEAD_READ,	"go_ahead_read")	\
	x(WAIT_SINK,		"wait_sink")		\
	x(REG_WRITE,		"reg_write")		\
	x(RDMA_WRITE,		"write")		\
	x(GO_AHEAD_WRITE,	"go_ahead_write")	\
	/* the end that posts: map of fr, post of fr, rlat, wlat */ \
	x(MAP,			"map")			\
	x(POST,			"post")			\
	x(WAIT_COMPLETION,	"wait_completion")	\
	/* all but rping, no part of an iteration */	\
	x(WAIT_END,		"wait_end")		\
	x(EXCHANGE,		"exchange")		\
	/* bw, fast: the end that posts */		\
	x(FILL_QUEUE,		"fill_queue")		\
	/* wlat */					\
	x(WAIT_PEER,		"wait_peer")		\
	/* any test, no part of an iteration */		\
	x(WARMUP,		"warmup")		\
	x(PAUSE,		"pause")

/* Kinds of work request. */
#define KRPING_WRS(x)			\
	x(NONE,		"NONE")		\
	x(RECV,		"RECV")		\
	x(SEND,		"SEND")		\
	x(SEND_INV,	"SEND_WITH_INV")\
	x(RDMA_READ,	"READ")		\
	x(RDMA_WRITE,	"WRITE")	\
	x(REG_MR,	"REG_MR")	\
	x(LOCAL_INV,	"LOCAL_INV")	\
	x(READ_INV,	"READ_WITH_INV")

/*
 * Stages of a phase that waits; NONE is all of the phase, OWN is the time that
 * is in no other stage.
 */
#define KRPING_STAGES(x)		\
	x(NONE,		"-")		\
	x(POST,		"post")		\
	x(WIRE,		"wire")		\
	x(CQ,		"cq")		\
	x(WAKE,		"wake")		\
	x(OWN,		"own")

/* State of a memory region, as the ledger of the run's thread has it. */
#define KRPING_MR_STATES(x)		\
	x(FREE,		"free")		\
	x(VALID,	"valid")	\
	x(FLUSHED,	"flushed")

#define KRPING_ENUM_ENTRY_(prefix, name)	prefix##name,
#define KRPING_NAME_ENTRY_(prefix, name, text)	[prefix##name] = text,

enum krping_poll_ctx {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_POLL_, n)
	KRPING_POLLS(x)
#undef x
	KRPING_NR_POLLS
};

enum krping_mem_mode {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_MEM_, n)
	KRPING_MEMS(x)
#undef x
	KRPING_NR_MEMS
};

enum krping_role {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_ROLE_, n)
	KRPING_ROLES(x)
#undef x
	KRPING_NR_ROLES
};

enum krping_test_id {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_TEST_, n)
	KRPING_TESTS(x)
#undef x
	KRPING_NR_TESTS
};

enum krping_state {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_STATE_, n)
	KRPING_STATES(x)
#undef x
	KRPING_NR_STATES
};

enum krping_phase {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_PHASE_, n)
	KRPING_PHASES(x)
#undef x
	KRPING_NR_PHASES
};

enum krping_wr_kind {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_WR_, n)
	KRPING_WRS(x)
#undef x
	KRPING_NR_WRS
};

enum krping_stage {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_STAGE_, n)
	KRPING_STAGES(x)
#undef x
	KRPING_NR_STAGES
};

enum krping_mr_state {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_MR_, n)
	KRPING_MR_STATES(x)
#undef x
	KRPING_NR_MR_STATES
};

/*
 * Phases that are no part of an iteration: those of set-up and tear-down, those
 * around the loop of a test, and its pauses. The second macro numbers them without
 * a gap.
 */
#define KRPING_PHASE_IS_ONCE(phase)		\
	((phase) <= KRPING_PHASE_FREE ||	\
	 ((phase) >= KRPING_PHASE_WAIT_END && (phase) <= KRPING_PHASE_EXCHANGE) || \
	 ((phase) >= KRPING_PHASE_WARMUP && (phase) <= KRPING_PHASE_PAUSE))
#define KRPING_ONCE(phase)			\
	((phase) <= KRPING_PHASE_FREE ? (phase) : \
	 (phase) <= KRPING_PHASE_EXCHANGE ? (phase) - KRPING_PHASE_WAIT_END + KRPING_PHASE_FREE + 1 : \
	 (phase) - KRPING_PHASE_WARMUP + KRPING_PHASE_FREE + KRPING_PHASE_EXCHANGE - KRPING_PHASE_WAIT_END + 2)
#define KRPING_NR_ONCE	(KRPING_ONCE(KRPING_PHASE_PAUSE) + 1)

/*
 * Flags of krping_phase: what became of the iteration of the phase that ends
 * here. If neither COMMIT nor ABORT is set, the iteration goes on, or the phase
 * belongs to set-up or tear-down. krping_iter has both flags, and also PART.
 */
#define KRPING_PHASE_F_COMMIT	0x1	/* the iteration is complete */
#define KRPING_PHASE_F_ABORT	0x2	/* it was cut short, and is in no distribution */
#define KRPING_PHASE_F_PART	0x4	/* nobody listened when the iteration began */

/*
 * A segment of a run's time line, as krping_iter carries it: one word tells
 * what the thread was doing, and for how long. From the lowest bit it has 6
 * bits of the phase, 3 bits of the stage, the flags, and nanoseconds.
 */
#define KRPING_SEGS_MAX		32	/* more than an iteration of any test has */
#define KRPING_SEG_F_SUM	0x200	/* a phase that waited: the sum of its stages before it */
#define KRPING_SEG_F_EARLY	0x400	/* with F_SUM: the completion came before the phase began */
#define KRPING_SEG_NS_BITS	53	/* 104 days */
#define KRPING_SEG(phase, stage, flags, ns) \
	((unsigned long long)(ns) << (64 - KRPING_SEG_NS_BITS) | (flags) | (stage) << 6 | (phase))
#define KRPING_SEG_PHASE(seg)	((seg) & 0x3f)
#define KRPING_SEG_STAGE(seg)	((seg) >> 6 & 0x7)
#define KRPING_SEG_WHAT(seg)	((seg) & 0x3ff)	/* phase, stage and F_SUM */
#define KRPING_SEG_NS(seg)	((seg) >> (64 - KRPING_SEG_NS_BITS))

/* Flags of krping_post_send. */
#define KRPING_POST_F_SIGNALED	0x1
#define KRPING_POST_F_FENCE	0x2
#define KRPING_POST_F_INLINE	0x4	/* the request carries its data */

/* Options of a run, as krping_run_start and krping_conn carry them. */
#define KRPING_RUN_F_VERBOSE	0x1
#define KRPING_RUN_F_VALIDATE	0x2
#define KRPING_RUN_F_SERVER_INV	0x4
#define KRPING_RUN_F_CLASSIC	0x8	/* krping_conn: the peer sent no private data of ours */
#define KRPING_RUN_F_CHAIN	0x10	/* several work requests in one call */
#define KRPING_RUN_F_SPLIT	0x20	/* client: tells hosts and network apart */
#define KRPING_RUN_F_DUPLEX	0x40	/* both ends write */
#define KRPING_RUN_F_READ_INV	0x80	/* server: its READs invalidate the key of their sink */
#define KRPING_RUN_F_LOCAL_DMA_LKEY 0x100 /* WRITEs take their data from memory without a key of its own */
#define KRPING_RUN_F_DMA	0x200	/* mem_mode=dma: one key for all memory */
#define KRPING_RUN_F_RANDOM_SIZE 0x400	/* each ping has another size, up to that of the run */
#define KRPING_RUN_F_SRQ	0x800	/* its RECVs are those of a shared receive queue */

/* clang-format on */

#endif /* KRPING_ABI_H */
