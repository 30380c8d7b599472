#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# prepare.sh FOLDER KERNEL                  makes what all cells of that kernel need: kernel, module, planted modules, tools
# prepare.sh FOLDER KERNEL --suite SUITE    afterwards: makes the planted faults of that suite
# prepare.sh FOLDER KERNEL --mutant NAME    afterwards: makes that planted fault
#
# Progress goes to stderr. If it fails, FOLDER has a result that says why. From the environment: OUT, the build folder.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=tests/check/collect.sh
. tests/check/collect.sh
folder=$1 kernel=$2 what=${3:-} name=${4:-}
mkdir -p "$folder"
args=${*@Q}
# shellcheck disable=SC2317 # called by result
again() { echo "OUT=build tests/check/prepare.sh $args"; }

build() {
	make --no-print-directory "$@" KERNEL="$kernel" >"$folder/make.log" 2>&1 || {
		tail -20 "$folder/make.log" >&2
		# Where no program says "error:", the line before make's own is the cause.
		echo "krping: make $* KERNEL=$kernel failed: $(awk '/error:|krping:/ { print; exit }
			/\*\*\*/ { print before != "" ? before : $0; exit } { before = $0 }' "$folder/make.log")" >&2
		return 1
	}
}

prepare() {
	case $what in
	'')
		KERNEL=$kernel tests/vm/kernel.sh >/dev/null || return
		build vm-module && build vm-plant || return
		# All kernels of one distribution share a folder of tools, so only one run may build there at a time.
		mkdir -p "$OUT"
		flock "$OUT/.tools.lock" make --no-print-directory vm-tools KERNEL="$kernel" >"$folder/make.log" 2>&1 || build vm-tools
		return
		;;
	--suite) name=$(tests/select.sh mutants "$name" any | cut -d'|' -f1 | sort -u | tr '\n' ' ') ;;
	esac
	[ -z "$name" ] || build vm-mutant MUTANT="$name"
}

prepare 2> >(tee "$folder/log" | grep --line-buffered '^krping:' >&2) || {
	sleep 0.2
	say_result "$folder" "$kernel - prepare" "${folder##*/}" 0 'not ok' "$(tail -1 "$folder/log" | sed 's/^krping: //')"
	exit 1
}
