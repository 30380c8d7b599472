#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The words of an iteration are what krping_phase, krping_wait and the krping_mr events of the same recording tell (words.pl
# compares them); an event that comes in the middle of an iteration has a part, without words.

. "$(dirname "$0")/lib.sh"

# recorded KINDS CLIENT SERVER [COUNT [ITERS]]: a pair with these options, while all events are on, but of those with words only the
# KINDS. ITERS is how many iterations the client has.
recorded() {
	local n=${4:-12} iters kind
	iters=${5:-$n}
	trace_on .
	for kind in phases stages memory split; do
		[[ " $1 " == *" $kind "* ]] || echo 0 >$TRACING/events/krping/krping_iter_$kind/enable
	done
	ping_pair "$3" ",count=$n$2"
	name="${1:-no words}: client${2:-, no options}, server$3"
	trace_end "$name"
	check_good "$name: client" "$CLI" "$iters"
	absorb "$here/words.pl" "$name" "$1" "$T/trace"
}

echo 1 >/sys/module/rdma_krping/parameters/allow_dma_key

# --- all words, of all tests and of what changes their requests ---
recorded "stages memory" ,server_inv ,server_inv
recorded "" "" ""
recorded "phases stages memory split" "" ""
# Each iteration of the warm-up has seven words, and all of them are of the set-up.
recorded "memory" ,test=fr,size=20000,warmup=30 ""
like "$(grep -c ' krping_iter_memory: .* flags=more ' "$T/trace")" '^([3-9]|[1-9][0-9])$' "fr, warmup=30: the words of the set-up need several events"
# A poll finds several completions, of which most are those of later phases.
recorded "stages memory" ,test=bw,txdepth=16 "" 60

# --- readers come and go while runs ping ---
# come_and_go EVENT...: the text of these events, which are on all the time, is in $T/trace then. There is a whole iteration while others
# are on, and one while they are not.
come_and_go() {
	local i kind kinds
	trace_on "$@"
	server endless "server,addr=$ADDR,port=$PORT"
	pinging endless-client "client,addr=$ADDR,port=$PORT,interval=2ms" 20
	for ((i = 0; i < $(rounds 25 8); i++)); do
		kinds=(phases)
		((i % 2)) || kinds=(stages memory)
		for kind in "${kinds[@]}"; do echo 1 >$TRACING/events/krping/krping_iter_$kind/enable; done
		more_pings endless-client
		for kind in "${kinds[@]}"; do echo 0 >$TRACING/events/krping/krping_iter_$kind/enable; done
		more_pings endless-client
	done
	interrupt endless-client
	finish endless
	trace_end "they come and go"
}
# The event krping_phase makes the module time each phase by itself. Without it phases are timed only while somebody reads them.
come_and_go krping_run_start krping_iter krping_run_end
absorb "$here/words.pl" "they come and go, without krping_phase" any "$T/trace"
# Each of these takes seconds: where the rounds are few, one provider has the first, the third and so on, and the other one the rest.
pairs=(
	"stages memory~,poll_ctx=thread~,poll_ctx=thread"
	"stages memory~,poll_ctx=softirq~,poll_ctx=softirq"
	"stages memory~,poll_ctx=workqueue~,poll_ctx=workqueue"
	"stages memory~,poll_ctx=busy~,poll_ctx=busy"
	"stages memory~,chain,poll_ctx=softirq~,chain,poll_ctx=softirq"
	"stages~~"
	"~,server_inv,chain~,server_inv,chain"
	"phases~,chain,warmup=5~,chain"
	"memory~~"
	"phases memory~,test=bw,txdepth=16~~60"
	"stages memory~~,local_dma_lkey"
	"stages memory~,mem_mode=dma~,mem_mode=dma"
	"stages memory~,srq~,srq"
	"stages memory~,size=100000,validate,warmup=5~,validate"
	"stages memory~,random_size,size=5000~"
	"stages memory~,test=fr,size=20000~~60"
	"stages memory~,test=fr,size=20000,poll_ctx=softirq~~60"
	"stages memory~,test=wlat,server_inv~,server_inv~30"
	"stages memory~,test=rlat~~30"
	"stages memory~,test=bw,duplex,txdepth=16~~60"
	"stages memory~,test=bw,txdepth=64,signal=8,post_list=4~~30"
	"stages memory~,test=fast,txdepth=16~~60~0"
)
[ "$PROVIDER" = rxe ] && first=0 || first=1
for ((p = 0; p < ${#pairs[@]}; p++)); do
	[ $((p % 2)) = "$first" ] || [ "$(rounds many few)" = many ] || continue
	IFS='~' read -r names client server count iters <<<"${pairs[p]}"
	recorded "$names" "$client" "$server" ${count:+"$count"} ${iters:+"$iters"}
done
[ "$PROVIDER" != siw ] || recorded "stages memory" "" ,read_inv

# --- test=protect: two connections, each way of a key to end, and a registration that fails ---
for case in send_inv_key_before read_dereg reg_other_pd; do
	traced "protect, $case" . ping_pair "" ",test=protect,case=$case"
	absorb "$here/words.pl" "protect, $case" "phases stages memory" "$T/trace"
done
ok "protect: some requests were flushed" grep -q 'krping_mr_done: .* err=-125 ' "$T/trace"

# The costs of flushed requests are told also if, of the events that could tell of them, only these two are on.
traced "protect, flushed" "krping_iter_memory krping_wc_flush krping_wc_err" ping_pair "" ",test=protect,case=reg_other_pd"
ok "protect: costs of flushed requests are told while krping_wc_flush is on" perl -ne \
	'if (/krping_iter_memory: .*words=\{([^}]*)\}/) { $n += grep { (hex() & 0x40ff) == 0x40f1 } split /,/, $1 } END { exit !$n }' \
	$TRACING/trace

# --- the same with krping_phase, which says what each iteration has to have ---
come_and_go krping_run_start krping_phase krping_iter krping_run_end
absorb "$here/words.pl" "they come and go" any "$T/trace"
ok "they come and go: some iterations have stages" grep -q 'krping_iter_stages: .*0x[0-9a-f]*[89ab][0-9a-f][0-9a-f][,}]' "$T/trace"

# The set-up, the warm-up, and each pause (one before each iteration) are told once by each event.
traced "warmup and interval" "krping_iter krping_iter_phases" ping_pair "" ",count=3,warmup=5,interval=2ms"
for event in krping_iter krping_iter_phases; do
	told=$(sed -nE "s/.* $event: run=$(field id "$CLI") .* flags=(commit)?.*/<\1>/p" $TRACING/trace | tr -d '\n')
	is "$told" '<><><><commit><><commit><><commit><>' "warmup=, interval=, $event: what is told"
done

# --- the module goes while its events are on, which keeps no module loaded ---
trace_on krping_iter_stages krping_iter_memory
ping_pair "" ",count=3"
again() { rmmod rdma_krping && insmod "$KRPING_MODULE"; }
ok "the module is unloaded while its events are on, and loaded again" again
trace_off
done_testing "after all that"
