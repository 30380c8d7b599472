#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The tests wlat, rlat, bw and fast. For one run of each every event and counter of both ends is checked against the protocol:
# who posts what, that no iteration ends before its request has completed (and of wlat, before the peer has answered), and that
# the provider was given every byte. Then depths, ends without a count, and peers that do not agree. pairs.t has sizes and
# every way to wait.

. "$(dirname "$0")/lib.sh"

N=101
SIZE=5000

# What the provider is asked for, by itself: how many buffers a request has, the length of the first one, and the opcode. The
# drain's marker is a WRITE without a buffer; of what cannot be read ftrace shows what was in its memory before. In the loop the module posts
# one request a call.
probe=krping_given
given() {
	# One that was killed in this boot may have left it.
	echo "-:$probe" >>"$TRACING/kprobe_events" 2>/dev/null || :
	echo "p:$probe ${PROVIDER}_post_send nr=+24(%si):u32 len=+8(+16(%si)):u32 op=+28(%si):u32" >>"$TRACING/kprobe_events"
}
ok "the provider's post call is watched" given

# expected POSTS KIND SENDS RECVS BUFFERS PHASES CALLS: the counts of an end that makes so many requests of the kind in as many
# iterations, sends and receives so many messages, has so many buffers, is in so many phases, and calls the provider so often.
expected() {
	{
		printf '%s\n' adv_recv="$4" adv_send="$3" iter=$(($1 + 2)) mr_dereg="$5" mr_done:REG_MR="$5" mr_fastreg="$5" \
			mr_map="$5" phase="$6" post_recv:RECV=$((4 + $4)) post_return="$7" post_send:REG_MR="$5" post_send:SEND="$3" result=1 run_end=1 \
			run_start=1 wc:RECV="$4" wc:SEND="$3" wc_flush:RECV=4 ${8-}
		[ "$1" = 0 ] || printf '%s\n' "post_send:$2=$1" "wc:$2=$1"
	} | LC_ALL=C sort | tr '\n' ' '
}

# order RUN REGEX: prints each iteration of the run that ended too early, then how many did not. Before the iteration with the
# number N ends, there have been N + 1 events that match.
order() {
	trace_perl 'my ($file, $run, $request) = @ARGV;
		my ($done, $good) = (0, 0);
		for my $e (events($file)) {
			$done++ if "$e->{ev}: $e->{rest}" =~ $request;
			next if $e->{ev} ne "iter" || $e->{run} != $run || $e->{flags} !~ /^commit/;
			if ($done <= $e->{iter}) { print "iteration $e->{iter} too early\n" } else { $good++ }
		}
		print $good' "$T/trace" "$1" "$2"
}

