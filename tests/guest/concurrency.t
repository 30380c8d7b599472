#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Two writers of one open file; many runs at once, with readers of /proc beside them; and the history of finished runs.

. "$(dirname "$0")/lib.sh"

# A long write must not make another writer of the same open file wait, since no signal would reach that writer.
exec 7>/proc/krping
server one "server,addr=$ADDR,port=$PORT,count=5" --fd 7
start two "client,addr=$ADDR,port=$PORT,count=5" --fd 7
ok "two writers of one open file: the second one is not held up" until_ok 10 gone "${PIDS[two]}" || {
	diag "$(cat "/proc/${PIDS[two]}/stack" 2>&1)"
	kill -INT "${PIDS[one]}"
}
for name in two one; do
	finish_good "two writers of one open file: $name" $name 5
done
exec 7>&-

PAIRS=$(rounds 16 8 6) COUNT=$(rounds 200 50 20)
(while [ ! -e "$T/stop" ]; do cat /proc/krping /proc/krping_runs /proc/krping_hist /proc/krping_help >/dev/null || echo failed; done >"$T/readers") &
reader=$!
for ((i = 0; i < PAIRS; i++)); do
	start s$i "server,addr=$ADDR,port=$((7000 + i)),validate"
done
for ((i = 0; i < PAIRS; i++)); do
	until_ok 20 listens_or_ended s$i
done
is "$(grep -c ' listen$' /proc/krping)" $PAIRS "$PAIRS servers listen at once"
for ((i = 0; i < PAIRS; i++)); do
	opts=,count=$COUNT,size=$((100 * i + 1)),validate
	start c$i "client,addr=$ADDR,port=$((7000 + i))$opts"
done
ids=''
for ((i = 0; i < PAIRS; i++)); do
	for side in c s; do
		finish $side$i 40
		check_good "pair $i: $side" "$LINE" "$COUNT"
		ids+="${F[id]-} "
		is "${F[size]-}" $((100 * i + 1)) "pair $i: $side has its own size"
	done
done
is "$(tr ' ' '\n' <<<"$ids" | grep . | sort -un | wc -l)" $((2 * PAIRS)) "each run has an id of its own"
touch "$T/stop"
wait $reader
is "$(cat "$T/readers")" '' "readers were served meanwhile"
read -r _ lines < <(sed 1d /proc/krping_runs | awk '{ n++; if ($0 !~ /^id=[0-9]+ .* reason="([^"\\]|\\.)*"$/) bad++ } END { print "x", n - bad }')
is "$lines" "$(($(wc -l </proc/krping_runs) - 1))" "each line of krping_runs is whole"

# History.
evicted() { read -r F1 </proc/krping_runs; F1=${F1##*evicted=}; printf '%s\n' "${F1%% *}"; }
before=$(evicted) n=$(($(wc -l </proc/krping_runs) - 1))
echo 4 >$HISTORY
ping_pair ",count=5" ",count=5"
is "$(grep -c '^id=' /proc/krping_runs)" 4 "history=4: four runs are remembered"
is "$(evicted)" $((before + n + 2 - 4)) "history=4: the others are counted as evicted"
is "$(sed 1d /proc/krping_runs | sed 's/^id=\([0-9]*\) .*/\1/' | sort -nc 2>&1)" '' "history=4: they are in order"
# A reader can ask for a part of the runs; the request applies to its open file only.
last=$(sed -n '$s/^id=\([0-9]*\) .*/\1/p' /proc/krping_runs)
from() ( exec 3<>/proc/krping_runs && printf '%s' "$1" >&3 && sed 's/ .*//' <&3 | tr '\n' ' ' )
refused() { ! from "$1" >/dev/null 2>&1; }
is "$(from "from=$last")" "# id=$last " "from=$last: the last one"
is "$(from "from=$((last + 1))")" "# " "from=$((last + 1)): none"
is "$(from from=0 | wc -w)" 5 "from=0: all"
for text in "from=" "from=x" "from=-1" "to=1" "from=4294967296" "from=0000000000000000000000001"; do
	ok "$text is refused" refused "$text"
done
is "$(grep -c '^id=' /proc/krping_runs)" 4 "who asks for nothing has all"
echo 0 >$HISTORY
ping_pair ",count=5" ",count=5"
is "$(grep -c '^id=' /proc/krping_runs)" 0 "history=0: none is remembered"
server live "server,addr=$ADDR,port=$PORT"
is "$(grep -c '^id=' /proc/krping_runs)" 1 "history=0: the running one is shown"
interrupt live
echo 40 >$HISTORY
done_testing "history=40"
