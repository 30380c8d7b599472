#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Runs the tools, built with the address and the undefined-behaviour sanitizer, as far as they can without the module: with
# options, with good and bad recordings, and with a stdout that fails. The unit tests have these sanitizers of themselves. Needs
# only the tools' build dependencies and perl. An argument is the number of damaged recordings (40).

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
top=$(cd "$here/../.." && pwd)
data=$T/recording
build=$top/build/tools-sanitized
nr=${1:-40}
flags='-fsanitize=address,undefined -fno-sanitize-recover=all'
# 99 is an exit status that no tool has.
export ASAN_OPTIONS=exitcode=99:detect_stack_use_after_return=1:allocator_may_return_null=1 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
export LC_ALL=C TZ=UTC
unset CFLAGS LDFLAGS

ok "the tools build with both sanitizers" make -s -C "$top/tools" OUT="$build" SKEL="$top/build/tools" \
	CFLAGS='-O1 -g -fno-omit-frame-pointer' SANITIZE="$flags" || finish_here
PATH=$build:$PATH

# sane WHAT COMMAND...: runs the command, and notes in "bad" what a sanitizer reports. Leaves RC, $T/out and $T/err.
bad=''
sane() {
	local what=$1
	shift
	"$@" >"$T/out" 2>"$T/err" </dev/null
	RC=$?
	if [ $RC -eq 99 ] || [ $RC -gt 128 ] || grep -qE 'Sanitizer|runtime error' "$T/err"; then
		bad+="$what: status $RC"$'\n'"$(grep -E -m 12 'Sanitizer|runtime error|^ +#' "$T/err")"$'\n'
	fi
}
# all_sane DESCRIPTION: asserts that no sanitizer reported anything since the last all_sane.
all_sane() {
	is "$bad" '' "$1"
	bad=''
}

# --- the sanitizers are there, or all the rest means nothing ---
tools=(krping krping-top krping-stages krping-mr krping-trace krping-record)
without=''
for t in "${tools[@]/#/$build/}"; do
	symbols=$(nm "$t" 2>&1)
	[[ $symbols == *__asan_init* && $symbols == *__ubsan_handle_* ]] || without+=" $t"
done
is "$without" '' "${#tools[@]} tools have both sanitizers in them"

# A recording as krping-record writes it.
"$top/tests/unit/recording.pl" 9 >"$data"
sane "recording.pl" krping-trace -j -I "$data"
is "$RC $(tail -n 1 "$T/out" | jq -c '[.final, .damage]')" '0 [true,null]' "recording.pl makes a recording that is whole" || diag "$(cat "$T/err")"

# --- options, and what is missing on this host ---
for t in "${tools[@]}"; do
	for option in --help --usage --version; do
		sane "$t $option" "$t" $option
		is "$RC $(wc -c <"$T/err") $(awk 'length > 80' "$T/out")" "0 0 " "$t $option, which fits into 80 columns"
		case $option in --version) like "$(cat "$T/out")" "^$t [0-9]" "$t $option" ;; *) like "$(cat "$T/out")" '^Usage: ' "$t $option" ;; esac
	done
	sane "$t --nonsense" "$t" --nonsense
	is "$RC $(wc -l <"$T/err")" "1 2" "$t --nonsense: exit 1, and where its options are"
done
while IFS=: read -r tool rest; do
	while read -r -a words; do
		sane "$tool ${words[*]}" "$tool" "${words[@]}"
		is "$RC $(wc -l <"$T/err")" "1 $([[ ${words[*]} == *-j* ]] && echo 0 || echo 1)" "$tool ${words[*]}: exit 1, and a line on stderr, but with -j" || diag "$(cat "$T/out" "$T/err")"
	done <<<"${rest//;/$'\n'}"
