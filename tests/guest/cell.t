#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Checks what is under test here: a table of results says nothing if it is from the wrong kernel, a stale module or a
# debug kernel without its alarms. The lines that begin with "# cell:" go into the report.

. "$(dirname "$0")/lib.sh"
config=$here/../vm/config/${KRPING_KERNEL:-none}.config

diag "cell: $(uname -r) $(uname -v)"
diag "cell: CPUs: $(nproc), clock source $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)," \
	"module srcversion $(cat /sys/module/rdma_krping/srcversion), root $(cat /etc/debian_version)"

is "$(uname -r)" "${KRPING_KREL:?}" "the kernel that was asked for"
[[ ${KRPING_KNAME:-} != *-rt ]] || like "$(uname -v)" PREEMPT_RT "it is a PREEMPT_RT kernel"
read -r _ _ _ options <<<"$("$here/../select.sh" suite "${KRPING_SUITE:?}")"
if [[ $options == *one-cpu* ]]; then
	is "$(nproc)" 1 "one CPU"
else
	ok "two CPUs or more" test "$(nproc)" -ge 2
fi
is "$(cat /sys/module/rdma_krping/srcversion)" "$(modinfo -F srcversion "$KRPING_MODULE")" "the module that was built"
ok "the device is $PROVIDER's" test -e "/sys/class/infiniband/${PROVIDER}0"
# The providers have no version: the linker makes the build ID of a module's contents.
build_id=$(od -An -v -tx1 "/sys/module/${PROVIDER/#rxe/rdma_rxe}/notes/.note.gnu.build-id" | tr -d ' \n')
is "${build_id: -40}" "$(readelf -n "$KRPING_PROVIDER_KO" | sed -n 's/.*Build ID: //p')" "the $PROVIDER that was asked for"
ok "the module has BTF" test -e /sys/kernel/btf/rdma_krping
ok "the tools are $KRPING_TOOLS's" test "$(command -v krping-top)" = "$KRPING_TOOLS/krping-top"

# An option that kconfig dropped, or an alarm that has turned itself off, finds nothing.
if [ -e "$config" ]; then
	want=$(grep -E '^CONFIG_[A-Z0-9_]+=[^n]' "$config")
	missing=$(zcat /proc/config.gz | grep -E '^CONFIG_' | sort | comm -13 - <(sort <<<"$want"))
	is "$missing" '' "every option of ${config##*/} is in force"
	on=$(sed -n 's/^CONFIG_\(KASAN\|UBSAN\|PROVE_LOCKING\|DEBUG_ATOMIC_SLEEP\|DEBUG_KMEMLEAK\|DEBUG_OBJECTS\|DEBUG_VIRTUAL\|DEBUG_SG\|PREEMPT\|FAULT_INJECTION\|KCSAN\)=y$/\1/p' <<<"$want")
	diag "cell: ${on//$'\n'/ }"
	[ ! -e /proc/lockdep ] || is "$(sed -n 's/^ *debug_locks: *//p' /proc/lockdep_stats)" 1 "lockdep watches"
	[[ $on != *KMEMLEAK* ]] || ok "kmemleak watches" test -w /sys/kernel/debug/kmemleak
	[[ $on != *FAULT* ]] || ok "failures can be injected" test -d /sys/kernel/debug/failslab -a -d /sys/kernel/debug/fail_function
else
	diag "cell: no debug options: a distribution's kernel"
fi
done_testing
