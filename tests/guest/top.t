#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# krping-top on a terminal: the test presses its keys and looks at its screens. The terminal is tmux, whose own status
# line is off.

. "$(dirname "$0")/lib.sh"

mux=(tmux -L "krping-top-$$" -f /dev/null)
SCREEN=''

# terminal COMMAND: runs the tool in a terminal of 80x24. The shell stays after the tool, so that the test can see what
# the tool leaves on the terminal.
terminal() {
	"${mux[@]}" kill-server 2>/dev/null
	until_ok 5 no_terminal
	"${mux[@]}" new-session -d -x 80 -y 24 "$* ; echo; echo ended with \$?; stty -a | tr ';' '\n' >$T/stty; exec sleep 600"
	"${mux[@]}" set-option -g status off
	"${mux[@]}" resize-window -x 80 -y 24
}
no_terminal() { ! "${mux[@]}" has-session 2>/dev/null; }
trap '"${mux[@]}" kill-server 2>/dev/null; cleanup' EXIT

keys() { "${mux[@]}" send-keys "$@"; }
look() { SCREEN=$("${mux[@]}" capture-pane -p 2>&1); }
resize() { "${mux[@]}" resize-window -x "$1" -y "$2"; }

# shows REGEX...: each REGEX matches some line of the screen, in any order.
shows() {
	local regex
	look
	for regex; do grep -Eq -e "$regex" <<<"$SCREEN" || return 1; done
}
shows_not() { ! shows "$@"; }

# sees DESCRIPTION REGEX...: asserts that the screen soon shows them; sees_not, that it soon shows no such line.
sees() { soon shows "$@" || diag "$(grep -o '^id=.* state=ERROR.*' /proc/krping_runs | tail -3)"; }
sees_not() { soon shows_not "$@"; }
soon() {
	within 15 "$1" "${@:3}" && pass "$2" && return
	fail "$2"
	diag "regular expressions: ${*:3}"$'\n'"$SCREEN"
	return 1
}

# press 'KEY...' DESCRIPTION REGEX...: what the screen shows then. sized WIDTHxHEIGHT does so of another size.
press() {
	read -ra pressed <<<"$1"
	keys "${pressed[@]}"
	sees "${@:2}"
}
sized() {
	resize "${1%x*}" "${1#*x}"
	sees "${@:2}"
}

line() { sed -n "$1p" <<<"$SCREEN"; }
# squeeze TEXT: prints TEXT with single blanks.
squeeze() { xargs <<<"$1"; }
tool_pid() { pgrep -x krping-top; }
no_tool() { ! tool_pid >/dev/null; }

