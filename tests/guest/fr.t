#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# test=fr: the client registers memory and invalidates its keys, and nothing else happens. Each event of it is counted, each key
# is accounted for, both ends end well together, and a peer that is not krping does, too.

. "$(dirname "$0")/lib.sh"

N=100

for ctx in thread softirq busy; do
	watch krping-stages krping-mr
	trace_on .
	ping_pair ",poll_ctx=$ctx" ",count=$N,size=20000,test=fr,poll_ctx=$ctx"
	trace_end $ctx
	watched $ctx krping-stages krping-mr
	line_is "test state errno iters size" "fr DONE 0 $N 20000" "$ctx: the client" "$CLI"
	is "${F[fastreg]} ${F[localinv]} ${F[reminv]} ${F[send_msgs]} ${F[read_msgs]} ${F[write_msgs]}" "$N $N 0 2 0 0" \
		"$ctx: it registers and invalidates, and says when it begins and when it is done"
	cli=${F[id]}
	line_is "test state errno iters count size recv_msgs" "fr DONE 0 0 $N 20000 2" "$ctx: the server adopts it, and has no iterations" "$SRV"
	# Phases: those of set-up and tear-down (8), the wait for the last ones, and one for each iteration.
	is "$(counts "$cli")" "adv_send=2 iter=$((N + 2)) mr_dereg=8 mr_done:LOCAL_INV=$N mr_done:REG_MR=$N \
mr_fastreg=$N mr_localinv=$N mr_map=$N phase=$((9 + N)) post_recv:RECV=4 post_return=$((N + 6)) post_send:LOCAL_INV=$N \
post_send:REG_MR=$N post_send:SEND=2 request:LOCAL_INV=$N result=1 run_end=1 run_start=1 wc:LOCAL_INV=$N wc:SEND=2 wc_flush:RECV=4 " "$ctx: each event of the client"
	is "$(grep -c "krping_mr_dereg: run=$cli .*state=free" "$T/trace")" 8 "$ctx: all regions are free at the end"
	is "$(sed -nE "s/.*krping_mr_fastreg: run=$cli .*valid_before=([01]).*/\1/p" "$T/trace" | sort -u)" 0 "$ctx: no key is valid then"
	lens=$(sed -nE "s/.*krping_mr_fastreg: run=$cli .* len=([0-9]+) .*/\1/p" "$T/trace" | sort -nu)
	ok "$ctx: the lengths differ, and lie in 1..20000" test "$(wc -l <<<"$lens")" -gt 50 -a "$(head -1 <<<"$lens")" -ge 1 -a "$(tail -1 <<<"$lens")" -le 20000
	# A region is mapped again only when the LOCAL_INV of its last chain has completed.
	is "$(trace_perl 'my (%mr_of, %done);
		for my $e (grep { $_->{run} == $ARGV[1] } events($ARGV[0], "mr_map|mr_localinv|wc")) {
			my $last = $mr_of{$e->{"mr.id"}};
			print "mapped before cid $last was done\n" if $e->{ev} eq "mr_map" && defined $last && !$done{$last};
			$mr_of{$e->{"mr.id"}} = $e->{cid} if $e->{ev} eq "mr_localinv";
			$done{$e->{cid}} = 1 if $e->{ev} eq "wc";
		}' "$T/trace" "$cli")" '' "$ctx: a region is mapped again when its last request is done"
	load krping-stages '{
		residual: [.runs[].residual_ns],
		phases: [.runs[] | select(.role == "client") | .phases[] | select(.kind == "iteration") | [.phase, .count]]}'
	is "${Q[residual]-}" '[0,0]' "$ctx: krping-stages: residual 0"
	is "${Q[phases]-}" "[[\"running\",$N]]" "$ctx: krping-stages: its phase"
done

# --- as many chains of two requests are in flight as txdepth= says ---
traced depth=34 "krping_post_send krping_wc krping_mr_dereg" ping_pair '' ",count=60,fr,depth=34"
is "$(deepest "$(field id "$CLI")" LOCAL_INV) $(grep -c krping_mr_dereg "$T/trace")" "17 17" "depth=34: 17 of them, each with a region" || diag "$CLI"

# --- an endless one, ended from either side ---
# The device needs no peer for this test, so a client whose completions are always there must look whether its server has left.
for who in client server server server; do
	pair_on 50 '' ,fr
	kill -INT "${PIDS[$who]}"
	finish client
	line_is "state errno" "DONE 0" "SIGINT to the $who: the client ends well"
	finish server
	line_is "state errno" "DONE 0" "SIGINT to the $who: the server ends well"
done
ping_pair ",timeout=20s" ",test=fr,timeout=300ms"
line_is "state errno" "DONE 0" "timeout= ends an endless one well" "$CLI"

# --- options that it has no use for: both ends say so, tests/unit/test_command.c the client, here the server ---
server picky "server,addr=$ADDR,port=$PORT,validate"
client "client,addr=$ADDR,port=$PORT,count=5,fr"
line_like "werr reason" '^EPROTO .*validate differs' "a server with validate refuses it"
interrupt picky

# --- a classic server never learns what it is for ---
rping_server
client "client,addr=$ADDR,port=$PORT,count=$N,fr"
line_is "state errno iters fastreg localinv send_msgs" "DONE 0 $N $N $N 0" "user-space rping as the server"
rping_ends

done_testing "after fr"
