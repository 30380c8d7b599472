// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The debug build's check of mappings, syncs and posts; see dma_check.h.
 *
 * Memory belongs to the device from the time it is mapped, and changes hands
 * only by a sync (Documentation/core-api/dma-api-howto.rst). So syncs for the
 * CPU and for the device alternate on every piece of a mapping, and a sync that
 * was left out shows at the next sync or post.
 *
 * The check sees neither an access by the CPU itself nor whether a request has
 * completed.
 *
 * Each mistake is a WARN in the kernel log. After it the check assumes that the
 * module is right, so that one mistake is not also reported as others.
 */
#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/spinlock.h>
#include "dma_check.h"

/* A run has at most 4 mappings at a time. */
#define KRPING_MAPPINGS_MAX   1024
/* The check tracks who owns each 64th of a mapping. */
#define KRPING_MAPPING_PIECES 64

/**
 * struct krping_mapping - memory that is mapped for a device
 * @owner:	the mapping's owner; NULL: the entry is free
 * @dev:	the device
 * @addr:	where the CPU sees it; of several pages the first one
 * @dma:	where the device sees it; of several pages the first one
 * @size:	bytes
 * @pages:	the table of its pages, if they are several; NULL: it is in one piece
 * @dir:	direction of the DMA
 * @cpu:	a bit for each piece: 1: the CPU has it, 0: the device has it
 */
struct krping_mapping {
	const void *owner;
	struct ib_device *dev;
	const void *addr;
	u64 dma;
	size_t size;
	const struct sg_table *pages;
	enum dma_data_direction dir;
	u64 cpu;
};

/*
 * Guards everything below. The entries are static: a check that allocates would
 * fail just where the debug kernel makes allocations fail.
 */
static DEFINE_SPINLOCK(krping_mappings_lock);
static struct krping_mapping krping_mappings[KRPING_MAPPINGS_MAX];
static unsigned int krping_mappings_top; /* all entries from here on are free */

/* Returns the used entry that follows m, or NULL; for NULL the first one. */
static struct krping_mapping *krping_mapping_next(struct krping_mapping *m)
{
	for (m = m ? m + 1 : krping_mappings;
	     m < krping_mappings + krping_mappings_top; m++)
		if (m->owner)
			return m;
	return NULL;
}

#define krping_mapping_for_each(m) \
	for (m = krping_mapping_next(NULL); m; m = krping_mapping_next(m))

/* Called without the lock, since this prints much. */
static void krping_mapping_complain(const char *what, size_t size, u64 dma,
				    const char *why)
{
	if (why)
		WARN(1, "krping DMA check: %s of %zu bytes at 0x%llx: %s\n",
		     what, size, dma, why);
}

static void krping_mapping_trim(void)
{
	while (krping_mappings_top &&
	       !krping_mappings[krping_mappings_top - 1].owner)
		krping_mappings_top--;
}

static const char *krping_mapping_memory(const void *addr, size_t size,
					 enum dma_data_direction dir)
{
	if (!size)
		return "there is nothing to map";
	if (!valid_dma_direction(dir))
		return "that is no direction";
	if (object_is_on_stack(addr))
		return "that is the stack";
	if (is_vmalloc_addr(addr))
		return "that is memory of vmalloc";
	if (!virt_addr_valid(addr) || !virt_addr_valid(addr + size - 1))
		return "that is not memory of the linear map";
	if (dir != DMA_TO_DEVICE &&
	    !IS_ALIGNED((unsigned long)addr | size, SMP_CACHE_BYTES))
		return "the device writes it, and it shares a cache line";
	return NULL;
}

static bool krping_mapping_meets(const struct krping_mapping *m,
				 const void *addr, size_t size)
{
	struct scatterlist *sg;
	unsigned int i;

	if (!m->pages)
		return addr < m->addr + m->size && m->addr < addr + size;
	for_each_sg(m->pages->sgl, sg, m->pages->orig_nents, i) {
		if (addr < sg_virt(sg) + sg->length &&
		    sg_virt(sg) < addr + size)
			return true;
	}
	return false;
}

/*
 * Of two that have several pages only the first one of one is looked for in the other
 * one: all would be a quarter of a million comparisons, with interrupts off.
 */
static bool krping_mappings_meet(const struct krping_mapping *a,
				 const struct krping_mapping *b)
{
	if (b->pages)
		swap(a, b);
	return krping_mapping_meets(a, b->addr,
				    b->pages ? b->pages->sgl->length : b->size);
}

/* What is wrong with memory that is to be mapped, or NULL. */
static const char *krping_mapping_bad(const struct krping_mapping *m)
{
	const char *why = NULL;
	struct scatterlist *sg;
	unsigned int i;

	if (!m->pages)
		return krping_mapping_memory(m->addr, m->size, m->dir);
	for_each_sg(m->pages->sgl, sg, m->pages->orig_nents, i)
		why = why   ?:
			      krping_mapping_memory(sg_virt(sg), sg->length,
						    m->dir);
	return why;
}

