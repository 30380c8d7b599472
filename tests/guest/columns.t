#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# --csv and -H of every tool that has them: the columns are those of its manual, each row has all of them, and the
# numbers are those of -j of the same runs.

. "$(dirname "$0")/lib.sh"

docs=${KRPING_TOOLS:-$here/../../build/tools}/man
columns() { absorb "$here/columns.pl" "$@"; }

for t in krping-top krping-stages krping-mr krping-trace; do
	tool "$t" -j
	background "$t-csv" "$t" --csv
done
declare -A chosen=(
	[krping-top]='errno,iters,dst,run'
	[krping-stages]='run,phase,count,stage'
	[krping-mr]='role,fastreg,balanced'
)
for t in krping-top krping-stages krping-mr; do
	background "$t-table" "$t" -o "${chosen[$t]}"
	background "$t-few" "$t" --csv --output="${chosen[$t]}"
done
for t in krping-stages krping-mr; do
	background "$t-buckets" "$t" -j -H
	background "$t-text" "$t" -H
done
all=(krping-{top,stages,mr,trace}{,-csv} krping-{top,stages,mr}-{table,few} krping-{stages,mr}-{buckets,text})
attached "${all[@]}"
good_pair "watched" 23 ",count=23,validate"
# Wait for two displays of krping-top, which has no summary in CSV.
more_lines 4 krping-top-csv
for t in "${all[@]}"; do
	tool_end "$t" INT
	# A tool that prints a table first says on stderr what it waits for; that is no complaint.
	is "$RC $(grep -v '^Tracing .*Ctrl-C to end\.$' "$T/$t.err")" "0 " "$t: exit 0, no complaint on stderr"
done

for t in krping-top krping-stages krping-mr krping-trace; do
	columns csv "$t --csv" "$T/$t-csv.out" "$docs/$t.8" 'Columns of \-\-csv'
done
# Only these columns are compared, since the intervals of --csv end at other times than those of -j.
columns runs "krping-top --csv" "$T/krping-top-csv.out" "$T/krping-top.out" run parent peer_run pid role test dev port qp \
	src dst size state errno reason attached_late iters iters_seen iters_aborted wc_err wc_flush fastreg inv post_err \
	errno_name lost runs_dropped
columns runs "krping-mr --csv" "$T/krping-mr-csv.out" "$T/krping-mr.out"
columns stages "krping-stages --csv" "$T/krping-stages-csv.out" "$T/krping-stages.out"
columns events "krping-trace --csv" "$T/krping-trace-csv.out" "$T/krping-trace.out"

# of FILE COLUMNS: prints these columns of the rows of a CSV file.
of() { trace_perl 'my ($file, $columns) = @ARGV; print join(",", @$_{split ",", $columns}), "\n" for rows($file)' "$1" "$2"; }
# -o: the rows of the run's end. A table may have two columns for what is empty in CSV, so only its words are compared.
for t in krping-top krping-stages krping-mr; do
	last=$(wc -l <"$T/$t-few.out")
	rows=$((last - 1))
	[ "$t" != krping-top ] || rows=2
	want=$(of "$T/$t-csv.out" "${chosen[$t]}" | tail -n $rows)
	is "$(head -n 1 "$T/$t-few.out") $(tail -n $rows "$T/$t-few.out")" "${chosen[$t]} $want" "$t --csv --output: these columns, in this order"
	is "$(grep -v '^$' "$T/$t-table.out" | tail -n $((rows + 1)) | awk '{ $1 = $1; print }')" "${chosen[$t]//,/ }
$(sed 's/,,*/ /g; s/ $//' <<<"$want")" "$t -o: a table of them"
	for how in "-o run,nothing|: no column nothing; there are: time .* lost " "-o run,|: no column ; there are: time " "-j -o run|and -j has none"; do
		# shellcheck disable=SC2086 # words
		"$t" ${how%%|*} >"$T/out" 2>"$T/err" </dev/null
		is $? 1 "$t ${how%%|*}: is refused"
		like "$(cat "$T/out" "$T/err")" "${how#*|}" "$t ${how%%|*}: and says why"
	done
done
for t in krping-stages krping-mr; do
	columns buckets "$t -j -H" "$T/$t-buckets.out"
	columns text "$t -H" "$T/$t-text.out" "$T/$t-buckets.out"
done

# --- the ladder of the recorded events ---
krping-trace ladder -I "$T/krping-trace.out" -j >"$T/ladder.out" 2>"$T/err"
is "$? $(cat "$T/err")" "0 " "ladder -j ends with 0"
krping-trace ladder -I "$T/krping-trace.out" --csv >"$T/ladder.csv" 2>"$T/err"
is "$? $(cat "$T/err")" "0 " "ladder --csv ends with 0"
columns csv "ladder --csv" "$T/ladder.csv" "$docs/krping-trace.8" 'Columns of ladder \-\-csv'
columns steps "ladder --csv" "$T/ladder.csv" "$T/ladder.out"

# --- the front end: both ends, and a list with the earlier runs, one of which has a reason ---
background krping-server krping server "$ADDR:$PORT" --csv
kserver_listens() { grep -q ' listen' /proc/krping; }
until_ok 10 kserver_listens
krping client "$ADDR:$PORT" count=5 --csv >"$T/client.csv"
is $? 0 "krping client --csv ends with 0"
tool_ends "krping server --csv ends with 0" krping-server
krping client "$ADDR:$PORT" count=5 --csv >"$T/refused.csv"
is $? 2 "krping client --csv: nobody listens"
krping list -a -j >"$T/list.out"
krping list -a --csv >"$T/list.csv"
for side in client refused krping-server; do
	[ -e "$T/$side.csv" ] || mv "$T/$side.out" "$T/$side.csv"
	columns csv "krping --csv, $side" "$T/$side.csv" "$docs/krping.8" 'Columns of client and server \-\-csv'
done
background krping-server krping server "$ADDR:$PORT"
until_ok 10 kserver_listens
krping client "$ADDR:$PORT" timeout=1s --csv -i 0.2 >"$T/intervals.csv"
is $? 0 "krping client --csv -i ends with 0"
tool_end krping-server
columns csv "krping --csv -i" "$T/intervals.csv" "$docs/krping.8" 'Columns of client and server \-i \-\-csv'
columns csv "krping list --csv" "$T/list.csv" "$docs/krping.8" 'Columns of list \-\-csv'
columns runs "krping list --csv" "$T/list.csv" "$T/list.out"

done_testing
