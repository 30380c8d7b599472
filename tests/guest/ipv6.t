#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Addresses: IPv6, global and link-local, on one address and on all; the address that a client starts from; the type of
# service in its packets; what is refused, and why.

. "$(dirname "$0")/lib.sh"

NETDEV=${KRPING_NETDEV:-d0}
INDEX=$(<"/sys/class/net/$NETDEV/ifindex")
addresses() { ip -o addr show dev "$NETDEV" | awk '{ print $4 }' | sort | xargs; }
BEFORE=$(addresses)
LL=$(ip -6 -o addr show dev "$NETDEV" scope link | sed -n '1s/.* inet6 \([^/]*\).*/\1/p')
# Other addresses of this host, and some that nobody has.
OWN=10.9.0.5 OWN6=fd09::5
NOBODY=10.9.0.77 NOBODY6=fd09::77

# pair NAME SERVER-OPTIONS CLIENT-OPTIONS [SRC DST]: sets CLI and SRV, whose addresses have to be these.
pair() {
	local src
	server server "server,$2,port=$PORT"
	client "client,$3,port=$PORT,count=5,validate"
	CLI=$LINE
	# A server that nobody has met waits for ever.
	[ "$(field iters "$CLI")" = 5 ] || kill -INT "${PIDS[server]}"
	finish_good "$1: server" server 5
	SRV=$LINE
	check_good "$1: client" "$CLI" 5
	[ $# -gt 3 ] || return 0
	src=${F[src]-}
	is "${src%:*} ${F[dst]-}" "$4 $5:$PORT" "$1: the client's addresses"
	line_is "src dst" "$5:$PORT $src" "$1: the server's" "$SRV"
}

# --- where the server is ---
pair "global" "addr6=$ADDR6" "addr6=$ADDR6" "[$ADDR6]" "[$ADDR6]"
pair "link-local" "addr6=$LL%$NETDEV" "addr6=$LL%$NETDEV" "[$LL]" "[$LL]"
pair "link-local, by number" "addr6=$LL%$INDEX" "addr6=$LL%$INDEX"
pair "a server on all addresses" addr6=:: "addr6=$ADDR6" "[$ADDR6]" "[$ADDR6]"
pair "a server on all addresses, link-local" addr6=:: "addr6=$LL%$NETDEV"

# A server on :: is there for IPv4, too, unless the host says otherwise.
v6only=$(</proc/sys/net/ipv6/bindv6only)
is "$v6only" 0 "bindv6only is off"
server all "server,addr6=::,port=$PORT"
run_line "${PIDS[all]}" && parse
is "${F[src]-}" "[::]:$PORT" "a server on ::: where it listens"
taken='EADDRINUSE (binding the address|listening): .*'
for other in "" "addr=$ADDR," "addr6=$ADDR6," "addr6=$LL%$NETDEV,"; do refused "beside it, one on ${other:-all}" "server,${other}port=$PORT" "$taken"; done
client "client,addr=$ADDR,port=$PORT,count=5"
if [ "$PROVIDER" = siw ]; then
	# The connection comes with mapped addresses, which rdma_cm does not find on any device.
	line_is "werr" ECONNREFUSED "siw: a client of IPv4 is refused"
	client_good "siw: then a client of IPv6" "client,addr6=$ADDR6,port=$PORT,count=5" 5
else
	check_good "a client of IPv4" "$LINE" 5
fi
finish_good "the server on ::" all 5
echo 1 >/proc/sys/net/ipv6/bindv6only
server six "server,addr6=::,port=$PORT"
server four "server,port=$PORT"
client_good "bindv6only: a client of IPv6" "client,addr6=$ADDR6,port=$PORT,count=5" 5
finish_good "bindv6only: the server on ::" six 5
client_good "bindv6only: a client of IPv4" "client,addr=$ADDR,port=$PORT,count=5" 5
finish_good "bindv6only: the server on 0.0.0.0" four 5
echo "$v6only" >/proc/sys/net/ipv6/bindv6only

# --- what is refused ---
refused "a scope that is not there" "client,addr6=$LL%nosuch,port=$PORT" "ENODEV addr6: there is no interface nosuch"
refused "a number that is not there" "server,addr6=$LL%9999,port=$PORT" "ENODEV addr6: there is no interface 9999"
refused "bind= with such a scope" "client,addr6=$ADDR6,bind=$LL%nosuch,port=$PORT" "ENODEV bind: there is no interface nosuch"
refused "bind= of somebody else" "client,addr6=$ADDR6,bind=$NOBODY6,port=$PORT" "EADDRNOTAVAIL bind: $NOBODY6 is no address of this host"
refused "bind= of somebody else, IPv4" "client,addr=$ADDR,bind=$NOBODY,port=$PORT" "EADDRNOTAVAIL bind: $NOBODY is no address of this host"
server first "server,addr6=$ADDR6,port=$PORT"
refused "a second server on an address" "server,addr6=$ADDR6,port=$PORT" "$taken"
refused "a second server, on all" "server,addr6=::,port=$PORT" "$taken"
interrupt first

# An interface without a link.
ip link add d6 type dummy && ip addr add fd10::1/64 dev d6 nodad && ip link set d6 up
refused "bind= of another interface" "client,addr6=$ADDR6,bind=fd10::1,port=$PORT" "ENODEV bind: no RDMA device has the address fd10::1"
LL6=$(ip -6 -o addr show dev d6 scope link | sed -n '1s/.* inet6 \([^/]*\).*/\1/p')
refused "link-local addresses of two interfaces" "client,addr6=$LL%$NETDEV,bind=$LL6%d6,port=$PORT" "EINVAL bind: d6 is not the interface of the server's address"
ip link del d6

# --- bind= ---
has_gid_of() { cat "/sys/class/infiniband/$1/ports/1/gids/"* 2>/dev/null | grep -qix "$2"; }
has_gid() { has_gid_of "$LINK" "$1"; }
ip addr add $OWN/24 dev "$NETDEV" && ip addr add $OWN6/64 dev "$NETDEV" nodad
if [ "$PROVIDER" = rxe ]; then
	ok "the device knows the new addresses" until_ok 10 has_gid fd09:0000:0000:0000:0000:0000:0000:0005
	until_ok 10 has_gid 0000:0000:0000:0000:0000:ffff:0a09:0005
fi
pair "bind=" "addr6=$ADDR6" "addr6=$ADDR6,bind=$OWN6" "[$OWN6]" "[$ADDR6]"
pair "bind=, IPv4" "addr=$ADDR" "addr=$ADDR,bind=$OWN" "$OWN" "$ADDR"
pair "bind=, link-local" "addr6=$LL%$NETDEV" "addr6=$LL%$NETDEV,bind=$LL%$INDEX" "[$LL]" "[$LL]"

# --- rping, the peer that we did not write ---
server server "server,addr6=$ADDR6,port=$PORT,validate"
ok "rping pings a server" limited 20 rping -c -a "$ADDR6" -p $PORT -C 5 -V
finish_good "rping's server" server 5
background rping rping -s -a "$ADDR6" -p $PORT -V
until_ok 10 rping_listens
client_good "rping's client" "client,addr6=$ADDR6,port=$PORT,count=5,validate" 5
tool_ends "rping serves a client" rping || diag "$(cat "$T/rping.out" "$T/rping.err")"

# --- tools ---
long=2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff
ip addr add $long/64 dev "$NETDEV" nodad
[ "$PROVIDER" = siw ] || ok "the device knows a long address" until_ok 10 has_gid 2001:0db8:aaaa:bbbb:cccc:dddd:eeee:ffff
tool krping-stages -j
tool krping-trace -j -E addr
attached krping-stages krping-trace
server server "server,addr6=$long,port=$PORT"
pinging client "client,addr6=$long,port=$PORT" 3
pair_off
tool_end krping-stages INT
load krping-stages '{pairs: ([.runs[] | select(.joined) | [.role, .joined.peer_run]] | sort)}'
is "${Q[pairs]-}" "[[\"client\",$(field id "$SRV")],[\"server\",$(field id "$CLI")]]" "krping-stages joins both ends"
tool_end krping-trace INT
is "$(grep -oE '"(src|dst)": ?"[^"]*"' "$T/krping-trace.out" | sort -u | tr -d ' \n')" "\"dst\":\"$long\"\"src\":\"$long\"" \
	"krping-trace has the addresses" || diag "$(cat "$T/krping-trace.out")"

# --- tos= ---
# Packets to this host itself stay inside rxe: so the client asks for an address that nobody has, and its requests leave by a
# netdev that knows the way there.
away() {
	background tos "$here/tos.pl" d6
	until_ok 10 grep -q . "$T/tos.out"
	start client "client,$1,port=$PORT"
	until_ok 10 has_lines 2 tos
	interrupt client
	tool_end tos TERM
	line_is werr EINTR "$3: the client, which nobody answers"
	is "$RC $(sed 1d "$T/tos.out" | sort -u | paste -sd,)" "0 $2" "$3" || diag "$(cat "$T/tos.err")"
}
if [ "$PROVIDER" = siw ]; then
	# Its TCP socket has the default, whatever rdma_cm was told.
	refused "siw: tos=" "client,addr6=$ADDR6,tos=0,port=$PORT" "EOPNOTSUPP tos: $LINK does not set it"
else
	ip link add d6 type dummy && ip link set d6 arp on up && ip addr add 10.66.0.1/24 dev d6 && ip addr add fd66::1/64 dev d6 nodad
	for a in 10.66.0.7 fd66::7; do ip neigh add $a lladdr 02:00:00:00:00:07 dev d6 nud permanent; done
	ok "a link for packets that leave" link_add rxe6 d6 10.66.0.1
	until_ok 10 has_gid_of rxe6 fd66:0000:0000:0000:0000:0000:0000:0001
	away "addr=10.66.0.7,tos=0x68" "4 104" "tos=0x68 is in the packets"
	away "addr6=fd66::7,tos=32" "6 32" "IPv6: tos=32 is in the packets"
	away "addr6=fd66::7" "6 0" "without tos= the packets have what the RDMA core says, 0"
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	default=/sys/kernel/config/rdma_cm/rxe6
	mkdir "$default" && echo 64 >"$default/ports/1/default_roce_tos"
	away "addr=10.66.0.7" "4 64" "which can be configured"
	away "addr=10.66.0.7,tos=0" "4 0" "tos=0 is not the same as none"
	echo 0 >"$default/ports/1/default_roce_tos"
	rmdir "$default"
	rdma link delete rxe6
	ip link del d6
	pair "tos=255" "addr6=$ADDR6" "addr6=$ADDR6,tos=255"
fi
is "$(</proc/krping_help grep -oE '^(addr6|bind|tos) .*' | awk '{ print $1, $2, $3, $4 }')" 'addr6 a::b[%scope] both local
bind address client local
tos 0..255 both want' "the help has them"

# Tests behind this one take the link for one with a single address.
for other in $OWN/24 $OWN6/64 $long/64; do ip addr del "$other" dev "$NETDEV"; done
is "$(addresses)" "$BEFORE" "the link has the addresses that it had"
done_testing "after all addresses"
