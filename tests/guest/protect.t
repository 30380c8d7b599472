#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# test=protect: each case is a run, ends as it has to on either end, and moves what it has to; what a provider does not
# protect is a known exception, by name. Each event is there, each key is accounted for, krping runs the list, and a peer that
# leaves, or is another one, does no harm.

. "$(dirname "$0")/lib.sh"

# The cases, in order: what has to work, and what has to be refused.
works=(send send_inv read write read_inv reg inv)
refused=({read,write}_invalidated {read,write}_key_before {read,write}_past_end {read,write}_past_page {read,write}_before
	{read,write}_no_right {read,write}_other_pd {read,write}_dereg send_inv_{key_before,dereg}
	{sink,source}_invalidated {sink,source}_past_end sink_no_right {sink,source}_other_pd reg_other_pd send_inv_other_pd)
# read_invalidated write_invalidated ...: the two of a kind follow each other.
order=()
for c in invalidated key_before past_end past_page before no_right other_pd dereg; do order+=("read_$c" "write_$c"); done
order=("${works[@]}" "${order[@]}" send_inv_key_before send_inv_dereg sink_invalidated source_invalidated sink_past_end source_past_end
	sink_no_right sink_other_pd source_other_pd reg_other_pd send_inv_other_pd read_again)
N=${#order[@]}
is "$N" $((${#works[@]} + ${#refused[@]} + 1)) "each case has its place"

# What a provider is known not to protect: rxe lets a peer invalidate a region of another PD (docs/upstream/rxe-invalidate-pd.md).
# That has to be seen: a kernel that is mended fails here, and loses its exception. The VM's siw has our patches for what siw does not
# protect (siw-read-right.md, siw-invalidate-key.md).
declare -A known=()
[ "$PROVIDER" != rxe ] || known=([send_inv_other_pd]='LEAK client_moved=0 server_moved=0')
bad="${#known[@]} of $N cases are not as they have to be, the first one is send_inv_other_pd"

# case_of RUN: prints the run's line without id, parent and role.
case_of() { sed -n "s/^id=$1 parent=[0-9]* role=[a-z]* //p" /proc/krping_protect; }

# wanted CASE: prints what its line has to end with, or a part of it.
wanted() {
	case $1 in
	read_inv) [ "$PROVIDER" = siw ] && echo 'works client_moved=5120 server_moved=0' || echo 'unsupported client_moved=0 server_moved=0' ;;
	read | read_again) echo 'works client_moved=5120 server_moved=0' ;;
	write) echo 'works client_moved=0 server_moved=5120' ;;
	send | send_inv | reg | inv) echo 'works client_moved=0 server_moved=0' ;;
	*) echo "${known[$1]-protected client_moved=0 server_moved=0}" ;;
	esac
}

# saw CASE: prints what the ends have to see of it, "CLIENT SERVER", as a regular expression. This is where the transports differ: on
# RoCE the client is told, and rxe tells its own end nothing (7.3 does); on iWARP the client's WRITE completes, its connection ends, and siw tells
# its own end. siw's events are in doubt: the connection may end before. A request of siw that finds the connection closed meanwhile
# fails for that.
torn='([+]local_QP_operation_error)?([+]QP_fatal_error)?'
# rxe of 7.3 tells its own end before it tells the client, which hears nothing but the end if the server is quick to leave.
told='(end[+]remote_access_error end([+]QP_access_error)?|end end[+]QP_access_error)'
saw() {
	case $1 in
	send | send_inv | read | write | reg | inv | read_again) echo 'completed[+]message message' ;;
	read_inv) [ "$PROVIDER" = siw ] && echo 'completed[+]message message' || echo 'no_such_verb[+]message message' ;;
	send_inv_*) echo '(completed[+])?end end[+]remote_invalid_request_error' ;;
	# The server's siw may still be answering the READ when the connection ends.
	sink_*) echo 'end[+]local_protection_error([+]QP_access_error)? end([+]QP_request_error)?' ;;
	# rxe of 6.12 flushes what it refuses itself.
	source_past_end) echo 'end([+]local_(QP_operation|protection)_error)?([+]QP_fatal_error)? end' ;;
	source_* | reg_*) echo 'end([+]local_QP_operation_error)?([+]QP_fatal_error)? end' ;;
	read_*) [ "$PROVIDER" = siw ] && echo "end$torn end([+]QP_request_error)?" || echo "$told" ;;
	write_*) [ "$PROVIDER" = siw ] && echo "(completed[+])?end$torn end([+]QP_access_error)?" || echo "$told" ;;
	esac
}

