#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# host.sh FOLDER PART [KERNEL]: runs a part of the tests on the host (a few parts boot a VM of their own), with the sources
# and headers of KERNEL (6.1). The parts are below; "host.sh - list" prints their names. It says to check.pl what that one hears.
# "make vm-all" must have made what KERNEL needs. From the environment: OUT, the build folder.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
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

# each "WHAT" COMMAND...: runs the command for each line of stdin, with the line as last argument; each run is an assertion.
each() {
	local what=$1 arg text n=0 failed=0
	shift
	while IFS= read -r arg; do
		n=$((n + 1))
		if text=$("$@" "$arg" 2>&1 </dev/null); then
			echo "ok $n - $what ${arg#"$top"/}"
		else
			failed=1
			echo "not ok $n - $what ${arg#"$top"/}"
			printf '%s\n' "$text" | sed 's/^/# /'
		fi
	done
	echo "1..$n"
	return $failed
}

unit() {
	local t name
	make --no-print-directory -C tests/unit all >"$folder/unit.log" 2>&1 || {
		tap unit sh -c 'sed "s/^/# /" "$1"; echo "not ok 1 - the unit tests are built"; echo 1..1; exit 1' sh "$folder/unit.log"
		return
	}
	# The makefile lists the programs, so that a stale program is not run.
	for t in $(make --no-print-directory -s -C tests/unit list); do
		name=${t##*/}
		tap "$name" env CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 120 "$t"
	done
}

# A script is found by its first line; a file that is sourced has a directive for shellcheck instead, near its head.
scripts() {
	find tests tools .ci -type f -not -name '*.o' -print | while IFS= read -r f; do
		IFS= read -r line <"$f" 2>/dev/null || continue
		if [[ $line == '#!/bin/'*sh* ]] || head -3 "$f" | grep -q '^# shellcheck shell=' 2>/dev/null; then
			printf '%s\n' "$f"
		fi
	done | sort
}
shellchecked() {
	scripts >"$folder/scripts"
	each shellcheck shellcheck -x -S warning -P SCRIPTDIR -e SC2317 <"$folder/scripts"
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
	if [ "$v" != 14 ]; then
		echo "ok 1 # SKIP the style is that of clang-format 14, here is $v"
		echo 1..1
		return
	fi
	find bpf module tests tools trace -name '*.[ch]' -type f | sort | each clang-format "$bin" --dry-run -Werror
}

# Builds the VM's module once more, with W=1 and sparse, in a folder of its own.
warnings() {
	local log=$folder/warnings.log rc=0 what=(W=1)
	! command -v sparse >/dev/null || what+=(C=2)
	rm -rf "$OUT/vm-$kernel/lint"
	make --no-print-directory vm-module VARIANT=lint KBUILD_ARGS="${what[*]}" >"$log" 2>&1 || rc=$?
	if [ $rc -eq 0 ] && ! grep -E '(module|trace)[^ ]*\.[ch]:[0-9]+.*(warning|error)' "$log" | sed 's/^/# /' | grep .; then
		echo "ok 1 - no warning of ${what[*]}"
	else
		[ $rc -eq 0 ] || tail -20 "$log" | sed 's/^/# /'
		echo "not ok 1 - no warning of ${what[*]}"
		rc=1
	fi
	echo 1..1
	return $rc
}

ksrc=$(sed -n 's/^KSRC=//p' "$OUT/vm-$kernel/kernel.env" 2>/dev/null || :)
# The parts, and the command that prints the TAP of each; unit has programs of its own.
declare -A parts=(
	[unit]=unit [shellcheck]=shellchecked [clang-format]=format [warnings]=warnings [checkpatch]="checkpatch $ksrc"
	[sanitize]=tests/unit/sanitize.sh [archive]=tests/unit/archive.t [benches]=tests/unit/benches.t [awkit]=tests/unit/awkit.t
	[completion]=tests/unit/completion.t [check]=tests/unit/check.t [pairs]=tests/unit/pairs.t
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
