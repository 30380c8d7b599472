#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A run whose endpoint is torn down and made anew between two pings, again and again: the debug build's parameter "renew".
# Every other time the client breaks its connection before, by a WRITE with a key that the server does not have, which
# must not be the run's cause.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-tools.sh"

parameter=/sys/module/rdma_krping/parameters/renew

# events EVENT: prints how many of that event the trace has.
events() { grep -c ": krping_$1: " "$T/trace"; }

resources_before
ok "the debug build has the parameter" test -w $parameter
# Each endpoint but the last one makes three pings.
echo 3 >$parameter
# The first ping of each endpoint is not split into the times of hosts and network.
ping_pair ",count=17" ",count=17,split"
parse "$CLI"
is "${F[state]-} ${F[split_iters]-}" "DONE 11" "split: each endpoint of the two begins anew"
for options in validate srq srq,poll_ctx=workqueue chain,server_inv poll_ctx=softirq poll_ctx=workqueue poll_ctx=busy,size=65536; do
	options=,$options
	before=$(dmesg | wc -l)
	trace_on krping_conn krping_wc_err krping_mr_fastreg krping_mr_localinv krping_mr_reminv krping_mr_dereg
	ping_pair ",count=17$options" ",count=17$options"
	trace_off
	cat $TRACING/trace >"$T/trace"
	check_good "17 pings$options: server" "$SRV" 17
	check_good "17 pings$options: client" "$CLI" 17
	is "$(events conn)" 12 "$options: each end has connected six times"
	refused=$(grep -c ': krping_wc_err: .* kind=WRITE .*REM_ACCESS_ERR' "$T/trace")
	if [ "$PROVIDER" = rxe ]; then
		is "$refused" 3 "$options: three WRITEs were refused"
	else
		# siw tells nobody but the kernel's log, and not even that where the end of the connection comes first.
		refused=$(dmesg | tail -n +$((before + 1)) | grep -c 'got TERMINATE')
		ok "$options: $refused of three WRITEs are known to be refused" test "$refused" -ge 1 -a "$refused" -le 3
	fi
	freed=$(grep -cE ': krping_mr_dereg: .* state=(valid|flushed)' "$T/trace")
	is "$(events mr_dereg)" 12 "$options: each end has freed six regions"
	is $(($(events mr_localinv) + $(events mr_reminv) + freed)) "$(events mr_fastreg)" "$options: the keys of the regions balance"
done
nothing_left "connections made anew"

# What ends a run in between ends this one.
echo 1 >$parameter
trace_on krping_conn
server server "server,addr=$ADDR,port=$PORT"
client "client,addr=$ADDR,port=$PORT,count=1000000,timeout=$((1000 * SLOW))ms"
trace_off
cat $TRACING/trace >"$T/trace"
parse
is "${F[werr]} ${F[state]}" "ETIMEDOUT ERROR" "an endpoint for each ping: timeout=: ETIMEDOUT" || diag "${F[reason]}"
ok "an endpoint for each ping: it has connected for each" test "$(events conn)" -ge 4
kill -INT "${PIDS[server]}" 2>/dev/null || :
finish server
parse
like "${F[state]} ${F[errno]}" '^ERROR (4|5|104)$' "an endpoint for each ping: its server fails" || diag "${F[reason]}"

# lat_max is that of a ping, and has no making of an endpoint in it, which takes longer than twenty of them.
ping_pair ",count=5" ",count=5"
ok "the first ping of an endpoint does not have its making: $(field lat_max_ns "$CLI") ns of $(field elapsed_ns "$CLI")" \
	test $(($(field lat_max_ns "$CLI") * 6)) -lt "$(field elapsed_ns "$CLI")"
echo 0 >$parameter
works_after "renew"
nothing_left "renew"
done_testing
