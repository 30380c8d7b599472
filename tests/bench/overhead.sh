#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the VM: measures what observing costs. For each observer it makes PAIRS pairs of runs of PINGS pings of 64 bytes, one
# run with the observer and one without, alternately in one order and the other. Prints one line per pair for overhead.pl:
#
#   pair OBSERVER N OFF_NS ON_NS EVENTS EXPECTED
#
# EVENTS is how much of the client's and the server's iterations the observer says that it saw: a pair in which it did not
# see them all is void.
#
#   overhead.sh PAIRS PINGS [OBSERVER]...          the pairs, and then what programs, memory and start take
#   overhead.sh --pairs PAIRS PINGS [OBSERVER]...  the pairs

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
# shellcheck source=tests/guest/lib-tools.sh
. "$(dirname "$0")/../guest/lib-tools.sh"
only_pairs=''
if [ "$1" = --pairs ]; then
	only_pairs=1
	shift
fi
pairs=$1 pings=$2
shift 2
observers=("$@")
[ $# -gt 0 ] || observers=(krping-top krping-top-screen krping-stages krping-mr all ftrace bpftrace debug)

# sample: sets NS to the duration of the run, by the client's clock.
# A run takes some tenths of the second between two prints of the tools. It begins at a random time in that second: otherwise
# the print would fall into no run or, depending on how long a tool takes to load, into most of them.
sample() {
	nap "0.$((RANDOM % 900 + 100))"
	quiet_pair ",count=$pings" ",count=$pings"
	parse "$CLI"
	[ "${F[iters]-}" = "$pings" ] || { echo "# a run failed: $CLI" && exit 1; }
	NS=${F[elapsed_ns]}
}

loaded() { [ "$(cat /sys/module/rdma_krping/refcnt)" -gt 0 ]; }

# json NAME FILTER: applies FILTER to the last line of the tool NAME; 0 if events were lost.
json() {
	jq -s ".[-1] | if .lost == 0 then $2 else 0 end" "$T/$1.out"
}

on() {
	case $1 in
	krping-top-screen)
		# A terminal that nobody looks at, so that nothing but the tool is measured.
		TERM=xterm script -qfc 'stty rows 24 cols 80; exec krping-top' /dev/null <&"$nap_fd" >"$T/screen.out" 2>&1 &
		PIDS[screen]=$!
		;;
	krping-*) tool "$1" -j 1 ;;
	all)
		local t
		for t in krping-top krping-stages krping-mr; do tool "$t" -j 1; done
		;;
	bpftrace) tool bpftrace "$here/../../tools/bpftrace/phaselat.bt" ;;
	debug)
		# The messages go only into the log's buffer, not to the console.
		dmesg -n 1
		echo 1 >/sys/module/rdma_krping/parameters/debug
		return
		;;
	ftrace)
		trace_on .
		return
		;;
	esac
	until_ok 60 loaded
	# Programs are attached one after another. attached() waits for idle tools, but these tools print each second.
	nap 1.5
}

# off NAME: ends the observer, and sets EVENTS and EXPECTED by what it saw.
off() {
	local t list=("$1")
	case $1 in
	debug)
		echo 0 >/sys/module/rdma_krping/parameters/debug
		# Each ping prints at least one line, but the buffer overwrites old lines: look only at the last ones.
		EVENTS=$(($(dmesg | tail -200 | grep -c krping) > 100)) EXPECTED=1
		return
		;;
	ftrace)
		trace_off
		# Events that were overwritten count as seen. The two ends together have at least 95 events per ping, besides those of
		# the set-up.
		EVENTS=$(cat $TRACING/per_cpu/cpu*/stats | awk '/^(entries|overrun):/ { n += $2 } /^dropped events:/ { n -= $3 } END { print n }')
		EXPECTED=$((pings * 95))
		[ "$EVENTS" -lt "$EXPECTED" ] || EVENTS=$EXPECTED
		return
		;;
	krping-top-screen)
		pkill -INT -x krping-top
		wait "${PIDS[screen]}"
		unset 'PIDS[screen]'
		# The summary comes behind the last screen.
		EVENTS=$(awk '/Summary: / { n = 0 } $2 == "client" || $2 == "server" { n += $3 } END { print n + 0 }' "$T/screen.out")
		EXPECTED=$((2 * pings))
		return
		;;
	all) list=(krping-top krping-stages krping-mr) ;;
	esac
	EVENTS=0 EXPECTED=0
	for t in "${list[@]}"; do
		tool_end "$t" INT
		case $t in
		krping-top) EVENTS=$((EVENTS + $(json $t '[.runs[].iters] | add'))) EXPECTED=$((EXPECTED + 2 * pings)) ;;
		krping-stages) EVENTS=$((EVENTS + $(json $t '[.runs[].iteration.count] | add'))) EXPECTED=$((EXPECTED + 2 * pings)) ;;
		krping-mr) EVENTS=$((EVENTS + $(json $t '[.runs[].fastreg] | add'))) EXPECTED=$((EXPECTED + 4 * pings)) ;;
		bpftrace)
			# The two ends have seven and eight phases per ping. The script skips some, see its comments: nine tenths of
			# them will do for a comparison.
			EVENTS=$(awk 'match($0, /^[[(].*[)\]] +[0-9]+ \|/) { split($0, f, "|"); sub(/.*[)\]] +/, "", f[1]); n += f[1] }
				END { print n + 0 }' "$T/$t.out")
			EXPECTED=$((pings * 15))
			[ "$EVENTS" -lt $((EXPECTED * 9 / 10)) ] || EVENTS=$EXPECTED
			;;
		esac
	done
}

