/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The debug build's check of how the module maps, syncs and unmaps memory, and
 * of what it hands to the device.
 *
 * CONFIG_DMA_API_DEBUG does not see the soft RDMA providers, whose DMA
 * addresses are the kernel's own; a mistake there would show on hardware only.
 * The macros at the end make each call tell the ledger first. Mapping is not
 * among them: it has an owner, which krping_ledger_map() is told in calls.h.
 *
 * Include it after the headers of the kernel that have those calls.
 */
#ifndef KRPING_LEDGER_H
#define KRPING_LEDGER_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#ifdef KRPING_DEBUG

void krping_ledger_map(const void *owner, struct ib_device *dev,
		       const void *addr, u64 dma, size_t size,
		       enum dma_data_direction dir);
void krping_ledger_unmap(struct ib_device *dev, u64 dma, size_t size,
			 enum dma_data_direction dir);
void krping_ledger_for_cpu(struct ib_device *dev, u64 dma, size_t size,
			   enum dma_data_direction dir);
void krping_ledger_for_device(struct ib_device *dev, u64 dma, size_t size,
			      enum dma_data_direction dir);
void krping_ledger_send(struct ib_device *dev, const struct ib_send_wr *wr);
void krping_ledger_recv(struct ib_device *dev, const struct ib_recv_wr *wr);
void krping_ledger_end(const void *owner);

/* clang-format off */
#define ib_dma_unmap_single(dev, dma, size, dir)			\
do {									\
	krping_ledger_unmap(dev, dma, size, dir);			\
	ib_dma_unmap_single(dev, dma, size, dir);			\
} while (0)

#define ib_dma_unmap_sg(dev, sg, nents, dir)				\
do {									\
	krping_ledger_unmap(dev, sg_dma_address(sg), (sg)->length, dir);\
	ib_dma_unmap_sg(dev, sg, nents, dir);				\
} while (0)

#define ib_dma_sync_single_for_cpu(dev, dma, size, dir)			\
do {									\
	krping_ledger_for_cpu(dev, dma, size, dir);			\
	ib_dma_sync_single_for_cpu(dev, dma, size, dir);		\
} while (0)

#define ib_dma_sync_single_for_device(dev, dma, size, dir)		\
do {									\
	krping_ledger_for_device(dev, dma, size, dir);			\
	ib_dma_sync_single_for_device(dev, dma, size, dir);		\
} while (0)

#define ib_post_send(qp, wr, bad)					\
	(krping_ledger_send((qp)->device, wr), ib_post_send(qp, wr, bad))

#define ib_post_recv(qp, wr, bad)					\
	(krping_ledger_recv((qp)->device, wr), ib_post_recv(qp, wr, bad))
/* clang-format on */

#else /* KRPING_DEBUG */

static inline void krping_ledger_map(const void *owner, struct ib_device *dev,
				     const void *addr, u64 dma, size_t size,
				     enum dma_data_direction dir)
{
}

static inline void krping_ledger_end(const void *owner)
{
}

#endif /* KRPING_DEBUG */

#endif /* KRPING_LEDGER_H */
