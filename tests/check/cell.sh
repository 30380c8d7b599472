#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Runs one cell: boots a VM, runs a suite's tests in it, and has the kernel's log judged. It says to check.pl what that one hears.
#
#   cell.sh FOLDER KERNEL PROVIDER SUITE [TEST.t]...
#
# With TEST.t it runs only these tests; "observers" and "faults-planted" stand for that part of a suite. FOLDER keeps console.log,
# dmesg.log and run.log. "make vm-all" must have made what the kernel needs. From the environment: OUT, the build folder; MUTANT, a planted
# fault that the module has and that a test has to find; KRPING_ROUNDS (many, few or least) instead of the suite's own; KRPING_SEED, the
# seed of what pairs.t and draw.t draw; KRPING_SOAK, seconds for which draw.t goes on drawing.
#
# Exit status 75: the guest's kernel died, its log has only reports of the provider or of the environment, and it was the first time.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
folder=$1 kernel=$2 provider=$3 suite=$4
shift 4
peer='' wire='' died=''
export KERNEL=$kernel

# shellcheck disable=SC2317 # called by the traps
cleanup() {
	trap '' INT TERM HUP
	local pid
	for pid in $(jobs -p); do kill "$pid" 2>/dev/null || true; done
	wait
	[ -z "$wire" ] || rm -rf "${wire%/*}"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# The kernel's properties: KDIST, KROOT, KSLOW; KINSTEAD, set if the archive has the kernel no more that the suite is made for.
KINSTEAD=''
# shellcheck source=/dev/null
. "$OUT/vm-$kernel/kernel.env"
read -r _ _ rounds options <<<"$(tests/select.sh suite "$suite")"

# --- what the VM is handed ---
# The guest's shell runs in another folder, so it needs an absolute path.
OUT=$(cd "$OUT" && pwd)
guest=(--suite "$suite" --rounds "${KRPING_ROUNDS:-$rounds}" --mutants "$OUT/vm-$kernel/mutants" ${MUTANT:+--only-mutant "$MUTANT"}
	${KRPING_SEED:+--seed "$KRPING_SEED"} ${KRPING_SOAK:+--soak "$KRPING_SOAK"})

# The same binary of a tool runs on every kernel: if the kernel's distribution is not the host's, the tools that were built in
# either of them are tried. In the suite check each build gets one of the providers; in other suites tools.t runs with both.
tools=$OUT/tools
if [ "$KROOT" != / ] && [ "$suite $provider" != 'check rxe' ]; then
	tools=$OUT/tools-$KDIST
	[ $# -gt 0 ] || ! tests/select.sh tests "$suite" "$provider" | grep -q '^tools\.t' || guest+=(--also "$OUT/tools:tools.t")
fi

# Limits of time find hangs, and nothing else, so they have room: an emulated guest may share its CPU with another one, on a
# machine that is slow. The whole boot has a limit only in case that this script is no more.
export KRPING_SLOWER=2
if [ "$(tests/vm/run.sh --accel)" != kvm ]; then
	KRPING_SLOWER=5
	[[ $options != *together* ]] || export KRPING_ACCEL=mttcg
fi
vm=(tests/vm/run.sh --provider "$provider" --timeout $((6 * 3600 + ${KRPING_SOAK:-0})) --tools "$tools"
	--module "$OUT/vm-$kernel/module/rdma_krping.ko")
[[ $options != *plant* ]] || vm+=(--plant "$OUT/vm-$kernel/plant/krping_plant.ko")
[[ $options != *@(one-cpu|pair)* ]] || vm+=(--cpus 1)

# a_while COMMAND...: waits until the command succeeds.
a_while() {
	for _ in $(seq $((100 * KRPING_SLOWER))); do
		! "$@" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

# assertion NAME STATUS WHAT [FILE]: a test of one assertion; if that failed, with the file.
assertion() {
	echo "### begin $1"
	if [ "$2" = 0 ]; then echo "ok 1 - $3"; else echo "not ok 1 - $3" && sed 's/^#* */# /' "${4:-/dev/null}"; fi
	printf '1..1\n### end %s %d 0\n' "$1" $(($2 != 0))
}

# judge_log FOLDER NAME: the kernel's log of a boot. A guest that died has left only its console's. A report that is only of the
# provider, or of the environment, is no failure; the last line names it, and counts those of known bugs of others.
judge_log() {
	local log=$1/dmesg.log verdict=0 known
	[ -s "$log" ] || log=$1/console.log
	tests/vm/gate/judge.pl "$log" >"$folder/$2.gate" 2>&1 || verdict=$?
	known=$(grep -c '^known ' "$folder/$2.gate" || :)
	[ "$known" = 0 ] || echo "### note reports of known bugs of others: $known"
	if [ $verdict = 3 ]; then
		# The guest died of that: see above.
		[ -z "$died" ] || [ -e "$folder.first" ] || exit 75
		sed -n 's/^\(provider\|environment\) /### note report of the \1: /p' "$folder/$2.gate" | cut -c1-300 | head -4 || :
		verdict=0
	fi
	[ -z "$died" ] || echo "### died $died"
	assertion "$2" $verdict "the kernel log has no report of ours" "$folder/$2.gate"
}

[ -z "$KINSTEAD" ] || echo "### instead $KINSTEAD"
echo "### patience $((120 * KRPING_SLOWER * (KSLOW > 1 ? 2 : 1)))"

# The VM at the wire's other end. Each of the two VMs gets one of the two CPUs. The socket's path has to be short.
if [[ $options == *pair* ]]; then
	wire=$(mktemp -d)/wire
	mkdir -p "$folder/peer"
	"${vm[@]}" --out "$folder/peer" --wire "listen:$wire" -- tests/guest/agent.pl 10.9.0.1 >"$folder/peer/run.log" 2>&1 </dev/null &
	peer=$!
	a_while test -S "$wire" || { echo "### died the other VM does not start: $(tail -1 "$folder/peer/run.log")" && exit 1; }
fi

"${vm[@]}" --out "$folder" ${wire:+--wire "connect:$wire"} -- tests/guest/run-all.sh "${guest[@]}" "$@" 2>"$folder/run.log" </dev/null &
guest_vm=$!
trap 'kill $guest_vm || :' USR1
# A signal ends wait, too.
while wait $guest_vm && rc=0 || rc=$?; kill -0 $guest_vm 2>/dev/null; do :; done
case $rc in
0 | 1) ;;
70) died="DEAD KERNEL: " ;;
71) died="NO BOOT: " ;;
*) died="run.sh ended with status $rc: " ;;
esac
died+=${died:+$(tail -1 "$folder/run.log")}
judge_log "$folder" kernel-log

if [ -n "$peer" ]; then
	# The other VM was told to end.
	a_while eval '! kill -0 $peer' || kill "$peer" || :
	rc=0
	wait "$peer" || rc=$?
	died=''
	assertion the-other-end $rc "the other VM ended as told: $rc"
	judge_log "$folder/peer" its-kernel-log
fi
