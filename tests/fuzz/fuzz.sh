#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# fuzz.sh [RUNS]: TAP; feeds the parsers of commands, of a peer's private data, of recordings and of krping_runs with RUNS inputs
# (20000) each, which libFuzzer makes of the seeds. Then it plants faults into copies of them, and looks whether their fuzzers find
# these. The inputs are the same each time, so that the verdict is, too: SEED in the environment is another seed (1), or SEED=random
# one that is drawn, and printed. The ladder, whose inputs have a hundred events, gets a tenth of RUNS. Needs clang with its runtime
# libraries, json-c and perl; builds below OUT (build).

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
top=$(cd "$here/../.." && pwd)
out=$(realpath -m "${OUT:-$top/build}/fuzz")
fuzz=$top/tests/fuzz
runs=${1:-20000}
seed=${SEED:-1}
[ "$seed" != random ] || seed=$((SRANDOM % 2147483647 + 1))
# Short stacks and little memory that waits: twice as many inputs.
export ASAN_OPTIONS=detect_leaks=1:malloc_context_size=8:quarantine_size_mb=16:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
export LC_ALL=C TZ=UTC
unset CFLAGS LDFLAGS

# The longest input, in bytes: a command is refused above 1024, and a recording is many events.
declare -A longest=([command]=2200 [agree]=400 [ladder]=60000 [runs]=4000 [recording]=4000)

ok "the fuzzers are built" make --no-print-directory -s -C "$fuzz" OUT="$out" all || finish_here

# --- the seeds ---
rm -rf "$out/seeds" "$out/found" "$out/planted"
for f in "${!longest[@]}"; do mkdir -p "$out/seeds/$f" "$out/found/$f"; done
for f in command agree runs recording; do
	n=0
	while IFS= read -r line; do
		n=$((n + 1))
		printf '%b' "$line" >"$out/seeds/$f/$n"
	done < <(grep -vE '^(#|$)' "$fuzz/seeds/$f")
done
# By these a new option of a command is in some inputs at once.
for option in $(sed -n 's/.*= { "\([a-z0-9_]*\)",.*/\1/p' "$top/module/command.c"); do
	echo "client,addr=10.9.0.1,port=7,$option" >"$out/seeds/command/$option"
done
# Each command meets the first of the peers.
for f in "$out"/seeds/command/*; do
	{ head -n 1 "$f" | tr -d '\n' && echo && tail -n +2 "$out/seeds/agree/1"; } >"$out/seeds/agree/${f##*/}-1"
done
# The ladder's recordings are made, so that they are never out of date.
"$top/tests/unit/recording.pl" --events 1 >"$out/seeds/ladder/own"
"$top/tests/unit/recording.pl" --events --inv 1 >"$out/seeds/ladder/inv"

# libFuzzer makes inputs of what is compared, as addresses: with random ones there would be other inputs each time. Some
# containers forbid setarch.
fixed=(setarch -R)
"${fixed[@]}" true 2>"$T/err" || fixed=()
# fuzz PROGRAM FUZZER RUNS ARTIFACTS SEED LOG FOLDER: runs a fuzzer, and keeps in FOLDER the inputs with which the parser does
# something new. Limits of time are those of a hang. With -reload the inputs would depend on when a second has passed.
fuzz() {
	local n=$3
	[ "$2" != ladder ] || n=$((n / 10))
	timeout -k 5 14400 "${fixed[@]}" "$1" -seed="$5" -max_len="${longest[$2]}" -timeout=300 -rss_limit_mb=2048 -reload=0 -artifact_prefix="$4" \
		-print_final_stats=1 -runs="$n" "$7" "$out/seeds/$2" >"$6" 2>&1 </dev/null
}
# What a fuzzer reports, without the many lines of its progress, and its own functions.
report() {
	grep -vE '^(#[0-9]+|INFO|NOTE|stat::|Dictionary|$)|NEW_FUNC|^ +Combine| in (fuzzer::|__sanitizer|_start)|/libc' "$1" | cut -c 1-200 | head -n 20
}

# --- the parsers ---
diag "SEED=$seed"
read -r -a fuzzers < <(make --no-print-directory -s -C "$fuzz" list)
for f in "${fuzzers[@]}"; do
	rc=0
	fuzz "$out/fuzz_$f" "$f" "$runs" "$out/$f-" "$seed" "$out/$f.log" "$out/found/$f" || rc=$?
	made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$f.log")
	# More than the seeds, or the fuzzer has looked at nothing of its own.
	ok "$f: nothing is found in ${made:-0} inputs" test $rc -eq 0 -a "${made:-0}" -gt $(($(find "$out/seeds/$f" -type f | wc -l) * 2)) || {
		diag "exit $rc, SEED=$seed" "$(report "$out/$f.log")"
		input=$(sed -n 's/.*Test unit written to //p' "$out/$f.log" | tail -n 1)
		[ -z "$input" ] || diag "again: ${out#"$top"/}/fuzz_$f ${input#"$top"/}"
	}
done

# --- the faults ---
# found FUZZER SOURCE EXPRESSION FOLDER: the fault, planted into a copy of SOURCE in FOLDER, is found. Prints what went wrong.
found() {
	local f=$1 source=$2 copy=$4/${2##*/} rc=0
	mkdir -p "$4/found"
	cp "$top/$source" "$copy"
	sed -i "$3" "$copy"
	! cmp "$top/$source" "$copy" 2>&1 || { echo "$source is not changed by $3" && return 1; }
	make --no-print-directory -s -C "$fuzz" OUT="$out" FUZZER="$f" FILE="$source" WITH="$copy" FOLDER="$4" planted || return
	# By the seed that has found them before.
	fuzz "$4/fuzz_$f" "$f" 500000 "$4/" 1 "$4/log" "$4/found" || rc=$?
	[ $rc -ne 0 ] && grep -qE 'ERROR: (Address|Leak)Sanitizer|runtime error|ERROR: libFuzzer: deadly signal' "$4/log" ||
		{ echo "exit $rc" && tail -n 5 "$4/log" && false; }
}
n=0
missing=" ${fuzzers[*]} "
while IFS='|' read -r f rest; do
	what=${rest##*|} rest=${rest%|*}
	n=$((n + 1))
	ok "$f finds: $what" found "$f" "${rest%%|*}" "${rest#*|}" "$out/planted/$n"
	missing=${missing/ $f / }
done < <(grep -vE '^(#|$)' "$fuzz/plants")
is "${missing// /}" '' "each fuzzer has a fault to find"
finish_here
