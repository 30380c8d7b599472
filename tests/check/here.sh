#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make check-here: runs the suite "here" on the running machine, as root, against the module that is loaded: on the machine's own
# link, and peer.t between it and another machine, if one is named. It loads and unloads nothing, and makes and deletes no link;
# see docs/check-here.md. From the environment:
#
#   ADDR        the IPv4 address of the link, or
#   DEV         its RDMA device, whose netdev has one IPv4 address; both: they have to belong together
#   PEER        user@host, reached by ssh without a password: a machine with krping, on the same network
#   YES         1: it does not ask
#   TEST        names of tests, instead of all of the suite
#   KRPING_ROUNDS  few: what is repeated is repeated less often
#   OUT         the build folder
#
# The report is $OUT/check-here/report.txt. Exit status: 0 all tests passed, 1 a test failed, 2 nothing was run.

set -euo pipefail
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin
top=$(cd "$(dirname "$0")/../.." && pwd)
OUT=${OUT:-$top/build}
dir=$OUT/check-here
sys=/sys/class/infiniband

refuse() {
	echo "check-here: $*" >&2
	exit 2
}

# netdevs DEV: prints the netdevs of an RDMA device: those that its GIDs belong to, and that of an iWARP device, which rdma knows.
netdevs() {
	{
		cat "$sys/$1"/ports/*/gid_attrs/ndevs/* 2>/dev/null || :
		rdma link show 2>/dev/null | awk -v dev="$1" '{ for (i = 1; i < NF; i++) {
			if ($i == "link") { split($(i + 1), l, "/"); name = l[1] }
			if ($i == "netdev" && name == dev) print $(i + 1) } }'
	} | sort -u
}
# addresses NETDEV: prints its IPv4 addresses.
addresses() { ip -4 -o addr show dev "$1" 2>/dev/null | awk '{ sub("/.*", "", $4); print $4 }'; }
# devices_of ADDRESS: prints the RDMA devices that lead to this address of this machine.
devices_of() {
	local netdev dev
	netdev=$(ip -4 -o addr show to "$1/32" 2>/dev/null | awk '{ print $2; exit }')
	[ -n "$netdev" ] || refuse "$1 is no address of this machine"
	for dev in "$sys"/*; do
		[ -e "$dev" ] || continue
		! netdevs "${dev##*/}" | grep -qx -- "$netdev" || echo "${dev##*/}"
	done
}

# --- may it run? ---
[ "$(id -u)" = 0 ] || refuse "it needs root"
PATH=$OUT/tools:$PATH
for tool in rdma ip jq perl rping krping krping-stages krping-mr; do
	command -v $tool >/dev/null || refuse "there is no $tool; docs/check-here.md lists the packages, and make tools builds krping's"
done
[ -n "${ADDR:-}${DEV:-}" ] || refuse "which link? make check-here ADDR=a.b.c.d, or DEV=name of an RDMA device"
[ -e /proc/krping_runs ] || refuse "the module is not loaded: sudo modprobe rdma_krping"
want=$(awk '$2 == "KRPING_EVENTS_ABI" { print $3 }' "$top/trace/krping_abi.h")
have=$(sed -nE '1s/.* events=([0-9]+) .*/\1/p' /proc/krping_runs)
[ "$have" = "$want" ] || refuse "the module that is loaded has events of version ${have:-?}, these tools and tests are for version $want"
[ -z "$(cat /proc/krping)" ] || refuse "runs are under way, and tests would meet them: krping list"

addr=${ADDR:-} dev=${DEV:-}
if [ -n "$dev" ]; then
	[ -e "$sys/$dev" ] || refuse "there is no RDMA device $dev; there are: $(ls -C "$sys" 2>/dev/null)"
	if [ -z "$addr" ]; then
		addr=$(for n in $(netdevs "$dev"); do addresses "$n"; done)
		[ -n "$addr" ] || refuse "$dev has no IPv4 address"
		[ "$(wc -l <<<"$addr")" = 1 ] || refuse "$dev has several addresses, say ADDR= too: $(tr '\n' ' ' <<<"$addr")"
	fi
fi
[[ $addr =~ ^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$ ]] || refuse "$addr is no IPv4 address"
found=$(devices_of "$addr")
[ -n "$found" ] || refuse "no RDMA device leads to $addr"
if [ -n "$dev" ]; then
	grep -qx -- "$dev" <<<"$found" || refuse "$addr belongs to $(tr '\n' ' ' <<<"$found")and not to $dev"
else
	[ "$(wc -l <<<"$found")" = 1 ] || refuse "$addr leads to several devices, say DEV= too: $(tr '\n' ' ' <<<"$found")"
	dev=$found
fi
peer_addr=''
if [ -n "${PEER:-}" ]; then
	peer_addr=$(ssh -o BatchMode=yes "$PEER" ip -4 -o route get "$addr" 2>/dev/null | sed -nE 's/.* src ([0-9.]+).*/\1/p') || :
	[ -n "$peer_addr" ] || refuse "$PEER does not answer by ssh without a password, or has no route to $addr"
	ssh -o BatchMode=yes "$PEER" test -w /proc/krping || refuse "on $PEER the module is not loaded, or ssh does not come in as root"
fi

# --- what it is ---
# Soft devices have no driver of a bus; rxe has a file "parent", and siw is the only one with iWARP among them.
if [ -e "$sys/$dev/device/driver" ]; then
	driver=$(basename "$(readlink -f "$sys/$dev/device/driver")")
	provider=$driver
elif [ -e "$sys/$dev/parent" ]; then
	driver=rdma_rxe provider=rxe
else
	driver=siw provider=siw
fi
of() { cat "$1" 2>/dev/null || echo -; }
describe() {
	local n
	echo "krping check-here, $(date -u +%FT%TZ)"
	echo "device    $dev, driver $driver, firmware $(of "$sys/$dev/fw_ver"), board $(of "$sys/$dev/board_id")"
	for n in "$sys/$dev"/ports/*; do
		echo "port      ${n##*/}: $(of "$n/state"), $(of "$n/rate"), link layer $(of "$n/link_layer")"
	done
	echo "address   $addr, on $(netdevs "$dev" | tr '\n' ' ')"
	echo "kernel    $(uname -rm), tainted $(of /proc/sys/kernel/tainted)"
	echo "module    rdma_krping $(of /sys/module/rdma_krping/version), srcversion $(of /sys/module/rdma_krping/srcversion), events $have"
	echo "peer      ${PEER:-none: both ends are here}${peer_addr:+ at $peer_addr}"
}
tests=${TEST:-$("$top/tests/select.sh" tests here "$provider" | awk '{ print $1 }' | tr '\n' ' ')}

