#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Runs one cell: boots a VM, runs a suite's tests in it, and lets the gate judge the kernel's log.
#
#   cell.sh FOLDER KERNEL PROVIDER SUITE [TEST.t [MUTANT]]
#
# With TEST.t it runs only that test; with MUTANT the module has that planted fault, which the test has to find. FOLDER keeps
# console.log, dmesg.log, run.log, a .tap of each test, and the files of collect.sh. prepare.sh must have run before.
# From the environment: OUT, the build folder; LIMIT, seconds of a boot on a kernel that is not slow (2700); SLOTS, how many
# VMs run at a time; ONE_PROVIDER, set if only one provider is tested; KRPING_ROUNDS (many or few) instead of the suite's own;
# KRPING_SEED, the seed of what pairs.t and draw.t draw; KRPING_SOAK, seconds for which draw.t goes on drawing.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=tests/check/collect.sh
. tests/check/collect.sh

folder=$1 kernel=$2 provider=$3 suite=$4 test=${5:-} mutant=${6:-}
label="$kernel $provider $suite"
LIMIT=${LIMIT:-2700}
RUNNING='' begin=$SECONDS peer='' wire=''
export KERNEL=$kernel
mkdir -p "$folder"
: >"$folder/ended"

# The name of a test that ran with another folder's tools, or under observation, has an @. A name that is not a test's
# stands for the whole cell.
again() {
	local name=${1%@*}
	if [ -n "$test" ] || [[ $name != *.t ]]; then name=$test; fi
	if [ -n "$name" ]; then
		echo "make check TEST=$name KERNEL=$kernel PROVIDER=$provider${mutant:+ MUTANT=$mutant}"
	else
		echo "OUT=build tests/check/cell.sh build/again $kernel $provider $suite"
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

# The kernel's properties: KDIST, KROOT, KSLOW.
# shellcheck source=/dev/null
. "$OUT/vm-$kernel/kernel.env"
read -r _ _ rounds options <<<"$(tests/select.sh suite "$suite")"
rounds=${KRPING_ROUNDS:-$rounds}
[[ $options != *long* ]] || LIMIT=$((LIMIT * 3))

# --- what the VM is handed ---
# The guest's shell runs in another folder, so it needs an absolute path.
OUT=$(cd "$OUT" && pwd)
vm=(--module "$OUT/vm-$kernel/module/rdma_krping.ko")
guest=(--suite "$suite" --rounds "$rounds" --mutants "$OUT/vm-$kernel/mutants")
[ -z "$mutant" ] || guest+=(--only-mutant "$mutant")
[ -z "${KRPING_SEED:-}" ] || guest+=(--seed "$KRPING_SEED")
if [ -n "${KRPING_SOAK:-}" ]; then
	guest+=(--soak "$KRPING_SOAK")
	LIMIT=$((LIMIT + KRPING_SOAK))
fi

# The same binary of a tool runs on every kernel: if the kernel's distribution is not the host's, the tools that were built in
# either of them are tried. In the quick suite each build gets one of the providers; in other suites tools.t runs with both.
tools=$OUT/tools
if [ "$KROOT" != / ]; then
	if [ "$suite" != quick ] || [ -n "${ONE_PROVIDER:-}" ]; then
		tools=$OUT/tools-$KDIST
		[ -n "$test" ] || ! tests/select.sh tests "$suite" "$provider" | grep -q '^tools\.t' || guest+=(--also "$OUT/tools:tools.t")
	elif [ "$provider" != rxe ]; then
		tools=$OUT/tools-$KDIST
	fi
fi
vm+=(--tools "$tools")
[[ $options != *stock* ]] || vm+=(--siw "$(tests/vm/siw.sh "$kernel" stock)")
[[ $options != *plant* ]] || vm+=(--plant "$OUT/vm-$kernel/plant/krping_plant.ko")
if [[ $options == *together* ]] && [ "$(tests/vm/run.sh --accel)" != kvm ]; then
	export KRPING_ACCEL=mttcg
fi

# The VM at the wire's other end. Each of the two VMs gets one of the two CPUs. The socket's path has to be short.
if [[ $options == *pair* ]]; then
	wire=$(mktemp -d)/wire
	mkdir -p "$folder/peer"
	vm+=(--cpus 1)
	tests/vm/run.sh --provider "$provider" --out "$folder/peer" --timeout "$LIMIT" "${vm[@]}" --wire "listen:$wire" \
		-- tests/guest/agent.pl 10.9.0.1 >"$folder/peer/run.log" 2>&1 </dev/null &
	peer=$!
	vm+=(--wire "connect:$wire")
	for _ in $(seq 100); do
		[ ! -S "$wire" ] || break
		sleep 0.1
	done
	[ -S "$wire" ] || {
		say_result "$folder" "$label" the-other-end 10 'not ok' "it does not start: $(tail -1 "$folder/peer/run.log")"
		exit 1
	}
fi

# --- the boot ---
rc=0
mkfifo "$folder/pipe"
KRPING_SLOWER=${SLOTS:-1} tests/vm/run.sh --provider "$provider" --out "$folder" --timeout $((LIMIT * (KSLOW > 1 ? 3 : 1))) \
	"${vm[@]}" -- tests/guest/run-all.sh "${guest[@]}" ${test:+"$test"} >"$folder/pipe" 2>"$folder/run.log" </dev/null &
guest_vm=$!
collect "$folder" "$label" <"$folder/pipe"
rm -f "$folder/pipe"
wait $guest_vm || rc=$?

# --- what the boot itself has to say ---
took=$((SECONDS - begin))
last=$(tail -1 "$folder/run.log")
case $rc in
0 | 1) died='' ;;
124) died="HANG: the guest was ended after $took s" ;;
70) died="DEAD KERNEL: $last" ;;
71) died="NO BOOT: $last" ;;
*) died="run.sh ended with status $rc: $last" ;;
esac
if [ -n "$died" ]; then
	# Append this to the output of the test that was running.
	[ -n "$RUNNING" ] || { RUNNING=boot && : >"$folder/boot.tap"; }
	printf 'not ok - %s\n' "$died" >>"$folder/$RUNNING.tap"
	result "$folder" "$label" "$RUNNING" "$took" 70
