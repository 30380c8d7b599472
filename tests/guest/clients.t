#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A server of several clients: at once, one after another, and how it ends; and the command "stop".

. "$(dirname "$0")/lib.sh"

S="server,addr=$ADDR,port=$PORT" C="client,addr=$ADDR,port=$PORT"

# children: sets CHILDREN to the lines of the runs whose parent is P.
children() {
	local lines line
	CHILDREN=()
	mapfile -t lines </proc/krping_runs
	for line in "${lines[@]}"; do
		[[ $line != *" parent=$P "* ]] || CHILDREN+=("$line")
	done
}

# child_of LINE: sets CHILD to the line of the run that served the client of this line.
child_of() {
	local line
	parse "$1"
	CHILD=$(grep "^id=${F[peer_run]:-none} " /proc/krping_runs)
}

# ended WHAT "ERRNO STATE SERVED FAILED" [SECONDS]: the server ends like this.
ended() {
	finish server "${3:-20}"
	line_is "werr state served failed" "$2" "$1: the server"
}

# pair WHAT LINE: the client of this line and the run that served it: parent, peers and statistics.
pair() {
	local mine=$2
	child_of "$mine"
	parse "$CHILD"
	local was="${F[parent]-} ${F[peer_run]-} ${F[role]-} ${F[state]-} ${F[errno]-} ${F[iters]-} ${F[size]-}"
	local got="${F[send_bytes]-} ${F[recv_bytes]-} ${F[read_bytes]-} ${F[write_bytes]-}"
	parse "$mine"
	is "$was" "$P ${F[id]} server DONE 0 ${F[iters]} ${F[size]}" "$1: the client's run has the server as parent, and the client as peer"
	is "$got" "${F[recv_bytes]} ${F[send_bytes]} $((F[iters] * F[size])) $((F[iters] * F[size]))" "$1: its statistics are the client's"
}

resources_before

# The place of a client is free when it has gone, whatever came of it.
serve ,persistent
for i in 1 2 3; do
	client_good "one after another: client $i" "$C,count=$((5 * i)),size=$((100 * i))" $((5 * i)) || break
	pair "one after another: client $i" "$LINE"
done
kill -INT "${PIDS[server]}"
ended "one after another, then SIGINT" "0 DONE 3 0"

# At once. The fourth one is refused, and does not count.
serve ,clients=3
for i in 1 2 3; do
	pinging c$i "$C,size=$((100 * i)),validate"
done
is "$(grep -c " listen$" /proc/krping) $(grep -vc " listen$" /proc/krping)" "1 6" "at once: the server listens, and three pairs ping"
client_is "$C,count=5" "werr" EBUSY "at once: a fourth client is refused"
interrupt c2
pair "at once: client 2" "$LINE"
client_is "$C,count=5" "werr" EBUSY "at once: a place is not used again without persistent"
for i in 1 3; do
	interrupt c$i
	pair "at once: client $i" "$LINE"
done
ended "at once" "0 DONE 3 0"
is "${F[rejects]} ${F[clients]} ${F[iters]}" "2 3 0" "at once: the server counts the clients that it has refused"

# A client that is killed is a failure of its own run.
serve ,clients=3,persistent
pinging good "$C"
pinging killed "$C,count=1000000"
tool_end killed KILL
one_failed() { run_line "${PIDS[server]}" && [ "$(field failed)" = 1 ]; }
ok "a client is killed: the server counts a failure" until_ok 10 one_failed || {
	run_line "${PIDS[server]}"
	diag "failed=$(field failed) served=$(field served)"
}
client_good "a client is killed: the next client" "$C,count=7" 7
interrupt good
pair "a client is killed: the other client" "$LINE"
kill -TERM "${PIDS[server]}"
ended "a client is killed" "0 DONE 3 1"
children
failed=$(printf '%s\n' "${CHILDREN[@]}" | grep -c ' state=ERROR .* errno=\(104\|5\) ')
is "${#CHILDREN[@]} $failed" "3 1" "a client is killed: one of three runs has the errno"

# two_clients SERVER-OPTIONS: "endless" and "counted" ping.
two_clients() {
	serve "$1" "${@:2}"
	pinging endless "$C"
	pinging counted "$C,count=1000000"
}

