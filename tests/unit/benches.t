#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The tables of make bench, on samples that are made up: medians, verdicts, void pairs, exit statuses, and the files for programs.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
what='50*64,mtu=1024'

# table TABLE PROVIDER [UNIT]: makes it of the samples of stdin, and sets OUT and RC; the file for programs is $T/json.
table() {
	OUT=$("$here/../bench/table.pl" "$1" "$2" "${3:-ns}" "$T/json" 2>&1)
	RC=$?
}
# rows FILTER: what the jq FILTER says of each row, in the file for programs.
rows() { jq -r "select(has(\"verdict\")) | $1" "$T/json" | xargs; }
verdicts='"\(.row) \(.ratio // 0 | . * 1000 | round) \(.goal) \(.floor) \(.verdict)"'

# --- pairs ---
# TABLE ROW OURS THEIRS, and what is said of six such pairs, the fewest with an interval of 95 %: RATIO GOAL FLOOR VERDICT, and STATUS.
while read -r table row ours theirs wanted <&3; do
	table "$table" rxe instructions < <(for i in 1 2 3 4 5 6; do echo "pair $row $i $ours $theirs $what $what"; done)
	is "$(rows "$verdicts") $RC" "$row $wanted" "$table: $row: $ours beside $theirs" || diag "$OUT"
	wanted=${wanted% *}
	like "$OUT" "$row .* ${wanted##* }" "$table: $row: the table says so, too"
done 3<<'END'
perftest rlat/64 1000 1050 1050 1.05 0.97 pass 0
perftest rlat/64 1000 1049 1049 1.05 0.97 floor 0
perftest wlat/64 1000 970 970 1.05 0.97 floor 0
perftest bw/64 1000 969 969 1.05 0.97 fail 2
perftest bw/4096 1000 970 970 0.97 0.9 pass 0
perftest bw/65536 1000 900 900 0.97 0.9 floor 0
perftest wlat/65536 1000 899 899 0.97 0.9 fail 2
perftest rlat-events/64 1000 100 100 null null - 0
rping tcp 1250 1000 1250 1.25 1.25 pass 0
rping tcp 1251 1000 1251 1.25 1.25 fail 2
rping tcp-chain 1151 1000 1151 1.15 1.15 fail 2
rping rping 1000 2400 2400 2.4 2.4 pass 0
rping rping-chain 1000 2799 2799 2.8 2.8 fail 2
rping rping 1000 -5 0 2.4 2.4 void 2
rping rping 0 1000 0 2.4 2.4 void 2
older siw 950 1000 950 0.95 1.02 pass 0
older rxe 881 1000 881 0.8 0.88 fail 2
block nvme/read-4-1 870 1000 870 0.87 0.87 pass 0
block nvme/write-128-8 871 1000 871 0.87 0.87 fail 2
block inline/write-4-1 1200 1000 1200 null null - 0
observers krping-mr 970 1000 970 0.97 0.96 pass 0
observers krping-mr 960 1000 960 0.97 0.96 floor 0
observers krping-mr 959 1000 959 0.97 0.96 fail 2
observers ftrace 500 1000 500 null null - 0
END
table block rxe <<<"pair nvme/read-4-1 1 1200 1000 $what $what"
is "$(rows "$verdicts") $RC" 'nvme/read-4-1 1200 null null - 0' "block: a goal for instructions, and none for time" || diag "$OUT"

# The median is that of the pairs' ratios, and not the ratio of medians; a void pair is in neither.
table perftest rxe <<END_SAMPLES
pair rlat/64 1 100 110 $what $what
pair rlat/64 2 200 120 $what $what
pair rlat/64 3 100 300 $what $what
pair rlat/64 4 1 1000 50*64,mtu=1024 50*64,mtu=4096
pair rlat/64 5 1 1000 50*64,mtu=1024 49*64,mtu=1024
END_SAMPLES
is "$(rows "$verdicts, .pairs, .void, .ours, .theirs") $RC" 'rlat/64 1100 1.05 0.97 pass 3 2 100 120 0' "the median of three pairs, two are void" ||
	diag "$OUT"
