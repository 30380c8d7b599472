#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Every event of 23 pings, counted through ftrace, against the protocol's arithmetic (events.pl has it) and
# against what /proc says.

. "$(dirname "$0")/lib.sh"

# The number of modes in which rxe has not acknowledged the client's last SEND: with one CPU that is a failure, see events.pl.
unacked=0
# flush_last: changes the trace of a good pair to what it is in such a mode.
flush_last() {
	local client
	client=$(sed -n 's/.* krping_run_start: run=\([0-9]*\) .*role=client.*/\1/p' "$T/trace")
	tac "$T/trace" | sed "0,/krping_wc: run=$client .* kind=SEND /s/krping_wc: \(run=$client .* kind=SEND\) .*/krping_wc_flush: \1 status=WR_FLUSH_ERR (5\/0x0)/" |
		tac >"$T/flushed"
}
# recorded SERVER-OPTIONS CLIENT-OPTIONS: makes 23 pings that end well, with their events in $T/trace and their lines in $T/runs.
recorded() {
	traced "$1" . good_pair "$1" 23 "$1" "$2"
	printf '%s\n' "$CLI" "$SRV" >"$T/runs"
}
modes=('' validate server_inv "server_inv,validate" chain "chain,server_inv"
	poll_ctx={softirq,workqueue,busy} "chain,poll_ctx=softirq" "chain,poll_ctx=busy"
	local_dma_lkey "chain,local_dma_lkey" mem_mode=dma "chain,mem_mode=dma" srq "chain,srq,poll_ctx=softirq")
# Only iWARP has READ_WITH_INV.
inv=(read_inv "read_inv,local_dma_lkey" "chain,read_inv,server_inv")
[ "$(rounds many few)" = many ] || modes=('' validate "server_inv,validate" "chain,server_inv" poll_ctx=workqueue "chain,poll_ctx=softirq"
	poll_ctx=busy local_dma_lkey mem_mode=dma "chain,srq,poll_ctx=softirq") inv=(read_inv "chain,read_inv,server_inv")
[ "$PROVIDER" != siw ] || modes+=("${inv[@]}")
echo 1 >/sys/module/rdma_krping/parameters/allow_dma_key
for mode in "${modes[@]}"; do
	opts=,count=23${mode:+,$mode}
	recorded "$opts" "${opts/,read_inv/}"
	absorb "$here/events.pl" 23 "$mode" "$T/trace" "$T/runs"
	if grep -q "krping_wc_flush: run=$(field id "$CLI") .* kind=SEND " "$T/trace"; then
		unacked=$((unacked + 1))
	elif [ "$mode $PROVIDER" = ' rxe' ]; then
		flush_last
		ok "a SEND of the client was not acknowledged" grep -q 'krping_wc_flush: .* kind=SEND ' "$T/flushed"
		KRPING_TURNS=1 absorb "$here/events.pl" 23 "$mode" "$T/flushed" "$T/runs"
	fi
done
[ $unacked = 0 ] || diag "last SENDs that were not acknowledged: $unacked"

