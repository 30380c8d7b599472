#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The module parameter debug=1 gives a running commentary in the kernel's log; without it nothing is printed.

. "$(dirname "$0")/lib.sh"

debug=/sys/module/rdma_krping/parameters/debug

# two_pings WHAT: runs a pair of two pings; PRINTED becomes what the module has printed about them.
two_pings() { printing good_pair "$1" 2 ",count=2"; }

silent() {
	two_pings "$1"
	is "$PRINTED" '' "$1: nothing is printed"
}

# said LINE COUNT REGEX: asserts that the run of LINE has printed COUNT lines that match REGEX.
said() {
	parse "$1"
	is "$(grep -cE "^${F[id]}: $3$" <<<"$PRINTED")" "$2" "$what: the ${F[role]} says: $3"
}

talks() {
	local what=$1 hex='[0-9a-f]+' side
	two_pings "$what"
	for side in "$CLI" "$SRV"; do
		said "$side" 1 "proc write \\|.*,count=2\\|"
		said "$side" 1 "created cm_id"
		said "$side" 1 "created pd [0-9]+"
		said "$side" 2 "created cq [0-9]+"
		said "$side" 1 "created qp [0-9]+"
		said "$side" 1 "ESTABLISHED"
		said "$side" 4 "post_inv = [01], reg_mr new rkey 0x$hex pgsz [0-9]+ len 64 iova_start $hex"
		said "$side" 4 "RDMA addr $hex rkey $hex len (64|0)"
		said "$side" 4 "recv completion"
		said "$side" 4 "Received rkey $hex addr $hex len (64|0) from peer"
		said "$side" 1 "disconnected!"
	done
	said "$CLI" 2 "cma_event type [02] cma_id parent"
	said "$CLI" 4 "send completion"
	said "$SRV" 1 "rdma_bind_addr successful"
	said "$SRV" 1 "rdma_listen"
	said "$SRV" 1 "cma_event type 4 cma_id child"
	said "$SRV" 1 "accepting client connection request"
	said "$SRV" 2 "rdma read completion"
	said "$SRV" 2 "rdma write completion"
	said "$SRV" 4 "server posted go ahead"
	# The server's lines are in the order of the steps of a ping.
	parse "$SRV"
	is "$(sed -nE "s/^${F[id]}: (Received|rdma (read|write) completion|server posted go ahead).*/\1/p" <<<"$PRINTED" |
		paste -sd,)" "$(printf 'Received,rdma read completion,server posted go ahead,Received,rdma write completion,server posted go ahead,%.0s' 1 2 | sed 's/,$//')" \
		"$what: in the order of the pings"
}

refused() { ! echo "$1" 2>/dev/null >$debug; }

is "$(cat $debug)" N "debug is off at first"
silent "without debug"
ok "debug=1 while the module is loaded" eval "echo 1 >$debug"
is "$(cat $debug)" Y "debug is on"
talks "debug=1"
printing_begin
server server "server,addr=$ADDR,port=$PORT"
"$liar" client "$ADDR" $PORT version=2 >"$T/liar"
interrupt server
printing_end
like "$PRINTED" '[0-9]+: refused a client: version differs: 2 there, 3 here' "debug=1: a server says whom it refuses, and why"
ok "debug=perhaps is refused" refused perhaps
is "$(cat $debug)" Y "debug is still on"
ok "debug=0 again" eval "echo 0 >$debug"
silent "debug=0 again"
ok "the module is loaded with debug=1" eval 'rmmod rdma_krping && insmod "$KRPING_MODULE" debug=1'
talks "loaded with debug=1"
ok "and without" eval 'rmmod rdma_krping && insmod "$KRPING_MODULE"'
silent "loaded without"
done_testing
