/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Numbers and names that the module, its BPF programs and its tools share.
 *
 * This header holds plain enums and limits and includes nothing, so that it compiles in the kernel,
 * in BPF and in user space. Every list is append-only: a number, once released, keeps its meaning.
 * A list macro is expanded twice, once to the enum and once to its table of names; the names are
 * what users see in trace output, in /proc/krping_runs and in the tools.
 */
#ifndef KRPING_ABI_H
#define KRPING_ABI_H

/* clang-format off */

/*
 * Version of the tracepoint prototypes, and of the words of iterations. Appending an event, an
 * argument, a kind of word or an enum value does not change it; anything else does. The module
 * shows it as the parameter events_abi and in the first line of /proc/krping_runs.
 */
#define KRPING_EVENTS_ABI	3

#define KRPING_DEV_NAME_MAX	64	/* IB_DEVICE_NAME_MAX */
#define KRPING_NAME_MAX		32	/* longest name= of a run, NUL included */
#define KRPING_MSG_SIZE		16	/* the classic advertisement, in bytes */
#define KRPING_SIZE_MAX		(2 * 1024 * 1024) /* 512 pages, as rxe registers at once */
#define KRPING_OFFSET_MAX	4095
#define KRPING_SIZE_CONTIGUOUS	(128 * 1024)	/* larger buffers are of single pages */
#define KRPING_PROTECT_SIZE	(3 * 4096)	/* the buffer of test=protect, in bytes */
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
	x(FAST,		"fast")		\
	x(PROTECT,	"protect")	\
	x(BLOCK,	"block")

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
	/* wlat; map: fr of older versions */	\
	x(MAP,			"map")			\
	x(POST,			"post")			\
	x(WAIT_COMPLETION,	"wait_completion")	\
	/* all but rping, no part of an iteration */	\
	x(WAIT_END,		"wait_end")		\
	x(EXCHANGE,		"exchange")		\
	/* bw, fast of older versions */		\
	x(FILL_QUEUE,		"fill_queue")		\
	/* wlat */					\
	x(WAIT_PEER,		"wait_peer")		\
	/* any test, no part of an iteration */		\
	x(WARMUP,		"warmup")		\
	x(PAUSE,		"pause")		\
	/* protect: keys are made and told; the access; what became of it */ \
	x(ARRANGE,		"arrange")		\
	x(TRY,			"try")			\
	x(OUTCOME,		"outcome")		\
	/* bw, fast: requests are in flight */		\
	x(RUNNING,		"running")

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

/*
 * Stages of a request of a test that has several in flight; ALL is all of it. PEER: for so long the
 * server had a request of a disk, whose WIRE is the network's.
 */
#define KRPING_REQUESTS(x)		\
	x(ALL,		"request")	\
	x(QUEUED,	"queued")	\
	x(MAP,		"map")		\
	x(POST,		"post")		\
	x(WIRE,		"wire")		\
	x(CQ,		"cq")		\
	x(DONE,		"done")		\
	x(PEER,		"peer")

/* What a request of test=block does; ZEROES is WRITE_ZEROES and DISCARD, which move no data. */
#define KRPING_BLOCKS(x)		\
	x(NONE,		"-")		\
	x(READS,	"read")		\
	x(WRITES,	"write")	\
	x(ZEROES,	"zero")

/* State of a memory region, as the ledger of the run's thread has it. */
#define KRPING_MR_STATES(x)		\
	x(FREE,		"free")		\
	x(VALID,	"valid")	\
	x(FLUSHED,	"flushed")

/* What happens to the key of a memory region. */
#define KRPING_STEPS(x)			\
	x(REG,		"reg")		\
	x(LOCAL_INV,	"localinv")	\
	x(REM_INV,	"reminv")	\
	x(READ_INV,	"readinv")	\
	x(DEREG,	"dereg")

/* What a work request on a memory region costs: ib_map_mr_sg(), the verbs call, and until it is done. */
#define KRPING_COSTS(x)			\
	x(MAP,		"map")		\
	x(POST,		"post")		\
	x(DONE,		"done")

