#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# PID namespaces: the writer of a command finds its run by the pid that its own /proc shows, and readers in other
# namespaces see the pid of their namespace. Network namespaces: a run belongs to the namespace of its writer. Both
# files of /proc show the runs of the reader's namespace, and in the initial namespace all runs. Two ends of which one is
# in a namespace meet over a veth, by IPv4 and IPv6.

. "$(dirname "$0")/lib.sh"

# --- PID namespaces ---

# summary DESCRIPTION COMMAND...: asserts that krping, run by COMMAND, prints its summary, and does not say that it has
# no figures.
summary() {
	local what=$1 text
	shift
	server server "server,addr=$ADDR,port=$PORT"
	text=$("$@" krping client "$ADDR:$PORT" count=5 2>&1)
	like "$? $text" '^0 .*5 of 5 iterations' "$what: krping prints its summary"
	finish_good "$what: the server" server 5
}

pid_namespaces() {
	local child
	summary "a PID namespace with its own /proc" unshare -pf --mount-proc
	summary "a PID namespace that sees the other's /proc" unshare -pf

	server outer "server,addr=$ADDR,port=$PORT"
	unshare -pf --kill-child --mount-proc "$krwrite" "server,addr=$ADDR,port=$((PORT + 1))" >"$T/inner" 2>&1 &
	PIDS[unshare]=$!
	has_child() { child=$(pgrep -P "${PIDS[unshare]}"); }
	until_ok 10 has_child || diag "$(cat "$T/inner")"
	PIDS[inner]=$child
	ok "a run of a PID namespace is found by its number outside" until_ok 10 is_listening inner ||
		diag "$(cat /proc/krping_runs)"
	# pid_inside PID: which number a reader in the namespace sees of the run of that writer.
	pid_inside() { run_line "$1" && field pid "$(nsenter -t "$child" -p -m grep "^id=$(field id) " /proc/krping_runs)"; }
	is "$(pid_inside "$child")" 1 "its number inside is another one"
	is "$(pid_inside "${PIDS[outer]}")" 0 "a run whose writer is not seen there has none"
	# BPF tools get the data of a run that began before them from krping_runs.
	run_line "${PIDS[inner]}" && parse
	krping-top -j 1 1 --run "${F[id]}" >"$T/top" 2>&1
	like "$(cat "$T/top")" "\"pid\": ?$child\\b" "krping-top shows the number outside"
	kill -INT "$child"
	until_ok 10 gone "$child"
	unset 'PIDS[inner]' 'PIDS[unshare]'
	run_line "$child" && parse
	is "${F[pid]} ${F[errno]}" "$child 4" "it keeps its number when it is gone"
	interrupt outer
}

# --- network namespaces ---

ADDR_IN=10.20.0.1
LINK_IN=${PROVIDER}1

within=(nsenter --net=/run/netns/krping)

# inside start|server|client ARGUMENT...: the same, but the writer is in the namespace.
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${within[*]}" "$krwrite" >"$T/krwrite"
chmod 755 "$T/krwrite"
inside() { krwrite=$T/krwrite "$@"; }

knows_namespaces() { [ "$PROVIDER" = siw ] || grep -q ' rxe_ns_init\b' /proc/kallsyms; }

# ids FILE [COMMAND...]: prints the ids of the runs that a reader, run by COMMAND, sees in a file.
ids() {
	local file=$1
	shift
	"$@" sed -n 's/^id=\([0-9]*\) .*/\1/p; s/^\([0-9]*\)[ -].*/\1/p' "$file" | paste -sd ' '
}

# listens NAME DESCRIPTION: asserts that the server listens on all addresses; RUN becomes its run's id.
listens() {
	is_listening "$1"
	line_is src "0.0.0.0:$PORT" "$2"
	RUN=${F[id]-}
}

