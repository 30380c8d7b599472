#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Each test between this machine and a peer, in both directions, and the errnos of what does not fit. The peer is another machine
# (KRPING_SSH, by ssh; its address is KRPING_PEER), or else this one, on its own link. It needs nothing but the two modules and
# their front ends, so that it also runs on hardware.

. "$(dirname "$0")/lib.sh"

N=200
[ -n "${KRPING_SSH:-}" ] || KRPING_PEER=$ADDR

# at_peer COMMAND...: runs it at the peer.
at_peer() {
	if [ -n "${KRPING_SSH:-}" ]; then ssh -o BatchMode=yes "$KRPING_SSH" "$(printf '%q ' "$@")"; else "$@"; fi
}
at_here() { "$@"; }
listens_at() { "at_$1" grep -q ' listen' /proc/krping; }
declare -A address=([peer]=$KRPING_PEER [here]=$ADDR)

# up SIDE OPTION...: a server there, which listens.
up() {
	local side=$1
	shift
	background server "at_$side" krping -j server "${address[$side]}" "$@"
	until_ok 20 listens_at "$side" || diag "$(cat "$T/server.err")"
}
# runs SIDE WORD...: an end there, until it has ended; sets RC.
runs() {
	"at_$1" krping -j "${@:2}" >"$T/client.out" 2>"$T/client.err"
	RC=$?
}
# connects SIDE OPTION...: a client there, to the server at the other side; sets RC.
connects() {
	local side=$1 to=here
	shift
	[ "$side" = peer ] || to=peer
	runs "$side" client "${address[$to]}" "$@"
}
# figures NAME: prints what an end says of its run.
figures() { jq -rs '.[-1] | "\(.test) \(.state) \(.errno) \(.iters) \(.size)"' "$T/$1.out"; }
moved() { jq -rs '.[-1] | "\(.send_msgs)/\(.send_bytes) \(.recv_msgs)/\(.recv_bytes)"' "$T/$1.out"; }

for there in peer here; do
	[ $there = peer ] && client=here || client=peer
	for test in rping fr wlat rlat bw fast; do
		for size in $(rounds "1 4097 131072" 4097); do
			what="$test, size=$size, server: $there"
			up $there
			connects $client count=$N size=$size test=$test
			is "$RC $(figures client | cut -d' ' -f1-3,5)" "0 $test DONE 0 $size" "$what: the client ends well" || diag "$(cat "$T/client.out" "$T/client.err")"
			tool_end server
			is "$RC $(figures server | cut -d' ' -f1-3,5)" "0 $test DONE 0 $size" "$what: the server ends well" || diag "$(cat "$T/server.out" "$T/server.err")"
			# Which end has iterations: of fast it is the server alone, of fr, rlat and bw the client alone.
			case $test in
			rping | wlat) iters="$N $N" ;;
			fast) iters="0 $N" ;;
			*) iters="$N 0" ;;
			esac
			is "$(figures client | cut -d' ' -f4) $(figures server | cut -d' ' -f4)" "$iters" "$what: the iterations of client and server"
			read -r sent received <<<"$(moved client)"
			is "$(moved server)" "$received $sent" "$what: the sends of one end are the receives of the other one"
		done
	done
done

# --- what does not fit has an errno, and a cause that both ends can read ---
failed() { is "$RC $(jq -r .errno "$T/client.out")" "2 $1" "$2" || diag "$(cat "$T/client.out" "$T/client.err")"; }
for client in here peer; do
	[ $client = here ] && there=peer || there=here
	connects $client count=3
	failed 111 "the client $client: nobody listens: ECONNREFUSED"
	up $there size=100 test=rping
	connects $client count=3 size=200
	failed 71 "the client $client: the sizes differ: EPROTO"
	like "$(cat "$T/client.out")" 'size differs: 100 there, 200 here' "the client $client: both values"
	connects $client count=3 test=bw size=100
	failed 71 "the client $client: the tests differ: EPROTO"
	connects $client count=3 size=100
	is "$RC $(figures client)" "0 rping DONE 0 3 100" "the client $client: a server goes on after those" || diag "$(cat "$T/client.out")"
	tool_ends "the client $client: and ends well" server
	runs $there server "${address[$there]}" timeout=300ms
	failed 110 "a server $there: nobody comes: ETIMEDOUT"
	up $there
	runs $there server "${address[$there]}"
	failed 98 "a server $there: the port is taken: EADDRINUSE"
	connects $client count=3
	tool_end server
	connects $client nonsense
	is $RC 1 "the client $client: an option that is none"
done
done_testing
