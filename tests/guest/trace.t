#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# krping-trace has the same events, with the same fields, as ftrace has of the same runs; it counts the events that it
# loses; and the ladder shows what both ends did in one iteration.

. "$(dirname "$0")/lib.sh"

# ended NAME...: asserts that the tools end by themselves, with 0.
ended() {
	local name
	for name; do
		tool_ends "$name: ends by itself, with 0" "$name" || diag "$(tail -n 3 "$T/$name.err" "$T/$name.out")"
	done
}

# json NAME FILTER: prints what jq makes of the tool's output, on one line.
json() { jq -r -s -c "$2" "$T/$1.out" 2>&1; }

# --- one pair, seen by ftrace and by several at once ---
trace_on .
background rec krping-record --all -e -o "$T/all.rec"
background all krping-trace -v -j -e
background some krping-trace -v -e -E 'krping_post_*,wc' --role client
background tiny krping-trace -v -j -e --records 4
background number krping-trace -v ladder 11 -j
attached rec all some tiny number
# A tool that does not read its ring loses the events that do not fit.
kill -STOP "${PIDS[tiny]}"
ping_pair ",count=23" ",count=23"
# The tool looks for losses when a second has passed since the last look.
nap 1.1
kill -CONT "${PIDS[tiny]}"
trace_end "one pair"
check_good client "$CLI" 23
check_good server "$SRV" 23
cli=$(field id "$CLI") srv=$(field id "$SRV")
ended rec all some tiny number
events=$(grep -c ': krping_' "$T/trace")

# from NAME OPTION...: runs krping-trace with these options on what krping-record has recorded, as user nobody, who has
# no access to the module. Its output is in files as that of a tool.
chmod 755 "$T"
from() {
	local name=$1
	shift
	setpriv --reuid=65534 --regid=65534 --clear-groups krping-trace --input "$T/all.rec" "$@" >"$T/$name.out" 2>"$T/$name.err"
	RC=$?
}

"$here/trace.pl" "$T/trace" >"$T/want"
"$here/trace.pl" "$T/all.out" >"$T/got"
kinds() { cut -d' ' -f1,2 "$1" | uniq -c; }
is "$(kinds "$T/got")" "$(kinds "$T/want")" "it has as many of each event as ftrace, for each run"
ok "each event has the fields and values that ftrace has" cmp "$T/got" "$T/want" || diag "$(diff "$T/got" "$T/want" | head -6)"
is "$(json all '[.[-1] | .final, .lost, .out_of_order, .events], ([.[] | select(.t_ns) | .t_ns] | . == sort),
	([.[] | select(.event) | [.tool, .schema, .final, (.time | length), .run, .role]] | unique)' | tr '\n' ' ')" \
	"[true,0,0,$events] true [[\"krping-trace\",1,false,32,$srv,\"server\"],[\"krping-trace\",1,false,32,$cli,\"client\"]] " \
	"the last object has all events, none lost, none out of order; times do not go back; each has its head"

# --- filters, text ---
posts=$(grep -cE ": krping_(post_\w*|wc): run=$cli " "$T/trace")
is "$(awk -v id="$cli" '$2 == id && $3 == "client"' "$T/some.out" | wc -l) $(grep -cE '^ *[0-9.]+ +[0-9]+ (client|server) ' "$T/some.out")" \
	"$posts $posts" "live, --event with globs, --role client: exactly these"
like "$(cat "$T/some.out")" "kind=REG_MR" "text: names for kinds"
like "$(tail -n 1 "$T/some.out")" "^events $posts, lost events 0\$" "text: what was lost is told, also where it is nothing"
from text
is "$RC $(cat "$T/text.err")" "0 " "--input: text"
narrow "$(<"$T/text.out")" "text"
is "$(grep -cE '^ *[0-9.]+ +[0-9]+ (client|server) ' "$T/text.out")" "$events" "text: all events, one line each"
from few -E 'post_*,wc' --role client -j
is "$(jq -c "select(.event) | [.run, .role]" "$T/few.out" | sort | uniq -c | xargs)" "$posts [$cli,client]" "-E, --role: these events of this run"
from ten -c 10 -j
is "$(json ten '[([.[] | select(.event)] | length), .[-1].events]')" '[10,10]' "-c 10: ten events"
from none --dev nosuch -j
is "$(json none '[length, .[-1].events]')" '[1,0]' "--dev nosuch: no events"
from again -j
"$here/trace.pl" "$T/again.out" >"$T/got"
ok "--input: a recording has the same events" cmp "$T/got" "$T/want" || diag "$(diff "$T/got" "$T/want" | head -6)"
is $RC 0 "--input: a recording that is whole"
krping-trace --input "$T/nosuch" >"$T/out" 2>"$T/err"
is "$? $(wc -l <"$T/err")" "1 1" "--input: no such file"

