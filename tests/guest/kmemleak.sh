# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What memory was leaked, and whether kmemleak would have said so: it is shown a leak of tests/plant/krping_plant.c in the
# same scan, since a detector that has turned itself off (it does where it gets no memory) also finds nothing.

KMEMLEAK=/sys/kernel/debug/kmemleak

# leak_check: TAP without numbers. The marks in the kernel's log keep the planted leak from the gate.
leak_check() {
	local plant log k pid n i
	k=$(dirname "${BASH_SOURCE[0]}")/../..
	plant=$k/build/vm-${KRPING_KERNEL:-debug}/plant/krping_plant.ko
	log=$(mktemp)
	echo "krping-test: planted leak begin" >/dev/kmsg
	insmod "$plant" plant=leak &
	pid=$!
	wait $pid || echo "not ok - a leak is planted"
	# What is younger than 5 s is not yet suspected, by a clock of ticks, of which a busy host loses some. The second scan is rid of
	# what was on its way.
	for ((i = 0; i < 10; i++)); do
		sleep 6
		if ! { echo scan && echo scan; } >$KMEMLEAK 2>/dev/null; then
			echo "not ok - kmemleak scans"
			dmesg | grep kmemleak | tail -n 2 | sed 's/^/# /'
			break
		fi
		cat $KMEMLEAK >"$log"
		[ "$(leaks_of "$log" planted $pid | grep -c '^unreferenced object')" -lt 5 ] || break
	done
	echo "krping-test: planted leak end" >/dev/kmsg
	# Of some of the ten a stale pointer may be left somewhere.
	n=$(leaks_of "$log" planted $pid | grep -c '^unreferenced object')
	if [ "$n" -ge 5 ]; then
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
	# Told once, the next scan is not to tell of it again.
	echo clear >$KMEMLEAK
	rmmod krping_plant
	rm -f "$log"
}

# leaks_of FILE planted|siw|others PID: those of kmemleak's records that this process made; those that are siw's own; all the others. The
# function that made the planted one has no name any more: it was of the module's init section. siw's own: of a peer that
# connects and leaves before it has said what it wants (an MPA request; faults.t has siw_connect() fail there) siw 6.1 to 7.3 keeps
# the endpoint, and its work, for ever: siw_cm_work_handler() drops each reference but the first. What else siw allocates for
# a connection is not allocated there, and counts.
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
