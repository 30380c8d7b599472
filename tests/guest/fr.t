#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# test=fr: the client registers memory and invalidates its keys, and nothing else happens. Each event of it is counted, each key
# is accounted for, both ends end well together, and a peer that is not krping does, too.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-tools.sh"

N=100

for ctx in thread softirq busy; do
	tool krping-stages -j
	tool krping-mr -j
	attached krping-stages krping-mr
	trace_on .
	ping_pair ",poll_ctx=$ctx" ",count=$N,size=20000,test=fr,poll_ctx=$ctx"
	trace_off
	cp $TRACING/trace "$T/trace"
	tool_end krping-stages INT
	is "$RC $(cat "$T/krping-stages.err")" "0 " "$ctx: krping-stages ends with 0"
	tool_end krping-mr INT
	is "$RC $(cat "$T/krping-mr.err")" "0 " "$ctx: krping-mr ends with 0: each key is accounted for"
	LINE=$CLI && parse
	is "${F[test]} ${F[state]} ${F[errno]} ${F[iters]} ${F[size]}" "fr DONE 0 $N 20000" "$ctx: the client" || diag "$CLI"
	is "${F[fastreg]} ${F[localinv]} ${F[reminv]} ${F[send_msgs]} ${F[read_msgs]} ${F[write_msgs]}" "$N $N 0 1 0 0" \
		"$ctx: it registers and invalidates, and says when it is done"
	cli=${F[id]}
	LINE=$SRV && parse
	is "${F[test]} ${F[state]} ${F[errno]} ${F[iters]} ${F[count]} ${F[size]} ${F[recv_msgs]}" "fr DONE 0 0 $N 20000 1" \
		"$ctx: the server adopts it, and has no iterations" || diag "$SRV"
	is "$(trace_lost)" "0 " "$ctx: ftrace has lost nothing"
	# Phases: those of set-up and tear-down (7), the wait for the last ones, three for each iteration, but the first seven wait for
	# nothing.
	is "$(counts "$cli")" "adv_send=1 iter=$((N + 2)) mr_dereg=8 mr_done:LOCAL_INV=$N mr_done:REG_MR=$N \
mr_fastreg=$N mr_localinv=$N mr_map=$N phase=$((8 + 3 * N - 7)) post_recv:RECV=4 post_return=$((N + 5)) post_send:LOCAL_INV=$N \
post_send:REG_MR=$N post_send:SEND=1 result=1 run_end=1 run_start=1 wc:LOCAL_INV=$N wc:SEND=1 wc_flush:RECV=4 " "$ctx: each event of the client"
	is "$(grep -c "krping_mr_dereg: run=$cli .*state=free" "$T/trace")" 8 "$ctx: all regions are free at the end"
	is "$(sed -nE "s/.*krping_mr_fastreg: run=$cli .*valid_before=([01]).*/\1/p" "$T/trace" | sort -u)" 0 "$ctx: no key is valid then"
	lens=$(sed -nE "s/.*krping_mr_fastreg: run=$cli .* len=([0-9]+) .*/\1/p" "$T/trace" | sort -nu)
	ok "$ctx: the lengths differ, and lie in 1..20000" test "$(wc -l <<<"$lens")" -gt 50 -a "$(head -1 <<<"$lens")" -ge 1 -a "$(tail -1 <<<"$lens")" -le 20000
	# A region is mapped again only when the LOCAL_INV of its last chain has completed.
	is "$(sed -nE "s/.*: krping_(\w+): run=$cli (.*)/\1 \2/p" "$T/trace" | awk '
		{ delete f; for (i = 2; i <= NF; i++) { split($i, kv, "="); f[kv[1]] = kv[2] } }
		$1 == "mr_map" && mr_of[f["mr.id"]] && !done[mr_of[f["mr.id"]]] { print "mapped before cid " mr_of[f["mr.id"]] " was done" }
		$1 == "mr_localinv" { mr_of[f["mr.id"]] = f["cid"] }
		$1 == "wc" { done[f["cid"]] = 1 }')" '' "$ctx: a region is mapped again when its last request is done"
	load krping-stages '{
		residual: [.runs[].residual_ns],
		phases: [.runs[] | select(.role == "client") | .phases[] | select(.kind == "iteration") | [.phase, .count]]}'
	is "${Q[residual]-}" '[0,0]' "$ctx: krping-stages: residual 0"
	is "${Q[phases]-}" "[[\"map\",$N],[\"post\",$N],[\"wait_completion\",$((N - 7))]]" "$ctx: krping-stages: its phases"
done

# --- an endless one, ended from either side ---
# The device needs no peer for this test, so a client whose completions are always there must look whether its server has left.
for who in client server server server; do
	server server "server,addr=$ADDR,port=$PORT"
	start client "client,addr=$ADDR,port=$PORT,fr"
	wait_pings client 50
	kill -INT "${PIDS[$who]}"
	finish client
	parse
	is "${F[state]} ${F[errno]}" "DONE 0" "SIGINT to the $who: the client ends well" || diag "$LINE"
	finish server
	parse
	is "${F[state]} ${F[errno]}" "DONE 0" "SIGINT to the $who: the server ends well" || diag "$LINE"
done
ping_pair ",timeout=20s" ",test=fr,timeout=300ms"
parse "$CLI"
is "${F[state]} ${F[errno]}" "DONE 0" "timeout= ends an endless one well" || diag "$CLI"

# --- options that it has no use for; both ends say so ---
for opt in server_inv split validate verbose chain; do
	parse "$("${krwrite:?}" "client,addr=$ADDR,port=$PORT,fr,$opt")"
	is "${F[werr]} ${F[reason]}" "EINVAL $opt: test=fr has no use for it" "$opt is refused"
done
server picky "server,addr=$ADDR,port=$PORT,validate"
client "client,addr=$ADDR,port=$PORT,count=5,fr"
parse
like "${F[werr]} ${F[reason]}" '^EPROTO .*validate differs' "a server with validate refuses it"
kill -INT "${PIDS[picky]}"
finish picky
for_another_test fr

# --- a classic server never learns what it is for ---
rping_server
client "client,addr=$ADDR,port=$PORT,count=$N,fr"
parse
is "${F[state]} ${F[errno]} ${F[iters]} ${F[fastreg]} ${F[localinv]} ${F[send_msgs]}" "DONE 0 $N $N $N 0" "user-space rping as the server" || diag "$LINE"
rping_ends

works_after "after fr"
done_testing
