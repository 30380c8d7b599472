#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# krping-top --by: runs of two links, tests and sizes at once, summed up by each key. The sums are compared with the
# single runs of the same line, intervals with the summary, and percentiles with all values together.

. "$(dirname "$0")/lib.sh"

keys=(dev peer role test size)
ADDR2=10.10.0.1
LINK2=${PROVIDER}1
ip link add d1 type dummy && ip addr add $ADDR2/24 dev d1 && ip link set d1 up
ok "a second link" link_add "$LINK2" d1 $ADDR2

# --- a key that is none ---
krping-top --by nonsense >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out" "$T/err")" "1 krping-top: --by: one of dev, peer, role, test, size, not nonsense" "--by nonsense: the list"

# --- three pairs at once ---
# Buckets are many: krping-stages prints them once, at its end.
background krping-stages krping-stages -j -H
all=(krping-stages)
for k in "${keys[@]}"; do
	background "krping-top-$k" krping-top -j --by "$k" 1
	all+=("krping-top-$k")
done
attached "${all[@]}"
server long-server "server,addr=$ADDR,port=$PORT,size=64"
server bw-server "server,addr=$ADDR2,port=$PORT,test=bw,size=4096"
server large-server "server,addr=$ADDR2,port=9998,size=4096,server_inv"
start long "client,addr=$ADDR,port=$PORT,size=64"
start bw "client,addr=$ADDR2,port=$PORT,test=bw,size=4096,count=300"
pinging large "client,addr=$ADDR2,port=9998,size=4096,server_inv" 50
finish bw 60
check_good "bw: client" "$LINE" 300
finish bw-server
wait_pings long 50
more_lines 2 krping-top-dev
for r in large long; do
	interrupt $r
	finish $r-server
done
# One line more of each, in which they end.
more_lines 1 "${all[@]:1}"
for t in "${all[@]}"; do tool_ok "$t: exit 0, nothing on stderr" "$t" INT; done
is "$(cat "$T"/krping-*.out | jq -s -c '[.[].lost] | unique')" '[0]' "nothing was lost"
is "$(jq -c -s '[.[-1].groups[] | [.group, .ends, .running]]' "$T/krping-top-dev.out")" \
	"[[\"$LINK\",2,0],[\"$LINK2\",4,0]]" "by dev: each end counts"
is "$(jq -c -s '[.[-1].groups[] | [.group, .ends]]' "$T/krping-top-size.out")" '[["64",2],["4096",4]]' "by size: in the order of sizes"
absorb "$here/by.pl" "$T" "${keys[@]}"

# --- text ---
background krping-top-text krping-top --by role 1
attached krping-top-text
good_pair "text" 23 ",count=23"
nap 2.5
tool_end krping-top-text INT
is "$RC $(grep -v '^Watching .*Ctrl-C to end\.$\|^nothing running yet' "$T/krping-top-text.err")" "0 " "exit 0, no complaint on stderr"
narrow "$(cat "$T/krping-top-text.out")" "text"
like "$(grep -A 2 '^GROUP ' "$T/krping-top-text.out" | tail -n 3 | tr '\n' '|')" \
	'^GROUP +ENDS END-ITERS +MEAN .*\|client +1 +23 .*\|server +1 +23 ' "the summary has a line for each group"
like "$(cat "$T/krping-top-text.out")" '(^|.)GROUP +ENDS RUNNING END-IT/S END-MB/S' "tables have groups"

# --- a server has its size from its client, and the programs have it from krping_conn ---
attach krping-mr --max-runs 4
pair_on 1 '' ,size=4096
sizes=$(bpftool -j map dump name krp_runs | jq -c '[.[].formatted.value.head | select(.run != 0) | .size]')
pair_off
tool_end krping-mr INT
is "$sizes" '[4096,4096]' "the slots of a client and of a server that named no size have the client's size"

rdma link delete "$LINK2"
ip link delete d1
done_testing
