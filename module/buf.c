// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Buffers: memory that a device can reach. */
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "buf.h"
#include "ep.h"
#include "verdict.h"

/*
 * Large buffers are made of single pages, as memory may be in small pieces. Where there is too
 * little of it the run fails, and nobody is killed.
 */
#define KRPING_PAGE_GFP (GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY)

/* Whole pages: no other data shares a page that a peer may write. */
static int krping_buf_memory(struct krping_buf *buf)
{
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	buf->single_pages = buf->size > KRPING_SIZE_CONTIGUOUS;
	if (buf->single_pages)
		buf->base = __vmalloc(buf->bytes, KRPING_PAGE_GFP);
	else
		buf->base = alloc_pages_exact(buf->bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!buf->base)
		return -ENOMEM;
	ret = sg_alloc_table(&buf->mem, buf->single_pages ? buf->bytes / PAGE_SIZE : 1, GFP_KERNEL);
	if (ret)
		return ret;
	/* Whole pages here, too: swiotlb aligns a bounce buffer to a page only if it has one. */
	for_each_sgtable_sg(&buf->mem, sg, i)
		if (buf->single_pages)
			sg_set_page(sg, vmalloc_to_page(buf->base + i * PAGE_SIZE), PAGE_SIZE, 0);
		else
			sg_set_buf(sg, buf->base, buf->bytes);
	return 0;
}

/* The DMA address of a byte of the pages. */
static u64 krping_buf_find(struct krping_buf *buf, size_t at)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(&buf->mem, sg, i) {
		if (at < sg_dma_len(sg))
			return sg_dma_address(sg) + at;
		at -= sg_dma_len(sg);
	}
	return 0;
}

/*
 * Allocate a zeroed buffer, and map it for the endpoint's device. The buffer has whole pages,
 * and begins krping_ep.offset bytes into the first one. Up to KRPING_SIZE_CONTIGUOUS bytes they
 * are contiguous. Returns 0, or a negative errno that is also the run's cause.
 */
int krping_buf_alloc(struct krping_ep *ep, struct krping_buf *buf, size_t size,
		     enum dma_data_direction dir)
{
	int ret;

	buf->size = size;
	buf->dir = dir;
	buf->bytes = PAGE_ALIGN(ep->offset + size);
	ret = krping_buf_memory(buf);
	if (ret)
		return krping_fail(ep->verdict, ret, "allocating a buffer of %zu bytes", size);
	buf->addr = buf->base + ep->offset;
	ret = ib_dma_map_sgtable_attrs(ep->dev, &buf->mem, dir, 0);
	if (ret)
		return krping_fail(ep->verdict, ret, "mapping a buffer of %zu bytes: error %pe",
				   size, ERR_PTR(ret));
	buf->mapped = true;
	buf->dma = krping_buf_find(buf, ep->offset);
	buf->dma_last = krping_buf_find(buf, ep->offset + size - 1);
	return 0;
}

/* Unmap and free a buffer, if there is one. */
void krping_buf_free(struct krping_ep *ep, struct krping_buf *buf)
{
	if (buf->mapped)
		ib_dma_unmap_sgtable_attrs(ep->dev, &buf->mem, buf->dir, 0);
	buf->mapped = false;
	sg_free_table(&buf->mem);
	if (buf->single_pages)
		vfree(buf->base);
	else if (buf->base)
		free_pages_exact(buf->base, buf->bytes);
	buf->base = NULL;
	buf->addr = NULL;
}

/*
 * Give all pages of a buffer to the CPU before it reads or writes there. A device in software
 * needs no sync, and the core has none of a table of pages.
 *
 * Single pages have two kernel addresses, and the DMA API knows only the one that the CPU does
 * not use here. Where caches are virtual, somebody has to take care of the other one's lines.
 */
void krping_buf_for_cpu(struct krping_ep *ep, struct krping_buf *buf)
{
	if (!ib_uses_virt_dma(ep->dev))
		dma_sync_sgtable_for_cpu(ep->dev->dma_device, &buf->mem, buf->dir);
	if (unlikely(buf->single_pages))
		invalidate_kernel_vmap_range(buf->base, buf->bytes);
}

/* Give a buffer to the device before the device uses it. */
void krping_buf_for_device(struct krping_ep *ep, struct krping_buf *buf)
{
	if (unlikely(buf->single_pages))
		flush_kernel_vmap_range(buf->base, buf->bytes);
	if (!ib_uses_virt_dma(ep->dev))
		dma_sync_sgtable_for_device(ep->dev->dma_device, &buf->mem, buf->dir);
}

/* Look at the last byte, which the device may be writing. The buffer stays the device's. */
u8 krping_buf_peek_last(struct krping_ep *ep, struct krping_buf *buf)
{
	u8 *last = buf->addr + buf->size - 1;
	u8 value;

	ib_dma_sync_single_for_cpu(ep->dev, buf->dma_last, 1, buf->dir);
	if (unlikely(buf->single_pages))
		invalidate_kernel_vmap_range(last, 1);
	value = READ_ONCE(*last);
	ib_dma_sync_single_for_device(ep->dev, buf->dma_last, 1, buf->dir);
	return value;
}

/* Change the last byte, which the device is going to send. No request uses the buffer. */
void krping_buf_poke_last(struct krping_ep *ep, struct krping_buf *buf, u8 value)
{
	u8 *last = buf->addr + buf->size - 1;

	ib_dma_sync_single_for_cpu(ep->dev, buf->dma_last, 1, buf->dir);
	*last = value;
	if (unlikely(buf->single_pages))
		flush_kernel_vmap_range(last, 1);
	ib_dma_sync_single_for_device(ep->dev, buf->dma_last, 1, buf->dir);
}
