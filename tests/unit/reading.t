#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The screens of the documents: a block behind a line "<!-- screen: COMMAND -->" is what COMMAND prints, where example.rec is
# docs/example.rec.xz, unpacked.
#
#   tests/unit/reading.t --write                     writes the screens anew
#   make check && tests/unit/reading.t --new         makes the recording anew, in a VM, and the screens: read the text around them again

# shellcheck source=tests/unit/recorded.sh
. "$(dirname "$0")/recorded.sh"
documents=(docs/reading.md README.md)

# In the VM: a run as it should be, one whose client shares its CPU, one whose keys the peer invalidates, and one that fails.
record() {
	ping_pair "" ",count=100"
	# shellcheck disable=SC2016 # perl's
	taskset -c 1 chrt -f 50 perl -MTime::HiRes=time,sleep -e 'while (1) { my $end = time + 0.005; 1 while time < $end; sleep 0.02 }' &
	PIDS[hog]=$!
	ping_pair ",cpu=0" ",cpu=1,count=40"
	kill "${PIDS[hog]}"
	ping_pair ,server_inv ,server_inv,count=10
	limited 20 "$krwrite" "client,addr=$ADDR,port=9,count=1"
}

# shellcheck disable=SC2016 # perl's variables
screens='s{^(<!-- screen: (.*?) -->\n\n?```\n).*?^```$}{$1 . qx(($2) 2>&1) . "```"}gems'

recording "$top/docs/example.rec.xz" "$@"
xz -dc "$top/docs/example.rec.xz" >"$T/example.rec"
cd "$T" || exit
for f in "${documents[@]}"; do
	perl -0777 -pe "$screens" "$top/$f" >"$T/got"
	[ $# -eq 0 ] || cp "$T/got" "$top/$f"
	is "$(diff "$top/$f" "$T/got")" "" "$f: the screens are what the commands print"
	ok "$f has screens" grep -q '^<!-- screen: ' "$T/got"
done
finish_here
