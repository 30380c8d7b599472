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
stock) ;;
without-*)
	[[ " ${siw_patches[*]} " == *" ${variant#without-} "* ]] || fail "the VM's siw has no patch siw-${variant#without-}"
	;;
*) fail "siw $variant: there are stock and without-NAME" ;;
esac

# KSOURCE and KVERSION are read by siw_variant.
# shellcheck disable=SC2034
KROOT='' KIMAGE='' KBUILD_DIR='' KSOURCE='' KVERSION=''
kernel=$("$here/kernel.sh") || exit
eval "$kernel"
siw_variant "${KIMAGE%/*}" "$KBUILD_DIR" "$variant"
echo "$ko"
