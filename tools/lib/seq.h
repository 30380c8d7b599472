/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Reads data that a BPF program may be writing. The state of a run begins with
 * a number, "seq", which is odd while the run's thread writes; the kernel side
 * is write_begin() and write_end() in bpf/krping_iter.bpf.c.
 */
#ifndef KRP_LIB_SEQ_H
#define KRP_LIB_SEQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies an element, of which seq is the first member, as it is between two
 * writes. false: the writer was writing at each attempt, and the copy in "to"
 * is torn. The caller then tries again later and draws no conclusion from it.
 */
bool krp_seq_read(const uint32_t *seq, void *to, size_t size);

#endif /* KRP_LIB_SEQ_H */
