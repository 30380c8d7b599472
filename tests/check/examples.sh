#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# examples.sh FOLDER: TAP. The examples of README.md, of docs/ and of the man pages in FOLDER, taken from these files and typed into
# the VM's shell, on a terminal, in the order in which they stand there.
#
# An example is a line that a reader may paste: an indented line of a .md file (output is fenced), a command in README's table of
# questions, a line of EXAMPLES and OVERHEAD of a page. A prompt in such a line is a failure: if pasted, it is a comment or worse.
# commands.sh tests the make commands, which are for the host, and bpftrace.t tests bpftrace's one-liners.
#
# This script makes whatever an example takes for granted: a listening server for a client, a run with the number 7 that goes on
# for a tool that watches runs, and runs that start and end for a tool that waits for their end (-e). An example has to end with
# 0 by itself, or with 0 or 130 on ctrl-c, or with the status that a comment behind it names.

# shellcheck source=tests/check/screen.sh
. "$(dirname "$0")/screen.sh"
pages=$1

of_md() { awk '/^```/ { fenced = !fenced } !fenced && /^    [^ ]/ { print substr($0, 5) }' "$1"; }
of_table() {
	# shellcheck disable=SC2016 # backquotes of the document
	sed -n '/^## I want to know/,/^## /p' "$1" | grep '^|' | grep -o '`krping[^`]*`' | tr -d '`' | sed 's/HOST/10.9.0.1/'
}
of_page() {
	awk '/^\.SH / { wanted = /EXAMPLES|OVERHEAD/ } /^\.EX/ { example = wanted } /^\.EE/ { example = 0 } example && !/^\./' "$1" |
		sed 's/^ *//; s/\\-/-/g; s/\\e/\\/g'
}

# window N: switches to window N of the VM's own tmux.
win=0
window() {
	press C-b "$1"
	win=$1
	sees 20 " $1:[^ ]*\\*"
}

# The line before each prompt has the exit status and a number; the number tells it from older lines on the screen.
# enter COMMAND: types COMMAND; a prompt with the next number will follow.
prompts=(1 1)
enter() {
	type "$1"
	prompts[win]=$((prompts[win] + 1))
}
# prompted: true if the screen has the expected prompt, or a later one; STATUS is the exit status before it.
prompted() {
	local last
	SCREEN=$("${mux[@]}" capture-pane -p 2>/dev/null) || return 1
	last=$(grep -oE '\[ended [0-9]+ [0-9]+\]' <<<"$SCREEN" | tail -1)
	[ -n "$last" ] && read -r _ STATUS last <<<"${last%]}" && [ "$last" -ge "${prompts[win]}" ] && prompts[win]=$last
}
# ends SECONDS: true if the entered command ends within SECONDS; STATUS is its exit status. A tool in the background may
# print a screen of lines after the prompt: an empty line brings another prompt, with the same status.
ends() {
	local begin=$SECONDS asked=''
	until prompted; do
		if [ $((SECONDS - begin)) -ge "$1" ]; then
			STATUS=none
			return 1
		fi
		if [ -z "$asked" ] && [ $((2 * (SECONDS - begin))) -ge "$1" ]; then
			asked=yes
			press Enter
		fi
		sleep 0.2
	done
	# The command may have ended just then, and the empty line's prompt is to come.
	if [ -n "$asked" ]; then
		sleep 1
		prompted
	fi
	return 0
}
number_prompts() {
	type "NR=0 PROMPT_COMMAND='echo \"[ended \$? \$((++NR))]\"'"
	ends 10
}

# beside COMMAND [SECONDS]: runs COMMAND in the other window, and waits for its prompt.
beside() {
	window 1
	enter "$1"
	ends "${2:-30}"
	window 0
}

# Loads the module anew, so that run numbers begin with 1. After 5 refused commands and a server, the client has number 7.
traffic=off
traffic_on() {
	[ $traffic = off ] || return 0
	beside 'rmmod rdma_krping; modprobe rdma_krping; for i in 1 2 3 4 5; do echo x 2>/dev/null >/proc/krping; done'
	beside 'krping server 10.9.0.1:9998 >/dev/null 2>&1 & sleep 2; krping client 10.9.0.1:9998 >/dev/null 2>&1 &'
	enter 'until krping list | grep -E "^ *7 client .* [1-9][0-9]* "; do sleep 0.5; done'
	ends 30
	ok $? "run 7 is a client that pings"
	traffic=on
}
traffic_off() {
	[ $traffic = on ] || return 0
	beside 'kill $(jobs -p); wait'
	# A tool that watches the run in the background would keep the module loaded.
	enter 'kill $(jobs -p) 2>/dev/null; wait'
	ends 30
	traffic=off
}