# program_runs: prints how often the programs of the tool have run; the kernel counts that while bpf_stats_enabled is 1. The
# tool may have several descriptors of a program.
program_runs() {
	awk '/^prog_id:/ { id = $2 } /^run_cnt:/ { n[id] = $2 } END { for (id in n) sum += n[id]; print sum + 0 }' \
		"/proc/$(tool_pid)"/fdinfo/* 2>/dev/null
}
iterations() { awk '{ sub(/.* iters=/, ""); n += $1 } END { print n + 0 }' <(grep -v '^#' /proc/krping_runs); }
# runs_an_iteration: prints how often the programs run for ten iterations of an end, over a second.
runs_an_iteration() {
	local n p
	n=$(iterations) p=$(program_runs)
	nap 1
	n=$(($(iterations) - n)) p=$(($(program_runs) - p))
	echo $((n ? p * 10 / n : 0))
}

# two_on: a server and a client that ping until pair_off; sid and cid become their run ids.
two_on() {
	pair_on
	run_line "${PIDS[client]}" && cid=$(field id)
	run_line "${PIDS[server]}" && sid=$(field id)
}

columns80='RUN ROLE TEST DEV ITER/S MB/S P50 P99 ERR STATE'
ok "tmux is there" command -v tmux

# --- the list ---
terminal krping-top --keep 10
sees "with nothing running it says what it waits for" 'waiting for a command to /proc/krping'
two_on
row="rping $LINK +[1-9][0-9.]* +[0-9.]+ +[0-9.]+[mu]s +[0-9.]+m?u?s +0 (wait|reg|send|r/w|data) +[0-9]+%? +[.DRSWX]{10}$"
sees "both ends are here: one row, with rates, latencies, and where the time goes" "^ *$sid<>$cid both   $row" '[^0-9]1-1/1$'
press a "a: each end has a row" "^ *$sid server $row" "^ *$cid client $row" '[^0-9]1-2/2$'
clock=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)
case $PROVIDER in rxe) driver=rdma_rxe ;; *) driver=$PROVIDER ;; esac
is "$(squeeze "$(line 2)")" "$columns80 TIME SPENT" "80 columns: exactly the columns of the contract"
is "$(wc -l <<<"$SCREEN") $(awk 'length > 80' <<<"$SCREEN")" "24 " "80x24: no line is longer or more"
like "$(line 1)" 'krping-top [0-9:]{8} +2 running .* lost events 0' "the title has the time, the runs and what was lost"
like "$(line 24)" 'h help' "the last line names the key for help"
[ "$PROVIDER" != rxe ] || sees "the counters of the device that moved are below" "^$LINK/1 .*sent_pkts [0-9.k]+/s"

press h "what the figures depend on is in the help" "^# $LINK/1 $driver  $(uname -r)  clock $clock( |~|$)"
press h "any key: back" '^ *RUN ROLE'
is "$(grep -c '^#' <<<"$SCREEN")" 0 "and not in the list"

# What each key does is for tests/unit/test_top.c: here are those that a terminal sends, and what goes on behind the screens.
look
like "$(line 24)" ' sort ITER/S 1-2/2$' "the order is that of the rates"
press '< < < <' "< : another column" ' sort RUN 1-2/2$'
is "$(grep -Eo '^ +[0-9]+ (server|client)' <<<"$SCREEN" | xargs)" "$sid server $cid client" "which has the order of the ids"

press '/ c l i x BSpace' "/: the filter is seen while it is typed" 'filter: cli_' 'RUN 1-1/1'
press 'e n t Enter' "the filter stays after Enter" 'filter: client ' 'RUN 1-1/1'
press Escape "Esc clears it" "^ *$sid server" "^ *$cid client" 'h help'

press p "p: paused" 'PAUSED'
first=$SCREEN
nap 1.5
look
is "$SCREEN" "$first" "paused: nothing changes"
keys Space
sees_not "Space: it goes on" 'PAUSED'
sees_not "the clock goes on" "${first:0:19}"

keys b
press Enter "Enter: the runs of a group" " dev $LINK  " "^ *$cid client rping"
press 'BSpace b b b b b' "backspace, b: around to the runs" "^ *$sid server" "^ *$cid client"

# --- one run ---
pair_off
two_on
sees "those that come get a row" "^ *$cid client $row"
echo 1 >/proc/sys/kernel/bpf_stats_enabled
n=$(runs_an_iteration)
ok "one program runs in an iteration of an end: $n of 10" test "$n" -ge 7 -a "$n" -le 14
press 'End Enter' "Enter opens the run: who it is, its phases, its latency" "run $cid  all its time" "client rping  $LINK/1" \
	'PHASE +COUNT +MEAN +MAX +SHARE%  LATENCY OF AN ITERATION' '^.wait_read +[0-9.k]+ +[0-9.]+[mu]s' \
	'latency mean [0-9.]+[mu]s p50 ' '. set-up +D data'
look
share=$(grep -Eo '^.[a-z_]+ +[0-9.k]+ +[0-9.]+(n|u|m|)s +[0-9.]+(n|u|m|)s +[0-9.]+' <<<"$SCREEN" | awk '{ s += $NF } END { print (s > 99.7 && s < 100.3) ? "100" : s }')
is "$share" 100 "the shares of its phases add up to all of its time"
bar=$(grep -E '^[.DRSWX?]{80}$' <<<"$SCREEN")
is "${#bar}" 80 "the bar is as wide as the screen"
like "$bar" 'W{10}' "most of a ping is waiting"
like "$SCREEN" '[▁▂▃▄▅▆▇█]' "the picture is of blocks, in a UTF-8 locale"
sized 80x50 "its requests and registrations" 'requests +SEND [1-9]' 'registrations +REG_MR [1-9][0-9.k]*  LOCAL_INV [1-9]' \
	'errors +failed 0  flushed 0'
like "$(line 6)" '^errors +failed 0 ' "its errors are right below the head"
is "$(sed -n 's/^ *[0-9.]*s  CM *//p' <<<"$SCREEN" | tac | paste -sd '|')" 'ADDR_RESOLVED|ROUTE_RESOLVED|ESTABLISHED' \
	"its CM events, also those from before it was opened"
n=$(runs_an_iteration)
ok "one program in an iteration, also while a run is open: $n of 10" test "$n" -ge 7 -a "$n" -le 14
echo 0 >/proc/sys/kernel/bpf_stats_enabled
press t "t: the last interval" "run $cid  the last interval"
keys t
sized 80x24 "80x24: there is more below" 'j k: line 1/'
press 'PageDown PageDown PageDown' "PgDn: the events" 'CM     ESTABLISHED'
press BSpace "backspace returns to the list" 'RUN ROLE'
resize 80 50
press Enter "a: from one end" "run $cid  all its time"
press a "to the other" "run $sid  all its time" 'CM     CONNECT_REQUEST'
kill -INT "${PIDS[client]}"
sees "a run that ended while it was open" "run $sid ended: done, after"
keys BSpace
resize 80 24

# --- more of a run: other views have the terminal, and give it back ---
pair_off
two_on
sees "a pair" "^ *$cid client $row"
resize 80 50
press 'End Enter s' "s: its stages" "^run $cid  client rping" '^  wire +[1-9]' '^wait_read +[1-9]'
press q "q: back at the run" "run $cid  all its time" 'LATENCY'
press m "m: its keys of memory" '^ *RUN ROLE  .* KEY' "^ *$cid client .* VALID "
press C-c "Ctrl-C: back at the run" "run $cid  all its time" 'LATENCY'
resize 80 24
keys BSpace
ok "nothing of it is left" eval '! pgrep -f "krping (stages|mr) --run"'

# --- sizes ---
pair_off
two_on
sized 160x48 "160x48: all columns" 'PEER .* SIZE TIME SPENT'
is "$(squeeze "$(line 2)")" "$columns80 PEER QD MAX NAME SIZE TIME SPENT" "160 columns: those beside the 80"
sees "with peers, names and longer bars" "^ *$cid client .* $ADDR +- +[0-9.]+[mu]s krwrite +64 [.DRSWX?]{20}" 'W wait  X r/w'
like "$(line 48)" 'h help' "the whole of the screen is used"
sized 30x6 "too small: it says so" 'too small' '30x6, needs'
resize 1 1
nap 0.5
sized 80x24 "and comes back" '^ *RUN ROLE' 'h help'

# --- what has ended ---
"$krwrite" "client,addr=$ADDR,port=$((PORT + 1))" >/dev/null
sees "a run that failed stays with its result and its cause" "client rping .* ECONNREF" 'ended: ECONNREFUSED: connection refused'
like "$(line 2)|$(line 4)" '^run [0-9]+ ended: ECONNREFUSED: .*\|.* client rping .* ECONNREF' \
	"above all that is well, with the cause below the head"
begin=$EPOCHSECONDS
pair_off
sees "those that were stopped" "^ *$cid client .* DONE" "^ *$sid server .* DONE"
sees_not "they leave after --keep" "^ *$cid client"
ok "not before" test $((EPOCHSECONDS - begin)) -ge 9 || diag "$((EPOCHSECONDS - begin)) s"

# --- x stops a run ---
two_on
sees "a pair" "^ *$cid client $row"
press 'End x' "x: it asks" "^stop run $cid, client rping\?  x: yes"
press p "another key: no" PAUSED
keys p
nap 1.5
run_line "${PIDS[client]}"
like "$(field state)" 'CONN|READ|WRITE' "it goes on"
press 'x x' "x x: it is stopped" "^run $cid was asked to end" "^ *$cid client .* DONE" "^ *$sid server .* DONE"
finish_is client "state errno" "DONE 0" "which is a good end"
finish server
serve ,test=block,persistent,window=2M
start client "client,addr=$ADDR,port=$PORT,test=block"
until_ok 20 test -b /dev/krping0
run_line "${PIDS[client]}" && cid=$(field id)
sees "a disk" "^ *$cid client block"
exec {held}</dev/krping0
press '/ c l i e n t Enter' "clients" "filter: client"
press 'End x x' "a disk that is open: why it goes on" "^run $cid: EBUSY until /dev/krping0 is closed; x x "
press 'x x' "and a second time" "^run $cid was asked to end"
exec {held}<&-
finish client
interrupt server

press q "q: it ends with 0, and a summary" ' client +[0-9]+ .* DONE' 'ended with 0'
until_ok 5 test -s "$T/stty"
like "$(cat "$T/stty")" ' icanon .* echo ' "the terminal is as it was"
is "$("${mux[@]}" display-message -p '#{alternate_on} #{cursor_flag}')" '0 1' "the screen behind is back, and the cursor"

# --- KILL leaves nothing; no colours, no blocks ---
two_on
terminal krping-top
sees "it comes in the middle of runs" "^ *$sid<>$cid both   rping +$LINK +[1-9]"
press 'End Enter' "and opens one" 'watched from the middle' 'LATENCY'
colours() { "${mux[@]}" capture-pane -pe | grep -c $'\e\\[[0-9;]*3[1-6]m'; }
ok "there are colours on a terminal that has them" test "$(colours)" -gt 0
kill -KILL "$(tool_pid)"
until_ok 5 no_tool
pair_off
until_ok 5 no_live_runs
ok "after KILL nothing holds the module" rmmod rdma_krping
ok "and it can be loaded again" insmod "$KRPING_MODULE"
two_on
terminal env NO_COLOR=1 LC_ALL=C krping-top
sees "NO_COLOR, LC_ALL=C" "^ *$sid<>$cid both   rping +$LINK +[1-9]"
press 'End Enter' "the picture is of #" '\|.*##' 'SHARE%  LATENCY'
is "$(LC_ALL=C grep -c $'[\x80-\xff]' <<<"$SCREEN")" 0 "all is ASCII"
is "$(colours)" 0 "NO_COLOR: there are none"
press C-c "Ctrl-C: a summary, and 0" 'Summary: ' 'ended with 0'
terminal env TERM=dumb krping-top 1 1
sees "a terminal that can show no screen gets tables" '^ *RUN ROLE' 'ended with 0'

# --- batch and JSON ---
krping-top -b -r 1 -s p99 1 3 </dev/null >"$T/batch" 2>"$T/err"
is $? 0 "-b: three tables"
is "$(grep -c '^ *RUN ROLE  ' "$T/batch")" 4 "a head for each, and for the summary"
is "$(awk 'length > 79' "$T/batch" | grep -v '^run ')" '' "-b: less than 80 columns"
unlike "$(cat "$T/batch")" $'\e' "-b: no escape sequences"
is "$(grep -c " rping $LINK " "$T/batch")" 3 "-r 1: one row in each"
is "$(grep -cE "^# $LINK/1 $driver " "$T/batch")" 1 "-b: what they depend on, once"
krping-top -j 1 3 >"$T/json"
# json DESCRIPTION WANTED FILTER: what jq makes of all these objects.
json() { is "$(jq -c -s "$3" "$T/json" | paste -sd ' ')" "$2" "$1" || diag "$(cut -c 1-300 "$T/json")"; }
json "-j: an object for each interval, and the summary" '[4,true]' 'map(.final) | [length, .[-1]]'
json "-j: what they depend on, in the first and the last" '[true,false,false,true]' '[.[] | has("setting")]'
json "-j: kernel, clock, CPUs, device" \
	"[\"$(uname -r)\",\"$clock\",$(nproc --all),\"$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)\"] [[\"$LINK\",1,\"$driver\"]]" \
	'.[0].setting | [.kernel, .clock_source, .cpus_online, .thread_cpus], [.devices[] | [.dev, .port, .driver]]'
json "-j: registrations, invalidations, the maximum and the phases" '[true]' \
	'[.[1].runs[] | .reg_per_s > 0 and .inv_per_s > 0 and .max_ns >= .p99_ns and (.phases | length) > 5] | unique'
[ "$PROVIDER" != rxe ] || json "-j: the device's counters" '[true]' \
	"[.[] | .devices[] | select(.dev == \"$LINK\") | .counters[] | select(.name == \"sent_pkts\") | .delta > 0] | unique"
# The length of an interval is the tool's own figure. An iteration that is under way at an end of the interval makes a
# difference of one iteration at most.
# shellcheck disable=SC2016 # jq's
json "-j: the phases of an interval add up to its length" '[true]' '(.[-1].runs[0].max_ns * 2) as $most | [.[0:-1][] | .runs[0] |
	select(.iters_per_s > 0) | ([.phases[].sum_ns] | add) - .interval_iters / .iters_per_s * 1e9 | . <= $most and . >= -$most] | unique'

