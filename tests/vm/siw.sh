#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# siw.sh KERNEL VARIANT: prints the path of a variant of siw.ko for that kernel (see kernel.sh). If it is missing, the
# script makes it in the kernel's folder of the cache, and prepares the kernel first. Progress goes to stderr.
#
#   stock           siw as it is shipped, without our patches (siw_patches in archive.sh)
#   without-NAME    siw with all our patches except docs/upstream/siw-NAME.patch
#
# siw.sh --list: the names of the patches.
#
# Exit 3: there is no such variant, since the kernel's source already has that patch; or the kernel is not in the archive.

set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping
# shellcheck source=tests/vm/archive.sh
. "$here/archive.sh"

if [ "${1:-}" = --list ]; then
	printf '%s\n' "${siw_patches[@]}"
	exit 0
fi
[ $# -eq 2 ] || fail "usage: siw.sh KERNEL stock|without-NAME, or siw.sh --list"
export KERNEL=$1
variant=$2
case $variant in
stock) but=stock ;;
without-*)
	but=${variant#without-}
	[[ " ${siw_patches[*]} " == *" $but "* ]] || fail "the VM's siw has no patch siw-$but"
	;;
*) fail "siw $variant: there are stock and without-NAME" ;;
esac

KROOT='' KIMAGE='' KBUILD_DIR='' KSOURCE='' KVERSION=''
kernel=$("$here/kernel.sh") || exit
eval "$kernel"
# The file cannot be out of date: the folder's name contains the checksum of the patches.
ko=${KIMAGE%/*}/siw-$variant.ko
build=${KIMAGE%/*}/siw-build
if [ ! -e "$ko" ]; then
	exec 9>"$cache/siw.lock"
	flock 9
fi
if [ ! -e "$ko" ]; then
	work=$(mktemp -d "$cache/tmp.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	cd "$work"
	source_part "$KSOURCE" "$KVERSION"
	cp -r "$part" src
	rc=0
	(patch_siw src "$but") || rc=$?
	[ $rc -eq 0 ] || exit $rc
	say "building siw.ko for $KERNEL, $variant"
	# All variants share one build folder and its objects, so that the compiler builds only the files that differ.
	while IFS= read -r f; do
		cmp -s "src/$f" "$build/$f" || install -D -m 644 "src/$f" "$build/$f"
	done < <(cd src && find . -type f)
	make_siw "$build" "$KBUILD_DIR" siw.ko 9>&-
	mv siw.ko "$ko"
fi
echo "$ko"