# checked TEST CLIENT-POSTS SERVER-POSTS KIND CLIENT-SENDS SERVER-SENDS CLIENT-BUFFERS SERVER-BUFFERS [OPTIONS]: makes one
# run, and checks all that is known of it.
checked() {
	local test=$1 kind=$4 opts=${9-} role other op=0 moved phases calls n more
	local -A posts=([client]=$2 [server]=$3) sends=([client]=$5 [server]=$6) bufs=([client]=$7 [server]=$8) id=()
	local -A lines=()
	watch krping-stages krping-mr
	trace_on .
	echo 1 >$TRACING/events/kprobes/krping_given/enable
	ping_pair '' ",count=$N,size=$SIZE,$test$opts"
	echo 0 >$TRACING/events/kprobes/krping_given/enable
	trace_end "$test$opts"
	watched "$test$opts" krping-stages krping-mr
	lines[client]=$CLI lines[server]=$SRV
	for role in client server; do
		[ $role = client ] && other=server || other=client
		LINE=${lines[$role]}
		parse
		id[$role]=${F[id]}
		is "${F[test]} ${F[state]} ${F[errno]} ${F[iters]} ${F[count]} ${F[size]}" "$test DONE 0 ${posts[$role]} $N $SIZE" \
			"$test$opts: the $role" || diag "$LINE"
		moved="${posts[$role]} $((posts[$role] * SIZE)) 0 0"
		[ "$kind" = WRITE ] || moved="0 0 ${posts[$role]} $((posts[$role] * SIZE))"
		is "${F[send_msgs]} ${F[send_bytes]} ${F[recv_msgs]} ${F[recv_bytes]} ${F[write_msgs]} ${F[write_bytes]} ${F[read_msgs]} ${F[read_bytes]}" \
			"${sends[$role]} $((16 * sends[$role])) ${sends[$other]} $((16 * sends[$other])) $moved" \
			"$test$opts: the $role's statistics: the sends of one end are the receives of the other one"
		# The set-up with the exchange, and the end. In the loop: post, and what it waits for; wlat waits for each WRITE but the
		# last one. With requests in flight an iteration is one phase.
		phases=8 n=${posts[$role]}
		[ $role = server ] || phases=9
		# An end that does not post waits once more, and a client that is told to end.
		[ "$n" != 0 ] || phases=$((phases + 1))
		[ "$test $role" != "fast client" ] || phases=$((phases + 1))
		case $test in
		wlat) phases=$((phases + 3 * n)) ;;
		*) phases=$((phases + n)) ;;
		esac
		# One for the registrations, and the first message with them, which a server without a target has not.
		calls=$((1 + n + sends[$role] - 1 + 4 + sends[$other]))
		more=
		[[ $test != wlat && $n != 0 ]] && more="request:$kind=$n"
		[ "$test $role" != "fast server" ] || calls=$((calls + 1)) more+=" wc:REG_MR=1"
		is "$(counts "${F[id]}")" "$(expected "${posts[$role]}" "$kind" "${sends[$role]}" "${sends[$other]}" "${bufs[$role]}" "$phases" "$calls" "$more")" \
			"$test$opts: each event of the $role"
	done
	for role in client server; do
		[ $role = client ] && other=server || other=client
		# An iteration of wlat is over when the peer has answered; a server's, when it has answered.
		if [ "$test" = wlat ]; then
			is "$(order "${id[$role]}" "^post_send: run=${id[$other]} .* kind=WRITE")" $N "$test: no iteration of the $role ends too early"
		else
			is "$(order "${id[$role]}" "^wc: run=${id[$role]} .* kind=$kind")" "${posts[$role]}" \
				"$test$opts: no iteration of the $role ends too early"
		fi
	done
	load krping-stages '{
		residual: [.runs[].residual_ns],
		iterations: [.runs | sort_by(.role)[] | .iteration.count // 0],
		aborted: [.runs[].aborted.count],
		exchange: [.runs[].phases[] | select(.phase == "exchange") | .kind]}'
	is "${Q[residual]-} ${Q[iterations]-} ${Q[aborted]-}" "[0,0] [$2,$3] [0,0]" "$test$opts: krping-stages: all iterations, residual 0, none aborted"
	is "${Q[exchange]-}" '["setup","setup"]' "$test$opts: krping-stages: the exchange belongs to the set-up"
	[ "$kind" = WRITE ] || op=4
	is "$(grep -c "krping_given: .* nr=1 len=$SIZE op=$op$" "$T/trace")" $(($2 + $3)) "$test$opts: the provider was given every byte"
}

# The module makes the same requests and events on every kernel. On one with its alarms on, each of these runs takes half a
# minute, and the runs below already exercise the code that the alarms watch.
if [ "${KRPING_SUITE-}" != debug ]; then
	checked wlat $N $N WRITE 2 2 2 2
	checked rlat $N 0 READ 2 2 1 1
	checked bw $N $N WRITE 2 2 2 2 ,duplex
	checked bw $N 0 WRITE 2 2 1 1 ,txdepth=1,poll_ctx=softirq
	# bw alone is a part of the above; options.t counts the WRITEs of fast.
	if [ "$(rounds many few)" = many ]; then
		checked bw $N 0 WRITE 2 2 1 1
		checked fast 0 $N WRITE 2 2 1 1
	fi
fi
echo -:krping_given >>$TRACING/kprobe_events

