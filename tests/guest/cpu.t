#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# cpu=: the test of a run stays on that CPU, in a kernel thread, and everything that ends a run ends this one, too.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-tools.sh"

# where EVENT LINE [TEXT]: prints the CPUs and the threads' names of a run's events of one kind, if they have the text.
where() {
	parse "$2"
	awk -v event=" krping_$1: run=${F[id]} " -v text="${3-}" '
		index($0, event) && index($0, text) {
			name = $0
			sub(/^ */, "", name)
			sub(/-[0-9]+ +\[.*/, "", name)
			match($0, /\[[0-9]+\]/)
			seen[substr($0, RSTART + 1, RLENGTH - 2) + 0 " " name] = 1
		}
		END { for (s in seen) print s }' "$T/trace" | sort
}

# threads: prints the names of the module's kernel threads.
threads() { cat /proc/[0-9]*/comm 2>/dev/null | grep '^krping/[0-9]'; }
no_threads() { [ -z "$(threads)" ]; }

resources_before
parting_on

# --- the test stays there, and the rest does not move ---
for options in $(rounds ",size=64 ,poll_ctx=softirq ,poll_ctx=busy ,chain ,test=fr" ",poll_ctx=softirq ,test=fr"); do
	trace_on krping_post_send krping_mr_map krping_conn krping_iter krping_run_end
	ping_pair ",count=20,cpu=1$options" ",count=20,cpu=0$options"
	trace_off
	cat $TRACING/trace >"$T/trace"
	check_good "cpu=0$options: client" "$CLI" 20
	event=post_send
	# The server of test=fr has nothing to do.
	if [ "$options" = ,test=fr ]; then
		event=mr_map
	else
		check_good "cpu=1$options: server" "$SRV" 20
		is "$(where $event "$SRV")" "1 krping/$(field id "$SRV")" "cpu=1$options: the server's thread is on CPU 1"
	fi
	is "$(where $event "$CLI")" "0 krping/$(field id "$CLI")" "cpu=0$options: the client's thread is on CPU 0"
	is "$(where iter "$CLI" flags=commit)" "0 krping/$(field id "$CLI")" "cpu=0$options: so are the events of all iterations"
	for event in conn run_end; do
		like "$(where $event "$CLI")" '^[01] krwrite$' "cpu=0$options: $event is in the writer"
	done
done
ok "no thread is left" until_ok 5 no_threads

# --- the priority of the writer ---
server server "server,addr=$ADDR,port=$PORT"
chrt -f 7 "$krwrite" --out "$T/client.result" "client,addr=$ADDR,port=$PORT,cpu=0" &
PIDS[client]=$!
wait_pings client
like "$(chrt -p "$(pgrep '^krping/' | head -1)")" 'SCHED_FIFO.*priority: 7' "the thread has the writer's policy and priority"
kill -INT "${PIDS[client]}"
finish client
parse
is "${F[werr]} ${F[state]}" "0 DONE" "with a priority: the client" || diag "${F[reason]}"
finish server

# --- a signal to the writer ---
# interrupted SIGNAL OPTIONS WANTED DESCRIPTION: an endless client, or one with a count, gets the signal.
interrupted() {
	local begin took
	server server "server,addr=$ADDR,port=$PORT,cpu=1"
	start client "client,addr=$ADDR,port=$PORT,cpu=0,$2" --die
	wait_pings client 10
	begin=$(now_ms)
	kill -"$1" "${PIDS[client]}"
	finish client
	took=$(($(now_ms) - begin))
	parse
	is "${F[state]} ${F[errno]}" "$3" "$4: SIG$1: the client" || diag "${F[reason]}"
	ok "$4: SIG$1 ends it within $((2 * SLOW)) s ($took ms)" test $took -le $((2000 * SLOW))
	finish server
	check_parted "$4: SIG$1: the server ends by what it was doing"
	ok "$4: SIG$1: no thread is left" until_ok 5 no_threads
}
interrupted INT validate "DONE 0" "an endless client"
if [ -n "$(rounds many '')" ]; then
	interrupted TERM poll_ctx=busy "DONE 0" "an endless client that polls all the time"
	interrupted INT count=10000000 "ERROR 4" "a client with a count"
	interrupted INT count=10000000,poll "ERROR 4" "a client with a count that polls all the time"
fi
interrupted KILL validate "ERROR 4" "an endless client"
nothing_left "a signal"

# hanging OPTIONS: an endless client whose peer hangs, with its thread asleep or polling in the middle of a ping.
hanging() {
	background rping rping -s -a "$ADDR" -p $PORT
	until_ok 10 rping_listens
	start client "client,addr=$ADDR,port=$PORT,cpu=1$1" "${@:2}"
	wait_pings client
	kill -STOP "${PIDS[rping]}"
	until_ok 10 still client
	begin=$(now_ms)
}
# hung DESCRIPTION LEAST MOST WANTED: asserts how long the client took to end, and how it ended.
hung() {
	local took
	finish client
	took=$(($(now_ms) - begin))
	parse
	like "${F[state]} ${F[errno]} ${F[reason]}" "^$4\$" "the peer hangs: $1"
	ok "the peer hangs: $1: it took $took ms" test $took -ge "$2" -a $took -le "$3"
	kill -CONT "${PIDS[rping]}"
	kill -KILL "${PIDS[rping]}"
	wait "${PIDS[rping]}" 2>/dev/null
	unset 'PIDS[rping]'
	nothing_left "the peer hangs: $1"
}
# The first signal gives the iteration a second.
for options in $(rounds ",size=64 ,poll" ,poll); do
	hanging "$options"
	kill -INT "${PIDS[client]}"
	hung "SIGINT$options" 900 $((3000 * SLOW)) "ERROR 4 interrupted"
done
# KILL after that ends it at once, and not after that second; a slow kernel may need more than that for all else.
hanging ''
kill -INT "${PIDS[client]}"
nap 0.1
kill -KILL "${PIDS[client]}"
hung "SIGINT and SIGKILL" 0 $((SLOW > 1 ? 5000 : 900)) "ERROR 4 interrupted"
# A deadline is the same as a signal.
if [ -n "$(rounds many '')" ]; then
	hanging ",timeout=$((2000 * SLOW))ms"
	hung "timeout=" 0 $((5000 * SLOW)) "ERROR 110 not done within timeout=.*"
fi

# STOP ends an endless run, as it does without cpu=, and the next command works.
server server "server,addr=$ADDR,port=$PORT"
start client "client,addr=$ADDR,port=$PORT,cpu=1"
wait_pings client
kill -STOP "${PIDS[client]}"
nap 0.3
kill -CONT "${PIDS[client]}"
finish client
parse
is "${F[state]} ${F[errno]}" "DONE 0" "STOP and CONT: the client" || diag "${F[reason]}"
finish server

# --- the deadline, the peer, and the device ---
server server "server,addr=$ADDR,port=$PORT,cpu=0"
client "client,addr=$ADDR,port=$PORT,cpu=1,count=10000000,timeout=$((500 * SLOW))ms"
parse
is "${F[werr]} ${F[state]}" "ETIMEDOUT ERROR" "timeout=: ETIMEDOUT" || diag "${F[reason]}"
finish server
check_parted "timeout=: the server ends by what it was doing"

server server "server,addr=$ADDR,port=$PORT,cpu=0"
start client "client,addr=$ADDR,port=$PORT,cpu=1"
wait_pings client
rdma link delete "$LINK" 2>"$T/delete" &
deleter=$!
for name in client server; do
	finish $name 10
	parse
	is "${F[werr]} ${F[state]} ${F[errno]}" "ENODEV ERROR 19" "the link is deleted: the $name: ENODEV" || diag "${F[reason]}"
done
client "client,addr=$ADDR,port=$PORT,count=1,cpu=65535"
parse
is "${F[werr]} ${F[state]} ${F[reason]}" "EINVAL ERROR cpu: CPU 65535 is not online" "cpu=65535: there is no such CPU"
ok "the link can be deleted" until_ok 10 gone $deleter
ok "the link is made again" link_add "$LINK" d0 "$ADDR"
works_after "cpu="
nothing_left "cpu="
ok "no thread is left at the end" until_ok 5 no_threads

# --- a CPU that goes. It is the end of this test, since siw's thread of that CPU does not come back to it. ---
server server "server,addr=$ADDR,port=$PORT,cpu=1"
server idle "server,addr=$ADDR,port=$((PORT + 1)),cpu=1"
start client "client,addr=$ADDR,port=$PORT,cpu=0"
wait_pings client
echo 0 >/sys/devices/system/cpu/cpu1/online
wait_pings client $((F[iters] + 10))
kill -INT "${PIDS[client]}"
finish client
finish server
parse
is "${F[state]} ${F[errno]} ${F[reason]}" "ERROR 22 cpu: CPU 1 went offline during the test" "CPU 1 goes: the run on it says so"
client "client,addr=$ADDR,port=$((PORT + 1)),count=1"
finish idle
parse
is "${F[state]} ${F[errno]} ${F[reason]}" "ERROR 22 cpu: CPU 1 is not online" "CPU 1 has gone: the server finds it out"
client "client,addr=$ADDR,port=$PORT,count=1,cpu=1"
parse
is "${F[werr]} ${F[state]} ${F[reason]}" "EINVAL ERROR cpu: CPU 1 is not online" "CPU 1 has gone: the next run"
echo 1 >/sys/devices/system/cpu/cpu1/online
works_after "CPU 1 is back"
done_testing
