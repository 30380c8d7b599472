#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Two CPUs are at work at the same time, else the tests of this suite find no race that others do not find: a planted one, of two
# instructions (tests/plant/krping_race.c), has to lose additions. It is tried more than once, since the host may have had
# something else to do.

. "$(dirname "$0")/lib.sh"
ko=${KRPING_PLANT:?}
ko=${ko%/*}/krping_race.ko

total=0
for ((i = 1; i <= 5; i++)); do
	insmod "$ko" || break
	lost=$(cat /sys/module/krping_race/parameters/lost)
	rmmod krping_race
	diag "try $i: $lost of 40000000 additions were lost"
	total=$((total + lost))
done
is $i 6 "two threads have raced five times"
ok "additions were lost: two CPUs are at work at the same time" test $total -gt 0
done_testing
