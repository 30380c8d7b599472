#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# upstream.sh KSRC: TAP; checks docs/upstream/, our reports of bugs of others: each page is whole and agrees with the index, each patch is
# as it has to be sent, has no complaint of checkpatch and applies to the source KSRC of a kernel of the cache, or is not for that kernel,
# and what docs/known-bugs.md says of siw, rxe, the IB CM and ib_core has a page.

ksrc=$1
set -o pipefail
cd "$(dirname "$0")/../.." || exit
# Of archive.sh only apply_patch is used; its function fail, which exits, gives way to that of lib.sh.
# shellcheck source=tests/vm/archive.sh
. tests/vm/archive.sh
# shellcheck source=tests/guest/lib.sh
. tests/guest/lib.sh
pages=docs/upstream

# quiet WHAT COMMAND...: asserts that the command prints nothing.
quiet() { is "$("${@:2}" 2>&1 </dev/null || echo "its status is $?")" '' "$1"; }

# row PAGE KEY: prints what the table at the page's head has for KEY.
row() { sed -n "s/^| $2 | \(.*\) |\$/\1/p" "$1"; }

# against PATCH: prints the source that it was made for, package and version.
against() { sed -n '/^---$/,/^diff /s/^Against: //p' "$1"; }

# whole PAGE: it says all that somebody needs who meets the bug, or is to mend it, and agrees with the index.
whole() {
	local key patch=${1%.md}.patch name=${1##*/} line index='no:' want=('## What happens' '## Who is hit' '## Why there is no patch')
	for key in component kernels certainty reproducer patch; do
		[ -n "$(row "$1" "$key")" ] || echo "its table has no row \"$key\""
	done
	[[ $(row "$1" certainty) =~ ^(seen|read) ]] || echo "its certainty begins neither with \"seen\" nor with \"read\""
	if [ -e "$patch" ]; then
		unset 'want[2]'
		index="[yes](${patch##*/})|"
		[[ $(row "$1" patch) == *"(${patch##*/})"*"$(against "$patch")"* ]] ||
			echo "its table does not name ${patch##*/} and the source of it, $(against "$patch")"
	fi
	for line in "${want[@]}"; do grep -qxF "$line" "$1" || echo "it has no \"$line\""; done
	grep -qF "(upstream/$name)" docs/known-bugs.md || echo "docs/known-bugs.md does not name it"
	line=$(grep -F "]($name)" $pages/README.md | sed -E 's/ *[|] */|/g') || echo "README.md does not name it"
	[[ $line == *"|$(row "$1" component)|$(row "$1" kernels)|"*"|$index"* && $line != *$'\n'* ]] ||
		echo "README.md names it more than once, or with another component, kernels or patch: $line"
	key=$(cut -d'|' -f5 <<<"$line")
	[[ $(row "$1" certainty) == "$key"* ]] || echo "README.md has another certainty: $key"
}

# as_sent PATCH: it is what git format-patch makes, signed off by its author, and has a page.
as_sent() {
	local author
	author=$(perl -0ne 's/\n / /g; print $1 if /^From: (.*)$/m' "$1")
	grep -qE '^Subject: \[PATCH\] (RDMA|IB)/[a-z]+: ' "$1" || echo "its subject does not begin with RDMA/..."
	grep -qxF "Signed-off-by: $author" "$1" || echo "its author has not signed it off: $author"
	[ -n "$(against "$1")" ] || echo "it does not name its source behind \"---\""
	[ -e "${1%.patch}.md" ] || echo "it has no page"
}

# By stdin: a file that git knows would be taken for a source, and not for a patch.
clean() { perl "$ksrc/scripts/checkpatch.pl" --no-tree --no-summary --terse -q - <"$1"; }

# applies PATCH: by itself. The VM's modules have all of them together (provider_ko in tests/vm/archive.sh).
applies() {
	local why
	rm -rf "$T/drivers"
	cp -r "$ksrc/drivers" "$T/"
	why=$(apply_patch "$T" "$1" "$release") || [ $? -eq 2 ] || echo "$why"
}
# The folder's name has the kernel's version.
release=$(grep -oE '[0-9]+\.[0-9]+' <<<"$ksrc" | head -1)

for f in $pages/*.patch; do
	quiet "$f: as git format-patch makes it" as_sent "$f"
	quiet "$f: checkpatch" clean "$f"
	quiet "$f applies to $release, or is not for it" applies "$f"
done
for f in $pages/*.md; do
	[ "${f##*/}" != README.md ] || continue
	quiet "$f is whole, and in the index" whole "$f"
done

# linked: each entry of known-bugs.md about these components names pages that are there.
linked() {
	perl -0ne 'for (split /^(?=- )|\n\n/m) {
		next unless /^- (siw|rxe|The IB CM|ib_core|READ_WITH_INV)/;
		$n++;
		my @pages = m{\((upstream/[^)]*)\)}g or print "no page: ", substr($_, 2, 60), "\n";
		-e "docs/$_" or print "there is no docs/$_\n" for @pages;
	} END { print "only $n entries\n" if $n < 10 }' docs/known-bugs.md
}
quiet "docs/known-bugs.md: what it says of siw, rxe, the IB CM and ib_core has pages" linked
finish_here
