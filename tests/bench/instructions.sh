#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In a VM whose clock counts instructions (run.sh, KRPING_ACCEL=icount): runs of PINGS pings, in turn by the ordinary module
# and by FILE.ko, the same module without its tracepoints. Prints two lines per pair for overhead.pl:
#
#   pair notrace N NS-WITHOUT NS-WITH 1 1
#   instructions N MORE           what a ping costs more with the tracepoints
#
# One timer tick more in one of the runs is a million instructions: PINGS should be thousands.
#
#   instructions.sh PAIRS PINGS FILE.ko

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
pairs=$1 pings=$2 other=$3

sample() {
	rmmod rdma_krping
	insmod "$1"
	# The first run, which also pays for work that is done only once, is not measured.
	quiet_pair ",count=20" ",count=20"
	quiet_pair ",count=$pings" ",count=$pings"
	parse "$CLI"
	[ "${F[iters]-}" = "$pings" ] || { echo "# a run failed: $CLI" && exit 1; }
	NS=${F[elapsed_ns]}
}

for ((i = 1; i <= pairs; i++)); do
	if ((i % 2)); then
		sample "$other"
		a=$NS
		sample "${KRPING_MODULE:?}"
	else
		sample "${KRPING_MODULE:?}"
		b=$NS
		sample "$other"
		a=$NS
		NS=$b
	fi
	echo "pair notrace $i $a $NS 1 1"
	echo "instructions $i $(((NS - a) / pings))"
done
