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
# Memory is counted where it is allocated: by the event kmalloc where the module is the caller, and by probes at kvmalloc_node, each
# size rounded up to a power of two, as slabs and pages are at most; and at alloc_pages_exact, which are the buffers. What is given
# back in the meantime is counted, too, so it is an upper bound. What others allocate for a run (QPs, CQs and MRs of the provider,
# the connection manager's) is not the module's own.
#
#   runs.sh ROUNDS WINDOW COUNT...

# shellcheck source=tests/bench/others.sh
. "$(dirname "$0")/others.sh"
rounds=$1 window=$2
shift 2
counts=("$@")

# sum: sets SUM to the pings of all clients that go on, CLIENTS to how many clients have pinged, and AT to when that was, in us.
sum() {
	local lines begin=${EPOCHREALTIME/./}
	mapfile -t lines </proc/krping_runs
	AT=$(((begin + ${EPOCHREALTIME/./}) / 2))
	read -r SUM CLIENTS < <(printf '%s\n' "${lines[@]}" | awk '/ role=client / && !/ phase=- / {
		match($0, / iters=[0-9]+/); n = substr($0, RSTART + 7, RLENGTH - 7); s += n; if (n + 0 > 0) c++ } END { printf "%d %d\n", s, c }')
}
all_ping() { sum && [ "$CLIENTS" -ge "$1" ]; }

# begin COUNT: starts so many pairs, and waits until all of them ping.
begin() {
	background many "$krwrite" --many ping $((2 * $1)) "$ADDR" 12000
	until_ok 600 all_ping "$1" || broken "$1 runs do not begin: $(cat "$T/many.err")"
}
end() {
	end_of many KILL
	until_ok 60 no_live_runs || broken "runs are left"
}

# --- memory ---
read -r _ size _ _ _ base _ < <(grep '^rdma_krping ' /proc/modules)
printf -v last '0x%x' $((base + size))
probe=krping_bench
kinds=(kv:kvmalloc_node pages:alloc_pages_exact)
for k in "${kinds[@]}"; do
	# The return address is on the stack's top where a function begins.
	echo "p:${probe}_${k%%:*} ${k#*:} size=%di:u64 caller=+0(%sp):u64" >>$TRACING/kprobe_events || broken "${k#*:} cannot be probed"
	echo "hist:keys=size if caller >= $base && caller < $last" >"$TRACING/events/kprobes/${probe}_${k%%:*}/trigger"
done
echo "hist:keys=bytes_alloc if call_site >= $base && call_site < $last" >$TRACING/events/kmem/kmalloc/trigger
# bytes FOLDER KEY: prints the bytes that its histogram has counted.
bytes() {
	sed -nE "s/.* $2: +([0-9]+) .* hitcount: +([0-9]+).*/\\1 \\2/p" "$TRACING/events/$1/hist" |
		awk '{ r = 8; while (r < $1) r *= 2; s += r * $2 } END { printf "%d\n", s }'
}
# sizes FOLDER KEY: prints how often which size was allocated.
sizes() { sed -nE "s/.* $2: +([0-9]+) .* hitcount: +([0-9]+).*/\\2*\\1/p" "$TRACING/events/$1/hist" | sort -t'*' -k2n | xargs; }
few=16
begin $few
diag "memory of $((2 * few)) ends, times*bytes: kmalloc $(sizes kmem/kmalloc bytes_alloc); kvmalloc $(sizes kprobes/${probe}_kv size); buffers $(sizes kprobes/${probe}_pages size)"
own=$(($(bytes kmem/kmalloc bytes_alloc) + $(bytes kprobes/${probe}_kv size)))
echo "memory $((2 * few)) $own $(bytes kprobes/${probe}_pages size)"
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
		sum
		was=$SUM since=$AT
		nap "$window"
		sum
		echo "rate $count $r $(awk -v n=$((SUM - was)) -v us=$((AT - since)) 'BEGIN { printf "%.1f", n * 1e6 / us }')"
		end
	done
done
