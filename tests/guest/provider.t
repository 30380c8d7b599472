#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# krping stages --provider: what soft-RoCE and soft-iWARP do in the stage wire. Its stages tile wire, and a delay that is planted in a
# function of the provider is found in the stage that ends where that function begins: a kprobe spins before the program's stamp.

. "$(dirname "$0")/lib.sh"

MS=3 N=20

# A mark can be lost: newer kernels preempt programs, and do not enter one again meanwhile. Then the time is in the stage before.
# watched OPTIONS: a pair beside krping stages --provider, whose object load reads.
watched() {
	over ",count=$N$1" krping-stages -j --provider
	load krping-stages "{untiled: [.runs[].phases[] | select(.stages) | .stages.wire | select(.count > 0 and .sum_ns != ([.provider[].sum_ns] | add))] | length,
		stages: [.runs[].phases[] | select(.stages) | .stages.wire.provider | keys_unsorted[]] | unique | join(\" \"),
		read: [.runs[] | select(.role == \"server\") | .phases[] | select(.phase == \"read\") | .stages.wire.provider | to_entries[] | \"\(.key) \(.value.min_ns) \(.value.p50_ns)\"] | join(\";\")}"
	is "$RC ${Q[untiled]-}" "0 0" "${2-$1}: the stages of the provider tile wire" || diag "$(cat "$T/krping-stages.err")"
}

declare -A stages=([rxe]="ack complete net peer queue respond send task" [siw]="hand-over peer receive send")
for opts in $(rounds "- ,server_inv,validate ,size=64K ,poll_ctx=softirq" "-"); do
	opts=${opts#-}
	watched "$opts" "options ${opts:-none}"
	# siw's call that sends mostly ends after the peer has received, and a large message fills the socket.
	is "$(tr ' ' '\n' <<<"${Q[stages]-}" | grep -vx "$([ "$PROVIDER" = rxe ] || echo 'net\|tcp')" | xargs)" "${stages[$PROVIDER]}" "options ${opts:-none}: all stages"
done

# Of requests in flight more than one is under way in wire.
over ",count=100,test=bw" krping-stages -j --provider
load krping-stages '{wires: [.runs[].phases[] | select(.stages) | .stages.wire.count] | add, parts: [.runs[].phases[] | select(.stages) | .stages.wire.provider[]] | length}'
is "$RC ${Q[wires]-} ${Q[parts]-}" "0 100 0" "test=bw: its wire is not divided"

# Other kernels have to load the programs, and to call their functions as the table in tools/stages/provider.c says.
[ "${KRPING_SUITE-}" != load ] || done_testing

# A function, the stage of the server's READ that a delay of its calls makes longer, and by how many of them: a READ has one packet
# there and one back. Without a number its calls are not as many as the packets.
while read -r function stage times; do
	[ "$function" != rxe_responder ] || grep -q ' rxe_responder' /proc/kallsyms || function=rxe_receiver
	ok "calls of $function are held up" insmod "$PLANTS/krping_bend.ko" "function=$function" ms=$MS
	watched "" "$function held up"
	rmmod krping_bend
	while read -r name min p50; do
		if [ "$name" = "$stage" ]; then
			within="$((MS * ${times:-1} * 1000000)) ns"
			ok "$function: $stage is longer by $within: $p50" test "$p50" -ge $((MS * ${times:-1} * 1000000))
			[ -z "$times" ] || ok "$function: and not by more than a tenth: $min" test "$min" -le $((MS * times * 1100000))
		elif [ -n "$times" ] && [[ "$function $name" != "rxe_icrc_generate respond" ]]; then
			ok "$function: $name is not longer: $min" test "$min" -lt $((MS * 500000))
		fi
	done < <(tr ';' '\n' <<<"${Q[read]-}")
done < <(grep "^$PROVIDER" <<'END'
rxe_requester task
rxe_icrc_generate send 1
rxe_resp_queue_pkt net 1
rxe_responder queue
rxe_comp_queue_pkt ack 1
rxe_completer ack
rxe_cq_post complete 1
siw_qp_sq_process hand-over
siw_tx_hdt send
siw_sqe_complete receive 1
END
)

# --- attached in the middle of a run; many times; and while it is attached its provider stays ---
pair_on
for ((n = $(rounds 30 1); n; n--)); do
	# What is lost there depends on how often the tool has the CPU.
	ok "attached beside a run" eval "krping stages --provider -j -t 0.3 | jq -e .final >/dev/null"
done
attach krping-stages -j --provider
module=$([ "$PROVIDER" = rxe ] && echo rdma_rxe || echo siw)
ok "its provider cannot be unloaded" eval "! rmmod $module 2>\"$T/err\""
more_pings client 5
pair_off
tool_ok "attached in the middle: it ends well" krping-stages INT
load krping-stages '{late: [.runs[] | select(.attached_late)] | length, residual: [.runs[].residual_ns]}'
is "${Q[residual]-}" '[0,0]' "attached in the middle: no time is missing"
done_testing
