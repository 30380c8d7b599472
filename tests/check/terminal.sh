#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# terminal.sh: TAP. "make shell" on a terminal, for a user who has read only its banner: the banner's commands, typed as they
# stand there and in that order; a second terminal; ctrl-c; manuals; the module unloaded and loaded again.

# shellcheck source=tests/check/screen.sh
. "$(dirname "$0")/screen.sh"

shell_begin
ok $? "make shell: a prompt"
banner=$(sed -n '/^A VM: /,/^exit /p' <<<"$SCREEN")
[ "$(wc -l <<<"$banner")" -ge 8 ] && ! sed '1d' <<<"$banner" | grep -v '^  \|^exit '
ok $? "its banner has commands, a line each"

# The text of a command ends at two blanks, or at the end of the line.
mapfile -t commands < <(sed -n 's/^  \([^ ].*\)$/\1/p' <<<"$banner" | sed 's/   *.*//')
inner=0
for c in "${commands[@]}"; do
	if [ "$c" = tmux ]; then
		# PS0 is expanded when a command has been read, PROMPT_COMMAND runs before a prompt.
		type "export PS0='\$([ \$TMUX ] || date +%s%N >/tmp/t0)' PROMPT_COMMAND='[ ! \$TMUX ] || date +%s%N >/tmp/t1'"
		sees 10 "$prompt"
	fi
	type "$c"
	case $c in
	"krping server"*) sees 20 'run [0-9]+ listens on 10\.9\.0\.1:9999' ;;
	"krping client"*) # without end: ctrl-c
		sees 20 'iterations|iter' || sleep 3
		press C-c
		sees 20 '^--- 10\.9\.0\.1:9999 krping client statistics ---'
		ok $? "$c, ctrl-c: its summary"
		sees 20 '(^|# )--- 10\.9\.0\.1:9999 krping server statistics ---' # the prompt may come first
		ok $? "$c, ctrl-c: the server's, too"
		[ "$(grep -oE '^[0-9]+ iterations of' <<<"$SCREEN" | sort -u | wc -l)" = 1 ] && ! grep -q '^krping: ' <<<"$SCREEN"
		;;
	tmux)
		inner=1
		sees 20 '^\[0\] 0:bash' && sees 10 "$prompt"
		ok $? "$c: a prompt"
		# shellcheck disable=SC2016 # for the VM's shell
		type 'unset PS0 PROMPT_COMMAND; echo $((($(cat /tmp/t1) - $(cat /tmp/t0)) / 1000000)) ms'
		# One second on a machine that does nothing else; other VMs may run beside this one.
		sees 10 '^[0-9]+ ms'
		ms=$(sed -n 's/^\([0-9]*\) ms.*/\1/p' <<<"$SCREEN") c="$c: its prompt came after $ms ms"
		[ "${ms:-4000}" -lt 4000 ]
		;;
	krping-top)
		sees 30 '^ *RUN ROLE'
		ok $? "$c: its screen"
		press q
		sees 20 "$prompt"
		;;
	"krping-stages 1")
		sees 30 'Ctrl-C to end'
		press C-c
		sees 20 "$prompt"
		;;
	"krping list -a") sees 20 '(client|server) +rping .* DONE' ;;
	echo*server*) sees 10 '^\[[0-9]+\]' && sleep 1 ;;
	echo*client*) sees 20 "$prompt" && ! grep -q 'error' <<<"$SCREEN" ;;
	*) false ;;
	esac
	ok $? "$c"
done
[ ${#commands[@]} -ge 7 ] && [ $inner = 1 ]
ok $? "all of the banner was typed: ${#commands[@]} commands, a second terminal among them"

type "man krping-top | head -n 3"
sees 20 '^KRPING-TOP'
ok $? "man krping-top"
type "rmmod rdma_krping; krping list"
sees 20 'the module is not loaded: try "modprobe rdma_krping"'
ok $? "without the module krping says what to do"
type "modprobe rdma_krping && krping list"
sees 20 '^ID ROLE'
ok $? "and that works"
type exit
sleep 1
type exit
shell_ends
ok $? "exit ends the second terminal, and exit the VM"
done_typing
