#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A run's CQ lives longer than the softirq that polls it. The core arms a CQ again after it has let go of it;
# tests/plant/krping_hold.c holds a softirq at that point, so that the thread that it woke has the time to reach the
# CQ's destruction.

. "$(dirname "$0")/lib.sh"

ko=$here/../../build/vm-${KRPING_KERNEL:-6.1}/plant/krping_hold.ko
P=/sys/module/krping_hold/parameters
# check.sh builds the module, and does not accept this skip.
[ -e "$ko" ] || {
	skip "tests/plant is not built: make vm-plant"
	done_testing
}

PAIRS=$(rounds 10 5)
ok "softirqs can be held" insmod "$ko" "provider=$PROVIDER"
ended=0
for ((i = 0; i < PAIRS; i++)); do
	ping_pair ",count=1" ",count=1"
	for LINE in "$CLI" "$SRV"; do
		parse
		[ "${F[state]} ${F[errno]} ${F[iters]}" != "DONE 0 1" ] || ended=$((ended + 1))
	done
done
is $ended $((2 * PAIRS)) "$((2 * PAIRS)) runs ended well" || diag "$(tail -n 4 /proc/krping_runs)"
held=$(cat $P/held)
ok "softirqs were held: $held" test "$held" -ge $PAIRS
is "$(cat $P/overtaken)" 0 "no CQ was destroyed under one"
ok "they are held no longer" rmmod krping_hold
done_testing