static const char *krping_mapping_add(const struct krping_mapping *new)
{
	const char *why = krping_mapping_bad(new);
	struct krping_mapping *m, *free = NULL;

	krping_mapping_for_each(m) {
		if (!krping_mappings_meet(m, new))
			continue;
		if (m->dir != DMA_TO_DEVICE || new->dir != DMA_TO_DEVICE)
			why = why ?: "it is mapped already, and a device writes it";
	}

	for (m = krping_mappings; m < krping_mappings + KRPING_MAPPINGS_MAX;
	     m++)
		if (!m->owner) {
			free = m;
			break;
		}
	if (!free)
		return why ?: "the table of mappings is full";
	*free = *new;
	krping_mappings_top = max_t(unsigned int, krping_mappings_top,
				    free - krping_mappings + 1);
	return why;
}

static void krping_mapping_new(const struct krping_mapping *new)
{
	unsigned long flags;
	const char *why;

	spin_lock_irqsave(&krping_mappings_lock, flags);
	why = krping_mapping_add(new);
	spin_unlock_irqrestore(&krping_mappings_lock, flags);
	krping_mapping_complain("mapping", new->size, new->dma, why);
}

/**
 * krping_dma_check_map - memory was mapped
 * @owner: the mapping's owner
 * @dev: the device
 * @addr: where the CPU sees it
 * @dma: where the device sees it
 * @size: bytes
 * @dir: direction of the DMA
 *
 * Context: any.
 */
void krping_dma_check_map(const void *owner, struct ib_device *dev,
			  const void *addr, u64 dma, size_t size,
			  enum dma_data_direction dir)
{
	const struct krping_mapping new = {
		.owner = owner,
		.dev = dev,
		.addr = addr,
		.dma = dma,
		.size = size,
		.dir = dir,
	};

	krping_mapping_new(&new);
}

static size_t krping_pages_size(const struct sg_table *pages)
{
	const struct scatterlist *sg;
	size_t size = 0;
	unsigned int i;

	for_each_sg(pages->sgl, sg, pages->orig_nents, i)
		size += sg->length;
	return size;
}

/**
 * krping_dma_check_map_pages - a table of pages was mapped
 * @owner: the mapping's owner
 * @dev: the device
 * @pages: the table, which does not change until it is unmapped
 * @dir: direction of the DMA
 *
 * Context: any.
 */
void krping_dma_check_map_pages(const void *owner, struct ib_device *dev,
				const struct sg_table *pages,
				enum dma_data_direction dir)
{
	const struct krping_mapping new = {
		.owner = owner,
		.dev = dev,
		.addr = sg_virt(pages->sgl),
		.dma = sg_dma_address(pages->sgl),
		.size = krping_pages_size(pages),
		.pages = pages->orig_nents > 1 ? pages : NULL,
		.dir = dir,
	};

	krping_mapping_new(&new);
}

static const char *krping_mapping_remove(struct ib_device *dev, u64 dma,
					 size_t size,
					 enum dma_data_direction dir)
{
	struct krping_mapping *m, *found = NULL;
	const char *why = NULL;

	/* Memory that is only read can be mapped twice: take the match. */
	krping_mapping_for_each(m) {
		if (m->dma != dma)
			continue;
		if (!found ||
		    (m->dev == dev && m->size == size && m->dir == dir))
			found = m;
	}
	if (!found)
		return "it is not mapped";
	if (found->dev != dev)
		why = "it is mapped for another device";
	else if (found->size != size)
		why = "it is mapped with another size";
	else if (found->dir != dir)
		why = "it is mapped for another direction";
	found->owner = NULL;
	krping_mapping_trim();
	return why;
}

/**
 * krping_dma_check_unmap - memory is about to be unmapped
 * @dev: the device
 * @dma: where the device sees it
 * @size: bytes
 * @dir: direction of the DMA
 *
 * All arguments have to be those of the mapping.
 *
 * Context: any.
 */
void krping_dma_check_unmap(struct ib_device *dev, u64 dma, size_t size,
			    enum dma_data_direction dir)
{
	unsigned long flags;
	const char *why;

	spin_lock_irqsave(&krping_mappings_lock, flags);
	why = krping_mapping_remove(dev, dma, size, dir);
	spin_unlock_irqrestore(&krping_mappings_lock, flags);
	krping_mapping_complain("unmapping", size, dma, why);
}

/**
 * krping_dma_check_unmap_pages - a table of pages is about to be unmapped
 * @dev: the device
 * @pages: the table
 * @dir: direction of the DMA
 *
 * Context: any.
 */