# --- a ring that is full ---
read -r shown lost told < <(json tiny '"\([.[] | select(.event)] | length) \(.[-1].lost_dropped) \([.[] | select(.final == false and .lost)] | length)"')
ok "a ring of 4 KiB that nobody reads is full: $lost events lost, $shown shown" test "$lost" -gt 1000
is $((shown + lost)) "$events" "shown and lost are all events"
ok "losses are told when they happen" test "$told" -gt 0

# --- the ladder ---
# check_ladder NAME ITER: asserts that the ladder has both ends of that iteration, as ftrace has them.
# How long the client's iterations took, by number and sorted.
mapfile -t took < <(trace_perl 'print map { $_->{t} - $_->{t_begin} . "\n" } grep { $_->{run} == $ARGV[1] && $_->{flags} =~ /commit/ }
	events($ARGV[0], "iter")' "$T/trace" "$cli")
mapfile -t sorted < <(printf '%s\n' "${took[@]}" | sort -n)
is ${#took[@]} 23 "ftrace has 23 iterations of the client"
slow=0
for i in "${!took[@]}"; do [ "${took[i]}" -le "${took[slow]}" ] || slow=$i; done
check_ladder() {
	local kinds inv=2 recv=2
	# Before the first iteration there is no key to invalidate, and no message whose RECV is to be posted again.
	[ "$2" != 0 ] || inv=1 recv=1
	kinds="[\"client LOCAL_INV $inv\",\"client RECV $recv\",\"client REG_MR 2\",\"client SEND 2\","
	kinds+="\"server LOCAL_INV $inv\",\"server READ 1\",\"server RECV 2\",\"server REG_MR 2\",\"server SEND 2\",\"server WRITE 1\"]"
	load "$1" 'def kinds(f): [.steps[] | f] | group_by(.) | map("\(.[0]) \(length)"); {
		head: [.iter, .total_ns, .by, .client.run, .server.run, .lost],
		residual: (.total_ns - ([.steps[] | select(.what == "phase" and .side == "client") | .duration_ns] | add)),
		posts: kinds(select(.what == "post") | "\(.side) \(.kind)"),
		messages: ([.steps[] | select(.message) | .message] | group_by(.) | map(length)),
		waits: kinds(select(.what == "wait") | .side)}'
	is "${Q[head]-}" "[$2,${took[$2]-},\"client\",$cli,$srv,0]" "ladder $1: iteration $2 with its duration"
	is "${Q[residual]-}" 0 "ladder $1: the client's phases add up to it"
	is "${Q[posts]-}" "$kinds" "ladder $1: all work requests of both ends"
	is "${Q[messages]-}" '[2,2,2,2]' "ladder $1: four messages, each with both its ends"
	is "${Q[waits]-}" '["client 2","server 4"]' "ladder $1: two waits of the client, four of the server"
}
check_ladder number 11
from again ladder 11 -j
is "$(json again '.[-1] | [.iter, .total_ns, .rank, .client, .server, .steps]')" \
	"$(json number '.[-1] | [.iter, .total_ns, .rank, .client, .server, .steps]')" "ladder, --input: the same one"
from slowest ladder slowest -j
check_ladder slowest "$slow"
is "$(json slowest '.[-1] | [.slowest_ns, .median_ns, .fastest_ns, .iterations]')" "[${sorted[22]},${sorted[11]},${sorted[0]},23]" \
	"ladder: slowest, median and fastest are those of ftrace's durations"

from median ladder
narrow "$(<"$T/median.out")" "ladder"
is "$(tr -d '\n -~' <"$T/median.out" | wc -c)" 0 "ladder: plain ASCII"
read -r iter us < <(sed -n 's/^iteration \([0-9]*\): \([0-9.]*\) us, the median of 23$/\1 \2/p' "$T/median.out")
is "$us" "$(perl -e 'printf "%.1f", $ARGV[0] / 1000' "${took[${iter:-23}]-0}")" "ladder: iteration ${iter:-none} has the duration that it says"
ok "ladder: it is no farther from the median than 1/256" \
	perl -e 'exit !(abs($ARGV[0] * 1000 - $ARGV[1]) <= $ARGV[1] / 256 + 100)' "${us:-0}" "${sorted[11]}"
like "$(cat "$T/median.out")" "client, run $cli, .*server, run $srv, " "ladder: heads of both ends"
# On a slow machine the stages of a wait are too long for one line: then the picture breaks it between two of them.
like "$(tr -s ' |\n' ' ' <"$T/median.out")" 'wire=[0-9.]+ wake=[0-9.-]+ cq=[0-9.]+' "ladder: has the stages of a wait"

from vain ladder 23
is "$RC" 1 "ladder 23 of 23 pings: ends with 1"
like "$(cat "$T/vain.err")" 'no whole iteration 23 was seen .whole 23,' "ladder 23 of 23 pings: says so"

# --- attached late, to one run of an endless pair, with server_inv ---
pair_on 5 ,server_inv
run_line "${PIDS[server]}"
srv=$(field id) qp=$(field qp)
run_line "${PIDS[client]}"
cli=$(field id)
background qp krping-trace -v -j -c 200 --qp "$qp"
background late krping-trace -v -j ladder fastest -t 2 --run "$srv"
background killed krping-record --all -o "$T/killed.rec"
ended qp late
recorded() { [ -s "$T/killed.rec" ]; }
ok "the recorder that is killed has recorded" until_ok 10 recorded
tool_end killed KILL
krping-trace -j -I "$T/killed.rec" >"$T/killed.out" 2>"$T/err"
is "$? $(json killed '.[-1] | [.final, .damage]')" '2 [true,"its end is missing"]' "--input: of a recorder that was killed the end is missing"
krping-trace -I "$T/killed.rec" >"$T/replay" 2>"$T/err"
like "$? $(<"$T/err")" '^2 .*killed.rec is damaged: its end is missing$' "as text"
pair_off
is "$(json qp '[([.[] | select(.event) | .run] | unique), .[-1].events]')" "[[$srv],200]" "--qp: that run only"
load late '{
	head: [.by, .client.run, .server.run, .incomplete, .lost],
	posts: [.steps[] | select(.kind == "SEND_WITH_INV" and .what == "post") | .side],
	invalidated: [.steps[] | select(.what == "invalidated") | .side],
	residual: (.total_ns - ([.steps[] | select(.what == "phase" and .side == "server") | .duration_ns] | add))}'
