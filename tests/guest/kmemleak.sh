# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Looks for leaked memory with kmemleak, and plants leaks for it to find: kmemleak turns itself off when it gets no memory, and
# then finds nothing.

KMEMLEAK=/sys/kernel/debug/kmemleak

# plant_leaks FILE.ko: leaks ten objects (tests/plant/krping_plant.c), and sets LEAKER to the process that did. The function that
# allocates is in the module's init section and has no name afterwards, so the process identifies the records.
plant_leaks() { LEAKER=$(sh -c 'echo $$ && exec insmod "$1" plant=leak' sh "$1"); }

# leaks_found FILE: scans until kmemleak finds a planted leak, one minute at most, and writes its records into FILE. Whatever leaked
# before is older, and found by then.
#
# One of the ten is enough. A stale pointer to an object, on a stack that was kept for the next task, hides the object from a
# scan. At worst 3 of 10 were hidden: if each object is with p = 0.3, all are in 0.3^10 = 6e-6 of the scans.
leaks_found() {
	local i
	for ((i = 0; i < 10; i++)); do
		# kmemleak does not suspect an object that is younger than 5 s. It counts ticks, of which a guest on a busy host loses
		# some. The second scan drops what the first one suspected because the pointer was just being moved.
		sleep 6
		{ echo scan && echo scan; } >$KMEMLEAK 2>/dev/null || return
		cat $KMEMLEAK >"$1"
		! grep -q "comm \"insmod\", pid $LEAKER," "$1" || return 0
	done
	return 1
}

# leak_check: prints TAP without numbers. The module has to be unloaded: what it has not freed by then, it never will.
leak_check() {
	local top records said rc=0 not='not '
	top=$(dirname "${BASH_SOURCE[0]}")/../..
	records=$(mktemp)
	# The marks hide from the gate that kmemleak has found something, since the records are judged here. Other reports count.
	echo "krping-test: scanning begin" >/dev/kmsg
	plant_leaks "$top/build/vm-${KRPING_KERNEL:-debug}/plant/krping_plant.ko" && leaks_found "$records"
	echo "krping-test: scanning end" >/dev/kmsg
	said=$("$top/tests/vm/gate/judge.pl" --leaks "$records" "$(uname -r)" "$LEAKER") || rc=$?
	if grep -q '^planted ' <<<"$said"; then
		echo "ok - kmemleak finds a leak that was planted"
	else
		echo "not ok - kmemleak finds a leak that was planted"
		dmesg | grep kmemleak | tail -n 2 | sed 's/^/# /'
	fi
	[ $rc -ne 0 ] && [ $rc -ne 3 ] || not=''
	echo "${not}ok - the module has leaked nothing"
	grep -v '^planted ' <<<"$said" | head -n 120 | sed 's/^/# /'
	# The next scan must not report these leaks again.
	echo clear >$KMEMLEAK
	rmmod krping_plant
	rm -f "$records"
}
