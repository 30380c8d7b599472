/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults for the test suite, each in a module of its own that is built with
 * -DKRPING_MUTANT_<NAME>: it leaves out one event of one iteration, and the
 * tests that count on that event must turn red; or a step of DMA mapping, which
 * the debug build's ledger must report; or what a CQ's end waits for. Never in a
 * normal build.
 */
#ifndef KRPING_MUTANT_H
#define KRPING_MUTANT_H

#define KRPING_MUTANT_ITER 3 /* the iteration that loses something */

/* clang-format off */
#ifdef KRPING_MUTANT_DROP_PHASE
#define krping_mutant_phase(iter, phase)	\
	((iter) == KRPING_MUTANT_ITER && (phase) == KRPING_PHASE_SEND_SINK)
#else
#define krping_mutant_phase(iter, phase)	false
#endif

#ifdef KRPING_MUTANT_DROP_INV
#define krping_mutant_inv(iter)			((iter) == KRPING_MUTANT_ITER)
#else
#define krping_mutant_inv(iter)			false
#endif

#ifdef KRPING_MUTANT_DROP_WC
#define krping_mutant_wc(cid)			((cid) == 11)
#else
#define krping_mutant_wc(cid)			false
#endif

/* Of a client's two buffers these take the source of its pings. */
#ifdef KRPING_MUTANT_DROP_UNMAP
#define krping_mutant_unmap(dir)		((dir) == DMA_TO_DEVICE)
#else
#define krping_mutant_unmap(dir)		false
#endif

#ifdef KRPING_MUTANT_DROP_SYNC
#define krping_mutant_sync(iter, dir)	\
	((iter) == KRPING_MUTANT_ITER && (dir) == DMA_TO_DEVICE)
#else
#define krping_mutant_sync(iter, dir)		false
#endif

#ifdef KRPING_MUTANT_DROP_QUIESCE
#define krping_mutant_quiesce			true
#else
#define krping_mutant_quiesce			false
#endif
/* clang-format on */

#endif /* KRPING_MUTANT_H */
