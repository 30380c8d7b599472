#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Tools come and go, while runs go on and between them: each has all of what was since it came, and leaves nothing behind.
# What a tool has read too late it counts, in number and in time.

. "$(dirname "$0")/lib.sh"

tools=(krping-top krping-stages krping-mr)

# programs: how many there are at the end of an iteration.
programs() { bpftool -j prog show | jq '[.[] | select(.name | test("^iter_(phases|stages|memory)$"))] | length'; }
no_programs() { [ "$(programs)" = 0 ]; }
refs() { cat /sys/module/rdma_krping/refcnt; }
unused() { [ "$(refs)" = 0 ]; }

# exact TOOL WHAT ITERATIONS: asserts that the last object of the tool has all iterations of the runs SRV and CLI, and lost nothing.
exact() {
	local want got
	case $1 in
	krping-top) got='.iters_seen, .iters' want="$3,$3" ;;
	krping-stages) got='.iteration.count, .residual_ns, .not_seen.records, .holes' want="$3,0,0,0" ;;
	krping-mr) got='.fastreg, .off_balance, .not_seen_records' want="$((2 * $3)),0,0" ;;
	esac
	load "$1" "{lost, runs: ([.runs[] | select(.run == $(field id "$SRV") or .run == $(field id "$CLI")) | [.run, $got]] | sort)}"
	is "${Q[lost]-} ${Q[runs]-}" "0 [[$(field id "$SRV"),$want],[$(field id "$CLI"),$want]]" "$1: $2"
}

# late_account WHAT: krping-stages, which came late, has ended, and its account of both ends is whole.
late_account() {
	load krping-stages '{late: ([.runs[].attached_late] | unique), residual: [.runs[].residual_ns], n: [.runs[].iteration.count], not: [.runs[].not_seen.records]}'
	is "$RC ${Q[late]-} ${Q[residual]-} ${Q[not]-}" "0 [true] [0,0] [0,0]" "$1"
}

# --- all at once, two of one kind ---
watch "${tools[@]}"
attach_as too krping-stages -j
is "$(programs)" 4 "each has a program"
good_pair "watched by four" 50 ",count=50"
memory=$(bpftool -j map show | jq '[.[] | .bytes_memlock] | add')
watched "all at once" "${tools[@]}"
tool_end too INT
for t in "${tools[@]}"; do exact "$t" "all of it" 50; done
ok "their maps have room for 512 runs, and $((memory >> 20)) MiB: less than 64" test "$memory" -lt $((64 << 20))
ok "nothing is left when the last one has ended" until_ok 5 no_programs

# --- SIGKILL in the middle of a run ---
attach_as first krping-stages -j 1
tool krping-stages -j 1
attached krping-stages
pair_on 50
tool_end first KILL
ok "and the module is held" test "$(refs)" -gt 0
wait_pings client 100
pair_off
tool_end krping-stages INT
exact krping-stages "the one that is left has seen all" "$(field iters "$CLI")"
pair_on 50
watch krping-stages
wait_pings client 100
pair_off
tool_end krping-stages INT
late_account "one that came in the middle: its account begins there, and is whole"
ok "and has pings: ${Q[n]-}" test "${Q[n]-}" != '[0,0]'
ok "nothing is left" until_ok 5 no_programs
ok "nothing holds the module" until_ok 5 unused

# --- in the middle of a run ---
pair_on 50
attach krping-top -j --total 0.5
wait_pings client 150
pair_off
more_lines 2 krping-top
tool_end krping-top INT
got=$(jq -cs '.[-2].runs[] | select(.role == "client") | [.attached_late, .interval_iters > 0, .interval_iters <= .iters - 50,
	([.interval_iters, (.phases[] | select(.phase | test("^(send_|wait_(read|write))")) | .count)] | unique | length)]' "$T/krping-top.out")
is "$RC $got" '0 [true,true,true,1]' "krping-top: its sums begin there, and have each phase of each ping since then"

# krping-stages comes while both ends are in a pause, or an iteration, of two seconds, of which its event has a part.
watch krping-mr
pair_on 2 '' ,interval=2s
watch krping-stages
wait_pings client 4
pair_off
tool_end krping-stages INT
tool_end krping-mr INT
late_account "krping-stages: its account begins with the first whole iteration"

