#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Signals and timeout=, in every state of a run. An endless run ends well, and has as many pings as its peer: it finishes the ping
# that is under way. A run with a count fails, and so does any run that has no connection, is killed, or whose ping does not end
# within a second. Nothing is left, and the next run works.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ends.sh"

resources_before
ends_on
MS=''
all_ended 21 <<'END'
ping		client		INT		-		DONE	same	10 1
ping		server		INT		-		DONE	same	10 rxe
ping		client,server	INT		-		DONE	same	10 siw
ping		client		TERM,timeout	-	DONE	same	3 siw
ping		server		TERM,timeout	-	DONE	same	3 rxe
ping		client,server	TERM,timeout	-	DONE	same	3 0
ping		client		INT	,cpu=0		DONE	same	3 rxe
ping		client		TERM	,poll_ctx=busy,cpu=0	DONE	same	1 0
ping		client		INT		,die		DONE	same	1 siw
ping		client		KILL		,validate	errno	parted	1 1
ping		server		KILL		-		errno	parted	1 rxe
ping		client		KILL		,cpu=0		errno	parted	1 siw
ping		client		INT,timeout	,count=10000000	errno	parted	1 siw
ping		server		INT,timeout	,count=10000000	errno	parted	1 rxe
ping		client,server	TERM,KILL	,count=10000000	errno	-	1 0
ping		client		INT,timeout	,count=10000000,cpu=0	errno	parted	1 0
ping		client		INT	,count=10000000,cpu=0,poll	errno	parted	1 0
rping		client		INT		-		DONE	-	3 rxe
rping		server		INT		-		DONE	-	3 siw
hang		client		INT,INT+KILL,timeout	,cpu=0	errno	-	1 1
hang		client		INT,INT+KILL,timeout	,poll	errno	-	1 0
END

