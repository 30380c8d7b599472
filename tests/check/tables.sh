#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# tables.sh: TAP; checks that the tables of the suite name only tests and faults that exist, and all of them: a test without a
# row would never run, and no test would look for a fault without a row.

set -euo pipefail
cd "$(dirname "$0")/.."
n=0 failed=0

rows() { grep -vE '^(#|$)' "$1"; }
# assert WHAT COMMAND...
assert() {
	local what=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $what"
	else
		failed=1
		echo "not ok $n - $what"
	fi
}
suite_known() { [ "$1" = observed ] || rows suites | grep -q "^$1[[:space:]]"; }
# The suites "mutants" and "planted" have no tests of their own, only those of their faults.
tested_in() { rows guest/table | awk -v f="$1" -v s="$2" '$1 == f && (s == "mutants" || s == "planted" || s == "none" || index("," $3 ",", "," s ",")) { found = 1 } END { exit !found }'; }

for f in guest/*.t; do
	assert "$f has a row in guest/table" test -n "$(rows guest/table | awk -v f="${f##*/}" '$1 == f')"
done
while read -r file _ suites seconds; do
	assert "guest/table: $file is there, and has a time" test -e "guest/$file" -a "${seconds:-0}" -gt 0
	for s in ${suites//,/ }; do assert "guest/table: $file: suite $s" suite_known "$s"; done
done < <(rows guest/table)

applies() {
	rm -rf "$copy"
	mkdir "$copy"
	cp -r ../module ../trace "$copy"
	patch -s -d "$copy" -p1 -F0 <"$1" >/dev/null 2>&1
}
copy=$(mktemp -d)/copy
trap 'rm -rf "${copy%/*}"' EXIT
for f in mutants/*.patch; do
	name=${f##*/}
	assert "$f applies" applies "$f"
	assert "$f has a row in mutants/list" grep -q "^${name%.patch}|" mutants/list
done
while IFS='|' read -r name file where pattern detail; do
	if [[ $name == without-siw-* ]]; then f=../docs/upstream/${name#without-}.patch; else f=mutants/$name.patch; fi
	assert "mutants/list: $name: $f, a pattern and a detail" test -e "$f" -a -n "$pattern" -a -n "$detail"
	for s in ${where//,/ }; do assert "mutants/list: $name: $file is run in the suite ${s%/*}" tested_in "$file" "${s%/*}"; done
done < <(rows mutants/list)

while read -r part targets seconds budget; do
	assert "check/plan: $part has targets and times" test -n "$targets" -a "${seconds:-0}" -gt 0 -a "${budget:-0}" -gt 0
	case $part in
	prepare:* | faults:* | root:*) ;;
	host:*) assert "check/plan: $part is a part of host.sh" sh -c 'check/host.sh - list | grep -qx "$1"' sh "$(cut -d: -f2 <<<"${part//-/_}")" ;;
	*) assert "check/plan: $part: its suite" suite_known "$(cut -d: -f2 <<<"$part")" ;;
	esac
done < <(rows check/plan)
echo "1..$n"
exit $failed
