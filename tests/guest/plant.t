#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The alarms of this kernel go off, and the gate sees them: tests/plant/krping_plant.c commits one bug after another,
# and the gate has to find each of them by name in the kernel's log.
#
# This test has a boot of its own, and is its last test: lockdep and others report once and are off from then on, and
# the kernel is tainted. The marks in the kernel's log hide the bugs from the gate at the end of the boot.

. "$(dirname "$0")/lib.sh"
ko=${KRPING_PLANT:?}
gate=$here/../vm/gate/judge.pl
. "$here/kmemleak.sh"

config=${KRPING_CONFIG:-/boot/config-$(uname -r)}
if [ -e /proc/config.gz ]; then
	zcat /proc/config.gz >"$T/config"
else
	cp "$config" "$T/config"
fi

# NAME, the option that finds the bug and that this kernel must have ("-": any kernel), and what the gate has to show of
# it. The order matters: the first report of lockdep is its last, and reports of KASAN turn lockdep off, too.
plants='
rcu	PROVE_RCU	suspicious RCU usage
sleep	DEBUG_ATOMIC_SLEEP	BUG: sleeping function called from invalid context at .*krping_plant
lock	PROVE_LOCKING	possible circular locking
object	DEBUG_OBJECTS_FREE	ODEBUG: free active .* timer_list
warn	-	WARNING: .*krping_plant
bounds	UBSAN_BOUNDS	UBSAN: array-index-out-of-bounds in .*krping_plant
shift	UBSAN_SHIFT	UBSAN: shift-out-of-bounds in .*krping_plant
uaf	KASAN	KASAN: slab-use-after-free in plant_(uaf|read).*krping_plant
oob	KASAN	KASAN: slab-out-of-bounds in plant_(oob|read).*krping_plant
leak	DEBUG_KMEMLEAK	kmemleak: [0-9]+ new suspected memory leaks
'

# commit NAME: commits the bug; what the kernel prints about it goes into $T/NAME.log.
commit() {
	echo "krping-test: planted $1 begin" >/dev/kmsg
	if [ "$1" = leak ]; then
		plant_leaks "$ko" && leaks_found "$T/leaks"
	else
		insmod "$ko" "plant=$1"
	fi
	rmmod krping_plant
	echo "krping-test: planted $1 end" >/dev/kmsg
	dmesg | awk -v name="$1" '$0 ~ "krping-test: planted " name " begin" { on = 1; next }
		$0 ~ "krping-test: planted " name " end" { exit } on' >"$T/$1.log"
	grep -q "krping_plant: $1\$" "$T/$1.log"
}

ok "a module without a bug" commit none
ok "the gate has nothing against it" "$gate" "$T/none.log"
[ ! -e $KMEMLEAK ] || echo clear >$KMEMLEAK

n=0
while IFS=$'\t' read -r name option regex <&3; do
	[ -n "$name" ] || continue
	n=$((n + 1))
	[ "$option" = - ] || ok "$name: the kernel has CONFIG_$option" grep -q "^CONFIG_$option=y\$" "$T/config" || continue
	ok "$name: committed" commit "$name" || diag "$(dmesg | tail -3)"
	said=$("$gate" "$T/$name.log")
	is $? 1 "$name: the gate closes"
	like "$said" "^ours .*$regex" "$name: the gate calls the bug ours, and names it" || diag "$(head -40 "$T/$name.log")"
	[ "$name" != leak ] || like "$("$gate" --leaks "$T/leaks" "$(uname -r)")" 'ours [0-9]+ [^#]*comm "insmod"' "leak: the record is ours"
done 3<<<"$plants"
ok "there were bugs to commit: $n" test $n -ge 2

# The gate at the end of this boot must see none of it.
dmesg >"$T/all"
ok "the gate opens for what was marked" "$gate" "$T/all" || diag "$("$gate" "$T/all" | head)"
done_testing
