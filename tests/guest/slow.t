#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# krping-stages joins both ends and explains why iterations were slow; krping-mr shows keys. A delay that the test puts
# into one place has to show up there, and lost records have to be counted.

. "$(dirname "$0")/lib.sh"

# --- both ends side by side: rows add up ---
joined='{
	late: ([.runs[].attached_late] | unique),
	pairs: ([.runs[] | select(.joined) | [.role, .joined.peer_run]] | sort),
	# A wait is in the join as long as its phase, to the nanosecond, and so are its parts.
	phases: [.runs[] | . as $r | .joined.waits[]? | . as $w |
		select($w.sum_ns != ($r.phases[] | select(.phase == $w.phase) | .sum_ns) or
		       $w.sum_ns != ([.by[].sum_ns] | add))],
	waits: ([.runs[] | select(.joined) | [.role, (.joined.waits | length)]] | sort),
	client: ([.runs[] | select(.role == "client") | .joined.waits[] | select(.phase == "wait_read") |
		.by[].peer_phase] | unique),
	unknown: ([.runs[] | .joined.waits[]?.by[] | select(.peer_phase == "unattributed") | .sum_ns] | add),
	total: ([.runs[] | .joined.waits[]?.sum_ns] | add),
	overrun: ([.runs[] | .joined.overrun // 0] | add),
	# What the server did in a phase of its own, the client saw in its waits, up to the little that overlaps its work.
	reads: [(.runs[] | select(.role == "server") | .phases[] | select(.phase == "read") | .sum_ns),
		([.runs[] | select(.role == "client") | .joined.waits[].by[] | select(.peer_phase == "read") | .sum_ns] | add)]}'
# joined_is_right WHAT [PER-MILLE]: asserts that the join is right, and that no more than PER-MILLE (1) of the time is unattributed.
joined_is_right() {
	is "${Q[phases]-}" '[]' "$1: a wait and its parts are as long as its phase"
	is "${Q[waits]-}" '[["client",2],["server",4]]' "$1: all phases that wait are joined"
	is "${Q[overrun]-}" 0 "$1: no end has lost track of the other"
	like "${Q[client]-}" '"go_ahead_read",.*"read","reg_read"' "$1: the server's phases are in the client's wait_read"
	ok "$1: what the peer did is known: but for ${Q[unknown]-} of ${Q[total]-} ns" \
		test "$((${Q[unknown]/null/0} * 1000))" -le "$((${Q[total]-0} * ${2:-1}))"
	# [the time of all the server's reads, the part of it that the client has seen]
	local read=${Q[reads]//[^0-9,]/}
	ok "$1: the server's reads are where the client waits: ${Q[reads]}" \
		test "$((${read#*,} * 100))" -ge "$((${read%,*} * 90))" -a "${read#*,}" -le "${read%,*}"
}

for opt in "" ,server_inv,validate; do
	over ",count=101$opt" krping-stages -j
	load krping-stages "$joined"
	is "${Q[pairs]-}" "[[\"client\",$(field id "$SRV")],[\"server\",$(field id "$CLI")]]" "joined$opt: each names the other"
	joined_is_right "joined$opt"
done

pair_on
run_line "${PIDS[client]}" && id=$(field id) peer=$(field peer_run)
attach krping-stages -j --run "$id" -p
nap 1
pair_off
tool_end krping-stages
load krping-stages "$joined"
is "$RC ${Q[late]-} ${Q[pairs]-}" "0 [true] [[\"client\",$peer],[\"server\",$id]]" \
	"--run -p of a run that was there before: it and its peer, and no end but theirs"
# Time before the peer's time line begins cannot be attributed.
joined_is_right "attached late" 50

# The server has no slot in the tool yet when the two connect.
server server "server,addr=$ADDR,port=$PORT"
attach krping-stages -j
client "client,addr=$ADDR,port=$PORT,count=101"
id=$(field id)
finish server
parse
tool_end krping-stages INT
load krping-stages "$joined"
is "$RC ${Q[pairs]-}" "0 [[\"client\",${F[id]-}],[\"server\",$id]]" "a server that listened before: joined with its client"
joined_is_right "listened before" 50

# Two pairs at the same time, and text output.
attach krping-stages -e
for p in 1 2; do server "s$p" "server,addr=$ADDR,port=$((PORT + p)),count=23"; done
for p in 1 2; do start "c$p" "client,addr=$ADDR,port=$((PORT + p)),count=23"; done
for p in c1 c2 s1 s2; do finish $p; done
tool_end krping-stages
is "$(grep -cE '^runs [0-9]+ and [0-9]+ are peers' "$T/krping-stages.out")" 2 "text: two pairs, two views of them"
narrow "$(<"$T/krping-stages.out")" "the view of both ends"

# The thread of an end that is only read from does nothing that the other one could wait for.
over ,count=300,rlat krping-stages -e
is "$(grep -cE "^run $(field id "$SRV") is the passive peer of run $(field id "$CLI"): " "$T/krping-stages.out")" 1 "rlat: the server is passive"
is "$(grep -cE 'lost track|are peers' "$T/krping-stages.out")" 0 "rlat: there is no view of both ends"
over ,count=300,wlat krping-stages -e
is "$(grep -cE '^ *wait_completion  *(299|300) ' "$T/krping-stages.out")" 2 "wlat: the longest name of a phase is whole" ||
	diag "$(cat "$T/krping-stages.out")"
narrow "$(<"$T/krping-stages.out")" "wlat"

# --- the slowest ---
whole='{
	nr: (.slow | length), lost,
	ids: ([.slow[] | [.run, .iteration]] | unique | length),
	order: ([.slow[].duration_ns] as $d | $d == ($d | sort | reverse)),
	max: (([.slow[].duration_ns] | max) == ([.runs[].iteration.max_ns] | max)),
	parts: [.slow[] | select(.duration_ns != ([.parts[].ns] | add))],
	added: [.slow[] | select(.added_ns != ([.parts[].added_ns] | add))],
	causes: [.slow[] | select(.added_ns != .unexplained_ns + ([.causes[].ns] | add // 0))],
	over: [.slow[] | select(.recorder_overwritten > 0)]}'
over ,count=101 krping-stages -j --slowest 7
is "$RC $(cat "$T/krping-stages.err")" "0 " "--slowest: exit 0, nothing on stderr"
load krping-stages "$whole"
is "${Q[nr]-} ${Q[ids]-} ${Q[order]-} ${Q[max]-}" "7 7 true true" "--slowest 7: seven, the slowest of all first"
is "${Q[parts]-}" '[]' "--slowest: the parts of an iteration add up to it"
is "${Q[added]-}" '[]' "--slowest: what was added to the parts adds up"
is "${Q[causes]-}" '[]' "--slowest: the causes and what is unexplained add up to what was added"
is "${Q[over]-} ${Q[lost]-}" '[] 0' "--slowest: the recorder had it all"

# --- a hog on the client's CPU ---
ln -s "$(command -v perl)" "$T/cpuhog"
# shellcheck disable=SC2016 # perl's
taskset -c 1 chrt -f 50 "$T/cpuhog" -MTime::HiRes=time,sleep -e '
	while (1) { my $end = time + 0.04; 1 while time < $end; sleep 0.16 }' &
PIDS[cpuhog]=$!
ON=(taskset -c 0)
# The second round runs without the kernel's BTF, and so without wakeups; the tool must still know which task had the
# CPU. It is asked for all slow iterations: where the hog kept siw's thread from running, a waking of that thread would
# tell so, and without wakeups the ten slowest may all be of this kind.
# shellcheck disable=SC2016 # sh's
for how in json text; do
	opt=(-j --fail)
	if [ $how = text ]; then
		opt=(--slowest 1000)
		ON+=(unshare -m sh -c 'mount -t tmpfs tmpfs /sys/kernel/btf && exec "$@"' sh)
	fi
	attach krping-stages --slow 30ms "${opt[@]}"
	server server "server,addr=$ADDR,port=$PORT"
	taskset -cp 0 "${PIDS[server]}" >/dev/null
	start client "client,addr=$ADDR,port=$PORT"
	taskset -cp 1 "${PIDS[client]}" >/dev/null
	wait_pings client 1
	nap $((3 * SLOW))
	pair_off
	tool_end krping-stages INT
	if [ $how = json ]; then
		is $RC 2 "--slow --fail: exit 2, since some were slow"
		load krping-stages "{slow: [.slow[] | select(.role == \"client\")]} | {
			nr: (.slow | length),
			added: ([.slow[] | select(any(.causes[]; .name == \"cpuhog\")) | .added_ns] | sort | .[length / 2 | floor]),
			hog: ([.slow[] | [.causes[] | select(.name == \"cpuhog\") | .ns] | select(length > 0) | add] |
				sort | .[length / 2 | floor]),
			named: ([.slow[].causes[] | select(.name == \"cpuhog\") | [.kind, .id]] | unique),
			short: [.slow[] | select(.duration_ns < 30000000)]}"
		ok "a hog: the client had slow iterations: ${Q[nr]-}" test "${Q[nr]-0}" -ge 3
		is "${Q[short]-}" '[]' "a hog: all that are told of took 30 ms or more"
		is "${Q[named]-}" "[[\"task\",${PIDS[cpuhog]}]]" "a hog: it is named, a task with its number"
		# An emulated CPU that stood still may have caused any part of the added time; but in an iteration that
		# the hog interrupted, the hog took 40 ms.
		ok "a hog: in the median iteration 90 % of its 40 ms or more are put down to it: ${Q[hog]-} of ${Q[added]-} ns added" \
			test "${Q[hog]/null/0}" -ge 36000000
		load krping-stages "$whole"
		is "${Q[parts]-} ${Q[causes]-}" '[] []' "a hog: parts and causes add up"
	else
		is $RC 0 "--slow: exit 0 without --fail"
		like "$(cat "$T/krping-stages.err")" '^No wakeups .*no BTF.*
Tracing .*$' "--slow without BTF: one line says what is missing"
		like "$(cat "$T/krping-stages.out")" "task cpuhog/${PIDS[cpuhog]} +[0-9.]+ +[0-9.]+" "text: the hog by its name"
		narrow "$(<"$T/krping-stages.out")" "--slow"
	fi
done
ON=()
kill "${PIDS[cpuhog]}"
wait "${PIDS[cpuhog]}" 2>/dev/null
unset 'PIDS[cpuhog]'

over ,count=5 krping-stages --slow 100s --fail
is "$RC" 0 "--slow --fail: exit 0 where none was slow"

# --- what is lost is counted ---
attach krping-stages -j --slow 1ns --records 64
kill -STOP "${PIDS[krping-stages]}"
ping_pair ",count=600" ",count=600"
kill -CONT "${PIDS[krping-stages]}"
nap 1
tool_end krping-stages INT
load krping-stages '{nr: .slow_seen, dropped: .lost_dropped, iterations: ([.runs[].iteration.count] | add)}'
ok "a ring that nobody reads: events are lost: ${Q[dropped]-}" test "${Q[dropped]-0}" -gt 0
ok "and most iterations are: ${Q[iterations]-}" test "${Q[iterations]-1200}" -lt 1000
is "${Q[nr]-}" "${Q[iterations]-}" "each iteration that was not is counted"

# --- a limit that most iterations exceed: only ten are explained, at the cost of ten, and a line says so ---
for many in 10 3; do
	opt=()
	[ $many = 10 ] || opt=(--slowest "$many")
	over ,count=300 krping-stages --slow 1us "${opt[@]}"
	is "$(grep -c '^run .* iteration [0-9]* ' "$T/krping-stages.out")" $many "--slow 1us ${opt[*]}: $many are explained"
	like "$(cat "$T/krping-stages.out")" "600 of 600 iterations took 1.00us or more; the $many slowest are explained
that is most of them" "--slow 1us ${opt[*]}: all are counted, and a word says that this is usual"
done

tool krping-stages -j --max-runs 1
tool krping-mr -j --max-runs 1
attached krping-stages krping-mr
ping_pair ",count=5" ",count=5"
for t in krping-stages krping-mr; do
	tool_end "$t" INT
	load "$t" '{runs: (.runs | length), dropped: .runs_dropped, lost}'
	is "${Q[runs]-} ${Q[dropped]-} ${Q[lost]-}" "1 1 0" "$t --max-runs 1: one run, and another one that is counted"
done

# --- keys ---
pair_on
krping-mr -j --keys -t 2 >"$T/keys.out" 2>"$T/err"
is "$? $(cat "$T/err")" "0 " "krping-mr --keys: exit 0, nothing on stderr"
load keys '{
	roles: ([.runs[].role] | sort), nr: ([.runs[].keys | length] | unique),
	states: ([.runs[].keys[].state] | unique - ["FREE", "VALID"]),
	keyless: [.runs[].keys[] | select(.key == 0 or .pages != 1)],
	# A ping changes them; one takes no second.
	old: [.runs[].keys[] | select(.age_ns == 0 or .age_ns > 1000000000)],
	owners: ([.runs[] | [.comm, .pid]] | sort)}'
is "${Q[roles]-} ${Q[nr]-}" '["client","server"] [1]' "krping-mr --keys: one region of each end"
is "${Q[states]-} ${Q[keyless]-}" '[] []' "krping-mr --keys: FREE or VALID, with a key, of one page"
is "${Q[old]-}" '[]' "krping-mr --keys: how old they are" || diag "$(cat "$T/keys.out")"
owners=$(printf '%s\n' "[\"krwrite\",${PIDS[client]}]" "[\"krwrite\",${PIDS[server]}]" | sort | paste -sd,)
is "${Q[owners]-}" "[$owners]" "krping-mr --keys: whose they are"
krping-mr --keys -t 1 >"$T/keys" 2>/dev/null
narrow "$(<"$T/keys")" "krping-mr --keys"
like "$(cat "$T/keys")" "0x[0-9a-f]{8} (FREE |VALID) +1 +[0-9.]+[num]?s krwrite/${PIDS[client]}" "krping-mr --keys: text"
attach krping-mr --watch
nap 1
is "$(gone "${PIDS[krping-mr]}" && echo gone)" '' "krping-mr --watch goes on as long as all is in balance"
tool_ends "krping-mr --watch: and ends with 0" krping-mr INT
pair_off

# Invalidations: both ends' LOCAL_INV, for all keys but the last of each; with server_inv the server's SEND_WITH_INV
# instead of the client's LOCAL_INV.
for opt in "" ,server_inv; do
	over ",count=23$opt" krping-mr -j
	load krping-mr '{inv: [.invalidations[] | [.by, .post.count, .done.count]],
		odd: [.invalidations[] | select(.post.min_ns == 0 or .done.min_ns <= 0)]}'
	want='[["LOCAL_INV",90,90]]'
	[ -z "$opt" ] || want='[["LOCAL_INV",45,45],["SEND_WITH_INV",46,46]]'
	is "${Q[inv]-}" "$want" "krping-mr$opt: what invalidates, how often, and followed by a completion"
	is "${Q[odd]-}" '[]' "krping-mr$opt: each took its time"
done
over ,count=23,server_inv krping-mr -e
narrow "$(<"$T/krping-mr.out")" "krping-mr"
like "$(cat "$T/krping-mr.out")" 'SEND_WITH_INV +46 \|' "krping-mr: text has what invalidations cost"
done_testing