describe
cat <<END_OF_TEXT

This will run, on $dev alone: ${tests% }
Each makes runs of krping on $addr, port 9999, some of a few thousand pings, and ends them. They use the CPUs and the link as quick
as these are; they clear the buffer of ftrace, enable events of krping in it, load BPF programs (krping-stages, krping-mr),
and write some lines into the kernel's log. Nothing is loaded or unloaded, no link is made, changed or deleted, no other device is used.${PEER:+
On $PEER, krping is started by ssh, as a server and as a client.}
The report goes to $dir/report.txt.
END_OF_TEXT
if [ "${YES:-}" != 1 ]; then
	[ -t 0 ] || refuse "nobody is there to ask: YES=1 says that it may"
	read -rp "Go on? [y/N] " answer
	[[ $answer == [yY]* ]] || refuse "nothing was done"
fi

# --- the tests ---
mkdir -p "$dir" "$OUT/guest"
rm -f "$dir"/*.tap
if [ ! -x "$OUT/guest/krwrite" ] || [ "$top/tests/guest/krwrite.c" -nt "$OUT/guest/krwrite" ]; then
	"${CC:-cc}" -O1 -Wall -Wextra -Werror -o "$OUT/guest/krwrite" "$top/tests/guest/krwrite.c" || refuse "krwrite cannot be built"
fi
unset KRPING_VM KRPING_MODULE KRPING_MUTANT KRPING_PLANT KRPING_NETDEV
export KRPING_LINK=$dev KRPING_ADDR=$addr KRPING_PROVIDER=$provider KRPING_SSH=${PEER:-} KRPING_PEER=$peer_addr
export KRPING_TOOLS=$OUT/tools KRWRITE=$OUT/guest/krwrite KRPING_SLOW=${KRPING_SLOW:-1} KRPING_TURNS=${KRPING_TURNS:-0}
rc=0
# shellcheck disable=SC2086 # names
"$top/tests/guest/run-all.sh" --suite here --rounds "${KRPING_ROUNDS:-many}" $tests </dev/null |
	"$top/tests/check/check.pl" judge "$dir" "here $provider" | tee "$dir/results" || rc=1
{
	describe
	echo
	cat "$dir/results"
	for name in "$dir"/*.tap; do printf '\n== %s\n' "${name##*/}" && cat "$name"; done
} >"$dir/report.txt"
echo "check-here: $([ $rc = 0 ] && echo "all passed" || echo "a test failed"): $dir/report.txt"
exit $rc
