/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * rxe of 6.1 calls a CQ's handler from a tasklet that is a part of the CQ, and frees the
 * CQ without killing the tasklet (docs/upstream/rxe-cq-tasklet.md).
 */
#ifndef KRPING_COMPAT_RXE_CQ_H
#define KRPING_COMPAT_RXE_CQ_H

struct ib_device;

#ifndef HAVE_RXE_CQ_CALLS
void krping_rxe_flush_cqs(const struct ib_device *dev);
void krping_rxe_flush_end(void);
#else
static inline void krping_rxe_flush_cqs(const struct ib_device *dev)
{
}

static inline void krping_rxe_flush_end(void)
{
}
#endif

#endif /* KRPING_COMPAT_RXE_CQ_H */
