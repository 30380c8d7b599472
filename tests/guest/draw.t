#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make soak SECONDS=N: tells all lies of the table of liar_rows.sh, each in all its tests, in a random order, and again for so long.
# A size, a number of honest iterations before the lie, and who polls at our end are drawn; krping-trace is attached to all of it. The seed is printed: with KRPING_SEED=SEED in the environment
# the same lies are told again, in the same order. No gate has this, since it is chance what is drawn; liar.t tells a fixed third.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/liar.sh"

seconds=${KRPING_SOAK:-90}
KRPING_SEED=${KRPING_SEED:-$((SRANDOM % 32768))}
RANDOM=$KRPING_SEED
diag "KRPING_SEED=$KRPING_SEED"
mapfile -t rows < <(lies)
ok "there are lies (${#rows[@]})" test ${#rows[@]} -ge 250
sizes=(64 100 4096 4097 65537 131072 1048576)
polls=('' '' '' softirq workqueue busy)

# shuffle: fills the deck with each row in each of its tests, NR:TEST.
deck=()
shuffle() {
	local nr test tests i other
	for ((nr = 0; nr < ${#rows[@]}; nr++)); do
		IFS='~' read -r _ _ tests _ <<<"${rows[nr]}"
		for test in $tests; do deck+=("$nr:$test"); done
	done
	for ((i = ${#deck[@]} - 1; i > 0; i--)); do
		other=$((RANDOM % (i + 1))) test=${deck[i]}
		deck[i]=${deck[other]} deck[other]=$test
	done
	diag "all lies: ${#deck[@]}"
}

attach krping-trace -E 'run_*,cm_event,reject,wc_err,mr_*'
lies_begin
end=$((EPOCHSECONDS + seconds)) told=0
while [ $EPOCHSECONDS -lt $end ] && [ $tap_failed -lt 8 ]; do
	[ ${#deck[@]} -gt 0 ] || shuffle
	IFS=: read -r nr test <<<"${deck[-1]}"
	unset 'deck[-1]'
	row=${rows[nr]}
	IFS='~' read -r _ _ _ ours _ <<<"$row"
	size=${sizes[RANDOM % ${#sizes[@]}]} pings=$((RANDOM % 4)) poll=${polls[RANDOM % ${#polls[@]}]}
	# A server takes no more of a classic client that does not say how much it sends.
	[[ $row = server* || $size -le 131072 ]] || size=131072
	poll=${poll:+,poll_ctx=$poll}
	[[ $ours != *poll_ctx=* ]] || poll=''
	told=$((told + 1))
	diag "lie $told: size=$size pings=$pings$poll"
	lie "$row" "$test" "$size" "$pings" "$poll"
done
ok "lies were told: $told" test $told -ge $((seconds / (20 * SLOW)))
lies_end
tool_ends "krping-trace, attached to all of it, ends with 0" krping-trace INT || diag "$(cat "$T/krping-trace.err")"
# On a slow kernel an event may come so late that it is told behind a later one, which krping-trace counts.
late=''
[ "$SLOW" = 1 ] || late='(, out of order [0-9]+)?'
like "$(tail -n 1 "$T/krping-trace.out")" "^events [1-9][0-9]*, lost events 0$late\$" "krping-trace has lost nothing"
done_testing "after all the lies"
