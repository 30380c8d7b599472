#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Each bug of siw that is mended in the VM (docs/upstream), or that krping gets round, is provoked (tests/plant/krping_siw.c,
# mpa.pl), and does no harm.
# With a siw that lacks one of the patches (tests/vm/siw.sh; the mutants without-siw-*) the part for that patch fails;
# all parts end by themselves.

. "$(dirname "$0")/lib.sh"

ko=$here/../../build/vm-${KRPING_KERNEL:-6.1}/plant/krping_siw.ko
P=/sys/module/krping_siw/parameters

# provoke PATCH [MS]: loads the plant, so that siw is about to need the patch.
provoke() {
	ok "$1: the plant is loaded" insmod "$ko" "patch=$1" "wait_ms=$((${2:-5000} * SLOW))"
}

# provoked: siw has come to the point where it needs the patch.
provoked() { [ "$(cat $P/provoked)" = 1 ]; }

# over PATCH
over() {
	ok "$1: the plant is gone" rmmod krping_siw
	works_after "$1"
}

# ended NAME: waits for a run that may not end by itself, and then interrupts it; LINE becomes its result.
ended() {
	until_ok 10 gone "${PIDS[$1]}" || kill -INT "${PIDS[$1]}"
	finish "$1"
}

# server_on PATCH CPU COUNT: asserts that a pair ends well whose server is on that CPU.
server_on() {
	local cpus
	cpus=$(taskset -pc $$) cpus=${cpus##*: }
	taskset -pc "$2" $$ >/dev/null
	server server "server,addr=$ADDR,port=$PORT,count=$3"
	taskset -pc "$cpus" $$ >/dev/null
	start client "client,addr=$ADDR,port=$PORT,count=$3"
	ended client
	CLI=$LINE
	ended server
	check_good "$1: the client, the server on CPU $2" "$CLI" "$3"
	check_good "$1: the server on CPU $2" "$LINE" "$3"
}

# --- there is memory for the IRQ, but none for the ORQ: the IRQ is freed once ---

readq_init() {
	provoke readq-init
	server server "server,addr=$ADDR,port=$PORT,count=1"
	client "client,addr=$ADDR,port=$PORT,count=1"
	CLI=$LINE
	ended server
	ok "readq-init: there was no memory for the ORQ" provoked
	like "$LINE $CLI" 'werr=E' "readq-init: there is no connection"
	is "$(cat $P/freed)" 1 "readq-init: the IRQ was freed once"
	over readq-init
}

# --- no STag for an MR: its list of pages is freed ---

alloc_mr() {
	provoke alloc-mr
	server server "server,addr=$ADDR,port=$PORT,count=1"
	client "client,addr=$ADDR,port=$PORT,count=1"
	ok "alloc-mr: there was no STag" provoked
	is "$(field werr)" ENOMEM "alloc-mr: the client is told"
	is "$(cat $P/freed)" 1 "alloc-mr: the list of pages was freed"
	# The MR was the client's, which had not connected yet, so the server still waits.
	kill -INT "${PIDS[server]}"
	finish server
	over alloc-mr
}

# --- a peer leaves before it was accepted: the listener stays ---

unaccepted_close() {
	provoke unaccepted-close
	server server "server,addr=$ADDR,port=$PORT,count=1"
	# On data that is no MPA request siw gives up the connection at once, and not after 10 s.
	ok "unaccepted-close: a peer comes, and goes" bash -c "printf '%64s' x >/dev/tcp/$ADDR/$PORT"
	ok "unaccepted-close: it had gone when it was accepted" until_ok 10 provoked
	client "client,addr=$ADDR,port=$PORT,count=1"
	check_good "unaccepted-close: the next client" "$LINE" 1
	is "$(cat $P/freed)" 0 "unaccepted-close: the listener was not freed"
	ended server
	check_good "unaccepted-close: the server" "$LINE" 1
	over unaccepted-close
}

# --- a connection closes while a callback of its socket uses the QP: siw keeps the QP until the callback is done ---

# The plant needs both CPUs: on one it holds the callback of the socket, on the other one siw closes. The client leaves first, and so
# the server's socket is the one whose peer closes. A timer of TCP can keep the other CPU from closing, and so there are some attempts.
qp_gone() {
	local freed=0 some=0 i
	for ((i = 1; i <= 8 && !some; i++)); do
		provoke qp-gone 500
		server server "server,addr=$ADDR,port=$PORT,count=3"
		client "client,addr=$ADDR,port=$PORT,count=3"
		check_good "qp-gone: the client" "$LINE" 3
		ended server
		check_good "qp-gone: the server" "$LINE" 3
		until_ok 3 provoked || diag "attempt $i: it did not come to that"
		! provoked || some=1
		freed=$((freed + $(cat $P/freed)))
		over qp-gone
	done
	is $some 1 "qp-gone: a callback was under way when the connection closed"
	is $freed 0 "qp-gone: the QP was kept until the callback was done"
}

# --- the first message comes as early as it can: siw receives it ---

# The server occupies its CPU until the message is there, but siw sends the message in a thread that is bound to some
# CPU, possibly to the same one. So the test has a server on each CPU.
accept_socket() {
	local cpu some=0
	for cpu in 0 1; do
		provoke accept-socket 2000
		# Without the patch both ends wait for ever.
		server_on accept-socket $cpu 1
		! provoked || some=1
		over accept-socket
	done
	is $some 1 "accept-socket: the first message came right behind the reply"
}

# --- the server refuses a client and closes: siw reads the refusal, even if TCP delivers both in one segment ---

# refused BYTES ERRNO-AND-REASON: asserts the client's result if a server sends only BYTES bytes of its refusal (-1:
# all).
refused() {
	background mpa perl "$here/mpa.pl" "$ADDR" $PORT "$1"
	until_ok 10 grep -q listening "$T/mpa.out"
	client "client,addr=$ADDR,port=$PORT,count=1"
	like "$(field werr) $(reason)" "^$2" "reply-fin: ${1/#-1/all} bytes of the refusal, and the end of the connection"
	tool_end mpa
	is "$RC $(tail -1 "$T/mpa.out")" "0 answered" "reply-fin: they were sent"
}

reply_fin() {
	refused -1 'EBUSY the server serves another client$'
	refused 30 'ECONNREFUSED connection refused '
	refused 0 'ECONNREFUSED connection refused '
	works_after reply-fin
}

# --- the server's first message comes in the segment of its reply: siw takes the reply for a broken one ---

# A server may not speak first (RFC 5044, 7.1.2), but the rows of the liar that do so meet this where the client's CPU is late.
early_message() {
	background mpa perl "$here/mpa.pl" "$ADDR" $PORT +40
	until_ok 10 grep -q listening "$T/mpa.out"
	client "client,addr=$ADDR,port=$PORT,count=1"
	like "$(field werr) $(reason)" '^EINVAL connecting: error -(EINVAL|22)$' "a message with the reply: the client's reason"
	tool_end mpa
	is "$RC $(tail -1 "$T/mpa.out")" "0 answered" "a message with the reply: both were sent"
	works_after "a message with the reply"
}

# --- siw may overlook a completion when it is asked for a signal: the thread polls once more, and does not wait for ever ---

# The plant does what a store that is late does: something has completed when a signal is asked for, and siw says that nothing
# has. It takes a completion on another CPU, so the test has a server on each CPU.
notify_barrier() {
	local cpu
	provoke notify-barrier 2
	for cpu in 0 1; do server_on notify-barrier $cpu 300; done
	ok "notify-barrier: a completion was overlooked" provoked
	over notify-barrier
}

only=${KRPING_MUTANT:-}
patches=(readq-init alloc-mr unaccepted-close qp-gone accept-socket reply-fin)
[[ $only != without-siw-* ]] || patches=("${only#without-siw-}")
if [[ $only != without-siw-* ]]; then
	notify_barrier
	early_message
fi
for patch in "${patches[@]}"; do "${patch//-/_}"; done
done_testing