/*
 * The cases of test=protect, in the order in which both ends make them: what the
 * client does, and what is wrong with that. First what has to work. What is wrong is
 * done by the client with the server's key, or, LOCAL, with its own one.
 *
 *	INVALIDATED	the key was invalidated
 *	KEY_BEFORE	the region has another key now
 *	PAST_END	the last byte is behind the region, in the same page
 *	PAST_PAGE	the last bytes are in the page behind the region's last one
 *	BEFORE		the first byte is before the region
 *	NO_RIGHT	the region is registered for other accesses
 *	OTHER_PD	the region is valid, and belongs to another protection domain
 *	DEREG		the region is no more
 *
 * The last case has to work, too, after all the others.
 */
#define KRPING_CASES(x)							\
	x(SEND,			"send",			SEND,		NONE)		\
	x(SEND_INV,		"send_inv",		SEND_INV,	NONE)		\
	x(RDMA_READ,		"read",			RDMA_READ,	NONE)		\
	x(RDMA_WRITE,		"write",		RDMA_WRITE,	NONE)		\
	x(READ_INV,		"read_inv",		READ_INV,	NONE)		\
	x(REG,			"reg",			REG_MR,		NONE)		\
	x(INV,			"inv",			LOCAL_INV,	NONE)		\
	x(READ_INVALIDATED,	"read_invalidated",	RDMA_READ,	INVALIDATED)	\
	x(WRITE_INVALIDATED,	"write_invalidated",	RDMA_WRITE,	INVALIDATED)	\
	x(READ_KEY_BEFORE,	"read_key_before",	RDMA_READ,	KEY_BEFORE)	\
	x(WRITE_KEY_BEFORE,	"write_key_before",	RDMA_WRITE,	KEY_BEFORE)	\
	x(READ_PAST_END,	"read_past_end",	RDMA_READ,	PAST_END)	\
	x(WRITE_PAST_END,	"write_past_end",	RDMA_WRITE,	PAST_END)	\
	x(READ_PAST_PAGE,	"read_past_page",	RDMA_READ,	PAST_PAGE)	\
	x(WRITE_PAST_PAGE,	"write_past_page",	RDMA_WRITE,	PAST_PAGE)	\
	x(READ_BEFORE,		"read_before",		RDMA_READ,	BEFORE)		\
	x(WRITE_BEFORE,		"write_before",		RDMA_WRITE,	BEFORE)		\
	x(READ_NO_RIGHT,	"read_no_right",	RDMA_READ,	NO_RIGHT)	\
	x(WRITE_NO_RIGHT,	"write_no_right",	RDMA_WRITE,	NO_RIGHT)	\
	x(READ_OTHER_PD,	"read_other_pd",	RDMA_READ,	OTHER_PD)	\
	x(WRITE_OTHER_PD,	"write_other_pd",	RDMA_WRITE,	OTHER_PD)	\
	x(READ_DEREG,		"read_dereg",		RDMA_READ,	DEREG)		\
	x(WRITE_DEREG,		"write_dereg",		RDMA_WRITE,	DEREG)		\
	x(INV_KEY_BEFORE,	"send_inv_key_before",	SEND_INV,	KEY_BEFORE)	\
	x(INV_DEREG,		"send_inv_dereg",	SEND_INV,	DEREG)		\
	x(SINK_INVALIDATED,	"sink_invalidated",	RDMA_READ,	LOCAL_INVALIDATED) \
	x(SOURCE_INVALIDATED,	"source_invalidated",	RDMA_WRITE,	LOCAL_INVALIDATED) \
	x(SINK_PAST_END,	"sink_past_end",	RDMA_READ,	LOCAL_PAST_END)	\
	x(SOURCE_PAST_END,	"source_past_end",	RDMA_WRITE,	LOCAL_PAST_END)	\
	x(SINK_NO_RIGHT,	"sink_no_right",	RDMA_READ,	LOCAL_NO_RIGHT)	\
	x(SINK_OTHER_PD,	"sink_other_pd",	RDMA_READ,	LOCAL_OTHER_PD)	\
	x(SOURCE_OTHER_PD,	"source_other_pd",	RDMA_WRITE,	LOCAL_OTHER_PD)	\
	x(REG_OTHER_PD,		"reg_other_pd",		REG_MR,		LOCAL_OTHER_PD)	\
	x(INV_OTHER_PD,		"send_inv_other_pd",	SEND_INV,	OTHER_PD)	\
	x(READ_AGAIN,		"read_again",		RDMA_READ,	NONE)

