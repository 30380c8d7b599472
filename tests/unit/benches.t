#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The tables of make bench, on samples that are made up: medians, verdicts, void pairs, exit statuses, and the files for programs.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
bench=$here/../bench
what='50*64,mtu=1024'

# table SCRIPT ARGUMENT...: runs it on the samples of stdin, and sets OUT and RC; the file for programs is $T/json.
table() {
	OUT=$("$bench/$1" "${@:2}" "$T/json" 2>&1)
	RC=$?
}
# row NAME: prints ratio, goal, floor and verdict of a row, from the file for programs.
row() { jq -r --arg row "$1" 'select(.row == $row and has("verdict")) | [((.ratio // 0) * 1000 | round), .goal, .floor, .verdict] | map(tostring) | join(" ")' "$T/json"; }

# judged TABLE ROW OURS THEIRS WANTED STATUS: one pair, and what is said of it.
judged() {
	table ratios.pl "$1" rxe ns < <(echo "pair $2 1 $3 $4 $what $what")
	is "$(row "$2") exit $RC" "$5 exit $6" "$1: $2: $3 beside $4" || diag "$OUT"
	like "$OUT" "$2 .* ${5##* }" "$1: $2: the table says so, too"
}
judged perftest rlat/64 1000 1050 '1050 1.05 0.97 pass' 0
judged perftest rlat/64 1000 1049 '1049 1.05 0.97 floor' 0
judged perftest wlat/64 1000 970 '970 1.05 0.97 floor' 0
judged perftest bw/64 1000 969 '969 1.05 0.97 fail' 2
judged perftest bw/4096 1000 970 '970 0.97 0.9 pass' 0
judged perftest bw/65536 1000 900 '900 0.97 0.9 floor' 0
judged perftest wlat/65536 1000 899 '899 0.97 0.9 fail' 2
judged perftest rlat-events/64 1000 100 '100 null null -' 0
judged rping tcp 1250 1000 '1250 1.25 1.25 pass' 0
judged rping tcp 1251 1000 '1251 1.25 1.25 fail' 2
judged rping tcp-chain 1151 1000 '1151 1.15 1.15 fail' 2
judged rping rping 1000 2400 '2400 2.4 2.4 pass' 0
judged rping rping-chain 1000 2799 '2799 2.8 2.8 fail' 2

# The median is that of the pairs' ratios, and not the ratio of medians; a void pair is in neither.
table ratios.pl perftest rxe ns <<END_SAMPLES
pair rlat/64 1 100 110 $what $what
pair rlat/64 2 200 120 $what $what
pair rlat/64 3 100 300 $what $what
pair rlat/64 4 1 1000 50*64,mtu=1024 50*64,mtu=4096
pair rlat/64 5 1 1000 50*64,mtu=1024 49*64,mtu=1024
END_SAMPLES
is "$(row rlat/64) exit $RC" '1100 1.05 0.97 pass exit 0' "the median of three pairs" || diag "$OUT"
is "$(jq -c 'select(has("verdict")) | [.pairs, .void, .ours, .theirs]' "$T/json")" '[3,2,100,120]' "two pairs are void"
is "$(jq -c 'select(has("pair")) | .void' "$T/json" | tr '\n' ' ')" 'false false false true true ' "each sample is kept, with void or not"
like "$OUT" 'void: rlat/64, 1 times: ours 50\*64,mtu=1024; theirs 50\*64,mtu=4096' "the table says in what they differ"
table ratios.pl perftest rxe ns < <(echo "pair rlat/64 1 1 1000 $what 1*64,mtu=1024")
is "$(row rlat/64) exit $RC" '0 1.05 0.97 void exit 2' "no pair counts: that is no success" || diag "$OUT"
table ratios.pl perftest rxe ns < <(echo "pair rlat/64 1 0 1000 $what $what")
is "$(row rlat/64) exit $RC" '0 1.05 0.97 void exit 2' "a time of 0 is none" || diag "$OUT"
table ratios.pl rping rxe ns < <(echo "pair rping 1 1000 -5 $what $what")
is "$(row rping) exit $RC" '0 2.4 2.4 void exit 2' "a negative time is none" || diag "$OUT"
table ratios.pl perftest rxe ns </dev/null
like "$RC $OUT" '^[1-9].*no samples' "no samples are an error"
table ratios.pl nonsense rxe ns </dev/null
like "$RC $OUT" '^[1-9].*no table nonsense' "an unknown table is an error"

