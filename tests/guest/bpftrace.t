#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Each script of tools/bpftrace, and each one-liner of README.md and docs/bpftrace.md, runs and describes the traffic in
# numbers, which must be those that ftrace has of the same events.

. "$(dirname "$0")/lib.sh"
top=$(cd "$here/../.." && pwd)

names=()
declare -A check=()

# watch NAME CHECK COMMAND...: starts COMMAND in the background. Later CHECK is called with the name and the file of
# what COMMAND has printed.
watch() {
	local name=$1 n=${#names[@]}
	names+=("$name")
	check[$name]=$2
	shift 2
	"$@" >"$T/bt$n.out" 2>"$T/bt$n.err" &
	PIDS[bt$n]=$!
}

# bpftrace starts its child (-c) when it has attached, and when the child has ended it ends as on ctrl-c. The test
# signals the child, since bpftrace (0.17) misses a signal that does not find it in epoll_wait().
child() { pgrep -x -P "$1" sleep; }

all_attached() {
	local n
	for n in "${!names[@]}"; do
		gone "${PIDS[bt$n]}" || child "${PIDS[bt$n]}" >/dev/null || return 1
	done
}

# Makes traffic of every kind, and records it all with ftrace: pings with data, a refusal, an interrupted server, and a
# completion that fails, since a peer advertises a key that it does not have.
traffic() {
	trace_on krping_phase krping_wait krping_cq_event krping_wc_err krping_run_end krping_request
	ping_pair ",count=23,validate" ",count=23,validate"
	cli=$(field id "$CLI") srv=$(field id "$SRV")
	check_good "client" "$CLI" 23
	ping_pair '' ,count=23,bw,queues=2
	refused=$(field id "$("$krwrite" "client,addr=$ADDR,port=$((PORT + 1))")")
	server listener "server,addr=$ADDR,port=$PORT"
	interrupt listener
	interrupted=$(field id)
	server victim "server,addr=$ADDR,port=$PORT"
	"$liar" client "$ADDR" $PORT pings=3 key=1 >/dev/null
	finish_is victim werr EIO "a completion failed"
	victim=${F[id]} pinged=${F[iters]}
	trace_end "traffic"
}

# traced EVENT [REGEX]: prints how many of these events ftrace has.
traced() { grep -cE ": krping_$1: .*${2:-}" "$T/trace"; }

# total FILE KEY: prints the sum of that map's histogram, or the map's value; without KEY, the sum over all maps.
total() {
	awk -v key="${2:-}" '
		/^@/ { on = key == "" || index($0, key ":") == 1; if (on && match($0, /: [0-9]+$/)) n += substr($0, RSTART + 2) }
		on && /^[[(].*[])] +[0-9]+ \|/ { sub(/^[[(].*[])] +/, ""); n += $1 }
		on && /^\]: [0-9]+$/ { n += $2 }
		END { print n + 0 }' "$1"
}

check_mrcount() {
	local id
	for id in $cli $srv; do
		is "$(grep -E "^@(fastreg|localinv|freed_valid)\\[$id\\]: " "$2" | sort | xargs)" \
			"@fastreg[$id]: 46 @freed_valid[$id]: 1 @localinv[$id]: 45" "$1: 46 registrations, 45 invalidations"
		is "$(total "$2" "@pages[$id]")" 46 "$1: 46 regions of some pages"
	done
}
check_phaselat() {
	local phase
	for phase in fill wait_read wait_write validate wait_source read write drain; do
		is "$(total "$2" "@us[$phase]")" "$(traced phase "prev=$phase t_prev=[1-9]")" "$1: $phase as often as ftrace has it"
	done
	is "$(total "$2" '@us[wait_read]')" 23 "$1: 23 pings of a client"
}
check_wakelat() {
	local phase
	for phase in wait_read wait_write wait_source read; do
		is $(($(total "$2" "@wake_ns[$phase]") + $(total "$2" "@did_not_sleep[$phase]") + $(total "$2" "@no_wake_up[$phase]"))) \
			"$(traced wait "phase=$phase ")" "$1: $phase as often as ftrace has it, slept or not"
	done
}
# The lines are sorted, since lines from one CPU may overtake those from another.
check_states() {
	is "$(awk -v id="$cli" '$2 == id { sub(/^ *[0-9]+ +[0-9]+ +/, ""); print }' "$2" | grep -v '^CM event' |
		sed -E 's/(qp|cq|peer.s run) [0-9]+/\1 N/g; s/[0-9]+ ms$/N ms/' | LC_ALL=C sort)" \
		"ADDR_RESOLVED -> ROUTE_RESOLVED cause 0