# two_ended WHAT ERRNO REASON: the run of the endless client ended well, and that of the other one failed.
two_ended() {
	finish_good "$1: the client without a count" endless
	pair "$1: the client without a count" "$LINE"
	finish counted
	child_of "$LINE"
	line_like "errno reason" "^$2 $3" "$1: the run of the client with a count" "$CHILD"
}

two_clients ,clients=2,persistent
kill -INT "${PIDS[server]}"
ended "SIGINT, busy" "0 DONE 2 1"
two_ended "SIGINT, busy" 4 'interrupted$'

two_clients ,clients=2,persistent --die
interrupt_is server "werr state served failed" " DONE 2 1" "SIGINT without a handler: the server"
two_ended "SIGINT without a handler" 4 'interrupted$'

two_clients ,clients=3
kill -INT "${PIDS[server]}"
ended "SIGINT, not all have come" "EINTR ERROR 2 1"
two_ended "SIGINT, not all have come" 4 'interrupted$'

serve ,clients=2,persistent
pinging endless "$C"
kill -KILL "${PIDS[server]}"
finish_is server "werr state served failed" " ERROR 1 1" "SIGKILL: the server, and its client's run"
finish endless

# timeout= is the server's.
serve ,persistent,timeout=300ms
ended "timeout, idle" "0 DONE 0 0"
serve ,clients=2,timeout=300ms
ended "timeout, not all have come" "ETIMEDOUT ERROR 0 0"
is "${F[reason]}" "not done within timeout=300ms" "timeout, not all have come: the reason"
# Where the machine is so slow that the time is over before both clients ping, the server gets more time.
for ((s = 3; ; s *= 3)); do
	serve ",persistent,clients=2,timeout=${s}s"
	start endless "$C"
	within 10 pings_or_gone endless
	start counted "$C,count=1000000"
	within 10 pings_or_gone counted && pings counted && break
	for name in server endless counted; do interrupt $name; done
done
ended "timeout, busy" "0 DONE 2 1" $((20 + s))
two_ended "timeout, busy" 110 "not done within timeout=${s}s$"

# stop
stop() {
	client "stop,id=$1"
	parse
	BY=${F[id]}
}
# stop_run NAME: stops the writer's run.
stop_run() {
	run_line "${PIDS[$1]}"
	stop "$(field id)"
	finish "$1"
}
serve ,persistent
stop "$P"
is "${F[werr]} ${F[state]} ${F[errno]} ${F[role]} ${F[test]}" "0 DONE 0 stop -" "stop has a line of its own"
ended "stop, idle" "0 DONE 0 0"
stop "$P"
is "${F[werr]} ${F[state]} ${F[reason]}" "ENOENT ERROR id=$P: no such run goes on" "stop, a run that has ended: ENOENT"
stop $((BY + 1))
is "${F[werr]}" ENOENT "stop does not stop itself"

two_clients ,persistent,clients=2
stop "$P"
ended "stop, busy" "0 DONE 2 1"
two_ended "stop, busy" 4 "stopped by id=$BY$"

two_clients ,clients=3
children
parse "${CHILDREN[0]}"
stop "${F[id]}"
finish endless
pair "stop, one of its runs: the client" "$LINE"
run_line "${PIDS[server]}"
is "$(field state)" IDLE "stop, one of its runs: the server goes on"
stop "$P"
ended "stop, not all have come" "EINTR ERROR 2 1"
is "${F[reason]}" "stopped by id=$BY" "stop, not all have come: the reason"
finish counted

server server "$S"
pinging c "$C"
stop_run c
check_good "stop, a client without a count" "$LINE" "$(field iters)"
ended "stop, a client without a count" "0 DONE 0 0"
server server "$S"
pinging c "$C,count=1000000"
stop_run c
line_is "werr reason" "EINTR stopped by id=$BY" "stop, a client with a count"
finish server
server server "$S"
stop_run server
line_is "werr reason" "EINTR stopped by id=$BY" "stop, a server that waits for its only client: as a signal"
start c "client,addr=10.9.0.77,port=$PORT"
ok "stop, a client that connects" wait_state c 'IDLE|ADDR_RESOLVED|ROUTE_RESOLVED'
stop_run c
line_is "werr reason" "EINTR stopped by id=$BY" "stop, a client that connects"

