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

# check LOGFILE: the same, of what was not planted. A mark of the beginning alone hides nothing.
check() {
	awk '/krping-test: planted .* begin/ { held = ""; hold = 1 }
		hold { held = held $0 "\n"; if (/krping-test: planted .* end/) { hold = 0; gsub(/[^\n]*\n/, "\n", held); printf "%s", held }; next }
		{ print }
		END { if (hold) printf "%s", held }' "$1" | denied
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
	# Marks: what comes after the end counts, and a beginning alone hides nothing.
	printf 'krping-test: planted x begin\nBUG: one\n' >"$tmp/open"
	{
		cat "$tmp/open"
		printf 'krping-test: planted x end\nBUG: two\n'
	} >"$tmp/closed"
	for log in open:one closed:two; do
		n=$((n + 1)) not=''
		[ "$(check "$tmp/${log%:*}" | sed 's/.*BUG: //')" = "${log#*:}" ] || not='not ' failed=1
		echo "${not}ok $n - marks, ${log%:*}: BUG ${log#*:} alone is caught"
	done
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
