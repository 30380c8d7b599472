#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# plant.sh NAME BUILT NEW: makes NEW/module and NEW/trace a copy of the builds in BUILT/module and BUILT/trace, with
# NAME.patch applied. kbuild then compiles only the files that the patch changes. Prints "ready" if NEW was already made
# from this patch and this build. Exit 1, with a message, if there is no such patch or it does not apply.
#
# The objects are copies, not links: objtool and the linker write into files in place, and the objects of the module
# without the fault must not change.

set -euo pipefail
name=$1 built=$2 new=$3
patch=$(cd "$(dirname "$0")" && pwd)/$name.patch

fail() {
	echo "krping: $*" >&2
	exit 1
}

[ -r "$patch" ] || fail "there is no planted fault of that name: tests/mutants/$name.patch"
stamp=$(cat "$patch" "$built/module/rdma_krping.ko" | cksum)
if [ -e "$new/stamp" ] && [ "$(cat "$new/stamp")" = "$stamp" ] && [ -e "$new/module/rdma_krping.ko" ]; then
	echo ready
	exit 0
fi

rm -rf "$new"
mkdir -p "$new"
cp -a "$built/module" "$built/trace" "$new/"
# The commands that kbuild saved, and its lists of objects, contain the folder's name.
find "$new/module" -type f \( -name '.*.cmd' -o -name '*.mod' -o -name modules.order \) -print0 |
	xargs -0 sed -i "s,$built/,$new/,g"
rm -f "$new"/module/rdma_krping.ko
# The sources are links: replace those that the patch names by copies.
sed -n 's,^+++ b/\(\(module\|trace\)/[^ \t]*\).*,\1,p' "$patch" | while IFS= read -r file; do
	[ -e "$new/$file" ] || fail "$name.patch names $file, which there is not"
	cp --remove-destination "$(readlink -f "$new/$file")" "$new/$file"
done
patch -s -d "$new" -p1 -F0 --no-backup-if-mismatch <"$patch" >"$new/patch.log" 2>&1 ||
	fail "tests/mutants/$name.patch does not apply: $(grep -m1 -i 'fail\|malformed\|only garbage' "$new/patch.log")"
echo "$stamp" >"$new/stamp"