/* What is wrong with an access; from LOCAL_INVALIDATED on it is at its own end. */
#define KRPING_WRONGS(x)				\
	x(NONE,			"-")			\
	x(INVALIDATED,		"invalidated")		\
	x(KEY_BEFORE,		"key_before")		\
	x(PAST_END,		"past_end")		\
	x(PAST_PAGE,		"past_page")		\
	x(BEFORE,		"before")		\
	x(NO_RIGHT,		"no_right")		\
	x(OTHER_PD,		"other_pd")		\
	x(DEREG,		"dereg")		\
	x(LOCAL_INVALIDATED,	"local_invalidated")	\
	x(LOCAL_PAST_END,	"local_past_end")	\
	x(LOCAL_NO_RIGHT,	"local_no_right")	\
	x(LOCAL_OTHER_PD,	"local_other_pd")

/* What a case came to; those in capitals are bad. */
#define KRPING_JUDGEMENTS(x)		\
	x(NONE,		"-")		\
	x(WORKS,	"works")	\
	x(PROTECTED,	"protected")	\
	x(UNSUPPORTED,	"unsupported")	\
	x(FAILED,	"FAILED")	\
	x(LEAK,		"LEAK")		\
	x(SILENT,	"SILENT")

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

enum krping_request_stage {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_REQUEST_, n)
	KRPING_REQUESTS(x)
#undef x
	KRPING_NR_REQUESTS
};

enum krping_block_op {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_BLOCK_, n)
	KRPING_BLOCKS(x)
#undef x
	KRPING_NR_BLOCKS
};

enum krping_mr_state {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_MR_, n)
	KRPING_MR_STATES(x)
#undef x
	KRPING_NR_MR_STATES
};

enum krping_step {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_STEP_, n)
	KRPING_STEPS(x)
#undef x
	KRPING_NR_STEPS
};

enum krping_cost {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_COST_, n)
	KRPING_COSTS(x)
#undef x
	KRPING_NR_COSTS
};

enum krping_case {
#define x(n, s, v, w) KRPING_ENUM_ENTRY_(KRPING_CASE_, n)
	KRPING_CASES(x)
#undef x
	KRPING_NR_CASES
};

enum krping_wrong {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_WRONG_, n)
	KRPING_WRONGS(x)
#undef x
	KRPING_NR_WRONGS
};

enum krping_judgement {
#define x(n, s) KRPING_ENUM_ENTRY_(KRPING_JUDGE_, n)
	KRPING_JUDGEMENTS(x)
#undef x
	KRPING_NR_JUDGEMENTS
};

/*
 * Phases that are no part of an iteration: those of set-up and tear-down, those around the loop of
 * a test, and its pauses. The second macro numbers them without a gap.
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
 * Flags of krping_phase: what became of the iteration of the phase that ends here. If neither
 * COMMIT nor ABORT is set, the iteration goes on, or the phase belongs to set-up or tear-down.
 * krping_iter and the events of its words have both flags, and also PART and MORE.
 */
#define KRPING_PHASE_F_COMMIT	0x1	/* the iteration is complete */
#define KRPING_PHASE_F_ABORT	0x2	/* it was cut short, and is in no distribution */
#define KRPING_PHASE_F_PART	0x4	/* nobody listened to this event when the iteration began */
#define KRPING_ITER_F_MORE	0x8	/* one more of the same iteration follows */

/*
 * A word of an iteration. The lowest 8 bits tell its kind: a phase (enum krping_phase), so that it
 * is a time; or one of those behind all phases, of which two tell of memory regions, and one of the
 * request that ended the iteration. A reader skips a word whose kind it does not know.
 *
 * A time tells what the thread was doing, and for how long. Behind the phase it has 3 bits of the
 * stage, the flags, and nanoseconds, of which the largest number means "that or more".
 */
