// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The debug build's runs that break their connection and go on with another:
 * the test of krping_link_renew(), and of an endpoint that may fail.
 *
 * With the module parameter renew=N both ends of test=rping make everything anew
 * after each N pings of a run that has a count. Every other time the client
 * writes to a key that the server does not have before it leaves, and the
 * server's device has to refuse that.
 */
#include <linux/err.h>
#include <linux/moduleparam.h>
#include "link.h"
#include "renew.h"
#include "run.h"
#include "sq.h"
#include "wait.h"

static unsigned int krping_renew_pings;
module_param_named(renew, krping_renew_pings, uint, 0644);
MODULE_PARM_DESC(renew, "debug: pings after which a run makes its endpoint anew");

#define KRPING_NO_KEY	  0xdeadbe00
#define KRPING_REFUSED_MS 3000 /* the peer leaves by itself after 5000 */

/**
 * krping_renew_begin - is the run to make its link anew?
 * @run: the run
 *
 * Context: the run's thread, before the link is made.
 */
void krping_renew_begin(struct krping_run *run)
{
	run->renews = READ_ONCE(krping_renew_pings);
}

/* The peer's device has to refuse this, and to end the connection. */
static int krping_break(struct krping_run *run)
{
	struct krping_ep *ep = &run->ep;
	struct krping_chain chain;
	struct krping_msg msg;
	struct krping_wr *wr;
	u64 ms, t = ktime_get_ns();
	int ret;

	ret = krping_chain_begin(ep, &chain, 1);
	if (ret)
		return ret;
	wr = krping_chain_add(ep, &chain, KRPING_WR_RDMA_WRITE);
	wr->len = KRPING_MSG_SIZE;
	wr->sge.addr = run->msgs.tx_dma;
	wr->sge.length = KRPING_MSG_SIZE;
	wr->sge.lkey = ep->pd->local_dma_lkey;
	wr->rdma.wr.sg_list = &wr->sge;
	wr->rdma.wr.num_sge = 1;
	wr->rdma.remote_addr = run->msgs.tx_dma;
	wr->rdma.rkey = KRPING_NO_KEY;
	ret = krping_post(ep, &chain);
	if (!ret)
		ret = krping_wait_done(ep, wr);
	/* On iWARP the WRITE completes before the peer has seen it. */
	if (!ret && ep->iwarp)
		ret = krping_recv_msg(&run->msgs, &msg);
	if (ret && ret != -ECONNRESET)
		return ret;
	ms = div_u64(ktime_get_ns() - t, NSEC_PER_MSEC);
	if (!ret || (!ep->iwarp && ep->doubt_status != IB_WC_REM_ACCESS_ERR) ||
	    ms > KRPING_REFUSED_MS)
		return krping_fail(&run->verdict, -EIO,
				   "renew: the peer did not refuse a key that it does not have (%d, status %u, %llu ms)",
				   ret, ep->doubt_status, ms);
	return 0;
}

/**
 * krping_renew - break the connection and make another, if it is time to
 * @run: the run
 *
 * Context: the task that wrote the command, between two iterations; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_renew(struct krping_run *run)
{
	bool client = run->params.role == KRPING_ROLE_CLIENT;
	u32 pings = READ_ONCE(krping_renew_pings);
	u64 iter = run->phases.iter, times;
	u32 rest;
	int ret;

	if (!krping_run_renews(run) || !pings || !iter || !krping_run_more(run))
		return 0;
	times = div_u64_rem(iter, pings, &rest);
	if (rest)
		return 0;
	/* A server whose last message is not acknowledged yet sees a flush. */
	WRITE_ONCE(run->ep.may_fail, true);
	krping_enter(&run->phases, KRPING_PHASE_DISCONNECT, 0, 0);
	if (client && times % 2) {
		ret = krping_break(run);
		if (ret)
			return ret;
	}
	return krping_link_renew(run, !client);
}
