#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the VM: a ping of krping beside that of another krping, by two looks at /proc/krping while a pair pings without end, as both know
# it. The other one comes last, and is not unloaded. Prints pairs for table.pl; the word for what was done is the bytes of a READ.
#
#   older.sh PAIRS SECONDS OLDER.ko

# shellcheck source=tests/bench/others.sh
. "$(dirname "$0")/others.sh"
times=() words=()
measure() {
	begin 1
	for ((n = 1; n <= $1; n++)); do
		pings_in "$2"
		times+=($((US * 1000 / PINGS))) words+=("$(awk '$9 { print $8 / $9 }' /proc/krping)")
	done
}
diag "server,addr=$ADDR,port=12000 | client,addr=$ADDR,port=12000 in ours, and then in $3"
measure "$@"
end
{ rmmod rdma_krping && insmod "$3"; } || broken "$3 cannot be loaded"
measure "$@"
for ((n = 0; n < $1; n++)); do
	echo "pair $PROVIDER $((n + 1)) ${times[n]} ${times[$1 + n]} ${words[n]} ${words[$1 + n]}"
done
