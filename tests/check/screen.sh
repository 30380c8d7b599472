# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The shell of the VM ("make shell") in a terminal of 80x24, for tests that type into it and look at what it shows; sourced by
# them. They end with done_typing.

set -uo pipefail
mux=(tmux -L "krping-screen-$$" -f /dev/null)
n=0 failed=0 SCREEN=''

cleanup() {
	"${mux[@]}" kill-server 2>/dev/null
	[ -z "${PANE:-}" ] || kill "$PANE" 2>/dev/null
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		failed=1
		echo "not ok $n - $2"
		sed 's/[[:space:]]*$//; /^$/d; s/^/# /' <<<"$SCREEN"
	fi
}

# sees SECONDS REGEX: within that time the screen has a line that matches.
sees() {
	local end=$((SECONDS + $1))
	until SCREEN=$("${mux[@]}" capture-pane -p 2>/dev/null) && grep -qE -- "$2" <<<"$SCREEN"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# press KEY...: presses keys, which are named as in tmux.
press() { "${mux[@]}" send-keys "$@"; }

# type COMMAND: clears the screen, and types COMMAND.
type() {
	press C-l
	sleep 0.3
	press -l -- "$1"
	press Enter
}
prompt='^krping-vm:[^#]*# *$'

# shell_begin: boots the VM; false if no prompt appears. The build of the module may have to wait for other makes.
shell_begin() {
	"${mux[@]}" new-session -d -x 80 -y 24 'make shell; sleep 2'
	PANE=$("${mux[@]}" list-panes -F '#{pane_pid}')
	sees 300 "$prompt"
}

# shell_ends: true if the shell, and the VM with it, ends within 20 s.
shell_ends() {
	local i
	for ((i = 0; i < 200; i++)); do
		"${mux[@]}" list-sessions >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	return 1
}

done_typing() {
	echo "1..$n"
	exit $failed
}