# --- krping-stages with an interval draws each line over the one before, and the summary below it ---
terminal krping-stages 0.5
sees "krping-stages: an interval" '^PHASE' '^\(iteration\)' '^\.\.\. and more than this terminal has lines'
# above: what tmux has of the lines that left the screen.
above() { "${mux[@]}" display-message -p '#{history_size}'; }
before=$(above) first=$SCREEN
until_ok 10 eval 'look && [ "$SCREEN" != "$first" ]'
is "$(above) $(grep -c '^\.\.\. ' <<<"$SCREEN")" "$before 1" "another one is drawn over it" || diag "$first"$'\n'"$SCREEN"
press C-c "a summary, as long as it is" '^runs 2, lost events' 'ended with 0'
unlike "$SCREEN" $'\n\\.\\.\\. ' "all of it"

# --- many runs ---
pair_off
nr=500 busy=40
# 40 runs ping as fast as they can, and the others wait for clients: 500 pinging runs would take minutes to connect on
# two emulated CPUs.
background listening "$krwrite" --many listen $((nr - busy)) "$ADDR" 12000
all_there() { [ "$(wc -l </proc/krping)" -ge "$1" ]; }
ok "$((nr - busy)) servers listen" until_ok 60 all_there $((nr - busy))
background pinging "$krwrite" --many ping $busy "$ADDR" 14000
all_ping() { [ "$(awk '$2 !~ /listen/ && $3 > 2' /proc/krping | wc -l)" -ge $busy ]; }
ok "$busy runs ping" until_ok 60 all_ping || diag "$(cat "$T/pinging.err" /proc/krping | tail -n 5)"
terminal krping-top --max-runs 1024
sees "both ends of $((busy / 2)) pings have one row" " 1-[0-9]+/$((nr - busy / 2))$"
press a "$nr rows" " 1-[0-9]+/$nr$"
press End "End: the last one is on the screen" " [0-9]+-$nr/$nr$"
# The summary is longer than the screen.
resize 80 $((nr + 20))
sees "a screen for all of them" "^ *[0-9]+ server .*" 'h help'
kill -TERM "$(tool_pid)"
sees "TERM: a summary, and 0" 'Summary: ' 'ended with 0'

