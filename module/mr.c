// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions, which fast registration maps onto buffers.
 *
 * A memory region is FREE or VALID. REG_MR makes it valid under a new key,
 * LOCAL_INV, READ_WITH_INV and the peer's SEND_WITH_INV make it free. The ledger
 * has the state after all requests posted so far, so that
 *
 *	REG_MR = LOCAL_INV + READ_WITH_INV + SEND_WITH_INV + valid when freed
 *
 * holds for every region, whatever happens to the connection. Tools check it.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include "buf.h"
#include "dbg.h"
#include "krping_trace.h"
#include "mr_trace.h"
#include "mr.h"
#include "phase.h"
#include "record.h"
#include "sq.h"
#include "verdict.h"
#include "wait.h"

/**
 * krping_mr_alloc - allocate a memory region
 * @ep: the endpoint
 * @mr: the region, zeroed
 * @size: bytes of the largest buffer it will be mapped onto
 *
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_mr_alloc(struct krping_ep *ep, struct krping_mr *mr, size_t size)
{
	u32 pages = krping_ep_pages(ep, size);
	u32 max = ep->dev->attrs.max_fast_reg_page_list_len;
	int ret;

	if (pages > max)
		return krping_fail(ep->verdict, -EOPNOTSUPP,
				   "%u pages in one registration, the device can %u", pages, max);
	mr->mr = ib_alloc_mr(ep->pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr->mr)) {
		ret = PTR_ERR(mr->mr);
		mr->mr = NULL;
		return krping_fail(ep->verdict, ret, "allocating an MR: error %pe", ERR_PTR(ret));
	}
	mr->state = KRPING_MR_FREE;
	return 0;
}

/* Free a memory region, if there is one, that no request in flight uses. */
void krping_mr_free(struct krping_ep *ep, struct krping_mr *mr)
{
	u32 bad = READ_ONCE(ep->sq_bad);

	if (!mr->mr)
		return;
	/* Its last REG_MR came at or after the first request that failed. */
	if (mr->state == KRPING_MR_VALID && mr->used && bad && (s32)(mr->reg_seq + 1 - bad) >= 0)
		mr->state = KRPING_MR_FLUSHED;
	krping_trace(mr_dereg, ep->rec->id, mr->mr->res.id, mr->mr->rkey, mr->state);
	krping_memory_step(ep, KRPING_STEP_DEREG, mr->state, 0, mr->mr->rkey);
	ib_dereg_mr(mr->mr);
	mr->mr = NULL;
	mr->state = KRPING_MR_FREE;
}

static noinline void krping_trace_inv(struct krping_ep *ep, struct krping_mr *mr,
				      const struct krping_wr *wr)
{
	krping_trace(mr_localinv, ep->rec->id, mr->mr->res.id, wr->cid, mr->mr->rkey,
		     mr->state == KRPING_MR_VALID);
	krping_memory_step(ep, KRPING_STEP_LOCAL_INV, mr->state == KRPING_MR_VALID, 0,
			   mr->mr->rkey);
}

static __always_inline struct krping_wr *krping_chain_inv(struct krping_ep *ep,
							  struct krping_mr *mr,
							  struct krping_chain *chain, bool fence)
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
 * Return: the request, not signalled.
 */
struct krping_wr *krping_mr_chain_inv(struct krping_ep *ep, struct krping_mr *mr,
				      struct krping_chain *chain, bool fence)
{
	return krping_chain_inv(ep, mr, chain, fence);
}

/**
 * struct krping_part - the first bytes of a buffer, as ib_map_mr_sg() takes them
 * @first:	the first entry of the list, which begins @offset bytes before them
 * @last:	the last entry that has some of them
 * @nr:		number of entries
 * @offset:	see @first
 * @whole:	length of @last in the list
 */
struct krping_part {
	struct scatterlist *first;
	struct scatterlist *last;
	int nr;
	u32 offset;
	u32 whole;
};

/*
 * Cut a buffer's list to these bytes, until krping_part_end(): the DMA API wants its
 * list back as it was. ib_map_mr_sg() has an argument for the offset, but siw ignores it
 * when it moves data.
 */
static __always_inline void krping_part_begin(struct krping_part *part, struct krping_buf *buf,
					      u32 offset, u32 len)
{
	struct scatterlist *sg = buf->mem.sgl;

	part->first = sg;
	part->offset = offset;
	sg_dma_address(sg) += offset;
	sg_dma_len(sg) -= offset;
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
	sg_dma_address(part->first) -= part->offset;
	sg_dma_len(part->first) += part->offset;
}

/* Out of line: a registration that nobody watches does not pay for events. */
static noinline int krping_map_watched(struct krping_ep *ep, struct krping_mr *mr,
				       struct scatterlist *sg, int entries, u32 len, u64 *ns)
{
	u64 t;
	int nr;

	if (!trace_krping_mr_map_enabled() && !trace_krping_mr_done_enabled() &&
	    !trace_krping_iter_memory_enabled())
		return ib_map_mr_sg(mr->mr, sg, entries, NULL, PAGE_SIZE);
	t = ktime_get_ns();
	nr = ib_map_mr_sg(mr->mr, sg, entries, NULL, PAGE_SIZE);
	*ns = ktime_get_ns() - t;
	krping_trace(mr_map, ep->rec->id, t, mr->mr->res.id, krping_ep_pages(ep, len), len, *ns,
		     nr < 0 ? nr : 0);
	if (nr < 0)
		krping_memory_map_failed(ep, krping_ep_pages(ep, len), *ns);
	return nr;
}

