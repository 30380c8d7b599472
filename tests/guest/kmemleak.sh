# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Reports leaked memory, and checks that kmemleak works: the same scan must find a leak of tests/plant/krping_plant.c,
# since a detector that has turned itself off (kmemleak does when it gets no memory) finds nothing either.

KMEMLEAK=/sys/kernel/debug/kmemleak

# leak_check: prints TAP without numbers. The marks in the kernel's log hide the planted leak from the gate.
leak_check() {
	local plant log k pid n i
	k=$(dirname "${BASH_SOURCE[0]}")/../..
	plant=$k/build/vm-${KRPING_KERNEL:-debug}/plant/krping_plant.ko
	log=$(mktemp)
	echo "krping-test: planted leak begin" >/dev/kmsg
	insmod "$plant" plant=leak &
	pid=$!
	wait $pid || echo "not ok - a leak is planted"
	# kmemleak does not suspect an object that is younger than 5 s. It measures the age in ticks, of which a guest on
	# a busy host loses some. The second scan no longer reports an object whose pointer was just being moved during
	# the first one.
	for ((i = 0; i < 10; i++)); do
		sleep 6
		if ! { echo scan && echo scan; } >$KMEMLEAK 2>/dev/null; then
			echo "not ok - kmemleak scans"
			dmesg | grep kmemleak | tail -n 2 | sed 's/^/# /'
			break
		fi
		cat $KMEMLEAK >"$log"
		[ "$(leaks_of "$log" planted $pid | grep -c '^unreferenced object')" -lt 8 ] || break
	done
	echo "krping-test: planted leak end" >/dev/kmsg
	# A stale pointer to one or two of the ten may be left somewhere, and hides these.
	n=$(leaks_of "$log" planted $pid | grep -c '^unreferenced object')
	if [ "$n" -ge 8 ]; then
		echo "ok - kmemleak finds most of the ten leaks that were planted: $n"
	else
		echo "not ok - kmemleak finds most of the ten leaks that were planted: $n"
	fi
	echo "# siw kept $(leaks_of "$log" siw $pid | grep -c '^unreferenced object') objects for connections that it never had"
	if [ "$(leaks_of "$log" others $pid | wc -l)" -eq 0 ]; then
		echo "ok - no other memory was leaked"
	else
		echo "not ok - no other memory was leaked: $(leaks_of "$log" others $pid | grep -c '^unreferenced object') objects"
		leaks_of "$log" others $pid | head -n 60 | sed 's/^/# /'
	fi
	# The next scan must not report these leaks again.
	echo clear >$KMEMLEAK
	rmmod krping_plant
	rm -f "$log"
}

# leaks_of FILE planted|siw|others PID: prints kmemleak's records that process PID made, those that are siw's own, or all
# others. The planted leak is found by its process, since the function that made it was in the module's init section and has
# no name any more. siw's own: if a peer connects and leaves before it has sent its MPA request (faults.t makes siw_connect()
# fail there), siw 6.1 to 7.3 keeps the endpoint and its work for ever, since siw_cm_work_handler() drops each reference but
# the first. Everything else that siw allocates for a connection is allocated elsewhere, and counts as a leak.
leaks_of() {
	awk -v want="$2" -v by="comm \"insmod\", pid $3," '
		function whose() {
			if (index(record, by)) return "planted"
			return record ~ /comm "kworker[^\n]*\n([^\n]*\n)*[^\n]*(siw_cep_alloc|siw_cm_alloc_work|siw_accept_newconn|siw_cm_work_handler)[^\n]*\[siw\]/ ? "siw" : "others"
		}
		function flush() { if (record != "" && whose() == want) printf "%s", record; record = "" }
		/^unreferenced object/ { flush() }
		{ record = record $0 "\n" }
		END { flush() }' "$1"
}
