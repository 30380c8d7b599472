#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The words of krping_iter are what krping_phase, krping_wait and the krping_mr events of the same recording tell (words.pl
# compares them); those that an observer has to ask for are there while one does, and at no other time.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-tools.sh"

# asked NAMES CLIENT SERVER [COUNT [ITERS]]: a pair with these options, while somebody asks for NAMES ("": nobody does). ITERS is how
# many iterations the client has.
asked() {
	local names=$1 n=${4:-12} iters
	iters=${5:-$n}
	# shellcheck disable=SC2086 # names are words
	[ -z "$names" ] || observe $names
	trace_on .
	ping_pair "$3" ",count=$n$2"
	name="${names:-nothing}: client${2:-, no options}, server$3"
	trace_end "$name"
	[ -z "$names" ] || observe_end
	check_good "$name: client" "$CLI" "$iters"
	absorb "$here/words.pl" "$name" "$names" "$T/trace"
}

echo 1 >/sys/module/rdma_krping/parameters/allow_dma_key

# --- all words, of all tests and of what changes their requests ---
asked "stages memory" ,server_inv ,server_inv
asked "" "" ""
asked "phases" "" ""
# Each iteration of the warm-up has seven words, and all of them are of the set-up.
asked "memory" ,test=fr,size=20000,warmup=30 ""
like "$(grep -c ' krping_iter: .* flags=more ' "$T/trace")" '^([3-9]|[1-9][0-9])$' "fr, warmup=30: the words of the set-up need several events"
# A poll finds several completions, of which most are those of later phases.
asked "stages memory" ,test=bw,txdepth=16 "" 60

# --- observers come and go while runs ping ---
# come_and_go EVENT...: the text of these events is in $T/trace then. There is a whole iteration while somebody asks, and one while
# nobody does.
come_and_go() {
	local i
	trace_on "$@"
	server endless "server,addr=$ADDR,port=$PORT"
	pinging endless-client "client,addr=$ADDR,port=$PORT,interval=2ms" 20
	for ((i = 0; i < $(rounds 25 8); i++)); do
		# shellcheck disable=SC2046 # names are words
		observe $( ((i % 2)) && echo phases || echo stages memory)
		more_pings endless-client
		observe_end
		more_pings endless-client
	done
	interrupt endless-client
	finish endless
	trace_end "they come and go"
}
# The event krping_phase makes the module time each phase by itself. Without it phases are timed only while somebody asks.
come_and_go krping_run_start krping_iter krping_run_end
absorb "$here/words.pl" "they come and go, without krping_phase" any "$T/trace"
[ -z "${KRPING_MUTANT:-}" ] || done_testing
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
	asked "$names" "$client" "$server" ${count:+"$count"} ${iters:+"$iters"}
done
[ "$PROVIDER" != siw ] || asked "stages memory" "" ,read_inv

# --- test=protect: a connection for each case, requests that fail, and keys that are never executed ---
observe stages memory
trace_on .
ping_pair "" ",test=protect"
trace_end protect
observe_end
absorb "$here/words.pl" protect "stages memory" "$T/trace"
ok "protect: some requests were flushed" grep -q 'krping_mr_done: .* err=-125 ' "$T/trace"

# The costs of flushed requests are told also if, of the events that could tell of them, only these two are on.
observe memory
trace_on krping_iter krping_wc_flush krping_wc_err
ping_pair "" ",test=protect"
trace_off
observe_end
ok "protect: costs of flushed requests are told while krping_wc_flush is on" perl -ne \
	'if (/krping_iter: .*words=\{([^}]*)\}/) { $n += grep { (hex() & 0x40ff) == 0x40f1 } split /,/, $1 } END { exit !$n }' \
	$TRACING/trace

# --- the same with krping_phase, which says what each iteration has to have ---
come_and_go krping_run_start krping_phase krping_iter krping_run_end
absorb "$here/words.pl" "they come and go" any "$T/trace"
ok "they come and go: some iterations have stages" grep -q 'krping_iter: .*0x[0-9a-f]*[89ab][0-9a-f][0-9a-f][,}]' "$T/trace"

# The set-up, the warm-up, and each pause (one before each iteration) are told once, whether somebody asks for phases or not.
for names in '' phases; do
	[ -z "$names" ] || observe $names
	trace_on krping_iter
	ping_pair "" ",count=3,warmup=5,interval=2ms"
	trace_off
	[ -z "$names" ] || observe_end
	told=$(sed -nE "s/.* krping_iter: run=$(field id "$CLI") .* flags=(commit)?.*/<\1>/p" $TRACING/trace | tr -d '\n')
	is "$told" '<><><><commit><><commit><><commit><>' "warmup=, interval=, ${names:-nobody asks}: what is told"
done

# --- who asks, and how ---
counts() { tr '\n' ' ' </proc/krping_observe; }
is "$(counts)" "phases 0 stages 0 memory 0 split 0 " "nobody asks"
exec 5>/proc/krping_observe
echo "stages" >&5
is "$(counts)" "phases 0 stages 1 memory 0 split 0 " "one asks for stages"
printf ' memory \n stages\t' >&5
is "$(counts)" "phases 0 stages 1 memory 1 split 0 " "it also asks for memory, and again for stages: it counts once"
observe memory
is "$(counts)" "phases 0 stages 1 memory 2 split 0 " "another one asks"
for words in "wires" "stages wires" "stage" "stagesmemory" " " "$(printf 'stages %.0s' {1..20})"; do
	exec 6>/proc/krping_observe
	is "$(echo "$words" >&6 2>&1; counts)" "phases 0 stages 1 memory 2 split 0 " "\"${words:0:20}\": refused, and asks for nothing"
	exec 6>&-
done 2>/dev/null
observe_end
is "$(counts)" "phases 0 stages 1 memory 1 split 0 " "one of the two is killed"
exec 5>&-
is "$(counts)" "phases 0 stages 0 memory 0 split 0 " "the other one closes its file"

# as USER-OPTIONS: asks as somebody else.
as() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@" sh -c \
		'exec 3<>/proc/krping_observe && cat <&3 >/dev/null && echo stages >&3 && grep -q "stages 1" /proc/krping_observe' 2>"$T/err"
}
refused() { ! as "$@"; }
ok "nobody without a capability may ask" refused
ok "CAP_PERFMON is enough" as --inh-caps=+perfmon --ambient-caps=+perfmon || diag "$(cat "$T/err")"
is "$(counts)" "phases 0 stages 0 memory 0 split 0 " "nobody asks any more"

# --- the module goes while somebody asks ---
exec 5>/proc/krping_observe
echo "stages memory" >&5
again() { rmmod rdma_krping && insmod "$KRPING_MODULE"; }
ok "the module is unloaded while somebody asks, and loaded again" again
is "$(counts)" "phases 0 stages 0 memory 0 split 0 " "nobody has asked the new one"
exec 5>&-
is "$(counts)" "phases 0 stages 0 memory 0 split 0 " "nor does the old one's observer matter when it goes"
works_after "after all that"
done_testing
