#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# More iterations than any soft provider makes: tests/plant/krping_outrun.c raises the events of two runs, one on each CPU. At 300,000
# iterations a second the tools read all of them. When there are as many as there can be, what a tool has not read it has
# counted, to the last one, and the residual is 0.

. "$(dirname "$0")/lib.sh"
P=/sys/module/krping_outrun/parameters
tools=(krping-top krping-stages krping-mr)
records=()

# outrun RATE COUNT: two runs of COUNT iterations; sets PER_SECOND to what there really were.
outrun() {
	local ns
	insmod "$PLANTS/krping_outrun.ko" "rate=$1" "count=$2" || return
	ns=$(cat $P/ns)
	PER_SECOND=$((2 * $2 * 1000000000 / ns))
	rmmod krping_outrun
}

# watched RATE COUNT TOOL...: outrun while these tools are attached.
watched() {
	local rate=$1 count=$2 t
	shift 2
	for t in "$@"; do tool "$t" -j 1 "${records[@]}"; done
	attached "$@"
	outrun "$rate" "$count" || return
	nap 1.2
	for t in "$@"; do tool_end "$t" INT; done
}

# account TOOL: prints of each run how many iterations the tool has seen, and what must be 0 if it has seen all.
account() {
	local got
	case $1 in
	krping-top) got='.iters_seen, 0' ;;
	krping-stages) got='.iteration.count, .not_seen.count + .residual_ns + .holes' ;;
	# It reads what iterations did with memory, which here is nothing, and does not count the others.
	krping-mr) got="$N - .not_seen, .not_seen_records + .not_seen_ns + .off_balance" ;;
	esac
	load "$1" "{account: [.runs[] | select(.run >= 3000000000) | [$got]]}"
	echo "${Q[account]-}"
}
# all_seen TOOL...: has each of them seen all?
all_seen() {
	local t
	for t; do
		[ "$(account "$t")" = "[[$N,0],[$N,0]]" ] || return
	done
}

# --- nothing is lost ---
N=150000
for list in "${tools[@]}"; do
	# The emulator may be kept from working by its host, and then the tools wait while the events do not.
	for try in 1 2 3; do
		watched 300000 $N "$list"
		all_seen "$list" && [ "$PER_SECOND" -ge 270000 ] && break
	done
	is "$(account "$list")" "[[$N,0],[$N,0]]" "$list has seen all $N iterations of each run, $PER_SECOND in a second, try $try"
	ok "there were at least 270,000 in a second" test "$PER_SECOND" -ge 270000
done

# krping-record reads two events of an iteration. Into no file: an emulated CPU takes longer to copy 96 MB into one than they last.
for try in 1 2 3; do
	attach krping-record -o /dev/null
	outrun 300000 $N
	nap 1.2
	tool_end krping-record INT
	got=$(tail -n 1 "$T/krping-record.err")
	[[ $got == *": $((4 * N + 4)) events, "*" lost 0" && $PER_SECOND -ge 270000 ]] && break
done
like "$got" ": $((4 * N + 4)) events, [0-9]+ bytes, lost 0\$" "krping-record has read both events of all iterations, $PER_SECOND in a second, try $try"
ok "there were at least 270,000 in a second" test "$PER_SECOND" -ge 270000

# --- what is lost is counted ---
# Rings that are soon full, so that something of each run is lost.
records=(--records 64)
N=300000
watched 0 $N "${tools[@]}"
# An iteration is three events, one for each tool.
ok "all three, and as many events as there can be, at least 600,000 in a second: $((3 * PER_SECOND))" test $((3 * PER_SECOND)) -ge 600000
load krping-top '{lost: (.lost > 0), runs: [.runs[] | select(.run >= 3000000000) | .iters_seen]}'
is "${Q[lost]-} $(jq -c "map(. > 0 and . < $N)" <<<"${Q[runs]-}")" 'true [true,true]' "krping-top: some were not seen, and it says so: ${Q[runs]-}"
load krping-stages '{runs: [.runs[] | select(.run >= 3000000000) | [.iteration.count, .not_seen.count]],
	bad: [.runs[] | select(.run >= 3000000000) | .residual_ns, .holes]}'
is "$(jq -c 'map(add)' <<<"${Q[runs]-}") ${Q[bad]-}" "[$N,$N] [0,0,0,0]" "krping-stages: seen and not seen are all iterations, nothing remains: ${Q[runs]-}"
ok "krping-stages: some were not seen" test "$(jq 'map(.[1]) | add' <<<"${Q[runs]-}")" -gt 0
load krping-mr '{runs: [.runs[] | select(.run >= 3000000000) | [.not_seen, .not_seen_records]]}'
is "$(jq -c "map(.[0] == .[1] and .[0] > 0 and .[0] <= $N)" <<<"${Q[runs]-}")" '[true,true]' "krping-mr: some were not seen, each of one record: ${Q[runs]-}"
done_testing
