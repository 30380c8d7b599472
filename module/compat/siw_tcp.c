// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * siw does not tell whether the peer's host is there: a WRITE is complete as soon as TCP has
 * the bytes. But TCP knows when it last heard of the peer, and the addresses of a connection
 * name its socket.
 */
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>
#include <rdma/rdma_cm.h>
#include "soft.h"

#ifndef HAVE_TCP_LOOKUP
#define __inet_lookup_established(net, ...) \
	__inet_lookup_established(net, (net)->ipv4.tcp_death_row.hashinfo, __VA_ARGS__)
#define __inet6_lookup_established(net, ...) \
	__inet6_lookup_established(net, (net)->ipv4.tcp_death_row.hashinfo, __VA_ARGS__)
#endif

/**
 * krping_siw_silence - how long has TCP heard nothing of the peer of a connection of siw?
 * @net: the network namespace
 * @id: the connection
 *
 * Return: the time in jiffies; 0 if the connection has no socket any more.
 */
unsigned long krping_siw_silence(struct net *net, const struct rdma_cm_id *id)
{
	const struct rdma_addr *addr = &id->route.addr;
	const struct sockaddr_in6 *src6 = (const void *)&addr->src_addr;
	const struct sockaddr_in6 *dst6 = (const void *)&addr->dst_addr;
	const struct sockaddr_in *src = (const void *)&addr->src_addr;
	const struct sockaddr_in *dst = (const void *)&addr->dst_addr;
	int dev = addr->dev_addr.bound_dev_if;
	unsigned long silence = 0;
	struct sock *sk = NULL;

	rcu_read_lock();
	if (src->sin_family == AF_INET)
		sk = __inet_lookup_established(net, dst->sin_addr.s_addr, dst->sin_port,
					       src->sin_addr.s_addr, ntohs(src->sin_port), dev, 0);
#if IS_ENABLED(CONFIG_IPV6)
	else
		sk = __inet6_lookup_established(net, &dst6->sin6_addr, dst6->sin6_port,
						&src6->sin6_addr, ntohs(src6->sin6_port), dev, 0);
#endif
	rcu_read_unlock();
	if (!sk)
		return 0;
	if (sk_fullsock(sk))
		silence = keepalive_time_elapsed(tcp_sk(sk));
	sock_gen_put(sk);
	return silence;
}
