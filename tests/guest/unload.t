#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# rmmod: refused while somebody needs the module, works afterwards.

. "$(dirname "$0")/lib.sh"

# bpf_objects: counts the BPF programs, maps and links, without those that bpftool itself has to find out their owners.
bpf_objects() {
	local kind
	BPF=''
	for kind in prog map link; do BPF+=" $kind=$(bpftool $kind show | grep -v pid_iter | grep -cE '^[0-9]+: ')"; done
}
bpf_as_before() { bpf_objects; [ "$BPF" = "$bpf_before" ]; }
# bpf_left WHAT: asserts that no BPF object is left. The kernel frees them some time after their last user is gone.
bpf_left() {
	until_ok 30 bpf_as_before
	is "$BPF" "$bpf_before" "$1: no program, map or link is left"
}

KO=${KRPING_MODULE:?}
unload() { rmmod rdma_krping 2>"$T/rmmod"; }
reload() { insmod "$KO"; }

refused() {
	if unload; then
		fail "$1: rmmod is refused"
		reload
	else
		like "$(cat "$T/rmmod")" 'in use|Resource temporarily unavailable|busy' "$1: rmmod is refused"
	fi
}

works() {
	ok "$1: rmmod works" until_ok 10 unload || diag "$(cat "$T/rmmod")"
	ok "$1: the module is gone" test ! -e /sys/module/rdma_krping -a ! -e /proc/krping -a ! -e /proc/krperf
	ok "$1: insmod again" reload
}

works "idle"

server one "server,addr=$ADDR,port=$PORT"
refused "listening"
pinging two "client,addr=$ADDR,port=$PORT"
refused "pinging"
interrupt two
finish one
works "after a run"
works_after "reloaded"

# Events that are enabled in ftrace do not pin the module, and do not prevent rmmod.
echo 1 >/sys/kernel/tracing/events/krping/enable
works "ftrace listens"
echo 0 >/sys/kernel/tracing/events/krping/enable
ok "the events are back" test -d /sys/kernel/tracing/events/krping/krping_wait

# A tool attaches, and is then killed with KILL. Before that one of its links is pinned, to show that the test sees what
# a tool leaves behind.
bpf_objects
bpf_before=$BPF
attach_as tool krping-stages
refused "krping-stages is attached"
good_pair "while krping-stages watches" 5 ",count=5"
bpf_objects
for kind in prog map link; do
	was=${bpf_before#*$kind=} is=${BPF#*$kind=}
	ok "krping-stages has some of each: $kind, ${is%% *} and not ${was%% *}" test "${is%% *}" -gt "${was%% *}"
done
link=$(bpftool link show | sed -nE 's/^([0-9]+): .*/\1/p' | tail -1)
ok "one of its links is pinned" bpftool link pin id "$link" /sys/fs/bpf/leak
tool_end tool KILL
one_link() { bpf_objects && [ "${BPF#*link=}" = $((${bpf_before#*link=} + 1)) ]; }
ok "the pinned link is seen, alone" until_ok 5 one_link || diag "$(bpftool link show)"
refused "krping-stages was killed and has left a link"
rm /sys/fs/bpf/leak
bpf_left "krping-stages was killed with KILL"
works "krping-stages was killed with KILL"
works_after "reloaded once more"

# All cycles are alike; many of them test the endurance.
cycles=$(rounds 50 3)
for ((i = 0; i < cycles; i++)); do
	unload && reload || break
done
is $i "$cycles" "$cycles cycles of rmmod and insmod"
works_after "after them"
read -r head </proc/krping_runs
like "$head" 'evicted=0' "a fresh history"
done_testing
