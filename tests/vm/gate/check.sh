#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# check.sh LOGFILE...: exit 1, and the lines on stdout, where a kernel log has what "deny" lists and "allow" does not
# excuse; 2 where there is no log. check.sh --self-test: TAP, with the logs in t/.

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# Files, not <(...), which needs /proc: a chroot may lack it.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for f in deny allow; do grep -vE '^(#|$)' "$here/$f" >"$tmp/$f"; done

# check LOGFILE: prints the lines that are denied.
check() {
	grep -anE -f "$tmp/deny" "$1" | grep -avE -f "$tmp/allow" || true
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
	echo "1..$n"
	[ $n -gt 1 ] || failed=1
	exit $failed
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
