#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The demo, inside the VM. Both ends of the connection are here: a server and a client on one soft RDMA device.

set -euo pipefail

addr=$KRPING_ADDR
port=9999
pings=3000
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

[ ! -t 1 ] || bold=$(printf '\033[1m') plain=$(printf '\033[0m')

title() { printf '\n%s== %s%s\n' "${bold-}" "$1" "${plain-}"; }

say() { printf '   %s\n' "$@"; }

die() {
	printf 'demo: %s\n' "$*" >&2
	cat "$tmp"/*.err >&2 2>/dev/null || :
	exit 1
}

# wait_for SECONDS COMMAND...
wait_for() {
	local n=$(($1 * 10))
	shift
	until "$@"; do
		n=$((n - 1))
		[ $n -gt 0 ] || die "nothing came of: $*"
		sleep 0.1
	done
}

# observe NAME COMMAND...: runs it in the background, and sets OBSERVER to it. A tool says on stderr that it is attached.
observe() {
	"${@:2}" >"$tmp/$1" 2>"$tmp/$1.err" &
	OBSERVER=$!
	wait_for 20 test -s "$tmp/$1.err"
}

# serve [OPTIONS]: starts a server. It listens once it has an address to show, and until a client comes.
serve() {
	echo "server,addr=$addr,port=$port${1-}" >/proc/krping &
	server=$!
	wait_for 10 grep -q 'role=server .*src=[0-9].*state=IDLE' /proc/krping_runs
}

# end PID: the run of that echo ends, as by Ctrl-C.
end() {
	kill -INT "$1"
	wait "$1" || :
}

title "1. An RDMA device, in software"
say "$(rdma link show "$KRPING_LINK/1")"
say "Kernel $(uname -r). The device speaks RDMA over an ordinary network interface;" \
	"one VM holds both ends, at $addr."

title "2. Attach the observers"
observe stages krping stages --until-done
stages=$OBSERVER
observe mr krping mr --until-done
mr=$OBSERVER
say "krping stages measures where the time of each ping goes, krping mr what it costs" \
	"to give the device access to memory. They read the module's trace events through" \
	"BPF; the kernel log is not involved."

title "3. Start both ends"
say "echo \"server,addr=$addr,port=$port\" > /proc/krping"
serve
say "echo \"client,addr=$addr,port=$port,count=$pings,validate\" > /proc/krping"
echo "client,addr=$addr,port=$port,count=$pings,validate" >/proc/krping &
client=$!
say "Each echo blocks until its end is done, and fails if the run failed."

title "4. Watch (krping top)"
if [ -t 1 ]; then krping top 1 6; else krping top -b 1 5; fi

wait $client || die "the client failed: $(tail -n 1 /proc/krping_runs)"
wait $server || die "the server failed: $(tail -n 2 /proc/krping_runs)"
wait $stages || die "krping stages failed"
wait $mr || die "krping mr failed"

title "5. Where did the time go? (krping stages)"
say "A ping: the client offers a buffer, the server READs it and says go ahead; the" \
	"client offers another one, the server WRITEs the data back and says go ahead." \
	"Every moment of a run is in exactly one phase, so the phases add up to the run."
echo
cat "$tmp/stages"

title "6. What did memory registration cost? (krping mr)"
say "REG_MR makes a buffer accessible under a new key, LOCAL_INV takes the key back." \
	"Each key that was given out must be accounted for: the first lines say so."
echo
cat "$tmp/mr"

title "7. The result, for scripts (/proc/krping_runs)"
grep -E '^(#|id=)' /proc/krping_runs | fold -s -w 96 | sed 's/^/   /'

title "8. One ping, seen from both ends (krping trace ladder)"
say "Of a hundred more pings, the median one: what each end posted and waited for, with" \
	"keys, and with arrows for what went over to the other end."
observe ladder krping trace ladder median
serve
echo "client,addr=$addr,port=$port,count=100" >/proc/krping || die "the client failed: $(tail -n 1 /proc/krping_runs)"
wait $server || die "the server failed: $(tail -n 2 /proc/krping_runs)"
wait $OBSERVER || die "krping trace failed"
echo
cat "$tmp/ladder"

title "9. A disk whose reads and writes travel by RDMA (test=block)"
say "A server lends 4 MiB of its memory; the client makes it a disk, and a program writes" \
	"a sentence to sector 1000 of that. The ladder shows the request that takes it there" \
	"(without in_capsule=0 so few bytes would be in the first message):"
observe block krping trace ladder 0
serve ",test=block,window=4M,persistent"
disk() {
	(
		trap - INT
		exec bash -c 'echo "$1" >/proc/krping' - "client,addr=$addr,port=$port,test=block${1-}"
	) 2>/dev/null &
	client=$!
	wait_for 20 test -b /dev/krping0
}
disk ,in_capsule=0
echo "Whoever reads this sector has been lent the memory of another host." >"$tmp/text"
dd if="$tmp/text" of=/dev/krping0 bs=512 seek=1000 conv=sync oflag=direct 2>"$tmp/dd.err" || die "nothing was written"
end $client
wait $OBSERVER || die "krping trace failed"
echo
cat "$tmp/block"
echo
say "The memory stays. A second client, which only reads, finds there:"
disk ,ro
text=$(dd if=/dev/krping0 bs=512 skip=1000 count=1 iflag=direct 2>"$tmp/dd.err" | tr -d '\0')
say "$text"
[ "$text" = "$(<"$tmp/text")" ] || die "these are other bytes"
end $client
end $server

title "Done"
say "Next: make shell, and type the same commands yourself; krping help WORD explains what they print."
