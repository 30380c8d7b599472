# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
#
# Helpers for tests of tools and events, a part of lib.sh. They run tools in the background, read their JSON, and record with ftrace
# at the same time.

# tool NAME ARGUMENT...: runs the tool in the background, with the words of ON in front of the command.
ON=()
tool() { background "$1" "${ON[@]}" "$@"; }

# waits_for_events NAME...: the tools sleep in ppoll(2), where none of them is before it has attached all its programs; attached waits
# for that. A command that has ended is not waited for.
waits_for_events() {
	local name where=''
	for name; do
		gone "${PIDS[$name]}" && continue
		# The file has no newline, and so read fails.
		read -r where <"/proc/${PIDS[$name]}/wchan" || [[ $where == *poll* ]] || return 1
	done
}
attached() { until_ok 30 waits_for_events "$@" || diag "not attached: $(for name; do cat "$T/$name.err"; done)"; }

# attach TOOL ARGUMENT...: runs the tool, and waits until it is attached; attach_as NAME COMMAND...: the same of a command by that name.
attach() { tool "$@"; attached "$1"; }
attach_as() { background "$@"; attached "$1"; }

# watch NAME...: runs these tools with -j, and waits until they are attached. watched DESCRIPTION NAME... ends them, by SIGINT: each of
# them ends well.
watch() {
	local name
	for name; do tool "$name" -j; done
	attached "$@"
}
watched() {
	local name
	for name in "${@:2}"; do tool_ok "$1: $name ends with 0" "$name" INT; done
}

# pair_on [PINGS [OPTIONS [CLIENT-OPTIONS]]]: makes a server and a client, both with these options if the client has none of its own, which
# ping without end, and have made so many pings (5). pair_off ends them by SIGINT to the client, and sets CLI and SRV.
pair_on() {
	server server "server,addr=$ADDR,port=$PORT${2-}"
	pinging client "client,addr=$ADDR,port=$PORT${3-${2-}}" "${1:-5}"
}
pair_off() {
	interrupt client
	CLI=$LINE
	finish server
	SRV=$LINE
}

# over OPTIONS TOOL [OPTION]...: while the tool runs, makes a pair of which both ends have these options. The tool ends by SIGINT, or
# with -e by itself; RC becomes its status.
over() {
	local signal=INT
	[[ " ${*:3} " == *" -e "* ]] && signal=
	tool "${@:2}"
	attached "$2"
	ping_pair "$1" "$1"
	tool_end "$2" $signal
}

# wrong_usage COMMAND...: asserts that the command ends with 1, and prints one line, on stderr.
wrong_usage() {
	limited 20 "$@" >"$T/out" 2>"$T/err"
	is "$? $(wc -l <"$T/err") $(wc -c <"$T/out")" "1 1 0" "$* is refused in one line"
}

# narrow TEXT WHAT: no line of a text of people's is longer than a terminal's.
narrow() { is "$(awk 'length > 79' <<<"$1")" '' "$2: under 80 columns"; }

