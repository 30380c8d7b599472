/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults for the test suite, each in a module of its own that is built with
 * -DKRPING_MUTANT_<NAME>: it leaves out one event of one iteration, and the
 * tests that count on that event must turn red. Never in a normal build.
 */
#ifndef KRPING_MUTANT_H
#define KRPING_MUTANT_H

#define KRPING_MUTANT_ITER	3	/* the iteration that loses an event */

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

#endif /* KRPING_MUTANT_H */
