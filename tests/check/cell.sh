#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Runs one cell: boots a VM, runs a suite's tests in it, and lets the gate judge the kernel's log.
#
#   cell.sh FOLDER KERNEL PROVIDER SUITE [TEST.t]...
#
# With TEST.t it runs only these tests; "observers" and "faults-planted" stand for that part of a suite. FOLDER keeps console.log,
# dmesg.log, run.log, a .tap of each test, and the files of result.pl. prepare.sh must have run before. From the environment:
# OUT, the build folder; MUTANT, a planted fault that the module has and that a test has to find; ONE_PROVIDER, set if only one
# provider is tested; KRPING_ROUNDS (many, few or least) instead of the suite's own; KRPING_SEED, the seed of what pairs.t and draw.t
# draw; KRPING_SOAK, seconds for which draw.t goes on drawing.
#
# A guest whose kernel died, and whose log has only reports of the provider or of the environment, is booted once more: a machine
# may be so slow that a watchdog barks. The second death counts.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=tests/check/collect.sh
. tests/check/collect.sh

folder=$1 kernel=$2 provider=$3 suite=$4
shift 4
tests=("$@")
label="$kernel $provider $suite"
RUNNING='' SILENT='' peer='' wire='' died=''
export KERNEL=$kernel MUTANT=${MUTANT:-}

# The name of a test that ran with another folder's tools, or under observation, has an @. A name that is not a test's
# stands for the whole cell.
again() {
	local name=${1%@*}
	[[ $name == *.t ]] || name=${tests[*]}
	if [ -n "$name" ]; then
		echo "make check TEST='$name' KERNEL=$kernel PROVIDER=$provider${MUTANT:+ MUTANT=$MUTANT}"
	else
		echo "make check CELL=$kernel:$suite:$provider"
	fi
}

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
rounds=${KRPING_ROUNDS:-$rounds}

# --- what the VM is handed ---
# The guest's shell runs in another folder, so it needs an absolute path.
OUT=$(cd "$OUT" && pwd)
vm=(--module "$OUT/vm-$kernel/module/rdma_krping.ko")
guest=(--suite "$suite" --rounds "$rounds" --mutants "$OUT/vm-$kernel/mutants")
[ -z "$MUTANT" ] || guest+=(--only-mutant "$MUTANT")
[ -z "${KRPING_SEED:-}" ] || guest+=(--seed "$KRPING_SEED")
[ -z "${KRPING_SOAK:-}" ] || guest+=(--soak "$KRPING_SOAK")

# The same binary of a tool runs on every kernel: if the kernel's distribution is not the host's, the tools that were built in
# either of them are tried. In the suite check each build gets one of the providers; in other suites tools.t runs with both.
tools=$OUT/tools
if [ "$KROOT" != / ]; then
	if [ "$suite" != check ] || [ -n "${ONE_PROVIDER:-}" ]; then
		tools=$OUT/tools-$KDIST
		[ ${#tests[@]} -gt 0 ] || ! tests/select.sh tests "$suite" "$provider" | grep -q '^tools\.t' || guest+=(--also "$OUT/tools:tools.t")
	elif [ "$provider" != rxe ]; then
		tools=$OUT/tools-$KDIST
	fi
fi
vm+=(--tools "$tools")
[[ $options != *plant* ]] || vm+=(--plant "$OUT/vm-$kernel/plant/krping_plant.ko")
[[ $options != *one-cpu* ]] || vm+=(--cpus 1)
if [[ $options == *together* ]] && [ "$(tests/vm/run.sh --accel)" != kvm ]; then
	export KRPING_ACCEL=mttcg
fi

# Limits of time find hangs, and nothing else, so they have room: an emulated guest may share its CPU with another one, on a
# machine that is slow.
if [ "$(tests/vm/run.sh --accel)" = kvm ]; then slower=2; else slower=5; fi
export KRPING_SLOWER=$slower
# The guest is ended earlier if it is silent; the whole boot has a limit only in case that this script is no more.
limit=$((6 * 3600 + ${KRPING_SOAK:-0})) BOOT_PATIENCE=$((120 * slower * (KSLOW > 1 ? 2 : 1)))

# The VM at the wire's other end. Each of the two VMs gets one of the two CPUs. The socket's path has to be short.
start_peer() {
	wire=$(mktemp -d)/wire
	mkdir -p "$folder/peer"
	tests/vm/run.sh --provider "$provider" --out "$folder/peer" --timeout $limit "${vm[@]}" --cpus 1 --wire "listen:$wire" \
		-- tests/guest/agent.pl 10.9.0.1 >"$folder/peer/run.log" 2>&1 </dev/null &
	peer=$!
	for _ in $(seq $((100 * slower))); do
		[ ! -S "$wire" ] || return 0
		sleep 0.1
	done
	say_result "$folder" "$label" the-other-end 10 'not ok' "it does not start: $(tail -1 "$folder/peer/run.log")"
	exit 1
}

# boot: runs the tests in a VM; sets died to what ended the guest before it had run them all, or to nothing.
boot() {
	local rc=0 last pipe guest_vm begin=$SECONDS
	rm -rf "$folder"
	mkdir -p "$folder"
	: >"$folder/ended"
	: >"$folder/results"
	[[ $options != *pair* ]] || start_peer
	pipe=$folder/pipe
	mkfifo "$pipe"
	tests/vm/run.sh --provider "$provider" --out "$folder" --timeout $limit "${vm[@]}" ${wire:+--cpus 1 --wire "connect:$wire"} \
		-- tests/guest/run-all.sh "${guest[@]}" "${tests[@]}" >"$pipe" 2>"$folder/run.log" </dev/null &
	guest_vm=$!
	collect "$folder" "$label" <"$pipe"
	[ -z "$SILENT" ] || kill $guest_vm 2>/dev/null || true
	rm -f "$pipe"
	wait $guest_vm || rc=$?
	last=$(tail -1 "$folder/run.log")
	case $rc in
	0 | 1) died='' ;;
	70) died="DEAD KERNEL: $last" ;;
	71) died="NO BOOT: $last" ;;
	*) died="run.sh ended with status $rc: $last" ;;
	esac
	[ -z "$SILENT" ] || died="HANG: the guest said nothing for $SILENT s"
	took=$((SECONDS - begin))
}