#define KRPING_WORDS_MAX	48	/* of one event */
#define KRPING_WORD_STEP	0xf0
#define KRPING_WORD_COST	0xf1
#define KRPING_WORD_REQUEST	0xf2
#define KRPING_WORD_KIND(word)	((word) & 0xff)
#define KRPING_WORD_IS_TIME(word) (KRPING_WORD_KIND(word) < KRPING_WORD_STEP)

/* The number, but no more than fits into so many bits. */
#define KRPING_BITS_MAX_(bits)	((1ULL << (bits)) - 1)
#define KRPING_SATURATE_(n, bits) \
	((unsigned long long)(n) < KRPING_BITS_MAX_(bits) ? (unsigned long long)(n) : KRPING_BITS_MAX_(bits))

#define KRPING_SEG_F_SUM	0x800	/* a phase that waited: the sum of its stages before it */
#define KRPING_SEG_F_EARLY	0x1000	/* with F_SUM: the completion came before the phase began */
#define KRPING_SEG_NS_BITS	51	/* 26 days */
#define KRPING_SEG_NS_MAX	KRPING_BITS_MAX_(KRPING_SEG_NS_BITS)
#define KRPING_SEG(phase, stage, flags, ns) \
	(KRPING_SATURATE_(ns, KRPING_SEG_NS_BITS) << (64 - KRPING_SEG_NS_BITS) | (flags) | \
	 (stage) << 8 | (phase))
#define KRPING_SEG_PHASE(seg)	((seg) & 0xff)
#define KRPING_SEG_STAGE(seg)	((seg) >> 8 & 0x7)
#define KRPING_SEG_WHAT(seg)	((seg) & 0xfff)	/* phase, stage and F_SUM */
#define KRPING_SEG_NS(seg)	((seg) >> (64 - KRPING_SEG_NS_BITS))

/*
 * A stage of a request: as a time, with its own kind instead of the phase, and enum
 * krping_request_stage. The flag is that of a request of test=block that writes.
 */
#define KRPING_REQUEST_F_WRITES	0x800
#define KRPING_REQUEST(stage, flags, ns)	KRPING_SEG(KRPING_WORD_REQUEST, stage, flags, ns)

/*
 * A step of a key's life: 4 bits of what happened (enum krping_step), 2 of the state of
 * the region, 18 of pages, and the key. The state is whether the old key was valid
 * before (1 or 0), and for DEREG the last one (enum krping_mr_state). Only REG has pages,
 * and its key is the new one; the old one has all but its lowest 8 bits in common.
 */
#define KRPING_STEP(kind, state, pages, key) \
	((unsigned long long)(key) << 32 | KRPING_SATURATE_(pages, 18) << 14 | \
	 (unsigned int)(state) << 12 | (unsigned int)(kind) << 8 | KRPING_WORD_STEP)
#define KRPING_STEP_KIND(word)	((word) >> 8 & 0xf)
#define KRPING_STEP_STATE(word)	((word) >> 12 & 0x3)
#define KRPING_STEP_PAGES(word)	((word) >> 14 & 0x3ffff)
#define KRPING_STEP_KEY(word)	((word) >> 32)

/*
 * What a work request on a memory region cost: 4 bits of its kind (enum krping_wr_kind),
 * 2 of which cost it is (enum krping_cost), the flag, 10 bits of pages, and nanoseconds,
 * of which the largest number means "that or more". Only a REG_MR has pages.
 */
#define KRPING_COST_F_FAILED	0x4000	/* DONE: it was flushed, and may not have been executed */
#define KRPING_COST_NS_BITS	39	/* 9 minutes */
#define KRPING_COST_NS_MAX	KRPING_BITS_MAX_(KRPING_COST_NS_BITS)
#define KRPING_COST(kind, what, flags, pages, ns) \
	(KRPING_SATURATE_(ns, KRPING_COST_NS_BITS) << (64 - KRPING_COST_NS_BITS) | \
	 KRPING_SATURATE_(pages, 10) << 15 | (flags) | (unsigned int)(what) << 12 | \
	 (unsigned int)(kind) << 8 | KRPING_WORD_COST)
