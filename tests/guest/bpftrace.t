#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Each script of tools/bpftrace, and each one-liner of README.md and docs/bpftrace.md, runs and prints something of the traffic.

. "$(dirname "$0")/lib.sh"
top=$(cd "$here/../.." && pwd)

names=()
declare -A regex=()

# watch NAME REGEX COMMAND...: begins to watch; it has to print a match of REGEX.
watch() {
	local name=$1 n=${#names[@]}
	names+=("$name")
	regex[$name]=$2
	shift 2
	"$@" >"$T/bt$n.out" 2>"$T/bt$n.err" &
	PIDS[bt$n]=$!
}

# bpftrace lets its child (-c) run when it has attached, and ends as on ctrl-c when the child has. A signal of its own
# it misses (0.17) where that does not find it in epoll_wait().
child() {
	pgrep -x -P "$1" sleep
}

all_attached() {
	local n
	for n in "${!names[@]}"; do
		gone "${PIDS[bt$n]}" || child "${PIDS[bt$n]}" >/dev/null || return 1
	done
}

# Traffic of every kind: pings with data, an error, a refusal.
traffic() {
	ping_pair ",count=23,validate" ",count=23,validate"
	"$krwrite" "client,addr=$ADDR,port=$((PORT + 1))" >/dev/null
	server taken "server,addr=$ADDR,port=$PORT"
	start taker "client,addr=$ADDR,port=$PORT"
	wait_pings taker
	kill -INT "${PIDS[taker]}"
	finish taker
	finish taken
}

# look: one traffic for all that watch; then ctrl-c, and what they have printed.
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
		like "$(cat "$T/bt$n.out")" "${regex[$name]}" "$name: prints what it is for"
	done
	names=()
}

declare -A wanted=(
	[errors.bt]='refused|interrupted|-4|-111'
	[mrcount.bt]='46'
	[phaselat.bt]='wait_(read|source)'
	[states.bt]='CONNECTED'
	[wakelat.bt]='@'
	[wcstack.bt]='ib_process_cq'
)
for script in "$top"/tools/bpftrace/*.bt; do
	name=${script##*/}
	ok "$name: says how to use it" grep -q 'Usage:' "$script"
	watch "$name" "${wanted[$name]:-[0-9]}" bpftrace -c "/bin/sleep 1000" "$script"
done
ok "there are scripts" test ${#names[@]} -ge 1
look

while IFS= read -r line; do
	line=${line#sudo }
	case $line in
	*krping_wc_err*) want='Attach' ;; # no completion fails in this traffic
	*) want='@' ;;
	esac
	watch "one-liner: ${line//#/}" "$want" bash -c "exec bpftrace -c '/bin/sleep 1000' ${line#bpftrace }"
done < <(grep -hE '^ *(sudo )?bpftrace -e ' "$top/README.md" "$top/docs/bpftrace.md" | sed 's/^ *//' | sort -u)
ok "README and docs have one-liners" test ${#names[@]} -ge 1
look

works_after "after bpftrace"
done_testing
