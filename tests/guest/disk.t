#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# test=block, what takes long: half a million requests, each of which is counted once by whoever counts; file systems with checksums of
# their own, which another client reads; a CPU that goes off and on; and memory that is written back because of a limit.

. "$(dirname "$0")/lib.sh"
. "$here/lib-disk.sh"
modprobe -a xfs btrfs

# --- many requests, of random sizes and at random offsets, of four jobs with other depths ---
loops=$(rounds 13 1)
# The events are counted for each run; and again those of a request whose data the capsule has, by two keys, which tells the lines apart.
TRIGGERS='issue hist:keys=run
done hist:keys=run
issue hist:keys=run,op if op == 2 && pages == 1 && len <= 4096'
# triggers PREFIX: sets them, or removes them; hits EVENT LINE [KEYS]: prints how often the run of that line had the event.
triggers() { while read -r e t; do echo "$1$t" >>$TRACING/events/krping/krping_block_$e/trigger; done <<<"$TRIGGERS"; }
hits() { sed -n "s/^{ run: *$(field id "$2")${3-} } hitcount: *//p" $TRACING/events/krping/krping_block_$1/hist; }
window ,window=64M
disk ,queues=2,in_capsule=4096
triggers ''
SPLITS=$TRACING/events/block/block_split
echo "hist:keys=dev if dev == $((0x$(stat -c %t $DISK) << 20 | 0x$(stat -c %T $DISK)))" >$SPLITS/trigger
# Through a pipe, since of files blkparse prints the names among the events. The kernel begins with a note of the time: when that has come,
# nothing is missed any more.
background blktrace blktrace -d $DISK -a complete -b 2048 -n 8 -o -
until_ok 20 test -s "$T/blktrace.out"
# One request alone, since a run's first event makes its counter: what another CPU counts meanwhile may be dropped (tracing_map_insert()).
ok "the first request" dd if=/dev/zero of=$DISK bs=512 count=1 oflag=direct status=none
verified "many requests" $((400 * loops)) --size=16M --bsrange=512-9k --loops="$loops" --name=a --iodepth=1 --name=b --iodepth=7 --offset=16M \
	--name=c --iodepth=32 --offset=32M --name=d --iodepth=64 --offset=48M
requests
diag "$N requests in $SECONDS s"
# A request ends at each 256 KiB of the disk (chunk_sectors), so some of fio's become two.
splits=$(sed -n 's/.* hitcount: *//p' $SPLITS/hist)
: >$SPLITS/trigger
read -r _ merged _ _ _ more _ </sys/block/krping0/stat
fio=$(($(sed -n 's/^ *issued rwts: total=\([0-9]*\),\([0-9]*\),.*/+\1+\2/p' "$T/fio")))
is "$((1 + fio + splits - merged - more))" "$N" "fio has asked for as many: $fio, of which $splits were split and $((merged + more)) merged"
ok "there were $((loops * 38000)) of them, or more" test "$N" -ge $((loops * 38000)) || diag "$N"
tool_ok "blktrace has dropped nothing" blktrace TERM
is "$(blkparse -q -M -f '%a\n' -i - <"$T/blktrace.out" | sort | uniq -c | xargs)" "$N C" "blktrace has them all, and nothing else"
rm "$T/blktrace.out"
ends "many requests"
for e in "issue" "done"; do
	is "$(hits $e "$CLI") $(hits $e "$SRV")" "$N $N" "so has krping_block_$e, of either" ||
		diag "$(grep -v '^$' $TRACING/events/krping/krping_block_$e/hist)"
done
keys=$((N - $(hits issue "$CLI" ', op: *2')))
line_is "iters fastreg reminv moved_bytes" "$N $keys $keys $((512 + (loops * 4 * 2 * 16 << 20)))" "so has the client, which had a key for what no capsule had" "$CLI"
line_is iters "$N" "so has the server" "$SRV"
triggers '!'
interrupt server

# --- file systems, and another client that looks at them ---
while read -r fs check; do
	window ,window=320M
	disk ,queues=2
	ok "$fs is made" "mkfs.$fs" -q $DISK
	filled "$fs" "$(rounds 100 4)"
	ends "$fs: the client that wrote it"
	disk ,local_inv
	ok "$fs: $check" $check $DISK
	ok "$fs: another client: mount" mount $DISK "$T/mnt"
	is "$(sums | cmp - "$T/sums" 2>&1)" '' "$fs: another client: the same files"
	[ "$fs" != btrfs ] || like "$(btrfs scrub start -B "$T/mnt" 2>&1)" 'Error summary: *no errors found' "btrfs: its own checksums are right"
	ok "$fs: another client: umount" limited 60 umount "$T/mnt"
	ends "$fs: another client"
	interrupt server
done <<'END'
xfs xfs_repair -n
btrfs btrfs check
END

# --- a CPU goes off and on while the disk is written and read ---
CPU=/sys/devices/system/cpu/cpu1/online
window ,window=16M
disk ,queues=2
background cpu bash -c 'for _ in 1 2 3 4 5; do echo 0 >$0 && sleep 1 && echo 1 >$0 && sleep 1 || exit; done' $CPU
until gone "${PIDS[cpu]}"; do
	verified "a CPU goes off" 200 --bsrange=512-9k --name=v --iodepth=32
	requests
	diag "$N requests"
done
tool_ends "it went off and on five times" cpu
ends "a CPU goes off"
interrupt server

# --- a group with a limit of memory writes a file that is larger ---
GROUP=/sys/fs/cgroup/krping
window ,window=96M
disk ,queues=2
mkfs.ext4 -q $DISK && mount $DISK "$T/mnt"
ok "a group with a limit" eval 'echo +memory >/sys/fs/cgroup/cgroup.subtree_control && mkdir $GROUP && echo 16M >$GROUP/memory.max'
# shellcheck disable=SC2016 # by another shell
sum=$(limited 300 bash -c 'echo $$ >$0/cgroup.procs && head -c 64M /dev/urandom | tee "$1" | md5sum && sync "$1"' $GROUP "$T/mnt/file")
ok "its file is written" test -n "$sum"
ok "the limit was reached" grep '^max [1-9]' $GROUP/memory.events
ok "umount" limited 60 umount "$T/mnt"
mount $DISK "$T/mnt"
is "$(md5sum <"$T/mnt/file")" "$sum" "its bytes"
ok "umount again" limited 60 umount "$T/mnt"
ok "the group is empty" rmdir $GROUP
ends "a group with a limit"
interrupt server

# --- runs that end while requests are in flight, and clients one behind another, of which none meets the one before ---
window ,window=64M
for _ in $(seq "$(rounds 5 1)"); do
	disk ",timeout=${SLOW}s"
	background fio fio --name=w --filename=$DISK --direct=1 --ioengine=libaio --iodepth=32 --rw=randrw --bs=4k --time_based --runtime=600
	finish_is client "state errno reason" "DONE 0 " "timeout= while the disk is written"
	tool_end fio
done
CLI=$LINE
child
for _ in $(seq "$(rounds 20 5)"); do
	disk ''
	interrupt_is client "state errno reason" "DONE 0 " "a client that follows another one"
done
interrupt server
done_testing "all that"
