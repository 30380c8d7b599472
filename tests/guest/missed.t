#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Events that a BPF program could not see are counted: if an event interrupts the program that is attached to it, the
# kernel does not run that program again. Kernel versions differ in how they do this and count it.

. "$(dirname "$0")/lib.sh"

attach_as krping-trace krping-trace -j -E adv_send --records 16384
ok "a module raises an event, and within that event again" insmod "$PLANTS/krping_again.ko"
raised=$(cat /sys/module/krping_again/parameters/raised)
rmmod krping_again
tool_end krping-trace INT
load krping-trace '{events, missed: .lost_missed, lost}'
events=${Q[events]-} missed=${Q[missed]-0} lost=${Q[lost]-0}
ok "krping-trace was interrupted by its own event: $missed times" test "$missed" -gt 0
is "$((events + lost)) $lost" "$raised $missed" "seen and missed are all that were raised, and nothing else was lost"
done_testing
