#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# upstream.sh KSRC: TAP; checks docs/upstream/, our reports of bugs of others: each page is whole and in the index, each patch
# applies to the source that it names and has no complaint of checkpatch, and what docs/known-bugs.md says of siw, rxe, the IB
# CM and ib_core has a page. KSRC has scripts/checkpatch.pl, for a patch whose source is not in the cache.

set -euo pipefail
ksrc=$1
cd "$(dirname "$0")/../.."
here=$PWD/tests/vm
# shellcheck disable=SC2034 # archive.sh's
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping KROOT=/
# shellcheck source=tests/vm/archive.sh
. "$here/archive.sh"
pages=docs/upstream
n=0 failed=0

# assert WHAT COMMAND...: what the command prints is shown only if it fails.
assert() {
	local what=$1 text
	shift
	n=$((n + 1))
	if text=$("$@" 2>&1 </dev/null); then
		echo "ok $n - $what"
	else
		failed=1
		echo "not ok $n - $what"
		[ -z "$text" ] || sed 's/^/# /' <<<"$text"
	fi
}
# skip WHAT WHY: as in tests/skips.allow.
skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# --- pages ---

# row PAGE KEY: prints what the table at the page's head has for KEY.
row() { sed -n "s/^| $2 | \(.*\) |\$/\1/p" "$1"; }

# whole PAGE: it says all that somebody needs who meets the bug, or is to mend it.
whole() {
	local key patch=${1%.md}.patch
	for key in component kernels certainty reproducer patch; do
		[ -n "$(row "$1" "$key")" ] || echo "its table has no row \"$key\""
	done
	[[ $(row "$1" certainty) =~ ^(seen|read) ]] || echo "its certainty begins neither with \"seen\" nor with \"read\""
	grep -q '^## What happens$' "$1" || echo "it does not say what happens"
	grep -q '^## Who is hit$' "$1" || echo "it does not say who is hit"
	if [ -e "$patch" ]; then
		[[ $(row "$1" patch) == *"(${patch##*/})"*"$(against "$patch")"* ]] ||
			echo "its table does not name ${patch##*/} and the source of it, $(against "$patch")"
	else
		grep -q '^## Why there is no patch$' "$1" || echo "it has no patch, and does not say why"
	fi
}

# in_index PAGE: README.md has a row for it that agrees with the page.
in_index() {
	local name=${1##*/} line
	line=$(grep -F "]($name)" $pages/README.md) || { echo "README.md does not name it" && return; }
	[ "$(wc -l <<<"$line")" = 1 ] || echo "README.md names it more than once"
	IFS='|' read -r _ _ component kernels certainty patch _ <<<"$line"
	is component "$component" "$(row "$1" component)"
	is kernels "$kernels" "$(row "$1" kernels)"
	[[ $(row "$1" certainty) == "$(trim "$certainty")"* ]] || echo "certainty: the index has $certainty"
	if [ -e "${1%.md}.patch" ]; then
		is patch "$patch" "[yes](${name%.md}.patch)"
	else
		[[ -n $(trim "$patch") && $patch != *'[yes]'* ]] || echo "patch: the index has $patch, and there is none"
	fi
}
trim() { sed -E 's/^ +| +$//g' <<<"$1"; }
is() { [ "$(trim "$2")" = "$3" ] || echo "$1: the index has $2, the page $3"; }

# commands PAGE: the tests and planted faults that its commands name are there.
commands() {
	local command word suite
	while IFS= read -r command; do
		for word in $command; do
			case $word in
			TEST=*.t) [ -e "tests/guest/${word#*=}" ] || echo "$command: there is no tests/guest/${word#*=}" ;;
			TEST=*) tests/check/host.sh - list | grep -qx "${word#*=}" || echo "$command: tests/check/host.sh has no such part" ;;
			MUTANT=*)
				suite=${command#*TEST=}
				grep -q "^${word#*=}|${suite%% *}|" tests/mutants/list || echo "$command: tests/mutants/list has no such fault"
				;;
			check-*) grep -qE "^(check.*[ :])?${word}[ :]" Makefile || echo "$command: the Makefile has no $word" ;;
			esac
		done
	done < <(grep -ohE '`make [^`]*`' "$1" | tr -d '`')
}

