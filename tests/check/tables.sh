#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# tables.sh: TAP; checks that the tables of the suite name only tests, suites and faults that exist, and all of them: a test
# without a row would never run, and no test would look for a fault without a row.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
cd "$here/.." || exit
wrong=''

rows() { grep -vE '^(#|$)' "$1"; }
wrong() { wrong+="$*"$'\n'; }
# judge WHAT: an assertion, which fails if wrong was called since the last one.
judge() {
	is "$wrong" '' "$1"
	wrong=''
}

# The suite "observed" runs within others.
declare -A suite=([observed]=1) has_tests=() tested=()
while read -r name _; do suite[$name]=1; done < <(rows suites)

while read -r file _ suites seconds; do
	[ -e "guest/$file" ] || wrong "there is no $file"
	[[ ${seconds-} =~ ^[1-9][0-9]*$ ]] || wrong "$file has no time"
	for s in ${suites//,/ }; do
		[ -n "${suite[$s]-}" ] || wrong "$file: there is no suite $s"
		has_tests[$s]=1 tested[$file]=1 tested[$file:$s]=1
	done
done < <(rows guest/table)
for f in guest/*.t; do [ -n "${tested[${f#*/}]-}" ] || wrong "$f has no row"; done
judge "guest/table: each test has its suites and its time (${#tested[@]})"

declare -A fault=() sought=()
while read -r name _; do
	[ -n "${fault[$name]-}" ] || why=$(mutants/plant.sh "$name" .. "$T/copy" 2>&1) || wrong "$why"
	fault[$name]=1
done < <(rows mutants/list | grep '^[^|]* ')
judge "mutants/list: each fault applies to the module's sources (${#fault[@]})"

# A suite of which guest/table has no row has faults alone.
while IFS='|' read -r name file where pattern detail; do
	sought[$name]=1
	[ -n "${fault[$name]-}" ] || wrong "there is no fault $name"
	[ -n "${tested[$file]-}" ] || wrong "$name: there is no test $file"
	[ -n "$pattern" ] && [ -n "$detail" ] || wrong "$name: $file: the row has no pattern or no detail"
	[ -n "$where" ] || wrong "$name: $file: the row has no suite"
	for s in ${where//,/ }; do
		[[ $s =~ ^[a-z]+(/rxe|/siw)?$ ]] || wrong "$name: $s is neither SUITE nor SUITE/PROVIDER"
		s=${s%/*}
		[ -n "${suite[$s]-}" ] || wrong "$name: there is no suite $s"
		[ -z "${has_tests[$s]-}" ] || [ -n "${tested[$file:$s]-}" ] || wrong "$name: $file is not run in the suite $s"
	done
done < <(rows mutants/list | grep -v '^[^|]* ')
for name in "${!fault[@]}"; do [ -n "${sought[$name]-}" ] || wrong "no test looks for $name"; done
judge "mutants/list: tests that exist, in suites that exist, look for all faults (${#sought[@]})"

parts=$(check/host.sh - list)
while read -r part targets seconds inputs; do
	[ -n "$targets" ] && [[ ${seconds-} =~ ^[1-9][0-9]*$ ]] || wrong "$part: targets and times"
	for f in ${inputs//,/ }; do [ -e "../$f" ] || wrong "$part: there is no $f"; done
	name=${part#*:} name=${name%%:*}
	case $part in
	prepare:*) ;;
	host:*) grep -qx -- "$name" <<<"$parts" || wrong "$part is no part of host.sh" ;;
	*) [ -n "${suite[$name]-}" ] || wrong "$part: there is no suite $name" ;;
	esac
done < <(rows check/plan)
judge "check/plan: parts and suites that exist, with times"

while IFS='|' read -r file pattern where reason day; do
	[ -n "${tested[$file]-}" ] && [ -n "$pattern" ] && [ -n "$where" ] && [ -n "$reason" ] && [[ ${day-} =~ ^20[0-9-]{8}$ ]] ||
		wrong "$file: a test, a pattern, a cell, a reason and a day"
done < <(rows quarantine)
[ "$(rows quarantine | wc -l)" -le 5 ] || wrong "there are more than five rows"
judge "quarantine: at most five rows, with reasons"
finish_here
