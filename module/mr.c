// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Buffers, and the memory region that fast registration maps onto them.
 *
 * A memory region is FREE or VALID. REG_MR makes it valid under a new key,
 * LOCAL_INV, READ_WITH_INV and the peer's SEND_WITH_INV make it free. The ledger
 * has the state after all requests posted so far, so that
 *
 *	REG_MR = LOCAL_INV + READ_WITH_INV + SEND_WITH_INV + valid when freed
 *
 * holds for every region, whatever happens to the connection. Tools check it.
 */
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "dbg.h"
#include "krping_trace.h"
#include "mr_trace.h"
#include "mr.h"
#include "phase.h"
#include "record.h"
#include "sq.h"
#include "verdict.h"
#include "wait.h"

/*
 * Large buffers are made of single pages, so that they do not fail because memory is in
 * small pieces. Where there is too little of it the run fails, and nobody is killed for it.
 */
#define KRPING_PAGE_GFP \
	(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

static int krping_buf_single_pages(struct krping_buf *buf)
{
	unsigned int i, nr = buf->bytes / PAGE_SIZE;

	buf->pages = kvcalloc(nr, sizeof(*buf->pages), GFP_KERNEL);
	if (!buf->pages)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		buf->pages[i] = alloc_page(KRPING_PAGE_GFP);
		if (!buf->pages[i])
			return -ENOMEM;
	}
	buf->base = vmap(buf->pages, nr, VM_MAP, PAGE_KERNEL);
	return buf->base ? 0 : -ENOMEM;
}

