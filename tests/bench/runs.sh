#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the VM: many runs at once. Each of ROUNDS rounds has, for each count, so many clients that ping without end, with a server each,
# and looks twice at how many pings all of them have made, WINDOW seconds apart. Prints lines for table.pl:
#
#   rate COUNT ROUND PINGS-A-SECOND
#   memory ENDS OWN BUFFERS       of that many ends of runs: bytes that the module itself allocated while they began, and bytes of
#                                 their buffers
#
# Memory is counted where it is allocated: by the event kmalloc where the module is the caller, as it is of what kvmalloc_node takes up
# to a page, by probes at kvmalloc_node and, for the buffers, at alloc_pages_exact; each size rounded up to a power of two, as slabs and
# pages are at most. Of a run's memory others allocate QPs, CQs, MRs and the connection manager's; what is given back counts, too.
#
#   runs.sh ROUNDS WINDOW COUNT...

# shellcheck source=tests/bench/others.sh
. "$(dirname "$0")/others.sh"
rounds=$1 window=$2
shift 2
counts=("$@")

# --- memory ---
read -r _ size _ _ _ base _ < <(grep '^rdma_krping ' /proc/modules)
printf -v last '0x%x' $((base + size))
probe=krping_bench
kinds=(kv:kvmalloc_node pages:alloc_pages_exact)
for k in "${kinds[@]}"; do
	# The return address is on the stack's top where a function begins.
	echo "p:${probe}_${k%%:*} ${k#*:} size=%di:u64 caller=+0(%sp):u64" >>$TRACING/kprobe_events || broken "${k#*:} cannot be probed"
	[[ $k == kv:* ]] && large=' && size > 4096' || large=''
	echo "hist:keys=size if caller >= $base && caller < $last$large" >"$TRACING/events/kprobes/${probe}_${k%%:*}/trigger"
done
echo "hist:keys=bytes_alloc if call_site >= $base && call_site < $last" >$TRACING/events/kmem/kmalloc/trigger
# bytes FOLDER KEY: prints the bytes that its histogram has counted.
bytes() {
	sed -nE "s/.* $2: +([0-9]+) .* hitcount: +([0-9]+).*/\\1 \\2/p" "$TRACING/events/$1/hist" |
		awk '{ r = 8; while (r < $1) r *= 2; s += r * $2 } END { printf "%d\n", s }'
}
begin 16
own=$(($(bytes kmem/kmalloc bytes_alloc) + $(bytes kprobes/${probe}_kv size)))
echo "memory 32 $own $(bytes kprobes/${probe}_pages size)"
end
echo "!hist:keys=bytes_alloc" >$TRACING/events/kmem/kmalloc/trigger
for k in "${kinds[@]}"; do
	echo "!hist:keys=size" >"$TRACING/events/kprobes/${probe}_${k%%:*}/trigger"
	echo "-:${probe}_${k%%:*}" >>$TRACING/kprobe_events
done

# --- rates ---
diag "pings of 64 bytes, poll_ctx=thread, both ends on $(nproc) CPU(s); $window s for each count"
for ((r = 1; r <= rounds; r++)); do
	for count in "${counts[@]}"; do
		begin "$count"
		pings_in "$window"
		echo "rate $count $r $(awk -v n=$PINGS -v us=$US 'BEGIN { printf "%.1f", n * 1e6 / us }')"
		end
	done
done
