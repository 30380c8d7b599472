# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
#
# Helpers for tests of test=block, which source this file behind lib.sh.

DISK=/dev/krping0
modprobe -a ext4 crc32c_generic

# no_disk: the disk is gone. disk OPTIONS [OPTION]...: makes a client, and waits for its disk.
no_disk() { [ ! -e $DISK ]; }
disk() {
	start client "client,addr=${KRPING_PEER:-$ADDR},port=$PORT,test=block$1" "${@:2}"
	until_ok 20 test -b $DISK
}
# window OPTIONS: makes a server; child: sets SRV to its run of that client, which is over.
window() { serve ",test=block,persistent$1"; }
no_children() { ! grep -qE "^id=[0-9]+ parent=$P .* state=(IDLE|CONNECT|ADDR_RESOLVED|ROUTE_RESOLVED|CONNECTED|RDMA_[A-Z_]*) " /proc/krping_runs; }
child() {
	until_ok 20 no_children
	SRV=$(grep " parent=$P peer_run=$(field id "$CLI") " /proc/krping_runs)
}
# ends WHAT: interrupts the client, whose disk goes: both ends are good. CLI and SRV are their results.
ends() {
	interrupt client
	CLI=$LINE
	child
	pair_is "state errno reason" "DONE 0 " "$1"
	ok "$1: the disk is gone" no_disk
}
# requests: sets N to how many requests the kernel says that the disk has completed.
requests() {
	local r w d _
	read -r r _ _ _ w _ _ _ _ _ _ d _ </sys/block/krping0/stat
	N=$((r + w + d))
}
# verified WHAT SECONDS FIO-OPTION...: fio writes the disk, and reads what it has written.
verified() {
	limited "$2" fio --filename=$DISK --direct=1 --ioengine=libaio --rw=randwrite --iomem_align=512 --verify=crc32c \
		--verify_backlog=100 --verify_fatal=1 --verify_state_save=0 "${@:3}" >"$T/fio" 2>&1
	is $? 0 "$1: fio reads what it has written" || diag "$(tail -n 5 "$T/fio")"
}
# sums: prints the checksum of each file that is mounted. filled WHAT [MB]: mounts the disk, fills it with files, also one of so many MB,
# keeps their sums in $T/sums, and unmounts it.
sums() { (cd "$T/mnt" && find . -type f -print0 | sort -z | xargs -0 md5sum); }
mkdir "$T/mnt"
filled() {
	ok "$1: mounted" mount $DISK "$T/mnt"
	cp -r "$here" "$T/mnt"
	head -c "${2:-0}M" /dev/urandom >"$T/mnt/random"
	sums >"$T/sums"
	ok "$1: it has files" test "$(wc -l <"$T/sums")" -gt 50
	ok "$1: unmounted" limited 60 umount "$T/mnt"
}
