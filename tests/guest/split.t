#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Host or network: the client's run says whose time its pings were. In one kernel both ends have one clock, so split.pl
# takes the times of both hosts from the events of the verbs calls and of the waits, and compares.

. "$(dirname "$0")/lib.sh"

N=40

# own RUN: sets SPLIT to what its line says of hosts and network.
own() {
	parse "$1"
	SPLIT="${F[split_iters]-} ${F[own_host_ns]-} ${F[peer_host_ns]-} ${F[network_ns]-}"
}

# --- without listener and without the option nobody asks ---
good_pair "nobody asks" $N ",count=$N"
own "$CLI"
is "$SPLIT" "0 0 0 0" "nobody asks: nothing is split"
trace_on .
echo 0 >$TRACING/events/krping/krping_iter_split/enable
ping_pair ",count=$N" ",count=$N"
trace_off
own "$CLI"
is "$SPLIT" "0 0 0 0" "all events but krping_iter_split are on: nothing is split"

# --- the option alone, in each context ---
for poll in thread softirq workqueue busy; do
	good_pair "$poll" $N ",count=$N,poll_ctx=$poll" ",count=$N,split,poll_ctx=$poll"
	own "$SRV"
	is "$SPLIT" "0 0 0 0" "$poll: the server splits nothing"
	own "$CLI"
	is "${F[split_iters]}" $((N - 1)) "$poll: all iterations but the first are split"
	ok "$poll: either host and the network had some time: $SPLIT" \
		test "${F[own_host_ns]}" -gt 0 -a "${F[peer_host_ns]}" -gt 0 -a "${F[network_ns]}" -gt 0
	# The first iteration is not among them.
	sum=$((F[own_host_ns] + F[peer_host_ns] + F[network_ns])) all=$((F[lat_mean_ns] * N))
	ok "$poll: together they are no more than the iterations: $sum $all" \
		test $sum -le $((all + N)) -a $sum -ge $((all - F[lat_max_ns]))
done

# --- the event, without the option and with it; with the events of all calls beside ---
for options in "split~" "~" "split,validate~,validate" "split,server_inv~,server_inv" "split,chain~" "split,size=65536~" "split,poll_ctx=softirq~,poll_ctx=softirq" \
	"split,poll_ctx=busy~,poll_ctx=busy"; do
	IFS='~' read -r client server <<<"$options"
	options=${client:-the event alone}
	traced "$options" "krping_iter krping_iter_split krping_wait krping_post_send" ping_pair ",count=$N$server" ",count=$N${client:+,$client}"
	check_good "$options: client" "$CLI" $N
	own "$CLI"
	client=${F[id]}
	parse "$SRV"
	absorb "$here/split.pl" "$options" $N "$client" "${F[id]}" "$SPLIT" "$T/trace"
done

# --- peers that do not tell ---
good_pair "a server with chain" $N ",count=$N,chain" ",count=$N,split"
own "$CLI"
is "$SPLIT" "0 0 0 0" "a server with chain does not tell"
background rping rping -s -a "$ADDR" -p $PORT -C 5
until_ok 10 rping_listens
client "client,addr=$ADDR,port=$PORT,count=5,split"
own "$LINE"
is "${F[iters]-} $SPLIT" "5 0 0 0 0" "user-space rping does not tell"
tool_end rping
refused "a server has no such option" "server,addr=$ADDR,port=$PORT,split" "EINVAL split: only a client has it"

# --- a peer that lies: either its time is less than the ping, or the ping is not split ---
for answer in 1 0 0x7fffffffffffffff 0x3fffffffffffffff 0xffffffffffffffff; do
	lying_server pings=4 can=1 answer=$answer
	client "client,addr=$ADDR,port=$PORT,count=5,split" 20
	tool_end liar
	own "$LINE"
	is "${F[state]-} ${F[iters]-} ${F[split_iters]-} ${F[peer_host_ns]-}" \
		"DONE 5 $((answer == 1 ? 5 : 0)) $((answer == 1 ? 10 : 0))" "a server that says it had half a ping for $answer ns"
	ok "it had $answer ns: the parts are less than the whole: $SPLIT" \
		test "${F[own_host_ns]}" -ge 0 -a "${F[own_host_ns]}" -le $((F[lat_mean_ns] * 5))
done

# --- a listener that comes in the middle of a run ---
server late-server "server,addr=$ADDR,port=$PORT"
pinging late-client "client,addr=$ADDR,port=$PORT,split"
for i in 1 2 3 4 5; do
	trace_on krping_iter krping_iter_split
	more_pings late-client 3
	trace_off
	cat $TRACING/trace >>"$T/late"
done
interrupt late-client
finish late-server
bad=$(perl -ne 'next unless / krping_iter_split: .* t=(\d+) .* t_begin=(\d+) host_ns=(\d+) peer_ns=(\d+)/; $n++;
	print if $3 + $4 >= $1 - $2; END { print "none\n" unless $n }' "$T/late" | head -3)
is "$bad" '' "each part is less than the whole iteration, also of the first that is told"

# --- the tools, which ask only with --split ---
for opt in '' --split; do
	tool krping-top -j 1 $opt
	tool krping-stages -j $opt
	attached krping-top krping-stages
	ping_pair ",count=$N" ",count=$N"
	for t in krping-top krping-stages; do
		tool_end $t INT
		load $t "{split: [.runs[] | select(.role == \"client\") | .split_iters, (.own_host_ns + .peer_host_ns + .network_ns > 0)]}"
		is "${Q[split]-}" "$([ -n "$opt" ] && echo "[$((N - 1)),true]" || echo '[0,false]')" "$t $opt: whose time it was"
	done
done

# --- the summary ---
background served krping server "$ADDR" count=$N
is_listening() { grep -q ' role=server .* state=IDLE ' /proc/krping_runs; }
until_ok 10 is_listening
said=$(krping client "$ADDR" count=$N split 2>&1)
like "$said" $'\nown host [0-9.]+[num]s [0-9]+ %, peer.s host [0-9.]+[num]s [0-9]+ %, network and devices [0-9.]+[num]s [0-9]+ %\n' \
	"krping: its summary has whose time it was"
tool_end served
done_testing