# The front end.
background front krping server "$ADDR:$PORT" clients=2,persistent
listens() { grep -q listens "$T/front.err"; }
until_ok 10 listens
client "$C,count=3"
client "$C,count=3"
run_line "${PIDS[front]}"
krping stop "$(field id)" >"$T/out" 2>&1
is "$? $(cat "$T/out")" "0 " "krping stop"
krping stop "$(field id)" 4000000000 >"$T/out" 2>&1 && until_ok 10 gone "${PIDS[front]}"
tool_ends "krping server, stopped: exit status" front
like "$(cat "$T/front.out")" 'served 2 clients, 0 failed, time ' "krping server: its summary"
krping stop 4000000000 >"$T/out" 2>&1
is "$? $(cat "$T/out")" '2 krping: no run 4000000000 goes on; "krping list" has those that do' "krping stop: no such run"
for id in '' 0 x 1x 4294967296; do
	krping stop "$id" >"$T/out" 2>&1
	is $? 1 "krping stop '$id': wrong usage"
done

# The tools know nothing but runs.
watch krping-stages krping-mr
serve ,clients=2
start c1 "$C,count=23"
start c2 "$C,count=23"
finish c1 && finish c2
ended "with tools" "0 DONE 2 0"
watched "with tools" krping-stages krping-mr
load krping-stages '{runs: [.runs[].run] | length, residual: [.runs[].residual_ns] | unique}'
is "${Q[runs]-} ${Q[residual]-}" '5 [0]' "krping-stages: the server, two clients, two runs for them; residual 0"

# Two at once that are not krping.
serve ,clients=2,validate
for n in 100 200; do background rping$n rping -c -a "$ADDR" -p $PORT -C 23 -S $n; done
for n in 100 200; do
	tool_ends "rping: one with $n bytes" rping$n
done
ended "rping" "0 DONE 2 0"
children
is "$(printf '%s\n' "${CHILDREN[@]}" | sed -n 's/.* size=\([0-9]*\) .* iters=\([0-9]*\) .* classic=\([01]\) .*/\1 \2 \3/p' | sort | tr '\n' ' ')" \
	"100 23 1 200 23 1 " "rping: each has a run of its own"

# cpu= is that of each run; without it their threads may run where the server may.
threads() { grep -l "^krping/" /proc/[0-9]*/comm 2>/dev/null | sed 's/comm$/status/'; }
allowed() { sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$@" | sort -u; }
is "$(threads)" '' "no thread is left"
serve ,persistent,cpu=0
pinging c "$C,cpu=0"
# shellcheck disable=SC2046 # names
is "$(allowed $(threads))" 0 "cpu=0: the threads"
interrupt c
pair "cpu=0" "$LINE"
kill -INT "${PIDS[server]}"
ended "cpu=0" "0 DONE 1 0"

# Many at once, and many one after another; in the suite "long" as many as a server takes, and so many that a leak shows.
most=64 visits=300
[ "${KRPING_SUITE-}" != long ] || most=256 visits=10000
N=$(rounds "$most" 16)
serve ,clients=$N,persistent
# The library of siw has room for some 70 in a process.
idles=()
for ((i = 0; i < N; i += 64)); do
	idles+=("idle$i")
	background "idle$i" "$liar" client "$ADDR" $PORT priv=0 "idlers=$((N - i < 64 ? N - i : 64))"
	connected() { [ -s "$T/idle$i.out" ] || gone "${PIDS[idle$i]}"; }
	until_ok $((60 + N)) connected
done
is "$(cat "$T"/idle*.out | awk '{ n += $1 } END { print n, $2 }') $(cat "$T"/idle*.err)" "$N connected " "$N at once"
children
is "${#CHILDREN[@]} $(printf '%s\n' "${CHILDREN[@]}" | grep -c ' state=CONNECTED ')" "$N $N" "$N at once: each has a run"
is "$(threads | wc -l)" $((N + 1)) "$N at once: and a thread, as the server has"
client_is "$C,count=1" "werr" EBUSY "$N at once: one more is refused"
stop "$P"
ended "$N at once" "0 DONE $N 0" $((20 + N / 4))
for i in "${idles[@]}"; do tool_end "$i" KILL; done

# As many that do not begin are ended together, and the server serves others.
serve ,clients=$N,persistent,idle=5s
for ((i = 0; i < N; i += 64)); do background "idle$i" "$liar" client "$ADDR" $PORT priv=0 "idlers=$((N - i < 64 ? N - i : 64))"; done
none_left() { run_line "${PIDS[server]}" && [ "$(field served) $(field failed)" = "$N $N" ]; }
ok "$N silent clients are ended" until_ok $((20 + N)) none_left
client_good "$N silent clients: another one is served" "$C,count=3" 3
for i in "${idles[@]}"; do tool_end "$i" KILL; done
interrupt_is server "state served failed" "DONE $((N + 1)) $N" "$N silent clients: the server"

# More at once than there are places: each is served or refused, and none is forgotten (docs/upstream/siw-lost-accept.md).
serve ,persistent
echo 128 >$HISTORY
last=$(tail -n 1 /proc/krping_runs | sed 's/^id=\([0-9]*\) .*/\1/')
perl -e 'pipe R, W; for (1 .. 64) { fork or do { close W; open F, ">/proc/krping"; sysread R, $b, 1; syswrite F, $ARGV[0]; exit } }
	close R; sleep 1; close W; 1 while wait != -1' "$C,count=5"
is "$(sed -nE 's/^id=([0-9]*) .* role=client .* errno=([0-9]*) .*/\1 \2/p' /proc/krping_runs |
	awk -v last="$last" '$1 > last { n++; if ($2 != 0 && $2 != 16) print $2 } END { print n + 0 }')" 64 "64 clients at once for one place: served, or EBUSY"
