#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# commands.sh FOLDER: TAP; tries each make command that README.md, CONTRIBUTING.md and docs/ name, in backquotes or on an indented
# line. It works in a copy of the sources below FOLDER in which nothing is built yet: like a fresh clone, and no other job builds
# there meanwhile. Commands that take minutes, or need a machine with a device, are tried as far as make's targets, tests and
# planted faults go: each is there.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
set -o pipefail
folder=$(realpath "$1")
cd "$here/../.." && tests/sources.sh "$folder/clone" && cd "$folder/clone" || exit
unset OUT KERNEL PROVIDER TEST MUTANT MAKEFLAGS MAKELEVEL

named() {
	# shellcheck disable=SC2016 # backquotes of the documents
	{
		grep -ohE '`(sudo )?make[^`]*`' README.md CONTRIBUTING.md docs/*.md docs/upstream/*.md | tr -d '`'
		grep -ohE '^    (sudo )?make( [^#]*)?' README.md CONTRIBUTING.md docs/*.md
		echo make help
	} | sed -E 's/^ *(sudo )?//; s/ +$//' | sort -u
}

# installed: builds module and tools with the headers of the VM's kernel, which stand for VERSION in a command, installs them into
# a folder, and looks for all that the README lists.
installed() {
	local kdir dest=$folder/install f
	kdir=$(tests/vm/kernel.sh | sed -n 's/^KBUILD_DIR=//p')
	rm -rf "$dest"
	make --no-print-directory KDIR="$kdir" && make --no-print-directory install KDIR="$kdir" DESTDIR="$dest" || return 1
	for f in krping krping-top krping-stages krping-mr krping-trace krping-record; do
		[ -x "$dest/usr/local/bin/$f" ] || [ -x "$dest/usr/local/sbin/$f" ] || { echo "$f was not installed" && return 1; }
	done
	[ -n "$(find "$dest" -name 'rdma_krping.ko*')" ] || { echo "the module was not installed" && return 1; }
}

# says: a demo installs what a VM needs, and whose module a machine without headers gets is said.
says() {
	[[ $(make -n demo) == *'--install build vm;'* ]] || { echo "make demo installs more" && return 1; }
	[[ $(make -n module KDIR=) == *'this module is for the VM'* ]] || { echo "nothing is said of the module" && return 1; }
}

# in_shell COMMAND: starts a shell of the VM that reads its commands from stdin; only on a terminal would it show a prompt.
in_shell() {
	printf 'krping server 10.9.0.1 &\nuntil grep " listen$" /proc/krping; do sleep 0.1; done\nkrping client 10.9.0.1 count=23 && echo "shell: it pings"\nwait\n' |
		eval "$1" && grep -q '^shell: it pings' "$folder/log"
}

# is_there COMMAND: its targets, its test and its planted fault are there.
is_there() {
	local word test
	eval "make -n --no-print-directory ${1#make}" || return 1
	for word in $1; do
		case $word in
		TEST=NAME.t | MUTANT=FAULT) ;;
		TEST=*.t) [ -e "tests/guest/${word#TEST=}" ] || return 1 ;;
		TEST=*) tests/check/host.sh - list | grep -qx "${word#TEST=}" || return 1 ;;
		MUTANT=*)
			test=${1#*TEST=}
			grep -q "^${word#MUTANT=}|${test%% *}|" tests/mutants/list || return 1
			;;
		esac
	done
}

tried() {
	$how "$command" >"$folder/log" 2>&1 </dev/null && return
	tail -5 "$folder/log"
	return 1
}

# The demo builds what make's dry runs take for granted.
{
	echo make demo
	named
	echo says
} | awk '!seen[$0]++' >"$folder/named"
while IFS= read -r command <&3; do
	case $command in
	make\ shell*) how=in_shell ;;
	'make && sudo make install' | 'make KDIR='* | 'make module'*) how=installed ;;
	'make demo'* | 'make deps' | 'make help' | 'make vm-module'* | says) how='eval' ;;
	*) how=is_there ;;
	esac
	ok "$how: $command" tried
done 3<"$folder/named"
rm -rf "$folder/clone" "$folder/install"
finish_here
