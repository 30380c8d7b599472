#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Recordings of each ABI of the events, tests/golden/abi-N.rec.xz: without the module the tools say of them what they said when they
# were made, abi-N.said.xz. A member that a tool says since then is not compared. For a new ABI, or if something else is meant to be said:
#
#   make vm-all && tests/unit/golden.t --new      makes both of this ABI, in a VM; --said makes anew what is said of all

# shellcheck source=tests/unit/recorded.sh
. "$(dirname "$0")/recorded.sh"
golden=$top/tests/golden
abi=$(sed -n 's/^#define KRPING_EVENTS_ABI\t//p' "$top/trace/krping_abi.h")

# In the VM: a few runs of each kind.
record() {
	# shellcheck source=tests/guest/lib-disk.sh
	. "$here/lib-disk.sh"
	ping_pair "" ",count=3,name=rack-4"
	ping_pair "" ",test=fr,count=3"
	ping_pair "" ",test=bw,count=6,size=4K,txdepth=4"
	limited 20 "$krwrite" "client,addr=$ADDR,port=9,count=1"
	window ,window=1M
	disk ""
	dd if=/dev/zero of=$DISK bs=4K count=2 oflag=direct
	ends "the disk"
	interrupt server
}

# says FILE: what each tool says of it: all runs in one object, and each event.
says() {
	local tool
	for tool in stages mr top trace; do krping "$tool" -j -I "$1"; done | jq -c 'select(.runs or .event) | del(.time)'
}

# same FILE WHAT [MEMBER...]: of that recording all is said that was said, but for these members.
same() {
	says "$1" >"$T/got"
	is "$(wc -l <"$T/got") $(jq -nr --slurpfile want "$T/want" --slurpfile got "$T/got" '$want | paths(scalars | . != {}) as $p |
		select((getpath($p) != ($got | getpath($p))) and ($p[-1] | IN($ARGS.positional[]) | not)) |
		"\($p): \(getpath($p)) \($got | getpath($p))"' --args "${@:3}" 2>&1 | head -n 3)" "$(wc -l <"$T/want") " "$2"
}

# traces FILE: how often it has an address, as text and as an event has it, a label, a command, the host, a reason, and a number of a process.
# shellcheck disable=SC2016 # perl's variables
traces() {
	perl -0777 -ne '$f = $_; print join " ", map { 0 + (() = $f =~ /$_/g) } "10\\.9\\.0\\.1", "\xff\xff\x0a\x09\x00\x01", "rack-4", "krwrite", "krping-vm", "refused", "pid=\\d{3} "' "$1"
}

# rewrite FILE CODE: prints the recording with what CODE has changed of each chunk: of its $kind and $data, and of an event's arguments, @arg;
# $name and $run are the event's.
rewrite() {
	perl -0777 -ne 'print substr $_, 0, 16;
		for (my $o = 16; $o < length; ) {
			my ($kind, $size) = unpack "VV", substr $_, $o, 8;
			my $data = substr $_, $o + 8, $size;
			$o += 8 + ($size + 7 & ~7);
			@names = map { s/ .*//r } split /\n/, $data if $kind == 1;
			my (undef, $run, $nr, undef, undef, @arg) = $kind == 3 ? unpack "QVVVVQ*", $data : ();
			my $name = $kind == 3 ? $names[$nr] : "";
			'"$2"';
			substr($data, 24, 8 * @arg) = pack "Q*", @arg if @arg;
			print pack("VV", $kind, length $data), $data, "\0" x (-length($data) % 8);
		}' "$1"
}
# Another version has an event more in front of its table, and so all numbers are higher.
# shellcheck disable=SC2016 # perl's variables
renumber='$data = "of_tomorrow run:u32\n$data" if $kind == 1;
	substr($data, 12, 4) = pack "V", 1 + unpack "V", substr $data, 12, 4 if $kind == 3'
# shellcheck disable=SC2016 # perl's variables
leak='$_ = 0 for grep { $name eq "iter_memory" && $run == 2 && ($_ & 0xfff) == 0x1f0 } @arg'
# shellcheck disable=SC2016 # perl's variables
longer='$arg[4]++ if $name eq "run_end" && $run == 2'

recording "$golden/abi-$abi.rec.xz" "$@"
ok "there is a recording of this ABI, $abi" test -r "$golden/abi-$abi.rec.xz"
for f in "$golden"/*.rec.xz; do
	name=$(basename "$f" .rec.xz)
	xz -dc "$f" >"$T/rec"
	[ $# -eq 0 ] || says "$T/rec" | xz -9e >"$golden/$name.said.xz"
	xz -dc "$golden/$name.said.xz" >"$T/want"
	same "$T/rec" "$name: the tools say the same"
	is "$(krping slow 2ms -I "$T/rec")" "$(krping-stages --slow 2ms --slowest 10 -I "$T/rec")" "$name: krping slow 2ms"
	is "$(krping ladder 1 -I "$T/rec")" "$(krping-trace ladder 1 -I "$T/rec")" "$name: krping ladder"
	rewrite "$T/rec" "$renumber" >"$T/renumbered"
	same "$T/renumbered" "$name: and of a table with other numbers"
	rewrite "$T/rec" "$leak" >"$T/spoilt"
	krping mr -v -I "$T/spoilt" >"$T/got" 2>"$T/err"
	is "$? $(grep -A 2 "^run 2" "$T/got"; grep "^ *2 client" "$T/got"; cat "$T/err")" "2 run 2 client: 5 keys not accounted for: 6 registered, 1 freed
  name rack-4
  invalidated while not valid 0, registered while valid 5, ledgers differ 5
   2 client       6        0       0       0      1       0     0   10      +5
krping-mr: registrations and invalidations do not balance (lost events: 0)
krping-mr: run 2, registered under key 0x00000302 while key 0x00000301 was valid" "$name: krping mr: keys that are not invalidated"
	rewrite "$T/rec" "$longer" >"$T/spoilt"
	krping stages -I "$T/spoilt" >"$T/got" 2>"$T/err"
	is "$? $(grep "^residual" "$T/got"; cat "$T/err")" "2 residual                              1 ns  <-- not 0: phases are missing
krping-stages: phases do not add up to the duration of a run (lost events: 0)" "$name: krping stages: a residual"
	is "$(traces "$T/rec" | sed -E 's,[1-9][0-9]*,1,g')" "1 1 1 1 1 1 1" "$name: it tells whose it was"
	krping-record --anonymize "$T/rec" -o "$T/anonymous"
	is "$? $(traces "$T/anonymous")" "0 0 0 0 0 0 0 0" "$name: an anonymous copy does not"
	same "$T/anonymous" "$name: for the rest, peers, too, the tools say the same of it" host name comm pid src dst reason
	krping-record --anonymize "$T/rec" -o "$T/anonymous" 2>"$T/err"
	is "$? $(<"$T/err")" "1 krping-record: $T/anonymous: File exists" "$name: no file is overwritten"
	rm "$T/anonymous"
done
finish_here
