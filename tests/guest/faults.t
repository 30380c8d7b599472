#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Everything that can fail in a run fails once: each allocation of the run's thread, its own and those that the kernel
# makes for it (fail-nth), and each call of verbs and rdma_cm (fail_function, for what tests/plant/krping_refuse.c has). sweep.pl makes the
# runs; this test judges their results: a failure has the right errno and a reason, nothing is left behind, and nothing hangs.
#
# test=rping is swept with plain runs on rxe, and with server_inv and validate on siw: so all requests that a run can post
# are covered, in half the time of all four combinations. The other tests have one provider each, three where the core polls. Of these
# the few rounds sweep one end, since the set-up of both is much the same: the end that posts in the loop; but both of a run with two
# connections. Both ends of all tests: make check TEST=faults.t KERNEL=debug KRPING_ROUNDS=many.
#
# Allocations in the work queues of the connection managers are not swept. The module's own handlers make none
# (module/connect.c, module/listener.c), and those of the kernel belong to no run: if it has no memory for a request or an answer, the
# message is lost, as on a lossy wire, and is sent again after seconds. fail-nth counts for one task, and the work
# queues run in other tasks.
#
# A mapping of memory cannot fail here: dma.t has that.
#
# Needs a kernel with fault injection: KERNEL=debug.

. "$(dirname "$0")/lib.sh"
sweep=$here/sweep.pl
debug=/sys/kernel/debug

# The kernel can turn a failed allocation into another errno. The rows have PROVIDER, ERRNO and what the run says it was
# doing (PROVIDER and the last one are regular expressions). The reasons:
#   ENFILE      sock_alloc() fails without an errno, and __sock_create() takes that for too many files. rxe has a socket
#               for each queue pair, siw has one for each listener and for each client.
#   ENOBUFS     ip_route_output_key_hash_rcu() returns it if it gets no dst_entry; tcp_connect() if it gets no first skb.
#   EADDRINUSE  inet_csk_get_port() fails without an errno, and its caller takes the port for taken.
others='
rxe	ENFILE	^creating a QP: error -(23|ENFILE)$
siw	ENFILE	^(listening|connecting): error -(23|ENFILE)$
.*	ENOBUFS	^resolving the address: error -(105|ENOBUFS)$
siw	EADDRINUSE	^(listening|connecting): error -(98|EADDRINUSE)$
siw	ENOBUFS	^connecting: error -(105|ENOBUFS)$
'
# The errnos that the healthy end may have when the other end fails, as documented in docs/runs.md.
peer_errnos='^(ECONNREFUSED|ECONNRESET|EINTR|EHOSTUNREACH|ETIMEDOUT)$'
# Calls that one side never makes.
declare -A elsewhere=(
	[client]='rdma_accept rdma_bind_addr rdma_listen'
	[server]='rdma_connect rdma_resolve_addr rdma_resolve_route'
)

# --- setting up ---

# shellcheck disable=SC2317 # by the trap
off() {
	local d
	for d in failslab fail_page_alloc fail_function; do
		echo 0 >$debug/$d/probability
		echo N >$debug/$d/task-filter
	done
	echo Y >$debug/failslab/ignore-gfp-wait
	echo Y >$debug/fail_page_alloc/ignore-gfp-wait
	echo 1 >$debug/fail_page_alloc/min-order
	echo >$debug/fail_function/inject
} 2>/dev/null
trap 'off; cleanup' EXIT

# With 2 in verbose the kernel would print the stack of each allocation that fails.
for d in failslab fail_page_alloc; do
	echo 0 >$debug/$d/probability
	echo 0 >$debug/$d/verbose
	echo -1 >$debug/$d/times
	echo N >$debug/$d/ignore-gfp-wait
done
echo 0 >$debug/fail_page_alloc/min-order
# The history is short, since each look at the runs reads all of them.
echo 16 >$HISTORY