network_namespaces() {
	local outer inner all
	ip netns add krping && ip netns add krping-other
	"${within[@]}" ip link set lo up
	# Take an index that no interface of the initial namespace has: from any namespace, siw listens on all its links
	# by the index of their interfaces, so it takes two interfaces with the same index for one (EADDRINUSE).
	"${within[@]}" ip link add d1 index 77 type dummy
	"${within[@]}" ip addr add $ADDR_IN/24 dev d1
	"${within[@]}" ip link set d1 up
	ok "a link in a network namespace" link_add "$LINK_IN" d1 $ADDR_IN "${within[@]}" || diag "$(rdma link)"

	# Two servers that listen on all addresses, and on the same port.
	server outer "server,addr=0.0.0.0,port=$PORT"
	listens outer "a server on all addresses of the initial namespace"
	outer=$RUN
	inside server inner "server,addr=0.0.0.0,port=$PORT"
	listens inner "another on the same port, in a namespace"
	inner=$RUN

	all=$(ids /proc/krping_runs)
	like " $all " " $outer $inner " "krping_runs: the initial namespace sees both"
	is "$(ids /proc/krping_runs "${within[@]}")" "$inner" "krping_runs: the namespace sees its own"
	is "$(ids /proc/krping_runs nsenter --net=/run/netns/krping-other)" '' "krping_runs: another one sees none"
	is "$(ids /proc/krping)" "$outer $inner" "krping: the initial namespace sees both"
	is "$(ids /proc/krping "${within[@]}")" "$inner" "krping: the namespace sees its own"
	is "$(ids /proc/krping nsenter --net=/run/netns/krping-other)" '' "krping: another one sees none"

	inside client "client,addr=$ADDR,port=$PORT,count=3"
	line_is "werr" ENETUNREACH "from the namespace no way leads to the initial one's server"

	client_good "a client of the initial namespace" "client,addr=$ADDR,port=$PORT,count=3" 3
	is "${F[peer_run]}" "$outer" "it has met the server there"
	finish_good "the initial namespace's server" outer 3

	if knows_namespaces; then
		inside client "client,addr=$ADDR_IN,port=$PORT,count=3,validate"
		check_good "the namespace's client" "$LINE" 3
		is "${F[peer_run]} ${F[dev]}" "$inner $LINK_IN" "it has met the server there, on the link there"
		finish_good "the namespace's server" inner 3
	else
		inside client "client,addr=$ADDR_IN,port=$PORT,count=3"
		line_like "werr reason" "^EOPNOTSUPP $LINK_IN works only in the initial network namespace" "rxe knows no namespaces: a client is refused"
		interrupt inner
		inside server inner "server,addr=$ADDR_IN,port=$PORT"
		finish_is inner "werr" EOPNOTSUPP "a server is refused, too"
	fi
	like " $(ids /proc/krping_runs) " " $outer $inner " "the initial namespace remembers both"
	unlike " $(ids /proc/krping_runs "${within[@]}") " " $outer " "the namespace never heard of the other's"

	"${within[@]}" rdma link delete "$LINK_IN"
	ip netns del krping
	ip netns del krping-other
}

# Two links, and a veth between them, of which one end is in the namespace: packets leave one stack and arrive in another.
over_veth() {
	local out=10.21.0.1 in=10.21.0.2 out6=fd21::1 in6=fd21::2 ll server client test
	knows_namespaces || return 0
	ip netns add krping
	"${within[@]}" ip link set lo up
	modprobe veth
	ip link add v0 index 88 type veth peer name v1 index 89 netns krping
	ip addr add $out/24 dev v0 && ip addr add $out6/64 dev v0 nodad && ip link set v0 up
	"${within[@]}" sh -c "ip addr add $in/24 dev v1 && ip addr add $in6/64 dev v1 nodad && ip link set v1 up"
	ok "veth: a link outside" link_add "${PROVIDER}2" v0 $out || diag "$(rdma link)"
	ok "veth: a link inside" link_add "${PROVIDER}3" v1 $in "${within[@]}" || diag "$(rdma link)"
	has_ll() {
		ll=$("${within[@]}" ip -6 -o addr show dev v1 scope link -tentative | sed -n '1s/.* inet6 \([^/]*\).*/\1/p')
		[ -n "$ll" ]
	}
	until_ok 10 has_ll

	for test in "addr=$in" "addr6=$in6" "addr6=$ll%v" "addr6=$in6,test=wlat" "addr6=$in6,test=bw" "addr=$in,test=rlat"; do
		# The scope of a link-local address is the interface of each end.
		server=${test/\%v/%v1} client=${test/\%v/%v0}
		inside server server "server,port=$PORT,$server"
		client_good "veth: $test: the client outside" "client,port=$PORT,$client,count=5" 5
		line_is "dev" "${PROVIDER}2" "veth: $test: on the link outside"
		CLI=$LINE
		finish_is server "state errno dev peer_run" "DONE 0 ${PROVIDER}3 $(field id "$CLI")" "veth: $test: the server inside"
	done
	server server "server,addr6=$out6,port=$PORT"
	inside client "client,addr6=$out6,port=$PORT,count=5,validate"
	check_good "veth: the client inside" "$LINE" 5
	finish_good "veth: the server outside" server 5

	"${within[@]}" rdma link delete "${PROVIDER}3"
	rdma link delete "${PROVIDER}2"
	ip link delete v0
	ip netns del krping
}

pid_namespaces
network_namespaces
over_veth
done_testing "after all the namespaces"
