#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# ctrl-c, TERM and KILL at every point: the writer is gone within 2 s, nothing is left, and the next run works.
# endless.t tests what a signal does to an endless run that pings; here such a run gets KILL only, and the other signals
# go to a run with a count.

. "$(dirname "$0")/lib.sh"

resources_before
parting_on

# ended NAME SIGNAL WHAT: sends the signal, and asserts that the writer ends and what its run's result is.
ended() {
	local pid=${PIDS[$1]} begin end
	begin=$(now_ms)
	kill -"$2" "$pid"
	until_ok 10 gone "$pid"
	end=$(now_ms)
	finish "$1" 1
	ok "$3: SIG$2 ends the writer within $((2 * SLOW)) s ($((end - begin)) ms)" test $((end - begin)) -le $((2000 * SLOW))
	run_line "$pid"
	parse
	is "${F[state]-} ${F[errno]-} ${F[reason]-}" "ERROR 4 interrupted" "$3: SIG$2: its run has EINTR"
}

# Addresses that do not answer: one does not answer ARP (resolving), one is behind a dummy link (connecting).
ip link add d1 type dummy && ip addr add 10.10.0.1/24 dev d1 && ip link set d1 arp on up

# A program can do nothing against KILL, and INT is what people press.
for sig in $(rounds "INT TERM KILL" "INT KILL"); do
	server one "server,addr=$ADDR,port=$PORT" --die
	ended one $sig "listening"
	server one "server,addr=0.0.0.0,port=$PORT" --die
	ended one $sig "listening on all addresses"

	start one "client,addr=10.10.0.9,port=$PORT" --die
	wait_state one IDLE
	ended one $sig "resolving"

	start one "client,addr=10.9.0.77,port=$PORT" --die
	wait_state one ROUTE_RESOLVED
	nap 0.2
	ended one $sig "connecting"
	nothing_left "SIG$sig before a connection"

	for side in client server; do
		count=''
		[ $sig = KILL ] || count=,count=10000000
		server server "server,addr=$ADDR,port=$PORT" --die
		start client "client,addr=$ADDR,port=$PORT,validate$count" --die
		wait_pings client 10
		ended $side $sig "pinging, $side"
		ok "pinging, $side: SIG$sig: it has its figures" test "${F[iters]}" -ge 10
		[ $side = client ] && other=server || other=client
		finish $other 5
		check_parted "pinging, $side: SIG$sig: the $other ends by what it was doing"
	done
	nothing_left "SIG$sig while pinging"
done

# The errno that the writer itself sees.
server one "server,addr=$ADDR,port=$PORT"
kill -INT "${PIDS[one]}"
finish one
parse
is "${F[ret]} ${F[werr]}" "-1 EINTR" "write() gives EINTR"

ip link del d1
works_after "after all the signals"
done_testing
