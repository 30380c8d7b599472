#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The runs that tests/guest/pairs.pl draws: the module refuses none of them, and takes each combination that they have. What the module
# takes is asked of module/command.c itself.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
top=$(cd "$here/../.." && pwd)
pairs=$top/tests/guest/pairs.pl

ok "the module's parser is built" "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Wno-unused-parameter -Werror -I"$top/tests/fuzz/shim" -I"$top/module" \
	-I"$top/trace" -o "$T/pairs" "$top/tests/unit/pairs.c" "$top/module/command.c"

# --- which two values go together ---
"$pairs" --claims >"$T/claims"
is "$? $("$T/pairs" <"$T/claims" | tail -1 | sed 's/[0-9]\{3,\}/many/g')" "0 many yes, many no" "there are pairs that go together, and such as do not"
ok "the module says the same of each pair" "$T/pairs" <"$T/claims"
# A claim that is wrong is noticed, so a run that the module refuses is noticed, too.
is "$(sed 's/^no|/yes|/' "$T/claims" | "$T/pairs" | grep -c '^yes|')" 20 "a pair that the module refuses, and pairs.pl does not"

# --- the runs ---
for draw in "--seed 77" "--seed 78 --without tos"; do
	# shellcheck disable=SC2086 # words
	"$pairs" $draw | sed 's/^/yes|/' >"$T/runs"
	ok "$draw: the module takes all runs" "$T/pairs" <"$T/runs"
done
is "$("$pairs" --seed 5 | cksum)" "$("$pairs" --seed 5 | cksum)" "a seed draws the same again"
ok "another seed draws others" test "$("$pairs" --seed 5 | cksum)" != "$("$pairs" --seed 6 | cksum)"
"$pairs" --strength 4 >"$T/out" 2>&1
like "$? $(cat "$T/out")" '^[1-9][0-9]* usage: ' "an option that is none"
done_testing
