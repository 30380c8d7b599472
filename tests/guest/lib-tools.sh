# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
#
# For tests of tools and events, behind lib.sh: tools in the background, their JSON, and ftrace beside them.

# tool NAME ARGUMENT...: in the background, behind the words of ON.
ON=()
tool() { background "$1" "${ON[@]}" "$@"; }

# attached NAME...: they have loaded and attached all they have, and idle.
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

# load NAME FILTER: Q[key] for each key of the object that FILTER makes of the last one in a tool's output. One
# jq for all, since starting it takes longer than what it does.
declare -A Q=()
load() {
	local key value
	Q=()
	while IFS=$'\t' read -r key value; do Q[$key]=$value; done < <(
		jq -r -s ".[-1] | $2 | to_entries[] | [.key, (.value | tostring)] | join(\"\t\")" "$T/$1.out" 2>&1
	)
}

# trace_on EVENT...: ftrace records these; "." is all.
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

# What its buffers did not take: "0 " if nothing is missing.
trace_lost() {
	cat $TRACING/per_cpu/cpu*/stats | sed -n 's/^\(overrun\|dropped events\|commit overrun\): //p' | sort -u | tr '\n' ' '
}
