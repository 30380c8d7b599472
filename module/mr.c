// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions, which fast registration maps onto buffers.
 *
 * REG_MR makes a region VALID under a new key; LOCAL_INV, READ_WITH_INV and the peer's
 * SEND_WITH_INV make it FREE. A region has its state after all requests posted so far, so
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
#include "mr.h"
#include "mr_trace.h"
#include "msg.h"
#include "phase.h"
#include "record.h"
#include "sq.h"
#include "verdict.h"
#include "wait.h"

/* @size: bytes of the largest buffer that the region will be mapped onto. */
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
	/* A valid region's last request is its REG_MR: not executed, as an earlier one failed. */
	if (mr->state == KRPING_MR_VALID && bad && (s32)(mr->last_seq + 1 - bad) >= 0)
		mr->state = KRPING_MR_FLUSHED;
	krping_trace(mr_dereg, ep->rec->id, mr->mr->res.id, mr->mr->rkey, mr->state);
	krping_memory_word(ep, KRPING_STEP(KRPING_STEP_DEREG, mr->state, 0, mr->mr->rkey));
	ib_dereg_mr(mr->mr);
	mr->mr = NULL;
	mr->state = KRPING_MR_FREE;
}

static __always_inline void krping_trace_inv(struct krping_ep *ep, const struct krping_mr *mr,
					     enum krping_step step, u32 cid)
{
	u32 id = mr->mr->res.id, key = mr->mr->rkey;
	bool was_valid = mr->state == KRPING_MR_VALID;

	switch (step) {
	case KRPING_STEP_LOCAL_INV:
		krping_trace(mr_localinv, ep->rec->id, id, cid, key, was_valid);
		break;
	case KRPING_STEP_READ_INV:
		krping_trace(mr_readinv, ep->rec->id, id, cid, key, was_valid);
		break;
	default:
		krping_trace(mr_reminv, ep->rec->id, id, cid, key, was_valid);
		break;
	}
	krping_memory_word(ep, KRPING_STEP(step, was_valid, 0, key));
}

/* The ledger of an invalidation. Inlined, so that nobody pays for an event that is off. */
static __always_inline void krping_mr_invalid(struct krping_ep *ep, struct krping_mr *mr,
					      enum krping_step step, u32 cid, u64 *count)
{
	WRITE_ONCE(*count, *count + 1);
	if (krping_wants(regions))
		krping_trace_inv(ep, mr, step, cid);
	mr->state = KRPING_MR_FREE;
}

/* Append a LOCAL_INV, not signalled. @fence: executed only after the READs before it. */
struct krping_wr *krping_mr_chain_inv(struct krping_ep *ep, struct krping_mr *mr,
				      struct krping_chain *chain, bool fence)
{
	struct krping_wr *wr = krping_chain_add(ep, chain, KRPING_WR_LOCAL_INV);

	wr->send.ex.invalidate_rkey = mr->mr->rkey;
	if (fence)
		wr->send.send_flags |= IB_SEND_FENCE;
	krping_mr_invalid(ep, mr, KRPING_STEP_LOCAL_INV, wr->cid, &ep->rec->localinv);
	mr->last_seq = wr->seq;
	return wr;
}

/* A READ that is going to be posted invalidates the key of its sink. */
void krping_mr_read_inv(struct krping_ep *ep, struct krping_mr *mr, struct krping_wr *wr)
{
	wr->send.ex.invalidate_rkey = mr->mr->rkey;
	krping_mr_invalid(ep, mr, KRPING_STEP_READ_INV, wr->cid, &ep->rec->readinv);
	mr->last_seq = wr->seq;
}

/* A message has come that has to invalidate the region's key; if not, this is the run's cause. */
int krping_mr_remote_inv(struct krping_ep *ep, struct krping_mr *mr, const struct krping_msg *msg)
{
	if (!msg->has_inv)
		return krping_fail(ep->verdict, -EPROTO,
				   "the promised invalidation of key 0x%x did not come",
				   mr->mr->rkey);
	if (msg->inv_key != mr->mr->rkey)
		return krping_fail(ep->verdict, -EPROTO, "key 0x%x was invalidated instead of 0x%x",
				   msg->inv_key, mr->mr->rkey);
	krping_mr_invalid(ep, mr, KRPING_STEP_REM_INV, msg->cid, &ep->rec->reminv);
	return 0;
}

static __always_inline int krping_map_watched(struct krping_ep *ep, struct krping_mr *mr,
					      struct scatterlist *sg, int entries, u32 len,
					      u32 pages, u64 *ns)
{
	u64 t;
	int nr;

	if (!trace_krping_mr_map_enabled() && !trace_krping_mr_done_enabled() &&
	    !trace_krping_iter_memory_enabled() && !ep->t_queued)
		return ib_map_mr_sg(mr->mr, sg, entries, NULL, PAGE_SIZE);
	t = ktime_get_ns();
	nr = ib_map_mr_sg(mr->mr, sg, entries, NULL, PAGE_SIZE);
	*ns = ktime_get_ns() - t;
	krping_trace(mr_map, ep->rec->id, t, mr->mr->res.id, pages, len, *ns, nr < 0 ? nr : 0);
	if (nr < 0)
		krping_memory_word(ep, KRPING_COST(KRPING_WR_REG_MR, KRPING_COST_MAP,
						   KRPING_COST_F_FAILED, pages, *ns));
	return nr;
}

