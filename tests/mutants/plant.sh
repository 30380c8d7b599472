#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# plant.sh NAME BUILT NEW: makes NEW/module and NEW/trace a copy of BUILT/module and BUILT/trace, with the fault NAME of the
# list beside this file. kbuild then compiles only the files that the fault changes. Prints "ready" if NEW was already made
# from this fault and this build. Exit 1, with a message, if there is no such fault or it does not apply. For a check of the
# list, BUILT may also be the top folder, in which nothing is built.
#
# The objects are copies, not links: objtool and the linker write into files in place, and the objects of the module
# without the fault must not change. Nor are the changed sources links: perl -i writes new files.

set -euo pipefail
name=$1 built=$2 new=$3

fail() {
	echo "krping: tests/mutants/list: $*" >&2
	exit 1
}

rows=$(grep "^$name " "$(dirname "$0")/list") || fail "there is no planted fault of that name: $name"
ko=$built/module/rdma_krping.ko
stamp=$({ echo "$rows" && if [ -e "$ko" ]; then cat "$ko"; fi; } | cksum)
if [ -e "$new/stamp" ] && [ "$(cat "$new/stamp")" = "$stamp" ] && [ -e "$new/module/rdma_krping.ko" ]; then
	echo ready
	exit 0
fi

rm -rf "$new"
mkdir -p "$new"
cp -a "$built/module" "$built/trace" "$new/"
# The commands that kbuild saved, and its lists of objects, contain the folder's name.
find "$new/module" -type f \( -name '.*.cmd' -o -name '*.mod' -o -name modules.order \) -print0 |
	xargs -0r sed -i "s,$built/,$new/,g"
rm -f "$new"/module/rdma_krping.ko
while read -r _ file expression; do
	[ -e "$new/$file" ] || fail "$name names $file, which there is not"
	why=$(perl -0777 -i -pe "\$was = \$_; \$n = ${expression}g || 0; \$n == 1 or die \"it matches at \$n places\n\";
		\$_ ne \$was or die \"it changes nothing\n\"" "$new/$file" 2>&1) || fail "$name does not apply to $file: $expression: $why"
done <<<"$rows"
echo "$stamp" >"$new/stamp"
