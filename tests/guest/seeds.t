#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What the documents of the family show. Each command line of theirs is typed into a shell, with our address; and options of their
# tables, and of the older krping, are given to the client, to the server and to both ends where these do not go together, or have
# another name here.

. "$(dirname "$0")/lib.sh"

# --- the command lines, as they are in the documents ---
# typed WHAT SERVER CLIENT PINGS: types both lines.
typed() {
	local what=$1 spid cpid prints=''
	local s=${2/addr=+([0-9.])/addr=$ADDR} c=${3/addr=+([0-9.])/addr=$ADDR}
	[[ $s != *verbose* ]] || prints=$4
	[ -z "$prints" ] || printing_begin
	background server bash -c "$s"
	until_ok 10 listens_or_ended server
	background client bash -c "$c"
	spid=${PIDS[server]} cpid=${PIDS[client]}
	tool_end client
	is "$RC $(<"$T/client.err")" "0 " "$what: $c"
	tool_end server
	is "$RC $(<"$T/server.err")" "0 " "$what: $s"
	run_line "$cpid"
	line_is "role test state iters size" "client rping DONE $4 64" "$what: the client's run"
	run_line "$spid"
	line_is "role test state iters size" "server rping DONE $4 64" "$what: the server's run"
	[ -n "$prints" ] || return
	printing_end
	is "$(grep -c '^server ping data (64B max): |rdma-ping-[0-9]*: .*|$' <<<"$PRINTED") $(grep -c '^ping data (64B max): |rdma-ping-[0-9]*: .*|$' <<<"$PRINTED") $(wc -l <<<"$PRINTED")" \
		"$4 $4 $((2 * $4))" "$what: the server's pings and the client's pongs are in the kernel's log, and nothing else"
}
shopt -s extglob
while IFS='|' read -r what srv cli pings <&3; do
	typed "$what" "$srv" "$cli" "$pings"
done 3<<'END'
2007|echo "server,test=rping,addr=192.168.69.127,port=9999" >/proc/krping|echo "client,test=rping,addr=192.168.69.127,port=9999,count=100" >/proc/krping|100
a fork|echo "server,addr=192.168.1.16,port=9999" >/proc/krping|echo "client,addr=192.168.1.16,port=9999,count=1" >/proc/krping|1
krperf|echo "server,addr=192.168.69.127,port=9999,verbose" >/proc/krperf|echo "client,addr=192.168.69.127,port=9999,count=100,verbose" >/proc/krperf|100
krperf's log|echo "server,addr=10.95.3.140,port=9999" > /proc/krperf|echo "client,addr=10.95.3.140,port=9999,count=3" > /proc/krperf|3
2009|echo "server,addr=10.11.11.251,port=9999",verbose >/proc/krping|echo "client,addr=10.11.11.251,port=9999,count=100",verbose > /proc/krping|100
printf, without a newline|printf server,test=rping,addr=10.9.0.1,port=9999,verbose,count=2 >/proc/krping|printf client,test=rping,addr=10.9.0.1,port=9999,verbose,count=2 >/proc/krperf|2
END
pair_on
mapfile -t live < <(cat /proc/krping)
is "${#live[@]}" 2 "cat /proc/krping: a thread a line" || diag "${live[*]}"
for line in "${live[@]}"; do like "$line" "^[0-9]+-$LINK( [0-9]+){8}\$" "cat /proc/krping: its statistics"; done
pair_off

# --- the options: at the server | at the client | what has to come with rxe | with siw, if that is something else ---
# DONE: of both ends; or the client's errno and reason; or, behind "server", those of the server. A client has count=2 if nobody says how many.
row() {
	local base="addr=$ADDR,port=$PORT" s=server,$1 c=client,$2 want=$3 got=DONE
	[ "$PROVIDER" != siw ] || want=${4:-$3}
	[[ $s = *,addr* ]] && s+=,port=$PORT || s+=,$base
	[[ $c = *,addr* ]] && c+=,port=$PORT || c+=,$base
	[[ $s$c = *,count=* ]] || c+=,count=2
	server server "$s"
	if gone "${PIDS[server]}"; then
		finish server
		parse
		got="server ${F[werr]-} ${F[reason]-}"
	else
		client "$c"
		parse
		if [ "${F[werr]-} ${F[state]-}" != "0 DONE" ]; then
			got="${F[werr]-} ${F[reason]-}"
			interrupt server
		else
			finish server
			parse
			[ "${F[werr]-} ${F[state]-}" = "0 DONE" ] || got="server ${F[werr]-} ${F[reason]-}"
		fi
	fi
	is "$got" "${want//LINK/$LINK}" "server,$1 and client,$2"
}
echo 1 >/sys/module/rdma_krping/parameters/allow_dma_key
while IFS='|' read -r srv cli rxe siw <&3; do
	[[ -z $srv$cli$rxe || $srv = '#'* ]] || row "$srv" "$cli" "$rxe" "$siw"
done 3<<END
||DONE
# One of the two ends has it, or they differ: some of what tests/unit/test_command.c has. Those that go together are in pairs.t, but for
# the other names.
count=3|count=4|EPROTO the server refused: count differs: 3 there, 4 here
|mem_mode=mr|EINVAL mem_mode=mr: not one of its values
|dmamr|EINVAL dmamr: unknown option
server_inv||EPROTO the server refused: server_inv differs: there, not here
server_invalidate|server_invalidate|DONE
mem_mode=fastreg|mem_mode=reg|DONE
stag0|stag0|DONE
|read_inv|EOPNOTSUPP read_inv: the device has no READ_WITH_INV, which is of iWARP|DONE
read_inv||server EOPNOTSUPP read_inv: the device has no READ_WITH_INV, which is of iWARP|DONE
read_inv|wlat|server EOPNOTSUPP read_inv: the device has no READ_WITH_INV, which is of iWARP|EPROTO the server refused: read_inv differs: there, not here
wlat|bw|EPROTO the server refused: test differs: wlat there, bw here
bw,duplex|bw|EPROTO the server refused: duplex differs: there, not here
fr||EPROTO the server refused: test differs: fr there, rping here
|tos=32|DONE|EOPNOTSUPP tos: LINK does not set it
tos=32||EPROTO the server refused: tos differs: 32 there, none here|server EOPNOTSUPP tos: LINK does not set it
addr=0.0.0.0,tos=32||EPROTO the server refused: tos differs: 32 there, none here
random||EPROTO the server refused: random_size differs: there, not here
# All that goes together, at both ends.
count=5,size=100,validate,mem_mode=reg,server_inv,local_dma_lkey|count=5,size=100,validate,mem_mode=reg,server_inv,local_dma_lkey|DONE
size=100,validate,mem_mode=fastreg,server_invalidate,read-inv|size=100,validate,mem_mode=fastreg,server_invalidate,read-inv|server EOPNOTSUPP read_inv: the device has no READ_WITH_INV, which is of iWARP|DONE
END
echo 0 >/sys/module/rdma_krping/parameters/allow_dma_key

# --- a peer that says nothing of its options is let in ---
options=random_size
[ "$PROVIDER" = siw ] || options+=,tos=32
server server "server,addr=$ADDR,port=$PORT,$options"
ok "user-space rping is served by a server with $options" limited 60 rping -c -a "$ADDR" -p "$PORT" -C 3
finish_good "$options: a classic client" server 3

done_testing "after all that"
