#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# User-space rping, the peer that we did not write, as client and as server.

. "$(dirname "$0")/lib.sh"

# our_server NAME SERVER-OPTIONS SIZE RPING-OPTION...
our_server() {
	local name=$1 opts=$2 size=$3
	shift 3
	server server "server,addr=$ADDR,port=$PORT$opts"
	ok "$name: rping says that it went well" limited 20 rping -c -a "$ADDR" -p $PORT -C 23 "$@"
	finish_good "$name: server" server 23
	is "${F[classic]-} ${F[size]-} ${F[peer_run]-} ${F[read_bytes]-} ${F[write_bytes]-}" \
		"1 $size 0 $((23 * size)) $((23 * size))" "$name: a classic peer, $size bytes"
}

our_server "rping -c" ,validate 64 -V
our_server "rping -c -S 100" ,validate 100 -V -S 100
our_server "rping -c -S 100, size=100" ,validate,size=100 100 -V -S 100
our_server "rping -c -S 65535" ,validate 65535 -V -S 65535
our_server "rping -c, count=23" ,validate,count=23 100 -V -S 100

# The size is that of the first ping, also where that only warms up.
server server "server,addr=$ADDR,port=$PORT,warmup=3"
ok "rping -c -S 100, warmup=3" limited 20 rping -c -a "$ADDR" -p $PORT -C 23 -S 100
finish_good "rping -c -S 100, warmup=3: server" server 20
is "${F[size]-}" 100 "rping -c -S 100, warmup=3: 100 bytes"

# If rping's size is less than the server's, it is served with its own size; if it is more, it is refused.
server server "server,addr=$ADDR,port=$PORT,size=4096"
ok "rping -c -S 100, size=4096" limited 20 rping -c -a "$ADDR" -p $PORT -C 5 -S 100
finish_good "rping -c -S 100, size=4096: server" server 5
server server "server,addr=$ADDR,port=$PORT,size=64"
limited 20 rping -c -a "$ADDR" -p $PORT -C 5 -S 100 >/dev/null 2>&1
finish_is server "werr reason" "EPROTO 100 bytes advertised, 64 agreed" "rping -c -S 100, size=64: EPROTO"

# our_client NAME CLIENT-OPTIONS RPING-OPTION...
our_client() {
	local name=$1 opts=$2
	shift 2
	rping -s -a "$ADDR" -p $PORT "$@" >"$T/rping.log" 2>&1 &
	PIDS[rping]=$!
	until_ok 5 rping_listens
	client_good "$name: client" "client,addr=$ADDR,port=$PORT,count=23,validate$opts" 23
	is "${F[classic]-} ${F[peer_run]-}" "1 0" "$name: a classic peer"
	tool_ends "$name: rping ends well" rping || diag "$(cat "$T/rping.log")"
}

our_client "rping -s" "" -V
our_client "rping -s -S 100" ,size=100 -V -S 100

# rping_killed NAME WHAT
rping_killed() {
	rping_ends
	finish "$1" 10
	check_parted "$2: the $1 ends by what it was doing"
	ok "$2: the pings of the $1 are counted" test "${F[iters]}" -ge 3
}

# rping_pings ROLE: rping pings our server, or our client pings rping.
rping_pings() {
	if [ "$1" = server ]; then
		server server "server,addr=$ADDR,port=$PORT,size=65535"
		rping -c -a "$ADDR" -p $PORT -S 65535 >/dev/null 2>&1 &
		PIDS[rping]=$!
	else
		rping_server
		start client "client,addr=$ADDR,port=$PORT,count=1000000"
	fi
	wait_pings "$1"
}

# rping leaves where we want it to. Between two pings that is a good end, since the server cannot know how many pings
# this peer wanted.
parting_on
while read -r role state wanted; do
	rping_pings "$role"
	until_ok 60 rping_stopped "$role" "$state"
	is "${F[state]-}" "$state" "rping is stopped: the $role waits in $state"
	rping_killed "$role" "rping is killed in $state"
	like "${F[werr]} ${F[state]} ${F[reason]-}" "^$wanted" "rping is killed in $state: the $role ends as it has to"
done <<'END'
server CONNECTED 0 DONE $
server RDMA_READ_COMPLETE ECONNRESET ERROR the peer disconnected in iteration
client RDMA_READ_ADV ECONNRESET ERROR the peer disconnected after [0-9]+ of 1000000 iterations
client RDMA_WRITE_ADV ECONNRESET ERROR the peer disconnected after [0-9]+ of 1000000 iterations
END

# rping leaves wherever it happens to be. When a process is killed, the kernel frees its memory before its queue pair,
# so a READ or WRITE of this memory that is under way is refused.
for role in server client; do
	rping_pings $role
	rping_killed $role "rping is killed anywhere"
done

done_testing "after rping was killed"