is "$(jq -c 'select(has("pair")) | .void' "$T/json" | xargs)" 'false false false true true' "each sample is kept, with void or not"
like "$OUT" 'void: rlat/64, 1 times: ours 50\*64,mtu=1024; theirs 50\*64,mtu=4096' "the table says in what they differ"
table perftest rxe < <(for i in 1 2 3 4 5 6; do echo "pair rlat/64 $i 100 10$i $what $what"; done)
is "$(rows '.low, .high')" '1.01 1.06' "six pairs: the interval is from the lowest to the highest" || diag "$OUT"
table observers siw < <(for i in 1 2 3 4 5; do echo "pair krping-mr $i 970 1000 10 10"; done)
is "$(rows .verdict) $RC" 'too few pairs 2' "an observer, and five pairs" || diag "$OUT"
table observers siw < <(for i in 1 2 3 4 5 6; do echo "pair krping-mr $i $((960 + 8 * i)) 1000 10 10"; done)
is "$(rows .verdict) $RC" 'inconclusive 2' "an observer, and an interval of more than 0.03" || diag "$OUT"

# What observers take besides: a sample at its bound, and one beyond.
besides() {
	table observers rxe < <(
		for i in 1 2 3 4 5 6; do echo "pair notrace $i 1000000000 $((1000000000 + 1000 * $1)) 1000 1000"; done
		echo "memory all 500 9 $2" && echo "start krping-top 1 $3"
	)
	is "$RC $(grep -o 'at most.*' <<<"$OUT" | xargs)" "$4 at most 260: $5 at most 65536: $6 at most 400: $7" \
		"$1 instructions a ping, $2 KiB of maps, $3 us to start" || diag "$OUT"
}
besides 260 65536 400000 0 kept kept kept
besides 261 65536 400000 2 BROKEN kept kept
besides 260 65537 400000 2 kept BROKEN kept
besides 260 65536 401000 2 kept kept BROKEN

# --- a ping ---
ping() { table ping siw instructions < <(echo "ping thread 64 $1" && echo "ping thread-chain 64 130000"); }
ping 153000
is "$RC $(grep -cE ' (floor|pass)$' <<<"$OUT")" "0 2" "ping: a bound that is kept" || diag "$OUT"
ping 153001
like "$RC $OUT" '^2 .*thread .* fail' "ping: a bound that is broken"

# --- many runs ---
# many RATES MEMORY WANTED WHAT: a table of counts 1, 4, 16 and so on with these rates.
many() {
	local n=1 r
	table runs rxe < <(for r in $1; do echo "rate $n 1 $r" && n=$((4 * n)); done; [ -z "$2" ] || echo "memory 32 $2")
	is "$(rows '"\(.row):\(.verdict)"') $RC" "$3" "runs: $4" || diag "$OUT"
}
many "1000 2000 1700" "$((32 * 24576)) 4096" '1:- 4:pass 16:pass memory:pass 0' "0.85 of the best smaller count, and 24 KiB"
many "1000 2000 1700 1699" "$((32 * 100)) 4096" '1:- 4:pass 16:pass 64:fail memory:pass 2' "less than 0.85 of the best, not of the others"
many "1000 2000 1700" "$((32 * 24577)) 4096" '1:- 4:pass 16:pass memory:fail 2' "a byte more than 24 KiB"
many "1000 1000 1000" "" '1:- 4:pass 16:pass 2' "no memory was measured"
many "1000 1000 0" "3200 0" '1:- 4:pass 16:fail memory:pass 2' "nothing moves"

for t in perftest observers ping runs; do
	table $t rxe </dev/null
	like "$RC $OUT" '^[1-9].*no samples' "$t: no samples are an error"
done
table nonsense rxe </dev/null
like "$RC $OUT" '^[1-9].*no table nonsense' "an unknown table is an error"
finish_here
