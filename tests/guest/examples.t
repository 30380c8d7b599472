#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The examples of README.md, docs/, the man pages and the banner of "make shell", carried out in their order. An example is a line
# that a reader may paste: an indented line of a .md file (output is fenced), a command in README's table of questions, a line of
# EXAMPLES and OVERHEAD of a page. An example ends with 0, with 130 after the ctrl-c that ends what has no end, or with the status
# that a comment behind the example names.

. "$(dirname "$0")/lib.sh"
top=$(cd "$here/../.." && pwd)
cd "$T" || exit

of_md() { awk '/^```/ { fenced = !fenced } !fenced && /^    [^ ]/ { print substr($0, 5) }' "$1"; }
of_table() { sed -n '/^## I want to know/,/^## /p' "$1" | grep '^|' | grep -o '`krping[^`]*`' | tr -d '`' | sed "s/HOST/$ADDR/"; }
of_page() {
	awk '/^\.SH / { wanted = /EXAMPLES|OVERHEAD/ } /^\.EX/ { example = wanted } /^\.EE/ { example = 0 } example && !/^\./' "$1" |
		sed 's/^ *//; s/\\-/-/g; s/\\e/\\/g'
}
# The text of a command of the banner ends at two blanks; its tmux is for a terminal.
of_banner() { sed -n '/^A VM: /,/^exit /s/^  \([^ ].*\)$/\1/p' "$1" | sed 's/   *.*//' | grep -v '^tmux$'; }

listens() { grep -q ' listen$' /proc/krping; }
# attached PID: the tool of that process, or of its group, sleeps in poll(2), where none is before it has attached its programs; or
# it has ended. recording PID: the same of trace-cmd, which writes what it records.
attached() {
	local tool where=''
	gone "$1" && return
	tool=$(pgrep -g "$1" '^krping-') || tool=$1
	read -r where <"/proc/$tool/wchan" || [[ $where == *poll* ]]
}
recording() { gone "$1" || [ -s /tmp/trace.dat.cpu0 ]; }
# pinging PID: a client pings, or the process has ended.
pinging() { gone "$1" || grep -q ' role=client .* state=RDMA_.* iters=[1-9][0-9]' /proc/krping_runs; }

# quiet: ends whatever goes on in the background.
quiet() {
	local pid
	for pid in $(jobs -p); do kill -TERM "$pid" 2>/dev/null; done
	for pid in $(jobs -p); do
		until_ok 20 gone "$pid"
		wait "$pid" 2>/dev/null
	done
	PIDS=()
}
# traffic: a client, run 7, pings. The numbers of a module that was loaded anew begin with 1: those of five refused commands and a server.
traffic() {
	local i
	[ -z "${PIDS[seven]-}" ] || return 0
	quiet
	rmmod rdma_krping && insmod "${KRPING_MODULE:?}"
	for ((i = 0; i < 5; i++)); do echo x >/proc/krping; done 2>/dev/null
	server six "server,addr=$ADDR,port=9998"
	start seven "client,addr=$ADDR,port=9998"
	wait_pings seven
	is "${F[id]} ${F[role]}" "7 client" "run 7 is a client that pings"
}

# example FILE LINE: makes what the example takes for granted, and then carries it out.
example() {
	local what="$1: $2" line=$2 kind=ends wanted pid
	unlike "$line" '^[#$%>]' "$what: no prompt, which would be pasted, too"
	wanted=$(sed -n 's/.*# exit status \([0-9]*\).*/\1/p' <<<"$line")
	case $line in
	make | make\ * | sudo\ * | bpftrace\ * | tc\ *) # for commands.sh, deb.sh, bpftrace.t and wire.t
		elsewhere=$((elsewhere + 1))
		return
		;;
	*"krping server"* | *"server,addr"*) kind=server && quiet ;;
	"krping -n "* | *" --input "*) ;; # no run is needed
	"krping client"* | "krping -"* | *" krping client"* | *"client,addr"*)
		[ -z "${PIDS[seven]-}" ] || quiet
		listens || server server "server,addr=$ADDR,port=$PORT"
		[[ $line == *count* || -n $wanted ]] || kind=pings
		;;
	krping*\ -e | krping*\ -e\ *)
		kind=waits
		[ -z "${PIDS[seven]-}" ] || quiet
		;;
	"krping top"* | "krping sta"* | "krping slow"* | "krping mr"* | "krping tra"* | "krping lad"* | "krping rec"* | trace-cmd*) kind=watches && traffic ;;
	esac
	case $line in
	kill*) # A job of this shell, as are examples for the background.
		ok "$what: there is such a job" eval "$line"
		return
		;;
	*"krping server"* | *\&)
		jobs >/dev/null
		eval "${line%&} &" >"$T/background.out" 2>&1
		pid=$!
		case $kind in
		server) ok "$what: it listens" until_ok 10 listens ;;
		waits | watches) ok "$what: it is attached" until_ok 30 attached $pid ;;
		esac
		return
		;;
	esac
	# A script starts its background commands with INT ignored.
	background example perl -e '$SIG{INT} = "DEFAULT"; setpgrp; exec @ARGV' bash -c "$line"
	pid=${PIDS[example]}
	case $kind in
	pings) until_ok 20 pinging "$pid" ;;
	waits)
		until_ok 30 attached "$pid"
		ping_pair ",count=50" ",count=50"
		;;
	watches) # some pings of run 7, before ctrl-c
		until_ok 30 "$([[ $line == trace-cmd* ]] && echo recording || echo attached)" "$pid"
		more_pings seven 20
		;;
	esac
	[[ $kind != @(pings|watches) ]] || kill -INT -- "-$pid" 2>/dev/null
	tool_end example
	like "$RC" "^(${wanted:-0|130})\$" "$what: its exit status" || diag "$(tail -n 3 "$T/example.err")"
	# A report has the reasons of runs, which may say this.
	[[ $line == "krping bug-report"* ]] || unlike "$(tail -n 50 "$T/example.out"; cat "$T/example.err")" 'command not found|No such file|unknown option|not supported|[Uu]sage:|rror:|syntax error' \
		"$what: no complaint"
}

elsewhere=0
for file in "$top"/{README.md,docs/*.md,tests/vm/run.sh} "$KRPING_TOOLS"/man/*.8; do
	case $file in
	*/README.md) text=$(of_table "$file" && of_md "$file") ;;
	*.md) text=$(of_md "$file") ;;
	*.sh) text=$(of_banner "$file") ;;
	*.8) text=$(of_page "$file") ;;
	esac
	[[ -n $text || $file == */docs/* ]] || fail "${file##*/} has examples"
	while IFS= read -r line <&3; do [ -z "$line" ] || example "${file##*/}" "$line"; done 3<<<"$text"
	quiet
done
ok "commands for the host, the wire or bpftrace: $elsewhere" test $elsewhere -ge 6
like "$(man krping-top | head -n 3)" 'KRPING-TOP' "man krping-top"
done_testing
