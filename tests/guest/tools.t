#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# krping-top, krping-stages and krping-mr: what they count is what the module counts. Where rounds are few, it tests only what a
# kernel can break: all programs load and attach, all tools count one run exactly, and they end. The rest needs two CPUs.

. "$(dirname "$0")/lib.sh"

tools=(krping-top krping-stages krping-mr)
whole=$(rounds 1 '') opts=(",server_inv")
[ -z "$whole" ] || opts=("" ",server_inv")
for t in ${whole:+"${tools[@]}" krping-trace}; do
	ok "$t is built" command -v "$t"
	wrong_usage setpriv --reuid=65534 --regid=65534 --clear-groups "$t" -t 1
	for absent in "run 9999" "device nosuch"; do
		case $absent in run*) opt=--run ;; *) opt=--dev ;; esac
		"$t" -t 1 $opt "${absent#* }" >"$T/out" 2>"$T/err"
		like "$(cat "$T/err")" "there is no $absent yet.*: waiting for it" "$t $opt ${absent#* } says what it waits for"
	done
done

# --- one run, from its beginning to its end ---
for opt in "${opts[@]}"; do
	tool krping-top -j 1
	tool krping-stages -j
	tool krping-mr -j
	# krping-trace and --slowest have tests of their own; here, on every kernel, they only have to load and lose
	# nothing.
	tool krping-trace -j
	background slowest krping-stages -j --slowest 2
	# It ends by itself when something is out of balance, and names the run and the region.
	background balance krping-mr --watch
	attached "${tools[@]}" krping-trace slowest balance
	good_pair "watched$opt" 23 ",count=23$opt"
	for t in "${tools[@]}"; do
		tool_ok "$t$opt: SIGINT: exit 0, nothing on stderr" "$t" INT
		load "$t" '{final, lost, runs: ([.runs[] | [.run, .role, .errno]] | sort)}'
		is "${Q[final]-} ${Q[lost]-}" "true 0" "$t$opt: jq reads it, and finds a final summary; no event was lost"
		[ -n "$opt" ] || ok "$t: JSON::PP reads it" perl -MJSON::PP -ne 'decode_json($_); END { exit !$. }' "$T/$t.out"
		is "${Q[runs]-}" "[[$(field id "$SRV"),\"server\",0],[$(field id "$CLI"),\"client\",0]]" "$t$opt: has both runs"
	done
	load krping-stages '{
		residual: [.runs[].residual_ns],
		client: (.runs[] | select(.role == "client") | [.sum_ns, ([.phases[].sum_ns] | add)]),
		server: (.runs[] | select(.role == "server") | [.sum_ns, ([.phases[].sum_ns] | add)]),
		counts: ([.runs[].phases[] | select(.kind == "iteration") | .count] | unique),
		phases: [.runs[] | select(.role == "client") | .phases[] | select(.kind == "iteration") | .phase],
		iterations: [.runs[].iteration.count],
		stages: [.runs[].phases[] | select(.stages) | . as $p | .stages[] | select(.count + .unknown != $p.count)],
		longer: [.runs[].phases[] | select(.stages) | select(.sum_ns < ([.stages[].sum_ns] | add))]}'
	is "${Q[residual]-}" '[0,0]' "krping-stages$opt: residual is 0"
	cli=$(field elapsed_ns "$CLI") srv=$(field elapsed_ns "$SRV")
	is "${Q[client]-} ${Q[server]-}" "[$cli,$cli] [$srv,$srv]" "krping-stages$opt: the phases of each end add up to its elapsed_ns"
	is "${Q[counts]-}" '[23]' "krping-stages$opt: each phase of a ping 23 times"
	is "${Q[phases]-}" '["fill","reg_source","send_source","wait_read","reg_sink","send_sink","wait_write"]' \
		"krping-stages$opt: the client's phases"
	is "${Q[iterations]-}" '[23,23]' "krping-stages$opt: 23 iterations"
	is "${Q[stages]-}" '[]' "krping-stages$opt: each wait is in each stage, or unknown there"
	is "${Q[longer]-}" '[]' "krping-stages$opt: no phase is shorter than its stages"

	load krping-mr '{
		runs: [.runs | sort_by(.role)[] | [.fastreg, .localinv, .reminv, .freed_valid, .off_balance]],
		costs: [.costs[] | [.pages, .map.count, .post.count, .done.count]]}'
	client='[46,45,0,1,0]'
	[ -z "$opt" ] || client='[46,0,46,0,0]'
	is "${Q[runs]-}" "[$client,[46,45,0,1,0]]" "krping-mr$opt: client and server: fastreg, localinv, reminv, freed_valid, off_balance"
	is "${Q[costs]-}" '[[1,92,92,92]]' "krping-mr$opt: 92 registrations of one page"

	gone "${PIDS[balance]}" && sig='' || sig=INT
	tool_end balance $sig
	is "$RC $sig" "0 INT" "krping-mr --watch$opt: ends with 0, and not by itself"
	unlike "$(cat "$T/balance.err")" 'run [0-9]+, MR [0-9]+: registered under key 0x[0-9a-f]{8} while key 0x' "krping-mr --watch$opt: has nothing to say"
	load krping-top '{iters: [.runs[] | [.iters, .iters_seen, .count, .wc_err]]}'
	is "${Q[iters]-}" '[[23,23,23,0],[23,23,23,0]]' "krping-top$opt: iterations, and no errors"

	for t in krping-trace slowest; do
		tool_end $t INT
		load $t '{final, lost}'
		is "$RC ${Q[final]-} ${Q[lost]-}" "0 true 0" "$t$opt: ends with 0, has a summary, lost nothing" ||
			diag "$(cat "$T/$t.err")"
	done
	is "$(jq -c -s '[.[] | select(.event == "mr_fastreg") | .role] | group_by(.) | map(length)' "$T/krping-trace.out")" \
		'[46,46]' "krping-trace$opt: each end's registrations"
	# Where the kernel refuses the program that follows wake-ups, krping-stages only says so.
	is "$(cat "$T/slowest.err")" '' "krping-stages --slowest$opt: nothing on stderr"
