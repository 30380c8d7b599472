#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make demo: boots the VM and shows krping at work in it, for somebody who has never seen it.

set -euo pipefail
cd "$(dirname "$0")/../.."

# TOOLS: the folder of tools other than those of build/.
: "${PROVIDER:=rxe}" "${OUT:=build}" "${TOOLS:=}" "${MODULE:?is set by make demo}"
out=$OUT/demo

printf 'krping: booting a VM with %s; your own kernel is not touched\n' "$PROVIDER"
mkdir -p "$out"
exec tests/vm/run.sh --provider "$PROVIDER" --module "$MODULE" --out "$out" --timeout 150 --tty ${TOOLS:+--tools "$TOOLS"} -- \
	bash tests/vm/demo-guest.sh