# Six pairs are the fewest with an interval of 95 %: it is from the lowest to the highest then.
table ratios.pl perftest rxe ns < <(for i in 1 2 3 4 5 6; do echo "pair rlat/64 $i 100 10$i $what $what"; done)
is "$(jq -c 'select(has("verdict")) | [.low, .high]' "$T/json")" '[1.01,1.06]' "six pairs: the interval" || diag "$OUT"

# --- many runs ---
# many RATES MEMORY: a table of counts 1, 4, 16 with these rates.
many() {
	local n=1 r
	table runs.pl rxe ns < <(for r in $1; do echo "rate $n 1 $r" && n=$((4 * n)); done; [ -z "$2" ] || echo "memory 32 $2")
}
verdicts() { jq -r 'select(has("verdict")) | "\(.row):\(.verdict)"' "$T/json" | xargs; }
many "1000 2000 1700" "$((32 * 32767)) 4096"
is "$(verdicts) $RC" '1:- 4:pass 16:pass memory:pass 0' "runs: 0.85 of the best smaller count, and a byte less than 32 KiB" || diag "$OUT"
many "1000 2000 1699" "$((32 * 100)) 4096"
is "$(verdicts) $RC" '1:- 4:pass 16:fail memory:pass 2' "runs: less than 0.85 of the best, though more than of the first" || diag "$OUT"
many "1000 2000 1700" "$((32 * 32768)) 4096"
is "$(verdicts) $RC" '1:- 4:pass 16:pass memory:fail 2' "runs: 32 KiB" || diag "$OUT"
many "1000 1000 1000" ""
is "$(verdicts) $RC" '1:- 4:pass 16:pass 2' "runs: no memory was measured" || diag "$OUT"
many "1000 1000 0" "3200 0"
is "$RC" 2 "runs: nothing moves" || diag "$OUT"

# The tables that were there before have the statistics from the same place.
OUT=$("$bench/ping.pl" siw instructions < <(for row in thread thread-chain; do echo "ping $row 64 130000"; done))
is $? 0 "ping.pl: bounds that are kept" || diag "$OUT"
OUT=$("$bench/ping.pl" siw instructions < <(echo "ping thread 64 153001"; echo "ping thread-chain 64 130000"))
is $? 2 "ping.pl: a bound that is broken" || diag "$OUT"
observed() { for i in 1 2 3 4 5 6; do echo "pair krping-mr $i $1 $2 10 10"; done; }
OUT=$("$bench/overhead.pl" siw < <(observed 960 1000))
is $? 0 "overhead.pl: a floor that is kept" || diag "$OUT"
like "$OUT" 'krping-mr .* 0\.97 +0\.96  floor$' "overhead.pl: and the goal is not reached" || diag "$OUT"
OUT=$("$bench/overhead.pl" siw < <(observed 970 1000))
like "$? $OUT" '^0 .*krping-mr .* 0\.97 +0\.96  pass$' "overhead.pl: a goal that is reached"
OUT=$("$bench/overhead.pl" siw < <(observed 959 1000))
is $? 2 "overhead.pl: a floor that is broken" || diag "$OUT"
OUT=$("$bench/overhead.pl" siw < <(observed 960 1000 | head -5))
is $? 2 "overhead.pl: too few pairs" || diag "$OUT"
done_testing