# The server leaves before rxe has acknowledged the last of the client's SENDs, of which a ping has two. The client has the answer, and
# waits in the same phase until its memory region is free: the acknowledgement would tell it that, and here the flush does.
if [ "$PROVIDER" = rxe ]; then
	for mode in $(rounds "'' validate chain poll_ctx=softirq poll_ctx=workqueue poll_ctx=busy" "'' chain poll_ctx=softirq"); do
		mode=${mode#"''"}
		opts=,count=23${mode:+,$mode}
		ok "$opts: the client's last SEND will not be acknowledged" insmod "$PLANTS/krping_unacked.ko" msn=$((2 * 23))
		recorded "$opts" "$opts"
		ok "$opts: its acknowledgement was made useless" test "$(cat /sys/module/krping_unacked/parameters/changed)" -ge 1
		rmmod krping_unacked
		ok "$opts: the SEND was flushed" grep -q "krping_wc_flush: run=$(field id "$CLI") .* kind=SEND " "$T/trace"
		KRPING_TURNS=1 absorb "$here/events.pl" 23 "$mode" "$T/trace" "$T/runs"
	done
	# What the peer has answered was done all the same: krping-mr counts the registrations before that SEND.
	insmod "$PLANTS/krping_unacked.ko" msn=$((2 * 23))
	over ,count=23,server_inv krping-mr -j
	ok "krping-mr: its acknowledgement was made useless" test "$(cat /sys/module/krping_unacked/parameters/changed)" -ge 1
	rmmod krping_unacked
	load krping-mr '{costs: [.costs[] | [.pages, .map.count, .post.count, .done.count]]}'
	is "$RC ${Q[costs]-}" '0 [[1,92,92,92]]' "krping-mr: 92 registrations, all of them done"
fi

echo 0 >/sys/module/rdma_krping/parameters/allow_dma_key

# With the events off, the module reads the clock only for the run's own figures: once for each iteration, and at both
# ends of the run.
if grep -qx ktime_get $TRACING/available_filter_functions; then
	echo 0 >$TRACING/tracing_on
	echo >$TRACING/trace
	echo ktime_get >$TRACING/set_ftrace_filter
	echo function >$TRACING/current_tracer
	echo 1 >$TRACING/tracing_on
	ping_pair ",count=101" ",count=101"
	echo 0 >$TRACING/tracing_on
	check_good "function tracer: client" "$CLI" 101
	reads=$(sed -n 's/.*: ktime_get <-\(krping_[a-z_]*\)$/\1/p' $TRACING/trace | sort | uniq -c | awk '{ printf "%s=%s ", $2, $1 }')
	echo nop >$TRACING/current_tracer
	echo >$TRACING/set_ftrace_filter
	like "$reads" '^krping_iter_begin=2 krping_iter_end=202 (krping_(run|record)[a-z_]*=[0-9]{1,2} )*$' \
		"with the events off the clock is read once an iteration, and nowhere on its way"
else
	skip "ktime_get() cannot be traced on this kernel"
fi

# /proc/krping is read while pings run, with a marker before and one after the read. What it shows lies between the
# number of events before the first marker (less one, whose counter may not be up yet) and the number before the second.
# A SEND, WRITE or READ counts when it was posted, a RECV when it has completed.
trace_on krping_wc krping_post_send
server endless "server,addr=$ADDR,port=$PORT"
pinging endless-client "client,addr=$ADDR,port=$PORT" 50
run_line "${PIDS[endless]}" && id=$(field id)
echo before >$TRACING/trace_marker
classic=$(cat /proc/krping)
echo after >$TRACING/trace_marker
interrupt endless-client
finish endless
trace_end "endless run"
classic=$(grep "^$id-" <<<"$classic")
like "$classic" "^$id-$LINK [0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+$" "/proc/krping has the classic line"
while read -r name column event kind; do
	read -r low high < <(perl -ne '$n++ if /krping_'$event': run='$id' .*kind='$kind' /; $at{$1} = $n if /tracing_mark_write: (\w+)/;
		END { print join(" ", map { $_ // 0 } @at{qw(before after)}), "\n" }' "$T/trace")
	read -ra columns <<<"$classic"
	value=${columns[column]:-none}
	ok "/proc/krping's $name counts what krping_$event tells: $low - 1 <= $value <= $high, and more than 40" \
		test $((value >= low - 1 && value <= high && value > 40)) = 1
done <<'END'
send_msgs 2 post_send SEND
recv_msgs 4 wc RECV
write_msgs 6 post_send WRITE
read_msgs 8 post_send READ
END

# A listener attaches in the last phase of an iteration. When this phase ends, the iteration has been counted already.
rping_server
pinging client "client,addr=$ADDR,port=$PORT,count=1000000"
until_ok 60 rping_stopped client RDMA_WRITE_ADV
first=${F[iters]-}
is "${F[phase]-}" wait_write "the client waits for the end of an iteration"
trace_on krping_iter
kill -CONT "${PIDS[rping]}"
wait_pings client $((first + 5))
trace_off
interrupt client
rping_ends
iters=$(sed -n 's/.* krping_iter: .* iter=\([0-9]*\) flags=\([^ ]*\) .*/\1 \2/p' $TRACING/trace | head -3 | xargs)
is "$iters" "$first commit|part $((first + 1)) commit $((first + 2)) commit" "each iteration is told with its number, also of the first the last part"

done_testing