/* Whole pages: no other data shares a page that a peer may write. */
static int krping_buf_memory(struct krping_buf *buf)
{
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	if (buf->size > KRPING_SIZE_CONTIGUOUS) {
		ret = krping_buf_single_pages(buf);
	} else {
		buf->base =
			alloc_pages_exact(buf->bytes, GFP_KERNEL | __GFP_ZERO |
							      __GFP_NOWARN);
		ret = buf->base ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = sg_alloc_table(&buf->mem,
				     buf->pages ? buf->bytes / PAGE_SIZE : 1,
				     GFP_KERNEL);
	if (ret)
		return ret;
	/* Whole pages here, too: a bounce buffer below one is not page-aligned. */
	for_each_sgtable_sg(&buf->mem, sg, i)
		if (buf->pages)
			sg_set_page(sg, buf->pages[i], PAGE_SIZE, 0);
		else
			sg_set_buf(sg, buf->base, buf->bytes);
	return 0;
}

/*
 * What a registration takes is a copy, from the first byte on, since the mapping itself
 * has to stay as the DMA API made it. The copy's first entry begins at the offset:
 * ib_map_mr_sg() has an argument for that, but siw ignores it when it moves data.
 */
static int krping_buf_segments(struct krping_buf *buf, u32 offset)
{
	struct scatterlist *from, *to = NULL;
	unsigned int i;
	int ret = sg_alloc_table(&buf->segs, buf->mem.nents, GFP_KERNEL);

	if (ret)
		return ret;
	for_each_sgtable_dma_sg(&buf->mem, from, i) {
		to = to ? sg_next(to) : buf->segs.sgl;
		sg_dma_address(to) = sg_dma_address(from);
		sg_dma_len(to) = sg_dma_len(from);
	}
	to = buf->segs.sgl;
	sg_dma_address(to) += offset;
	sg_dma_len(to) -= offset;
	buf->dma = sg_dma_address(to);
	return 0;
}

/**
 * krping_buf_alloc - allocate a buffer and map it for the run's device
 * @ep: the endpoint
 * @buf: the buffer, zeroed
 * @size: bytes
 * @dir: direction of the DMA
 *
 * A buffer has whole pages, so that no other data shares a page that a peer may
 * write, and begins krping_ep.offset bytes into the first one. Up to
 * KRPING_SIZE_CONTIGUOUS bytes they are contiguous.
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno that is also the run's cause.
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
		return krping_fail(ep->verdict, ret,
				   "allocating a buffer of %zu bytes", size);
	buf->addr = buf->base + ep->offset;
	if (ib_dma_map_sgtable_attrs(ep->dev, &buf->mem, dir, 0))
		return krping_fail(ep->verdict, -ENOMEM,
				   "mapping a buffer of %zu bytes: error %pe",
				   size, ERR_PTR(-ENOMEM));
	buf->mapped = true;
	ret = krping_buf_segments(buf, ep->offset);
	if (ret)
		return krping_fail(ep->verdict, ret,
				   "allocating a buffer of %zu bytes", size);
	return 0;
}

/**
 * krping_buf_part - name a part of a buffer, to register that alone
 * @ep: the endpoint
 * @part: receives it, zeroed; krping_buf_free() gives it back, and not the memory
 * @buf: the buffer, contiguous and mapped; it lives longer
 * @at: offset of the part, which goes on to the end
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_buf_part(struct krping_ep *ep, struct krping_buf *part,
		    const struct krping_buf *buf, size_t at)
{
	if (sg_alloc_table(&part->segs, 1, GFP_KERNEL))
		return krping_fail(ep->verdict, -ENOMEM,
				   "allocating a part of a buffer");
	part->addr = buf->addr + at;
	part->dma = buf->dma + at;
	part->size = buf->size - at;
	part->dir = buf->dir;
	sg_dma_address(part->segs.sgl) = part->dma;
	sg_dma_len(part->segs.sgl) = part->size;
	return 0;
}

static void krping_buf_free_pages(struct krping_buf *buf)
{
	unsigned int i, nr = buf->bytes / PAGE_SIZE;

	if (buf->base)
		vunmap(buf->base);
	for (i = 0; i < nr && buf->pages[i]; i++)
		__free_page(buf->pages[i]);
	kvfree(buf->pages);
	buf->pages = NULL;
}

/**
 * krping_buf_free - unmap and free a buffer, if there is one
 * @ep: the endpoint
 * @buf: the buffer
 *
 * Context: the run's thread; sleeps.
 */
void krping_buf_free(struct krping_ep *ep, struct krping_buf *buf)
{
	if (buf->mapped)
		ib_dma_unmap_sgtable_attrs(ep->dev, &buf->mem, buf->dir, 0);
	buf->mapped = false;
	sg_free_table(&buf->segs);
	sg_free_table(&buf->mem);
	if (buf->pages)
		krping_buf_free_pages(buf);
	else if (buf->base)
		free_pages_exact(buf->base, buf->bytes);
	buf->base = NULL;
	buf->addr = NULL;
}

/*
 * The core has no sync of a table of pages. A device in software needs none.
 *
 * Single pages have two kernel addresses, and the DMA API knows only the one that the
 * CPU does not use here. Where caches are virtual, the other one's lines have to be
 * taken care of; everywhere else these calls are nothing.
 */
static noinline void krping_pages_for_cpu(struct krping_ep *ep,
					  struct krping_buf *buf)
{
	if (!ib_uses_virt_dma(ep->dev))
		dma_sync_sgtable_for_cpu(ep->dev->dma_device, &buf->mem,
					 buf->dir);
	invalidate_kernel_vmap_range(buf->base, buf->bytes);
}

static noinline void krping_pages_for_device(struct krping_ep *ep,
					     struct krping_buf *buf)
{
	flush_kernel_vmap_range(buf->base, buf->bytes);
	if (!ib_uses_virt_dma(ep->dev))
		dma_sync_sgtable_for_device(ep->dev->dma_device, &buf->mem,
					    buf->dir);
}

/**
 * krping_buf_for_cpu - give a buffer to the CPU before it reads or writes it
 * @ep: the endpoint
 * @buf: the buffer, mapped
 */
void krping_buf_for_cpu(struct krping_ep *ep, struct krping_buf *buf)
{
	if (unlikely(buf->pages))
		krping_pages_for_cpu(ep, buf);
	else
		ib_dma_sync_single_for_cpu(ep->dev, buf->dma, buf->size,
					   buf->dir);
}

/**
 * krping_buf_for_device - give a buffer to the device before it is used there
 * @ep: the endpoint
 * @buf: the buffer, mapped
 */
void krping_buf_for_device(struct krping_ep *ep, struct krping_buf *buf)
{
	if (unlikely(buf->pages))
		krping_pages_for_device(ep, buf);
	else
		ib_dma_sync_single_for_device(ep->dev, buf->dma, buf->size,
					      buf->dir);
}

/* Remembered, since a test that looks at a byte looks again and again. */
static noinline u64 krping_buf_find(struct krping_buf *buf, size_t at)
{
	struct scatterlist *sg;
	size_t left = at;
	unsigned int i;

	if (buf->spot_dma && buf->spot == at)
		return buf->spot_dma;
	for_each_sgtable_dma_sg(&buf->segs, sg, i) {
		if (left < sg_dma_len(sg)) {
			buf->spot = at;
			buf->spot_dma = sg_dma_address(sg) + left;
			break;
		}
		left -= sg_dma_len(sg);
	}
	return buf->spot_dma;
}

static u64 krping_buf_dma_at(struct krping_buf *buf, size_t at)
{
	return unlikely(buf->pages) ? krping_buf_find(buf, at) : buf->dma + at;
}

/**
 * krping_buf_peek - look at a byte that the device may be writing
 * @ep: the endpoint
 * @buf: the buffer, mapped and the device's, which it stays
 * @at: offset of the byte
 *
 * Context: the run's thread.
 * Return: the byte.
 */
u8 krping_buf_peek(struct krping_ep *ep, struct krping_buf *buf, size_t at)
{
	u64 dma = krping_buf_dma_at(buf, at);
	u8 value;

	ib_dma_sync_single_for_cpu(ep->dev, dma, 1, buf->dir);
	if (unlikely(buf->pages))
		invalidate_kernel_vmap_range(buf->addr + at, 1);
	value = READ_ONCE(((u8 *)buf->addr)[at]);
	ib_dma_sync_single_for_device(ep->dev, dma, 1, buf->dir);
	return value;
}

/**
 * krping_buf_poke - change a byte of a buffer that the device is going to send
 * @ep: the endpoint
 * @buf: the buffer, mapped; no request uses it
 * @at: offset of the byte
 * @value: its new value
 *
 * Context: the run's thread.
 */
void krping_buf_poke(struct krping_ep *ep, struct krping_buf *buf, size_t at,
		     u8 value)
{
	u64 dma = krping_buf_dma_at(buf, at);

	ib_dma_sync_single_for_cpu(ep->dev, dma, 1, buf->dir);
	((u8 *)buf->addr)[at] = value;
	if (unlikely(buf->pages))
		flush_kernel_vmap_range(buf->addr + at, 1);
	ib_dma_sync_single_for_device(ep->dev, dma, 1, buf->dir);
}

/**
 * krping_mr_alloc - allocate a memory region
 * @ep: the endpoint
 * @mr: the region, zeroed
 * @size: bytes of the largest buffer it will be mapped onto
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_mr_alloc(struct krping_ep *ep, struct krping_mr *mr, size_t size)
{
	u32 pages = krping_ep_pages(ep, size);
	u32 max = ep->dev->attrs.max_fast_reg_page_list_len;
	int ret;

	if (pages > max)
		return krping_fail(ep->verdict, -EOPNOTSUPP,
				   "%u pages in one registration, the device can %u",
				   pages, max);
	mr->mr = ib_alloc_mr(ep->pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr->mr)) {
		ret = PTR_ERR(mr->mr);
		mr->mr = NULL;
		return krping_fail(ep->verdict, ret,
				   "allocating an MR: error %pe", ERR_PTR(ret));
	}
	mr->state = KRPING_MR_FREE;
	return 0;
}

/**
 * krping_mr_free - free a memory region, if there is one
 * @ep: the endpoint; its queue pair is gone, so that nothing uses the region
 * @mr: the region
 *
 * Context: the run's thread; sleeps.
 */
void krping_mr_free(struct krping_ep *ep, struct krping_mr *mr)
{
	u32 bad = READ_ONCE(ep->sq_bad);

	if (!mr->mr)
		return;
	/* Its last REG_MR came at or after the first request that failed. */
	if (mr->state == KRPING_MR_VALID && mr->used && bad &&
	    (s32)(mr->reg_seq + 1 - bad) >= 0)
		mr->state = KRPING_MR_FLUSHED;
	krping_trace(mr_dereg, ep->rec->id, mr->mr->res.id, mr->mr->rkey,
		     mr->state);
	krping_memory_step(ep, KRPING_STEP_DEREG, mr->state, 0, mr->mr->rkey);
	ib_dereg_mr(mr->mr);
	mr->mr = NULL;
	mr->state = KRPING_MR_FREE;
}

/**
 * krping_mr_outlives - a memory region stays when its endpoint goes
 * @mr: the region; all its requests have completed
 *
 * Another endpoint, of the same run and device, frees it.
 *
 * Context: the run's thread.
 */
void krping_mr_outlives(struct krping_mr *mr)
{
	mr->used = false;
}

static noinline void krping_trace_inv(struct krping_ep *ep,
				      struct krping_mr *mr,
				      const struct krping_wr *wr)
{
	krping_trace(mr_localinv, ep->rec->id, mr->mr->res.id, wr->cid,
		     mr->mr->rkey, mr->state == KRPING_MR_VALID);
	krping_memory_step(ep, KRPING_STEP_LOCAL_INV,
			   mr->state == KRPING_MR_VALID, 0, mr->mr->rkey);
}

static __always_inline struct krping_wr *krping_chain_inv(
	struct krping_ep *ep, struct krping_mr *mr, struct krping_chain *chain,
	bool fence)
{
	struct krping_wr *wr = krping_chain_add(ep, chain, KRPING_WR_LOCAL_INV);

	wr->send.ex.invalidate_rkey = mr->mr->rkey;
	if (fence)
		krping_wr_fence(wr);
	WRITE_ONCE(ep->rec->localinv, ep->rec->localinv + 1);
	if (krping_wants(regions))
		krping_trace_inv(ep, mr, wr);
	mr->state = KRPING_MR_FREE;
	mr->last_seq = wr->seq;
	return wr;
}

/**
 * krping_mr_chain_inv - append a LOCAL_INV of a region's key to a chain
 * @ep: the endpoint
 * @mr: the region
 * @chain: the chain
 * @fence: execute it only after the READs before it are complete
 *
 * Context: the run's thread.
 * Return: the request, not signalled.
 */
struct krping_wr *krping_mr_chain_inv(struct krping_ep *ep,
				      struct krping_mr *mr,
				      struct krping_chain *chain, bool fence)
{
	return krping_chain_inv(ep, mr, chain, fence);
}

/**
 * struct krping_part - the beginning of a buffer, as ib_map_mr_sg() takes it
 * @last:	the last entry that is in it
 * @nr:		number of its entries
 * @whole:	length of @last in the buffer, of which the part may have less
 */
struct krping_part {
	struct scatterlist *last;
	int nr;
	u32 whole;
};

/* Shorten the list of a buffer's segments to so many bytes, until krping_part_end(). */
static __always_inline void krping_part_begin(struct krping_part *part,
					      struct krping_buf *buf, u32 len)
{
	struct scatterlist *sg = buf->segs.sgl;

	for (part->nr = 1; unlikely(len > sg_dma_len(sg)); part->nr++) {
		len -= sg_dma_len(sg);
		sg = sg_next(sg);
	}
	part->last = sg;
	part->whole = sg_dma_len(sg);
	sg_dma_len(sg) = len;
}

static __always_inline void krping_part_end(const struct krping_part *part)
{
	sg_dma_len(part->last) = part->whole;
}

/* Out of line: a registration that nobody watches does not pay for events. */
static noinline int krping_map_watched(struct krping_ep *ep,
				       struct krping_mr *mr,
				       struct scatterlist *sg, int entries,
				       u32 len, u64 *ns)
{
	u64 t;
	int nr;

	if (!trace_krping_mr_map_enabled() && !trace_krping_mr_done_enabled() &&
	    !trace_krping_iter_memory_enabled())
		return ib_map_mr_sg(mr->mr, sg, entries, NULL, PAGE_SIZE);
	t = ktime_get_ns();
	nr = ib_map_mr_sg(mr->mr, sg, entries, NULL, PAGE_SIZE);
	*ns = ktime_get_ns() - t;
	krping_trace(mr_map, ep->rec->id, t, mr->mr->res.id,
		     krping_ep_pages(ep, len), len, *ns, nr < 0 ? nr : 0);
	if (nr < 0)
		krping_memory_map_failed(ep, krping_ep_pages(ep, len), *ns);
	return nr;
}

static noinline void krping_trace_fastreg(struct krping_ep *ep,
					  struct krping_mr *mr,
					  const struct krping_wr *wr,
					  u32 old_key)
{
	krping_trace(mr_fastreg, ep->rec->id, mr->mr->res.id, wr->cid, old_key,
		     wr->reg.key, krping_ep_pages(ep, wr->len), wr->len,
		     wr->reg.access, mr->state == KRPING_MR_VALID);
	krping_memory_step(ep, KRPING_STEP_REG, mr->state == KRPING_MR_VALID,
			   krping_ep_pages(ep, wr->len), wr->reg.key);
}

/*
 * The device may still be working on the region's last request, and reads the
 * region's list of pages when it executes that: it must not change meanwhile.
 */
static int krping_mr_retired(struct krping_ep *ep, const struct krping_mr *mr)
{
	int ret = 0;

	if (mr->used)
		ret = krping_wait_seq(ep, mr->last_seq);
	return ret < 0 ? ret : 0;
}

/**
 * krping_mr_chain_reg - append the registration of a buffer, under a new key
 * @ep: the endpoint
 * @mr: the region; a signalled request was posted behind its last one
 * @chain: the chain
 * @buf: the buffer, mapped
 * @len: bytes of it, from its beginning
 * @access: IB_ACCESS_* flags
 * @key: receives how to name the buffer, once the chain is posted
 *
 * Appends REG_MR, and LOCAL_INV of the old key before it if that key is still
 * valid. Neither is signalled. From then on the region has its new key.
 *
 * Context: the run's thread; may sleep until the last request of the region has
 * completed.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_mr_chain_reg(struct krping_ep *ep, struct krping_mr *mr,
			struct krping_chain *chain, struct krping_buf *buf,
			u32 len, int access, struct krping_key *key)
{
	bool was_valid = mr->state == KRPING_MR_VALID;
	u32 old_key = mr->mr->rkey;
	struct krping_part part;
	struct krping_wr *wr;
	u64 map_ns = 0;
	int nr, ret;

	ret = krping_mr_retired(ep, mr);
	if (ret)
		return ret;
	krping_part_begin(&part, buf, len);
	if (krping_wants(regions))
		nr = krping_map_watched(ep, mr, buf->segs.sgl, part.nr, len,
					&map_ns);
	else
		nr = ib_map_mr_sg(mr->mr, buf->segs.sgl, part.nr, NULL,
				  PAGE_SIZE);
	krping_part_end(&part);
	if (nr < 0)
		return krping_fail(ep->verdict, nr == -ENOMEM ? nr : -EIO,
				   "mapping %u bytes onto an MR: error %d", len,
				   nr);
	if (nr != part.nr || mr->mr->length != len)
		return krping_fail(ep->verdict, -EIO,
				   "mapping %u bytes onto an MR: %d entries, %llu bytes",
				   len, nr, (u64)mr->mr->length);

	if (was_valid)
		krping_chain_inv(ep, mr, chain, false);
	ib_update_fast_reg_key(mr->mr, ++mr->key);
	wr = krping_chain_add(ep, chain, KRPING_WR_REG_MR);
	wr->len = len;
	wr->map_ns = map_ns;
	wr->reg.mr = mr->mr;
	wr->reg.key = mr->mr->rkey;
	wr->reg.access = access;
	WRITE_ONCE(ep->rec->fastreg, ep->rec->fastreg + 1);
	if (krping_wants(regions))
		krping_trace_fastreg(ep, mr, wr, old_key);
	krping_dbg(ep->rec->id,
		   "post_inv = %d, reg_mr new rkey 0x%x pgsz %u len %u iova_start %llx",
		   was_valid, wr->reg.key, mr->mr->page_size, len,
		   mr->mr->iova);
	mr->state = KRPING_MR_VALID;
	mr->reg_seq = wr->seq;
	mr->last_seq = wr->seq;
	mr->used = true;
	key->addr = mr->mr->iova;
	key->lkey = mr->mr->lkey;
	key->rkey = mr->mr->rkey;
	return 0;
}

static noinline void krping_trace_read_inv(struct krping_ep *ep,
					   struct krping_mr *mr,
					   const struct krping_wr *wr)
{
	krping_trace(mr_readinv, ep->rec->id, mr->mr->res.id, wr->cid,
		     mr->mr->rkey, mr->state == KRPING_MR_VALID);
	krping_memory_step(ep, KRPING_STEP_READ_INV,
			   mr->state == KRPING_MR_VALID, 0, mr->mr->rkey);
}

/**
 * krping_mr_read_inv - a READ invalidates the key of its sink when it completes
 * @ep: the endpoint
 * @mr: the region of the sink
 * @wr: the READ_WITH_INV, which is going to be posted
 *
 * Context: the run's thread.
 */
void krping_mr_read_inv(struct krping_ep *ep, struct krping_mr *mr,
			struct krping_wr *wr)
{
	wr->send.ex.invalidate_rkey = mr->mr->rkey;
	WRITE_ONCE(ep->rec->readinv, ep->rec->readinv + 1);
	if (krping_wants(regions))
		krping_trace_read_inv(ep, mr, wr);
	mr->state = KRPING_MR_FREE;
	mr->last_seq = wr->seq;
}

/**
 * krping_buf_key - name a buffer by the keys that the PD has for all memory
 * @ep: the endpoint
 * @buf: the buffer, mapped, of contiguous pages: a key of all memory has no list of
 *	them
 * @access: IB_ACCESS_* flags that the use needs; with a right of the peer's, the PD
 *	was made with a key for that
 * @key: receives how to name the buffer
 *
 * Context: the run's thread.
 */
void krping_buf_key(const struct krping_ep *ep, const struct krping_buf *buf,
		    int access, struct krping_key *key)
{
	key->addr = buf->dma;
	key->rkey = ep->pd->unsafe_global_rkey;
	/* The sink of an iWARP READ is written like a peer's WRITE (RFC 5040, 5.4). */
	key->lkey = access & IB_ACCESS_REMOTE_WRITE ? key->rkey :
						      ep->pd->local_dma_lkey;
}

static noinline void krping_trace_remote_inv(struct krping_ep *ep,
					     struct krping_mr *mr, u32 cid)
{
	krping_trace(mr_reminv, ep->rec->id, mr->mr->res.id, cid, mr->mr->rkey,
		     mr->state == KRPING_MR_VALID);
	krping_memory_step(ep, KRPING_STEP_REM_INV,
			   mr->state == KRPING_MR_VALID, 0, mr->mr->rkey);
}

/**
 * krping_mr_remote_inv - a message arrived that has to invalidate our key
 * @ep: the endpoint
 * @mr: the region
 * @cid: number of the RECV
 * @has_inv: the message was a SEND_WITH_INV
 * @key: the key that it invalidated
 *
 * Context: the run's thread.
 * Return: 0, or -EPROTO, which is also the run's cause: the message invalidated
 * no key, or another one.
 */
int krping_mr_remote_inv(struct krping_ep *ep, struct krping_mr *mr, u32 cid,
			 bool has_inv, u32 key)
{
	if (!has_inv)
		return krping_fail(ep->verdict, -EPROTO,
				   "the promised invalidation of key 0x%x did not come",
				   mr->mr->rkey);
	if (key != mr->mr->rkey)
		return krping_fail(ep->verdict, -EPROTO,
				   "key 0x%x was invalidated instead of 0x%x",
				   key, mr->mr->rkey);
	WRITE_ONCE(ep->rec->reminv, ep->rec->reminv + 1);
	if (krping_wants(regions))
		krping_trace_remote_inv(ep, mr, cid);
	mr->state = KRPING_MR_FREE;
	return 0;
}