# quiet COMMAND...: true if it prints nothing.
quiet() {
	local text
	text=$("$@")
	[ -z "$text" ] || { printf '%s\n' "$text" && return 1; }
}

# --- patches ---

# against PATCH: prints the source that it was made for, package and version.
against() { sed -n '/^---$/,/^diff /s/^Against: //p' "$1"; }

# as_sent PATCH: it is what git format-patch makes, signed off by its author.
as_sent() {
	local author
	author=$(awk '/^From: / { sub(/^From: /, ""); name = $0; next } name != "" && /^ / { name = name $0; next } { if (name != "") exit } END { print name }' "$1")
	grep -qE '^Subject: \[PATCH\] (RDMA|IB)/[a-z]+: ' "$1" || echo "its subject does not begin with RDMA/..."
	grep -qxF "Signed-off-by: $author" "$1" || echo "its author has not signed it off: $author"
	[ -n "$(against "$1")" ] || echo "it does not name its source behind \"---\""
}

# By stdin: a file that git knows would be taken for a source, and not for a patch.
clean() { perl "$checkpatch/scripts/checkpatch.pl" --no-tree --no-summary --terse -q - <"$1"; }

applies() { patch -s -F0 -p1 --dry-run -d "$part" -i "$PWD/$1"; }

for f in $pages/*.patch; do
	assert "$f has a page" test -e "${f%.patch}.md"
	assert "$f: as git format-patch makes it" quiet as_sent "$f"
	read -r package version <<<"$(against "$f")"
	part_of "$package" "$version"
	checkpatch=$ksrc
	if [ -e "$part/complete" ]; then
		checkpatch=$part
		assert "$f applies to $package $version" applies "$f"
	else
		skip "$f applies to $package $version" "the source $package $version is not in the cache"
	fi
	assert "$f: checkpatch" clean "$f"
done
for name in $(tests/vm/siw.sh --list); do
	assert "siw-$name, of the VM's siw, is there" test -e "$(siw_patch "$name")"
	assert "siw-$name: a test needs it" grep -q "^without-siw-$name|" tests/mutants/list
done

for f in $pages/*.md; do
	[ "${f##*/}" != README.md ] || continue
	assert "$f is whole" quiet whole "$f"
	assert "$f: its commands" quiet commands "$f"
	assert "$f is in the index" quiet in_index "$f"
	assert "$f is named in docs/known-bugs.md" grep -qF "(upstream/${f##*/})" docs/known-bugs.md
done

# --- docs/known-bugs.md ---

# entries: prints each entry as a line.
entries() { awk '/^- / { if (e != "") print e; e = $0; next } /^  / && e != "" { sub(/^ +/, " "); e = e $0; next } { if (e != "") print e; e = "" } END { if (e != "") print e }' docs/known-bugs.md; }

# linked ENTRY: it names a page that is there, and no other.
linked() {
	local page some=''
	for page in $(grep -oE '\(upstream/[^)]*\)' <<<"$1" | tr -d '()'); do
		some=1
		[ -e "docs/$page" ] || echo "there is no docs/$page"
	done
	[ -n "$some" ] || echo "it names no page of docs/upstream"
}
about=0
while IFS= read -r entry; do
	[[ $entry =~ ^-\ (siw|rxe|The\ IB\ CM|ib_core|READ_WITH_INV) ]] || continue
	about=$((about + 1))
	assert "known-bugs.md: ${entry:2:60}...: its page" quiet linked "$entry"
done < <(entries)
assert "known-bugs.md has entries about siw, rxe, the IB CM and ib_core: $about" test $about -ge 10
echo "1..$n"
exit $failed