ok "calls can be made to fail" insmod "$PLANTS/krping_refuse.ko"
mapfile -t functions < <(sed -nE 's/ \[(ib_core|rdma_cm|krping_refuse)\][[:space:]].*//p' $debug/error_injection/list | sort)
ok "there are 15 of them or more: ${#functions[@]}" test ${#functions[@]} -ge 15

mapfile -t tests < <(awk '$1 == "test" { n = split($2, t, "|"); for (i = 1; i <= n; i++) print t[i] }' /proc/krping_help)
ok "krping_help names the tests: ${tests[*]}" test ${#tests[@]} -ge 1

echo "krping-test: planted faults begin" >/dev/kmsg

# --- judging ---

declare -A hits=()
# bad KIND TEXT: one of the runs is not as it should be.
bad() {
	kinds[$1]=$((${kinds[$1]:-0} + 1))
	[ "${kinds[$1]}" -gt 10 ] || says[$1]+="$fault $n: $2
"
}

other_errno() {
	local provider errno reason
	while IFS=$'\t' read -r provider errno reason; do
		[ -n "$errno" ] || continue
		[[ $PROVIDER =~ ^$provider$ && ${F[werr]} == "$errno" && ${F[reason]} =~ $reason ]] && return 0
	done <<<"$others"
	return 1
}

# complete: the run and its peer did what was asked.
complete() {
	[[ ${F[ret]} == "${F[len]}" && ${F[state]-} == DONE && ${F[errno]} == 0 && ${F[iters]} == "${made[$side]}" &&
		${F[peer_werr]-} == 0 && ${F[peer_state]} == DONE && ${F[peer_iters]} == "${made[$across]}" ]]
}

# judge WORD LINE
judge() {
	local fault n
	parse "$2"
	fault=${F[fault]-} n=${F[n]-}
	case $1 in
	hang | fatal) bad hang "$2" && return ;;
	pair)
		pairs=$((pairs + 1))
		[[ ${F[werr]-} == 0 && ${F[iters]-} == "${made[client]}" && ${F[peer_werr]-} == 0 &&
			${F[peer_iters]-} == "${made[server]}" ]] || bad pair "$2"
		return
		;;
	end)
		ended+=" $fault"
		complete || bad absorbed "$2"
		return
		;;
	esac
	met=$((met + 1))
	hits[$side:$fault]=1
	if [ "${F[werr]}" = 0 ]; then
		# For a failed allocation there can be a fallback, and for a marker of the drain (module/drain.c), so that the run succeeds.
		{ [[ $fault == @(alloc|refuse_send|refuse_recv) ]] && complete; } || bad absorbed "$2"
		return
	fi
	failures=$((failures + 1))
	if [ "${F[id]}" = - ]; then
		# There was no memory for the run itself.
		{ [ "$fault" = alloc ] && [ "${F[werr]}" = ENOMEM ] && [ $begun = 0 ]; } || bad errno "$2"
	else
		begun=1
		[[ ${F[state]} == ERROR && -n ${F[reason]} && ${F[errno]} == "${number[${F[werr]}]-?}" ]] || bad errno "$2"
		[ "${F[werr]}" = ENOMEM ] || { [ "$fault" = alloc ] && other_errno; } || bad errno "$2"
	fi
	# No peer may need a signal to end: only one try fails, so there is memory for the message that tells the peer.
	[ "${F[by]}" != signal ] || bad deaf "$2"
	case ${F[by]} in
	none | kept) ;;
	itself | signal)
		if [ "${F[peer_werr]}" = 0 ]; then
			# The peer had received its last answer before the fault.
			[[ ${F[peer_state]} == DONE && ${F[peer_iters]} == "${made[$across]}" ]] || bad peer "$2"
		else
			[[ ${F[peer_werr]} =~ $peer_errnos && ${F[peer_state]} == ERROR ]] || bad peer "$2"
		fi
		;;
	*) bad peer "$2" ;;
	esac
}
declare -A number=([ENOMEM]=12 [ENFILE]=23 [EADDRINUSE]=98 [ENOBUFS]=105)

# verdict KIND DESCRIPTION
verdict() {
	if [ "${kinds[$1]:-0}" = 0 ]; then
		pass "$2"
	else
		fail "$2: not so for ${kinds[$1]}"
		diag "${says[$1]%$'\n'}"
	fi
}

