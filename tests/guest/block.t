#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# test=block: what is written to the disk is read again, each request is counted once by whoever counts, and whatever ends the disk ends
# what is in flight, in a time that is bounded.

. "$(dirname "$0")/lib.sh"

. "$here/lib-disk.sh"

# counted WHAT INV [IN_CAPSULE]: the disk's own count of requests is that of both runs and of the events; each that moves data has a key,
# which is invalidated as INV says, unless the capsule has them, and each answer of a write with a key comes behind its READ.
counted() {
	local what=$1 n keys events
	requests
	n=$N ALL=$((ALL + N))
	ends "$what"
	trace_end "$what"
	read -r keys events <<<"$(trace_perl '
		my ($file, $in_capsule, %name) = @ARGV;
		my (%n, %open, %keyed, @bad, $keys, $read, $written);
		open my $f, "<", $file or die $file;
		while (<$f>) {
			$read += exists $name{$1} if /krping_wc: run=(\d+) .* kind=READ /;
			next unless /krping_block_(issue|done): run=(\d+) .*queue=(\d+) (tag=\d+) (op=(\w+) at=\d+ len=(\d+))(?: pages=(\d+))?/ && $name{$2};
			my ($tag, $is) = ("$2 $3 $4", "$3 $4 $5");
			$keys += $keyed{"$3 $4"} = $8 && !($6 eq "write" && $7 <= $in_capsule && $8 == 1) if "$name{$2} $1" eq "client issue";
			$n{"$name{$2} $1"}++;
			push @bad, "$1 $tag $is" if ($1 eq "done") != ((delete($open{$tag}) // "") eq $is);
			$open{$tag} = $is if $1 eq "issue";
			push @bad, "answered before its READ: $is" if $name{$2} eq "server" && $1 eq "done" && $6 eq "write" && $keyed{"$3 $4"} && ++$written > $read;
		}
		print "$keys ", join(" ", map { $n{$_} // 0 } "client issue", "client done", "server issue", "server done"), " ", scalar(%open), " @bad[0 .. 2]"' \
		"$T/trace" "${3-4096}" "$(field id "$CLI")" client "$(field id "$SRV")" server)"
	is "$events" "$n $n $n $n 0" "$what: krping_block_issue and _done: each request once, under a tag of its own"
	line_is "iters fastreg $2" "$n $keys $keys" "$what: requests of the client, and keys that were invalidated" "$CLI"
	line_is iters "$n" "$what: requests of the server" "$SRV"
}

# --- data, of random sizes and at random offsets, from buffers that begin within a page ---
ALL=0
while read -r queues inv sector depth bytes in_capsule server client; do
	what="queues=$queues,$inv,sector=$sector$server$client"
	window ",window=13M${server#-}"
	trace_on krping_block_issue krping_block_done krping_wc
	disk ",queues=$queues,sector=$sector,depth=$depth,in_capsule=$in_capsule${client#-}"
	verified "$what" 150 --name=v --iodepth="$depth" --bsrange="$bytes"
	counted "$what" "$([ "$inv" = local_inv ] && echo localinv || echo reminv)" "$in_capsule"
	interrupt server
done <<'END'
1	server_inv	512	32	512-9k	4096	-	-
2	local_inv	4096	7	4k-12k	4096	-	,local_inv
2	server_inv	512	64	512-9k	0	,local_dma_lkey,poll_ctx=workqueue	,poll_ctx=workqueue
1	local_inv	512	1	512-256k	1000	-	,local_inv,poll_ctx=workqueue
END

ok "20000 requests in all" test $ALL -ge 20000 || diag "$ALL"

# --- a buffer of pieces between which there are gaps in the pages; and what moves no data ---
window ,window=1M
trace_on krping_block_issue krping_block_done krping_wc
disk ,sector=512
tr '\0' x </dev/zero | dd of=$DISK bs=64K count=16 iflag=fullblock oflag=direct status=none
ok "one READ brings back what three WRITEs took, from parts of pages" perl -we 'sysopen my $f, $ARGV[0], 040002 or die $!;
	my $buf = "\0" x 65536;
	my ($at, $text) = (-unpack("Q", pack "P", $buf) & 4095, join "", map { chr($_) x 512 } 65 .. 78);
	sub vectors {
		my ($call, @v) = @_;
		my $iov = join "", map { pack "QQ", unpack("Q", pack "P", $buf) + $at + $_->[0], $_->[1] } @v;
		syscall($call, fileno $f, $iov, scalar @v, 65536, 0) == 7168 or die "system call $call: $!";
	}
	substr $buf, $at + $$_[0], $$_[1], substr $text, $$_[2], $$_[1] for [512, 512, 0], [5120, 2560, 512], [8704, 4096, 3072];
	vectors(296, [512, 512], [5120, 2560], [8704, 4096]);
	vectors(295, [18432, 2048], [24576, 4096], [32768, 1024]);
	join("", map { substr $buf, $at + $$_[0], $$_[1] } [18432, 2048], [24576, 4096], [32768, 1024]) eq $text or die "other bytes"' $DISK
read -r r _ _ _ w _ </sys/block/krping0/stat
is "$r $w" "1 19" "no request has a gap in its pages"
for how in "blkdiscard -o 4096 -l 8192" "blkdiscard -z -o 131072 -l 655360" "fallocate -z -o 917504 -l 4608" "fallocate -p -o 1048064 -l 512"; do
	# shellcheck disable=SC2086 # words
	ok "$how" $how $DISK
done
perl -we 'my $d = "x" x 1048576; substr $d, 65536, 7168, join "", map { chr($_) x 512 } 65 .. 78;
	substr $d, $$_[0], $$_[1], "\0" x $$_[1] for [4096, 8192], [131072, 655360], [917504, 4608], [1048064, 512]; print $d' >"$T/wanted"
dd if=$DISK of="$T/read" bs=64K iflag=direct status=none
ok "there are zeroes, and nowhere else" cmp "$T/wanted" "$T/read"
counted "zeroes" reminv
interrupt server

# --- the tools: a request is what they show, and not the time between the ends of two ---
# shown FILTER TOOL: what jq makes of the client's run in the last object of this tool.
shown() { jq -r -s --argjson id "$(field id "$CLI")" ".[-1] | [.runs[]? | select(.run == \$id)][0] as \$run | $1" "$T/$2.out"; }
# reads_and_writes: of 16 KiB, which travel by the same work requests whatever the module does for small ones.
reads_and_writes() {
	limited 60 fio --name=t --filename=$DISK --direct=1 --ioengine=libaio --iodepth=8 --rw=randrw --bs=16k --size=1M >/dev/null
}
window ,window=1M
tool krping-top -j
tool krping-stages -j --slowest 3
attached krping-top krping-stages
disk ,queues=2
reads_and_writes
ends "the client that is watched"
tool_ok "krping-top ends with 0" krping-top INT
tool_ok "krping-stages ends with 0" krping-stages INT
line_is "iters lat_sum_ns lat_max_ns" "$(shown '$run | "\(.count) \(.sum_ns) \(.max_ns)"' krping-top)" "krping-top: how long the requests took" "$CLI"
is "$(shown '$run.requests | [.stages, .writes.stages | .peer.sum_ns] | add' krping-stages)" "$(field peer_host_ns "$CLI")" \
	"krping-stages: the time at the server is a stage"
is "$(shown '[.slow[] | .run == $id, .duration_ns <= '"$(field lat_max_ns "$CLI")"', .duration_ns == ([.parts[].ns] | add),
	(.parts | all(.phase | IN("request", "write request")))] | length, all' krping-stages | xargs)" "12 true" "krping-stages: the slowest requests, by their stages"
attach krping-mr -j
disk ''
reads_and_writes
ends "the client whose keys are watched"
tool_ok "krping-mr ends with 0" krping-mr INT
is "$(shown '([.costs[] | select(.pages < 64).done.count] | add), .invalidations[].done.count' krping-mr | xargs)" \
	"$(field fastreg "$CLI") $(field fastreg "$CLI")" "krping-mr: what the client's keys have cost, and the server's invalidations"
while read -r how answer; do
	attach_as krping-trace krping-trace ladder slowest -j
	disk ",queues=2${how#server_inv}"
	reads_and_writes
	ends "the client of the ladder, $how"
	tool_ok "krping-trace ends with 0" krping-trace INT
	like "$(shown '[.steps[] | "\(.side) \(.text | sub(" [0-9].*"; ""))"] | join(", ")' krping-trace)" \
		"^client (read, client map, client REG_MR, client SEND, server RECV, server WRITE|write, client map, client REG_MR, client SEND, server RECV, server READ, server READ done), server $answer\$" \
		"the ladder: of eight requests in flight the events of one, $how"
	is "$(shown '.total_ns == .slowest_ns, ([.steps[].message // empty] | sort | join(" "))' krping-trace | xargs)" "true 1 1 2 2" "and its messages, from when it began, $how"
done <<'END'
server_inv	SEND_WITH_INV, client RECV, client peer invalidated
,local_inv	SEND, client RECV, client LOCAL_INV, client LOCAL_INV done
END
interrupt server

# --- a file system, and another client that reads it ---
window ,window=32M,clients=2
disk ,queues=2
ok "ext4 is made" mkfs.ext4 -q $DISK
filled ext4
ends "the client that wrote a file system"
disk ,ro,local_inv
ok "another client: fsck" fsck.ext4 -fn $DISK
ok "another client: mount" mount -o ro $DISK "$T/mnt"
is "$(sums | cmp - "$T/sums" 2>&1)" '' "another client: the same files"
ok "another client: umount" limited 60 umount "$T/mnt"

# --- who may have the window ---
busy() { refused "$1" "client,addr=$ADDR,port=$PORT,test=block$2" "EBUSY the server's window is another client's"; }
# beside WHAT OPTIONS: a second client, beside that of $DISK.
beside() {
	start other "client,addr=$ADDR,port=$PORT,test=block$2"
	ok "$1" until_ok 20 test -b /dev/krping1
	interrupt_is other state DONE "$1: the second one"
}
busy "beside one that reads a second client may not write" ''
beside "two clients that only read" ,ro
ends "the client that read it"
disk ''
busy "beside one that writes a second client may not read" ,ro
ends "the client that writes"
interrupt server
window ,window=1M,clients=2,shared
disk ''
beside "two clients that write, of a server that says shared" ''
like "$(setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$krwrite" "client,addr=$ADDR,port=$PORT,test=block")" \
	'werr=EPERM .*needs CAP_SYS_ADMIN' "EPERM without CAP_SYS_ADMIN"
max=/sys/module/rdma_krping/parameters/window_max
echo 1 >$max
refused "a window of more than window_max" "server,addr=$ADDR,port=9998,test=block,window=1028K" "EPERM window: more than the module parameter window_max, 1 MiB"
echo 1024 >$max

# --- ends, while the disk is open, and while requests are in flight ---
stops() { "$krwrite" "stop,id=$(field id "$CLI")" | grep -o ' werr=[^ ]*'; }
run_line "${PIDS[client]}" && CLI=$LINE
exec {held}<$DISK
is "$(stops)" " werr=EBUSY" "stop, while the disk is open"
ok "rmmod is refused" eval '! rmmod rdma_krping 2>/dev/null'
is "$(dd iflag=direct bs=4K count=1 status=none <&$held | wc -c)" 4096 "which can be read"
exec {held}<&-
finish_is client "state reason" "DONE " "and is closed: the client ends"
interrupt server
# A server that posts no answer any more: so all requests that the disk can have are in flight, and a file system waits for more.
P_REFUSE=/sys/module/krping_refuse/parameters
in_flight() { read -r reads writes </sys/block/krping0/inflight && [ "$reads $writes" = "4 4" ]; }
rmmod_works() { rmmod rdma_krping; }
while read -r how options answer result; do
	window ,window=8M
	options=${options#-}
	disk ",depth=8,in_capsule=0${options/@/$SLOW}"
	run_line "${PIDS[client]}" && CLI=$LINE
	mkfs.ext4 -q $DISK && mount -o noinit_itable $DISK "$T/mnt"
	dd if=/dev/zero of="$T/mnt/file" bs=64K count=8 status=none && sync -f "$T/mnt"
	insmod "$PLANTS/krping_refuse.ko"
	echo "$answer" >$P_REFUSE/op
	field qp "$(grep " parent=$P " /proc/krping_runs | tail -1)" >$P_REFUSE/qp
	echo 1 >$P_REFUSE/mute
	# io_setup, io_submit and io_getevents: prints the results, and behind the last one that of fsync.
	background aio perl -we 'sysopen my $f, $ARGV[0], 040002 or die $!;
		my ($context, $buf, $events) = ("\0" x 8, "\0" x 65536, "\0" x 256);
		my $at = unpack("Q", pack "P", $buf) + 4095 & ~4095;
		my @io = map { pack "QQSsLQQq3", 0, 0, $_ & 1, 0, fileno $f, $at + 4096 * $_, 4096, 65536 * $_, 0, 0 } 0 .. 7;
		syscall(206, 8, $context) == 0 or die "io_setup: $!";
		syscall(209, unpack("Q", $context), 8, pack "(P)8", @io) == 8 or die "io_submit: $!";
		syscall(208, unpack("Q", $context), 8, 8, $events, 0) == 8 or die "io_getevents: $!";
		print join(" ", map { (unpack "Q2q", substr $events, 32 * $_)[2] } 0 .. 7), " fsync=", syscall(74, fileno $f)' "$T/mnt/file"
	until_ok 20 in_flight
	background dd dd if=/dev/zero of="$T/mnt/other" bs=4K count=9 conv=fsync status=none
	case $how in
	INT) interrupt_is client werr EBUSY "SIGINT: the writer is told"; is "$(stops)" " werr=0" "and then a stop" ;;
	KILL) kill -KILL "${PIDS[client]}" ;;
	server) kill -KILL "${PIDS[server]}"; finish server ;;
	delete) link_lost "$how" client; link_deleted "$how" ;;
	esac
	[ -z "${PIDS[client]-}" ] || finish client $((20 + SLOW))
	LINE=$(grep "^id=$(field id "$CLI") " /proc/krping_runs)
	line_like "state errno reason" "^ERROR $result" "$how: the client"
	tool_end aio
	like "$(cat "$T"/aio.*)" "^(-5 ){8}fsync=" "$how: the requests in flight fail, each of them with EIO"
	tool_end dd
	like "$(cat "$T/dd.err")" 'Input/output error|Read-only' "$how: so does a file that is written"
	ok "$how: umount" limited 60 umount "$T/mnt"
	ok "$how: the disk is gone" until_ok 10 no_disk
	[ -z "${PIDS[server]-}" ] || interrupt server
	ok "$how: rmmod" eval 'rmmod krping_refuse && until_ok 10 rmmod_works'
	ok "$how: insmod again" insmod "$KRPING_MODULE"
done <<'END'
INT	-	9	4 (interrupted|stopped by id=)
KILL	,poll_ctx=workqueue	9	4 interrupted
server	,local_inv	2	104 the peer disconnected
silent	,io_timeout=@s	9	110 no answer to request [0-7] of connection 0 for io_timeout=
delete	-	9	19 
END
ok "the link is made again" link_add "$LINK" d0 "$ADDR"
done_testing "all that"