listening=0
need_server() {
	[ $listening = 0 ] || return 0
	beside 'krping server 10.9.0.1 >/dev/null 2>&1 & sleep 1'
}

# status WHAT: asserts that the example, which has ended, printed no complaint, and did not fail, or ended with the exit
# status that its comment "# exit status N" names.
status() {
	local wanted
	! grep -qE 'command not found|No such file|unknown option|not supported|[Uu]sage:|rror:|syntax error' <<<"$SCREEN"
	ok $? "$1: no complaint"
	# 130: ctrl-c ended a program that reads from the tool.
	wanted=$(sed -n 's/.*# exit status \([0-9]*\).*/\1/p' <<<"$1")
	[[ $STATUS =~ ^(${wanted:-0|130})$ ]]
	ok $? "$1: its exit status is $STATUS"
}

elsewhere=0
example() {
	local what="$1: $2"

	[[ $2 != [\#$%\>]* ]]
	ok $? "$what: no prompt"
	case $2 in
	make | make\ * | sudo\ * | bpftrace\ * | tc\ *)
		elsewhere=$((elsewhere + 1))
		return
		;;
	*"krping server"* | *"server,addr"*)
		traffic_off
		window 1
		enter "$2"
		sleep 1
		window 0
		enter 'until grep " listen$" /proc/krping; do sleep 0.2; done'
		ends 20
		ok $? "$what: it listens"
		listening=1
		return
		;;
	"krping -n "* | *" --input "*) ;; # no run is needed
	*"krping "*client* | *"client,addr"*)
		traffic_off
		need_server
		listening=0
		enter "$2"
		# A client without a count runs until ctrl-c; one with an exit status of its own ends by itself.
		if [[ $2 != *count* && $2 != *"# exit status"* ]]; then
			sleep 4
			press C-c
		fi
		ends 60
		ok $? "$what: the client ends"
		status "$what"
		return
		;;
	*\&)
		if [[ $2 == *" -e"* ]]; then
			traffic_off
		elif [[ $2 == krping* ]]; then
			traffic_on
		fi
		enter "$2"
		ends 20
		ok $? "$what: it goes on in the background"
		# Wait until the tool is ready before the runs that it watches begin.
		[[ $2 != krping* ]] || sleep 8
		return
		;;
	krping*\ -e\ * | krping*\ -e)
		traffic_off
		enter "$2"
		sees 30 'Ctrl-C'
		beside 'krping server 10.9.0.1 & sleep 1; krping client 10.9.0.1 count=50; wait' 60
		ends 60
		ok $? "$what: it ends when the runs have"
		status "$what"
		return
		;;
	krping*) traffic_on ;;
	esac
	enter "$2"
	if ! ends 6; then
		press C-c
		ends 40
	fi
	ok $? "$what: it ends, on ctrl-c"
	status "$what"
}

# file NAME LINES: tries the examples of one file, and then ends all jobs, since a reader starts each page afresh.
file() {
	local line
	[ -n "$2" ]
	ok $? "$1 has examples"
	while IFS= read -r line; do example "$1" "$line"; done <<<"$2"
	traffic_off
	enter 'kill $(jobs -p) 2>/dev/null; wait; cd /tmp'
	ends 30
}

# must STATUS WHAT: an assertion without which no example can be typed.
must() {
	ok "$1" "$2"
	[ "$1" = 0 ] || done_typing
}

shell_begin
must $? "make shell: a prompt"
type tmux
sees 60 '^\[0\] 0:bash' && sees 60 "$prompt"
must $? "tmux: a prompt"
# tmux would take keys that arrive fast, as from a program, for pasted text, and not for keys of its own.
type "tmux set -g assume-paste-time 0"
sleep 2
number_prompts
press C-b c
sees 60 '1:bash\*' && sees 60 "$prompt"
must $? "ctrl-b c: another prompt"
win=1
number_prompts
window 0
file README.md "$(of_table README.md; of_md README.md)"
for f in docs/*.md; do
	lines=$(of_md "$f")
	[ -z "$lines" ] || file "$f" "$lines"
done
for f in "$pages"/*.8; do file "${f##*/}" "$(of_page "$f")"; done
[ $elsewhere -ge 6 ]
ok $? "commands for the host, the wire or bpftrace: $elsewhere"
type exit
sleep 1
type exit
sleep 1
type exit
shell_ends
ok $? "the VM ends"
done_typing