# Where there is no connection. An address that does not answer ARP, and one behind a link without it, are only in the VM.
{
	echo "listen		server	INT,KILL,timeout	-	errno	-	1 1"
	echo "listen		server	TERM			-	errno	-	1 0"
	if [ -n "${KRPING_VM:-}" ]; then
		ip link add d1 type dummy && ip addr add 10.10.0.1/24 dev d1 && ip link set d1 arp on up
		for row in "rxe listen-all server" "siw resolve_addr client" "1 connect client"; do
			few=${row%% *} row=${row#* }
			echo "$row	INT,KILL,timeout	-	errno	-	1 $few"
			echo "$row	TERM			-	errno	-	1 0"
		done
	fi
} >"$T/rows"
all_ended "$(wc -l <"$T/rows")" <"$T/rows"
[ -z "${KRPING_VM:-}" ] || ip link del d1

# A writer that is frozen, stopped or traced has to leave its system call, and comes back to its run, which goes on meanwhile.
freeze() { echo "$1" >"$T/cgroup/ends/cgroup.freeze"; }
frozen() { grep -q "^frozen $1" "$T/cgroup/ends/cgroup.events"; }
# away HOW NAME: calls the writer away; back HOW NAME: lets it go on.
away() {
	if [ "$1" = STOP ]; then
		kill -STOP "${PIDS[$2]}"
		until_ok 10 proc_is "${PIDS[$2]}" T
	else
		echo "${PIDS[$2]}" >"$T/cgroup/ends/cgroup.procs"
		freeze 1
		until_ok 10 frozen 1
	fi
}
back() { if [ "$1" = STOP ]; then kill -CONT "${PIDS[$2]}"; else freeze 0; fi; }
mkdir "$T/cgroup" && mount -t cgroup2 none "$T/cgroup" && mkdir "$T/cgroup/ends"
for how in STOP freeze; do
	pair_on
	away $how client
	ok "$how: the run goes on" more_pings client
	back $how client
	ok "$how: and when its writer goes on" more_pings client
	interrupt client
	check_good "$how: the client" "$LINE"
	finish_good "$how: the server" server "$(field iters)"
	server server "server,addr=$ADDR,port=$PORT"
	away $how server
	client_good "$how: a client, while the server's writer is away" "client,addr=$ADDR,port=$PORT,count=5" 5
	back $how server
	finish_good "$how: the server has its result afterwards" server 5
done
pair_on
away freeze client
kill -KILL "${PIDS[client]}"
back freeze client
finish server
SRV=$LINE
finish client
check_good "a writer dies while it is away: the server" "$SRV" "$(field iters)"
is "$(field state) $(field errno)" "DONE 0" "a writer dies while it is away: its run is asked to end"
# A signal that comes meanwhile is handled before the writer is back: it asks nobody, and write() does not return for it.
pair_on
away STOP client
kill -INT "${PIDS[client]}"
back STOP client
ok "a signal while the writer is away: the run goes on" more_pings client 20
interrupt client
check_good "a signal while the writer is away: the next one ends the client" "$LINE"
finish_good "a signal while the writer is away: the server" server "$(field iters)"
umount "$T/cgroup"
# What a shell has a handler for, and is ignored otherwise, does not end its run: a child is over, the window has another size.
server server "server,addr=$ADDR,port=$PORT"
# shellcheck disable=SC2016 # the arguments of the inner shell
background client bash -c 'trap : CHLD WINCH URG; echo "$0" >/proc/krping' "client,addr=$ADDR,port=$PORT"
for signal in CHLD WINCH URG; do
	ok "SIG$signal: the client pings" until_ok 10 more_pings client
	kill -$signal "${PIDS[client]}"
	ok "SIG$signal: and goes on" more_pings client 20
done
kill -TERM "${PIDS[client]}"
tool_end client
finish_is server "werr state" "0 DONE" "the server of a shell's client that SIGTERM ends"
# test=protect connects a second time, which the writer does for the thread; a run that stops does not wait for that. The liar lets
# each connection in after a while.
lying_server test=6 size=12288 count=1 queues=2 echo=1 wait=2000000
start client "client,addr=$ADDR,port=$PORT,test=protect,case=send"
connects() { run_line "${PIDS[client]}" && [ "$(field phase)" = connect ]; }
until_ok 10 connects
first=$(field qp)
away STOP client
waits_for_writer() { connects && [ "$(field qp)" != "$first" ]; }
ok "a run that has to connect waits for its writer" until_ok 20 waits_for_writer
"$krwrite" "stop,id=$(field id)" >/dev/null
ok "but not when it is stopped" until_ok 10 state_is client ERROR
back STOP client
finish client
is "$(field werr) $(field reason | sed 's/id=.*/id/')" "EINTR stopped by id" "and its writer learns of it afterwards"
kill "${PIDS[liar]}"
tool_end liar

# Two keys are two signals, however soon they come; two signals of a program may be one, see tools/lib/stop.c.
reach hang-terminal client '' ''
cause '\003+\003' client
tool_end client
is $RC 130 "a second ctrl-c: krping dies of it"
peers_end

# The errno that a writer sees which the signal does not kill, and a run that is done before its timeout.
server server "server,addr=$ADDR,port=$PORT"
interrupt_is server "ret werr" "-1 EINTR" "write() gives EINTR"
# One end of an endless pair leaves, and the other one asks why: of that, too, the kernel's log says nothing.
logged() { dmesg | grep -cE 'krping|speed is unknown'; }
before=$(logged)
pair_on
pair_off
is "$(field state) $(logged)" "DONE $before" "an endless pair ends without a line in the kernel's log" || diag "$(dmesg | tail -n 3)"
ping_pair ",timeout=600" ",count=5,timeout=600s"
for LINE in "$CLI" "$SRV"; do
	check_good "done before the timeout: the $(field role)" "$LINE" 5
	how_ended
	ok "done before the timeout: the ${F[role]} does not wait 5 s for its peer" test "$DOWN" -lt 5000 || diag "got: $DOWN ms"
done
done_testing "after all that"
