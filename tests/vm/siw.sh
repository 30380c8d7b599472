#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# siw.sh KERNEL VARIANT: prints the path of another siw.ko for that kernel (see kernel.sh); makes it in the kernel's
# folder of the cache, and the kernel, if need be. Progress goes to stderr.
#
#   stock           as it is shipped, without our patches
#   without-NAME    with all of them but patches/siw-NAME.patch
#
# siw.sh --list: the names of the patches.
#
# Exit 3: there is none, since the kernel's source has that patch by itself; or the kernel is not in the archive.

set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping
# shellcheck source=tests/vm/archive.sh
. "$here/archive.sh"

if [ "${1:-}" = --list ]; then
	for p in "$here"/patches/siw-*.patch; do
		p=${p##*/siw-}
		echo "${p%.patch}"
	done
	exit 0
fi
[ $# -eq 2 ] || fail "usage: siw.sh KERNEL stock|without-NAME, or siw.sh --list"
export KERNEL=$1
variant=$2
case $variant in
stock) but=stock ;;
without-*)
	but=${variant#without-}
	[ -e "$here/patches/siw-$but.patch" ] || fail "there is no patch siw-$but"
	;;
*) fail "siw $variant: there are stock and without-NAME" ;;
esac

KROOT='' KIMAGE='' KBUILD_DIR='' KSOURCE='' KVERSION=''
kernel=$("$here/kernel.sh") || exit
eval "$kernel"
# The folder's name has the patches' checksum in it.
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
	# One folder for all of them, with its objects: a variant is the compiler's work for the files that differ.
	while IFS= read -r f; do
		cmp -s "src/$f" "$build/$f" || install -D -m 644 "src/$f" "$build/$f"
	done < <(cd src && find . -type f)
	make_siw "$build" "$KBUILD_DIR" siw.ko 9>&-
	mv siw.ko "$ko"
fi
echo "$ko"
