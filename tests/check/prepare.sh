#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# prepare.sh KERNEL SUITE... [--mutant NAME]: all that cells of these suites need: kernel, module, planted modules, tools and
# mutants. Progress and errors go to stderr; the last line of an error says what is wrong.
# From the environment: OUT, the build folder.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
kernel=$1
shift
mutants=()
suites=()
while [ $# -gt 0 ]; do
	case $1 in
	--mutant) mutants+=("$2") && shift ;;
	*) suites+=("$1") ;;
	esac
	shift
done
for suite in "${suites[@]}"; do
	while IFS='|' read -r name _; do
		[[ " ${mutants[*]} " == *" $name "* ]] || mutants+=("$name")
	done < <(tests/select.sh mutants "$suite" any)
done

log=$(mktemp)
trap 'rm -f "$log"' EXIT
build() {
	make --no-print-directory "$@" KERNEL="$kernel" >"$log" 2>&1 || {
		tail -20 "$log" >&2
		echo "krping: make $* KERNEL=$kernel failed: $(tail -1 "$log")" >&2
		exit 1
	}
}

KERNEL=$kernel tests/vm/kernel.sh >/dev/null
build vm-module
build vm-plant
# Kernels of one distribution have their tools in one folder.
mkdir -p "$OUT"
exec 9>"$OUT/.tools.lock"
flock 9
build vm-tools 9>&-
exec 9>&-
[ ${#mutants[@]} -eq 0 ] || build vm-mutant MUTANT="${mutants[*]}"
