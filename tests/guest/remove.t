#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The link is deleted under a run: the run ends with ENODEV within 5 s, and the next run works on a new link. A run that
# had already done what it was asked to do stays good, and does not wait for its peer either.

. "$(dirname "$0")/lib.sh"

# check.sh builds it, like all C programs beside the tests.
stay=$here/../../build/guest/stay

relink() { link_add "$LINK" d0 "$ADDR"; }

# first_cq: a device numbers its CQs from 0, so the first run on a new link may have number 0, and has a CQ nevertheless.
first_cq() {
	server server "server,addr=$ADDR,port=$PORT"
	start client "client,addr=$ADDR,port=$PORT"
	wait_pings client
	is "$(grep -c " listen\$" /proc/krping) $(grep -c "^[0-9]*-$LINK " /proc/krping)" "0 2" \
		"/proc/krping shows the counters of the first runs on a new link" || diag "$(cat /proc/krping)"
	kill -INT "${PIDS[client]}"
	finish client
	finish server
}

# deleted WHAT PID: asserts that the deletion by process PID ends well, and that there can be a new link.
deleted() {
	local rc='does not end'
	if until_ok 10 gone "$2"; then
		wait "$2"
		rc=$?
	fi
	is "$rc" 0 "$1: the link can be deleted" || diag "$(cat "$T/delete")"
	ok "$1: the link is made again" relink
	[ "$1" != listening ] || first_cq
	works_after "$1"
	nothing_left "$1"
}

# no_peer: kills the peer in user space, if there is one, which has the link open.
no_peer() {
	[ -n "${PIDS[peer]-}" ] || return 0
	kill -KILL "${PIDS[peer]}"
	wait "${PIDS[peer]}" 2>/dev/null
	unset 'PIDS[peer]'
}

# removed WHAT NAME...: deletes the link, and asserts that the runs end.
removed() {
	local what=$1 begin name deleter
	local -A took=()
	shift
	begin=$(now_ms)
	# The deletion may block as long as a run lasts.
	rdma link delete "$LINK" 2>"$T/delete" &
	deleter=$!
	# Wait for all runs before any assertion: the assertions about one take time, which must not count for the other.
	for name; do
		until_ok 8 gone "${PIDS[$name]}"
		took[$name]=$(($(now_ms) - begin))
	done
	no_peer
	for name; do
		ok "$what: the $name ends within $((5 * SLOW)) s (${took[$name]} ms)" test "${took[$name]}" -le $((5000 * SLOW))
		finish "$name" 10
		parse
		is "${F[werr]} ${F[state]} ${F[errno]}" "ENODEV ERROR 19" "$what: the $name: ENODEV" || diag "${F[reason]}"
		like "${F[reason]}" 'removed' "$what: the $name: its reason"
	done
	deleted "$what" $deleter
}

resources_before
# A planted fault in the end of a run needs only the last part of this test.
if [ "${KRPING_MUTANT:-no_cq_zero}" = no_cq_zero ]; then
	server server "server,addr=$ADDR,port=$PORT"
	removed "listening" server
fi
if [ -z "${KRPING_MUTANT:-}" ]; then

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
fi

# leaving ROLE WHAT [RECVS]: the run has made its only ping, and waits for a peer that never leaves (stay.c); then the
# link is deleted. Only the deletion ends the run, since its peer is killed afterwards. The peer has to be killed, since
# a user-space process that has the link open delays the deletion, too.
leaving() {
	local role=$1 what=$2 begin took waited deleter
	if [ "$role" = server ]; then
		server run "server,addr=$ADDR,port=$PORT"
		background peer "$stay" client "$ADDR" $PORT "${@:3}"
	else
		background peer "$stay" server "$ADDR" $PORT
		until_ok 10 grep -q listens "$T/peer.out"
		start run "client,addr=$ADDR,port=$PORT,count=1"
	fi
	ok "$what: the $role has made its ping, and leaves" until_ok 10 is_at run disconnect ||
		diag "$(cat "$T/peer.out" "$T/peer.err")"
	begin=$(now_ms)
	rdma link delete "$LINK" 2>"$T/delete" &
	deleter=$!
	ok "$what: the deletion ends the $role" until_ok 8 gone "${PIDS[run]}" || diag "$(tail -n 1 /proc/krping_runs)"
	took=$(($(now_ms) - begin))
	no_peer
	finish run 10
	check_good "$what: the $role" "$LINE" 1
	waited=$(awk -v run=": krping_phase: run=${F[id]} " 'index($0, run) && / prev=disconnect / {
		for (i = 1; i <= NF; i++) if (split($i, f, "=") == 2) v[f[1]] = f[2]
		printf "%d", (v["t"] - v["t_prev"]) / 1e6
	}' $PARTING/trace)
	ok "$what: the $role does not wait 5 s for its peer (${waited:-?} ms; the deletion took $took)" test "${waited:-5000}" -lt 5000 ||
		diag "got: ${waited:-?} ms"
	deleted "$what" $deleter
}

# is_at NAME PHASE: the run has made its only ping, and is in this phase.
is_at() {
	run_line "${PIDS[$1]}" || return 1
	parse
	[ "${F[phase]} ${F[iters]}" = "$2 1" ]
}

# How long a run waits for its peer is taken from its phases, since on a slow kernel all its other work takes seconds,
# too.
parting_on
if [ "$PROVIDER" = siw ]; then
	# On iWARP the client leaves first, and a SEND is complete when TCP has it.
	leaving server "leaving"
else
	leaving client "leaving"
	# On RoCE a server is done when its last SEND has arrived, and RNR is retried without end.
	server server "server,addr=$ADDR,port=$PORT"
	background peer "$stay" client "$ADDR" $PORT 1
	ok "the peer has no RECV for the last SEND: the server waits" until_ok 10 is_at server disconnect
	removed "the peer has no RECV for the last SEND" server
fi

done_testing
