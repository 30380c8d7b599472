#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# manuals.sh FOLDER: TAP; checks the man pages in FOLDER, as they are installed: mandoc's lint finds nothing, no text is left
# out, and a page has exactly the options of its tool's --help. The tools are in the folder above.

set -euo pipefail
pages=$1
n=0 failed=0

# assert WHAT TEXT: passes if TEXT is empty; otherwise TEXT says what is wrong.
assert() {
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		failed=1
		echo "not ok $n - $1"
		head -5 <<<"$2" | sed 's/^/# /'
	fi
}

by_help() { "$pages/../$1" --help | grep -oE '^ +(-., )?--[a-z0-9-]+' | grep -oE -e '--[a-z0-9-]+' | grep -vx -e --usage | sort -u; }
by_page() { sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "$1" | sed -n 's/\\-/-/g; /^\.BR\{0,1\} /p' | grep -oE -e '--[a-z0-9-]+' | sort -u; }

for page in "$pages"/*.8; do
	name=$(basename "$page" .8)
	assert "$name.8: mandoc -T lint finds nothing" "$(mandoc -T lint "$page" 2>&1)"
	assert "$name.8: all of the shared text is in it" "$(grep -n '^\.so' "$page")"
	assert "$name.8: the options of --help" "$(diff <(by_help "$name") <(by_page "$page"))"
done
[ $n -ge 15 ] && missing='' || missing='there are fewer than five'
assert "each tool has a page" "$missing"
echo "1..$n"
exit $failed
