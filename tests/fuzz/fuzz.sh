#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# fuzz.sh [RUNS]: TAP; feeds the parsers of commands, of a peer's private data, of recordings and of what /proc shows with inputs
# that libFuzzer makes of the seeds, and awkit with lines of a log. Then it plants faults into copies of them, and looks whether
# their fuzzers find these. RUNS is the number of inputs of each fuzzer, and a tenth of that for the ladder, whose inputs have a
# hundred lines; without it all of them together have 30 s. KRPING_SEED=SEED in the environment is the seed, which it prints; how
# many inputs fit into the time differs. Needs clang with its runtime libraries, json-c and perl; builds below OUT (build).

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
top=$(cd "$here/../.." && pwd)
out=$(realpath -m "${OUT:-$top/build}/fuzz")
fuzz=$top/tests/fuzz
runs=${1:-}
seconds=30
seed=${KRPING_SEED:-$((RANDOM * 32768 + RANDOM + 1))}
# pairs.t has a strength behind it.
seed=${seed%%/*}
# Short stacks and little memory that waits: twice as many inputs.
export ASAN_OPTIONS=detect_leaks=1:malloc_context_size=8:quarantine_size_mb=16:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
export LC_ALL=C TZ=UTC
unset CFLAGS LDFLAGS

# The longest input, in bytes: a command is refused above 1024, and a recording is many lines.
declare -A longest=([command]=2200 [agree]=400 [trace]=2000 [ladder]=60000 [runs]=4000 [hist]=2000 [optable]=6000)

# seeds NAME FOLDER: a file for each line of seeds/NAME.
seeds() {
	local line n=0
	while IFS= read -r line; do
		[[ $line != '#'* && $line ]] || continue
		n=$((n + 1))
		printf '%b' "$line" >"$2/$(printf '%03d' $n)"
	done <"$fuzz/seeds/$1"
}

# words NAME: prints the dictionary.
words() {
	case $1 in
	command | agree) "$out/dict" ;;
	trace | ladder)
		"$top/tests/unit/recording.pl" 2 | grep -oE '"[A-Za-z_|]+":?' | sed 's/"/\\"/g; s/.*/"&"/'
		printf '"%s"\n' -1 -2147483648 4294967295 9223372036854775807 18446744073709551615 0x ',0x1' '{' '}' '|' null
		;;
	runs | hist)
		sed -n 's/^\tF("\([a-z0-9_]*\)".*/"\1="/p' "$top/tools/lib/runs.c"
		printf '"%s"\n' buckets= elapsed_ns= id=1 state=DONE state=ERROR role=server test=bw test=wlat '\\' '\"' -1 18446744073709551615
		;;
	optable) printf '"%s"\n' '# ' '# option ' ' ' ;;
	esac | sort -u
}

ok "the fuzzers are built" make --no-print-directory -s -C "$fuzz" OUT="$out" all || finish_here
read -r -a fuzzers < <(make --no-print-directory -s -C "$fuzz" list)
without=''
for f in "${fuzzers[@]}"; do
	symbols=$(nm "$out/fuzz_$f" 2>&1)
	[[ $symbols == *__asan_init* && $symbols == *__ubsan_handle_* && $symbols == *__sanitizer_cov_* ]] || without+=" $f"
	[ -n "${longest[$f]-}" ] || without+=" $f:longest"
done
is "$without" '' "${#fuzzers[@]} fuzzers have both sanitizers in them, and libFuzzer"

rm -rf "$out/seeds" "$out/found" "$out/planted"
for f in "${fuzzers[@]}"; do
	mkdir -p "$out/seeds/$f" "$out/found/$f"
	[ ! -e "$fuzz/seeds/$f" ] || seeds "$f" "$out/seeds/$f"
	words "$f" >"$out/$f.dict"
done
# These are made, so that they are never out of date.
# Without what nothing depends on. The second one is of one end, and has what is rare: numbers in place of names, and a post
# that failed.
recording() { "$top/tests/unit/recording.pl" "$1" | sed 's/"tool":.*"final":false,//'; }
recording 1 >"$out/seeds/ladder/names"
recording 1 | sed -n 's/"kind":"RECV"/"kind":"1"/; s/"kind":"SEND"/"kind":"2"/
	s/"kind":"REG_MR"/"kind":"6"/; s/"kind":"LOCAL_INV"/"kind":"7"/
	/"event":"\(state\|cm_event\|addr\|post_return\|iter\)"/d; s/"cq_id":[0-9]*,//; s/"qp":[0-9]*,//; /"run":2/p
	s/"event":"mr_map".*/"event":"post_send_err","run":2,"kind":"2","err":-22}/p' >"$out/seeds/ladder/numbers"
"$top/tests/unit/recording.pl" 1 | awk -v dir="$out/seeds/trace" 'match($0, /"event":"[a-z_]*"/) {
	event = substr($0, RSTART + 9, RLENGTH - 10); if (!seen[event]++) print >(dir "/" event) }'
# One with as many words as an event can have.
sed 's/"words":"{\(0x[0-9a-f]*\)[^}]*}"/"words":"{'"$(printf '\\1,%.0s' {1..31})"'\1}"/' "$out/seeds/trace/iter" >"$out/seeds/trace/words"
"$out/dict" table >"$out/seeds/optable/table"
empty=''
for f in "${fuzzers[@]}"; do
	[ "$(find "$out/seeds/$f" -type f | wc -l)" -gt 0 ] && [ -s "$out/$f.dict" ] || empty+=" $f"
