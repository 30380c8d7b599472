#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# module-btf.sh FILE.ko [BASE]: gives the module BTF where kbuild made none, as with Debian 6.1's headers, which
# ship no vmlinux. BASE is a vmlinux or its raw BTF. The module also works without BTF.

set -euo pipefail

ko=$1 base=${2:-}
# Not grep -q: it would end readelf by SIGPIPE, and with pipefail that would mean "no BTF".
has_btf() {
	readelf -SW "$1" | grep ' \.BTF ' >/dev/null
}

if has_btf "$ko"; then exit 0; fi
if [ -z "$base" ] || [ ! -r "$base" ]; then
	echo "krping: warning: no vmlinux or its BTF to be found: ${ko##*/} is without BTF, which krping's tools do not need" >&2
	exit 0
fi
# pahole works on a copy, which is then renamed: a failure must not leave half a module.
cp "$ko" "$ko.btf"
if pahole -J --btf_base "$base" "$ko.btf" && has_btf "$ko.btf"; then
	mv "$ko.btf" "$ko"
	echo "  pahole  ${ko##*/}: BTF made"
else
	rm -f "$ko.btf"
	echo "krping: warning: pahole failed: ${ko##*/} is without BTF, which krping's tools do not need" >&2
fi
