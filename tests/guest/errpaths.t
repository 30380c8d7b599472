#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The events of failures: each failure is provoked, and ftrace and krping-trace must have its event once, with the right
# fields.
#
# tests/plant/krping_refuse.c makes posts fail and raises asynchronous events, which the providers do not do on request.
# It stands in for a device that is full, or that has lost the connection: no kernel lets its post calls be overridden.

. "$(dirname "$0")/lib.sh"

P=/sys/module/krping_refuse/parameters
ok "posts can be refused" insmod "$PLANTS/krping_refuse.ko"

# Of the many phase events of good pings only those are recorded that end an iteration.
events=(reject wc_err post_send_err post_recv_err async_event validate mr_dereg iter run_end)
echo 'flags & 3' >$TRACING/events/krping/krping_phase/filter
trace_on krping_phase "${events[@]/#/krping_}"
attach_as krping-trace krping-trace -v -j -E "$(IFS=, && echo "${events[*]}")"

declare -A ID=() # run of each scenario's end
# ended NAME ERRNO REASON: asserts the result in LINE, and remembers the run's id as ID[NAME].
ended() {
	local state=ERROR
	[ "$2" != 0 ] || state=DONE
	line_like "werr state reason" "^$2 $state $3\$" "$1: $2"
	ID[$1]=${F[id]-0}
}

# pair: starts an endless pair, and sets QP[client] and QP[server].
declare -A QP=()
pair() {
	local role
	pair_on
	for role in client server; do
		run_line "${PIDS[$role]}"
		QP[$role]=$(field qp)
	done
}

# refuse NAME ROLE PARAMETER VALUE ERRNO REASON [OPCODE]: sets this parameter of krping_refuse, which takes effect at
# the next post of that end; with OPCODE (enum ib_wr_opcode), only at a chain that ends with it. The run has to end with
# ERRNO and REASON.
refuse() {
	local other=client
	[ "$2" = server ] || other=server
	pair
	echo "${7:-4294967295}" >$P/op
	echo "${QP[$2]}" >$P/qp
	echo "$4" >"$P/$3"
	finish "$2"
	ended "$1" "$5" "$6"
	finish $other
}

# --- refused connections ---
server strict "server,addr=$ADDR,port=$PORT,size=64"
client "client,addr=$ADDR,port=$PORT,size=65,count=3"
ended differs EPROTO '.*size differs: 64 there, 65 here'
pinging taker "client,addr=$ADDR,port=$PORT"
client "client,addr=$ADDR,port=$PORT,count=3"
ended busy EBUSY '.*another client'
interrupt taker
ended taker 0 ''
finish strict
parse
ID[strict]=${F[id]-0}

# --- failed completions ---
server server "server,addr=$ADDR,port=$PORT"
"$liar" client "$ADDR" $PORT bytes=17 >/dev/null 2>&1
finish server
ended 'RECV' EIO 'RECV failed: .*'
if [ "$PROVIDER" = rxe ]; then
	server server "server,addr=$ADDR,port=$PORT"
	"$liar" client "$ADDR" $PORT key=1 >/dev/null 2>&1
	finish server
	ended 'READ' EIO 'READ failed: .*'
fi

# --- posts that are refused ---
reg_mr=32 send=2
refuse 'LOCAL_INV and REG_MR, EINVAL' client send 22 EIO 'posting 2 work requests: error -EINVAL' $reg_mr
refuse 'a SEND, ENOMEM' server send 12 ENOMEM 'posting 1 work requests: error -ENOMEM' $send
refuse 'a SEND, ENOTCONN' client send 107 ECONNRESET 'the connection is closed' $send
refuse 'a RECV, EINVAL' server recv 22 EIO 'posting a RECV: error -EINVAL'
refuse 'a RECV, ENOMEM' client recv 12 ENOMEM 'posting a RECV: error -ENOMEM'
refuse 'a RECV, ENOTCONN' client recv 107 ECONNRESET '(the peer disconnected|the queue pair failed) in iteration [0-9]+.*'
# siw refuses a RECV like this if the peer leaves right after its message. That is not between two pings, so the
# run fails.
mkfifo "$T/go"
exec {go}<>"$T/go"
server server "server,addr=$ADDR,port=$PORT"
background liar "$liar" client "$ADDR" $PORT priv=0 pings=0 leave=2 hold=$go
ok "a RECV as the peer leaves: connected" until_ok 10 state_is server CONNECTED
run_line "${PIDS[server]}" && field qp >$P/qp
echo 107 >$P/recv
echo go >&$go
finish server
ended 'a RECV as the peer leaves' ECONNRESET 'the (peer disconnected|connection is closed).*'
tool_end liar
exec {go}<&-