static noinline void krping_trace_fastreg(struct krping_ep *ep, struct krping_mr *mr,
					  const struct krping_wr *wr, u32 old_key)
{
	krping_trace(mr_fastreg, ep->rec->id, mr->mr->res.id, wr->cid, old_key, wr->reg.key,
		     krping_ep_pages(ep, wr->len), wr->len, wr->reg.access,
		     mr->state == KRPING_MR_VALID);
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
 * valid. Neither is signalled. From then on the region has its new key. Sleeps until
 * the last request of the region has completed.
 *
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_mr_chain_reg(struct krping_ep *ep, struct krping_mr *mr, struct krping_chain *chain,
			struct krping_buf *buf, u32 len, int access, struct krping_key *key)
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
	krping_part_begin(&part, buf, ep->offset, len);
	if (krping_wants(regions))
		nr = krping_map_watched(ep, mr, buf->mem.sgl, part.nr, len, &map_ns);
	else
		nr = ib_map_mr_sg(mr->mr, buf->mem.sgl, part.nr, NULL, PAGE_SIZE);
	krping_part_end(&part);
	if (nr < 0)
		return krping_fail(ep->verdict, nr == -ENOMEM ? nr : -EIO,
				   "mapping %u bytes onto an MR: error %d", len, nr);
	if (nr != part.nr || mr->mr->length != len)
		return krping_fail(ep->verdict, -EIO,
				   "mapping %u bytes onto an MR: %d entries, %llu bytes", len, nr,
				   (u64)mr->mr->length);

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
		   "post_inv = %d, reg_mr new rkey 0x%x pgsz %u len %u iova_start %llx", was_valid,
		   wr->reg.key, mr->mr->page_size, len, mr->mr->iova);
	mr->state = KRPING_MR_VALID;
	mr->reg_seq = wr->seq;
	mr->last_seq = wr->seq;
	mr->used = true;
	key->addr = mr->mr->iova;
	key->lkey = mr->mr->lkey;
	key->rkey = mr->mr->rkey;
	return 0;
}

static noinline void krping_trace_read_inv(struct krping_ep *ep, struct krping_mr *mr,
					   const struct krping_wr *wr)
{
	krping_trace(mr_readinv, ep->rec->id, mr->mr->res.id, wr->cid, mr->mr->rkey,
		     mr->state == KRPING_MR_VALID);
	krping_memory_step(ep, KRPING_STEP_READ_INV, mr->state == KRPING_MR_VALID, 0, mr->mr->rkey);
}

/* A READ that is going to be posted invalidates the key of its sink. */
void krping_mr_read_inv(struct krping_ep *ep, struct krping_mr *mr, struct krping_wr *wr)
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
 * @ep: the endpoint, whose PD has a key for the peer if @access has a right of its
 * @buf: the buffer, of contiguous pages: a key of all memory has no list of them
 * @access: IB_ACCESS_* flags that the use needs
 * @key: receives how to name the buffer
 */
void krping_buf_key(const struct krping_ep *ep, const struct krping_buf *buf, int access,
		    struct krping_key *key)
{
	key->addr = buf->dma;
	key->rkey = ep->pd->unsafe_global_rkey;
	/* The sink of an iWARP READ is written like a peer's WRITE (RFC 5040, 5.4). */
	key->lkey = access & IB_ACCESS_REMOTE_WRITE ? key->rkey : ep->pd->local_dma_lkey;
}

static noinline void krping_trace_remote_inv(struct krping_ep *ep, struct krping_mr *mr, u32 cid)
{
	krping_trace(mr_reminv, ep->rec->id, mr->mr->res.id, cid, mr->mr->rkey,
		     mr->state == KRPING_MR_VALID);
	krping_memory_step(ep, KRPING_STEP_REM_INV, mr->state == KRPING_MR_VALID, 0, mr->mr->rkey);
}

/**
 * krping_mr_remote_inv - a message arrived that has to invalidate our key
 * @ep: the endpoint
 * @mr: the region
 * @cid: number of the RECV
 * @has_inv: the message was a SEND_WITH_INV
 * @key: the key that it invalidated
 *
 * Return: 0, or -EPROTO, which is also the run's cause: the message invalidated
 * no key, or another one.
 */
int krping_mr_remote_inv(struct krping_ep *ep, struct krping_mr *mr, u32 cid, bool has_inv, u32 key)
{
	if (!has_inv)
		return krping_fail(ep->verdict, -EPROTO,
				   "the promised invalidation of key 0x%x did not come",
				   mr->mr->rkey);
	if (key != mr->mr->rkey)
		return krping_fail(ep->verdict, -EPROTO, "key 0x%x was invalidated instead of 0x%x",
				   key, mr->mr->rkey);
	WRITE_ONCE(ep->rec->reminv, ep->rec->reminv + 1);
	if (krping_wants(regions))
		krping_trace_remote_inv(ep, mr, cid);
	mr->state = KRPING_MR_FREE;
	return 0;
}