done
is "$empty" '' "each fuzzer has seeds and a dictionary"

# fuzz PROGRAM FUZZER ARTIFACTS SEED LOG OPTION...: runs a fuzzer; RC becomes its exit status.
fuzz() {
	local program=$1 f=$2 artifacts=$3 seed=$4 log=$5
	shift 5
	timeout -k 5 "$limit" "$program" -seed="$seed" -max_len="${longest[$f]}" -timeout=20 -rss_limit_mb=2048 -dict="$out/$f.dict" \
		-artifact_prefix="$artifacts" -print_final_stats=1 "$@" "$out/seeds/$f" >"$log" 2>&1 </dev/null
	RC=$?
}
# What a fuzzer reports, without the many lines of its progress, and its own functions.
report() {
	grep -vE '^(#[0-9]+|INFO|NOTE|stat::|Dictionary|$)|NEW_FUNC|^ +Combine| in (fuzzer::|__sanitizer|_start)|/libc' "$1" | cut -c 1-200 | head -n 20
}

# --- the parsers ---
diag "KRPING_SEED=$seed"
if [ -n "$runs" ]; then
	limit=14400
else
	each=$((seconds / ${#fuzzers[@]}))
	limit=$((each + 60))
fi
for f in "${fuzzers[@]}"; do
	if [ -n "$runs" ]; then
		how=("-runs=$([ "$f" = ladder ] && echo $((runs / 10 + 1)) || echo "$runs")")
	else
		how=("-max_total_time=$each")
	fi
	begin=$SECONDS
	fuzz "$out/fuzz_$f" "$f" "$out/$f-" "$seed" "$out/$f.log" "${how[@]}" "$out/found/$f"
	made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$f.log")
	if [ $RC -eq 0 ]; then
		pass "$f: nothing is found in ${made:-0} inputs, in $((SECONDS - begin)) s"
	else
		fail "$f: nothing is found (exit $RC, KRPING_SEED=$seed)"
		diag "$(report "$out/$f.log")"
		input=$(sed -n 's/.*Test unit written to //p' "$out/$f.log" | tail -n 1)
		[ -z "$input" ] || diag "again: ${out#"$top"/}/fuzz_$f ${input#"$top"/}"
	fi
	# More than the seeds, or it has looked at nothing of its own.
	ok "$f: it has made inputs of its own" test "${made:-0}" -gt $(($(find "$out/seeds/$f" -type f | wc -l) * 5))
done

# Scripts are no target of libFuzzer. judge AWKIT: what awkit prints of lines that were made; prints what is wrong with it.
judge() {
	local tool rc
	for tool in awkit-klat awkit-kbw; do
		ln -sf "$1" "$T/$tool"
		rc=0
		"$T/$tool" "$T/lines" >"$T/out" 2>"$T/err" || rc=$?
		[ $rc -le 1 ] || echo "$tool: exit $rc"
		grep -a -m 3 -vE '^[0-9]+ [0-9]+\.[0-9]{6} [0-9]+\.[0-9]{6}$' "$T/out" | cat -v
		grep -a -m 3 -vE "^$tool: (line [0-9]+: )?(no|not) [a-z, ]+$" "$T/err" | cat -v
	done
}
logged=$((${runs:-200000} / 100 + 1000))
"$fuzz/lines.pl" "$seed" $logged >"$T/lines"
is "$(judge "$top/tools/awkit")" '' "awkit: it prints numbers, or nothing, of $logged lines (lines.pl $seed)"
ok "awkit: it has found lines to print, and others" test -s "$T/out" -a -s "$T/err"

# --- the faults ---
# They are sought with the same seed each time, which has found them before.
found() {
	local f=$1 source=$2 expression=$3 what=$4 n=$5 folder=$out/planted/$5
	mkdir -p "$folder/found"
	cp "$top/$source" "$folder/"
	sed -i "$expression" "$folder/${source##*/}"
	if cmp -s "$top/$source" "$folder/${source##*/}"; then
		fail "$f finds: $what"
		diag "tests/fuzz/plants: $source is not changed by $expression"
		return
	fi
	if [ "$f" = awkit ]; then
		like "$(judge "$folder/awkit")" . "$f finds: $what"
		return
	fi
	make --no-print-directory -s -C "$fuzz" OUT="$out" FUZZER="$f" FILE="$source" WITH="$folder/${source##*/}" FOLDER="$folder" \
		planted >"$folder/build.log" 2>&1 || {
		fail "$f finds: $what"
		diag "$(tail -n 20 "$folder/build.log")"
		return
	}
	fuzz "$folder/fuzz_$f" "$f" "$folder/" 1 "$folder/log" -max_total_time=60 "$folder/found"
	if [ $RC -ne 0 ] && grep -qE 'ERROR: (Address|Leak)Sanitizer|runtime error|ERROR: libFuzzer: deadly signal' "$folder/log"; then
		pass "$f finds: $what"
	else
		fail "$f finds: $what"
		diag "exit $RC" "$(tail -n 5 "$folder/log")"
	fi
}
n=0
limit=120
missing=" ${fuzzers[*]} awkit "
while IFS='|' read -r f rest; do
	[[ $f != '#'* && $f ]] || continue
	n=$((n + 1))
	what=${rest##*|} rest=${rest%|*}
	source=${rest%%|*} expression=${rest#*|}
	found "$f" "$source" "$expression" "$what" $n
	missing=${missing/ $f / }
done <"$fuzz/plants"
is "${missing// /}" '' "each fuzzer has a fault to find"
finish_here