IDLE -> ADDR_RESOLVED cause 0
NEW -> IDLE cause 0
RDMA_WRITE_COMPLETE -> DONE cause 0
ROUTE_RESOLVED -> CONNECTED cause 0
connected: $LINK/1 qp N cq N, peer's run N
done after 23 iterations, N ms
start client rping size 64 count 23 (krwrite)" "$1: the life of the client"
	is "$(grep -cE "^[0-9]+ +$refused +failed after 0 iterations, [0-9]+ ms, errno -111\$" "$2")" 1 "$1: the one that was refused"
	is "$(grep -cE "^[0-9]+ +$interrupted +failed after 0 iterations, [0-9]+ ms, errno -4\$" "$2")" 1 "$1: the one that was interrupted"
}
# failed_wcs FORMAT: prints the failed completions that ftrace has, in a sed format in which \1 to \6 are run, cq, cid,
# kind, status and vendor error.
failed_wcs() {
	sed -nE "s/.*: krping_wc_err: run=([0-9]+) .* cq.id=([0-9]+) cid=([0-9]+) kind=(\w+) .*\(([0-9]+)\/(0x[0-9a-f]+)\)\$/$1/p" "$T/trace"
}
check_errors() {
	is "$(sed -nE 's/^[0-9:]{8} ([0-9]+) +(.* failed: .*)/\1 \2/p' "$2")" \
		"$(failed_wcs '\1 \4 failed: cq \2 cid \3 status \5 vendor \6')" "$1: the completion that failed"
	is "$(sed -nE 's/^[0-9:]{8} ([0-9]+) +run ended: (.*)/\1 \2/p' "$2" | sort -n | tr '\n' ';')" \
		"$refused error -111 after 0 iterations;$interrupted error -4 after 0 iterations;$victim error -5 after $pinged iterations;" \
		"$1: the three runs that failed"
}
check_wc_err() {
	is "$(grep '^run ' "$2")" "$(failed_wcs 'run \1 cid \3 status \5')" "$1: the completion that failed, and no other"
}
# Providers signal in softirqs, work queues or threads of their own. A signal that interrupts another BPF program may be
# missed by bpftrace.
check_stacks() {
	local n all by
	n=$(total "$2") all=$(traced cq_event)
	ok "$1: most of the signals, and none twice: $n of $all" test $((n * 2)) -gt "$all" -a "$n" -le "$all"
	case $PROVIDER in siw) by=siw_ ;; *) by='rxe_|tasklet_' ;; esac
	like "$(cat "$2")" "krping_cq_event_timed\+[0-9]+("$'\n'" *krping_cq_event\+[0-9]+)?"$'\n'" *($by)" "$1: our handler, called by the provider"
}
check_phases() { is "$(total "$2")" "$(traced phase)" "$1: each phase of ftrace's"; }
check_waits() {
	is "$(total "$2")" "$(sed -nE 's/.*: krping_wait: .* t_sig=([1-9][0-9]*) .* t_run=([0-9]+) slept=1.*/\1 \2/p' "$T/trace" |
		awk '$1 <= $2' | wc -l)" "$1: each wait of ftrace's that slept until a signal"
}
check_requests() { is "$(total "$2" '@us[0]') $(total "$2")" "$(traced request queue=0) $(traced request)" "$1: each request of ftrace's"; }

# look: makes traffic once for all that watch, then ends them, and checks what they have printed.
look() {
	local n name
	ok "all have attached" until_ok 60 all_attached
	traffic
	nap 0.5
	for n in "${!names[@]}"; do pkill -TERM -x -P "${PIDS[bt$n]}" sleep; done
	for n in "${!names[@]}"; do
		name=${names[n]}
		ok "$name: ends with its child" until_ok 40 gone "${PIDS[bt$n]}" || kill -KILL "${PIDS[bt$n]}"
		wait "${PIDS[bt$n]}" 2>/dev/null
		is $? 0 "$name: exit 0"
		unset "PIDS[bt$n]"
		unlike "$(cat "$T/bt$n.err")" 'ERROR|rror:|WARNING|ost [0-9]+ events' "$name: no complaint" || diag "$(cat "$T/bt$n.err")"
		"${check[$name]}" "$name" "$T/bt$n.out" || diag "$(head -60 "$T/bt$n.out")"
	done
	names=()
}

for script in "$top"/tools/bpftrace/*.bt; do
	name=${script##*/}
	ok "$name: says how to use it" grep -q 'Usage:' "$script"
	case $name in
	wcstack.bt) how=check_stacks ;;
	*) how=check_${name%.bt} ;;
	esac
	ok "$name: it is known here what it has to print" declare -F "$how" || continue
	watch "$name" "$how" bpftrace -c "/bin/sleep 1000" "$script"
done
ok "there are scripts" test ${#names[@]} -ge 1
look

while IFS= read -r line; do
	line=${line#sudo }
	case $line in
	*:krping_wc_err*) how=check_wc_err ;;
	*:krping_phase*) how=check_phases ;;
	*:krping_wait*) how=check_waits ;;
	*:krping_request*) how=check_requests ;;
	*:krping_cq_event\ *) how=check_stacks ;;
	*) fail "one-liner: it is known here what it has to print: $line" && continue ;;
	esac
	watch "one-liner: ${line//#/}" $how bash -c "exec bpftrace -c '/bin/sleep 1000' ${line#bpftrace }"
done < <(grep -hE '^ *(sudo )?bpftrace -e ' "$top/README.md" "$top/docs/bpftrace.md" | sed 's/^ *//' | sort -u)
ok "README and docs have one-liners" test ${#names[@]} -ge 1
look

done_testing "after bpftrace"
