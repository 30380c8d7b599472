#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# commands.sh FOLDER: TAP; runs the commands that the file "commands" beside this one says to run, and compares that file with the
# documents. It works in a copy of the sources below FOLDER in which nothing is built yet: like a fresh clone, and no other job
# builds there meanwhile. If a command has a path that the reader has to replace, it becomes that of the VM's kernel.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
folder=$(cd "$1" && pwd)
n=0 failed=0

tests/sources.sh "$folder/clone"
cd "$folder/clone"
unset OUT KERNEL PROVIDER TEST MUTANT MAKEFLAGS MAKELEVEL

assert() {
	local verdict=$1
	shift
	n=$((n + 1))
	if [ "$verdict" = 0 ]; then
		echo "ok $n - $*"
	else
		failed=1
		echo "not ok $n - $*"
	fi
}

# named: prints the make commands of the documents: those in backquotes, and indented lines, up to a comment.
named() {
	# shellcheck disable=SC2016 # backquotes of the documents
	{
		grep -ohE '`(sudo )?make[^`]*`' README.md CONTRIBUTING.md docs/*.md | tr -d '`'
		grep -ohE '^    (sudo )?make( [^#]*)?' README.md CONTRIBUTING.md docs/*.md
	} | sed -E 's/^ *(sudo )?//; s/ +$//' | sort -u
}

# parts TARGET: prints the parts that the plan has for TARGET.
parts() { awk -v t="$1" '!/^(#|$)/ && index("," $2 ",", "," t ",") { print $1 }' tests/check/plan; }

# planned COMMAND ["PART..."]: true if all parts that COMMAND makes check.sh run are also parts of check-all, but for exactly these.
planned() {
	local but=${2-} words target kernel provider part
	words=$(eval "make -n --no-print-directory ${1#make }" | grep -o 'check\.sh [a-z]*' | tail -1)
	target=${words#check.sh }
	kernel=$(sed -n 's/.*KERNEL=\([^ ]*\).*/\1/p' <<<"$1")
	[ -z "$kernel" ] || kernel=$(KERNEL=$kernel tests/vm/kernel.sh --version)
	provider=$(sed -n 's/.*PROVIDER=\([^ ]*\).*/\1/p' <<<"$1")
	case $target in
	all) return 0 ;;
	test) return 0 ;; # parts of the cells that the others have
	cell)
		# The kernel's name, or a role that stands for it, will do.
		for part in $(parts all); do
			[[ $part == *:full || $part == *:full:$provider ]] || continue
			[ "$(KERNEL=${part%%:*} tests/vm/kernel.sh --version)" != "${kernel:-6.1}" ] || return 0
		done
		return 1
		;;
	check | matrix | tools | wire | debug)
		[ -n "$(parts "$target")" ] && [ "$(comm -23 <(parts "$target" | sort) <(parts all | sort) | xargs)" = "$but" ]
		;;
	*) return 1 ;;
	esac
}

# installed: builds module and tools with the headers of the VM's kernel, installs them into a folder, and checks that all
# files that the README lists are there.
installed() {
	local kdir dest=$folder/install f
	kdir=$(sed -n 's/^KBUILD_DIR=//p' build/vm-6.1/kernel.env)
	rm -rf "$dest"
	make --no-print-directory KDIR="$kdir" &&
		make --no-print-directory install KDIR="$kdir" DESTDIR="$dest" || return 1
	for f in krping krping-top krping-stages krping-mr krping-trace; do
		[ -x "$dest/usr/local/bin/$f" ] || [ -x "$dest/usr/local/sbin/$f" ] || { echo "$f was not installed" && return 1; }
	done
	[ -n "$(find "$dest" -name 'rdma_krping.ko*')" ] || { echo "the module was not installed" && return 1; }
}

# in_part COMMAND PART: true if make check-all has the part host:PART, whose script runs COMMAND.
in_part() {
	parts all | grep -qxF "host:$2" && grep -qE "^[[:space:]]*$1( |\$)" "tests/check/$2.sh"
}

# in_shell COMMAND: starts a shell of the VM that reads its commands from stdin; only on a terminal would it show a prompt.
in_shell() {
	printf 'krping server 10.9.0.1 &\nsleep 2\nkrping client 10.9.0.1 count=23 && echo "shell: it pings"\nwait\n' |
		eval "$1" >"$folder/shell.out" 2>&1 && grep -q '^shell: it pings' "$folder/shell.out"
}

grep -vE '^(#|$)' tests/check/commands >"$folder/commands"
named >"$folder/named"
while IFS= read -r command; do
	rc=0
	grep -qF "$command|" "$folder/commands" || rc=1
	assert $rc "a document names it, and tests/check/commands says who runs it: $command"
done <"$folder/named"

while IFS='|' read -r command how; do
	rc=0
	grep -qxF "$command" "$folder/named" || rc=1
	assert $rc "a document names it: $command"
	rc=0
	case $how in
	run) eval "timeout -k 5 900 $command" >"$folder/log" 2>&1 </dev/null || rc=$? ;;
	shell) in_shell "timeout -k 5 600 $command" || rc=$? ;;
	install) installed >"$folder/log" 2>&1 || rc=$? ;;
	plan) planned "$command" >"$folder/log" 2>&1 || rc=$? ;;
	'plan but '*) planned "$command" "${how#plan but }" >"$folder/log" 2>&1 || rc=$? ;;
	'part '*) in_part "$command" "${how#part }" >"$folder/log" 2>&1 || rc=$? ;;
	'by hand: '*) continue ;;
	*) rc=1 ;;
	esac
	assert $rc "$how: $command"
	[ $rc -eq 0 ] || tail -5 "$folder/log" "$folder/shell.out" 2>/dev/null | sed 's/^/# /' || :
done <"$folder/commands"
rc=0
make help >"$folder/log" 2>&1 || rc=$?
assert $rc "run: make help"
# A make that copies a build must not meet one that is renewing it.
rc=0
flock build/vm-6.1/lock timeout 5 make vm-module >"$folder/log" 2>&1 || rc=$?
[ $rc -eq 124 ] && rc=0 || rc=1
assert $rc "a make waits while another one works in the kernel's folder"
cd "$top"
rm -rf "$folder/clone" "$folder/install"
echo "1..$n"
exit $failed
