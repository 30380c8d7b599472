#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In a VM whose clock counts instructions (run.sh, KRPING_ACCEL=icount): runs of PINGS pings, in turn by FILE.ko, which is the
# module without its tracepoints, and by the ordinary module. Prints the pairs of the row notrace for overhead.pl, and what a ping
# costs more with the tracepoints: "instructions N MORE". A timer tick more in one of the runs is a million instructions, so
# PINGS should be thousands.
#
#   instructions.sh PAIRS PINGS FILE.ko

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
# shellcheck source=tests/bench/others.sh
. "$(dirname "$0")/others.sh"
pings=$2 other=$3

sample() {
	rmmod rdma_krping
	insmod "$1"
	# The first run, which also pays for work that is done only once, is not measured.
	one_pair ",count=20"
	one_pair ",count=$pings"
	DID=1
}
ours() { sample "$other"; }
theirs() { sample "${KRPING_MODULE:?}"; }
pairs_of notrace "$1" | awk -v pings="$pings" '{ print } /^pair/ { printf "instructions %d %d\n", $3, ($5 - $4) / pings }'
exit "${PIPESTATUS[0]}"