done <<'END'
krping:-n;nonsense;-j nonsense;-j help;list -a -j;list 10.9.0.1;list -n;list -v;client;client -a 10.9.0.1;client 10.9.0;client 10.9.0.1:99x
krping:client [fd09::1;client 10.9.0.1;server;list;list -j
krping:help;help server_inv;help size nosuch;help nonsense;help -j;help -o x;bug-report x;bug-report -j;bug-report -o /dev/null;list --plain
krping-top:--sort nosuch;-i 0;1 2 3;-b -r 5 1 1;--dev x -j 1 1
krping-stages:--slow 0ms;--slow 5m;--slowest 0;--fail;--records 3;--records 100;--records 2097152;-I /nonexistent;-I /dev/null;-I x --slow 5ms --split;--slow 5;--slow 5ms --slowest 3;-p;--run 7 -p -H
krping-mr:--keys;--watch;--max-runs 0;-I /dev/null;-I x --keys
krping-record:-F 0;-E nosuch;-a -E wc;-T
krping-trace:nosuch;ladder nosuch;ladder 3 4;ladder -E wc;-I /dev/null -e;-E nosuch;--records 5;--records 12;-c 0;ladder 99999999999999999999;ladder -c 3;--test nosuch;--role nobody;--qp -1;-d 1;-t 0
krping-trace:-I /nonexistent;-I /
END
# A report of a bug says what is missing here; it overwrites nothing, and others cannot read it.
sane "bug-report" krping bug-report
is "$RC $(wc -l <"$T/err") $(tr -d '\n -~' <"$T/out" | wc -c)" "0 0 0" "krping bug-report: a report, of printable ASCII"
like "$(cat "$T/out")" 'the module is not loaded' "it says that the module is not loaded"
sane "bug-report -o" krping bug-report -o "$T/report"
is "$RC $(stat -c %a "$T/report") $(diff <(sed 1d "$T/report") <(krping bug-report | sed 1d))" "0 600 " "krping bug-report -o: the same in a file"
sane "bug-report -o, again" krping bug-report -o "$T/report"
is "$RC $(sed "s|$T/||" "$T/err")" "1 krping: -o: report: File exists" "it overwrites nothing"
# A word of a table needs no module.
sane "help word" krping help time SPENT
like "$RC $(cat "$T/out")" '^0 TIME SPENT \(a column of top' "krping help: a head of several words"
sane "help nearly" krping help residul
like "$RC $(cat "$T/err")" '^1 krping: help: .* not loaded; near it: residual, residual of requests$' "krping help: what is near a word that is none"
all_sane "the sanitizers have nothing to say of these"

# Messages show what the user typed, but it cannot control the terminal, and the output is valid UTF-8.
nasty=$(printf 'a\e[2J\x9b\xff\\"b')
sane "a message" krping "$nasty"
is "$(cat "$T/err")" 'krping: no such command: a\x1b[2J\x9b\xff\"b; "krping" alone says what can be asked' "a message with control bytes"
sane "a message, -j" krping -j "$nasty"
is "$(jq -r '"\(.tool) \(.final) \(.error)"' "$T/out")" 'krping false no such command: a\x1b[2J\x9b\xff\"b; "krping" alone says what can be asked' "the same with -j"
sane "a command" krping -n client "addr=$nasty"
is "$RC $(cat "$T/out")" '0 client,port=9999,addr=a\x1b[2J\x9b\xff\"b' "a command with control bytes, --dry-run"

# --- stdout that fails ---
# to WHERE "STATUS MESSAGE" COMMAND...: runs the command with a redirection of its stdout, in a shell where $0 is a fifo.
to() {
	local shell=$1 want=$2
	shift 2
	sane "$*" bash -c "$shell" "$T/fifo" "$@"
	is "$RC $(cat "$T/err")" "$want" "$*: $shell"
	rm -f "$T/fifo"
}
while read -r -a words; do
	to '"$@" >/dev/full' "1 ${words[0]}: cannot write: ENOSPC (No space left on device)" "${words[@]}"
	to '"$@" >&-' "1 ${words[0]}: cannot write: EBADF (Bad file descriptor)" "${words[@]}"
	# A pipe without a reader, as head(1) leaves it: no message, and the status that the tool has without a pipe.
	sane "${words[*]}" "${words[@]}"
	status=$RC
	to 'mkfifo "$0"; exec 7<>"$0" 8>"$0" 7<&-; exec "$@" >&8' "$status " "${words[@]}"
	to 'trap "" PIPE; mkfifo "$0"; exec 7<>"$0" 8>"$0" 7<&-; exec "$@" >&8' "$status " "${words[@]}"
done < <(printf '%s --help\n' "${tools[@]}" && printf '%s --version\n' "${tools[@]}" && cat <<END
krping -n client 10.9.0.1
krping bug-report
krping help wire
krping -j nonsense
krping-top -j --sort nosuch
krping-stages -j --slow 5
krping-mr -j --max-runs 0
krping-trace -I $data
krping-trace -I $data -j
krping-trace -I $data ladder
krping-trace -I $data ladder -j
END
)
all_sane "the sanitizers have nothing to say of a stdout that fails"
# The tool must end at the first failure, not at the end of its input: this input has no end.
endless() { head -c -8 "$data" && while head -c -8 "$data" | tail -c +17; do :; done; }
is "$( (timeout 20 krping-trace -I <(endless 2>/dev/null) >/dev/full) 2>&1; echo "$?")" \
	"krping-trace: cannot write: ENOSPC (No space left on device)"$'\n'1 "it ends at the first write that fails"

# --- recordings ---
modes=('' -j '-T -w' '-D -E post_*,wc* --role client' '-j --run 2' '-c 20' '-j --dev rxe0' 'ladder' 'ladder slowest -j'
	'ladder 1' 'ladder fastest --role server' 'ladder 9 --run 1')
i=0
for mode in "${modes[@]}"; do
	# shellcheck disable=SC2086 # words
	sane "good, $mode" krping-trace -I "$data" $mode
	case $mode in 'ladder 9'*) want=1 ;; *) want=0 ;; esac
	is $RC $want "a good recording, ${mode:-text}" || diag "$(cat "$T/err")"
