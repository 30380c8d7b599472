/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What software providers do not do, and no attribute of a device shows. */
#ifndef KRPING_COMPAT_SOFT_H
#define KRPING_COMPAT_SOFT_H

#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

struct rdma_cm_id;

unsigned long krping_siw_silence(struct net *net, const struct rdma_cm_id *id);

static inline bool krping_is_siw(const struct ib_device *dev)
{
	return dev->ops.driver_id == RDMA_DRIVER_SIW;
}

/*
 * rxe of older kernels has a socket in the initial network namespace alone. What another
 * namespace sends gets lost there or, worse, arrives.
 */
static inline bool krping_works_in(const struct ib_device *dev, const struct net *net)
{
#ifdef HAVE_RXE_NETNS
	return true;
#else
	return net_eq(net, &init_net) || dev->ops.driver_id != RDMA_DRIVER_RXE;
#endif
}

/* siw has no code for the type of service: its TCP socket has the default. */
static inline bool krping_has_tos(const struct ib_device *dev)
{
	return !krping_is_siw(dev);
}

#endif /* KRPING_COMPAT_SOFT_H */
