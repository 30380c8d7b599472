#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Options that change how a test's loop runs: post_list=, signal=, inline_size=, warmup=, interval= and accept=. What each of
# them does is counted in the events of the module, and compared with what was asked for.

. "$(dirname "$0")/lib.sh"

# recorded OPTIONS EVENT...: makes a run of both ends with these events on; T/trace has them, CLI and SRV the lines.
recorded() { traced "$1" "${*:2}" ping_pair '' "$1"; }

# lists RUN: prints how many calls posted WRITEs of the run, the most WRITEs of a call, WRITEs, those that are signalled, and the
# most that were in flight.
lists() {
	trace_perl 'my ($file, $run, $signal) = @ARGV;
		my ($calls, $most, $in_call, $n, $signalled, $flying, $deepest) = (0) x 7;
		for my $e (grep { $_->{run} == $run } events($file)) {
			if ($e->{ev} eq "post_return") {
				$calls++ if $in_call;
				$most = $in_call if $in_call > $most;
				$in_call = 0;
			}
			next if $e->{kind} ne "WRITE";
			# A completion retires all that were posted before it: signal= of them.
			$flying -= $signal if $e->{ev} eq "wc";
			next if $e->{ev} ne "post_send";
			$n++, $in_call++, $flying++;
			$signalled++ if $e->{flags} =~ /signaled/;
			$deepest = $flying if $flying > $deepest;
		}
		print "$calls $most $n $signalled $deepest\n"' "$T/trace" "$1" "$2"
}

# bw COUNT SIGNAL LIST DEPTH
bw() {
	local count=$1 signal=$2 list=$3 depth=$4 words
	recorded ",count=$count,bw,signal=$signal,post_list=$list,txdepth=$depth" krping_post_send krping_post_return krping_wc
	parse "$CLI"
	is "${F[state]} ${F[iters]} ${F[write_msgs]} ${F[moves]}" "DONE $count $((count * signal)) $signal" \
		"bw signal=$signal post_list=$list txdepth=$depth: iterations, and WRITEs" || diag "$CLI$SRV"
	read -ra words <<<"$(lists "${F[id]}" "$signal")"
	is "${words[2]-} ${words[3]-}" "$((count * signal)) $count" "bw signal=$signal: one WRITE in $signal is signalled"
	is "${words[1]-}" "$list" "bw post_list=$list: so many in the longest list"
	ok "bw txdepth=$depth: no more are in flight (${words[4]-})" test "${words[4]:-99}" -le "$depth"
	# Lists are whole where they can be: only such as are awaited, and the last one, may be shorter.
	[ $((depth % list)) != 0 ] || [ $((list % signal)) != 0 ] ||
		is "${words[0]-}" $(((count * signal + list - 1) / list)) "bw post_list=$list: as few calls as can be"
}

bw 60 1 1 4
bw 60 4 1 8
bw 60 1 4 8
bw 60 4 8 16
bw 61 3 5 7
bw 23 7 16 16
bw 10 16 16 16

# --- without a count the last iteration is whole, too ---
posted() { run_line "${PIDS[client]}" && parse && [ "${F[write_msgs]}" -ge 200 ]; }
for opts in signal=4,post_list=3,txdepth=10 signal=16,txdepth=16 post_list=16,txdepth=16; do
	server server "server,addr=$ADDR,port=$PORT"
	start client "client,addr=$ADDR,port=$PORT,bw,$opts"
	until_ok 10 posted
	interrupt client
	parse
	is "${F[state]} ${F[write_msgs]}" "DONE $((F[iters] * F[moves]))" "$opts: SIGINT: the client waited for all that it had posted"
	finish_is server "state" DONE "$opts: SIGINT: the server ends well"
done

# --- data in the request ---
for test in wlat bw; do
	for size in 1 64 65; do
		recorded ",count=20,$test,size=$size,inline_size=64" krping_post_send
		parse "$CLI"
		wanted=20
		[ $size -le 64 ] || wanted=0
		is "${F[state]} $(grep -c "run=${F[id]} .*kind=WRITE.*flags=[^ ]*inline" "$T/trace")" "DONE $wanted" \
			"$test: size=$size with inline_size=64" || diag "$CLI"
	done
done
refused "more than the device has is refused, where it has not" "client,addr=$ADDR,port=$PORT,bw,inline_size=4K" 'EOPNOTSUPP inline_size: the device has .*|ECONNREFUSED .*'

