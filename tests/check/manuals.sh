#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# manuals.sh FOLDER: TAP; checks the man pages in FOLDER, as they are installed: mandoc's lint finds nothing, no text is left
# out, a page has exactly the options of its tool's --help, and names none that no tool has. The tools are in the folder above.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
pages=$1

words() { grep -oE -e '--[a-z0-9][a-z0-9-]*' | sort -u; }
by_help() { "$pages/../$1" --help | grep -oE '^ +(-., )?--[a-z0-9-]+' | words | grep -vx -e --usage; }
by_page() { sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "$1" | sed -n 's/\\-/-/g; /^\.BR\{0,1\} /p' | words; }

all=$(for page in "$pages"/*.8; do by_help "$(basename "$page" .8)"; done | sort -u)
for page in "$pages"/*.8; do
	name=$(basename "$page" .8)
	is "$(mandoc -T lint "$page" 2>&1)" '' "$name.8: mandoc -T lint finds nothing"
	is "$(grep -n '^\.so' "$page")" '' "$name.8: all of the shared text is in it"
	is "$(diff <(by_help "$name") <(by_page "$page"))" '' "$name.8: the options of --help"
	is "$(comm -13 <(echo "$all") <(sed 's/\\-/-/g' "$page" | words))" '' "$name.8: no option that no tool has"
done
# A letter is one option, whatever the word behind krping.
is "$(for page in "$pages"/*.8; do "$pages/../$(basename "$page" .8)" --help | sed -n 's/^ *\(-.\), \(--[a-z-]*\).*/\1 \2/p'; done |
	sort -u | cut -d ' ' -f 1 | uniq -d)" '' "no letter has two meanings"
ok "each tool has a page" test $tap_n -ge 20
finish_here