# swept SIDE TEST OPTIONS
swept() {
	local side=$1 what="$1, $2${3:-, plain}" line rc met=0 failures=0 pairs=0 begun=0 ended='' t=$SECONDS finished=''
	local count=,count=2 window=''
	# How many iterations an end has made when it is done: none if it does not post.
	local -A kinds=() says=() made=([client]=2 [server]=2)
	local across=server
	[ "$side" = client ] || across=client
	case $2 in
	fr | rlat | bw) made[server]=0 ;;
	fast) made[client]=0 ;;
	# sweep.pl makes two requests of its own.
	block) count='' window=,window=512K ;;
	esac
	"$sweep" $((30 * SLOW)) $((1500 * SLOW)) "${KRPING_MUTANT:+2}" "$side" \
		"server,addr=$ADDR,port=$PORT$count,test=$2$3$window" "client,addr=$ADDR,port=$PORT$count,test=$2$3" "${faults[@]}" >"$T/sweep"
	rc=$?
	while IFS= read -r line; do
		case $line in
		'#'*) [ "${#kinds[@]}" = 0 ] || diag "${line#\# }" ;;
		done) finished=1 ;;
		*) judge "${line%% *}" "$line" ;;
		esac
	done <"$T/sweep"
	t=$((SECONDS - t))
	is "$rc $finished$ended" "0 1 ${faults[*]}" "$what: the sweep came to its end, with a run without fault for each" ||
		diag "$(tail -3 "$T/sweep")"
	verdict hang "$what: nothing hangs"
	verdict errno "$what: who fails has the errno, ERROR and a reason"
	verdict absorbed "$what: who does not fail does all that was asked"
	verdict peer "$what: the other end ends, too"
	verdict deaf "$what: and by itself, nobody has to interrupt it"
	verdict pair "$what: healthy runs in between work ($pairs pairs)"
	ok "$what: $met faults, $failures failures" test $met -ge $least -a $failures -ge $((least / 2)) -a $pairs -ge $((least / 30))
	diag "$what: $t s; N up to $(sed -n 's/^end fault=alloc n=\([0-9]*\) .*/\1/p' "$T/sweep") for allocations"
}

faults=(alloc "${functions[@]}") least=60
# With the mutant an end does not notice that its peer has left, whatever failed: one call is enough to show it.
if [ -n "${KRPING_MUTANT:-}" ]; then
	faults=(refuse_send)
	swept client rping ''
	done_testing
fi
for test in "${tests[@]}"; do
	case $test:$PROVIDER in
	rping:siw) options=,server_inv,validate ;;
	fr:rxe) options=,poll_ctx=softirq ;;
	fr:siw) options=,poll_ctx=workqueue ;;
	# A shared receive queue at both ends; and a second connection, which has none, and one of the two WRITEs.
	wlat:rxe | rlat:siw) options=,srq,poll_ctx=softirq ;;
	bw:rxe | fast:siw) options=,srq,queues=2,txdepth=1 ;;
	# What these four have in common is swept on both.
	rlat:rxe | fast:rxe | wlat:siw | bw:siw) continue ;;
	# It makes two connections, by the same calls.
	protect:*) continue ;;
	block:*) options=,txdepth=2 ;;
	*) options='' ;;
	esac
	case $(rounds many few):$test:$PROVIDER in
	many:* | few:rping:* | few:bw:rxe | few:fast:siw) sides='client server' ;;
	few:fr:rxe | few:rlat:siw | few:block:rxe) sides=client ;;
	*) sides=server ;;
	esac
	for side in $sides; do
		swept "$side" "$test" "$options"
	done
done

for side in client server; do
	missed=''
	for f in "${functions[@]}"; do
		[ -n "${hits[$side:$f]-}" ] || missed+="$f "
	done
	is "${missed% }" "${elsewhere[$side]}" "each call was made to fail on the $side's side, but for the other side's own"
done

# --- what is left ---

works_after "after all faults"
off
ok "no call fails any more" rmmod krping_refuse
rmmod_works() { rmmod rdma_krping; }
ok "rmmod works" until_ok 5 rmmod_works
ok "insmod again" insmod "${KRPING_MODULE:?}"
works_after "loaded again"
# vmalloc() reports a failed allocation with a stack, and kmemleak reports its own. Only these lines are left out.
echo "krping-test: planted faults end" >/dev/kmsg
dmesg | awk '/krping-test: planted faults begin/ { on = 1 }
	/ vmalloc error: size / { told = 1; next }
	told && /Call Trace:/ { told = 0; next }
	/kmemleak: (Cannot allocate a scan area|Automatic memory scanning)/ { next }
	on' >"$T/log"
ok "the kernel's log has begin and end" grep -q 'planted faults end' "$T/log"
ok "the kernel says nothing else" "$here/../vm/gate/judge.pl" --planted faults "$T/log"
# If these faults have leaked memory, run-all.sh finds it with kmemleak when all tests are over.
done_testing