# judge_log FOLDER NAME: the gate judges the kernel's log of a boot; the result is that of a test NAME. A report that is only of the
# provider, or of the environment, is no failure; the last line names it, and counts those of known bugs of others.
judge_log() {
	local verdict=0 known
	tests/vm/gate/judge.pl "$(log_of "$1")" >"$folder/$2.gate" 2>&1 || verdict=$?
	known=$(grep -c '^known ' "$folder/$2.gate" || :)
	[ "$known" = 0 ] || echo "$label: reports of known bugs of others: $known" >>"$folder/notes"
	case $verdict in
	0) say_result "$folder" "$label" "$2" 0 ok "the kernel log is clean" ;;
	3)
		sed -n "s/^\(provider\|environment\) /$label: report of the \1: /p" "$folder/$2.gate" | cut -c1-300 | head -4 >>"$folder/notes"
		say_result "$folder" "$label" "$2" 0 ok "the kernel log has no report of ours"
		;;
	*)
		{
			echo "not ok 1 - the kernel log is clean"
			sed 's/^#* */# /' "$folder/$2.gate"
			echo 1..1
		} >"$folder/$2.tap"
		result "$folder" "$label" "$2" 0 1
		;;
	esac
	return $verdict
}

# log_of FOLDER: the log of a boot. A guest that died has left only its console's.
log_of() { [ -s "$1/dmesg.log" ] && echo "$1/dmesg.log" || echo "$1/console.log"; }

for try in 1 2; do
	boot
	log_verdict=0
	[ -z "$died" ] || tests/vm/gate/judge.pl "$(log_of "$folder")" >/dev/null 2>&1 || log_verdict=$?
	[ $try = 1 ] && [ $log_verdict -eq 3 ] || break
	rm -rf "$folder.first"
	cp -r "$folder" "$folder.first"
	echo "$label: the guest died, and not of krping; it is booted once more (${folder#"$top"/}.first)"
done
[ $try = 1 ] || echo "$label: the first guest died, and not of krping: ${folder#"$top"/}.first" >>"$folder/notes"
[ -z "$KINSTEAD" ] || echo "$label: on $KINSTEAD" >>"$folder/notes"

if [ -n "$died" ]; then
	# Append this to the output of the test that was running.
	[ -n "$RUNNING" ] || { RUNNING=boot && : >"$folder/boot.tap"; }
	printf 'not ok - %s\n' "$died" >>"$folder/$RUNNING.tap"
	result "$folder" "$label" "$RUNNING" "$took" 70
fi
judge_log "$folder" kernel-log || :

if [ -n "$peer" ]; then
	# The other VM was told to end.
	for _ in $(seq $((100 * slower))); do
		kill -0 "$peer" 2>/dev/null || break
		sleep 0.1
	done
	rc=0
	kill "$peer" 2>/dev/null || true
	wait "$peer" || rc=$?
	say_result "$folder" "$label" the-other-end 0 "$([ $rc -eq 0 ] || echo 'not ')ok" "the other VM ended as told: $rc"
	judge_log "$folder/peer" its-kernel-log || :
fi

# A test that is in the table but was not run must not look like success.
if [ ${#tests[@]} -eq 0 ]; then
	{
		tests/select.sh tests "$suite" "$provider"
		[[ $options != *observed* ]] || tests/select.sh tests observed "$provider" | sed 's/[[:space:]]/@observers&/'
	} | while read -r file _; do
		grep -q "^$file " "$folder/ended" || [ "$file" = "$RUNNING" ] ||
			say_result "$folder" "$label" "$file" 0 'not ok' "$file was not run"
	done
fi
no_red "$folder"