# has_lines N NAME...: each of these commands has written so many lines.
has_lines() {
	local name lines
	for name in "${@:2}"; do
		mapfile -t lines <"$T/$name.out"
		[ ${#lines[@]} -ge "$1" ] || return 1
	done
}
# more_lines N NAME...: waits until each of them has written N lines more than now. The first of them may be about the time before.
more_lines() {
	local name lines
	for name in "${@:2}"; do
		mapfile -t lines <"$T/$name.out"
		until_ok 30 has_lines $((${#lines[@]} + $1)) "$name"
	done
}

# load NAME FILTER: applies the jq FILTER to the last object of a tool's output, and sets Q[key] for each key of the
# result. It starts jq only once, since the start takes longer than the work.
declare -A Q=()
load() {
	local key value
	Q=()
	while IFS=$'\t' read -r key value; do Q[$key]=$value; done < <(
		jq -r -s ".[-1] | $2 | to_entries[] | [.key, (.value | tostring)] | join(\"\t\")" "$T/$1.out" 2>&1
	)
}

# trace_on EVENT...: makes ftrace record these events; "." means all events.
trace_on() {
	echo 0 >$TRACING/tracing_on
	echo >$TRACING/trace
	echo mono >$TRACING/trace_clock
	echo 8192 >$TRACING/buffer_size_kb
	for e in "$@"; do echo 1 >"$TRACING/events/krping/${e#.}/enable"; done
	echo 1 >$TRACING/tracing_on
}

trace_off() {
	echo 0 >$TRACING/tracing_on
	echo 0 >$TRACING/events/krping/enable
}

# trace_end WHAT: ends the recording, asserts that it is whole, and copies it into $T/trace.
trace_end() {
	trace_off
	is "$(trace_lost)" "0 " "$1: ftrace has lost nothing"
	cat $TRACING/trace >"$T/trace"
}

# deepest RUN KIND: prints the most requests of the kind, a regex, that were posted and had not completed.
deepest() {
	perl -ne 'next unless /krping_(post_send|wc): run='"$1"' .*kind='"$2"'\b/; $n += $1 eq "wc" ? -1 : 1; $max = $n if $n > $max;
		END { print $max }' "$T/trace"
}

# traced WHAT EVENTS COMMAND...: records these events while the command runs, up to trace_end.
traced() {
	# shellcheck disable=SC2086 # words
	trace_on $2
	"${@:3}"
	trace_end "$1"
}

# trace_lost: prints what ftrace's buffers did not take: "0 " if nothing is missing.
trace_lost() {
	cat $TRACING/per_cpu/cpu*/stats | sed -n 's/^\(overrun\|dropped events\|commit overrun\): //p' | sort -u | tr '\n' ' '
}

# apart LINE FIGURES: sets F to the line's figures, and APART to those that are not as wanted.
apart() {
	local want key
	parse "$1"
	APART=''
	for want in $2; do
		key=${want%%=*}
		[ "${F[$key]-}" = "${want#*=}" ] || APART+=" $key=${F[$key]-} (not ${want#*=})"
	done
	APART=${APART# }
}

# figures_are CLIENT FIGURES SERVER FIGURES: asserts that the lines of the last pair have these figures, each under a description.
#
# rxe completes a message at the receiver before it acknowledges the message. If rxe is delayed in between, which only an emulator does
# whose CPUs take turns (TURNS), the server has answered and left meanwhile, and nobody acknowledges the client's last SEND, which is
# flushed. The server's queue pair may then have gone to the error state while rxe was still working on that message, and rxe repeats the
# message into the other four RECVs (docs/known-bugs.md): then LATE is not empty.
figures_are() {
	local n
	apart "$CLI" "$2"
	is "${F[werr]-} $APART" "0 " "$1" || diag "${F[reason]-}"
	n=$(grep -c ": krping_wc_flush: run=${F[id]-} .* kind=SEND " $PARTING/trace)
	LATE=''
	apart "$SRV" "$4"
	if [[ $APART == recv_msgs=* && "$TURNS $PROVIDER $n" == "1 rxe 1" ]]; then
		LATE=${4#*recv_msgs=} n=${LATE%% *}
		LATE=${4/ recv_msgs=$n recv_bytes=$((16 * n)) / recv_msgs=$((n + 4)) recv_bytes=$((16 * (n + 4))) }
		apart "$SRV" "$LATE"
		diag "$3: rxe has repeated the client's last message"
	fi
	is "${F[errno]-} $APART" "0 " "$3" || diag "${F[reason]-}"
}

# counts RUN: prints how often each event of the run fired in $T/trace. Left out are those that depend on the provider or on sleeping,
# and the words of iterations, which words.pl checks.
# One SEND of rxe that was flushed where CPUs take turns counts as done (figures_are).
counts() {
	trace_perl 'my %n;
		for my $e (grep { $_->{run} == $ARGV[1] } events($ARGV[0])) {
			next if $e->{ev} =~ /^(addr|cm_event|cq_event|async_event|wait|state|conn|iter_(phases|stages|memory|split))$/;
			$n{$e->{ev} . ($e->{kind} ? ":$e->{kind}" : "")}++;
		}
		$n{"wc:SEND"}++, delete $n{"wc_flush:SEND"} if $ARGV[2] eq "1 rxe" && ($n{"wc_flush:SEND"} // 0) == 1;
		print map { "$_=$n{$_} " } sort keys %n' "$T/trace" "$1" "$TURNS $PROVIDER"
}
