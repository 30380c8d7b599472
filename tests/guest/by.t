#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# --by: runs of two links, tests and sizes at once, summed up by each key in each tool. The sums are compared with the
# single runs of the same line, intervals with the summary, and percentiles with all values together.

. "$(dirname "$0")/lib.sh"

docs=${KRPING_TOOLS:-$here/../../build/tools}/man
tools=(krping-top krping-stages krping-mr)
keys=(dev peer role test size)
ADDR2=10.10.0.1
LINK2=${PROVIDER}1
ip link add d1 type dummy && ip addr add $ADDR2/24 dev d1 && ip link set d1 up
ok "a second link" link_add "$LINK2" d1 $ADDR2

# --- a key that is none ---
for t in "${tools[@]}"; do
	"$t" --by nonsense >"$T/out" 2>"$T/err"
	is "$? $(cat "$T/out" "$T/err")" "1 $t: --by: one of dev, peer, role, test, size, not nonsense" "$t --by nonsense: the list"
done

# --- three pairs at once ---
all=()
for k in "${keys[@]}"; do
	background "krping-top-$k" krping-top -j --by "$k" 1
	# Buckets are many, and the same code prints them whatever the key is.
	opt=()
	[ "$k" != role ] || opt=(-H)
	background "krping-stages-$k" krping-stages -j --by "$k" "${opt[@]}" 1
	background "krping-mr-$k" krping-mr -j --by "$k" 1
	all+=("krping-top-$k" "krping-stages-$k" "krping-mr-$k")
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
more_lines 1 "${all[@]}"
for t in "${all[@]}"; do tool_ok "$t: exit 0, nothing on stderr" "$t" INT; done
is "$(cat "$T"/krping-*.out | jq -s -c '[.[].lost] | unique')" '[0]' "nothing was lost"
is "$(jq -c -s '[.[-1].groups[] | [.group, .ends, .running]]' "$T/krping-top-dev.out")" \
	"[[\"$LINK\",2,0],[\"$LINK2\",4,0]]" "by dev: each end counts"
is "$(jq -c -s '[.[-1].groups[] | [.group, .ends]]' "$T/krping-mr-size.out")" '[["64",2],["4096",4]]' "by size: in the order of sizes"
absorb "$here/by.pl" "$T" "${keys[@]}"

# --- text and CSV ---
for t in "${tools[@]}"; do
	opt=(-e)
	[ "$t" != krping-top ] || opt=(1)
	background "$t-text" "$t" --by role "${opt[@]}"
	background "$t-csv" "$t" --csv --by test "${opt[@]}"
done
all=(krping-{top,stages,mr}-{text,csv})
attached "${all[@]}"
good_pair "text" 23 ",count=23"
nap 2.5
for t in "${all[@]}"; do
	case $t in krping-top*) tool_end "$t" INT ;; *) tool_end "$t" ;; esac
	is "$RC $(grep -v '^\(Trac\|Watch\)ing .*Ctrl-C to end\.$\|^nothing running yet' "$T/$t.err")" "0 " "$t: exit 0, no complaint on stderr"
done
narrow "$(cat "$T"/krping-*-text.out)" "text"
like "$(grep -A 2 '^GROUP ' "$T/krping-top-text.out" | tail -n 3 | tr '\n' '|')" \
	'^GROUP +ENDS END-ITERS +MEAN .*\|client +1 +23 .*\|server +1 +23 ' "krping-top: its summary has a line for each group"
like "$(cat "$T/krping-top-text.out")" '(^|.)GROUP +ENDS RUNNING END-IT/S END-MB/S' "krping-top: its tables have groups"
is "$(grep -cE '^role (client|server): ends 1, running 0, end iterations 23$' "$T/krping-stages-text.out")" 2 \
	"krping-stages: a table for each group"
is "$(grep -cE '^\(end iteration\) +23 ' "$T/krping-stages-text.out") $(grep -cE '^residual +0 ns$' "$T/krping-stages-text.out")" '2 2' \
	"krping-stages: the iterations of its ends, and a residual of 0"
is "$(grep -E '^(client|server) ' "$T/krping-mr-text.out" | xargs)" 'client 1 46 45 0 0 1 0 0 0 ok server 1 46 45 0 0 1 0 0 0 ok' \
	"krping-mr: a balance for each group"
is "$(grep -cE '^role (client|server): ends 1, running 0$' "$T/krping-mr-text.out")" 2 "krping-mr: costs for each group"
for t in "${tools[@]}"; do
	absorb "$here/columns.pl" csv "$t --csv --by" "$T/$t-csv.out" "$docs/$t.8" 'Columns of \-\-csv \-\-by'
	# krping-top may show the server before the client is there.
	is "$(cut -d, -f2-4 "$T/$t-csv.out" | sed 1d | sort -u | tail -n 1)" 'test,rping,2' "$t --csv --by: rows are of the group"
done

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
