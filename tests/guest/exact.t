#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The tools' numbers are those of a full recording: the percentiles of one long run, and the counts of 64 runs that ping
# at once, as fast as they can.

. "$(dirname "$0")/lib.sh"

tools=(krping-top krping-stages krping-mr)

# last NAME: copies the last object of the tool's output into $T/NAME.json.
last() { tail -n 1 "$T/$1.out" >"$T/$1.json"; }

# --- percentiles; the stages of a wait have another order where the core polls ---
for ctx in thread softirq; do
	watch "${tools[@]}"
	n=1200
	[ $ctx = thread ] || n=300
	traced $ctx "krping_phase krping_wait krping_mr_map krping_mr_fastreg krping_post_send krping_post_return krping_wc" \
		good_pair "$ctx, $n pings" $n ",count=$n,poll_ctx=$ctx"
	watched $ctx "${tools[@]}"
	absorb "$here/exact.pl" distributions "$T/trace" "$T"/krping-{stages,mr,top}.out
done

# --- krping-stages is stopped, and reads later what the rings hold ---
watch krping-top krping-stages
server held "server,addr=$ADDR,port=$PORT"
pinging client "client,addr=$ADDR,port=$PORT,count=4500" 100
kill -STOP "${PIDS[krping-stages]}"
until_ok 60 pings client 4200
kill -CONT "${PIDS[krping-stages]}"
finish client 60
line_is "state iters" "DONE 4500" "4500 pings while krping-stages is held up"
finish held
watched "held up" krping-top krping-stages
for t in krping-top krping-stages; do last $t; done
is "$(jq -c '[.lost, (.runs[] | .not_seen.records, .residual_ns, .holes, .unmatched, .clock_anomalies)]' "$T/krping-stages.json")" \
	"[0,0,0,0,0,0,0,0,0,0,0]" "krping-stages was held up, and nothing is lost or missing"
is "$(jq -c '[.runs[].phases[] | select(.kind == "iteration") | .count] | unique' "$T/krping-stages.json")" "[4500]" \
	"each phase is there as often as there were pings"
# krping-top has its distributions from a BPF program that never waits for a reader.
numbers() {
	jq -c "[.runs[] | [.run, ($2 | .count, .sum_ns, .min_ns, .p50_ns, .p90_ns, .p99_ns, .p999_ns, .max_ns)]]" "$T/$1.json"
}
is "$(numbers krping-stages .iteration)" "$(numbers krping-top .)" "krping-stages and krping-top have the same distributions"
ok "it is joined" jq -e '[.runs[].joined.waits[].by[] | select(.peer_phase != "unattributed")] | length > 4' \
	"$T/krping-stages.json"

# --- 64 runs ---
PAIRS=32 COUNT=40
background krping-trace krping-trace -j --records 32768
watch "${tools[@]}"
attached krping-trace
trace_on .
echo 32768 >$TRACING/buffer_size_kb
for ((i = 0; i < PAIRS; i++)); do start "s$i" "server,addr=$ADDR,port=$((PORT + i)),count=$COUNT"; done
for ((i = 0; i < PAIRS; i++)); do until_ok 10 is_listening "s$i" || diag "server $i does not listen"; done
for ((i = 0; i < PAIRS; i++)); do start "c$i" "client,addr=$ADDR,port=$((PORT + i)),count=$COUNT"; done
for ((i = 0; i < PAIRS; i++)); do
	for name in "c$i" "s$i"; do
		finish "$name" 60
		printf '%s\n' "$LINE" >>"$T/results"
	done
done
is "$(grep -c " state=DONE .* iters=$COUNT errno=0 " "$T/results")" $((2 * PAIRS)) "$((2 * PAIRS)) runs at once ended well" ||
	diag "$(head -n 3 "$T/results")"
trace_end "64 runs"
watched "64 runs" "${tools[@]}" krping-trace
for t in "${tools[@]}" krping-trace; do
	last "$t"
	is "$(jq -c '[.final, .lost]' "$T/$t.json")" "[true,0]" "$t: no event was lost"
done
absorb "$here/exact.pl" counts "$T/trace" "$T"/krping-{stages,mr,top,trace}.out "$T/results"
done_testing
