#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# idle=: a client that does not begin, or is gone, is ended, and its place serves others; a healthy one never is, however little it sends.

. "$(dirname "$0")/lib.sh"

C="client,addr=$ADDR,port=$PORT"
resources_before

# Healthy clients that send nothing for several times as long: each makes an iteration, and pauses. With them are one that begins, and is
# silent then, while its device answers; and one that does not begin.
serve ,persistent,clients=8,idle=4s
background alive "$liar" client "$ADDR" $PORT pings=1 leave=1 by=2
background silent "$liar" client "$ADDR" $PORT pings=0 leave=1 by=2
for test in rping fr rlat wlat; do start "$test" "$C,test=$test,count=2,interval=12s"; done
ok "a client that does not begin is ended" until_ok 10 clients_over 1 1
is "$(reasons)" "110 the client did not begin for idle=4s" "its reason"
for test in rping fr rlat wlat; do
	finish "$test" 60
	check_good "$test: a pause of 12 s" "$LINE" 2
done
clients_over 5 1
is "${F[served]} ${F[failed]}" "5 1" "nobody else was ended"
for name in alive silent; do tool_end $name KILL; done
until_ok 10 clients_over 6 2

# A client that is gone. On siw nothing reaches it any more; on rxe its queue pair is in the error state, and answers nothing. The looks
# after its last message are counted, which does not depend on the load: the first one still hears of it, and after four more idle= has
# passed. One more may come between the last message and what that message made the server do.
parting_on
echo "function == 0x$(awk '$3 == "krping_idle_work" { print $1 }' /proc/kallsyms)" >$PARTING/events/workqueue/workqueue_execute_start/filter
echo 1 >$PARTING/events/workqueue/workqueue_execute_start/enable
echo 1 >$PARTING/events/krping/krping_wc/enable
if [ "$PROVIDER" = siw ]; then
	pinging gone "$C"
	ok "the network of siw is cut" tc qdisc add dev lo root netem loss 100%
else
	background gone "$liar" client "$ADDR" $PORT pings=1 leave=1 by=3
fi
ok "a client that is gone is ended" until_ok 10 clients_over 7 3
is "$(reasons | tail -n 1)" "110 nothing came from the client for idle=4s" "its reason"
looks=$(awk '/ krping_wc: .* kind=RECV / { n = 0 } / function krping_idle_work/ { n++ } END { print n + 0 }' $PARTING/trace)
ok "it is ended as soon as idle= has passed" test "$looks" -ge 2 -a "$looks" -le 6 || diag "$looks looks after its last message"
parting_off
[ "$PROVIDER" != siw ] || tc qdisc del dev lo root
tool_end gone KILL
client_good "the next client" "$C,count=3" 3
# Its device answers while it is sending something else.
client_is "$C,test=bw,size=64K,timeout=4s" "werr state" "0 DONE" "a client that only WRITEs goes on"

interrupt_is server "state served failed" "DONE 9 3" "the server"

# The looks of a longer idle= are two seconds apart at most, so that it is over soon after: twice as far apart as those of idle=4s, which
# are at a quarter of it. What counts is the delay that is asked for, and not when the load lets the look be.
echo 'p:krping_looks queue_delayed_work_on delay=%cx:u64 func=+24(%dx):x64' >>$TRACING/kprobe_events
trigger="hist:keys=delay if func == 0x$(awk '$3 == "krping_idle_work" { print $1 }' /proc/kallsyms)"
echo "$trigger" >$TRACING/events/kprobes/krping_looks/trigger
delays() { sed -n 's/^{ delay: *\([0-9]*\) }.*/\1/p' $TRACING/events/kprobes/krping_looks/hist | sort -n | tr '\n' ' '; }
n=0
for idle in 4s 100s; do
	serve ",persistent,clients=4,idle=$idle"
	background silent "$liar" client "$ADDR" $PORT pings=0 leave=1 by=2
	are_delays() { [ "$(delays | wc -w)" = $1 ]; }
	ok "idle=$idle: it is looked for" until_ok 10 are_delays $((n += 1))
	interrupt server
	tool_end silent KILL
done
read -r short long <<<"$(delays)"
ok "the looks of idle=100s are no more than twice as far apart as those of idle=4s: $short, $long" test "${long:-0}" -gt 0 -a "${long:-0}" -le $((2 * short))
echo "!$trigger" >$TRACING/events/kprobes/krping_looks/trigger
echo '-:krping_looks' >>$TRACING/kprobe_events
nothing_left "idle"
done_testing
