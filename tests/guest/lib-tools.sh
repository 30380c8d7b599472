# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
#
# Helpers for tests of tools and events; sourced after lib.sh. They run tools in the background, read their JSON, and
# record with ftrace at the same time.

# tool NAME ARGUMENT...: runs the tool in the background, with the words of ON in front of the command.
ON=()
tool() { background "$1" "${ON[@]}" "$@"; }

# idle NAME...: the tools have loaded and attached all their programs, and use no more CPU time; attached waits for
# that.
idle() {
	local name stat used=$USED
	[ "$(cat /sys/module/rdma_krping/refcnt)" -gt 0 ] || return 1
	USED=0
	for name; do
		read -ra stat <"/proc/${PIDS[$name]}/stat" || continue
		[ "${stat[13]}" -gt 0 ] || return 1
		USED=$((USED + stat[13] + stat[14]))
	done 2>/dev/null
	[ $((USED - used)) -le 1 ] || { nap 0.5 && return 1; }
}
attached() {
	USED=-9
	until_ok 30 idle "$@" || diag "not attached: $(for name; do cat "$T/$name.err"; done)"
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

# observe NAME...: asks krping_iter for what these names say, until observe_end.
observe() {
	(
		exec 3>/proc/krping_observe
		echo "$*" >&3
		exec sleep infinity
	) &
	OBSERVER=$!
	until_ok 10 observed "$@" || diag "nobody asks for $*"
}
observed() {
	local name
	for name; do grep -q "^$name [1-9]" /proc/krping_observe || return 1; done
}

observe_end() {
	kill -KILL "$OBSERVER"
	wait "$OBSERVER" 2>/dev/null
}

# trace_lost: prints what ftrace's buffers did not take: "0 " if nothing is missing.
trace_lost() {
	cat $TRACING/per_cpu/cpu*/stats | sed -n 's/^\(overrun\|dropped events\|commit overrun\): //p' | sort -u | tr '\n' ' '
}

# counts RUN: prints how often each event of the run fired in $T/trace. Left out are those that depend on the provider or on sleeping,
# and the records of an iteration that follow its first: how many it needs depends on how often its thread slept.
# Where emulated CPUs take turns, a peer on rxe may have left before it acknowledges the last message: see ping.t. One SEND that was
# flushed then counts as done.
counts() {
	sed -nE "s/.*: krping_(\w+): run=$1 (.*)/\1 \2/p" "$T/trace" | awk -v turns="$TURNS $PROVIDER" '
		$1 ~ /^(addr|cm_event|cq_event|async_event|wait|state|conn)$/ || /flags=[a-z|]*more/ { next }
		{ kind = match($0, /kind=[A-Z_]+/) ? ":" substr($0, RSTART + 5, RLENGTH - 5) : ""; n[$1 kind]++ }
		END {
			if (turns == "1 rxe" && n["wc_flush:SEND"] == 1) { delete n["wc_flush:SEND"]; n["wc:SEND"]++ }
			for (e in n) if (n[e]) printf "%s=%d\n", e, n[e]
		}' | LC_ALL=C sort | tr '\n' ' '
}