fi

# judge_log LOG NAME: the gate judges LOG; the result is that of a test NAME.
judge_log() {
	local log=$1 first
	# A guest that died has left only its console's log.
	[ -s "$log" ] || log=${log%/*}/console.log
	if tests/vm/gate/check.sh "$log" >"$folder/$2.gate" 2>&1; then
		say_result "$folder" "$label" "$2" 0 ok "the kernel log is clean"
	else
		{
			echo "not ok 1 - the kernel log is clean"
			sed 's/^/# /' "$folder/$2.gate"
			# The first report in whole, with the mark of the test before it: a machine of a CI may keep no log.
			first=$(sed -n '1s/^\([0-9]*\):.*/\1/p' "$folder/$2.gate")
			grep -n 'krping-test: test ' "$log" | awk -F: -v first="${first:-0}" '$1 < first { mark = $0 } END { print "# " mark }'
			[ -z "$first" ] || sed -n "$first,$((first + 60))s/^/# /p" "$log"
			echo 1..1
		} >"$folder/$2.tap"
		result "$folder" "$label" "$2" 0 1
	fi
}
judge_log "$folder/dmesg.log" kernel-log

if [ -n "$peer" ]; then
	# The other VM was told to end: give it time for that.
	for _ in $(seq 100); do
		kill -0 "$peer" 2>/dev/null || break
		sleep 0.1
	done
	rc=0
	kill "$peer" 2>/dev/null || true
	wait "$peer" || rc=$?
	say_result "$folder" "$label" the-other-end 0 "$([ $rc -eq 0 ] || echo 'not ')ok" "the other VM ended as told: $rc"
	judge_log "$folder/peer/dmesg.log" its-kernel-log
fi

# A test that is in the table but was not run must not look like success.
if [ -z "$test" ]; then
	{
		tests/select.sh tests "$suite" "$provider"
		[[ $options != *observed* ]] || tests/select.sh tests observed "$provider" | sed 's/[[:space:]]/@observers&/'
	} | while read -r file _; do
		grep -q "^$file " "$folder/ended" || [ "$file" = "$RUNNING" ] ||
			say_result "$folder" "$label" "$file" 0 'not ok' "$file was not run"
	done
fi
! grep -q '|[1-9][0-9]*|[0-9]*|[0-9]*$' "$folder/results"
