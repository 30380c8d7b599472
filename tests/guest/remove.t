#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The link is deleted under a run: it ends with ENODEV within 5 s, and the next run works on a new link.

. "$(dirname "$0")/lib.sh"

link_active() {
	grep -q ACTIVE "/sys/class/infiniband/$LINK/ports/1/state" 2>/dev/null || return 1
	[ "$PROVIDER" = siw ] || cat "/sys/class/infiniband/$LINK/ports/1/gids/"* 2>/dev/null |
		grep -q '0000:0000:0000:0000:0000:ffff:0a09:0001'
}

relink() {
	rdma link add "$LINK" type "$PROVIDER" netdev d0
	until_ok 20 link_active
}

# removed WHAT NAME...: deletes the link; the runs end.
removed() {
	local what=$1 begin name deleter
	local -A took=()
	shift
	begin=$(now_ms)
	# It may block as long as a run does.
	rdma link delete "$LINK" 2>"$T/delete" &
	deleter=$!
	# All of them before anything is said: the assertions about one take time, which is not the other's.
	for name; do
		until_ok 8 gone "${PIDS[$name]}"
		took[$name]=$(($(now_ms) - begin))
	done
	for name; do
		ok "$what: the $name ends within $((5 * SLOW)) s (${took[$name]} ms)" test "${took[$name]}" -le $((5000 * SLOW))
		finish "$name" 10
		parse
		is "${F[werr]} ${F[state]} ${F[errno]}" "ENODEV ERROR 19" "$what: the $name: ENODEV" || diag "${F[reason]}"
		like "${F[reason]}" 'removed' "$what: the $name: its reason"
	done
	until_ok 10 gone $deleter || kill -KILL $deleter
	wait $deleter
	is $? 0 "$what: the link can be deleted" || diag "$(cat "$T/delete")"
	ok "$what: the link is made again" relink
	works_after "$what"
	nothing_left "$what"
}

resources_before
server server "server,addr=$ADDR,port=$PORT"
removed "listening" server

server server "server,addr=0.0.0.0,port=$PORT"
removed "listening on all addresses" server

start client "client,addr=10.9.0.77,port=$PORT"
wait_state client ROUTE_RESOLVED
nap 0.3
removed "connecting" client

server server "server,addr=$ADDR,port=$PORT"
start client "client,addr=$ADDR,port=$PORT,validate"
wait_pings client
removed "pinging" client server

server server "server,addr=0.0.0.0,port=$PORT"
start client "client,addr=$ADDR,port=$PORT,size=65536"
wait_pings client
removed "pinging with a server on all addresses" client server

done_testing