done
# What else reads recordings; the golden one has each kind of run.
readers=('krping-top -j' 'krping-top -b 0.1' 'krping-stages -j -H 0.1' 'krping-stages --slow 1ns' 'krping-stages -j --slowest 3 --test block' 'krping-mr -j 0.1'
	'krping-mr -v')
xz -dc "$top/tests/golden/abi-3.rec.xz" >"$T/golden"
codes=() unclean=''
for ((i = 0; i < nr; i++)); do
	"$top/tests/unit/damage.pl" $i "$data" >"$T/damaged"
	# Each seed runs with JSON, and with two of the modes in turn.
	sane "seed $i, -j" krping-trace -j -I "$T/damaged"
	codes[RC]=1
	[ "$(tr -d '\n -~' <"$T/out" | wc -c)" -eq 0 ] || unclean+=" $i"
	for mode in "${modes[i % ${#modes[@]}]}" "${modes[(i / 10 + 8) % ${#modes[@]}]}"; do
		# shellcheck disable=SC2086 # words
		sane "seed $i, $mode" krping-trace -I "$T/damaged" $mode
		[ "$(tr -d '\n -~' <"$T/out" | wc -c)" -eq 0 ] || unclean+=" $i:$mode"
	done
	"$top/tests/unit/damage.pl" $i "$T/golden" >"$T/damaged"
	for mode in "${readers[i % ${#readers[@]}]}" "${readers[(i / 10 + 3) % ${#readers[@]}]}"; do
		# shellcheck disable=SC2086 # words
		sane "seed $i, $mode" $mode -I "$T/damaged"
		codes[RC]=1
		[ "$(tr -d '\n -~' <"$T/out" | wc -c)" -eq 0 ] || unclean+=" $i:$mode"
	done
	rm -f "$T/anonymous"
	sane "seed $i, --anonymize" krping-record --anonymize "$T/damaged" -o "$T/anonymous"
done
all_sane "the sanitizers have nothing to say of $nr damaged recordings (damage.pl, seeds 0 to $((nr - 1)))"
is "$unclean" '' "whatever is in them, what is printed of them is printable ASCII"
is "${!codes[*]}" '0 2' "of them some are still whole, the others end with 2"

# The tools say what is wrong with a recording; tests/unit/test_recording.c has more of it.
head -c 5000 "$data" >"$T/cut"
cp "$build/krping" "$T/binary"
# What begins as a file of trace-cmd does, and is none.
printf '\x17\x08\x44tracing6\0' | cat - "$build/krping" >"$T/trace.dat"
for t in krping-trace krping-top krping-stages krping-mr; do
	sane "$t, cut" "$t" -I "$T/cut"
	is "$RC $(sed "s|$T/||" "$T/err")" "2 $t: cut is damaged: its end is missing" "$t: one that was cut off"
	sane "$t, cut, -j" "$t" -j -I "$T/cut"
	is "$RC $(cat "$T/err")$(tail -n 1 "$T/out" | jq -c '[.final, .damage, .lost]')" '2 [true,"its end is missing",0]' "$t -j: the last object says so"
	sane "$t, binary" "$t" -I "$T/binary"
	is "$RC $(sed "s|$T/||" "$T/err")" "1 $t: binary: no recording of krping-record or trace-cmd" "$t: another file"
	sane "$t, trace.dat" "$t" -I "$T/trace.dat"
	is "$RC $(sed "s|$T/||" "$T/err")" "1 $t: trace.dat: libtracecmd cannot read it; is it cut off?" "$t: half a file of trace-cmd"
	sane "$t, pipe" "$t" -I <(cat "$T/trace.dat")
	is "$RC $(sed "s|: /[^:]*:|:|" "$T/err")" "1 $t: a file of trace-cmd cannot be read from a pipe" "$t: a pipe"
done
all_sane "the sanitizers have nothing to say of these"
finish_here