# The cost of a refresh is CPU time, in units of other work that alternates with it, so neither a slow nor a busy
# machine matters. The promise is 100 ms of a CPU, and today's CPUs add up a million numbers in perl in some 40 ms. The
# limit here is half a million additions, since a refresh takes only a tenth.
additions() { perl -e 'my $s = 0; $s += $_ * 3 for 1 .. 1e6; my ($u, $k) = times; printf "%d", ($u + $k) * 1e6'; }
background batch krping-top -b -r 20 -s p99 --max-runs 1024 1
refreshes() { grep -c '^ *RUN ROLE  ' "$T/batch.out"; }
refreshed() { [ "$(refreshes)" -gt "$1" ]; }
until_ok 30 refreshed 2
percents=()
for ((i = 0; i < 7; i++)); do
	# schedstat has the CPU time of the process in nanoseconds.
	n=$(refreshes) && read -r before _ <"/proc/${PIDS[batch]}/schedstat"
	unit=$(additions)
	until_ok 10 refreshed $((n + 1))
	read -r after _ <"/proc/${PIDS[batch]}/schedstat" && n=$(($(refreshes) - n))
	percents+=($(((after - before) / 10 / n / unit)))
done
percent=$(printf '%s\n' "${percents[@]}" | sort -n | sed -n 4p)
ok "a refresh with $nr runs costs less than half a million additions in perl: $percent % of a million" test "$percent" -lt 50
diag "percent of a million additions: ${percents[*]}"
tool_end batch INT
is "$RC $(grep -Eo '^Summary: [0-9]+ runs' "$T/batch.out")" "0 Summary: $nr runs" "-b: a summary of all $nr, and 0"
for t in listening pinging; do
	is "$(cat "$T/$t.err")" '' "$t: none of them ended before"
	tool_end $t KILL