# --- the warm-up: made, and not measured ---
for test in rping wlat rlat bw fast fr; do
	role=client
	[ $test != fast ] || role=server
	watch krping-stages
	recorded ",count=20,test=$test,warmup=7" krping_iter krping_phase krping_post_send krping_result
	watched "$test: warmup=7" krping-stages
	line=$CLI
	[ $role = client ] || line=$SRV
	parse "$line"
	is "${F[state]} ${F[iters]}" "DONE 20" "$test: warmup=7: the iterations are those that count" || diag "$CLI$SRV"
	[ $test != rlat ] || is "${F[read_msgs]}" 27 "$test: warmup=7: 27 READs"
	[[ ! $test =~ ^(wlat|bw|fast)$ ]] || is "${F[write_msgs]}" 27 "$test: warmup=7: 27 WRITEs"
	[ $test != fr ] || is "${F[fastreg]}" 27 "$test: warmup=7: 27 registrations"
	[ $test != rping ] || is "${F[send_msgs]}" 54 "$test: warmup=7: 54 SENDs"
	is "$(grep -c "krping_iter: run=${F[id]} .*flags=commit" "$T/trace")" 20 "$test: warmup=7: events of 20 iterations"
	is "$(grep -c "krping_phase: run=${F[id]} .*phase=warmup" "$T/trace")" 1 "$test: warmup=7: it is one phase"
	load krping-stages "{
		residual: [.runs[].residual_ns],
		warmup: [.runs[] | select(.role == \"$role\").phases[] | select(.phase == \"warmup\") | [.kind, .count]],
		iterations: [.runs[] | select(.role == \"$role\").iteration.count]}"
	is "${Q[residual]-} ${Q[warmup]-} ${Q[iterations]-}" '[0,0] [["setup",1]] [20]' "$test: warmup=7: krping-stages"
done

# --- a warm-up that is cut short ---
server server "server,addr=$ADDR,port=$PORT"
start client "client,addr=$ADDR,port=$PORT,warmup=1000000"
warming() { run_line "${PIDS[client]}" && parse && [ "${F[send_msgs]}" -ge 50 ]; }
until_ok 10 warming
interrupt_is client "state iters" "DONE 0" "SIGINT in the warm-up of an endless run"
finish_is server "state iters" "DONE 0" "and its server"

# --- pauses ---
for test in rping wlat rlat fr; do
	recorded ",count=5,test=$test,interval=150ms" krping_phase krping_iter
	parse "$CLI"
	is "${F[state]} ${F[iters]} $(grep -c "krping_phase: run=${F[id]} .* phase=pause" "$T/trace")" "DONE 5 4" "$test: interval=: as many pauses" ||
		diag "$CLI"
	ok "$test: interval=150ms: four pauses take 600 ms (${F[elapsed_ns]})" test "${F[elapsed_ns]}" -ge 600000000
	is "$(trace_perl 'my ($file, $run) = @ARGV;
		my @own = grep { $_->{run} == $run } events($file);
		my @pauses = map { $_->{t} } grep { $_->{ev} eq "phase" && $_->{phase} eq "pause" } @own;
		for my $i (grep { $_->{ev} eq "iter" && $_->{flags} =~ /commit/ } @own) {
			print "iteration $i->{iter} " for grep { $_ >= $i->{t_begin} && $_ < $i->{t} } @pauses;
		}' "$T/trace" "${F[id]}")" '' "$test: interval=150ms: no iteration has a pause in it"
done
for opts in '' ,count=1000; do
	server server "server,addr=$ADDR,port=$PORT"
	start client "client,addr=$ADDR,port=$PORT,interval=1000s$opts"
	pausing() { run_line "${PIDS[client]}" && parse && [ "${F[iters]}" = 1 ]; }
	until_ok 10 pausing
	interrupt client
	wanted="DONE 0"
	[ -z "$opts" ] || wanted="ERROR 4"
	line_is "state errno" "$wanted" "interval=1000s$opts: SIGINT ends the pause"
	finish server 5
done
server server "server,addr=$ADDR,port=$PORT"
client_is "client,addr=$ADDR,port=$PORT,interval=100s,timeout=500ms" "state errno" "DONE 0" "interval=100s: timeout= ends the pause of an endless run"
finish server 5

# --- what a server takes ---
server server "server,addr=$ADDR,port=$PORT,accept=rping+rlat+1000"
client_is "client,addr=$ADDR,port=$PORT,count=3,bw" "werr reason" "EPROTO the server refused: accept differs: it does not take this test or size" "accept=: another test"
client_is "client,addr=$ADDR,port=$PORT,count=3,rlat,size=1000" "state iters" "DONE 3" "accept=: one that it takes"
finish_is server "state rejects" "DONE 1" "accept=: the server counts the one that it refused"
server server "server,addr=$ADDR,port=$PORT,accept=1000"
limited 10 rping -c -a "$ADDR" -p $PORT -S 1001 -C 3 >"$T/rping" 2>&1
finish_like server "werr reason" '^EPROTO 1001 bytes advertised, ' "accept=: a classic client that is too large"
server server "server,addr=$ADDR,port=$PORT,accept=bw"
limited 10 rping -c -a "$ADDR" -p $PORT -C 3 >"$T/rping" 2>&1
is "$(($? != 0))" 1 "accept=bw: a classic client is refused"
interrupt_is server "rejects" 1 "accept=bw: and counted"

done_testing "after all that"
