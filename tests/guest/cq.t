#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A run's CQs live longer than those who use them. Where the core polls, its softirq arms a CQ again after it has let go of
# it; where the thread polls, the provider may still be in its call of the CQ's handler, which woke the thread.
# tests/plant/krping_hold.c holds either at that point, so that the thread has the time to reach the CQ's destruction.

. "$(dirname "$0")/lib.sh"

P=/sys/module/krping_hold/parameters

# A caller that is held in a post leaves the completion to others: the run's drain must not take it for a refusal.
echo 'p:krping_core_drain ib_drain_qp' >>$TRACING/kprobe_events
echo 1 >$TRACING/events/kprobes/krping_core_drain/enable
PAIRS=$(rounds 10 4 2)
# CONTEXT EVENT LEAST WHO; LEAST is how many are held in a pair at least. A thread that is busy asks for signals only while its
# connection comes and goes, so some pairs have none, and there are more pairs until there was one.
rows=0
while read -r ctx event least who <&3; do
	rows=$((rows + 1))
	[ "$event" != - ] || event=
	ok "$ctx: $who can be held" insmod "$PLANTS/krping_hold.ko" "provider=$PROVIDER" "event=$event"
	ended=0
	for ((i = 0; i < PAIRS || (i < 100 && $(cat $P/held) == 0); i++)); do
		ping_pair ",count=1,poll_ctx=$ctx" ",count=1,poll_ctx=$ctx"
		for LINE in "$CLI" "$SRV"; do
			parse
			[ "${F[state]} ${F[errno]} ${F[iters]}" != "DONE 0 1" ] || ended=$((ended + 1))
		done
	done
	is $ended $((2 * i)) "$ctx: $((2 * i)) runs ended well" || diag "$(tail -n 4 /proc/krping_runs)"
	held=$(cat $P/held)
	ok "$ctx: $who were held: $held" test "$held" -ge $((least ? PAIRS : 1))
	is "$(cat $P/overtaken)" 0 "$ctx: no CQ was destroyed under one"
	ok "$ctx: they are held no longer" rmmod krping_hold
done 3<<'END'
softirq - 1 softirqs
softirq ib_cq_completion_softirq 1 callers
thread krping_cq_event 1 callers
busy krping_cq_event 0 callers
workqueue ib_cq_completion_workqueue 1 callers
END
is $rows 5 "all were tried"
is "$(awk '$1 == "krping_core_drain" { print $2 + $3 }' $TRACING/kprobe_profile)" 0 "each run drained by itself, none by the core"
echo 0 >$TRACING/events/kprobes/krping_core_drain/enable
echo '-:krping_core_drain' >>$TRACING/kprobe_events
done_testing
