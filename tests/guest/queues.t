#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# queues=: a run of several connections, on each of which requests are in flight. Whoever handles a completion posts the next one.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ends.sh"

# told RUN: sets QUEUES to how many connections the trace has of the run, and how many CQs took its WRITEs; and REQUESTS to how many
# krping_request there are, the sums of their times and of those of their stages, and what is wrong.
told() {
	{ read -r QUEUES && read -r REQUESTS; } < <(trace_perl 'my ($file, $run) = @ARGV;
		my @e = grep { $_->{run} == $run } events($file);
		my %cq = map { $_->{"cq.id"} => 1 } grep { $_->{ev} eq "post_send" && $_->{kind} eq "WRITE" } @e;
		my ($requests, @bad) = requests_of(@e);
		my @sum = (0) x 7;
		for (@$requests) { my @ns = split; $sum[$_] += $ns[$_] for 0 .. 6 }
		print grep({ $_->{ev} eq "conn" } @e) . " " . keys(%cq) . "\n", join(",", scalar @$requests, @sum), " @bad[0 .. 2]\n"' "$T/trace" "$1")
}

# What krping_request wants is there while no other event is on, and krping-stages does not run.
trace_on krping_request
ping_pair '' ,count=97,bw,queues=2,warmup=10
trace_end "krping_request alone"
told "$(field id "$CLI")"
like "$REQUESTS" '^97,[0-9,]+$' "krping_request alone: each request, without the warm-up, and its times rise"

N=1009
for opts in bw,queues={1,2},poll_ctx={thread,softirq,workqueue,busy} bw,queues=8,txdepth=4,poll_ctx=softirq \
	bw,queues=3,signal=4,post_list=3,txdepth=16 fast,queues=2,size=4K,poll_ctx=workqueue bw,queues=8,duplex,txdepth=2,poll; do
	[[ $opts =~ queues=([0-9]+) ]] && queues=${BASH_REMATCH[1]}
	[[ $opts == *signal=4* ]] && signal=4 || signal=1
	trace_on krping_conn krping_post_send krping_iter_phases krping_request
	watch krping-stages
	ping_pair '' ",count=$N,$opts"
	watched "$opts" krping-stages
	trace_end "$opts"
	[[ $opts == fast* ]] && writer=$SRV other=$CLI || writer=$CLI other=$SRV
	is "$(field state "$other") $(field queues "$other")" "DONE $queues" "$opts: the other end, and its connections" || diag "$other"
	parse "$writer"
	is "${F[state]} ${F[iters]} ${F[write_msgs]} ${F[queues]-}" "DONE $N $((N * signal)) $queues" "$opts: iterations of all connections, and WRITEs" || diag "$writer"
	told "${F[id]}"
	is "$QUEUES" "$queues $queues" "$opts: connections, and each of them has WRITEs"
	is "$(jq -c "[.runs[] | select(.run == ${F[id]}) | .iteration.count, .iteration.sum_ns, .residual_ns]" "$T/krping-stages.out" | tail -n 1)" \
		"[$N,${F[lat_sum_ns]-},0]" "$opts: the run has one time line, whose iterations have no gap" || diag "$writer"
	like "$REQUESTS" "^$N,[0-9,]+\$" "$opts: each request once, and its times rise"
	is "$(jq -c "[.runs[] | select(.run == ${F[id]}) | .requests | .count, .sum_ns, (.stages | del(.peer) | .[].sum_ns), .residual_ns]" "$T/krping-stages.out" | tail -n 1)" \
		"[$REQUESTS,0]" "$opts: krping-stages has the same requests, and their stages add up"
done

# --- the ends of an endless run, and of one that has a count ---
for queues in 1 2 8; do
	pair_on 200 ",bw,queues=$queues,txdepth=16"
	pair_off
	parse "$CLI"
	is "${F[state]} $((F[write_msgs] - F[iters])) $(field state "$SRV")" "DONE 0 DONE" "queues=$queues: SIGINT: each WRITE is over" || diag "$CLI$SRV"
	pair_on 200 ",bw,queues=$queues,txdepth=16"
	kill -KILL "${PIDS[client]}"
	finish client
	finish server
	line_like "state errno reason" "^ERROR 104 the peer disconnected in iteration 0" "queues=$queues: SIGKILL: the server"
	server server "server,addr=$ADDR,port=$PORT"
	client "client,addr=$ADDR,port=$PORT,bw,queues=$queues,count=2000000000,timeout=300ms"
	line_like "werr state reason" "^ETIMEDOUT ERROR not done within" "queues=$queues: timeout= ends it"
	finish server
	line_like "state errno" "^ERROR 104" "queues=$queues: and the server is told"
done
resources_before
ends_on
all_ended 2 <<'END'
ping	client,server	delete	,bw,queues=2	errno	-	1 1
ping	client,server	delete	,bw,queues=8,poll_ctx=softirq	errno	-	1 1
END

# --- a client that makes a part of its connections ---
server server "server,addr=$ADDR,port=$PORT,idle=1s"
"$liar" client "$ADDR" $PORT test=4 size=64 count=0 queues=3 leave=1 by=2 >"$T/said" 2>&1 &
finish server 25
line_like "werr state reason" "^ETIMEDOUT ERROR the client did not (make connection 2 of 3|begin for idle=1s)" "a set that is not complete within idle= is refused whole" ||
	diag "$(cat "$T/said")"

# --- what two ends agree on ---
server server "server,addr=$ADDR,port=$PORT,bw,queues=2"
client "client,addr=$ADDR,port=$PORT,bw,count=10,queues=3"
line_is "werr reason" "EPROTO the server refused: queues differs: it does not take 3" "a server with another number of queues"
client "client,addr=$ADDR,port=$PORT,bw,count=10,queues=2"
line_is "state iters" "DONE 10" "and with this number it serves"
finish server
done_testing
