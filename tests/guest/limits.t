#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Errors that rxe and siw do not provoke, or not in a lifetime: a device without fast registration, or with few pages
# (EOPNOTSUPP), and the end of the run ids (EOVERFLOW): tests/plant/krping_bend.c provokes them. And what only a slow machine shows:
# it holds a function up.

. "$(dirname "$0")/lib.sh"

ok "$LINK without fast registration" insmod "$PLANTS/krping_bend.ko" "device=$LINK" no_fastreg=1
refused "a server" "server,addr=$ADDR,port=$PORT" "EOPNOTSUPP $LINK has no fast registration"
refused "a client" "client,addr=$ADDR,port=$PORT" "EOPNOTSUPP $LINK has no fast registration"
rmmod krping_bend

ok "$LINK with 4 pages a registration" insmod "$PLANTS/krping_bend.ko" "device=$LINK" pages=4
refused "a client with 5 pages" "client,addr=$ADDR,port=$PORT,size=16385" \
	"EOPNOTSUPP size=16385: one registration of $LINK takes 16384 bytes less the offset"
good_pair "4 pages" 3 ",count=3" ",count=3,size=16384"
rmmod krping_bend
works_after "$LINK as it was"

# Devices with a drain of their own look into a queue that nobody polls only each 100 ms, and this one each 10 s: a run that waits for
# that ends late.
ok "$LINK drains by itself" insmod "$PLANTS/krping_bend.ko" "device=$LINK" drains=1
for ctx in thread busy softirq workqueue; do
	good_pair "$LINK drains by itself: the $ctx" 3 ",count=3,poll_ctx=$ctx"
done
is "$(cat /sys/module/krping_bend/parameters/ticks)" 0 "$LINK drains by itself: it waits for no tick"
rmmod krping_bend

# The end of a run is held up just before its result is written down: who reads its line then, on another CPU, sees all of the result,
# or nothing.
nr=0 torn=0
ok "the end of each run is held up" insmod "$PLANTS/krping_bend.ko" function=krping_phases_end ms=1000
background held "$krwrite" "client,addr=$ADDR,port=$PORT"
while ! gone "${PIDS[held]}"; do
	line=$(tail -n 1 /proc/krping_runs)
	[[ $line == *" role=client "* ]] || continue
	nr=$((nr + 1))
	[[ $line != *' state=ERROR '*' reason=""' ]] || torn=$((torn + 1))
done
tool_end held
like "$(cat "$T/held.out")" ' werr=ECONNREFUSED .* state=ERROR .* reason="[^"]' "it has an errno and a reason in the end"
ok "its end was held up" test "$(cat /sys/module/krping_bend/parameters/calls)" -ge 1
ok "its line was read meanwhile ($nr times)" test $nr -ge 1
is $torn 0 "no line says ERROR without a reason"
rmmod krping_bend

# A server that is told first that the device goes asks its clients' runs to end. These are endless, but do not end well: each of them is
# told 200 ms later, when it has ended.
server server "server,addr=$ADDR,port=$PORT,clients=2"
for i in 1 2; do
	pinging c$i "client,addr=$ADDR,port=$PORT"
done
ok "each connection is told late that the device goes" insmod "$PLANTS/krping_bend.ko" function=krping_cm_removed ms=200
link_lost "told late" c1 c2
finish server 8
line_is "werr state served failed" "ENODEV ERROR 2 2" "told late: the server"
link_deleted "told late"
ok "told late: each connection was held up" test "$(cat /sys/module/krping_bend/parameters/calls)" -ge 4
rmmod krping_bend
link_add "$LINK" d0 "$ADDR"
works_after "told late"

# Only two run ids are left after this one.
at=$(sed -n 's/^\([0-9a-f]*\) . krping_last_id\t\[rdma_krping\]$/\1/p' /proc/kallsyms)
ok "the number of the last run is at ${at:-no address}" insmod "$PLANTS/krping_bend.ko" "at=0x${at:-0}" number=4294967293
rmmod krping_bend
ping_pair ",count=3" ",count=3"
check_good "the last server" "$SRV" 3
is "${F[id]}" 4294967294 "its number"
check_good "the last client" "$CLI" 3
is "${F[id]} ${F[peer_run]}" "4294967295 4294967294" "its number, and its peer's"
is "$(sed -n 's/^id=\(429496729[0-9]\) .*/\1/p' /proc/krping_runs | paste -sd ' ')" "4294967294 4294967295" \
	"krping_runs has both, and an end"
like "$("$krwrite" "client,addr=$ADDR,port=$PORT")" '^ret=-1 werr=EOVERFLOW ' "the next one: EOVERFLOW"
is "$(sed -n '$s/ .*//p' /proc/krping_runs)" id=4294967295 "it has no number, and so no line"
is "$(cat /proc/krping)" '' "and does not run"
ok "the module is loaded again" eval 'rmmod rdma_krping && insmod "$KRPING_MODULE"'
works_after "counting from 1"
is "${F[id]}" 2 "the numbers begin anew"
done_testing
