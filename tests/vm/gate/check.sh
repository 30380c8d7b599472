#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# check.sh LOGFILE...: exit 1, and the lines on stdout, where a kernel log has what "deny" lists and "allow" does not
# excuse; 2 where there is no log. What lies between the marks of a planted bug ("krping-test: planted NAME begin" and
# "end") does not count; check.sh --planted NAME LOGFILE looks at just that. check.sh --self-test: TAP, with the logs in t/.

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# Files, not <(...), which needs /proc: a chroot may lack it.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for f in deny allow; do grep -vE '^(#|$)' "$here/$f" >"$tmp/$f"; done

# denied: prints the lines of stdin that are denied.
denied() {
	grep -anE -f "$tmp/deny" | grep -avE -f "$tmp/allow" || true
}

# check LOGFILE: the same, of what was neither planted nor asked for.
check() {
	awk 'function give_back() { if (hold) printf "%s", held; hold = "" }
		/krping-test: planted .* begin/ { give_back(); held = kept = ""; hold = "planted" }
		/krping-test: printing begin/ && hold == "" { held = kept = ""; hold = "printing" }
		hold {
			held = held $0 "\n"
			# What is hidden leaves its line, so that the numbers of the others stay.
			kept = kept (hold == "printing" && !/krping: / ? $0 : "") "\n"
			if (hold == "planted" && /krping-test: planted .* end/) { printf "%s", kept; hold = "" }
			if (hold == "printing" && /krping-test: printing end/) { printf "%s", kept; hold = "" }
			next
		}
		{ print }
		END { give_back() }' "$1" | denied
}

# planted NAME LOGFILE: of what was.
planted() {
	sed -n "/krping-test: planted $1 begin/,/krping-test: planted $1 end/p" "$2" | denied
}

if [ "${1:-}" = --self-test ]; then
	# Each line of a bad log must be caught by itself; no line of a good one may be.
	n=0 failed=0
	for log in "$here"/t/bad-*.log; do
		while IFS= read -r line; do
			n=$((n + 1)) not=''
			printf '%s\n' "$line" >"$tmp/line"
			[ -n "$(check "$tmp/line")" ] || not='not ' failed=1
			echo "${not}ok $n - ${log##*/}: caught: ${line//#/}"
		done <"$log"
	done
	for log in "$here"/t/good-*.log; do
		n=$((n + 1)) not=''
		[ -z "$(check "$log")" ] || not='not ' failed=1
		echo "${not}ok $n - ${log##*/}: nothing is caught"
		check "$log" | sed 's/^/# /'
	done
	# Marks: what comes after the end counts, a beginning alone hides nothing, and who prints may do no more than that.
	marks() {
		n=$((n + 1)) not=''
		printf '%b' "$2" >"$tmp/marked"
		[ "$(check "$tmp/marked" | sed 's/^[0-9]*://' | tr '\n' ' ')" = "$3" ] || not='not ' failed=1
		echo "${not}ok $n - marks: $1"
	}
	p='krping-test: planted x' w='krping-test: printing' k='krping:'
	marks "a beginning alone hides nothing" "$p begin\nBUG: one\n" 'BUG: one '
	marks "what is planted is hidden" "$p begin\nBUG: one\n$p end\nBUG: two\n" 'BUG: two '
	marks "a second beginning gives back what the first one held" "$p begin\nBUG: one\n$p begin\nBUG: two\n$p end\n" 'BUG: one '
	marks "the module may print where it was asked to" "$w begin\n$k a\n$w end\n" ''
	marks "and nowhere else" "$w begin\n$k a\n$w end\n$k b\n" "$k b "
	marks "and a bug counts there, too" "$w begin\n$k a\nBUG: one\n$w end\n" 'BUG: one '
	marks "printing that does not end hides nothing" "$w begin\n$k a\n" "$k a "
	echo "1..$n"
	[ $n -gt 1 ] || failed=1
	exit $failed
fi

if [ "${1:-}" = --planted ]; then
	[ -n "$(planted "$2" "$3")" ] || exit 0
	planted "$2" "$3"
	exit 1
fi

[ $# -gt 0 ] || exit 2
rc=0
for log; do
	if [ ! -s "$log" ]; then
		echo "$log: no kernel log"
		rc=2
	elif [ -n "$(check "$log")" ]; then
		check "$log"
		[ $rc -ne 0 ] || rc=1
	fi
done
exit $rc