void krping_dma_check_unmap_pages(struct ib_device *dev,
				  const struct sg_table *pages,
				  enum dma_data_direction dir)
{
	krping_dma_check_unmap(dev, sg_dma_address(pages->sgl),
			       krping_pages_size(pages), dir);
}

/* Are these bytes in a mapping, and which ones? */
static bool krping_mapping_has(const struct krping_mapping *m, u64 dma,
			       size_t size, size_t *offset)
{
	struct scatterlist *sg;
	size_t before = 0;
	unsigned int i;

	if (!m->pages) {
		*offset = dma - m->dma;
		return dma >= m->dma && *offset < m->size &&
		       size <= m->size - *offset;
	}
	for_each_sg(m->pages->sgl, sg, m->pages->nents, i) {
		*offset = dma - sg_dma_address(sg);
		if (dma >= sg_dma_address(sg) && *offset < sg_dma_len(sg)) {
			/*
			 * A region of several pages is named by its first byte, as
			 * if they were contiguous.
			 */
			*offset += before;
			return size <= (i ? before + sg_dma_len(sg) : m->size) -
					       *offset;
		}
		before += sg_dma_len(sg);
	}
	return false;
}

/* Returns the mapping that contains all these bytes, and which ones, or NULL. */
static struct krping_mapping *krping_mapping_find(struct ib_device *dev,
						  u64 dma, size_t size,
						  size_t *offset)
{
	struct krping_mapping *m;

	krping_mapping_for_each(m)
		if (m->dev == dev && krping_mapping_has(m, dma, size, offset))
			return m;
	return NULL;
}

/* Returns the bits of krping_mapping.cpu for these bytes; size is not 0. */
static u64 krping_mapping_pieces(const struct krping_mapping *m, size_t offset,
				 size_t size)
{
	size_t piece = DIV_ROUND_UP(m->size, KRPING_MAPPING_PIECES);

	return GENMASK_ULL((offset + size - 1) / piece, offset / piece);
}

static const char *krping_mapping_sync(struct ib_device *dev, u64 dma,
				       size_t size, enum dma_data_direction dir,
				       bool for_cpu)
{
	size_t offset;
	struct krping_mapping *m = krping_mapping_find(dev, dma, size, &offset);
	const char *why = NULL;
	u64 pieces;

	if (!m)
		return "it is not within a mapping for the device";
	if (!size)
		return "there is nothing to sync";
	pieces = krping_mapping_pieces(m, offset, size);
	if (m->dir != DMA_BIDIRECTIONAL && m->dir != dir)
		why = "it is mapped for another direction";
	else if (for_cpu && (m->cpu & pieces))
		why = "the CPU has it already";
	else if (!for_cpu && (m->cpu & pieces) != pieces)
		why = "the device has it already";
	if (for_cpu)
		m->cpu |= pieces;
	else
		m->cpu &= ~pieces;
	return why;
}

/**
 * krping_dma_check_for_cpu - memory is about to be given to the CPU
 * @dev: the device
 * @dma: where the device sees it
 * @size: bytes
 * @dir: direction of the DMA
 *
 * Context: any.
 */
void krping_dma_check_for_cpu(struct ib_device *dev, u64 dma, size_t size,
			      enum dma_data_direction dir)
{
	unsigned long flags;
	const char *why;

	spin_lock_irqsave(&krping_mappings_lock, flags);
	why = krping_mapping_sync(dev, dma, size, dir, true);
	spin_unlock_irqrestore(&krping_mappings_lock, flags);
	krping_mapping_complain("sync for the CPU", size, dma, why);
}

/**
 * krping_dma_check_for_device - memory is about to be given back to the device
 * @dev: the device
 * @dma: where the device sees it
 * @size: bytes
 * @dir: direction of the DMA
 *
 * Context: any.
 */
void krping_dma_check_for_device(struct ib_device *dev, u64 dma, size_t size,
				 enum dma_data_direction dir)
{
	unsigned long flags;
	const char *why;

	spin_lock_irqsave(&krping_mappings_lock, flags);
	why = krping_mapping_sync(dev, dma, size, dir, false);
	spin_unlock_irqrestore(&krping_mappings_lock, flags);
	krping_mapping_complain("sync for the device", size, dma, why);
}

/**
 * krping_dma_check_pages_for_cpu - a table of pages is about to be given to the CPU
 * @dev: the device
 * @pages: the table
 * @dir: direction of the DMA
 *
 * Context: any.
 */
void krping_dma_check_pages_for_cpu(struct ib_device *dev,
				    const struct sg_table *pages,
				    enum dma_data_direction dir)
{
	krping_dma_check_for_cpu(dev, sg_dma_address(pages->sgl),
				 krping_pages_size(pages), dir);
}

/**
 * krping_dma_check_pages_for_device - a table of pages is about to be given back to
 * the device
 * @dev: the device
 * @pages: the table
 * @dir: direction of the DMA
 *
 * Context: any.
 */
