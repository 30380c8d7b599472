#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# terminal.sh: TAP. "make shell" on a terminal: its banner, ctrl-c, a second terminal, and its end. examples.t has the banner's
# commands.

set -uo pipefail
dir=$(mktemp -d)
n=0 failed=0
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
mkfifo "$dir/keys"
# Opened for both, the FIFO never ends: script(1) would type a ctrl-d at its end.
script -q -e -f -c 'stty rows 24 cols 80; exec make --no-print-directory shell' "$dir/screen" <>"$dir/keys" >/dev/null 2>&1 &

# step KEYS REGEX WHAT: types KEYS, with printf's escapes; REGEX has to appear after that. The limit of ten minutes is for a VM that
# hangs.
step() {
	local i from
	n=$((n + 1)) from=$(stat -c %s "$dir/screen" 2>/dev/null || echo 0)
	printf '%b' "$1" >"$dir/keys"
	for ((i = 0; i < 6000; i++)); do
		! tail -c "+$((from + 1))" "$dir/screen" 2>/dev/null | grep -qE -- "$2" || { echo "ok $n - $3" && return; }
		sleep 0.1
	done
	failed=1
	echo "not ok $n - $3"
	tail -c 1500 "$dir/screen" | tr -d '\r' | sed 's/^/# /'
}
step '' 'exit \(or ctrl-d\) ends the VM' "make shell: a banner"
step '\n' 'krping-vm.*# ' "a prompt"
step 'krping server 10.9.0.1 &\n' 'run [0-9]+ listens on 10\.9\.0\.1:9999' "a server in the background"
step 'krping client 10.9.0.1\n' 'iter' "a client without end"
step '\003' 'krping client statistics ---' "ctrl-c: its summary"
step 'tmux\n' '\[0\] 0:bash' "tmux: a second terminal"
step 'exit\n' '\[exited\]' "its end"
step 'exit\n' 'exit' "exit"
wait $!
rc=$? n=$((n + 1))
[ $rc = 0 ] && echo "ok $n - the VM ends" || { echo "not ok $n - the VM ends: status $rc" && failed=1; }
echo "1..$n"
exit $failed