# --- slots are used again ---
# krping-top looks at the last of six runs, each of which needs a slot while it goes on; a pair has two numbers.
last=$(sed -n 's/^id=\([0-9]*\) .*/\1/p' /proc/krping_runs | sort -n | tail -n 1)
background krping-top krping-top -j --max-runs 2 --run $((last + 6)) 0.3
background krping-stages krping-stages -j --max-runs 2 0.3
attached krping-top krping-stages
ids=''
for i in 1 2 3; do
	ping_pair ",count=5" ",count=5"
	ids+="$(field id "$SRV") $(field id "$CLI") "
	# The slot of a run that is over is free at the latest when the tool prints its next line.
	more_lines 3 krping-stages
	[ $i = 3 ] || more_lines 3 krping-top
done
tool_end krping-stages INT
tool_ends "krping-top --run ends with its run" krping-top
load krping-stages '{lost, dropped: .runs_dropped, runs: ([.runs[] | .run, .iteration.count, .residual_ns] | join(" "))}'
want=''
for i in $ids; do want+="$i 5 0 "; done
is "${Q[lost]-} ${Q[dropped]-} ${Q[runs]-}" "0 0 ${want% }" "--max-runs 2: six runs, one pair after another"
load krping-top '{lost, runs: ([.runs[] | [.run, .iters_seen]])}'
is "${Q[lost]-} ${Q[runs]-}" "0 [[$((last + 6)),5]]" "krping-top --max-runs 2 --run: so has the last of them"

# --- what is read too late ---
attach krping-stages -j --records 4
background krping-stages-text krping-stages --records 4
attach krping-mr -j --records 4
background krping-mr-text krping-mr --records 4
late=(krping-stages{,-text} krping-mr{,-text})
attached "${late[@]}"
is "$(bpftool -j map show | jq -c '[.[] | select(.type == "ringbuf") | .max_entries] | sort')" '[4096,4096,4096,4096]' \
	"--records 4: rings of 4 KiB, one for each tool"
trace_on krping_iter
for t in "${late[@]}"; do kill -STOP "${PIDS[$t]}"; done
good_pair "nobody reads" 300 ",count=300"
for t in "${late[@]}"; do kill -CONT "${PIDS[$t]}"; done
trace_end "nobody reads"
for t in "${late[@]}"; do
	tool_ends "$t: exit 0, whatever is missing" "$t" INT
done
for LINE in "$SRV" "$CLI"; do
	id=$(field id)
	# events, iterations, and the time of all of them, as ftrace has it
	read -r events iters ns < <(sed -nE "s/.*: krping_iter: run=$id .*\bt=([0-9]+) .*flags=(\S*) t_begin=([0-9]+) .*/\1 \3 \2/p" $TRACING/trace |
		awk '{ n++; i += $3 ~ /commit/; ns += $1 - $2 } END { printf "%d %d %d\n", n, i, ns }')
	load krping-stages "(.runs[] | select(.run == $id)) | {residual: .residual_ns, seen: .iteration.count, n: .not_seen.count, sum: .sum_ns,
		ns: .not_seen.sum_ns, known: ([.phases[].sum_ns] | add), each: ([.phases[] | select(.kind == \"iteration\") | .count] | unique)}"
	t="krping-stages: run $id"
	is "${Q[residual]-} ${Q[sum]-}" "0 $ns" "$t: the residual is 0, and the sum ftrace's"
	is "$((${Q[seen]-0} + ${Q[n]-0}))" "$iters" "$t: seen and not seen are all iterations: ${Q[seen]-} and ${Q[n]-}"
	is "${Q[each]-}" "[${Q[seen]-}]" "$t: each phase as often as there were iterations"
	is "$((${Q[known]-0} + ${Q[ns]-0}))" "$ns" "$t: seen and not seen are all of the time"
	ok "$t: of each there is something" test "${Q[seen]-0}" -gt 0 -a "${Q[n]-0}" -gt 200
	load krping-mr "{broken} + ((.runs[] | select(.run == $id)) | {n: .not_seen, records: .not_seen_records, ns: .not_seen_ns})"
	is "${Q[broken]-}" false "krping-mr: a ledger with a gap gets no verdict"
	ok "krping-mr: run $id: it says what it has not seen: ${Q[n]-} of $iters iterations, ${Q[records]-} of $events records" \
		test "${Q[n]-0}" -gt 200 -a "${Q[n]-0}" -lt "$iters" -a "${Q[records]-0}" -lt "$events" -a "${Q[ns]-0}" -lt "$ns"
done
is "$(grep -cE '^not_seen +[0-9]+ +[0-9.]+[mu]s' "$T/krping-stages-text.out")" 2 "krping-stages: the row not_seen" || diag "$(cat "$T/krping-stages-text.out")"
is "$(grep -cE 'iterations not seen, .* no verdict' "$T/krping-mr-text.out")" 2 "krping-mr: a line says so" || diag "$(cat "$T/krping-mr-text.out")"
done_testing
