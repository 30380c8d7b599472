#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the VM: measures what observing costs. For each observer it makes PAIRS pairs of runs of PINGS pings of 64 bytes, one
# run without the observer and one with it. Prints the pairs for table.pl, whose words are how much of the client's and the
# server's iterations the observer has to see, and how much it says that it saw: a pair in which it did not see them all is void.
# The observer "notrace" is the ordinary module, beside the module without its tracepoints.
#
#   overhead.sh PAIRS PINGS [OBSERVER]...          the pairs, and then what programs, memory and start take
#   overhead.sh --pairs PAIRS PINGS [OBSERVER]...  the pairs

# shellcheck source=tests/bench/others.sh
. "$(dirname "$0")/others.sh"
only_pairs=''
[ "$1" != --pairs ] || { only_pairs=1 && shift; }
pairs=$1 pings=$2
shift 2
observers=("$@")
tools=(krping-top krping-stages krping-mr)
# What each tool counts of its runs.
declare -A counted=([krping-top]=iters [krping-stages]=iteration.count [krping-mr]=fastreg)
# What an observer has to see; those that are not named here see an iteration of each end for a ping. The two ends have 15 phases,
# of which the script of bpftrace skips some, see its comments: nine tenths will do for a comparison. And they have at least 95 events.
declare -A expected=([krping-mr]=$((4 * pings)) [all]=$((8 * pings)) [ftrace]=$((95 * pings)) [bpftrace]=$((pings * 15 * 9 / 10))
	[debug]=100 [notrace]=$pings)
[ $# -gt 0 ] || observers=(krping-top krping-top-screen krping-stages krping-mr krping-record all ftrace bpftrace debug)

# A run takes some tenths of the second between two prints of the tools. It begins at a random time in that second: otherwise
# the print would fall into no run or, depending on how long a tool takes to load, into most of them.
sample() {
	nap "0.$((RANDOM % 900 + 100))"
	one_pair ",count=$pings"
}

loaded() { [ "$(cat /sys/module/rdma_krping/refcnt)" -gt 0 ]; }

# reload FILE.ko: loads this module in place of the other one. The first run also pays for work that is done only once.
reload() {
	rmmod rdma_krping
	insmod "$1"
	one_pair ",count=20"
}

# json NAME FILTER: applies FILTER to the last line of the tool NAME; 0 if events were lost.
json() { jq -s ".[-1] | if .lost == 0 then $2 else 0 end" "$T/$1.out"; }

on() {
	case $1 in
	krping-top-screen)
		# A terminal that nobody looks at, so that nothing but the tool is measured.
		TERM=xterm script -qfc 'stty rows 24 cols 80; exec krping-top' /dev/null <&"$nap_fd" >"$T/screen.out" 2>&1 &
		PIDS[screen]=$!
		;;
	krping-record) tool "$1" -o "$T/rec" ;;
	krping-*) tool "$1" -j 1 ;;
	all)
		local t
		for t in "${tools[@]}"; do tool "$t" -j 1; done
		;;
	bpftrace) tool bpftrace "$here/../../tools/bpftrace/phaselat.bt" ;;
	debug)
		# The messages go only into the log's buffer, not to the console.
		dmesg -n 1
		echo 1 >/sys/module/rdma_krping/parameters/debug && return
		;;
	ftrace) trace_on . && return ;;
	notrace) reload "${KRPING_MODULE:?}" && return ;;
	esac
	until_ok 60 loaded
	# Programs are attached one after another. attached() waits for idle tools, but these tools print each second.
	nap 1.5
}

# off NAME EXPECTED: ends the observer, and sets EVENTS to what it saw.
off() {
	local t list=("$1")
	EVENTS=0
	case $1 in
	notrace) EVENTS=$2 ;;
	debug)
		echo 0 >/sys/module/rdma_krping/parameters/debug
		# Each ping prints at least one line, but the buffer overwrites old lines: look only at the last ones.
		EVENTS=$(dmesg | tail -200 | grep -c krping)
		;;
	ftrace)
		trace_off
		# Events that were overwritten count as seen.
		EVENTS=$(cat $TRACING/per_cpu/cpu*/stats | awk '/^(entries|overrun):/ { n += $2 } /^dropped events:/ { n -= $3 } END { print n }')
		;;
	krping-top-screen)
		pkill -INT -x krping-top
		end_of screen
		# The summary comes behind the last screen.
		EVENTS=$(awk '/Summary: / { n = 0 } $2 == "client" || $2 == "server" { n += $3 } END { print n + 0 }' "$T/screen.out")
		;;
	krping-record)
		tool_end "$1" INT
		krping-stages -j -I "$T/rec" >"$T/$1.out"
		EVENTS=$(json "$1" "[.runs[].iteration.count] | add")
		diag "$(tail -n 1 "$T/$1.err")"
		;;
	bpftrace)
		tool_end "$1" INT
		EVENTS=$(awk 'match($0, /^[[(].*[)\]] +[0-9]+ \|/) { split($0, f, "|"); sub(/.*[)\]] +/, "", f[1]); n += f[1] }
			END { print n + 0 }' "$T/$1.out")
		;;
	*)
		[ "$1" != all ] || list=("${tools[@]}")
		for t in "${list[@]}"; do
			tool_end "$t" INT
			EVENTS=$((EVENTS + $(json "$t" "[.runs[].${counted[$t]}] | add")))
		done
		;;
	esac
	# Of what is not counted exactly, more than that is enough.
	[[ $1 != @(debug|ftrace|bpftrace) || $EVENTS -le $2 ]] || EVENTS=$2
}

