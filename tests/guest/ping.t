#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# 23 pings in each mode, with the data verified on both sides. pairs.t has more modes, unit tests how a command may be written.

. "$(dirname "$0")/lib.sh"

# rxe completes a message at the receiver before it acknowledges the message. If rxe is delayed in between (only an emulator
# whose CPUs take turns delays rxe long enough), the server has answered and left meanwhile, and nobody acknowledges the
# client's last SEND. This is no fault of the module if the provider flushed one SEND of this run. The server's queue
# pair may then have gone to the error state while rxe was still working on that message, and rxe repeats the message into the
# other four RECVs (docs/known-bugs.md). With one CPU, TURNS is 0: rxe acknowledges before the server can run, and there is no
# excuse.
unacked=0
flushed_sends() { grep -c ": krping_wc_flush: run=${F[id]} .* kind=SEND " $PARTING/trace; }

# mode NAME SERVER-OPTIONS CLIENT-OPTIONS SIZE: makes 23 pings, and checks all that both ends report of them.
mode() {
	local name=$1 size=$4 want ids late=''
	ping_pair "$2" "$3"
	check_good "$name: client" "$CLI" 23
	ids="server ${F[peer_run]-} client ${F[id]-}"
	counters
	if [ "$TURNS $PROVIDER" = "1 rxe" ] && [ "$(flushed_sends)" = 1 ]; then
		diag "$name: rxe has not acknowledged the client's last SEND"
		unacked=$((unacked + 1)) late=yes
	fi
	is "$counters" "send=46/736 recv=46/736 write=0/0 read=0/0" "$name: client's counters"
	check_good "$name: server" "$SRV" 23
	is "$ids" "server ${F[id]-} client ${F[peer_run]-}" "$name: each names the other's run"
	want="size=$size count=23"
	is "size=${F[size]-} count=${F[count]-}" "$want" "$name: the server agreed on $want"
	counters
	if [ -n "$late" ] && [[ $counters == *" recv=50/800 "* ]]; then
		diag "$name: and has repeated it into the server's other RECVs"
		counters=${counters/recv=50\/800/recv=46\/736}
	fi
	is "$counters" "send=46/736 recv=46/736 write=23/$((23 * size)) read=23/$((23 * size))" "$name: server's counters"
}

# counters: sets counters to the messages and bytes that the parsed line counts.
counters() {
	local k
	counters=''
	for k in send recv write read; do
		counters+=" $k=${F[${k}_msgs]-}/${F[${k}_bytes]-}"
	done
	counters=${counters# }
}

parting_on
both=,validate,count=23
mode "default" $both $both 64
mode "server_inv" $both,server_inv $both,server_inv 64
mode "without validate" ,count=23 ,count=23 64
for size in $(rounds '1 2 13 64 4096 4097 65536 131072' '1 4097 131072' 4097); do
	mode "size $size" $both,size=$size $both,size=$size $size
done
mode "server_inv, size 131072" $both,server_inv,size=131072 $both,server_inv,size=131072 131072
mode "empty options" ",,$both,," ",,$both" 64
mode "a server with no options adopts" "" ,count=23,size=4097,validate 4097

[ $unacked = 0 ] || diag "last SENDs that were not acknowledged: $unacked"

server any "server,addr=0.0.0.0,port=$PORT,validate"
client_good "0.0.0.0: client" "client,addr=$ADDR,port=$PORT,count=23,validate" 23
finish_good "0.0.0.0: server" any 23
is "$(field dev)" "$LINK" "0.0.0.0: the server knows its device"

# The command of 2007, written by a shell without a change; seeds.t has those of other documents.
printing_begin
printf 'server,test=rping,addr=%s,port=9999,verbose,count=2' "$ADDR" >/proc/krping &
PIDS[seed]=$!
until_ok 10 is_listening seed
ok "the 2007 text's client, with printf and through /proc/krperf" \
	bash -c "printf 'client,test=rping,addr=$ADDR,port=9999,verbose,count=2' >/proc/krperf"
finish seed
printing_end
line_is "state iters" "DONE 2" "the 2007 text's server"
is "$(grep -c '^server ping data (64B max): |rdma-ping-[01]: ' <<<"$PRINTED")" 2 "verbose prints the server's pings"
is "$(grep -c '^ping data (64B max): |rdma-ping-[01]: ' <<<"$PRINTED")" 2 "verbose prints the client's pongs"
is "$(wc -l <<<"$PRINTED")" 4 "verbose prints nothing else"

# --- completion vectors ---
ping_pair ",count=5,comp_vector=0" ",count=5,comp_vector=0"
check_good "comp_vector=0: client" "$CLI" 5
server vector "server,addr=$ADDR,port=$PORT,comp_vector=65535"
client "client,addr=$ADDR,port=$PORT,count=5"
finish_like vector "werr reason" "^EINVAL comp_vector: 65535, but $LINK has [0-9]+ of them\$" \
	"comp_vector=65535: the device has not so many"

read -r head </proc/krping_runs
like "$head" '^# krping runs abi=1 events=[0-9]+ evicted=[0-9]+ nonce=0x[0-9a-f]+$' "the first line of krping_runs"
help=$(cat /proc/krping_help)
like "$help" 'server_inv' "krping_help lists the options"
is "$(stat -c %a /proc/krping) $(stat -c %a /proc/krping_runs) $(readlink /proc/krperf)" "600 444 krping" \
	"the files' modes, and the link"
is "$(modinfo -F alias "$KRPING_MODULE")" rdma_krperf "modprobe rdma_krperf loads it, too"

done_testing
