#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Draws lies from the table of liar_rows.h, with a test, a size, a number of honest iterations before it, and who polls at our end,
# for as long as there is time: 90 s, or 240 s on the debug kernel, where krping-trace is attached to all of it; make soak
# SECONDS=N goes on for N. What is drawn depends on the seed, which is printed. It is made of the module's sources, so that a
# landed tree draws what was tested, and no machine is so fast that it draws more; make soak draws at random, without that end.
# With KRPING_SEED=SEED in the environment the same lies are told again, in the same order.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-tools.sh"
. "$(dirname "$0")/liar.sh"

alarms=''
[[ ${KRPING_SUITE-} != @(debug|alarms) ]] || alarms=1
seconds=${alarms:+240}
seconds=${seconds:-90}
seconds=${KRPING_SOAK:-$seconds}
chance=$(($(cat "$here"/../../module/*.[ch] | cksum | cut -d' ' -f1) % 32768))
[ -z "${KRPING_SOAK:-}" ] || chance=$((SRANDOM % 32768))
KRPING_SEED=${KRPING_SEED:-$chance}
RANDOM=$KRPING_SEED
diag "KRPING_SEED=$KRPING_SEED"
mapfile -t rows < <("$liar" list "$PROVIDER")
ok "there are lies (${#rows[@]})" test ${#rows[@]} -ge 130
sizes=(64 100 4096 4097 65537 131072)
polls=('' '' '' softirq workqueue busy)

if [ -n "$alarms" ] || [ -n "${KRPING_SOAK:-}" ]; then
	tool krping-trace -E 'run_*,cm_event,reject,wc_err,mr_*'
	attached krping-trace
fi
lies_begin
# So many are drawn before the time is over on a machine without KVM.
most=80
[ -z "$alarms" ] || most=30
[ -z "${KRPING_SOAK:-}" ] || most=1000000000
end=$((EPOCHSECONDS + seconds)) told=0
while [ $EPOCHSECONDS -lt $end ] && [ $told -lt $most ] && [ $tap_failed -lt 8 ]; do
	row=${rows[RANDOM % ${#rows[@]}]}
	IFS='~' read -r _ _ tests ours _ <<<"$row"
	read -ra tests <<<"$tests"
	test=${tests[RANDOM % ${#tests[@]}]} size=${sizes[RANDOM % ${#sizes[@]}]} pings=$((RANDOM % 4)) poll=${polls[RANDOM % ${#polls[@]}]}
	poll=${poll:+,poll_ctx=$poll}
	[[ $ours != *poll_ctx=* ]] || poll=''
	told=$((told + 1))
	diag "lie $told: size=$size pings=$pings$poll"
	lie "$row" "$test" "$size" "$pings" "$poll"
done
ok "lies were told: $told" test $told -ge $((seconds / 20))
lies_end
if [ -n "${PIDS[krping-trace]-}" ]; then
	tool_end krping-trace INT
	is "$RC" 0 "krping-trace, attached to all of it, ends with 0" || diag "$(cat "$T/krping-trace.err")"
	like "$(tail -n 1 "$T/krping-trace.out")" '^events [1-9][0-9]*, lost events 0$' "krping-trace has lost nothing"
fi
works_after "after all the lies"
done_testing