/* Map a list of @nr entries, which are @len bytes in @pages pages of memory. */
static __always_inline int krping_mr_map_sg(struct krping_ep *ep, struct krping_mr *mr,
					    struct scatterlist *sg, int nr, u32 len, u32 pages,
					    u64 *map_ns)
{
	int ret;

	if (krping_wants(regions) || (krping_wants(requests) && ep->t_queued))
		ret = krping_map_watched(ep, mr, sg, nr, len, pages, map_ns);
	else
		ret = ib_map_mr_sg(mr->mr, sg, nr, NULL, PAGE_SIZE);
	if (ret < 0)
		return krping_fail(ep->verdict, ret == -ENOMEM ? ret : -EIO,
				   "mapping %u bytes onto an MR: error %d", len, ret);
	if (ret != nr || mr->mr->length != len)
		return krping_fail(ep->verdict, -EIO,
				   "mapping %u bytes onto an MR: %d entries, %llu bytes", len, ret,
				   (u64)mr->mr->length);
	return 0;
}

/*
 * Map the first bytes of a buffer. ib_map_mr_sg() has an argument for the offset of the
 * first byte, but siw ignores it when it moves data: so the list is cut to these bytes, and
 * then restored, as the DMA API wants its list back.
 */
static __always_inline int krping_mr_map(struct krping_ep *ep, struct krping_mr *mr,
					 struct krping_buf *buf, u32 len, u32 pages, u64 *map_ns)
{
	struct scatterlist *first = buf->mem.sgl, *last = first;
	u32 left = len, whole;
	int nr = 1, ret;

	sg_dma_address(first) += ep->offset;
	sg_dma_len(first) -= ep->offset;
	for (; unlikely(left > sg_dma_len(last)); nr++) {
		left -= sg_dma_len(last);
		last = sg_next(last);
	}
	whole = sg_dma_len(last);
	sg_dma_len(last) = left;

	ret = krping_mr_map_sg(ep, mr, first, nr, len, pages, map_ns);

	sg_dma_len(last) = whole;
	sg_dma_address(first) -= ep->offset;
	sg_dma_len(first) += ep->offset;
	return ret;
}

static __always_inline void krping_trace_fastreg(struct krping_ep *ep, struct krping_mr *mr,
						 const struct krping_wr *wr, u32 old_key)
{
	bool was_valid = mr->state == KRPING_MR_VALID;
	u32 pages = wr->pages;

	krping_trace(mr_fastreg, ep->rec->id, mr->mr->res.id, wr->cid, old_key, wr->reg.key, pages,
		     wr->len, wr->reg.access, was_valid);
	krping_memory_word(ep, KRPING_STEP(KRPING_STEP_REG, was_valid, pages, wr->reg.key));
}

/* Append the registration of what was mapped, under a new key, and the LOCAL_INV of a valid old one. */
static __always_inline void krping_mr_chain_mapped(struct krping_ep *ep, struct krping_mr *mr,
						   struct krping_chain *chain, u32 len, u32 pages,
						   u64 map_ns, int access, struct krping_key *key)
{
	bool was_valid = mr->state == KRPING_MR_VALID;
	u32 old_key = mr->mr->rkey;
	struct krping_wr *wr;

	if (was_valid)
		krping_mr_chain_inv(ep, mr, chain, false);
	ib_update_fast_reg_key(mr->mr, ++mr->key);
	wr = krping_chain_add(ep, chain, KRPING_WR_REG_MR);
	wr->len = len;
	wr->pages = pages;
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
	mr->last_seq = wr->seq;
	mr->used = true;
	key->addr = mr->mr->iova;
	key->lkey = mr->mr->lkey;
	key->rkey = mr->mr->rkey;
}

/*
 * Append the registration, under a new key, of the first bytes of a buffer; and before it the
 * LOCAL_INV of an old key that is still valid. Neither is signalled. If the region's last request
 * has not completed, this sleeps until it has, so a signalled one was posted behind that. @key
 * receives how to name the buffer, once the chain is posted. Returns 0, or as krping_wait_errno().
 */
int krping_mr_chain_reg(struct krping_ep *ep, struct krping_mr *mr, struct krping_chain *chain,
			struct krping_buf *buf, u32 len, int access, struct krping_key *key)
{
	u32 pages = krping_ep_pages(ep, len);
	u64 map_ns = 0;
	int ret = 0;

	/* The device reads the region's list of pages when it executes that request. */
	if (mr->used)
		ret = krping_wait_seq(ep, mr->last_seq);
	if (ret >= 0)
		ret = krping_mr_map(ep, mr, buf, len, pages, &map_ns);
	if (ret < 0)
		return ret;
	krping_mr_chain_mapped(ep, mr, chain, len, pages, map_ns, access, key);
	return 0;
}

/*
 * The same for a list of @nr entries that is mapped for the device. The region is free, and its
 * last request was executed: an answer of the peer has said so. Does not sleep.
 */
int krping_mr_chain_reg_sg(struct krping_ep *ep, struct krping_mr *mr, struct krping_chain *chain,
			   struct scatterlist *sg, int nr, u32 len, int access,
			   struct krping_key *key)
{
	u32 pages = DIV_ROUND_UP(offset_in_page(sg_dma_address(sg)) + len, PAGE_SIZE);
	u64 map_ns = 0;
	int ret = krping_mr_map_sg(ep, mr, sg, nr, len, pages, &map_ns);

	if (ret)
		return ret;
	krping_mr_chain_mapped(ep, mr, chain, len, pages, map_ns, access, key);
	return 0;
}

/* Name a buffer, of contiguous pages, for an access by the keys that the PD has for all memory. */
void krping_buf_key(const struct krping_ep *ep, const struct krping_buf *buf, int access,
		    struct krping_key *key)
{
	key->addr = buf->dma;
	key->rkey = ep->pd->unsafe_global_rkey;
	/* The sink of an iWARP READ is written like a peer's WRITE (RFC 5040, 5.4). */
	key->lkey = access & IB_ACCESS_REMOTE_WRITE ? key->rkey : ep->pd->local_dma_lkey;
}