void krping_dma_check_pages_for_device(struct ib_device *dev,
				       const struct sg_table *pages,
				       enum dma_data_direction dir)
{
	krping_dma_check_for_device(dev, sg_dma_address(pages->sgl),
				    krping_pages_size(pages), dir);
}

/* Checks bytes that the device will read, or write, or both. */
static const char *krping_mapping_used(struct ib_device *dev, u64 dma,
				       size_t size, bool reads, bool writes)
{
	size_t offset;
	struct krping_mapping *m = krping_mapping_find(dev, dma, size, &offset);

	if (!m)
		return "it is not within a mapping for the device";
	if (!size)
		return "there is nothing to move";
	if (reads && m->dir == DMA_FROM_DEVICE)
		return "the device would read it, and it is mapped to be written";
	if (writes && m->dir == DMA_TO_DEVICE)
		return "the device would write it, and it is mapped to be read";
	if (m->cpu & krping_mapping_pieces(m, offset, size))
		return "the CPU has it";
	return NULL;
}

static void krping_mapping_use(const char *what, struct ib_device *dev, u64 dma,
			       size_t size, bool reads, bool writes)
{
	unsigned long flags;
	const char *why;

	spin_lock_irqsave(&krping_mappings_lock, flags);
	why = krping_mapping_used(dev, dma, size, reads, writes);
	spin_unlock_irqrestore(&krping_mappings_lock, flags);
	krping_mapping_complain(what, size, dma, why);
}

/*
 * If the registration gives the peer a right, the peer can use the memory as
 * soon as it knows the key, so the memory has to belong to the device now. The
 * same holds for the device's own use of the key in the requests behind this
 * one.
 */
static void krping_mapping_reg(struct ib_device *dev,
			       const struct ib_reg_wr *reg)
{
	bool writes = reg->access &
		      (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	/* Local reads are always allowed; no access flags mean only these. */
	bool reads = (reg->access & IB_ACCESS_REMOTE_READ) || !writes;

	krping_mapping_use("a registration", dev, reg->mr->iova,
			   reg->mr->length, reads, writes);
}

/**
 * krping_dma_check_send - requests are about to be posted to a send queue
 * @dev: the device
 * @wr: the first request
 *
 * A scatter/gather entry has a DMA address even if its key is that of a memory
 * region: the module makes every region begin at its DMA address.
 *
 * Context: any.
 */
void krping_dma_check_send(struct ib_device *dev, const struct ib_send_wr *wr)
{
	for (; wr; wr = wr->next) {
		const char *what = "the sink of a request";
		bool reads = false;
		int i;

		switch (wr->opcode) {
		case IB_WR_REG_MR:
			krping_mapping_reg(dev, reg_wr(wr));
			continue;
		case IB_WR_SEND:
		case IB_WR_SEND_WITH_IMM:
		case IB_WR_SEND_WITH_INV:
		case IB_WR_RDMA_WRITE:
		case IB_WR_RDMA_WRITE_WITH_IMM:
			/* The CPU copies inline data while it posts. */
			if (wr->send_flags & IB_SEND_INLINE)
				continue;
			what = "the source of a request";
			reads = true;
			break;
		default:
			break;
		}
		for (i = 0; i < wr->num_sge; i++)
			krping_mapping_use(what, dev, wr->sg_list[i].addr,
					   wr->sg_list[i].length, reads,
					   !reads);
	}
}

/**
 * krping_dma_check_recv - requests are about to be posted to a receive queue
 * @dev: the device
 * @wr: the first request
 *
 * Context: any.
 */
void krping_dma_check_recv(struct ib_device *dev, const struct ib_recv_wr *wr)
{
	int i;

	for (; wr; wr = wr->next)
		for (i = 0; i < wr->num_sge; i++)
			krping_mapping_use("the buffer of a RECV", dev,
					   wr->sg_list[i].addr,
					   wr->sg_list[i].length, false, true);
}

/**
 * krping_dma_check_end - an owner should have no mappings any more
 * @owner: the owner; NULL: all owners
 *
 * Context: any.
 */
void krping_dma_check_end(const void *owner)
{
	struct krping_mapping *m, left = {};
	unsigned int nr = 0;
	unsigned long flags;

	spin_lock_irqsave(&krping_mappings_lock, flags);
	krping_mapping_for_each(m) {
		if (owner && m->owner != owner)
			continue;
		if (!nr++)
			left = *m;
		m->owner = NULL;
	}
	krping_mapping_trim();
	spin_unlock_irqrestore(&krping_mappings_lock, flags);
	if (nr)
		WARN(1,
		     "krping DMA check: mappings left: %u, the first of %zu bytes at 0x%llx\n",
		     nr, left.size, left.dma);
}
