# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A test of a recording that is kept: how that is made anew, by record() of the test, in a VM. To be sourced with the test's arguments.

# shellcheck source=tests/guest/lib.sh
. "${BASH_SOURCE[0]%/*}/../guest/lib.sh"
top=$(cd "$here/../.." && pwd)
OUT=$(realpath "${OUT:-$top/build}")
PATH=$OUT/tools:$PATH

# recording FILE.xz [--record|--new|...]: --new records FILE, and --record is what it does in the VM.
recording() {
	case ${2-} in
	--record)
		attach krping-record --all -o "$T/rec"
		record
		tool_end krping-record INT
		cp "$T/rec" /out/rec
		finish_here
		;;
	--new)
		(cd "$top" && tests/vm/run.sh --provider rxe --module "$OUT/vm-6.1/module/rdma_krping.ko" --tools "$OUT/tools" \
			--out "$T/vm" --timeout 300 -- "tests/unit/$(basename "$0")" --record) || exit
		xz -9e <"$T/vm/rec" >"$1"
		;;
	esac
}
