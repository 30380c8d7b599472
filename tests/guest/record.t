#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# krping-record and trace-cmd: what a view says live, it says of the recording of the same runs, to the last digit, without the
# module; and what a recording has that was cut off.

. "$(dirname "$0")/lib.sh"

REC=$T/all.rec DAT=$T/trace.dat
# The last object of a tool's output, without what is of the moment, and what a recording says beside that.
said() { jq -s '.[-1] | del(.time, .interval_ns, .setting.host, .setting.version, .setting.thread_cpus, .devices)' "$1"; }
# Without what no event tells, and trace-cmd cannot know: what /proc counts, addresses, the sums of split; and of a run that fails the
# device, since it never was connected, and the reason.
known() {
	said "$1" | jq 'del(.setting, (.runs[] | (.split_iters, .own_host_ns, .peer_host_ns, .network_ns, .fastreg, .inv, .src, .dst,
		(select(.errno != 0) | .dev, .qp, .reason))))'
}
# trace-cmd records, or has ended.
recording() { gone "${PIDS[trace-cmd]}" || [ "$(cat $TRACING/events/krping/enable $TRACING/tracing_on | xargs)" = "1 1" ]; }

# --- the same runs, live and recorded ---
background krping-stages krping-stages -j
background krping-mr krping-mr -j
background krping-top krping-top -j
background trace-cmd trace-cmd record -q -b 8192 -e krping -o "$DAT"
attach krping-record -o "$REC"
attached krping-stages krping-mr krping-top
ok "trace-cmd records" until_ok 30 recording
good_pair "pings" 200 ",count=200"
ping_pair "" ",test=bw,count=300,size=4K,txdepth=8"
check_good "requests in flight" "$CLI" 300
refused "a run that fails" "client,addr=$ADDR,port=9,count=1" "ECONNREFUSED .*"
watched "they end" krping-stages krping-mr krping-top
tool_ends "krping-record" krping-record INT
tool_ends "trace-cmd" trace-cmd INT
ok "the module is not there" rmmod rdma_krping
for tool in krping-stages krping-top krping-mr; do
	"$tool" -j -I "$REC" >"$T/replay" 2>"$T/replay.err"
	is "$? $(<"$T/replay.err")" "0 " "$tool reads the recording"
	is "$(diff <(said "$T/$tool.out") <(said "$T/replay") | head -n 5)" '' "$tool says the same of it"
	"$tool" -j -I "$DAT" >"$T/dat" 2>"$T/dat.err"
	is "$? $(<"$T/dat.err")" "0 " "$tool reads what trace-cmd has recorded"
	is "$(diff <(known "$T/$tool.out") <(known "$T/dat") | head -n 20)" '' "$tool says the same of that"
	is "$("$tool" -j -I "$DAT" --test bw --role client | jq -s -c '[.[-1].runs[] | [.test, .role]]')" '[["bw","client"]]' \
		"$tool: a filter finds a run that is in no list"
done
is "$(jq -s '.[-1].runs | length' "$T/replay")" 5 "there are five runs" || diag "$(<"$T/replay")"
krping-stages -j -I "$REC" --test rping --slowest 3 >"$T/slow"
is "$(jq -s -c '.[-1] | [(.slow | length), ([.slow[].duration_ns] | max) == ([.runs[].iteration.max_ns] | max),
	(.slow | map(([.parts[].ns] | add) == .duration_ns) | all)]' "$T/slow")" '[3,true,true]' "the slowest iterations of a recording" ||
	diag "$(<"$T/slow")"
krping-stages -j -I "$REC" 0.1 >"$T/lines"
is "$(jq -s '[.[:-1][].runs[].iteration.count] | add' "$T/lines")" "$(jq -s '[.[-1].runs[].iteration.count] | add' "$T/lines")" \
	"the lines of a replay are of its time, and have all iterations"
ok "and are many" test "$(wc -l <"$T/lines")" -gt 3
is "$(krping-stages -j -I "$REC" 0.1 2 | jq -c .final | tr '\n' ' ')" 'false false true ' "with a COUNT of 2 there are two, and the summary"
krping-top -j -I "$REC" 0.1 >"$T/lines.top"
is "$(jq -s '[.[:-1][].runs[].interval_iters] | add' "$T/lines.top")" "$(jq -s '[.[-1].runs[].iters] | add' "$T/lines.top")" \
	"so have those of krping-top"
like "$(krping-stages -I "$REC" | head -n 1)" "^# ${PROVIDER}0/1 .* $(uname -r) .* on $(uname -n)\$" "a replay says where it was recorded"
krping-trace -j -I "$REC" -E iter_stages >"$T/events"
krping-trace -j -I "$DAT" -E iter_stages >"$T/dat"
is "$(diff <(jq -c 'del(.time)' "$T/events") <(jq -c 'del(.time)' "$T/dat") | head -n 5)" '' "krping-trace has the same events of both"
krping-stages -I "$DAT" >"$T/out"
is "$? $(head -n 1 "$T/out")" "0 # recorded by trace-cmd" "a replay of trace-cmd's says so"
krping-record --anonymize "$DAT" -o "$T/copy" 2>"$T/err"
is "$? $(<"$T/err")" "1 krping-record: --anonymize: $DAT is not of krping-record" "and is not made anonymous"
krping-trace -j -I "$DAT" ladder 11 >"$T/out"
is "$? $(jq -s -c '.[-1] | [.iter, .client.run > 0, .server.run > 0, (.steps | length > 40)]' "$T/out")" '0 [11,true,true,true]' \
	"the ladder of both ends, of trace-cmd's" || diag "$(cat "$T/out")"
