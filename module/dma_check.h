/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The debug build's check of how the module maps, syncs and unmaps memory, and
 * of what it hands to the device.
 *
 * CONFIG_DMA_API_DEBUG does not see the soft RDMA providers, whose DMA
 * addresses are the kernel's own; a mistake there would show on hardware only.
 * The module's calls in calls.h report to the check. A mapping has an owner,
 * which has to unmap it.
 */
#ifndef KRPING_DMA_CHECK_H
#define KRPING_DMA_CHECK_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#ifdef KRPING_DEBUG

void krping_dma_check_map(const void *owner, struct ib_device *dev,
			  const void *addr, u64 dma, size_t size,
			  enum dma_data_direction dir);
void krping_dma_check_unmap(struct ib_device *dev, u64 dma, size_t size,
			    enum dma_data_direction dir);
void krping_dma_check_for_cpu(struct ib_device *dev, u64 dma, size_t size,
			      enum dma_data_direction dir);
void krping_dma_check_for_device(struct ib_device *dev, u64 dma, size_t size,
				 enum dma_data_direction dir);
void krping_dma_check_map_pages(const void *owner, struct ib_device *dev,
				const struct sg_table *pages,
				enum dma_data_direction dir);
void krping_dma_check_unmap_pages(struct ib_device *dev,
				  const struct sg_table *pages,
				  enum dma_data_direction dir);
void krping_dma_check_pages_for_cpu(struct ib_device *dev,
				    const struct sg_table *pages,
				    enum dma_data_direction dir);
void krping_dma_check_pages_for_device(struct ib_device *dev,
				       const struct sg_table *pages,
				       enum dma_data_direction dir);
void krping_dma_check_send(struct ib_device *dev, const struct ib_send_wr *wr);
void krping_dma_check_recv(struct ib_device *dev, const struct ib_recv_wr *wr);
void krping_dma_check_end(const void *owner);

#else /* KRPING_DEBUG */

static inline void krping_dma_check_map(const void *owner,
					struct ib_device *dev, const void *addr,
					u64 dma, size_t size,
					enum dma_data_direction dir)
{
}

static inline void krping_dma_check_unmap(struct ib_device *dev, u64 dma,
					  size_t size,
					  enum dma_data_direction dir)
{
}

static inline void krping_dma_check_for_cpu(struct ib_device *dev, u64 dma,
					    size_t size,
					    enum dma_data_direction dir)
{
}

static inline void krping_dma_check_for_device(struct ib_device *dev, u64 dma,
					       size_t size,
					       enum dma_data_direction dir)
{
}

static inline void krping_dma_check_map_pages(const void *owner,
					      struct ib_device *dev,
					      const struct sg_table *pages,
					      enum dma_data_direction dir)
{
}

static inline void krping_dma_check_unmap_pages(struct ib_device *dev,
						const struct sg_table *pages,
						enum dma_data_direction dir)
{
}

static inline void krping_dma_check_pages_for_cpu(struct ib_device *dev,
						  const struct sg_table *pages,
						  enum dma_data_direction dir)
{
}

static inline void krping_dma_check_pages_for_device(
	struct ib_device *dev, const struct sg_table *pages,
	enum dma_data_direction dir)
{
}

static inline void krping_dma_check_send(struct ib_device *dev,
					 const struct ib_send_wr *wr)
{
}

static inline void krping_dma_check_recv(struct ib_device *dev,
					 const struct ib_recv_wr *wr)
{
}

static inline void krping_dma_check_end(const void *owner)
{
}

#endif /* KRPING_DEBUG */

#endif /* KRPING_DMA_CHECK_H */