done
until_ok 30 no_live_runs

# Stopped for so long that more runs came and went than there is room for, it has room for new ones afterwards.
attach krping-top -j --max-runs 4 1
kill -STOP "${PIDS[krping-top]}"
for i in 1 2 3 4; do ping_pair ",count=1" ",count=1"; done
kill -CONT "${PIDS[krping-top]}"
more_lines 2 krping-top
ping_pair ",count=1" ",count=1"
tool_end krping-top INT
is "$RC $(jq -s ".[-1].runs | map(select(.run == $(field id "$CLI") or .run == $(field id "$SRV")) | .wc_flush > 0) | tostring" "$T/krping-top.out")" \
	'0 "[true,true]"' "after a stop it sees the errors of new runs"

# --- a recording ---
attach krping-record -o "$T/rec"
serve ,persistent
client_is "client,addr=$ADDR,port=$PORT,count=150,interval=20ms" state DONE "pings that are recorded"
CLI=$LINE
interrupt server
tool_ends "krping-record" krping-record INT
terminal krping-top -I "$T/rec" 0.1
cid=$(field id "$CLI")
sees "a recording is shown to its end" '^krping-top [0-9:]{8} 100% .*  END$' "^ *$cid<>[0-9]+ both .* DONE"
press 'Home x' "x: there is nothing to stop" '^this is a recording'
press Home "until the next key" ' sort ITER/S 1-2/2$'
press s "s: the stages of the recording" "^wait_write +150 " '^free ' '^any key: back to krping top'
press Space "a key: back" "^ *$cid<>[0-9]+ both .* DONE"
press m "m: its registrations" "^run $cid client: no key leaked: " '^any key: back to krping top'
press q "a key: back" "^ *$cid<>[0-9]+ both .* DONE"
keys q
sees "and summed up" 'Summary: 3 runs' 'ended with 0'
terminal krping-top -I "$T/rec" 0.1
keys .
sees "a key shows an interval, and pauses" '^krping-top [0-9:]{8} +[0-9]+% .* PAUSED'
look
first=$SCREEN
nap 0.3
look
is "$SCREEN" "$first" "and no more"
for _ in {1..20}; do keys . . . . .; done
sees "until there is none" '^krping-top [0-9:]{8} 100% .*  END$'
keys q
sees "q ends it there" 'ended with 0'

# Where a terminal cannot place its cursor there are tables.
for how in TERM=dumb --unset=TERM; do
	on_terminal tables env "$how" krping-top
	watches() { grep -q 'Ctrl-C to end' "$T/tables.out"; }
	until_ok 20 watches
	type_keys tables '\003'
	tool_ends "$how: Ctrl-C ends krping-top" tables
done

# A terminal that has gone is the end of the full screen, even where SIGHUP is ignored.
on_terminal gone env --ignore-signal=HUP krping-top
within 20 pgrep -x krping-top
tool_end gone KILL
ok "krping-top ends when its terminal has gone" until_ok 20 no_tool
done_testing
