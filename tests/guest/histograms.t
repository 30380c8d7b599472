#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# -H of krping-stages and krping-mr: the histograms have as many values as -j counts, and their bars are those of the same runs.

. "$(dirname "$0")/lib.sh"

for t in krping-stages krping-mr; do
	background "$t-buckets" "$t" -j -H
	background "$t-text" "$t" -H
done
all=(krping-{stages,mr}-{buckets,text})
attached "${all[@]}"
good_pair "watched" 23 ",count=23,validate"
for t in "${all[@]}"; do
	tool_end "$t" INT
	# A tool that prints a table first says on stderr what it waits for; that is no complaint.
	is "$RC $(grep -v '^Tracing .*Ctrl-C to end\.$' "$T/$t.err")" "0 " "$t: exit 0, no complaint on stderr"
done
for t in krping-stages krping-mr; do
	absorb "$here/histograms.pl" buckets "$t -j -H" "$T/$t-buckets.out"
	absorb "$here/histograms.pl" text "$t -H" "$T/$t-text.out" "$T/$t-buckets.out"
done
done_testing
