#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# awkit-klat and awkit-kbw, with each awk that is here: lines of this version and of others, and what may stand before them.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
top=$(cd "$here/../.." && pwd)
# As tools/Makefile installs it.
for name in klat kbw; do ln -s "$top/tools/awkit" "$T/awkit-$name"; done
PATH=$T:$PATH

# reads TOOL LINES STATUS OUTPUT DESCRIPTION: LINES and OUTPUT with the escapes of printf.
reads() {
	local got
	printf '%b' "$2" >"$T/log"
	got=$("awkit-$1" "$T/log" 2>"$T/err" && echo "rc 0" || echo "rc $?")
	is "$got" "$(printf '%b' "$4")${4:+$'\n'}rc $3" "$AWK: $5" || diag "$(cat "$T/err")"
}

line='delta sec 1 delta usec 500000 iter 100000 size 64'
for AWK in mawk gawk original-awk 'busybox awk'; do
	command -v "${AWK%% *}" >/dev/null || continue
	[ "$AWK" != 'busybox awk' ] || {
		printf '#!/bin/sh\nexec busybox awk "$@"\n' >"$T/bawk"
		chmod +x "$T/bawk"
		AWK=$T/bawk
	}
	export AWK
	reads klat "krping: $line\n" 0 '64 7.500000 66666.666667' "klat: half of there and back"
	reads klat "krping: $line test wlat\n" 0 '64 7.500000 66666.666667' "klat: also where the line says so"
	reads klat "krping: $line test rlat\n" 0 '64 15.000000 66666.666667' "klat: an iteration of rlat is one way"
	reads klat "krping: $line cycle_iters 1000 sum_post 5 sum_poll 6 sum_last_poll 7\n" 0 '64 7.500000 66666.666667' \
		"klat: with the cycles of older versions"
	reads klat 'krping: delta nsec 1500000000 iter 100000 size 64 cycle_iters 1000\n' 0 '64 7.500000 66666.666667' \
		"klat: the nanoseconds of newer versions"
	reads kbw 'krping: delta sec 12 delta usec 3 iter 3000000 size 65536 test bw\n' 0 '65536 131.071967 249999.937500' "kbw"
	reads kbw 'krping: delta nsec 12000003000 iter 3000000 size 65536\n' 0 '65536 131.071967 249999.937500' "kbw: nanoseconds"
	for before in '' '[   12.345678] krping: ' '[12.3456] krping: ' '<6>[   12.345678] krping: ' \
		'Nov 24 18:00:01 delta kernel: krping: ' '[Tue Nov 24 18:00:01 2026] krping: ' 'kern  :info  : [   12.345678] krping: ' \
		'2026-11-24T18:00:01,123456+01:00 sec krping: '; do
		reads klat "$before$line\n" 0 '64 7.500000 66666.666667' "klat: behind \"$before\""
		reads kbw "$before$line\r\n" 0 '64 0.034133 66666.666667' "kbw: behind \"$before\", with a carriage return"
	done
	reads klat "boot\n$line\nkrping: 7: proc write |wlat|\n${line/size 64/size 4096} test rlat\n" 0 \
		'64 7.500000 66666.666667\n4096 15.000000 66666.666667' "klat: the lines of a log, and no others"
	# What cannot be divided has no line, and never inf or nan.
	reads klat 'krping: delta sec 0 delta usec 0 iter 0 size 64\n' 1 '' "klat: nothing was measured"
	like "$(cat "$T/err")" 'line 1: no iterations' "$AWK: klat: it says so"
	reads kbw 'krping: delta sec 0 delta usec 0 iter 5 size 64\n' 1 '' "kbw: no time"
	reads kbw "krping: delta sec 0 delta usec 0 iter 0 size 64\nkrping: $line\n" 0 '64 0.034133 66666.666667' "kbw: the next line"
	reads klat 'krping: delta sec 0 delta usec 9 iter\n' 1 '' "klat: a line that was cut"
	reads klat 'krping: delta sec x delta usec 9 iter inf size nan\n' 1 '' "klat: no numbers"
	reads kbw 'krping: delta sec 1 delta usec -9 iter 5 size 64\n' 1 '' "kbw: a negative number"
	reads kbw 'krping: delta sec 1 delta usec 9 iter 5 size x\n' 1 '' "kbw: a size that is no number"
	reads klat "krping: $line test bw\n" 1 '' "klat: bw has no latency"
	reads klat 'delta of the Nile\nsec delta\n' 1 '' "klat: no such line"
	like "$(cat "$T/err")" '^awkit-klat: no line' "$AWK: klat: it says so"
	reads kbw '' 1 '' "kbw: nothing to read"
	is "$(printf 'krping: %s\n' "$line" | awkit-klat)" '64 7.500000 66666.666667' "$AWK: the standard input"
	(cd "$T" && printf '%s\n' "$line" >a=b && cp a=b c)
	is "$(cd "$T" && awkit-klat a=b c | wc -l)" 2 "$AWK: two files, whatever their names are"
	awkit-klat "$T/none" >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out")" '2 ' "$AWK: a file that is not there"
done
export AWK=mawk
awkit-klat --help >"$T/out"
is "$? $(head -1 "$T/out")" '0 Usage: awkit-klat [FILE...]' "--help"
awkit-kbw -x >"$T/out" 2>&1
is $? 2 "an option that is not known"
done_testing