# make_cases WHAT SERVER-OPTIONS CLIENT-OPTIONS: one server serves them all, and each is a run of either end. Sets CLIENTS to the lines
# of the client's runs.
make_cases() {
	local name got end child
	CLIENTS=()
	server protect "server,addr=$ADDR,port=$PORT,test=protect,persistent$2"
	for name in "${order[@]}"; do
		# The place of the case before may not be free yet.
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			client "client,addr=$ADDR,port=$PORT,test=protect,case=$name$3"
			parse
			[ "${F[werr]-}" = EBUSY ] || break
			nap 0.1
		done
		CLIENTS+=("$LINE")
		if [ -n "${known[$name]-}" ]; then
			line_is "werr state reason" "EIO ERROR case $name is not as it has to be: ${known[$name]%% *}" "$1: $name fails, as is known"
		else
			line_is "state errno iters count size" "DONE 0 1 1 12288" "$1: $name ends well"
		fi
		got=$(case_of "$(field id)")
		child=$(field peer_run)
		is "$(case_of "$child")" "$got" "$1: $name: both ends say the same"
		parse "$got"
		is "${F[case]-} ${F[verdict]-} client_moved=${F[client_moved]-} server_moved=${F[server_moved]-}" "$name $(wanted "$name")" "$1: $name" ||
			diag "$got"
		[ -z "${known[$name]-}" ] || continue
		like "${F[client]-} ${F[server]-}" "^$(saw "$name")$" "$1: $name: what both ends saw"
	done
	interrupt_is protect "served failed state" "$N ${#known[@]} DONE" "$1: the server has served them all"
}

resources_before
watch krping-stages krping-mr
# shellcheck disable=SC2046 # words
for ctx in $(rounds "thread softirq" thread); do
	traced "$ctx" . make_cases "$ctx" ",poll_ctx=$ctx" ",poll_ctx=$ctx"
	for ((i = 0; i < N; i++)); do
		name=${order[i]}
		for run in "$(field id "${CLIENTS[i]}")" "$(field peer_run "${CLIENTS[i]}")"; do
			what="$ctx: $name, run $run"
			run=" run=$run "
			# The case's own connection, with memory of its own, is the second one; another PD has a region, too.
			conns=$(grep -c ": krping_conn:$run" "$T/trace")
			cases=$(sed -n "s/.*: krping_protect:${run}case=\([a-z_]*\) .*/\1/p" "$T/trace")
			iters=$(grep -E ": krping_iter:$run" "$T/trace" | grep -c 'flags=commit')
			is "$conns $cases $iters" "2 $name 1" "$what: two connections, a krping_protect, an iteration"
			reg=$(grep -c ": krping_mr_fastreg:$run" "$T/trace")
			inv=$(grep -cE ": krping_mr_(localinv|reminv|readinv):$run.* valid_before=1" "$T/trace")
			freed=$(grep -cE ": krping_mr_dereg:$run.* state=(valid|flushed)" "$T/trace")
			is "$reg" $((inv + freed)) "$what: the keys balance"
			# The end whose key or memory is of the other PD has a second one.
			regions=1 end=client
			[ "${run// /}" = "run=$(field id "${CLIENTS[i]}")" ] || end=server
			[[ $end/$name != @(client/@(sink|source|reg)|server/@(read|write|send_inv))_other_pd ]] || regions=2
			is "$(grep -c ": krping_mr_dereg:$run" "$T/trace")" $regions "$what: its regions are freed"
		done
	done
done
watched "all cases" krping-stages krping-mr
load krping-stages '{ residual: [.runs[].residual_ns] | unique,
	tries: [.runs[] | select(.role == "client") | .phases[] | select(.phase == "try") | .count] | [length, unique[]] }'
is "${Q[residual]-} ${Q[tries]-}" "[0] [$(rounds $((2 * N)) "$N"),1]" "krping-stages: residual 0, and a phase for each access"

