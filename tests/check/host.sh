#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# host.sh FOLDER PART [KERNEL]: runs a part of the tests on the host (a few parts boot a VM of their own), with the sources
# and headers of KERNEL (6.1). The parts are below; "host.sh - list" prints their names. It says to check.pl what that one hears.
# "make vm-all" must have made what KERNEL needs. From the environment: OUT, the build folder.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
shopt -s lastpipe
# shellcheck source=tests/guest/lib.sh
. tests/guest/lib.sh

folder=$1 part=$2 kernel=${3:-6.1}
export KERNEL=$kernel OUT=${OUT:-build}

# tap NAME COMMAND...: runs a test of that name; the command prints its TAP.
tap() {
	local name=$1 begin=$SECONDS rc=0
	shift
	echo "### begin $name"
	"$@" 2>&1 || rc=$?
	echo "### end $name $rc $((SECONDS - begin))"
}

# all_told: ends a TAP of the functions of lib.sh, like finish_here, and goes on.
all_told() { printf '1..%d\n' $tap_n && [ $tap_failed -eq 0 ]; }

# each WHAT COMMAND...: an assertion for each line of stdin, the last argument of the command.
each() {
	local arg
	while IFS= read -r arg; do ok "$1 $arg" "${@:2}" "$arg" </dev/null; done
	all_told
}

# The makefile lists the programs, so that a stale program is not run.
unit() {
	local t
	make --no-print-directory -C tests/unit all
	for t in $(make --no-print-directory -s -C tests/unit list); do
		tap "${t##*/}" env CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 120 "$t"
	done
}

# A file that is sourced has a directive for shellcheck, and no line that names its shell.
shellchecked() {
	grep -rlIE '^(#!/bin/(ba)?sh|# shellcheck shell=)' tests tools .ci | sort | each shellcheck shellcheck -x -S warning -P SCRIPTDIR -e SC2317
}

# Uses the kernel's own checkpatch: that of a newer kernel has more complaints.
checkpatch() {
	find module -name '*.[ch]' -type f | sort | each checkpatch perl "$1/scripts/checkpatch.pl" --no-tree --no-summary --terse -q -f
}

# Uses only the version that .clang-format is written for: other versions differ in details.
format() {
	local bin v
	bin=$(command -v clang-format-14 || echo clang-format)
	v=$("$bin" --version | sed -n 's/.*clang-format version \([0-9]*\).*/\1/p')
	[ "$v" = 14 ] || { skip "the style is that of clang-format 14, here is $v" && all_told && return; }
	find bpf module tests tools trace -name '*.[ch]' -type f | sort | each clang-format "$bin" --dry-run -Werror
}

# Builds the VM's module once more, with W=1 and sparse, in a folder of its own.
warnings() {
	local flags=W=1 log=$folder/warnings.log
	! command -v sparse >/dev/null || flags+=' C=2'
	rm -rf "$OUT/vm-$kernel/lint"
	silent() {
		make --no-print-directory vm-module VARIANT=lint KBUILD_ARGS="$flags" >"$log" 2>&1 || { tail -20 "$log" && return 1; }
		! grep -E '(module|trace)[^ ]*\.[ch]:[0-9]+.*(warning|error)' "$log"
	}
	ok "no warning of $flags" silent
	all_told
}

ksrc=$(sed -n 's/^KSRC=//p' "$OUT/vm-$kernel/kernel.env" 2>/dev/null || :)
# The parts, and the command that prints the TAP of each; unit has programs of its own.
declare -A parts=(
	[unit]=unit [shellcheck]=shellchecked [clang-format]=format [warnings]=warnings [checkpatch]="checkpatch $ksrc"
	[sanitize]=tests/unit/sanitize.sh [archive]=tests/unit/archive.t [benches]=tests/unit/benches.t [awkit]=tests/unit/awkit.t
	[completion]=tests/unit/completion.t [check]=tests/unit/check.t [pairs]=tests/unit/pairs.t [golden]=tests/unit/golden.t
	[reading]=tests/unit/reading.t
	[manuals]="tests/check/manuals.sh $OUT/tools/man" [tables]=tests/check/tables.sh [gate]='tests/vm/gate/judge.pl --self-test'
	[names]='tests/unit/names.pl trace/krping_abi.h tools/bpftrace/*.bt'
	[circles]="tests/unit/circles.pl bpf/*.[ch] module/*.[ch] tools/*/*.[ch] trace/*.[ch] $OUT/vm-$kernel/module/*.o
		$OUT/vm-$kernel/module/compat/*.o"
	[hotpath]="tests/unit/hotpath.pl $OUT/vm-$kernel/module/rdma_krping.ko"
	# The parsers, with inputs that libFuzzer makes, and faults that it has to find.
	[fuzz]=tests/fuzz/fuzz.sh
	# The shell of the VM, on a terminal; the commands that the documents name; our reports of bugs of others; the packages.
	[terminal]=tests/check/terminal.sh [commands]="tests/check/commands.sh $folder" [upstream]="tests/check/upstream.sh $ksrc"
	[deb]="tests/check/deb.sh $folder"
)
if [ "$folder" = - ]; then
	printf '%s\n' "${!parts[@]}" | sort
	exit
fi
[ -n "${parts[$part]-}" ] || {
	echo "krping: tests/check/host.sh has no part $part" >&2
	exit 2
}
# shellcheck disable=SC2086 # words and patterns
if [ "$part" = unit ]; then unit; else tap "$part" ${parts[$part]}; fi
