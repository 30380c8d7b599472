#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A server on all addresses: it takes the port for all of them, serves links that are added later, and goes on when
# links are deleted, as long as one is left.

. "$(dirname "$0")/lib.sh"

ADDR2=10.10.0.1
LINK2=${PROVIDER}1

# served DESCRIPTION ADDRESS LINK: asserts that the server on all addresses serves a client at ADDRESS over LINK.
served() {
	client_good "$1: the client" "client,addr=$2,port=$PORT,count=3" 3
	is "${F[dev]}" "$3" "$1: its link"
	finish_good "$1: the server" all 3
	is "${F[dev]}" "$3" "$1: the server's link"
}

all="server,addr=0.0.0.0,port=$PORT"

server all "$all"
refused "a second server, on an address" "server,addr=$ADDR,port=$PORT" 'EADDRINUSE (binding the address|listening).*'
refused "a second server on all addresses" "$all" 'EADDRINUSE (binding the address|listening).*'
ok "the first one listens on" is_listening all
served "after that" "$ADDR" "$LINK"

ip link add d1 type dummy && ip addr add $ADDR2/24 dev d1 && ip link set d1 up
server all "$all"
ok "a second link comes" link_add "$LINK2" d1 $ADDR2
served "over the second link" $ADDR2 "$LINK2"

server all "$all"
ok "a link of two goes" rdma link delete "$LINK2"
ok "the server listens on" is_listening all
ok "it comes again" link_add "$LINK2" d1 $ADDR2
ok "the other one goes" rdma link delete "$LINK"
served "over the link that came again" $ADDR2 "$LINK2"

ok "the last link goes" rdma link delete "$LINK2"
ip link del d1
refused "a server where there is no link" "$all" 'ENODEV there is no RDMA device'
ok "the first link comes again" link_add "$LINK" d0 "$ADDR"
server all "$all"
served "where there was no link" "$ADDR" "$LINK"

done_testing