is "${Q[head]-} ${Q[residual]-}" "[\"server\",$cli,$srv,0,0] 0" "ladder, attached late, of the server: joined with its client, and whole"
is "${Q[posts]-} ${Q[invalidated]-}" '["server","server"] ["client","client"]' "ladder: the server's SEND_WITH_INV invalidates the client's keys"

# --- a task with a nasty name; a full disk ---
nasty=$'w\e[2J\x9b\\"\xff' shown='w\x1b[2J\x9b\\"\xff' plain=$krwrite
cp "$krwrite" "$T/$nasty"
background names krping-trace -v -j -e -E run_start
background rec krping-record -e -o "$T/names.rec"
krping-trace -v -j >/dev/full 2>"$T/full.err" &
PIDS[full]=$!
background mr krping-mr -v -e --keys
background stages krping-stages -v -e
attached names rec full mr stages
krwrite=$T/$nasty
ping_pair ",count=3" ",count=3"
krwrite=$plain
check_good "a nasty name: client" "$CLI" 3
ended names rec mr stages
is "$(json names '[.[] | select(.event) | .comm] | unique')" "$(jq -cn --arg n "$shown" '[$n]')" "a comm with control bytes, -j: is escaped"
ok "-j is ASCII" test "$(tr -d '\n -~' <"$T/names.out" | wc -c)" -eq 0
krping-trace -w -I "$T/names.rec" >"$T/replay"
ok "krping-trace -w: the same" grep -qF "comm=$shown" "$T/replay"
ok "krping-mr --keys: the same" grep -qF " $shown/" "$T/mr.out" || diag "$(cat -v "$T/mr.out")"
is "$(cat "$T/mr.out" "$T/stages.out" | tr -d '\n -~' | wc -c)" 0 "no control byte reaches the terminal"
tool_end full
is "$RC $(tail -n 1 "$T/full.err")" "1 krping-trace: cannot write: ENOSPC (No space left on device)" \
	"krping-trace >/dev/full: ends by itself, with 1, and says why"

rmmod rdma_krping
is $? 0 "nothing is left behind, not even by the one that was killed"
insmod "$KRPING_MODULE"
done_testing
