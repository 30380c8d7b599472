#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# 23 pings in each mode, with the data verified on both sides. pairs.t has more modes, unit tests how a command may be written.

. "$(dirname "$0")/lib.sh"

# mode NAME SERVER-OPTIONS CLIENT-OPTIONS SIZE: makes 23 pings, and checks all that both ends report of them.
mode() {
	local all="iters=23 send_msgs=46 send_bytes=736 recv_msgs=46 recv_bytes=736" moved=$((23 * $4))
	good_pair "$1" 23 "$2" "$3"
	figures_are "$1: client's counters" "$all write_msgs=0 write_bytes=0 read_msgs=0 read_bytes=0 peer_run=$(field id "$SRV")" \
		"$1: server's counters" "$all write_msgs=23 write_bytes=$moved read_msgs=23 read_bytes=$moved peer_run=$(field id "$CLI") size=$4 count=23"
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

server any "server,addr=0.0.0.0,port=$PORT,validate"
client_good "0.0.0.0: client" "client,addr=$ADDR,port=$PORT,count=23,validate" 23
finish_good "0.0.0.0: server" any 23
is "$(field dev)" "$LINK" "0.0.0.0: the server knows its device"

# --- completion vectors ---
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
