#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# check.sh LOGFILE...: prints the lines of kernel logs that "deny" lists and "allow" does not excuse; exit 1 if there are
# any, 2 if there is no log. Lines between the marks of a planted bug ("krping-test: planted NAME begin" and "end") do not
# count; check.sh --planted NAME LOGFILE looks only at these lines. check.sh --self-test: TAP, with the logs in t/.

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

# check LOGFILE: prints the denied lines that were neither planted nor asked for.
check() {
	awk 'function give_back() { if (hold) printf "%s", held; hold = "" }
		/krping-test: planted .* begin/ { give_back(); held = kept = ""; hold = "planted" }
		/krping-test: printing begin/ && hold == "" { held = kept = ""; hold = "printing" }
		hold {
			held = held $0 "\n"
			# A hidden line becomes an empty one, so that the other lines keep their numbers.
			kept = kept (hold == "printing" && !/krping: / ? $0 : "") "\n"
			if (hold == "planted" && /krping-test: planted .* end/) { printf "%s", kept; hold = "" }
			if (hold == "printing" && /krping-test: printing end/) { printf "%s", kept; hold = "" }
			next
		}
		{ print }
		END { give_back() }' "$1" | denied
}

# planted NAME LOGFILE: prints the denied lines between the marks of the planted bug NAME.
planted() {
	sed -n "/krping-test: planted $1 begin/,/krping-test: planted $1 end/p" "$2" | denied
}

if [ "${1:-}" = --self-test ]; then
	# Each line of a bad log must be caught on its own; no line of a good log may be caught.
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
	# Marks: lines after the end count, a beginning alone hides nothing, and the marks of printing hide only printed lines.
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
