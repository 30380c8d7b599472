#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make check-here, in this VM: it refuses what it should refuse, with words; it runs its tests on the link that was named and
# writes a report; it fails if a test does; and the link beside that one has carried nothing.

. "$(dirname "$0")/lib.sh"
script=$here/../check/here.sh
export OUT=$T/out
mkdir -p "$OUT"
ln -s "${KRPING_TOOLS:?}" "$OUT/tools"

report=$OUT/check-here/report.txt

# check VARIABLE...: runs the script, and sets RC and SAID.
check() {
	SAID=$(env KRPING_ROUNDS=few "$@" "$script" </dev/null 2>&1)
	RC=$?
}
# refused PATTERN WHAT VARIABLE...: the script runs nothing, and says why.
refused() {
	check "YES=$([[ $1 == This* ]] || echo 1)" "${@:3}"
	like "$RC $(ls "$report" 2>/dev/null): $SAID" "^2 : .*$1" "$2: status 2, no report, and why"
}
# passed STATUS WHAT
passed() { is $RC "$1" "$2: status $1" || diag "$(grep -hE '^(not ok|#)' "$OUT"/check-here/*.tap; tail -n 5 <<<"$SAID")"; }

# The link beside: another address, on another netdev. IPv6 would send a few packets by itself.
other=${PROVIDER}9
ip link add d9 type dummy && echo 1 >/proc/sys/net/ipv6/conf/d9/disable_ipv6 && ip addr add 10.9.9.1/24 dev d9 && ip link set d9 up
link_add "$other" d9 10.9.9.1 || fail "the link beside is there"
# around: the links, the modules, and all that the link beside, and its netdev, have counted.
around() {
	cat "/sys/class/infiniband/$other/ports/1/hw_counters/"* /sys/class/net/d9/statistics/{rx,tx}_packets 2>/dev/null | xargs
	rdma res show "$other"
	rdma link show
	cut -d' ' -f1,2 /proc/modules | sort
}

refused 'which link\? ' "neither ADDR nor DEV" ADDR='' DEV=''
refused '10\.9\.0\.99 is no address of this machine' "an address that is not here" ADDR=10.9.0.99
refused 'no RDMA device leads to 127\.0\.0\.1' "an address without RDMA" ADDR=127.0.0.1
refused 'nowhere is no IPv4 address' "no address at all" ADDR=nowhere
refused 'there is no RDMA device mlx5_7; there are: ' "a device that is not here" DEV=mlx5_7
refused "$ADDR belongs to $LINK and not to $other" "address and device of two links" ADDR="$ADDR" DEV="$other"
sed '1s/ events=[0-9]*/ events=77/' /proc/krping_runs >"$T/runs"
mount --bind "$T/runs" /proc/krping_runs
refused 'the module that is loaded has events of version 77, ' "a module of another version" ADDR="$ADDR"
umount /proc/krping_runs
rmmod rdma_krping
refused 'the module is not loaded: sudo modprobe' "no module" ADDR="$ADDR"
insmod "${KRPING_MODULE:?}"
server busy "server,addr=$ADDR,port=$PORT"
refused 'runs are under way' "a machine on which runs are under way" ADDR="$ADDR"
interrupt busy
refused 'nobody@nowhere\.invalid does not answer' "a peer that does not answer" ADDR="$ADDR" PEER=nobody@nowhere.invalid
refused "This will run, on $LINK alone: .*nobody is there to ask: YES=1" "nobody to ask" ADDR="$ADDR"

before=$(around)
check YES=1 DEV="$LINK" TEST="peer.t signals.t"
passed 0 "all tests pass"
is "$(around)" "$before" "links and modules are the same, and the link beside has carried nothing"
like "$(cat "$report")" "device    $LINK, driver (rdma_)?$PROVIDER, firmware .*"$'\n'"address   $ADDR, on d0 "$'\n'"kernel    $(uname -r)" "the report: device and kernel"
like "$(cat "$report")" "srcversion $(cat /sys/module/rdma_krping/srcversion), " "the report: the module"
like "$(cat "$report")" $'\n'"here $PROVIDER +peer\.t +[1-9][0-9]* ok, 0 not ok, " "the report: each test"
is "$(grep -c '^ok .* - rping, size=' "$report")" "$(grep -c '^ok .* - rping, size=' "$OUT/check-here/peer.t.tap")" "the report: each result"

# --- a peer by ssh, which is this machine: what comes between is a command with ssh's arguments ---
mkdir "$T/bin"
cat >"$T/bin/ssh" <<'END_OF_SSH'
#!/bin/bash
[ "$1 $2 $3" = "-o BatchMode=yes root@peer" ] || exit 255
shift 3
echo "$*" >>"${0%/*}/calls"
exec bash -c "$*"
END_OF_SSH
chmod 755 "$T/bin/ssh"
check YES=1 ADDR="$ADDR" PEER=root@peer TEST=peer.t PATH="$T/bin:$PATH"
passed 0 "with a peer"
like "$(cat "$report")" $'\n'"peer      root@peer at $ADDR"$'\n' "with a peer: the report names it"
ok "with a peer: servers and clients ran there" sh -c 'grep -q "^krping -j server" "$1" && grep -q "^krping -j client" "$1"' sh "$T/bin/calls"

# --- a test that fails ---
mkdir "$T/wrong"
cat >"$T/wrong/krping" <<END_OF_KRPING
#!/bin/bash
"$KRPING_TOOLS/krping" "\$@"
[[ " \$* " != *" client "* ]] || exit 3
END_OF_KRPING
chmod 755 "$T/wrong/krping"
rm "$OUT/tools"
check YES=1 ADDR="$ADDR" TEST=peer.t PATH="$T/wrong:$PATH"
passed 1 "a client whose status is wrong"
like "$(cat "$report")" $'\n'"here $PROVIDER +peer\.t +[0-9]+ ok, [1-9][0-9]* not ok, " "a client whose status is wrong: the report says what failed"

rdma link delete "$other" && ip link delete d9
done_testing "check-here"
