// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes siw a device that does not see the memory of the CPU: its ULPs' DMA goes through the DMA
 * API, and each mapping has a copy that the device reads and writes, as with swiotlb. So a mapping,
 * a sync or an unmapping that was left out, which costs nothing where the device is software, does
 * here what it does on hardware. For tests/guest/dma.t.
 *
 * While the device has a byte that it may write, the CPU's own is poison; while
 * the CPU has a byte that the device only reads, the device's is. Who has each
 * byte is recorded: syncs for the CPU and for the device alternate.
 */
#include "plant.h"

#include <linux/dma-map-ops.h>
#include <linux/mm.h>
#include <linux/platform_device.h>
#include <linux/scatterlist.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#define BOUNCE_POISON 0xdb

/* Who has a byte. */
#define BOUNCE_CPU    1
#define BOUNCE_DEVICE 2

PLANT_PARAM(uint, fail, 0, 0644, "number of the next mapping that fails, from 1; 0: none");
PLANT_PARAM(bool, full, false, 0644, "each mapping fails");
PLANT_COUNTER(made, "mappings that were made");
PLANT_COUNTER(mapped, "mappings that are there now");
PLANT_COUNTER(wrong, "calls that were wrong, each with a line in the kernel's log");

/* Both copies begin at the same offset of a page; the states of the bytes follow the device's copy. */
struct bounce {
	void *pages;
	size_t bytes; /* of the device's copy, in whole pages */
	void *cpu;
	void *dev;
	u8 *has;
	size_t size;
	enum dma_data_direction dir;
};

static DEFINE_XARRAY(bounces);	     /* by the page of the device's copy */
static DEFINE_SPINLOCK(bounce_lock); /* guards all of this module's state */
static struct platform_device *bounce_pdev;

static void bounce_wrong(const char *call, u64 dma, size_t size, const char *why)
{
	wrong++;
	pr_info("%s, %zu bytes at 0x%llx: %s\n", call, size, dma, why);
}

static void bounce_give(struct bounce *b, size_t at, size_t size, u8 to)
{
	void *cpu = b->cpu + at, *dev = b->dev + at;

	if (b->dir == DMA_TO_DEVICE) {
		if (to == BOUNCE_CPU)
			memset(dev, BOUNCE_POISON, size);
		else
			memcpy(dev, cpu, size);
	} else if (to == BOUNCE_CPU) {
		memcpy(cpu, dev, size);
	} else {
		/* A byte that the device alone writes may be looked at while it does. */
		if (b->dir == DMA_BIDIRECTIONAL)
			memcpy(dev, cpu, size);
		memset(cpu, BOUNCE_POISON, size);
	}
	memset(b->has + at, to, size);
}

static u64 bounce_map(void *cpu, size_t size, enum dma_data_direction dir)
{
	size_t offset = offset_in_page(cpu), i;
	u64 dma = DMA_MAPPING_ERROR;
	unsigned long flags;
	struct bounce *b;

	spin_lock_irqsave(&bounce_lock, flags);
	if (full || (fail && !--fail))
		goto out;
	b = kzalloc(sizeof(*b), GFP_ATOMIC);
	if (!b)
		goto out;
	b->bytes = PAGE_ALIGN(offset + size);
	b->pages = alloc_pages_exact(2 * b->bytes, GFP_ATOMIC | __GFP_ZERO);
	if (!b->pages) {
		kfree(b);
		goto out;
	}
	b->cpu = cpu;
	b->dev = b->pages + offset;
	b->has = b->dev + b->bytes;
	b->size = size;
	b->dir = dir;
	for (i = 0; i < b->bytes; i += PAGE_SIZE)
		xa_store(&bounces, (unsigned long)(b->pages + i) >> PAGE_SHIFT, b, GFP_ATOMIC);
	memcpy(b->dev, cpu, size);
	bounce_give(b, 0, size, BOUNCE_DEVICE);
	made++;
	mapped++;
	dma = (u64)b->dev;
out:
	spin_unlock_irqrestore(&bounce_lock, flags);
	return dma;
}

static void bounce_unmap(u64 dma, size_t size, enum dma_data_direction dir)
{
	struct bounce *b;
	unsigned long flags;
	size_t i;

	spin_lock_irqsave(&bounce_lock, flags);
	b = xa_load(&bounces, dma >> PAGE_SHIFT);
	if (!b || dma != (u64)b->dev || size != b->size || dir != b->dir) {
		bounce_wrong("unmap", dma, size, b ? "it is mapped otherwise" : "it is not mapped");
		if (!b)
			goto out;
	}
	/* What the CPU has already keeps what the CPU has written. */
	for (i = 0; i < b->size; i++)
		if (b->has[i] == BOUNCE_DEVICE)
			bounce_give(b, i, 1, BOUNCE_CPU);
	for (i = 0; i < b->bytes; i += PAGE_SIZE)
		xa_erase(&bounces, (unsigned long)(b->pages + i) >> PAGE_SHIFT);
	free_pages_exact(b->pages, 2 * b->bytes);
	kfree(b);
	mapped--;
out:
	spin_unlock_irqrestore(&bounce_lock, flags);
}

