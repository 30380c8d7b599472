#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# siw.sh KERNEL stock|without-NAME: prints the path of siw.ko for that kernel without our patches, or without docs/upstream/siw-NAME.patch.

set -euo pipefail
case $2 in
stock) without=all ;;
*) without=siw-${2#without-} ;;
esac
kernel=$(KERNEL=$1 KRPING_WITHOUT=$without "$(dirname "$0")/kernel.sh")
sed -n 's/^SIW_KO=//p' <<<"$kernel"
