#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the VM: krping's ping of 64 bytes beside what a user has otherwise, pairs in one order and the other in turn. On soft-iWARP
# that is TCP: a ping is six messages one after another, so it is compared with six times the one-way latency that sockperf
# ping-pong measures over the same path. On soft-RoCE it is the user-space rping, whose ping is the same. Prints lines for
# ratios.pl, where the rows whose names end in -chain have the option chain at both ends:
#
#   pair ROW N OURS THEIRS WHAT WHAT
#
# OURS is the mean time of a ping in ns, THEIRS six one-way latencies, or the time of a ping of rping: of PINGS + 1 pings less that
# of one, by the shell's clock. WHAT is the pings and their size.
#
#   rping.sh PAIRS PINGS

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
# shellcheck source=tests/bench/others.sh
. "$(dirname "$0")/others.sh"
pairs=$1 pings=$2
SIZE=64
pin
[ "$PROVIDER" = siw ] && row=tcp || row=rping

# ours CHAIN: sets NS and DID.
ours() {
	quiet_pair "$CPU_SERVER$1" ",count=$pings,size=$SIZE$CPU_CLIENT$1"
	parse "$CLI"
	[ "${F[state]-}" = DONE ] || broken "a run failed: $CLI"
	NS=${F[lat_mean_ns]} DID="${F[iters]}*${F[size]}"
}

# theirs: sets NS and DID. sockperf and rping do not say how many pings there were: rping ends with 0 only if they were as many as
# asked, and sockperf takes its time.
theirs() {
	local few
	DID="$pings*$SIZE"
	if [ $row = tcp ]; then
		tcp_latency $SIZE
		NS=$((6 * NS))
	else
		user_rping $SIZE 1
		few=$NS
		user_rping $SIZE $((pings + 1))
		NS=$(((NS - few) / pings))
	fi
}

diag "a ping of $SIZE bytes beside $([ $row = tcp ] && echo "six times TCP's one-way latency (sockperf ping-pong)" || echo "that of user-space rping")"
diag "on $(nproc) CPU(s), $PINNED"
diag "ours   server,addr=$ADDR,port=$PORT${CPU_SERVER}[,chain] | client,addr=$ADDR,port=$PORT,count=$pings,size=$SIZE${CPU_CLIENT}[,chain]"
if [ $row = tcp ]; then
	diag "theirs ${PIN_CLIENT[*]} sockperf ping-pong --tcp -i $ADDR -m $SIZE -t 1 --no-rdtsc"
else
	diag "theirs ${PIN_CLIENT[*]} rping -c -a $ADDR -p $PORT -S $SIZE -C $((pings + 1))"
fi
# The first run also pays for work that is done only once.
ours ''
for chain in '' ,chain; do
	for ((i = 1; i <= pairs; i++)); do
		if ((i % 2)); then
			ours "$chain"
			a=$NS did=$DID
			theirs
			echo "pair $row${chain/,/-} $i $a $NS $did $DID"
		else
			theirs
			b=$NS they=$DID
			ours "$chain"
			echo "pair $row${chain/,/-} $i $NS $b $DID $they"
		fi
	done
done
