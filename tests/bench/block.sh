#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the VM: krping's disk beside others, whose servers are in this VM, too: nvme-rdma with nvmet over brd, and nbd with nbdkit's
# memory. fio keeps DEPTH requests in flight at a disk without end, at random places if they have 4 KiB; two looks at the disk's own
# counters, SECONDS apart, tell the time of a request, so that fio's start is in no figure. Prints pairs for table.pl, of rows
# OTHER/OPERATION-KIB-DEPTH; the word for what was done is what fio was told. blk-mq may merge requests that a disk has no room for yet,
# so requests are counted by their bytes.
#
#   block.sh PAIRS SECONDS

# shellcheck source=tests/bench/others.sh
. "$(dirname "$0")/others.sh"
pairs=$1 seconds=$2
MB=64
target=/sys/kernel/config/nvmet
FIO=(fio --name=bench --thread --ioengine=libaio --direct=1 --size="${MB}M" --time_based --runtime=6000 --gtod_reduce=1 --norandommap
	--scramble_buffers=0)

# has_disk WHO DISK: waits for it, and writes all of it: brd and nbdkit have no memory for what was never written.
has_disk() {
	until_ok 60 is_disk "$2" || broken "$1 has no disk"
	dd if=/dev/zero of="/dev/$2" bs=1M count=$MB oflag=direct 2>"$T/dd" || broken "$1: $(cat "$T/dd")"
}
is_disk() { [ -b "/dev/$1" ] && [ "$(<"/sys/block/$1/size")" -gt 0 ]; }

# on OTHER, off OTHER: makes its disk THEIRS, and ends it. "inline" is nvmet's default: it takes WRITEs of up to 16 KiB within the request's
# message. A device has the size of its first port for all of its ports, so there is one port.
on() {
	case $1 in
	nbd)
		THEIRS=nbd0
		background nbdkit nbdkit -f -p 10809 memory ${MB}M
		until_ok 60 tcp_listens 10809
		nbd-client -C 2 "$ADDR" 10809 /dev/$THEIRS >/dev/null
		;;
	*)
		THEIRS=nvme0n1
		{ [ "$1" = inline ] && echo -1 || echo 0; } >$target/ports/1/param_inline_data_size
		ln -s $target/subsystems/krping $target/ports/1/subsystems/
		nvme connect -t rdma -a "$ADDR" -s 4420 -n krping -i 2 -Q 64
		;;
	esac || broken "$1 does not connect"
	has_disk "$1" $THEIRS
}
off() {
	case $1 in
	nbd) nbd-client -d /dev/$THEIRS >/dev/null && end_of nbdkit TERM ;;
	*) nvme disconnect -n krping >/dev/null && rm $target/ports/1/subsystems/krping ;;
	esac || broken "$1 does not end"
}

# look DISK [SECTORS]: sets US, and SECTORS to how many it has read and written; succeeds if they are as many.
look() {
	local stat
	read -ra stat <"/sys/block/$1/stat"
	US=${EPOCHREALTIME/./} SECTORS=$((stat[2] + stat[6]))
	[ "$SECTORS" -ge "${2:-0}" ]
}

# load DISK OPERATION KIB DEPTH: sets NS and DID.
load() {
	local us sectors rand=''
	[ "$3" != 4 ] || rand=rand
	look "$1"
	background fio "${FIO[@]}" --filename="/dev/$1" --rw=$rand"$2" --bs="$3"k --iodepth="$4"
	# The first requests are twice as many as may be in flight.
	until_ok 60 look "$1" $((SECTORS + 4 * $3 * $4)) || broken "fio moves nothing: $(cat "$T"/fio.{out,err})"
	us=$US sectors=$SECTORS
	nap "$seconds"
	{ look "$1" $((sectors + 1)) && ! gone "${PIDS[fio]}"; } || broken "$1 moves nothing: $(cat "$T"/fio.{out,err})"
	end_of fio KILL
	NS=$(((US - us) * 2000 * $3 / (SECTORS - sectors))) DID="$2*$3k*$4"
}
ours() { load krping0 "$@"; }
theirs() { load "$THEIRS" "$@"; }

{
	modprobe brd rd_nr=1 rd_size=$((MB * 1024)) && modprobe nvme_core multipath=N && modprobe -a nvmet-rdma nvme-rdma nbd &&
		mount -t configfs configfs /sys/kernel/config && mkdir -p $target/{subsystems/krping/namespaces,ports}/1
} || broken "there is no nvmet"
for o in subsystems/krping/{attr_allow_any_host=1,namespaces/1/device_path=/dev/ram0,namespaces/1/enable=1} \
	ports/1/addr_{trtype=rdma,adrfam=ipv4,traddr="$ADDR",trsvcid=4420}; do
	echo -n "${o#*=}" >"$target/${o%%=*}" || broken "nvmet: $o"
done

options=",addr=$ADDR,port=$PORT,test=block"
diag "ours   server$options,window=${MB}M | client$options,queues=2,depth=64, beside nvme with in_capsule=0"
diag "theirs nvme connect -t rdma -a $ADDR -s 4420 -n krping -i 2 -Q 64, or nbd-client -C 2 $ADDR 10809 /dev/nbd0"
diag "load   ${FIO[*]}"
for other in nvme inline nbd; do
	server server "server$options,window=${MB}M"
	start client "client$options,queues=2,depth=64$([ $other != nvme ] || echo ,in_capsule=0)"
	has_disk krping krping0
	on $other
	for row in read-4-1 write-4-1 read-4-32 write-4-32 read-128-8 write-128-8; do
		# shellcheck disable=SC2086 # words
		[[ $other == inline && $row != write-4-* ]] || pairs_of $other/$row "$pairs" ${row//-/ }
	done
	off $other
	end_of client TERM
	end_of server
done
