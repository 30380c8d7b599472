#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# prepare.sh KERNEL                       makes what all cells of that kernel need: kernel, module, planted modules, tools
# prepare.sh KERNEL --suite SUITE         afterwards: makes what a suite needs in addition: its planted faults, stock siw
# prepare.sh KERNEL --mutant NAME         afterwards: makes that planted fault
#
# Progress and errors go to stderr; the last line of an error says what is wrong. From the environment: OUT, the build folder.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
kernel=$1 what=${2:-} name=${3:-}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
build() {
	make --no-print-directory "$@" KERNEL="$kernel" >"$log" 2>&1 || {
		tail -20 "$log" >&2
		# Where no program says "error:", the line before make's own is the cause.
		echo "krping: make $* KERNEL=$kernel failed: $(awk '/error:|krping:/ { print; exit }
			/\*\*\*/ { print before != "" ? before : $0; exit } { before = $0 }' "$log")" >&2
		exit 1
	}
}

if [ -z "$what" ]; then
	KERNEL=$kernel tests/vm/kernel.sh >/dev/null
	build vm-module
	build vm-plant
	# All kernels of one distribution share a folder of tools, so only one run may build there at a time.
	mkdir -p "$OUT"
	exec 9>"$OUT/.tools.lock"
	flock 9
	build vm-tools 9>&-
	exit 0
fi

# Faults of the module, and faults of siw, which leave out a patch of ours. If siw's source already has the patch, there is no
# such fault, and the file "upstream" tells that to the guest's tests.
if [ "$what" = --suite ]; then
	mapfile -t mutants < <(tests/select.sh mutants "$name" any | cut -d'|' -f1 | sort -u)
	[[ $(tests/select.sh suite "$name") != *stock* ]] || tests/vm/siw.sh "$kernel" stock >/dev/null
else
	mutants=("$name")
fi
ours=()
for name in "${mutants[@]}"; do
	case $name in
	without-siw-*)
		folder=$OUT/vm-$kernel/mutants/$name rc=0
		rm -rf "$folder"
		mkdir -p "$folder"
		ko=$(tests/vm/siw.sh "$kernel" "without-${name#without-siw-}") || rc=$?
		case $rc in
		0) cp "$ko" "$folder/siw.ko" ;;
		3) : >"$folder/upstream" ;;
		*) exit 1 ;;
		esac
		;;
	*) ours+=("$name") ;;
	esac
done
[ ${#ours[@]} -eq 0 ] || build vm-mutant MUTANT="${ours[*]}"
