#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The memory of runs on a device that does not see what the CPU sees: tests/plant/krping_bounce.c gives each mapping a copy of its
# own, so that pings bring back other data if memory is not mapped, or not given to the device or to the CPU in time. It counts
# calls that do not belong to a mapping, syncs of what was synced already, and mappings that are left; and it makes mappings fail.

. "$(dirname "$0")/lib.sh"

P=/sys/module/krping_bounce/parameters
ok "the device has memory of its own" insmod "$PLANTS/krping_bounce.ko"

# balanced WHAT: asserts that all mappings are gone, and that no call was wrong; its line in the kernel's log says why.
balanced() {
	is "$(cat $P/mapped) $(cat $P/wrong)" "0 0" "$1: no mapping is left, and no call was wrong" || diag "$(dmesg | grep krping_bounce | tail -3)"
}

rows='validate validate,size=300000,offset=13 validate,chain,server_inv validate,srq validate,random_size,size=65536
	validate,local_dma_lkey validate,read_inv validate,poll_ctx=softirq test=fr test=wlat,size=5000 test=wlat,size=200000
	test=rlat test=wlat,inline_size=64,size=64 test=bw,txdepth=8,size=8192 test=fast,srq'
for options in $rows; do
	options=,$options
	# Messages of both ends, and a buffer, or one of either end.
	[ "$options" = ,test=fr ] && least=3 || least=4
	made=$(cat $P/made)
	# A server that looks at the data has no chains.
	ping_pair "${options/,validate,chain/,chain}" "$options,count=11"
	line_is "state errno" "DONE 0" "$options: server" "$SRV"
	line_is "state errno" "DONE 0" "$options: client" "$CLI"
	ok "$options: its memory is mapped" test "$(cat $P/made)" -ge $((made + least))
	balanced "$options"
done

# The accesses of test=protect are judged by what is in the memory.
for name in read write send_inv reg read_past_end write_no_right source_past_end sink_other_pd read_other_pd; do
	ping_pair ,test=protect ",test=protect,case=$name"
	pair_is "state errno" "DONE 0" "protect $name"
	balanced "protect $name"
done

# Memory of a request is mapped for as long as that is in flight. A mapping that fails is tried again.
. "$here/lib-disk.sh"
head -c 512K /dev/urandom >"$T/data"
server server "server,addr=$ADDR,port=$PORT,test=block,window=512K"
disk ,depth=4
mapped=$(cat $P/mapped)
echo 3 >$P/fail
ok "a disk is written" dd if="$T/data" of=$DISK bs=64K oflag=direct status=none
ok "the third mapping has failed" test "$(cat $P/fail)" = 0
ok "zeroes" blkdiscard -z -o 131072 -l 131072 $DISK
dd if=/dev/zero of="$T/data" bs=64K seek=2 count=2 conv=notrunc status=none
is "$(dd if=$DISK bs=24K iflag=direct status=none | cmp - "$T/data" 2>&1)" '' "and read"
is "$(cat $P/mapped) $(cat $P/wrong)" "$mapped 0" "a disk: no request has left a mapping"
# A request for which there never is a mapping ends with its run.
sleeps() { [[ $(<"/proc/${PIDS[$1]}/stat") == *') D '* ]]; }
echo Y >$P/full
background dd perl -we 'sysopen my $f, $ARGV[0], 040002 or die "open: $!";
	my $buf = "\0" x 8192;
	my $at = unpack("Q", pack "P", $buf) + 4095 & ~4095;
	open my $opened, ">", $ARGV[1];
	close $opened;
	syscall(1, fileno $f, $at, 4096) == 4096 or die "write: $!"' $DISK "$T/opened"
until_ok 10 test -e "$T/opened"
until_ok 10 sleeps dd
kill -KILL "${PIDS[client]}"
finish_is client errno 4 "a request that cannot be mapped: the run ends"
tool_end dd
like "$(cat "$T/dd.err")" '^write: Input/output error' "and the request with it"
echo N >$P/full
finish server
balanced "a disk"

# Each mapping of both ends, whichever makes it, fails once. A server does not hear of a client that has not come.
over() { gone "${PIDS[client]}" || [ -b $DISK ]; }
for options in ,count=1 ,count=1,srq ,test=block; do
	failed=0
	for ((n = 1; n <= 20; n++)); do
		echo $n >$P/fail
		server server "server,addr=$ADDR,port=$PORT${options/block/block,window=300K}"
		start client "client,addr=$ADDR,port=$PORT$options"
		[ $options != ,test=block ] || { until_ok 20 over && kill -INT "${PIDS[client]}"; } 2>/dev/null
		finish client
		CLI=$LINE
		[ "$(field errno)" != 12 ] || kill -INT "${PIDS[server]}"
		finish server
		[ "$(cat $P/fail)" = 0 ] || break
		failed=$n
		like "$(reason "$CLI") $(reason)" '(^| )(srq: )?mapping [a-z0-9 ]+: error -(12|ENOMEM)' "mapping $n$options fails: its end says so"
	done
	echo 0 >$P/fail
	ok "mappings$options: each of $failed has failed" test $failed -ge 5
	balanced "mappings that fail$options"
done
works_after "all that"
balanced "all that"
ok "the device is as before" rmmod krping_bounce
done_testing
