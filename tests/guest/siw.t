#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What krping makes of a siw that loses a signal, of a server that refuses in pieces, and of one that speaks first. All parts end by
# themselves.

. "$(dirname "$0")/lib.sh"

# ended NAME: waits for a run that may not end by itself, and then interrupts it; LINE becomes its result.
ended() {
	until_ok 10 gone "${PIDS[$1]}" || kill -INT "${PIDS[$1]}"
	finish "$1"
}

# server_on CPU COUNT: asserts that a pair ends well whose server is on that CPU.
server_on() {
	local cpus
	cpus=$(taskset -pc $$) cpus=${cpus##*: }
	taskset -pc "$1" $$ >/dev/null
	server server "server,addr=$ADDR,port=$PORT,count=$2"
	taskset -pc "$cpus" $$ >/dev/null
	start client "client,addr=$ADDR,port=$PORT,count=$2"
	ended client
	CLI=$LINE
	ended server
	check_good "notify-barrier: the client, the server on CPU $1" "$CLI" "$2"
	check_good "notify-barrier: the server on CPU $1" "$LINE" "$2"
}

# siw may overlook a completion when it is asked for a signal: the thread polls once more, and does not wait for ever. The plant does
# what a store that is late does: something has completed when a signal is asked for, and siw says that nothing has. siw takes a
# completion on another CPU, so there is a server on each CPU.
ok "notify-barrier: the plant is loaded" insmod "$PLANTS/krping_siw.ko"
for cpu in 0 1; do server_on $cpu 300; done
is "$(cat /sys/module/krping_siw/parameters/provoked)" 1 "notify-barrier: a completion was overlooked"
ok "notify-barrier: the plant is gone" rmmod krping_siw
works_after notify-barrier

# answered BYTES REASON WHAT: asserts the client's result if a server on plain TCP answers as mpa.pl does for BYTES.
answered() {
	background mpa perl "$here/mpa.pl" "$ADDR" $PORT "$1"
	until_ok 10 grep -q listening "$T/mpa.out"
	client "client,addr=$ADDR,port=$PORT,count=1"
	like "$(field werr) $(reason)" "^$2" "$3: the client's reason"
	tool_end mpa
	is "$RC $(tail -1 "$T/mpa.out")" "0 answered" "$3: the server has answered"
}

# The server refuses a client and closes: siw reads the refusal, even if TCP delivers both in one segment (the patch reply-fin).
answered -1 'EBUSY the server serves another client$' "a refusal, and the end of the connection"
answered 30 'ECONNREFUSED connection refused ' "30 bytes of a refusal, and the end of the connection"
answered 0 'ECONNREFUSED connection refused ' "the end of the connection"
# A server may not speak first (RFC 5044, 7.1.2), but the rows of the liar that do so meet this where the client's CPU is late: its
# message comes in the segment of its reply, and siw takes the reply for a broken one.
answered +40 'EINVAL connecting: error -(EINVAL|22)$' "a message with the reply"
done_testing "these servers"
