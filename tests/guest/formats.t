#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The formats of the events have not changed, and a parser that is not ours can read them.

. "$(dirname "$0")/lib.sh"

# --- golden list: EVENT, then TYPE NAME of each field, in order ---
shopt -s nullglob
for file in $TRACING/events/krping/krping_*/format; do
	awk '
		/^name: / { line = $2 }
		/^\tfield:/ && !/ common_/ {
			sub(/^\tfield:/, ""); sub(/;.*/, ""); line = line "; " $0
		}
		END { print line }' "$file"
done >"$T/events"
sort -o "$T/events" "$T/events"
grep -v '^#' "$here/events.golden" | sort >"$T/golden"
is "$(diff "$T/golden" "$T/events")" '' "the events have the fields of events.golden, and there are no others" ||
	diag "Events are append-only. A change needs a new KRPING_EVENTS_ABI, and events.golden."

# --- trace-cmd: one run is recorded, and parsed ---
cd "$T" || exit 1
trace-cmd record -q -e krping -o trace.dat sh -c "sleep 0.5; '$krwrite' --out '$T/s' 'server,addr=$ADDR,port=$PORT,validate' &
	until grep -q ' listen' /proc/krping; do sleep 0.1; done; sleep 0.3
	'$krwrite' --out '$T/c' 'client,addr=$ADDR,port=$PORT,count=23,validate'; wait" >record.log 2>&1
check_good "recorded: server" "$(cat s)" 23
check_good "recorded: client" "$(cat c)" 23
trace-cmd report -i trace.dat >report 2>report.err
is "$(grep -c 'FAILED TO PARSE\|\[UNKNOWN EVENT\|bad arg' report report.err)" "report:0
report.err:0" "trace-cmd parses every event"
for kind in RECV SEND READ WRITE REG_MR LOCAL_INV; do
	ok "trace-cmd shows kind=$kind" grep -q "kind=$kind " report
done
for text in 'phase=send_sink prev=reg_sink' 'RDMA_WRITE_COMPLETE(9) -> CONNECTED(5)' 'role=server test=rping' \
	'event=CONNECT_REQUEST' 'status=WR_FLUSH_ERR' 'access=LOCAL_WRITE|REMOTE_WRITE' 'flags=signaled' \
	'state=valid' 'flags=validate' "dev=$LINK/1" 'flags=commit'; do
	ok "trace-cmd shows $text" grep -qF "$text" report
done
for event in run_start run_end result conn addr state phase cm_event adv_send adv_recv post_send post_recv post_return cq_event wc \
	wc_flush mr_map mr_fastreg mr_localinv mr_dereg wait validate iter iter_phases iter_stages iter_memory iter_split; do
	ok "trace-cmd has krping_$event" grep -q "krping_$event:" report
done
# Nobody else is attached: to record them is to ask for what they cost.
# trace-cmd prints words as decimal numbers; the kernel has them in hexadecimal.
ok "trace-cmd has the stages of phases that waited" perl -ne 'next unless /krping_iter_stages: .*flags=commit .*words=(.*)/;
	$n += grep { ((/^0x/ ? hex : $_) & 0xfff) == 0x810 } $1 =~ /(0x[0-9a-f]+|[0-9]+)/g; END { exit !$n }' report ||
	diag "$(grep -m1 'krping_iter_stages: .*flags=commit' report)"
is "$(grep -c ' krping_wait: ' report)" $((23 * 6)) "trace-cmd counts as many krping_wait as there are waits"

done_testing
