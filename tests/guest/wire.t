#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Two VMs on one wire: the client here, the server over there. What is done to the wire, or to the peer, shows up in the
# stage that is named for it: at least 90 % of the time that it adds.

. "$(dirname "$0")/lib.sh"

N=31
# peer_server OPTIONS: a server at the other end, which listens when we are back.
peer_server() {
	remote "rm -f /tmp/server; $krwrite --out /tmp/server 'server,addr=$KRPING_PEER,port=$PORT$1' >/dev/null 2>&1 &"
	until_ok 10 remote "grep -q ' role=server .*src=$KRPING_PEER.* state=IDLE ' /proc/krping_runs"
}
# What the other end's writer says, in PEER.
peer_result() {
	until_ok 10 remote "test -s /tmp/server && cat /tmp/server" || :
	PEER=${REMOTE%$'\n'}
}

loaded() { [ "$(cat /sys/module/rdma_krping/refcnt)" -gt 0 ]; }

# measured NAME SERVER-OPTIONS CLIENT-OPTIONS: $T/NAME.json becomes what krping-stages says of a client, CLI its line.
measured() {
	local name=$1
	peer_server "$2"
	krping-stages -j -e >"$T/$name.json" 2>"$T/$name.err" &
	PIDS[stages]=$!
	until_ok 30 loaded || diag "$(cat "$T/$name.err")"
	nap 0.3
	client "client,addr=$KRPING_PEER,port=$PORT,count=$N$3" 60
	CLI=$LINE
	until_ok 10 gone "${PIDS[stages]}" || kill -INT "${PIDS[stages]}"
	wait "${PIDS[stages]}"
	is $? 0 "$name: krping-stages ends with 0"
	unset 'PIDS[stages]'
	peer_result
	check_good "$name: client" "$CLI" $N
	check_good "$name: server" "$PEER" $N
	read -r ITER WIRE WAKE < <(jq -r -s '.[-1].runs[0] | [.iteration.mean_ns,
		([.phases[].stages // {} | .wire.sum_ns // 0] | add) / .iteration.count,
		([.phases[].stages // {} | .wake.sum_ns // 0] | add) / .iteration.count] | map(round) | join(" ")' "$T/$name.json")
	is "$(jq -s '.[-1] | [.lost, .runs[0].residual_ns] | add' "$T/$name.json")" 0 "$name: nothing lost, residual 0"
	diag "$name: iteration $ITER ns, wire $WIRE ns, wake $WAKE ns"
}

# fastest NAME SERVER-OPTIONS CLIENT-OPTIONS: of three. What else the machine does makes a ping slower, and never faster; a
# base that was measured while it did would be a part of what is said to have been added.
fastest() {
	local i best=''
	for i in 1 2 3; do
		measured "$1, $i" "$2" "$3"
		[ -n "$best" ] && [ "$ITER" -ge "${best%% *}" ] || best="$ITER $WIRE $WAKE"
	done
	read -r ITER WIRE WAKE <<<"$best"
}

# share PART-BEFORE PART-AFTER: which percentage of the time added to an iteration that is.
share() { SHARE=$((($2 - $1) * 100 / (ITER - base_iter))); }

until_ok 30 remote true || { fail "the other end answers" && done_testing; }
pass "the other end answers"
remote "uname -r; cat /sys/module/rdma_krping/srcversion"
is "$REMOTE" "$(uname -r)
$(cat /sys/module/rdma_krping/srcversion)
" "it has our kernel and our module"

measured plain "" ",validate"
parse "$CLI"
is "${F[src]-} ${F[dst]-}" "$ADDR:${F[src]##*:} $KRPING_PEER:$PORT" "the client's addresses"
ids="${F[peer_run]-} ${F[id]-}"
parse "$PEER"
is "$ids" "${F[id]-} ${F[peer_run]-}" "each names the other's run"
fastest base "" ""
base_iter=$ITER base_wire=$WIRE

for ms in 2 10; do
	remote "tc qdisc replace dev \$KRPING_NETDEV root netem delay ${ms}ms limit 10000"
	is "$REMOTE" '' "netem: $ms ms on the peer's packets"
	fastest "delay of $ms ms" "" ""
	share "$base_wire" "$WIRE"
	ok "a delay of $ms ms: $(((ITER - base_iter) / 1000)) us more, of it $SHARE % in the stages called wire" \
		test $SHARE -ge 90 -a $SHARE -le 110 -a $((ITER - base_iter)) -ge $((ms * 2000000))
done

# Lost packets come again: siw's by TCP, rxe's by its own timer, which its counters tell of.
hw_counters() { cat "/sys/class/infiniband/$LINK/ports/1/hw_counters/"* 2>/dev/null | tr '\n' ' '; }
before=$(hw_counters)
remote "tc qdisc replace dev \$KRPING_NETDEV root netem loss 3% limit 10000"
measured "a loss of 3 %" ",validate" ",validate"
ok "a loss of 3 %: $(((ITER - base_iter) / 1000)) us more" test "$ITER" -gt "$base_iter"
diag "hw_counters: $(cd "/sys/class/infiniband/$LINK/ports/1/hw_counters" 2>/dev/null && grep -v '^0$' ./* | tr '\n' ' ')"
# siw has none.
[ -z "$before" ] || ok "the device's own counters moved" test "$before" != "$(hw_counters)"
remote "tc qdisc del dev \$KRPING_NETDEV root"

# A busy peer, half of the time, with a task that goes before ours: to be seen here as waiting for it.
remote 'setsid chrt -f 50 perl -MTime::HiRes=time,sleep -e "while (1) { \$end = time + 0.02; 1 while time < \$end; sleep 0.02 }" >/dev/null 2>&1 & echo $!'
hog=${REMOTE%$'\n'}
fastest "a busy peer" "" ""
remote "kill $hog"
share "$base_wire" "$WIRE"
ok "a busy peer: $(((ITER - base_iter) / 1000)) us more, of it $SHARE % in the stages called wire" \
	test $SHARE -ge 90 -a $SHARE -le 110

remote "rmmod rdma_krping && echo gone"
is "$REMOTE" "gone
" "rmmod works at the other end"
client "client,addr=$KRPING_PEER,port=$PORT"
parse
is "${F[werr]-}" ECONNREFUSED "nobody listens over there"
remote end || :
done_testing
