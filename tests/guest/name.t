#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# name=LABEL: each end has its own, and /proc/krping_runs, the events and every tool show it: of runs that begin while they
# watch, of runs that went on before, and of those that /proc has forgotten. --name of the tools selects runs by it.

. "$(dirname "$0")/lib.sh"

tools=(krping-top krping-stages krping-mr krping-trace)
longest=1234567890123456789012345678901

# names NAME: prints "ROLE LABEL" of each run in the last object of a tool's -j, in order; of krping-trace, of the events.
names() {
	if [ "$1" = krping-trace ]; then
		jq -r 'select(.event == "run_start") | "\(.role) \(.name)"' "$T/$1.out" | sort -u | paste -sd,
	else
		jq -rs '.[-1].runs[] | "\(.role) \(.name)"' "$T/$1.out" | sort -u | paste -sd,
	fi
}

# ends_with WANTED WHAT NAME...: the tools end well, and show these runs.
ends_with() {
	local want=$1 what=$2 t
	shift 2
	for t; do
		tool_end "$t" INT
		is "$RC $(names "$t")" "0 $want" "$what: $t" || diag "$(cat "$T/$t.err")"
	done
}

# --- runs that begin while the tools watch ---
watch "${tools[@]}"
attach krping-record --all -o "$T/rec"
background stages-text krping-stages
background mr-text krping-mr
background trace-text krping-trace -E run_start -w
attached stages-text mr-text trace-text
traced "with labels" krping_run_start good_pair "with labels" 5 ",name=rack-4:a=b" ",count=5,name=$longest"
is "$(field name "$SRV") $(field name "$CLI")" "rack-4:a=b $longest" "/proc/krping_runs: each end has its own"
parse "$CLI"
client_id=${F[id]}
parse "$SRV"
server_id=${F[id]}
is "$(sed -n 's/.*: krping_run_start: run=\([0-9]*\) .* name=\([^ ]*\) .*/\1 \2/p' $TRACING/trace | sort -n | paste -sd,)" \
	"$server_id rack-4:a=b,$client_id $longest" "krping_run_start: name"
ends_with "client $longest,server rack-4:a=b" "runs that begin" "${tools[@]}"
for t in stages-text mr-text trace-text krping-record; do tool_end "$t" INT; done
is "$(grep -cxE "  name ($longest|rack-4:a=b)" "$T/stages-text.out")" 2 "krping-stages, as text: below the head of each run"
is "$(grep -A 1 "^run " "$T/mr-text.out" | sed -n 's/^run \([^:]*\):.*/\1/p; s/^  name //p' | paste -sd,)" \
	"$server_id server,rack-4:a=b,$client_id client,$longest" "krping-mr, as text: below the line of each run"
is "$(grep -oE " name=[^ ]*" "$T/trace-text.out" | paste -sd,)" " name=rack-4:a=b, name=$longest" "krping-trace, as text"

krping-trace ladder -j -I "$T/rec" >"$T/ladder.out" 2>&1
is "$(jq -r '"\(.client.name) \(.server.name)"' "$T/ladder.out")" "$longest rack-4:a=b" "krping-trace ladder -j"
krping-trace ladder -I "$T/rec" >"$T/ladder.out" 2>&1
is "$(sed -n 2,3p "$T/ladder.out" | paste -sd,)" "client: name $longest,server: name rack-4:a=b" "krping-trace ladder"

# --- krping ---
background server krping server "$ADDR" name=left
until_ok 10 listens_or_ended server
krping -j client "$ADDR" count=5 name=right >"$T/client.out" 2>&1
is "$? $(jq -r .name "$T/client.out")" "0 right" "krping -j"
tool_end server
like "$(tail -1 "$T/server.out")" '^run [0-9]+ "left" on ' "krping's summary"
is "$(krping list -a -j | jq -r '.runs[-2:] | map(.name) | join(",")')" "left,right" "krping list -j"
like "$(krping list -a | head -1)" ' NAME *$' "krping list has a column of them"
like "$(krping list -a | tail -1)" ' right *$' "krping list"

# --- runs that went on before the tools, and one that they are not to show ---
server one "server,addr=$ADDR,port=$PORT,name=one-server"
pinging one-client "client,addr=$ADDR,port=$PORT,name=one"
server two "server,addr=$ADDR,port=7174,name=two-server"
pinging two-client "client,addr=$ADDR,port=7174"
for t in krping-top krping-stages krping-mr; do tool $t -j --name one; done
background all krping-stages -j
attached krping-top krping-stages krping-mr all
more_lines 2 krping-top
ends_with "client one" "--name" krping-top krping-stages krping-mr
tool_end all INT
is "$RC $(names all)" "0 client -,client one,server one-server,server two-server" "without --name: all of them"
background trace krping-trace -j --name one -c 20
until_ok 20 gone "${PIDS[trace]}"
tool_end trace
parse "$(grep ' name=one ' /proc/krping_runs)"
is "$RC $(jq -r 'select(.event) | .run' "$T/trace.out" | sort -u)" "0 ${F[id]}" "krping-trace --name"
for r in one-client two-client; do kill -INT "${PIDS[$r]}"; done
for r in one-client two-client one two; do finish $r; done

# --- a run that /proc has forgotten when the tool looks ---
echo 0 >$HISTORY
watch krping-stages krping-mr
ping_pair ",name=gone-server" ",count=5,name=gone"
is "$(grep -c name=gone /proc/krping_runs)" 0 "/proc/krping_runs has forgotten the runs"
ends_with "client gone,server gone-server" "forgotten" krping-stages krping-mr

done_testing
