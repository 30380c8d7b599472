#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the VM: krping's wlat, rlat and bw beside ib_write_lat, ib_read_lat and ib_write_bw of perftest, on the same soft-RoCE
# device. Prints pairs of rows ROW/SIZE for table.pl. Times are the mean time of an iteration in ns: wlat, there and back
# (ib_write_lat tells half of that, which is doubled here); rlat, a READ; bw, a WRITE of a full pipeline. The word for what was done has iterations, size, MTU, WRITEs in
# flight, inline data, and how many requests have one completion. It is found out before the pairs, in a run of a few
# iterations: what krping posts at the provider's post call, what perftest posts by its own report, and the MTU of both where
# the provider is told. All iterations and sizes are those that the runs themselves report.
#
# The ends that post poll without sleeping (krping: poll), but in rlat-events, where both sleep until there is an event (perftest: -e).
# The other end sleeps: perftest's server of rlat and bw waits for a message on a socket.
#
#   perftest.sh PAIRS ITERATIONS ROW...     ROW: wlat, rlat, bw, rlat-events

# shellcheck source=tests/bench/others.sh
. "$(dirname "$0")/others.sh"
pairs=$1 iters=$2
shift 2
pin
rows=("$@")
sizes=(64 4096 65536)
DEPTH=64
declare -A program=([wlat]=ib_write_lat [rlat]=ib_read_lat [bw]=ib_write_bw)

# The index of the GID that the address has; perftest asks for it.
gid_index() {
	local i want
	# shellcheck disable=SC2086 # four words
	printf -v want '0000:ffff:%02x%02x:%02x%02x' ${ADDR//./ }
	for i in {0..15}; do
		[[ $(cat "/sys/class/infiniband/$LINK/ports/1/gids/$i") != *"$want" ]] || { echo "$i" && return; }
	done
	return 1
}
gid=$(gid_index) || broken "$LINK has no GID of $ADDR"

# --- what the provider is told: the MTU of each QP, and what krping posts ---
probe=krping_bench
probes_on() {
	echo "p:${probe}_mtu rxe_modify_qp mtu=+8(%si):u32 mask=%dx:u32" >>$TRACING/kprobe_events &&
		echo "p:${probe}_post rxe_post_send sges=+24(%si):u32 op=+28(%si):u32 flags=+32(%si):u32" >>$TRACING/kprobe_events || return
	# IB_QP_PATH_MTU; and the end of a QP is a WRITE of nothing, by which the RDMA core knows that all else is over.
	echo 'mask & 256' >"$TRACING/events/kprobes/${probe}_mtu/filter"
	echo 'sges > 0' >"$TRACING/events/kprobes/${probe}_post/filter"
	echo >$TRACING/trace
	echo 1 >"$TRACING/events/kprobes/enable"
}
probes_off() {
	echo 0 >"$TRACING/events/kprobes/enable"
	cp $TRACING/trace "$T/trace"
	echo "-:${probe}_mtu" >>$TRACING/kprobe_events
	echo "-:${probe}_post" >>$TRACING/kprobe_events
}
# mtu_of: prints the MTU of all QPs that were connected, "mixed" if they differ. The number is an enum ib_mtu: 3 is 1024.
mtu_of() {
	sed -nE "s/.*${probe}_mtu: .* mtu=([0-9]+) .*/\\1/p" "$T/trace" | sort -u | awk '{ m = 128 * 2 ^ $1; n++ } END { print n == 1 ? m : "mixed" }'
}
# posted OPCODE: prints, of the requests of that opcode, those that ask for no completion, and those with inline data.
posted() {
	sed -nE "s/.*${probe}_post: .* op=$1 flags=([0-9]+).*/\\1/p" "$T/trace" |
		awk '{ if (!(int($1 / 2) % 2)) quiet++; if (int($1 / 8) % 2) inlined++ } END { print quiet + 0, inlined + 0, NR }'
}

# ours ROW SIZE ITERATIONS: sets NS, DID and OURS, the commands of both ends.
ours() {
	local test=${1%-events} server=$CPU_SERVER client
	client=",test=$test,size=$2,count=$3$CPU_CLIENT"
	[ "$test" != bw ] || client+=",txdepth=$DEPTH"
	[[ $1 == *-events ]] || client+=,poll
	[ "$test" != wlat ] || server+=,poll
	one_pair "$server" "$client"
	OURS="server,addr=$ADDR,port=$PORT$server | client,addr=$ADDR,port=$PORT$client"
	NS=${F[lat_mean_ns]} DID="${F[iters]}*${F[size]}$OURS_DOES"
}

# theirs ROW SIZE ITERATIONS: sets NS, DID and THEIRS, the command of both ends.
theirs() {
	local test=${1%-events} args
	args=(-d "$LINK" -x "$gid" -F -m 1024 -s "$2" -n "$3")
	[ "$test" = rlat ] || args+=(-I 0)
	[ "$test" != bw ] || args+=(-t "$DEPTH" -Q 1)
	[[ $1 != *-events ]] || args+=(-e)
	THEIRS="${PIN_CLIENT[*]}${PIN_CLIENT:+ }${program[$test]} ${args[*]}"
	perftest "${program[$test]}" "${args[@]}"
	DID="${P[n_iterations]-}*${P[MsgSize]-}$THEIRS_DO"
	# The report has us with two digits, of ib_write_lat those of half of an iteration; and of ib_write_bw two figures, of which
	# one or the other has more digits: messages in millions a second, and MiB a second.
	case $test in
	wlat) NS=$(awk -v us="${P[t_avg]-0}" 'BEGIN { print us * 2000 }') ;;
	rlat) NS=$(awk -v us="${P[t_avg]-0}" 'BEGIN { print us * 1000 }') ;;
	bw) NS=$(awk -v mpps="${P[MsgRate]-0}" -v mib="${P[BW_average]-0}" -v size="$2" \
		'BEGIN { r = mpps > mib / 100 ? mpps * 1e6 : mib * 1048576 / size; print r ? 1e9 / r : 0 }') ;;
	esac
}