ours() {
	[ "$1" != notrace ] || reload "$here/../../build/vm-${KRPING_KERNEL:?}/notrace/module/rdma_krping.ko"
	sample
	DID=${expected[$1]-$((2 * pings))}
}
theirs() {
	on "$1"
	sample
	off "$1" "${expected[$1]-$((2 * pings))}"
	DID=$EVENTS
}
sample
for o in "${observers[@]}"; do pairs_of "$o" "$pairs" "$o"; done
[ -z "$only_pairs" ] || exit 0

# --- what takes the time ---
# How often each program ran in a ping of both ends, and how long; the time includes the cost of measuring it.
counts() { bpftool -j prog show | jq -r '.[] | select(.run_cnt) | "\(.id) \(.name) \(.run_cnt) \(.run_time_ns)"' | sort; }
echo 1 >/proc/sys/kernel/bpf_stats_enabled
for t in "${tools[@]}"; do
	tool "$t" -j -i 100
	attached "$t"
	quiet_pair ",count=20" ",count=20"
	counts >"$T/before"
	quiet_pair ",count=$pings" ",count=$pings"
	counts >"$T/after"
	awk -v t="$t" -v n="$pings" 'FILENAME ~ /before$/ { c[$1] = $3; ns[$1] = $4; next }
		$3 - c[$1] >= n { printf "program %s %s %.2f %.0f\n", t, $2, ($3 - c[$1]) / n, ($4 - ns[$1]) / ($3 - c[$1]) }' \
		"$T/before" "$T/after"
	tool_end "$t" INT
done
echo 0 >/proc/sys/kernel/bpf_stats_enabled

# --- memory and start ---
# maps PID...: prints how many bytes the processes' BPF maps take, as the kernel says; a map with two descriptors counts once.
maps() {
	# shellcheck disable=SC2046 # words, which are patterns
	awk '/^memlock:/ { bytes = $2 } /^map_id:/ { m[$2] = bytes } END { for (id in m) s += m[id]; print s + 0 }' \
		$(printf '/proc/%s/fdinfo/* ' "$@") 2>/dev/null
}
has_all() { [ "$(tail -n 1 "$T/$1.out" | jq '.runs | length')" = "$2" ]; }
# memory NAME RUNS TOOL...: of tools that watch as many runs as they have room for, measured when they have printed them all.
memory() {
	local t pids=() resident=0
	for t in "${@:3}"; do tool "$t" -j -i 5 --max-runs "$2"; done
	for t in "${@:3}"; do
		until_ok 600 has_all "$t" "$2" || broken "$t does not see $2 runs: $(cat "$T/many.err" "$T/$t.err")"
		pids+=("${PIDS[$t]}")
		resident=$((resident + $(awk '/^VmHWM:/ { print $2 }' "/proc/${PIDS[$t]}/status")))
	done
	echo "memory $1 $2 $resident $(($(maps "${pids[@]}") / 1024))"
	for t in "${@:3}"; do tool_end "$t" INT; done
}
# All runs ping. Tools share maps, so all of them together are measured, too.
for n in 2 64 500; do
	begin $((n / 2)) 19 # a tool has to end beside them
	for t in "${tools[@]}"; do memory "$t" $n "$t"; done
	memory all $n "${tools[@]}"
	end
done
for i in 1 2 3 4 5; do
	for t in "${tools[@]}" bpftrace; do
		# Lines that the tool printed in an earlier round must not count as its first line.
		rm -f "$T/$t.out" "$T/$t.err"
		begin=${EPOCHREALTIME/./}
		case $t in
		bpftrace) background "$t" stdbuf -oL bpftrace -e 'BEGIN { printf("up\n"); } tracepoint:krping:krping_phase { @[args->phase] = count(); }' ;;
		*) tool "$t" ;;
		esac
		until [ -s "$T/$t.out" ] || [ -s "$T/$t.err" ]; do nap 0.01; done
		echo "start $t $i $((${EPOCHREALTIME/./} - begin))"
		tool_end "$t" INT
	done
done
