#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# terminal.sh: TAP. "make shell" on a terminal: its banner, ctrl-c, a second terminal, and its end. examples.t has the banner's commands.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
mkfifo "$T/keys"
# Opened for both, the FIFO never ends: script(1) would type a ctrl-d at its end.
script -q -e -f -c 'stty rows 24 cols 80; exec make --no-print-directory shell' "$T/screen" <>"$T/keys" >/dev/null 2>&1 &
PIDS[shell]=$!

# step KEYS REGEX WHAT: types KEYS, with printf's escapes; REGEX has to appear after that. The limit of ten minutes is for a VM that hangs.
shows() { tail -c "+$((from + 1))" "$T/screen" 2>/dev/null | grep -qE -- "$1"; }
step() {
	from=$(stat -c %s "$T/screen" 2>/dev/null || echo 0)
	printf '%b' "$1" >"$T/keys"
	ok "$3" within 600 shows "$2" || diag "$(tail -c 1500 "$T/screen" | tr -d '\r')"
}
step '' 'exit \(or ctrl-d\) ends the VM' "make shell: a banner"
step '\n' 'krping-vm.*# ' "a prompt"
step 'krping server 10.9.0.1 &\n' 'run [0-9]+ listens on 10\.9\.0\.1:9999' "a server in the background"
step 'krping client 10.9.0.1\n' 'iter' "a client without end"
step '\003' 'krping client statistics ---' "ctrl-c: its summary"
step 'tmux\n' '\[0\] 0:bash' "tmux: a second terminal"
step 'exit\n' '\[exited\]' "its end"
step 'exit\n' 'exit' "exit"
wait "${PIDS[shell]}"
is $? 0 "the VM ends"
finish_here