# --- asynchronous events; an event that does not mean the queue pair's end changes nothing ---
refuse 'an access' client event 3 EIO "this end refused the peer's access: QP access error \(event 3\)"
refuse 'a request' server event 2 EIO 'the queue pair failed: QP request error \(event 2\)'
refuse 'fatal' client event 1 EIO 'the queue pair failed: QP fatal error \(event 1\)'
pair
echo "${QP[client]}" >$P/qp
echo 5 >$P/event
taken() { [ "$(cat $P/event)" = 0 ]; }
ok "SQ_DRAINED: raised" until_ok 10 taken
ok "SQ_DRAINED: the run goes on" more_pings client 5
interrupt client
ended 'SQ_DRAINED' 0 ''
finish server

# --- wrong data ---
lying_server data=40 at=1
client "client,addr=$ADDR,port=$PORT,count=5,validate"
tool_end liar
ended 'validate' EBADMSG 'data differ in ping 1 at byte 40 of 64'

trace_end "all failures"
echo 0 >$TRACING/events/krping/krping_phase/filter
tool_ends "krping-trace ends with 0" krping-trace INT || diag "$(tail -3 "$T/krping-trace.err")"
"$here/trace.pl" "$T/trace" >"$T/want"
"$here/trace.pl" "$T/krping-trace.out" >"$T/got"
grep -vE '^[0-9]+ phase ' "$T/want" >"$T/both"
ok "krping-trace has each event as ftrace has it" cmp "$T/got" "$T/both" || diag "$(diff "$T/got" "$T/both" | head -6)"

# events NAME EVENT REGEX: prints how many such events the run has in the output of trace.pl, "RUN EVENT
# FIELD=VALUE...", with the fields sorted by name.
events() { grep -cE "^${ID[$1]} $2 .*$3" "$T/want"; }
# has NAME EVENT REGEX N: asserts that the run has N such events, and no others of that name; does nothing if the
# scenario was not run.
has() {
	[ -n "${ID[$1]-}" ] || return 0
	is "$(events "$1" "$2" "$3") $(events "$1" "$2" '')" "$4 $4" "$1: krping_$2 with $3: $4" ||
		diag "$(grep -E "^${ID[$1]} $2 " "$T/want")"
}

has strict reject "err=-(71|16) peer_run=[1-9]" 2
is "$(events strict reject "err=-71 peer_run=${ID[differs]}( |\$)") $(events strict reject "err=-16 peer_run=${ID[busy]}( |\$)")" \
	"1 1" "krping_reject names the run that was refused, and the errno"
while IFS='~' read -r name event regex n; do has "$name" "$event" "$regex" "$n"; done <<'END'
RECV~wc_err~kind=RECV ~1
READ~wc_err~kind=READ status=REM_ACCESS_ERR~1
LOCAL_INV and REG_MR, EINVAL~post_send_err~err=-22 kind=(LOCAL_INV|REG_MR) ~2
a SEND, ENOMEM~post_send_err~err=-12 kind=SEND ~1
a SEND, ENOTCONN~post_send_err~err=-107 kind=SEND ~1
a RECV, EINVAL~post_recv_err~err=-22 kind=RECV ~1
a RECV, ENOMEM~post_recv_err~err=-12 kind=RECV ~1
a RECV, ENOTCONN~post_recv_err~err=-107 kind=RECV ~1
a RECV as the peer leaves~post_recv_err~err=-107 kind=RECV ~1
LOCAL_INV and REG_MR, EINVAL~mr_dereg~state=flushed~1
a SEND, ENOTCONN~mr_dereg~state=valid~1
END
# siw also raises SQ_DRAINED when it has flushed requests.
for event in 'an access:QP_ACCESS_ERR' 'a request:QP_REQ_ERR' 'fatal:QP_FATAL'; do
	name=${event%:*}
	is "$(events "$name" async_event "ib_event=${event#*:}\$") $(events "$name" async_event 'ib_event=QP_')" "1 1" \
		"$name: krping_async_event ${event#*:}, once, and no other of its kind"
done
ok "SQ_DRAINED: krping_async_event" test "$(events SQ_DRAINED async_event 'ib_event=SQ_DRAINED$')" -ge 1
has validate validate 'iter=(0 len=64 offset=-1|1 len=64 offset=40)' 2

# Each of these runs was stopped inside an iteration. Each of the two events reports this iteration once, as aborted,
# and not as complete.
for name in RECV 'LOCAL_INV and REG_MR, EINVAL' 'a SEND, ENOMEM' 'a SEND, ENOTCONN' 'a RECV, EINVAL' validate; do
	[ -n "${ID[$name]-}" ] || continue
	iters=$(sed -n "s/^${ID[$name]} run_end .*iters=\([0-9]*\).*/\1/p" "$T/want")
	for event in phase iter; do
		is "$(events "$name" $event 'flags=([a-z|]*[|])?abort') $(events "$name" $event 'flags=([a-z|]*[|])?commit')" "1 $iters" \
			"$name: krping_$event: one iteration aborted, $iters complete"
	done
done
ok "posts are refused no more" rmmod krping_refuse
done_testing "after all that"
