/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Every call of verbs and rdma_cm whose failure the module has to survive, and
 * every one that hands memory to the device or takes it back, as a function of
 * the module's own: krping_ and the name of the call.
 *
 * fail_function can make only such functions fail that allow it, and neither
 * ib_core nor rdma_cm has any. In a debug build the functions here allow it,
 * and they fail before the call is made. In every other build they are inline
 * and consist of the call only.
 */
#ifndef KRPING_CALLS_H
#define KRPING_CALLS_H

#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/*
 * The core has no errno for a mapping that failed. These functions return one,
 * and store the address elsewhere, so that they fail like all the others.
 */
static inline int __krping_dma_map_single(struct ib_device *dev, void *addr,
					  size_t size,
					  enum dma_data_direction dir, u64 *dma)
{
	u64 at = ib_dma_map_single(dev, addr, size, dir);

	if (ib_dma_mapping_error(dev, at))
		return -ENOMEM;
	*dma = at;
	return 0;
}

static inline int __krping_dma_map_sgtable(struct ib_device *dev,
					   struct sg_table *pages,
					   enum dma_data_direction dir)
{
	if (ib_dma_map_sgtable_attrs(dev, pages, dir, 0))
		return -ENOMEM;
	return 0;
}

/* Unmapping and syncing do not fail. */
static inline void krping_dma_unmap_single(struct ib_device *dev, u64 dma,
					   size_t size,
					   enum dma_data_direction dir)
{
	ib_dma_unmap_single(dev, dma, size, dir);
}

static inline void krping_dma_unmap_sgtable(struct ib_device *dev,
					    struct sg_table *pages,
					    enum dma_data_direction dir)
{
	ib_dma_unmap_sgtable_attrs(dev, pages, dir, 0);
}

static inline void krping_dma_for_cpu(struct ib_device *dev, u64 dma,
				      size_t size, enum dma_data_direction dir)
{
	ib_dma_sync_single_for_cpu(dev, dma, size, dir);
}

static inline void krping_dma_for_device(struct ib_device *dev, u64 dma,
					 size_t size,
					 enum dma_data_direction dir)
{
	ib_dma_sync_single_for_device(dev, dma, size, dir);
}

/*
 * All pages of a table. The core has no such calls for a device that may be in
 * software, whose addresses need no sync.
 */
static inline void krping_dma_pages_for_cpu(struct ib_device *dev,
					    struct sg_table *pages,
					    enum dma_data_direction dir)
{
	if (!ib_uses_virt_dma(dev))
		dma_sync_sgtable_for_cpu(dev->dma_device, pages, dir);
}

static inline void krping_dma_pages_for_device(struct ib_device *dev,
					       struct sg_table *pages,
					       enum dma_data_direction dir)
{
	if (!ib_uses_virt_dma(dev))
		dma_sync_sgtable_for_device(dev->dma_device, pages, dir);
}

/* clang-format off */
/*
 * KRPING_CALL(type, name, arguments, call): an error is a negative errno or, if
 * the type is a pointer, its ERR_PTR().
 */
#ifndef KRPING_DEBUG
#define KRPING_CALL(ret_t, name, args, call)				\
	static inline ret_t krping_##name args { return call; }
#elif !defined(KRPING_DEFINE_CALLS)
/* Only calls.c needs to know the call. */
#define KRPING_CALL(ret_t, name, args, ...)				\
	ret_t krping_##name args
#else
#define KRPING_CALL(ret_t, name, args, call)				\
	ret_t krping_##name args;					\
	noinline ret_t krping_##name args { return call; }		\
	ALLOW_ERROR_INJECTION(krping_##name, ERRNO)
#endif

KRPING_CALL(struct ib_pd *, ib_alloc_pd,
	    (struct ib_device *dev, unsigned int flags),
	    ib_alloc_pd(dev, flags));
/* A negative vector: the core chooses one. */
KRPING_CALL(struct ib_cq *, ib_alloc_cq,
	    (struct ib_device *dev, void *context, int nr_cqe, int vector,
	     enum ib_poll_context ctx),
	    vector < 0 ? ib_alloc_cq_any(dev, context, nr_cqe, ctx) :
			 ib_alloc_cq(dev, context, nr_cqe, vector, ctx));
KRPING_CALL(struct ib_mr *, ib_alloc_mr,
	    (struct ib_pd *pd, u32 pages),
	    ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, pages));
KRPING_CALL(int, ib_map_mr_sg,
	    (struct ib_mr *mr, struct scatterlist *sg, int nr),
	    ib_map_mr_sg(mr, sg, nr, NULL, PAGE_SIZE));
KRPING_CALL(int, ib_post_send,
	    (struct ib_qp *qp, const struct ib_send_wr *wr,
	     const struct ib_send_wr **bad),
	    ib_post_send(qp, wr, bad));
KRPING_CALL(int, ib_post_recv,
	    (struct ib_qp *qp, const struct ib_recv_wr *wr),
	    ib_post_recv(qp, wr, NULL));
KRPING_CALL(struct ib_srq *, ib_create_srq,
	    (struct ib_pd *pd, struct ib_srq_init_attr *attr),
	    ib_create_srq(pd, attr));
KRPING_CALL(int, ib_post_srq_recv,
	    (struct ib_srq *srq, const struct ib_recv_wr *wr),
	    ib_post_srq_recv(srq, wr, NULL));
KRPING_CALL(int, dma_map_single,
	    (struct ib_device *dev, void *addr, size_t size,
	     enum dma_data_direction dir, u64 *dma),
	    __krping_dma_map_single(dev, addr, size, dir, dma));
KRPING_CALL(int, dma_map_sgtable,
	    (struct ib_device *dev, struct sg_table *pages,
	     enum dma_data_direction dir),
	    __krping_dma_map_sgtable(dev, pages, dir));
KRPING_CALL(struct rdma_cm_id *, rdma_create_id,
	    (struct net *net, rdma_cm_event_handler handler, void *context),
	    rdma_create_id(net, handler, context, RDMA_PS_TCP, IB_QPT_RC));
KRPING_CALL(int, rdma_create_qp,
	    (struct rdma_cm_id *id, struct ib_pd *pd,
	     struct ib_qp_init_attr *attr),
	    rdma_create_qp(id, pd, attr));
KRPING_CALL(int, rdma_resolve_addr,
	    (struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst,
	     unsigned long ms),
	    rdma_resolve_addr(id, src, dst, ms));
KRPING_CALL(int, rdma_resolve_route,
	    (struct rdma_cm_id *id, unsigned long ms),
	    rdma_resolve_route(id, ms));
KRPING_CALL(int, rdma_connect,
	    (struct rdma_cm_id *id, struct rdma_conn_param *param),
	    rdma_connect(id, param));
KRPING_CALL(int, rdma_bind_addr,
	    (struct rdma_cm_id *id, struct sockaddr *addr),
	    rdma_bind_addr(id, addr));
KRPING_CALL(int, rdma_listen,
	    (struct rdma_cm_id *id, int backlog),
	    rdma_listen(id, backlog));
KRPING_CALL(int, rdma_accept,
	    (struct rdma_cm_id *id, struct rdma_conn_param *param),
	    rdma_accept(id, param));
/* clang-format on */

#undef KRPING_CALL

#endif /* KRPING_CALLS_H */
