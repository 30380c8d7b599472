#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# cpu=: a run's thread stays on that CPU, until that CPU goes; it has the writer's priority. Two CPUs are needed.
# signals.t and remove.t end runs with cpu=.

. "$(dirname "$0")/lib.sh"

# where EVENT LINE [TEXT]: prints the CPUs and the threads' names of a run's events of one kind, if they have the text.
where() {
	parse "$2"
	sed -nE "s/^ *(.*)-[0-9]+ +\[0*([0-9]+)\].* krping_$1: run=${F[id]} .*${3-}.*/\2 \1/p" "$T/trace" | sort -u
}
no_threads() { ! pgrep '^krping/[0-9]'; }

resources_before
for options in $(rounds ",size=64 ,poll_ctx=softirq ,poll_ctx=busy ,chain ,test=fr" ",poll_ctx=softirq ,test=fr"); do
	traced "cpu=0$options" "krping_post_send krping_mr_map krping_conn krping_iter krping_run_end" \
		ping_pair ",count=20,cpu=1$options" ",count=20,cpu=0$options"
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
		is "$(where $event "$CLI")" "0 krping/$(field id "$CLI")" "cpu=0$options: and $event"
	done
done
ok "no thread is left" until_ok 5 no_threads

server server "server,addr=$ADDR,port=$PORT"
chrt -f 7 "$krwrite" --out "$T/client.result" "client,addr=$ADDR,port=$PORT,cpu=0" &
PIDS[client]=$!
wait_pings client
like "$(chrt -p "$(pgrep "^krping/${F[id]}$")")" 'SCHED_FIFO.*priority: 7' "the thread has the writer's policy and priority"
interrupt_is client state DONE "with a priority: the client" || diag "$(reason)"
finish server

refused "cpu=65535: there is no such CPU" "client,addr=$ADDR,port=$PORT,count=1,cpu=65535" "EINVAL cpu: CPU 65535 is not online"
nothing_left "cpu="

# A CPU goes that has completion vectors of eight connections. This is the end: siw's thread of that CPU does not come back to the CPU.
server server "server,addr=$ADDR,port=$PORT,cpu=1"
server idle "server,addr=$ADDR,port=$((PORT + 1)),cpu=1"
pinging client "client,addr=$ADDR,port=$PORT,cpu=0"
contexts=(thread softirq workqueue) at=$((PORT + 2))
for ctx in "${contexts[@]}"; do
	server "$ctx-server" "server,addr=$ADDR,port=$at"
	pinging $ctx "client,addr=$ADDR,port=$at,bw,queues=8,txdepth=1,poll_ctx=$ctx" 100
	at=$((at + 1))
done
echo 0 >/sys/devices/system/cpu/cpu1/online
for ctx in "${contexts[@]}"; do
	more_pings $ctx 100
	interrupt_is $ctx "werr state" "0 DONE" "CPU 1 goes: a client with eight connections, $ctx, goes on, and ends well"
	finish "$ctx-server" # the client may leave without a word, if it is slow to end
done
pings client
wait_pings client $((F[iters] + 10))
pair_off
is "$(field state) $(field errno) $(reason)" "ERROR 22 cpu: CPU 1 went offline during the test" "CPU 1 goes: the run on it says so"
client "client,addr=$ADDR,port=$((PORT + 1)),count=1"
finish_is idle "state errno reason" "ERROR 22 cpu: CPU 1 went offline during the test" "CPU 1 has gone: so does one that waited"
refused "CPU 1 has gone: the next run" "client,addr=$ADDR,port=$PORT,count=1,cpu=1" "EINVAL cpu: CPU 1 is not online"
echo 1 >/sys/devices/system/cpu/cpu1/online
works_after "CPU 1 is back"
ok "no thread is left at the end" until_ok 5 no_threads
done_testing