# --- the front end ---
echo 400 >"$HISTORY"
background server-tool krping server "$ADDR" protect
listens() { [[ $(rdma res show cm_id) == *LISTEN* ]]; }
until_ok 10 listens
krping client "$ADDR" protect >"$T/client.out" 2>"$T/client.err"
is $? $((${#known[@]} > 0 ? 2 : 0)) "krping client: its exit status" || diag "$(cat "$T/client.err")"
tool_end server-tool
is "$RC" $((${#known[@]} > 0 ? 2 : 0)) "krping server: its exit status" || diag "$(cat "$T/server-tool.err")"
for end in client server-tool; do
	is "$(awk '/^CASE/ { on = 1; next } /^[0-9]+ cases: / { on = 0 } on { printf "%s ", $1 }' "$T/$end.out")" "${order[*]} " "krping ${end%-tool}: a row for each case"
	like "$(cat "$T/$end.out")" "(^|"$'\n'")$N cases: 7 works|$N cases: 8 works" "krping ${end%-tool}: how many came to what" || diag "$(cat "$T/$end.out")"
	[ ${#known[@]} -eq 0 ] || like "$(cat "$T/$end.err")" "(^|"$'\n'")krping: $bad" "krping ${end%-tool}: the cause"
done
background server-json krping -j server "$ADDR" test=protect
until_ok 10 listens
krping -j client "$ADDR" test=protect >"$T/client.json"
tool_end server-json
is "$(jq -r '[.cases[].case] | join(" ")' "$T/client.json")" "${order[*]}" "krping -j client: the cases"
is "$(jq -c .cases "$T/client.json")" "$(jq -c .cases "$T/server-json.out")" "krping -j: both ends say the same"
background server-one krping server "$ADDR"
until_ok 10 listens
krping client "$ADDR" protect,case=write >"$T/client.out" 2>"$T/client.err"
is $? 0 "krping client, with case=: its exit status" || diag "$(cat "$T/client.err")"
tool_ends "krping server, with one case: its exit status" server-one || diag "$(cat "$T/server-one.err")"
for end in client server-one; do
	like "$(cat "$T/$end.out")" $'\n'"1 case: 1 works" "krping ${end%-one}: one case has a table, too"
done
# Nobody is there for the first case.
krping client "$ADDR" protect >"$T/client.out" 2>"$T/client.err"
is "$? $(cat "$T/client.out")" "2 " "krping client, without a server: no table"
like "$(cat "$T/client.err")" "^krping: " "krping client, without a server: the cause"
# A client that leaves the list ends its part, and the server waits for the next one.
background server-tool krping server "$ADDR" protect
until_ok 10 listens
before=$(grep -c ' role=client ' /proc/krping_protect)
background client-tool krping client "$ADDR" protect
some() { [ "$(grep -c ' role=client ' /proc/krping_protect)" -ge $((before + 2)) ]; }
until_ok 20 some
kill -INT "${PIDS[client-tool]}"
tool_end client-tool
like "$(tail -n 1 "$T/client-tool.err")" "^krping: " "krping client, interrupted: the cause"
quiet() { ! grep ' parent=[1-9]' /proc/krping_runs | grep -qv ' state=\(DONE\|ERROR\) '; }
until_ok 20 quiet
krping client "$ADDR" protect >"$T/client.out" 2>"$T/client.err"
is $? $((${#known[@]} > 0 ? 2 : 0)) "krping client, after another one was interrupted" || diag "$(cat "$T/client.err")"
tool_end server-tool
is "$(awk '/^CASE/ { on = 1; next } /^[0-9]+ cases: / { on = 0 } on { printf "%s ", $1 }' "$T/server-tool.out")" "${order[*]} " \
	"krping server: its table is that of the whole list"

# --- who may not have it ---
client_is "client,addr=$ADDR,port=$PORT,test=protect" "werr reason" 'EINVAL case: missing; \"krping client ADDRESS protect\" runs all cases' "plain test=protect names the front end"
refuse() { # SERVER-OPTIONS NAME
	server picky "server,addr=$ADDR,port=$PORT,$1"
	client_like "client,addr=$ADDR,port=$PORT,test=protect,case=send" "werr reason" "^EPROTO .*$2 differs" "a server with $1 refuses it"
	interrupt picky
}
refuse idle=9s idle
refuse test=protect,case=read "case differs: read there, send here|case"
if [ "$PROVIDER" = rxe ]; then
	server classic "server,addr=$ADDR,port=$PORT,test=protect"
	# Where its server leaves at once rping may wait on (seen on 7.3).
	background rping rping -c -a "$ADDR" -p $PORT -C 1
	finish classic
	rping_ends
	line_is "werr reason" "EPROTO the test needs a peer that is krping, too" "a classic client is refused"
	rping_server
	client_is "client,addr=$ADDR,port=$PORT,test=protect,case=send" "werr reason" "EPROTO the test needs a peer that is krping, too" "and so is a classic server"
	rping_ends
fi

# --- ends that leave ---
serve() { server server "server,addr=$ADDR,port=$PORT"; }
# The liar does not make the second connection.
for how in "timeout=300ms:ETIMEDOUT ERROR not done within timeout=300ms" "INT:EINTR ERROR interrupted"; do
	server server "server,addr=$ADDR,port=$PORT$([[ $how != timeout* ]] || echo ",${how%%:*}")"
	"$liar" client "$ADDR" $PORT test=6 size=12288 count=1 queues=2 leave=1 by=2 >"$T/said" 2>&1 &
	waits() { run_line "${PIDS[server]}" && [[ $LINE == *' phase=listen '* && $LINE == *' state=CONNECTED '* ]] || gone "${PIDS[server]}"; }
	until_ok 10 waits
	client "client,addr=$ADDR,port=$PORT,count=1"
	[[ $how == timeout* ]] || line_is "werr reason" "EBUSY the server serves another client" "a server that waits for its client's second connection is busy" || diag "$(cat "$T/said")"
	[[ $how == timeout* ]] || kill -INT "${PIDS[server]}" 2>/dev/null
	finish server 25
	line_like "werr state reason" "^${how#*:}" "a client does not make the second connection: ${how%%:*}"
done
serve
client_is "client,addr=$ADDR,port=$PORT,test=protect,case=send,timeout=1ms" "werr state" "ETIMEDOUT ERROR" "timeout= ends it, and it fails"
kill -INT "${PIDS[server]}" 2>/dev/null
finish server 25
# The client may have said its last word before.
line_like "werr state" '^((ECONNRESET|EINTR|EPROTO) ERROR|0 DONE)' "its server ends, too"

works_after "after protect"
nothing_left "after protect"
done_testing