is "$(jq -s 'map(select(.flags == "commit")) | length' "$T/events")" "$(jq -s '[.[-1].runs[].iteration.count] | add' "$T/lines")" \
	"krping-trace reads the iterations, too"

# --- cut off ---
size=$(wc -c <"$REC")
for n in 16 1000 $((size / 2)) $((size - 1)); do
	head -c "$n" "$REC" >"$T/cut"
	krping-stages -I "$T/cut" >"$T/out" 2>&1
	like "$? $(tail -n 1 "$T/out")" "^2 .*cut is damaged: its end is missing" "$n bytes of $size"
	krping-top -b -I "$T/cut" >"$T/out" 2>&1
	like "$? $(tail -n 1 "$T/out")" "^2 .*cut is damaged: its end is missing" "krping-top: $n bytes of $size"
done
size=$(wc -c <"$DAT")
for n in 9 16 1000 $((size / 2)) $((size - 5000)); do
	head -c "$n" "$DAT" >"$T/cut"
	krping-stages -I "$T/cut" >"$T/out" 2>&1
	like "$? $(<"$T/out")" "^1 krping-stages: $T/cut: (no recording|libtracecmd cannot read it)" "$n bytes of $size of trace-cmd's"
done
ok "insmod again" insmod "$KRPING_MODULE"
attach krping-record -o "$T/killed"
good_pair "a recorder that is killed" 50 ",count=50"
nap 1.5
tool_end krping-record KILL
krping-stages -j -I "$T/killed" >"$T/out" 2>"$T/err"
is "$? $(jq -s '.[-1] | [.damage, (.runs[].iteration.count)] | unique | map(tostring) | join(" ")' "$T/out")" \
	'2 "50 its end is missing"' "what a second before was there is in the file"
mkdir "$T/small" && mount -t tmpfs -o size=64k none "$T/small"
background krping-record krping-record -o "$T/small/f"
attached krping-record
good_pair "a disk that is full" 500 ",count=500"
until_ok 20 gone "${PIDS[krping-record]}"
tool_end krping-record
like "$RC $(<"$T/krping-record.err")" '^1 .*No space left on device; the recording ends here' "says so"
krping-stages -I "$T/small/f" >"$T/out" 2>&1
is $? 2 "and is read up to there"
umount "$T/small"

# --- a command, a ladder, what was before a failure ---
serve ,persistent
krping-record --all -o "$T/ladder" -- bash -c "echo 'client,addr=$ADDR,port=$PORT,count=20' >/proc/krping; exit 7" 2>"$T/err"
is $? 7 "the status is the command's"
krping-trace -j -I "$T/ladder" ladder 11 >"$T/out"
is "$? $(jq -s '.[-1] | [.iter, (.steps | length > 40)] | join(" ")' "$T/out")" '0 "11 true"' "the ladder of iteration 11, of a recording" ||
	diag "$(<"$T/out")"
attach krping-record --flight 60 -o "$T/flight"
client_is "client,addr=$ADDR,port=$PORT,count=30" state DONE "before"
ok "nothing has failed, and there is no file" test ! -e "$T/flight"
refused "a run that fails, later" "client,addr=$ADDR,port=9,count=1" "ECONNREFUSED .*"
until_ok 10 test -e "$T/flight"
tool_ends "krping-record --flight" krping-record INT
interrupt server
krping-stages -j -I "$T/flight" >"$T/out"
is "$? $(jq -s '.[-1].runs | map(select(.role == "client") | [.iteration.count, .errno]) | tostring' "$T/out")" '0 "[[30,0],[0,111]]"' \
	"the file has the failed run, and what was before"

# --- what was before pings that took long, by a time that all exceed, and by one that none does ---
serve ,persistent
for when in 'max>1000s' 'p50>1ns'; do
	attach krping-record --flight 60 --when "$when" -o "$T/$when"
	client_is "client,addr=$ADDR,port=$PORT,count=30" state DONE "pings, and --when $when"
	# A second has to be over in which there were pings.
	if [ "$when" = 'max>1000s' ]; then nap 2; else until_ok 20 test -e "$T/$when"; fi
	tool_ends "krping-record --when $when" krping-record INT
done
interrupt server
ok "no ping was so slow, and there is no file" test ! -e "$T/max>1000s"
krping-stages -j -I "$T/p50>1ns" >"$T/out"
is "$? $(jq -s '[.[-1].runs[].iteration.count] | add > 0' "$T/out")" "0 true" "the file has the slow pings" || diag "$(<"$T/krping-record.err")"
wrong_usage krping-record --flight 3 --when 'p98>1ms'
wrong_usage krping-record --when 'p99>1ms'
done_testing