client_good "64 clients at once: the next one" "$C,count=3" 3
interrupt server

N=$(rounds "$visits" 50)
echo 10 >$HISTORY
# kernel_kib: prints what the kernel's memory has for objects, in KiB; and what all memory has that is neither free nor a cache
# nor a process's, which includes whole pages. The second number is a coarse one: each CPU has free pages of its own.
kernel_kib() {
	awk '{ m[$1] = $2 }
		END { print m["SUnreclaim:"] + m["VmallocUsed:"] + m["KernelStack:"] + m["Percpu:"],
			m["MemTotal:"] - m["MemFree:"] - m["Buffers:"] - m["Cached:"] - m["SReclaimable:"] - m["AnonPages:"] - m["PageTables:"] }' \
		/proc/meminfo
}
# least: sets OBJECTS and ALL to the least of some looks, since what was freed returns with a delay.
least() {
	local i objects all
	OBJECTS='' ALL=''
	sync
	for ((i = 0; i < 10; i++)); do
		nap 0.3
		read -r objects all < <(kernel_kib)
		[ -n "$OBJECTS" ] && [ "$OBJECTS" -le "$objects" ] || OBJECTS=$objects
		[ -n "$ALL" ] && [ "$ALL" -le "$all" ] || ALL=$all
	done
}
serve ,persistent,clients=4
visits() { for ((i = 0; i < $1; i++)); do echo "$C,count=1"; done | "$krwrite" --batch; }
# The first ones fill the caches of whoever has some.
first=$((N / 10))
good=$(visits $first | grep -c '^ret=[0-9]* werr=0 ')
least
before="$OBJECTS $ALL"
good=$((good + $(visits $((N - first)) | grep -c '^ret=[0-9]* werr=0 ')))
is "$good" "$N" "$N one after another"
if [ "$N" -ge 5000 ]; then
	least
	read -r objects all <<<"$before"
	grew=$((OBJECTS - objects)) grew_all=$((ALL - all))
	# 64 bytes a visit are a leak, and so is a page in four visits.
	ok "$N one after another: objects of the kernel have not grown: $grew KiB" test $grew -lt $(((N - first) * 64 / 1024)) ||
		diag "$(grep -E '^(SUnreclaim|VmallocUsed|KernelStack|Percpu):' /proc/meminfo)"
	ok "$N one after another: nor has all memory: $grew_all KiB" test $grew_all -lt $((N - first)) || diag "$(cat /proc/meminfo)"
fi
is "$(grep -c ' state=DONE ' /proc/krping_runs)" 10 "$N one after another: no more records than the history has"
kill -INT "${PIDS[server]}"
ended "$N one after another" "0 DONE $N 0"
nothing_left "$N one after another"

# The link is deleted.
serve ,clients=2
pinging c "$C"
link_lost "device removal" c
ended "device removal" "ENODEV ERROR 1 1"
children
like "${CHILDREN[0]}" ' state=ERROR .* errno=19 ' "device removal: the client's run"
link_deleted "device removal"
ok "device removal: the link is made again" link_add "$LINK" d0 "$ADDR"

done_testing "device removal"