# look ROW SIZE: sets OURS_DOES and THEIRS_DO to what each side does, but the iterations.
look() {
	local test=${1%-events} op=0 n=20 quiet inlined all depth=1 each=1
	[ "$test" != rlat ] || op=4
	[ "$test" != bw ] || depth=$DEPTH n=200
	OURS_DOES='' THEIRS_DO=''
	probes_on || broken "the provider's calls cannot be watched"
	ours "$1" "$2" $n
	probes_off
	read -r quiet inlined all <<<"$(posted $op)"
	[ "$all" -ge $n ] || broken "$1: $all of $n requests were seen"
	[ "$quiet" -eq 0 ] || each=$(awk -v a="$all" -v q="$quiet" 'BEGIN { printf "%.1f", a / (a - q) }')
	OURS_DOES=",mtu=$(mtu_of),depth=$depth,inline=$inlined,per_completion=$each"
	probes_on
	theirs "$1" "$2" $n
	probes_off
	THEIRS_DO=",mtu=$(mtu_of),depth=${P[TX_depth]-?},inline=${P[Max_inline_data]-0},per_completion=${P[CQ_Moderation]-1}"
}

diag "krping's iteration beside perftest's: wlat there and back (ib_write_lat tells half of it), rlat a READ, bw a WRITE"
diag "on $(nproc) CPU(s), $PINNED; who posts polls, but in rlat-events, where both sleep"
for row in "${rows[@]}"; do
	for size in "${sizes[@]}"; do
		look "$row" "$size"
		diag "$row/$size: ours$OURS_DOES; theirs$THEIRS_DO"
		diag "$row/$size: ours   $OURS"
		diag "$row/$size: theirs $THEIRS"
		# A WRITE of 64 KiB takes as long as a hundred small ones, and a run has a time limit.
		n=$((size < 65536 || iters <= 1000 ? iters : iters / 10))
		pairs_of "$row/$size" "$pairs" "$row" "$size" "$n"
	done
done
