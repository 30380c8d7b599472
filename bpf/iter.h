/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What krping_iter.bpf.c and its readers share: a slot for each run, with its
 * sums, and a ring for each CPU, with the records of iterations.
 *
 * The programs and maps are loaded for one kind of words (enum krp_kind). The reader writes
 * nothing: the kernel side makes slots of runs that have ended free by itself, and overwrites
 * old records.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_ITER_H
#define KRPING_ITER_H

#include "../trace/krping_abi.h"
#include "slot.h"

/* clang-format off */

/* The event of an iteration whose words are read: krping_iter_phases, _stages or _memory. */
enum krp_kind {
	KRP_KIND_PHASES,	/* summed up in the slot of the run, and not recorded */
	KRP_KIND_STAGES,
	KRP_KIND_MEMORY,
	KRP_NR_KINDS
};

/* A phase of a newer module that we do not know is accounted to the entry behind the last phase. */
#define KRP_PHASES	(KRPING_NR_PHASES + 1)

/* A slot stays as it is for so long after its run has ended: every reader looks several times in that time. */
#define KRP_KEEP_NS	2000000000ULL

/* The last transitions on the way to a connection, of which a run may make several. */
#define KRP_SETUP_STEPS	4

struct krp_setup_step {
	__u64 t;
	__u32 state;		/* enum krping_state, which the run has entered */
	__u32 again;		/* it had iterations before */
};

struct krp_phase_sum {
	__u64 count;
	__u64 sum;
	__u64 max;
};

/*
 * A run, as far as it was watched since the programs were attached. Its thread is
 * the only writer. records, records_ns and whole are also in each record of the run: what
 * a reader has not seen is the difference.
 */
struct krp_run {
	struct krp_head head;
	__u64 serial;		/* 1 for the first run that got a slot, and so on; the slot's earlier runs had less */
	__u32 peer;		/* the peer's run, if it is on this host */
	__u32 more;		/* KRP_REC_F_GOES_ON if the last record goes on in the next one, or 0 */
	__u64 iter;		/* the number of the next iteration */
	__u64 records;		/* records */
	__u64 records_ns;		/* their time, all together */
	__u64 whole;		/* complete iterations that were seen from their beginning on */
	__u64 holes;		/* how often the event before a record was not seen */
	__u64 unmatched;	/* iterations out of order */
	__u64 commits;
	__u64 aborts;
	/* From here on only with KRP_KIND_PHASES. */
	__u64 cut_ns;		/* the time in iterations that were cut short */
	__u64 nr_setup;		/* the number of all steps; the last ones are here */
	struct krp_setup_step setup[KRP_SETUP_STEPS];
	__u64 octave;		/* of the iteration that was last put into the histogram */
	struct krp_sum sum;	/* of the iterations in whole */
	struct krp_phase_sum phases[KRP_PHASES];
};

#define KRP_REC_F_WHOLE	0x1	/* it ends a complete iteration that was seen from its beginning on */
#define KRP_REC_F_MORE	0x2	/* the next record of the run goes on with the same iteration */
#define KRP_REC_F_GOES_ON 0x4	/* the record before it had KRP_REC_F_MORE */

/* A record: what one event told. */
struct krp_rec {
	__u32 run;
	__u32 slot;
	__u16 flags;		/* KRP_REC_F_* */
	__u16 nr;		/* number of words */
	__u32 reserved;
	__u64 records;		/* the run's records, this one included */
	__u64 records_ns;		/* and their time */
	__u64 whole;		/* the run's iterations in "whole", this one included */
	__u64 iter;		/* the number of the iteration */
	__u64 t_begin;
	__u64 t;		/* when it ended */
	__u64 word[];
};

#define KRP_REC_BYTES(nr)	(sizeof(struct krp_rec) + (nr) * sizeof(__u64))
#define KRP_REC_MAX		KRP_REC_BYTES(KRPING_WORDS_MAX)

/*
 * The ring of a CPU: an element of the array map "krp_rings", whose size is set by
 * user space. Bytes have numbers, from 0 on, and the byte with the number n is
 * data[n % size]; but a record lies in one piece, so that the last one of a round
 * may end in the KRP_REC_MAX bytes behind data[size]. The one program that writes
 * never interrupts itself on a CPU, so no record is begun within another one.
 *
 * A reader copies a record that ends at "head" or before, and then looks whether
 * "begun" has come so far that the record was being overwritten. Where a reader
 * that is too late finds a record again, "first" says: the number of the first byte
 * of the first record that began in each block of the ring.
 */
#define KRP_BLOCKS	16

struct krp_ring {
	__u64 head;		/* records up to here are complete */
	__u64 begun;		/* here the record ends that is being written, or was last written */
	__u64 first[KRP_BLOCKS];
	__u64 pad[6];		/* up to the end of a cache line */
	__u8 data[];
};

/* In which block of the ring a byte is. */
#define KRP_BLOCK(n, size)	((n) / ((size) / KRP_BLOCKS) % KRP_BLOCKS)
/* The reader is woken each time that so many blocks were filled. */
#define KRP_WAKE_BLOCKS	4

/* The size of an element, which the kernel rounds up. */
#define KRP_RING_BYTES(size)	(sizeof(struct krp_ring) + (size) + KRP_REC_MAX)
#define KRP_RING_STRIDE(size)	((KRP_RING_BYTES(size) + 7) & ~7ULL)

/* clang-format on */

#endif /* KRPING_ITER_H */