# --- the pipeline is as deep as it is told to be, and no deeper ---
for opts in bw,txdepth=1:1 bw,txdepth=2:2 bw,txdepth=17:17 rlat,txdepth=17:1 rlat,queues=3:3; do
	traced "${opts%:*}" "krping_post_send krping_wc" ping_pair '' ",count=60,size=64,${opts%:*}"
	parse "$CLI"
	is "${F[state]} ${F[iters]} $(deepest "${F[id]}" '(WRITE|READ)')" "DONE 60 ${opts#*:}" "${opts%:*}: so many are in flight" || diag "$CLI"
done
refused "more than the device can is refused, where the device cannot" "client,addr=$ADDR,port=$PORT,bw,txdepth=65535" 'EOPNOTSUPP the test needs a (send queue|CQ) of 6553[678], the device has [0-9]+|ECONNREFUSED .*'

# --- without a count: a signal to either end, and a deadline, end both well; where both have iterations they have as many ---
posted() { run_line "${PIDS[$1]}" && parse && [ "$((F[write_msgs] + F[read_msgs]))" -ge 50 ]; }
# posting TEST [OPTIONS]: both ends run, the client with these options, and the end that posts has done so 50 times.
posting() {
	local poster=client
	[ "$1" != fast ] || poster=server
	server server "server,addr=$ADDR,port=$PORT"
	start client "client,addr=$ADDR,port=$PORT,$1${2:-}"
	until_ok 10 posted $poster
}
for test in $(rounds "wlat rlat bw bw,duplex fast" "wlat bw,duplex fast"); do
	for who in $(rounds "client server both" "client both"); do
		posting $test
		pids=("${PIDS[$who]-}")
		[ $who != both ] || pids=("${PIDS[client]}" "${PIDS[server]}")
		kill -INT "${pids[@]}"
		finish client
		parse
		# A WRITE of wlat that the server does not answer any more is no iteration.
		iters=${F[iters]} done=$((F[write_msgs] + F[read_msgs]))
		[ $test != wlat ] || [ "$done" != $((iters + 1)) ] || done=$iters
		is "${F[state]} ${F[errno]}" "DONE 0" "$test: SIGINT to the $who: the client ends well" || diag "$LINE"
		ok "$test: SIGINT to the $who: the client waited for all that it had posted" test "$iters" = "$done" || diag "$LINE"
		finish server
		line_is "state errno" "DONE 0" "$test: SIGINT to the $who: the server ends well"
		[ $test != wlat ] || is "${F[iters]}" "$iters" "$test: SIGINT to the $who: both ends have as many iterations"
	done
	ping_pair ",timeout=20s" ",$test,timeout=2s"
	pair_is "state errno" "DONE 0" "$test: timeout= ends it well"
done

# --- with a count a signal is a failure, at once, also of an end that only looks at its memory ---
for test in wlat bw fast; do
	posting $test ,count=2000000000
	kill -INT "${PIDS[client]}"
	finish client 5
	line_is "state werr" "ERROR EINTR" "$test: SIGINT to a client with a count"
	finish server 5
	line_is "state werr" "ERROR ECONNRESET" "$test: the server is told"
done

# --- a peer that leaves without a word has failed, also where nobody said how long it takes ---
for test in wlat bw fast; do
	posting $test
	kill -KILL "${PIDS[server]}"
	finish client 5
	line_is "state werr" "ERROR ECONNRESET" "$test: SIGKILL to the server: the client"
	finish server 5
done

# --- what a running server of fast shows in /proc/krping: one message received, and WRITEs ---
posting fast
like "$(awk -F'[-\t ]+' -v id="${F[id]}" '$1 == id { $1 = $2 = ""; print $0 }' /proc/krping)" '^ *0 0 16 1 [0-9]+ [0-9]+ 0 0$' \
	"fast: the server in /proc/krping" || diag "$(cat /proc/krping)"
pair_off

# --- a peer that is not krping knows none of them ---
rping_server
client "client,addr=$ADDR,port=$PORT,count=5,wlat"
line_is "werr reason" "EPROTO the test needs a peer that is krping, too" "user-space rping as the server"
rping_ends

done_testing "after all that"
