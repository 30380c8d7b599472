#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Pings of many pages: every event is counted and has the number of pages of its ping; krping-mr sorts the costs by this
# number, and the ladder has the bytes.

. "$(dirname "$0")/lib.sh"

sizes=(4097 65537 131072)
N=7
tool krping-mr -j
attach krping-record --all -o "$T/rec"
attached krping-mr

costs=''
for size in "${sizes[@]}"; do
	traced "$size bytes" . good_pair "$size bytes" $N ",count=$N,size=$size,validate"
	printf '%s\n' "$CLI" "$SRV" >"$T/runs"
	# In each ping either end makes two registrations, all of them of mapped pages.
	absorb "$here/events.pl" $N validate "$T/trace" "$T/runs"
	n=$((4 * N))
	costs+=",[$(((size + 4095) / 4096)),$n,$n,$n]"
done
tool_ends "krping-mr ends with 0" krping-mr INT || diag "$(cat "$T/krping-mr.err")"
load krping-mr '{ costs: [.costs[] | [.pages, .map.count, .post.count, .done.count]], balance: ([.runs[] | .off_balance] | unique) }'
is "${Q[costs]-}" "[${costs#,}]" "krping-mr: registrations by their pages"
is "${Q[balance]-}" '[0]' "krping-mr: it balances"

tool_end krping-record INT
krping-trace --input "$T/rec" ladder --run "$(field id "$CLI")" >"$T/steps" 2>"$T/err"
is "$? $(cat "$T/err")" "0 " "the ladder of the last run"
like "$(cat "$T/steps")" "REG_MR 0x[0-9a-f]+ ${size}B" "the ladder has the registration's bytes" || diag "$(cat "$T/steps")"
done_testing
