#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A run without a count ends on a signal, and that is no failure: it finishes the ping that is under way, and both ends
# have the same number of pings. This holds at any moment, for a signal to either end, and with the user-space rping as
# the other end.

. "$(dirname "$0")/lib.sh"

resources_before

# both WHAT: asserts that the two writers end, and that both have done what was asked.
both() {
	local what=$1 begin took
	begin=$(now_ms)
	finish client
	CLI=$LINE
	took=$(($(now_ms) - begin))
	finish server
	parse "$CLI"
	check_good "$what: the client" "$CLI" "${F[iters]}"
	check_good "$what: the server" "$LINE" "$(field iters "$CLI")"
	ok "$what: within 2 s ($took ms)" test $took -le $((2000 * SLOW))
}

tries=$(rounds 10 3)
[ -z "${KRPING_MUTANT:-}" ] || tries=40
for who in client server "client server"; do
	for sig in INT TERM STOP; do
		[ "$sig" = INT ] || tries=$(rounds 3 1)
		for ((i = 0; i < tries; i++)); do
			server server "server,addr=$ADDR,port=$PORT"
			start client "client,addr=$ADDR,port=$PORT"
			wait_pings client 2
			nap "0.0$((RANDOM % 100 + 100))"
			pids=()
			for end in $who; do pids+=("${PIDS[$end]}"); done
			kill -$sig "${pids[@]}"
			if [ $sig = STOP ]; then
				nap 0.3
				kill -CONT "${pids[@]}"
			fi
			both "SIG$sig to the $who"
		done
	done
	[ -z "${KRPING_MUTANT:-}" ] || done_testing
done
nothing_left "all the signals"

# A writer that does not catch the signal dies of it, and its run is still a good one.
server server "server,addr=$ADDR,port=$PORT" --die
start client "client,addr=$ADDR,port=$PORT" --die
wait_pings client 5
kill -INT "${PIDS[client]}"
wait "${PIDS[client]}"
is $? 130 "a client that dies of it"
unset 'PIDS[client]'
finish server
parse
is "${F[werr]-} ${F[state]-}" "0 DONE" "a client that dies of it: its server ends well"

# --- the user-space rping as the other end ---
for ((i = 0; i < $(rounds 3 1); i++)); do
	background rping rping -s -a "$ADDR" -p $PORT -S 64
	until_ok 5 rping_listens
	start client "client,addr=$ADDR,port=$PORT"
	wait_pings client 5
	kill -INT "${PIDS[client]}"
	finish client
	parse
	check_good "a client of rping" "$LINE" "${F[iters]}"
	tool_end rping

	server server "server,addr=$ADDR,port=$PORT"
	background rping rping -c -a "$ADDR" -p $PORT -S 64
	wait_pings server 5
	kill -INT "${PIDS[server]}"
	finish server
	parse
	check_good "a server of rping" "$LINE" "${F[iters]}"
	tool_end rping
done

# --- a ping that does not end: the run ends after a second, or on a second signal ---
# stuck WORD...: a client, started by the words, pings an rping that no longer answers.
stuck() {
	background rping rping -s -a "$ADDR" -p $PORT -S 64
	until_ok 5 rping_listens
	"$@" krping client "$ADDR:$PORT"
	[ "$1" = on_terminal ] || CHILD=${PIDS[client]}
	PIDS[pinging]=$CHILD
	wait_pings pinging 5
	unset 'PIDS[pinging]'
	kill -STOP "${PIDS[rping]}"
	nap 0.3
	begin=$(now_ms)
}
# unstuck: waits for the client. RC becomes its exit status, TOOK the time that it took to end, in ms.
unstuck() {
	until_ok 10 gone "${PIDS[client]}"
	TOOK=$(($(now_ms) - begin))
	tool_end client
	kill -KILL "${PIDS[rping]}"
	wait "${PIDS[rping]}" 2>/dev/null
	unset 'PIDS[rping]'
}
stuck background client
kill -INT "${PIDS[client]}"
unstuck
is "$RC $(grep -c 'interrupted in iteration [0-9]*, which did not end within a second' "$T/client.err")" "2 1" "a ping that does not end: exit 2, and says so" ||
	diag "$(cat "$T/client.err")"
ok "it was given a second ($TOOK ms)" test $TOOK -ge 900
stuck background client
kill -INT "${PIDS[client]}"
nap 0.7
kill -INT "${PIDS[client]}"
unstuck
is $RC 130 "a second SIGINT: it dies of it"
stuck on_terminal client
type_keys client '\003'
nap 0.2
type_keys client '\003'
unstuck
is $RC 130 "a second ctrl-c: it dies of it"
[ "$SLOW" != 1 ] || ok "at once ($TOOK ms)" test $TOOK -lt 900

works_after "after all that"
done_testing