sample
for o in "${observers[@]}"; do
	for ((i = 1; i <= pairs; i++)); do
		if ((i % 2)); then
			sample
			a=$NS
			on "$o" && sample && b=$NS && off "$o"
		else
			on "$o" && sample && b=$NS && off "$o"
			sample
			a=$NS
		fi
		echo "pair $o $i $a $b $EVENTS $EXPECTED"
	done
done
[ -z "$only_pairs" ] || exit 0

# --- what takes the time ---
# How often each program ran in a ping of both ends, and how long; the time includes the cost of measuring it.
counts() { bpftool -j prog show | jq -r '.[] | select(.run_cnt) | "\(.id) \(.name) \(.run_cnt) \(.run_time_ns)"' | sort; }
stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
echo 1 >/proc/sys/kernel/bpf_stats_enabled
for t in krping-top krping-stages krping-mr; do
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
echo "$stats" >/proc/sys/kernel/bpf_stats_enabled

# --- memory and start ---
# maps PID: prints how many bytes the process's BPF maps take, as the kernel says; a map with two descriptors counts once.
maps() {
	awk '/^memlock:/ { bytes = $2 } /^map_id:/ { m[$2] = bytes } END { for (id in m) s += m[id]; print s + 0 }' "/proc/$1/fdinfo/"* 2>/dev/null
}
# all_maps: prints the same of all BPF maps that there are.
all_maps() { bpftool -j map show | jq '[.[].bytes_memlock] | add // 0'; }
# The memory of a tool that watches as many runs as it has room for, measured when it has printed them all; all of them ping.
# Tools share maps, so all of them together are measured, too.
has_all() { [ "$(tail -n 1 "$T/$1.out" | jq '.runs | length')" = "$2" ]; }
for n in 2 64 500; do
	background many "$here/../../build/guest/many" ping $n "$ADDR" 12000
	for t in krping-top krping-stages krping-mr; do
		tool "$t" -j -i 5 --max-runs $n
		until_ok 600 has_all "$t" $n || { echo "# $t does not see $n runs: $(cat "$T/many.err" "$T/$t.err")" && exit 1; }
		echo "memory $t $n $(awk '/^VmHWM:/ { print $2 }' "/proc/${PIDS[$t]}/status") $(($(maps "${PIDS[$t]}") / 1024))"
		tool_end "$t" INT
	done
	before=$(all_maps) resident=0
	for t in krping-top krping-stages krping-mr; do tool "$t" -j -i 5 --max-runs $n; done
	for t in krping-top krping-stages krping-mr; do
		until_ok 600 has_all "$t" $n || { echo "# $t does not see $n runs: $(cat "$T/many.err" "$T/$t.err")" && exit 1; }
		resident=$((resident + $(awk '/^VmHWM:/ { print $2 }' "/proc/${PIDS[$t]}/status")))
	done
	echo "memory all $n $resident $((($(all_maps) - before) / 1024))"
	for t in krping-top krping-stages krping-mr; do tool_end "$t" INT; done
	kill -KILL "${PIDS[many]}"
	wait "${PIDS[many]}" 2>/dev/null
	unset 'PIDS[many]'
	until_ok 60 no_live_runs
done
first_line() { [ -s "$1" ]; }
for i in 1 2 3 4 5; do
	for t in krping-top krping-stages krping-mr bpftrace; do
		# Lines that the tool printed in an earlier round must not count as its first line.
		rm -f "$T/$t.out" "$T/$t.err"
		begin=${EPOCHREALTIME/./}
		case $t in
		bpftrace) background "$t" stdbuf -oL bpftrace -e 'BEGIN { printf("up\n"); } tracepoint:krping:krping_phase { @[args->phase] = count(); }' ;;
		*) tool "$t" ;;
		esac
		until first_line "$T/$t.out" || first_line "$T/$t.err"; do nap 0.01; done
		now=${EPOCHREALTIME/./}
		echo "start $t $i $((now - begin))"
		tool_end "$t" INT
	done
done
