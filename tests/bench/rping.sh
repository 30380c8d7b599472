#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the VM: krping's ping of 64 bytes beside what a user has otherwise. On soft-iWARP that is TCP: a ping is six messages one
# after another, so it is compared with six times the one-way latency that sockperf ping-pong measures over the same path. On
# soft-RoCE it is the user-space rping, whose ping is the same. Prints pairs for table.pl, where the rows whose names end in
# -chain have the option chain at both ends. The word for what was done is the pings and their size.
#
#   rping.sh PAIRS PINGS

# shellcheck source=tests/bench/others.sh
. "$(dirname "$0")/others.sh"
pairs=$1 pings=$2
SIZE=64
pin

ours() {
	one_pair "$CPU_SERVER$1" ",count=$pings,size=$SIZE$CPU_CLIENT$1"
	NS=${F[lat_mean_ns]} DID="${F[iters]}*${F[size]}"
}

# sockperf and rping do not say how many pings there were: rping ends with 0 only if they were as many as asked, and sockperf takes
# its time.
theirs() {
	DID="$pings*$SIZE"
	if [ $row = tcp ]; then
		tcp_latency $SIZE
		NS=$((6 * NS))
	else
		rping_ping $SIZE "$pings"
	fi
}

if [ "$PROVIDER" = siw ]; then
	row=tcp what="six times TCP's one-way latency (sockperf ping-pong)"
	command="sockperf ping-pong --tcp -i $ADDR -m $SIZE -t 1 --no-rdtsc"
else
	row=rping what="that of user-space rping" command="rping -c -a $ADDR -p $PORT -S $SIZE -C $((pings + 1))"
fi
diag "a ping of $SIZE bytes beside $what"
diag "on $(nproc) CPU(s), $PINNED"
diag "ours   server,addr=$ADDR,port=$PORT${CPU_SERVER}[,chain] | client,addr=$ADDR,port=$PORT,count=$pings,size=$SIZE${CPU_CLIENT}[,chain]"
diag "theirs ${PIN_CLIENT[*]} $command"
# The first run also pays for work that is done only once.
ours ''
pairs_of $row "$pairs" ''
pairs_of $row-chain "$pairs" ,chain
