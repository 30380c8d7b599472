#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# timeout=: an endless run ends well when its time is over, any other run fails with ETIMEDOUT, wherever it is; and no
# run ends before its time.

. "$(dirname "$0")/lib.sh"

# ms MS: prints a timeout, longer on a slow kernel: most runs here have to make pings before it is over.
ms() { echo $(($1 * SLOW)); }

# timed_out NAME MS: asserts the failure of LINE, whose timeout was MS, and that it took that long, and not much longer.
timed_out() {
	local ms text=$2ms
	[ $(($2 % 1000)) -ne 0 ] || text=$(($2 / 1000))s
	parse
	is "${F[werr]-} ${F[state]-} ${F[reason]-}" "ETIMEDOUT ERROR not done within timeout=$text" "$1: ETIMEDOUT"
	ms=$((${F[elapsed_ns]} / 1000000))
	ok "$1: it took $ms ms of $2" test $ms -ge "$2" -a $ms -le $(($2 + 5000 * SLOW))
}

# --- nobody comes, nobody answers ---
server server "server,addr=$ADDR,port=$PORT,timeout=300ms"
finish server
timed_out "a server that nobody calls" 300
server server "server,addr=0.0.0.0,port=$PORT,timeout=300ms,count=3"
finish server
timed_out "a server on all addresses" 300
client "client,addr=10.9.0.77,port=$PORT,timeout=300ms"
timed_out "a client that nobody answers" 300
works_after "nobody answers"

# --- a run with a count ---
server server "server,addr=$ADDR,port=$PORT"
client "client,addr=$ADDR,port=$PORT,count=100000000,timeout=$(ms 700)ms"
timed_out "a client with a count" "$(ms 700)"
ok "it made pings" test "${F[iters]}" -gt 0
finish server
like "$(field werr) $(reason)" '^(ECONNRESET|EIO) ' "its server is left in the middle"

server server "server,addr=$ADDR,port=$PORT,timeout=$(ms 700)ms,count=100000000"
client "client,addr=$ADDR,port=$PORT,count=100000000"
like "$(field werr) $(reason)" '^(ECONNRESET|EIO) ' "its client is left in the middle"
finish server
timed_out "a server with a count" "$(ms 700)"

server server "server,addr=$ADDR,port=$PORT,timeout=20"
client "client,addr=$ADDR,port=$PORT,count=5,timeout=20s"
check_good "a client that is done before" "$LINE" 5
finish server
check_good "its server" "$LINE" 5

# --- an endless run: between two pings, with equal counts ---
# ends_well CLIENT-OPTIONS SERVER-OPTIONS DESCRIPTION
ends_well() {
	local iters took
	server server "server,addr=$ADDR,port=$PORT$2"
	client "client,addr=$ADDR,port=$PORT$1"
	parse
	iters=${F[iters]-0}
	is "${F[werr]} ${F[state]}" "0 DONE" "$3: the client is done" || diag "$(reason)"
	took=$((${F[elapsed_ns]} / 1000000))
	finish server
	parse
	is "${F[werr]} ${F[state]}" "0 DONE" "$3: the server is done" || diag "$(reason)"
	is "${F[iters]}" "$iters" "$3: both have made $iters pings"
	ok "$3: there were pings" test "$iters" -gt 0
	# An end that waits for the other one to leave first waits 5 s for it.
	ok "$3: the ends do not wait for each other ($took ms, $((${F[elapsed_ns]} / 1000000)) ms)" \
		test $took -lt $((4000 * SLOW)) -a $((${F[elapsed_ns]} / 1000000)) -lt $((4000 * SLOW))
}
ends_well ",timeout=$(ms 500)ms" '' "an endless client"
ends_well '' ",timeout=$(ms 500)ms" "an endless server"
for ((i = 0; i < $(rounds 5 2); i++)); do
	ends_well ",timeout=$(ms 400)ms" ",timeout=$(ms 400)ms" "both at once, turn $i"
done

# --- an endless run whose peer hangs has a second more ---
background rping rping -s -a "$ADDR" -p $PORT
until_ok 10 rping_listens
start client "client,addr=$ADDR,port=$PORT,timeout=$(ms 1500)ms"
wait_pings client
ok "the peer is stopped in the middle of a ping" kill -STOP "${PIDS[rping]}"
finish client
timed_out "an endless client whose peer hangs" "$(ms 1500)"
kill -CONT "${PIDS[rping]}"
kill -KILL "${PIDS[rping]}"
wait "${PIDS[rping]}" 2>/dev/null
unset 'PIDS[rping]'
works_after "a peer that hangs"
done_testing
