#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The option srq: one receive queue that all clients of a server share, or one of a run of its own. No RECV gets lost, whoever takes
# more than its share is ended, and the others go on. What a device without such queues, or with small ones, is told cannot be tried
# here: siw and rxe have more RECVs than a server can ask for.

. "$(dirname "$0")/lib.sh"

C="client,addr=$ADDR,port=$PORT"
DEPTH=4 SPARE=64

# ended WHAT "ERRNO STATE served=N failed=N" [SIGNAL]: the server ends like this, and all RECVs had returned to their queue.
ended() {
	[ -z "${3:-}" ] || kill -"$3" "${PIDS[server]}"
	finish server 20
	parse
	is "${F[werr]-} ${F[state]-} served=${F[served]-} failed=${F[failed]-} lost=${F[srq_lost]-}" "$2 lost=0" "$1: the server, and no RECV is lost" ||
		diag "${F[reason]-}"
}

# over: prints how many runs of clients of the server are over.
over() { run_line "${PIDS[server]}" && field served; }

# newest: sets LINE to the newest run of a client of the server.
newest() { LINE=$(grep " parent=$P " /proc/krping_runs | tail -n 1); }

resources_before

# Either end may have one, and need not.
for opts in srq/ /srq srq/srq; do
	ping_pair ",${opts%/*}" ",count=7,validate,${opts#*/}"
	is "$(field state "$SRV") $(field srq "$SRV") $(field state "$CLI") $(field srq "$CLI")" \
		"DONE $([[ $opts = srq/* ]] && echo $DEPTH || echo 0) DONE $([[ $opts = */srq ]] && echo $DEPTH || echo 0)" \
		"server/client $opts: both end well, with so many RECVs" || diag "$(field reason "$SRV"), $(field reason "$CLI")"
done

# pairs.t has each test with a queue at either end and at both.
# So many at once that each RECV is used by many.
N=$(rounds 16 6 4)
serve ",srq,clients=$N"
for ((i = 0; i < N; i++)); do start c$i "$C,count=11,validate"; done
good=0
for ((i = 0; i < N; i++)); do
	finish c$i 60
	[[ $LINE != *" state=DONE "*" iters=11 errno=0 "* ]] || good=$((good + 1))
done
is $good "$N" "$N at once: all of them end well"
ended "$N at once" "0 DONE served=$N failed=0"
is "${F[srq]}" $((N * DEPTH + SPARE)) "$N at once: RECVs of its queue"
nothing_left "$N at once"

# Where calls can be made to fail, the first client on a device may not get a queue; the next one does.
faults=/sys/kernel/debug/fail_function
[ ! -d $faults ] || ok "calls can be made to fail" insmod "$PLANTS/krping_refuse.ko"
for call in ib_create_srq_user refuse_srq_recv; do
	[ -d $faults ] || break
	serve ,srq,clients=2
	echo $call >$faults/inject && echo 0xfffffffffffffff4 >$faults/$call/retval
	echo 0 >$faults/verbose && echo 1 >$faults/times && echo 100 >$faults/probability
	client "$C,count=5"
	newest
	like "$(field errno) $(field reason)" '^12 srq: ' "$call fails: the client's run"
	echo 0 >$faults/probability && echo >$faults/inject
	client_good "$call fails: the next client" "$C,count=5" 5
	ended "$call fails" "0 DONE served=2 failed=1"
	nothing_left "$call fails"
done
[ ! -d $faults ] || ok "no call fails any more" rmmod krping_refuse