done
# The programs that only these load.
krping-mr -j --keys -t 1 >"$T/keys.out" 2>"$T/keys.err"
is "$? $(jq -r .final "$T/keys.out") $(cat "$T/keys.err")" '0 true ' "krping-mr --keys: its programs load"
[ -n "$whole" ] || done_testing

# --- attach in the middle of a run, on a CPU of its own; each tool ends on its signal ---
pair_on 5 ,cpu=1
# Who reads a line, and then no more, ends each of them.
for t in "${tools[@]}" krping-trace; do
	interval=(0.2)
	[ "$t" != krping-trace ] || interval=()
	# shellcheck disable=SC2016 # the inner shell has PIPESTATUS
	background "$t-head" bash -c '"$@" | head -n 1 >/dev/null; exit "${PIPESTATUS[0]}"' head "$t" -j "${interval[@]}"
done
for t in "${tools[@]}" krping-trace; do tool_ok "$t | head -n 1: exit 0, nothing on stderr" "$t-head"; done
# At the end of an interval they look for the threads of the runs that go on.
for t in "${tools[@]}"; do tool "$t" -j 0.5; done
attached "${tools[@]}"
more_lines 2 "${tools[@]}"
more_pings client 5
pair_off
for t in "${tools[@]}"; do
	case $t in
	krping-top) sig=TERM ;;
	krping-mr) sig=HUP ;;
	*) sig=INT ;;
	esac
	tool_ok "$t: SIG$sig: exit 0, nothing on stderr" "$t" $sig
	load "$t" '{final, lost, cpus: .setting.thread_cpus, late: ([.runs[].attached_late] | unique),
		residual: [.runs[].residual_ns], pings: ([.runs[].iteration.count] | min), off: [.runs[].off_balance]}'
	is "${Q[final]-} ${Q[lost]-}" "true 0" "$t: SIG$sig: a final summary, and no event was lost"
	is "${Q[late]-} ${Q[cpus]-}" "[true] 1" "$t: knows that it came late, and the CPU that the threads have"
	case $t in
	krping-stages)
		is "${Q[residual]-}" '[0,0]' "$t: attached late: residual is 0"
		like "${Q[pings]-}" '^([4-9]|[1-9][0-9]+)$' "$t: attached late: it has seen pings"
		;;
	krping-mr) is "${Q[off]-}" '[0,0]' "$t: attached late: it balances" ;;
	esac
done

# --- the CPUs of a thread: of an end that makes no iterations of its own, too, and only of runs that are shown ---
for t in "${tools[@]}"; do tool "$t" -j --role server 0.5; done
attached "${tools[@]}"
pair_on 5 ,test=rlat,cpu=1 ,test=rlat,cpu=0
more_lines 2 "${tools[@]}"
pair_off
for t in "${tools[@]}"; do
	tool_end "$t" INT
	load "$t" '{cpus: .setting.thread_cpus}'
	is "${Q[cpus]-}" 1 "$t --role server: knows the CPU of the passive end's thread"
done

# --- text for people ---
tool krping-stages -e
tool krping-mr -e
attached krping-stages krping-mr
ping_pair ",count=23,validate" ",count=23,validate"
tool_ends "krping-stages -e ends when the runs have ended" krping-stages
tool_ends "krping-mr -e ends when the runs have ended" krping-mr
# The tables below are those of by.t.
for t in krping-stages krping-mr; do
	like "$(grep '^#' "$T/$t.out")" "^# $LINK/1 [a-z_]+  $(uname -r)  clock [^#]*$" \
		"$t: its text has what the figures depend on, once"
done

# --- without the module ---
rmmod rdma_krping
for t in "${tools[@]}" krping-trace; do
	wrong_usage "$t" -t 1
	like "$(cat "$T/err")" 'not loaded' "$t without the module: it is not loaded"
done
insmod "$KRPING_MODULE"
done_testing "after the tools"