static void bounce_sync(u64 dma, size_t size, enum dma_data_direction dir, u8 to)
{
	const char *call = to == BOUNCE_CPU ? "sync for the CPU" : "sync for the device";
	struct bounce *b;
	unsigned long flags;
	size_t at;

	spin_lock_irqsave(&bounce_lock, flags);
	b = xa_load(&bounces, dma >> PAGE_SHIFT);
	at = b ? dma - (u64)b->dev : 0;
	if (!b || at >= b->size || size > b->size - at || dir != b->dir) {
		bounce_wrong(call, dma, size, b ? "it is mapped otherwise" : "it is not mapped");
	} else {
		if (memchr_inv(b->has + at, BOUNCE_CPU + BOUNCE_DEVICE - to, size))
			bounce_wrong(call, dma, size, "who gets it has it already");
		bounce_give(b, at, size, to);
	}
	spin_unlock_irqrestore(&bounce_lock, flags);
}

static dma_addr_t bounce_map_page(struct device *dev, struct page *page, unsigned long offset,
				  size_t size, enum dma_data_direction dir, unsigned long attrs)
{
	return bounce_map(page_address(page) + offset, size, dir);
}

static void bounce_unmap_page(struct device *dev, dma_addr_t dma, size_t size,
			      enum dma_data_direction dir, unsigned long attrs)
{
	bounce_unmap(dma, size, dir);
}

static void bounce_for_cpu(struct device *dev, dma_addr_t dma, size_t size,
			   enum dma_data_direction dir)
{
	bounce_sync(dma, size, dir, BOUNCE_CPU);
}

static void bounce_for_device(struct device *dev, dma_addr_t dma, size_t size,
			      enum dma_data_direction dir)
{
	bounce_sync(dma, size, dir, BOUNCE_DEVICE);
}

/* A list of pages is mapped, and all that comes after, page by page. */
#define BOUNCE_SG(name, call, ...)                                               \
	static void name(struct device *dev, struct scatterlist *sgl, int nents, \
			 enum dma_data_direction dir, ##__VA_ARGS__)             \
	{                                                                        \
		struct scatterlist *sg;                                          \
		int i;                                                           \
		for_each_sg(sgl, sg, nents, i)                                   \
			call;                                                    \
	}
BOUNCE_SG(bounce_unmap_sg, bounce_unmap(sg_dma_address(sg), sg->length, dir), unsigned long attrs)
BOUNCE_SG(bounce_sg_for_cpu, bounce_for_cpu(dev, sg_dma_address(sg), sg->length, dir))
BOUNCE_SG(bounce_sg_for_device, bounce_for_device(dev, sg_dma_address(sg), sg->length, dir))

static int bounce_map_sg(struct device *dev, struct scatterlist *sgl, int nents,
			 enum dma_data_direction dir, unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i) {
		sg_dma_address(sg) = bounce_map(sg_virt(sg), sg->length, dir);
		if (sg_dma_address(sg) == DMA_MAPPING_ERROR) {
			bounce_unmap_sg(dev, sgl, i, dir, attrs);
			return -ENOMEM;
		}
		sg_dma_len(sg) = sg->length;
	}
	return nents;
}

static const struct dma_map_ops bounce_ops = {
	.map_page = bounce_map_page,
	.unmap_page = bounce_unmap_page,
	.map_sg = bounce_map_sg,
	.unmap_sg = bounce_unmap_sg,
	.sync_single_for_cpu = bounce_for_cpu,
	.sync_single_for_device = bounce_for_device,
	.sync_sg_for_cpu = bounce_sg_for_cpu,
	.sync_sg_for_device = bounce_sg_for_device,
};

/* No memory is mapped for an idle siw. For rxe there always is some, of its queue pair for management. */
static int bounce_add(struct ib_device *dev)
{
	if (dev->ops.driver_id != RDMA_DRIVER_SIW)
		return -EOPNOTSUPP;
	dev->dma_device = &bounce_pdev->dev;
	return 0;
}

static void bounce_remove(struct ib_device *dev, void *client_data)
{
	dev->dma_device = NULL;
}

PLANT_CLIENT(bounce_client, bounce_add, bounce_remove);

static int __init bounce_begin(void)
{
	int ret;

	bounce_pdev = platform_device_register_simple(KBUILD_MODNAME, PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(bounce_pdev))
		return PTR_ERR(bounce_pdev);
	set_dma_ops(&bounce_pdev->dev, &bounce_ops);
	ret = dma_set_mask_and_coherent(&bounce_pdev->dev, DMA_BIT_MASK(64)) ?:
		      ib_register_client(&bounce_client);
	if (ret)
		platform_device_unregister(bounce_pdev);
	return ret;
}

static void __exit bounce_end(void)
{
	ib_unregister_client(&bounce_client);
	platform_device_unregister(bounce_pdev);
	xa_destroy(&bounces);
}

PLANT_MODULE(bounce_begin, bounce_end, "A device with memory of its own, for tests");
