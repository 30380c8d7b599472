#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Prints the rows of the tables that say what a cell consists of; used on the host and in the guest.
#
#   select.sh tests SUITE PROVIDER [FILE.t]    rows of guest/table; with FILE.t one row of that test, if need be of another suite
#   select.sh mutants SUITE PROVIDER           rows of mutants/list; PROVIDER "any": of a cell of that suite
#   select.sh suite SUITE                      its row of suites
#   select.sh suite-of FILE.t KERNEL PROVIDER  the suite in which a test is run alone: debug on a kernel with alarms on,
#                                              else the first that has it for that provider

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

rows() { grep -vE '^(#|$)' "$1"; }

case ${1:-} in
tests)
	rows "$here/guest/table" | awk -v s="$2" -v p="$3" -v f="${4:-}" '
		{ here = ($2 == "all" || index("," $2 ",", "," p ",")) && index("," $3 ",", "," s ",") }
		f == "" && here
		f == $1 && (here || row == "") { row = $0; if (here) exit }
		END { if (row != "") print row }'
	;;
mutants)
	rows "$here/mutants/list" | awk -F'|' -v s="$2" -v p="$3" '
		{ n = split($3, where, ",")
		  for (i = 1; i <= n; i++) {
			split(where[i], w, "/")
			if (w[1] == s && (w[2] == "" || p == "any" || w[2] == p)) { print; break }
		  } }'
	;;
suite)
	rows "$here/suites" | awk -v s="$2" '$1 == s { print; found = 1 } END { exit !found }'
	;;
suite-of)
	rows "$here/guest/table" | awk -v f="$2" -v k="$3" -v p="$4" '
		$1 == f && ($2 == "all" || index("," $2 ",", "," p ",")) { n = split($3, s, ","); if (suite == "") suite = s[1]
			  for (i = 1; i <= n; i++) if (s[i] == "debug" && (k == "debug" || k == "kcsan")) suite = s[i] }
		END { print suite; exit suite == "" }'
	;;
*)
	echo "usage: select.sh tests|mutants SUITE PROVIDER | suite SUITE | suite-of FILE.t KERNEL PROVIDER" >&2
	exit 2
	;;
esac
