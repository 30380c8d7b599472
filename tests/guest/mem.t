#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Keys of memory: mem_mode=dma and who may have it, local_dma_lkey, read_inv, and server_inv in each test that advertises
# memory. Each run's registrations and invalidations are the arithmetic's, and validated pings bring back their data.

. "$(dirname "$0")/lib.sh"

N=23
allow=/sys/module/rdma_krping/parameters/allow_dma_key

# row WHAT SERVER CLIENT KEYS KEYS: a pair of runs with these options; KEYS of server and client are their REG_MRs, LOCAL_INVs,
# keys that the peer invalidated, and keys that READs did.
row() {
	local what=$1 server=$2 client=$3 iters=$N mode=reg
	# The client of fast has no iterations of its own.
	[[ $client != *,fast* ]] || iters=0
	[[ $client != *,mem_mode=dma* ]] || mode=dma
	ping_pair "$server" "$client,count=$N"
	check_good "$what: client" "$CLI" $iters
	is "${F[fastreg]} ${F[localinv]} ${F[reminv]} ${F[readinv]}" "$5" "$what: client: registrations, and invalidations by it, by the peer, by READs"
	is "${F[mem_mode]}" $mode "$what: client: mem_mode"
	line_is "state errno" "DONE 0" "$what: server" "$SRV"
	is "${F[fastreg]} ${F[localinv]} ${F[reminv]} ${F[readinv]}" "$4" "$what: server: registrations, and invalidations by it, by the peer, by READs"
}

# denied WHAT REGEX COMMAND...: the command, which writes to /proc/krping, fails with EPERM and such a reason.
denied() {
	local what=$1 regex=$2
	shift 2
	parse "$("$@")"
	is "${F[ret]-} ${F[werr]-} ${F[state]-} ${F[errno]-}" "-1 EPERM ERROR 1" "$what: EPERM"
	like "${F[reason]-}" "$regex" "$what: the reason"
}

# --- who may have a key for all memory ---
client="client,addr=$ADDR,port=$PORT,count=1,mem_mode=dma"
is "$(cat $allow)" N "nobody may have a key for all memory, unless the administrator says so"
for command in "$client" "server,port=$PORT,mem_mode=dma" "server,port=$PORT,clients=2,mem_mode=dma"; do
	denied "$command: without allow_dma_key" '^mem_mode=dma: the module parameter allow_dma_key is not set$' "$krwrite" "$command"
done
echo 1 >$allow
denied "without CAP_SYS_RAWIO" '^mem_mode=dma: needs CAP_SYS_RAWIO$' setpriv --bounding-set=-sys_rawio "$krwrite" "$client"

# --- rping ---
v=,validate
default="$((2 * N)) $((2 * N - 1)) 0 0" none="0 0 0 0"
row "one key for all memory" $v,mem_mode=dma $v,mem_mode=dma "$none" "$none"
row "the server's one key" $v,mem_mode=dma $v "$none" "$default"
row "the client's one key" $v $v,mem_mode=dma "$default" "$none"
row "one key, server_inv" ,mem_mode=dma,server_inv $v,server_inv "$none" "$((2 * N)) 0 $((2 * N)) 0"
row "local_dma_lkey" $v,local_dma_lkey $v,local_dma_lkey "$N $N 0 0" "$default"
row "local_dma_lkey, chain, server_inv" ,local_dma_lkey,chain,server_inv $v,server_inv "$N $N 0 0" "$((2 * N)) 0 $((2 * N)) 0"
if [ "$PROVIDER" = siw ]; then
	row "read_inv" $v,read_inv $v "$((2 * N)) $((N - 1)) 0 $N" "$default"
	row "read_inv at both ends" $v,read_inv $v,read_inv "$((2 * N)) $((N - 1)) 0 $N" "$default"
	row "read_inv, which the client asks for" $v $v,read_inv "$((2 * N)) $((N - 1)) 0 $N" "$default"
	row "read_inv, which a client with one key asks for" ,chain $v,read_inv,mem_mode=dma "$((2 * N)) $((N - 1)) 0 $N" "$none"
	lying_server pings=0 count=$N
	client "client,addr=$ADDR,port=$PORT,count=$N,read_inv"
	tool_end liar
	line_is "werr reason" "EPROTO the server answered: read_inv differs: here, not there" "read_inv: a server that was asked, and lets the client in without"
else
	# Where the device is known before a client is there, and where it is not.
	for at in "$ADDR" 0.0.0.0; do
		server own "server,addr=$at,port=$PORT,read_inv"
		client_is "client,addr=$ADDR,port=$PORT,count=$N" "state errno" "ERROR 111" "$at: read_inv: the client is refused"
		finish_is own "state errno" "ERROR 95" "$at: read_inv: EOPNOTSUPP where no device has it"
		is "${F[reason]} ${F[rejects]}" 'read_inv: the device has no READ_WITH_INV, which is of iWARP 0' "$at: read_inv: the reason"
	done
	server asked "server,addr=$ADDR,port=$PORT"
	diag "$("$liar" client "$ADDR" $PORT flags=8 2>&1)"
	client_good "read_inv, which a client asked for in vain: the next client" "client,addr=$ADDR,port=$PORT,count=$N" $N
	finish_good "read_inv, which a client asked for in vain: the server" asked $N
	is "${F[rejects]}" 1 "it has refused that client"
fi

# --- the other tests that advertise memory; pairs.t has more of this ---
row "wlat, server_inv" ,server_inv ,wlat,server_inv "2 0 0 0" "2 0 1 0"
row "fast, server_inv, local_dma_lkey" ,server_inv,local_dma_lkey ,fast,server_inv "$none" "1 0 1 0"

# --- a peer that is not krping ---
server classic "server,addr=$ADDR,port=$PORT,count=7,mem_mode=dma,validate"
ok "user-space rping is served with one key" limited 60 rping -c -a "$ADDR" -p "$PORT" -C 7 -S 100
finish_good "one key: a classic client" classic 7
if [ "$PROVIDER" = siw ]; then
	server classic "server,addr=$ADDR,port=$PORT,count=7,read_inv,local_dma_lkey,validate"
	ok "user-space rping is served with read_inv" limited 60 rping -c -a "$ADDR" -p "$PORT" -C 7 -S 100
	finish_good "read_inv: a classic client" classic 7
fi

# --- the key is one and the same ---
traced "one key" "krping_adv_send krping_mr_map krping_mr_fastreg krping_mr_dereg" ping_pair ,mem_mode=dma ,count=5,mem_mode=dma
keys=$(sed -nE "s/.* krping_adv_send: run=$(field id "$CLI") .* rkey=(0x[0-9a-f]+) .*/\\1/p" $TRACING/trace | sort | uniq -c | awk '{ print $1 }' | xargs)
is "$keys" 10 "all advertisements of the client have the same key"
is "$(grep -c ' krping_mr_' $TRACING/trace)" 0 "no memory region, no event of one"

echo 0 >$allow
denied "allow_dma_key=0 takes it back" 'allow_dma_key is not set$' "$krwrite" "$client"

done_testing
