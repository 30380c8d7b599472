#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the VM: what a ping costs, for each way to poll and to post, and for user-space rping. Each of ROUNDS rounds has a run of
# PINGS pings for each row, so that other load of the machine meets all rows alike. Prints lines for table.pl:
#
#   ping ROW SIZE NS              a round's mean time of a ping, by the client's clock; for rping the time of PINGS + 1 pings
#                                 less that of one, by the shell's
#   sleeps ROW CLIENT SERVER      how often each end's thread slept in a ping
#
# Where the clock counts instructions (run.sh, KRPING_ACCEL=icount), NS is the number of instructions of both ends.
#
#   ping.sh ROUNDS PINGS ROW...

# shellcheck source=tests/bench/others.sh
. "$(dirname "$0")/others.sh"
rounds=$1 pings=$2
shift 2
rows=("$@")
sizes=(64 4096 65536)

# pair ROW SIZE PINGS: sets CLI and SRV to the lines of both ends.
pair() { one_pair ",count=$3,size=$2,poll_ctx=${1/-chain/,chain}"; }

for ((r = 0; r <= rounds; r++)); do
	for row in "${rows[@]}"; do
		for size in "${sizes[@]}"; do
			if [ "$row" = rping ]; then
				# rping takes 65535 bytes at most.
				rping_ping $((size - (size > 65535))) "$pings"
			else
				# Threads that never sleep take the CPUs from the provider: such pings are slow here, so few will do.
				n=$pings
				[ "$row" != busy ] || n=$((pings / 10))
				pair "$row" "$size" "$n"
				NS=${F[lat_mean_ns]}
			fi
			# The first round also pays for work that is done only once.
			[ $r -eq 0 ] || echo "ping $row $size $NS"
		done
	done
done

# The set-up sleeps as often in a run of one ping.
slept() {
	local pid
	parse "$1"
	pid=${F[pid]}
	sed -nE "s/.*prev_pid: +$pid .*hitcount: +([0-9]+).*/\\1/p" $TRACING/events/sched/sched_switch/hist
}
trigger='hist:keys=prev_pid if prev_state == 1 || prev_state == 2'
for row in "${rows[@]}"; do
	[ "$row" != rping ] || continue
	ends=()
	for n in 1 1001; do
		echo "$trigger" >$TRACING/events/sched/sched_switch/trigger
		pair "$row" 64 $n
		ends+=("$(slept "$CLI")" "$(slept "$SRV")")
		echo "!$trigger" >$TRACING/events/sched/sched_switch/trigger
	done
	awk -v row="$row" -v a="${ends[0]:-0}" -v b="${ends[1]:-0}" -v c="${ends[2]:-0}" -v d="${ends[3]:-0}" \
		'BEGIN { printf "sleeps %s %.2f %.2f\n", row, (c - a) / 1000, (d - b) / 1000 }'
done