#define KRPING_COST_KIND(word)	((word) >> 8 & 0xf)
#define KRPING_COST_WHAT(word)	((word) >> 12 & 0x3)
#define KRPING_COST_PAGES(word)	((word) >> 15 & 0x3ff)
#define KRPING_COST_NS(word)	((word) >> (64 - KRPING_COST_NS_BITS))

/*
 * The argument what of krping_wait: from the lowest bit 8 of the phase, 8 of the kind of
 * the work request (enum krping_wr_kind), and one that tells whether the thread slept.
 */
#define KRPING_WAIT(phase, kind, slept)	((phase) | (kind) << 8 | (unsigned int)!!(slept) << 16)
#define KRPING_WAIT_PHASE(what)	((what) & 0xff)
#define KRPING_WAIT_KIND(what)	((what) >> 8 & 0xff)
#define KRPING_WAIT_SLEPT(what)	((what) >> 16 & 0x1)

/* Flags of krping_post_send. */
#define KRPING_POST_F_SIGNALED	0x1
#define KRPING_POST_F_FENCE	0x2
#define KRPING_POST_F_INLINE	0x4	/* the request carries its data */

/* What an end saw of a case of test=protect, as krping_protect carries it. */
#define KRPING_SAW_COMPLETED	0x1	/* client: the access completed without an error */
#define KRPING_SAW_ERROR	0x2	/* a completion had an error: the status */
#define KRPING_SAW_REFUSED	0x4	/* client: the provider did not even take the request */
#define KRPING_SAW_MESSAGE	0x8	/* the peer's message behind the access came */
#define KRPING_SAW_END		0x10	/* the connection ended */
#define KRPING_SAW_NOTHING	0x20	/* nothing happened for seconds */
#define KRPING_SAW_OTHER_DATA	0x40	/* what moved is not what had to */
#define KRPING_SAW_NO_VERB	0x80	/* client: the transport has no such access */

/* Options of a run, as krping_run_start and krping_conn carry them. */
#define KRPING_RUN_F_VERBOSE	0x1
#define KRPING_RUN_F_VALIDATE	0x2
#define KRPING_RUN_F_SERVER_INV	0x4
#define KRPING_RUN_F_CLASSIC	0x8	/* krping_conn: the peer sent no private data of ours */
#define KRPING_RUN_F_CHAIN	0x10	/* several work requests in one call */
#define KRPING_RUN_F_SPLIT	0x20	/* client: tells hosts and network apart */
#define KRPING_RUN_F_DUPLEX	0x40	/* both ends write */
#define KRPING_RUN_F_READ_INV	0x80	/* the server's READs invalidate the key of their sink */
#define KRPING_RUN_F_LOCAL_DMA_LKEY 0x100 /* WRITEs take their data from memory without a key of its own */
#define KRPING_RUN_F_DMA	0x200	/* mem_mode=dma: one key for all memory */
#define KRPING_RUN_F_RANDOM_SIZE 0x400	/* each ping has another size, up to that of the run */
#define KRPING_RUN_F_SRQ	0x800	/* its RECVs are those of a shared receive queue */
#define KRPING_RUN_F_SOFTIRQ	0x1000	/* poll_ctx; none of the three: thread */
#define KRPING_RUN_F_WORKQUEUE	0x2000
#define KRPING_RUN_F_BUSY	0x4000
#define KRPING_RUN_F_RO		0x8000	/* test=block: nobody writes */
#define KRPING_RUN_F_SHARED	0x10000	/* its window may have several clients that write */
#define KRPING_RUN_F_POLL(ctx)	((ctx) ? KRPING_RUN_F_SOFTIRQ << ((ctx) - 1) : 0) /* of enum krping_poll_ctx */

/* clang-format on */

#endif /* KRPING_ABI_H */
