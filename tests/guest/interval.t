#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The line of an interval has the numbers of that interval: all lines, added up, are what the summary, ftrace and
# /proc/krping_runs have. With --total the lines grow up to the summary. If there are more runs than the summary keeps,
# the others are counted.

. "$(dirname "$0")/lib.sh"

tools=(krping-top krping-stages krping-mr)

# --- a pair that ends within an interval, and a pair that goes on over several ---
trace_on krping_iter krping_mr_fastreg krping_mr_localinv krping_mr_reminv
for t in "${tools[@]}"; do
	tool "$t" -j 0.5
	background "$t-total" "$t" -j --total 0.5
done
all=("${tools[@]}" "${tools[@]/%/-total}")
attached "${all[@]}"
server long-server "server,addr=$ADDR,port=$PORT,server_inv"
pinging long "client,addr=$ADDR,port=$PORT,server_inv" 20
more_lines 4 "${tools[@]}"
PORT=9998
good_pair "beside" 23 ",count=23"
interrupt long
finish long-server
# The last line is of an interval in which nothing goes on.
more_lines 2 "${tools[@]}"
for t in "${all[@]}"; do tool_ok "$t: exit 0, nothing on stderr" "$t" INT; done
trace_end "intervals"
cp /proc/krping_runs "$T/runs"
absorb "$here/interval.pl" "$T"

# --- runs that end at once, more than a summary keeps ---
many=1100
short_runs() {
	local i
	for ((i = 1; i <= many; i++)); do
		printf 'client,addr=192.0.2.1,port=1' >/proc/krping
		# There are 256 slots, and each is kept for two seconds behind the end of its run. krping-stages gives way to all other tasks.
		[ $((i % 128)) -ne 0 ] || { nap 1.3 && attached "${all[@]}"; }
	done 2>/dev/null
}
for t in krping-stages krping-mr; do
	background "$t-json" "$t" -j --max-runs 256
	background "$t-text" "$t" --max-runs 256
done
background krping-mr-line krping-mr -j --max-runs 256 3600
all=(krping-{stages,mr}-{json,text} krping-mr-line)
attached "${all[@]}"
short_runs
attached "${all[@]}"
for t in "${all[@]}"; do tool_end "$t" INT; done
for t in krping-stages krping-mr; do
	load "$t-json" '{lost, dropped: .runs_dropped, runs: (.runs | length)}'
	is "${Q[lost]-} ${Q[dropped]-} ${Q[runs]-}" "0 $((many - 1024)) 1024" "$t -j: counts the runs that it does not list"
	like "$(tail -n 3 "$T/$t-text.out")" "not listed: $((many - 1024)) runs" "$t: says how many it does not list"
done
# A run that goes on when a line is printed is in that line, too.
is "$(jq -c '[.final, ([.runs[] | select(.ended)] | length)]' "$T/krping-mr-line.out" | tr '\n' ' ')" "[false,1024] [false,$((many - 1024))] [true,1024] " \
	"krping-mr with an interval: a line comes before a run is dropped that was in none"

done_testing