# The events of a run with a shared queue: each completion has a post, of its own run, and four RECVs are left.
trace_on krping_post_recv krping_wc krping_wc_flush krping_async_event
serve ,srq,clients=1
client "$C,count=11"
server_run=$(field peer_run)
ended "events" "0 DONE served=1 failed=0"
trace_end events
got=$(trace_perl 'my ($file, $child) = @ARGV;
	my ($done, $flushed, $bad, %posted) = (0, 0, 0);
	for my $e (events($file)) {
		next if $e->{run} != $child;
		$posted{$e->{cid}} = 1 if $e->{ev} eq "post_recv";
		$done++, $bad += !$posted{$e->{cid}} if $e->{ev} eq "wc" && $e->{kind} eq "RECV";
		$flushed++ if $e->{ev} eq "wc_flush" && $e->{kind} eq "RECV";
	}
	print join " ", scalar(keys %posted), $done, $flushed, $bad' "$T/trace" "$server_run")
is "$got" "$((22 + DEPTH)) 22 0 0" "events: RECVs of the run that 11 pings have: posted, completed, flushed, not posted"

# From here on an honest client pings beside all that the others do, with the same server and queue. Each liar leaves as many
# messages unanswered as it may. Its thread at this end, which is as fast as it is otherwise, has to share a CPU with it, and gets
# that CPU only when there is nothing else to do: so more messages are there than this end has consumed, as a rule; if not, another liar tries.
serve ,srq,persistent,clients=4,cpu=0
pinging neighbour "$C,interval=20ms"
served=0 failed=0 overdrawn=0 times=$(rounds 2 2 1)
mkfifo "$T/go"
exec {go}<>"$T/go"
for ((i = 0; i < 10 * times && overdrawn < times; i++)); do
	background liar taskset -c 0 "$liar" client "$ADDR" $PORT test=0 size=131072 pings=1 hold=$go times=40
	# shellcheck disable=SC2317 # by until_ok
	has_pinged() { newest && [[ $LINE == *" iters=1 "* && $LINE != *" state=ERROR "* ]]; }
	until_ok 10 has_pinged
	chrt -i -p 0 "$(pgrep -x "krping/$(field id)")" || diag "no thread of $LINE"
	printf x >&$go
	served=$((served + 1)) failed=$((failed + 1))
	# shellcheck disable=SC2317 # by until_ok
	is_over() { [ "$(over)" = $served ]; }
	until_ok 10 is_over
	newest
	[ "$(field errno) $(field reason)" != "71 srq: the peer sent more than $DEPTH messages before this end had consumed one" ] ||
		overdrawn=$((overdrawn + 1))
	tool_end liar KILL
	diag "$(field errno) $(field reason); the liar: $(tr '\n' ' ' <"$T/liar.out")"
done
exec {go}<&-
is "$overdrawn" "$times" "forty messages at once: $times such clients are ended, with the reason"
ok "forty messages at once: the honest client goes on" more_pings neighbour

# Clients that vanish, and many that come and go.
for ((i = 0; i < times; i++)); do
	pinging killed "$C,count=1000000"
	kill -KILL "${PIDS[killed]}"
	finish killed
	served=$((served + 1)) failed=$((failed + 1))
done
ok "clients are killed: the honest one goes on" more_pings neighbour
N=$(rounds 200 10 4)
[ -z "${KRPING_MUTANT:-}" ] || N=1
visits() { for ((i = 0; i < N; i++)); do echo "$C,count=1"; done | "$krwrite" --batch; }
is "$(visits | grep -c '^ret=[0-9]* werr=0 ')" "$N" "$N clients one after another"
served=$((served + N))
ok "$N clients one after another: the honest one goes on" more_pings neighbour
interrupt neighbour
check_good "the honest client" "$LINE"
ended "forty messages, killed, one after another" "0 DONE served=$((served + 1)) failed=$failed" INT
nothing_left "forty messages, killed, one after another"

# The server is interrupted, or killed, with clients in the middle.
for signal in $(rounds "INT KILL" "INT KILL" INT); do
	serve ,srq,persistent,clients=3
	for i in 1 2 3; do start c$i "$C" && wait_pings c$i; done
	kill -$signal "${PIDS[server]}"
	for i in 1 2 3; do finish c$i; done
	[ $signal = KILL ] || ended "SIG$signal" "0 DONE served=3 failed=0"
	[ $signal = INT ] || { finish server && parse; }
	is "${F[srq_lost]-}" 0 "SIG$signal: no RECV is lost"
	nothing_left "SIG$signal"
done

# A link is deleted, while its queue is in use; and while it is not, with a server that goes on with another link. The deletion waits
# for the queue to be freed.
serve ,srq,clients=2
pinging c1 "$C"
pinging c2 "$C,srq"
link_lost "a link is deleted" c1 c2
ended "a link is deleted" "ENODEV ERROR served=2 failed=2"
link_deleted "a link is deleted"
link_add "$LINK" d0 "$ADDR"
ip link add d1 type dummy && ip addr add 10.10.0.1/24 dev d1 && ip link set d1 up
link_add "${PROVIDER}1" d1 10.10.0.1
AT=0.0.0.0 serve ,srq,persistent,clients=2
pinging c1 "client,addr=10.10.0.1,port=$PORT"
client_good "two links: a client of the first" "$C,count=3" 3
rdma link delete "$LINK" 2>"$T/delete" &
deleter=$!
ok "two links: the first one is deleted" until_ok 8 gone $deleter
wait $deleter
is $? 0 "two links: the deletion ends well" || diag "$(cat "$T/delete")"
ok "two links: the client of the other one goes on" more_pings c1
link_add "$LINK" d0 "$ADDR"
client_good "two links: a client of the first, which came again" "$C,count=3" 3
interrupt c1
ended "two links" "0 DONE served=3 failed=0" INT
rdma link delete "${PROVIDER}1" && ip link del d1

# The server frees a queue only when nobody tells of an event any more that the queue raised at the last moment.
# tests/plant/krping_hold.c raises one, and holds who tells of it.
ok "an event at the end: who tells of it can be held" insmod "$PLANTS/krping_hold.ko" srq=1 hold_ms=300
trace_on krping_async_event
serve ,srq,clients=1
client_good "an event at the end: the client" "$C,count=5" 5
ended "an event at the end" "0 DONE served=1 failed=0"
is "$(cat /sys/module/krping_hold/parameters/held) $(cat /sys/module/krping_hold/parameters/overtaken)" "1 0" \
	"an event at the end: one was held, and the queue was there meanwhile"
trace_off
is "$(grep -c ": krping_async_event: run=$P " $TRACING/trace)" 1 "an event at the end: it was told"
ok "an event at the end: nobody is held any longer" rmmod krping_hold
done_testing "srq"
