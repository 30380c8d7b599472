#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# test=block: what is written to the disk is read again, each request is counted once by whoever counts, and whatever ends the disk ends
# what is in flight, in a time that is bounded.

. "$(dirname "$0")/lib.sh"

DISK=/dev/krping0
modprobe -a ext4 crc32c_generic

# no_disk: the disk is gone. disk OPTIONS [OPTION]...: makes a client, and waits for its disk.
no_disk() { [ ! -e $DISK ]; }
disk() {
	start client "client,addr=$ADDR,port=$PORT,test=block$1" "${@:2}"
	until_ok 20 test -b $DISK
}
# window OPTIONS: makes a server; child: sets SRV to the run of its last client, which is over.
window() { serve ",test=block,persistent$1"; }
no_children() { ! grep -qE "^id=[0-9]+ parent=$P .* state=(IDLE|CONNECT|ADDR_RESOLVED|ROUTE_RESOLVED|CONNECTED|RDMA_[A-Z_]*) " /proc/krping_runs; }
child() {
	until_ok 20 no_children
	SRV=$(grep " parent=$P " /proc/krping_runs | tail -n 1)
}
# ends WHAT: interrupts the client, whose disk goes: both ends are good. CLI and SRV are their results.
ends() {
	interrupt client
	CLI=$LINE
	child
	pair_is "state errno reason" "DONE 0 " "$1"
	ok "$1: the disk is gone" no_disk
}

# counted WHAT INV ZEROES: the disk's own count of requests is that of both runs and of the events; each that moves data has a key, which
# is invalidated as INV says, and each answer of a write comes behind its READ.
counted() {
	local what=$1 n r w d _
	read -r r _ _ _ w _ _ _ _ _ _ d _ </sys/block/${DISK#/dev/}/stat
	n=$((r + w + d)) ALL=$((ALL + r + w + d))
	ends "$what"
	trace_end "$what"
	line_is "iters fastreg $2" "$n $((n - $3)) $((n - $3))" "$what: requests of the client, and keys that were invalidated" "$CLI"
	line_is iters "$n" "$what: requests of the server" "$SRV"
	is "$(trace_perl '
		my ($file, %name) = @ARGV;
		my (%n, %open, @bad, $read, $written);
		open my $f, "<", $file or die $file;
		while (<$f>) {
			$read += exists $name{$1} if /krping_wc: run=(\d+) .* kind=READ /;
			next unless /krping_block_(issue|done): run=(\d+) .*queue=(\d+) (tag=\d+) (op=(\w+) at=\d+ len=\d+)/ && $name{$2};
			my ($tag, $is) = ("$2 $3 $4", "$3 $4 $5");
			$n{"$name{$2} $1"}++;
			push @bad, "$1 $tag $is" if ($1 eq "done") != ((delete($open{$tag}) // "") eq $is);
			$open{$tag} = $is if $1 eq "issue";
			push @bad, "answered before its READ: $is" if $name{$2} eq "server" && $1 eq "done" && $6 eq "write" && ++$written > $read;
		}
		print join(" ", map { $n{$_} // 0 } "client issue", "client done", "server issue", "server done"), " ", scalar(%open), " @bad[0 .. 2]"' \
		"$T/trace" "$(field id "$CLI")" client "$(field id "$SRV")" server)" "$n $n $n $n 0   " "$what: krping_block_issue and _done: each request once, under a tag of its own"
}

# --- data, of random sizes and at random offsets, from buffers that begin within a page ---
ALL=0
while read -r queues inv sector depth bytes server client; do
	what="queues=$queues,$inv,sector=$sector$server$client"
	window ",window=13M${server#-}"
	trace_on krping_block_issue krping_block_done krping_wc
	disk ",queues=$queues,sector=$sector,depth=$depth${client#-}"
	limited 150 fio --name=v --filename=$DISK --direct=1 --ioengine=libaio --iodepth="$depth" --rw=randwrite --bsrange="$bytes" \
		--iomem_align=512 --verify=crc32c --verify_backlog=100 --verify_fatal=1 --verify_state_save=0 >"$T/fio" 2>&1
	is $? 0 "$what: fio reads what it has written" || diag "$(tail -n 5 "$T/fio")"
	counted "$what" "$([ $inv = local_inv ] && echo localinv || echo reminv)" 0
	interrupt server
done <<'END'
1	server_inv	512	32	512-9k	-	-
2	local_inv	4096	7	4k-12k	-	,local_inv
2	server_inv	512	64	512-9k	,local_dma_lkey,poll_ctx=workqueue	,poll_ctx=workqueue
1	local_inv	512	1	512-256k	-	,local_inv,poll_ctx=workqueue
END

ok "20000 requests in all" test $ALL -ge 20000 || diag "$ALL"
done_testing
