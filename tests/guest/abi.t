#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A module that does not match the tools. If it has another version of the events, each tool that reads them refuses it,
# with one line that says what to do. If it has no BTF, the tools read its events all the same, through raw tracepoints,
# and nothing is missing.

. "$(dirname "$0")/lib.sh"
tools=(krping-top krping-stages krping-mr krping-trace)

# swap FILE.ko [PARAMETER]...: replaces the loaded module.
swap() {
	loaded=$*
	rmmod rdma_krping && insmod "$@"
}
loaded=$KRPING_MODULE
# The next test needs the module that was built, even if this one ends early.
trap '[ "$loaded" = "$KRPING_MODULE" ] || swap "$KRPING_MODULE"; cleanup' EXIT

# --- another version of the events ---
abi=$(cat /sys/module/rdma_krping/parameters/events_abi)
for other in $((abi + 1)) $((abi - 1)); do
	ok "the module says that its events are of version $other" swap "$KRPING_MODULE" "events_abi=$other"
	for t in "${tools[@]}"; do
		wrong_usage "$t" -t 1
		like "$(cat "$T/err")" "^$t: .* events ABI $other, .* knows $abi: install module and tools of one version" \
			"$t, events_abi=$other: says which versions, and what to do"
	done
done

# --- no BTF ---
cp "$KRPING_MODULE" "$T/bare.ko"
ok "the module's BTF is cut out" objcopy -R .BTF -R .BTF.base "$T/bare.ko"
ok "the module is loaded without" swap "$T/bare.ko"
ok "the kernel has no BTF of it" test ! -e /sys/kernel/btf/rdma_krping
watch "${tools[@]}"
good_pair "without BTF" 23 ",count=23"
declare -A counts=(
	[krping-top]='[.runs[].iters_seen]'
	[krping-stages]='[.runs[].iteration.count]'
	[krping-mr]='[.runs[].fastreg]'
)
declare -A want=([krping-top]='[23,23]' [krping-stages]='[23,23]' [krping-mr]='[46,46]' [krping-trace]='[46,46]')
for t in "${tools[@]}"; do
	tool_ok "$t without BTF: ends with 0, nothing on stderr" "$t" INT
	load "$t" "{final, lost, counts: ${counts[$t]-null}}"
	if [ "$t" = krping-trace ]; then
		Q[counts]=$(jq -c -s '[.[] | select(.event == "mr_fastreg") | .role] | group_by(.) | map(length)' "$T/$t.out")
	fi
	is "${Q[final]-} ${Q[lost]-} ${Q[counts]-}" "true 0 ${want[$t]}" \
		"$t without BTF: it has all of both runs"
done

ok "the tools' own module again" swap "$KRPING_MODULE"
done_testing "after other modules"
