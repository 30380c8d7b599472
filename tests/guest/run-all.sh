#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The VM's command: runs the tests of the table, one after another, for this provider. What a test says is seen
# as it comes, also of one that hangs; prove judges it.
#
#   run-all.sh [--suite quick|full] [FILE.t]...
#
# Everything goes to stdout, with "### begin FILE" and "### end FILE STATUS SECONDS" around each test, since
# /out takes no new files in a chroot without /proc. Exit 0: all passed.

set -u
cd "$(dirname "$0")" || exit 1
suite=full
if [ "${1:-}" = --suite ]; then
	suite=$2
	shift 2
fi

tap=$(mktemp -d)
failed=0 ran=0
run() {
	local file=$1 limit=$2 begin=$EPOCHSECONDS rc pid
	echo "### begin $file"
	# To a file, not a pipe, which whatever a test leaves behind would hold open.
	timeout -k 5 "$limit" bash "$file" >"$tap/$file.tap" 2>&1 &
	pid=$!
	tail -q -n +1 -f -s 0.1 --pid=$pid "$tap/$file.tap"
	wait $pid
	rc=$?
	case $rc in
	124 | 137) echo "# $file: time is up after $limit s" ;;
	esac
	prove --norc --QUIET "$tap/$file.tap" 2>&1 | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" -eq 0 ] || [ $rc -ne 0 ] || rc=98
	# A test that died may have left writers; the next test must not suffer.
	if [ -e /proc/krping ] && [ -n "$(cat /proc/krping)" ]; then
		echo "# $file: left a live run behind:"
		sed 's/^/# /' /proc/krping
		fuser -k -KILL /proc/krping >/dev/null 2>&1
		[ $rc -ne 0 ] || rc=99
	fi
	echo "### end $file $rc $((EPOCHSECONDS - begin))"
	ran=$((ran + 1))
	[ $rc -eq 0 ] || failed=$((failed + 1))
}

chosen() {
	local want
	[ $# -gt 1 ] || return 0
	for want in "${@:2}"; do [ "$want" != "$1" ] || return 0; done
	return 1
}

while read -r file providers suites limit; do
	case $file in '' | '#'*) continue ;; esac
	[ "$providers" = all ] || [[ ,$providers, == *,"${KRPING_PROVIDER:-}",* ]] || continue
	chosen "$file" "$@" || continue
	[[ ,$suites, == *,"$suite",* ]] || [ $# -gt 0 ] || continue
	run "$file" "$limit" </dev/null
done <table
echo "### done $ran $failed"
[ $ran -gt 0 ] && [ $failed -eq 0 ]
