#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make bench: measures what a ping costs, what observing costs, what events cost when nobody observes them, and how krping
# compares with other programs; see docs/bench.md and tests/bench/. No part of make check. From the environment: OUT, KERNEL,
# PROVIDER (only one), TABLES (some of: ping observers perftest rping runs), PAIRS (15), PINGS of a run, OBSERVERS (a list), ROUNDS of the
# tables ping and runs (7), ITERATIONS of a run of the tables perftest and rping.
# Without KVM, an emulated CPU takes a nanosecond for each instruction: a time is then the number of instructions of both ends
# and of the observer on one CPU, and other load of the machine does not change it. KRPING_ACCEL=mttcg uses the machine's clock.
# All samples are kept below $OUT/bench/. Exit 2 if a bound is broken or could not be decided.

set -euo pipefail
cd "$(dirname "$0")/../.."
export KERNEL=${KERNEL:-6.1}
OUT=${OUT:-$PWD/build}
PAIRS=${PAIRS:-15}
read -ra providers <<<"${PROVIDER:-rxe siw}"
read -ra observers <<<"${OBSERVERS:-}"
dir=$OUT/bench
mkdir -p "$dir" build/guest
for f in krwrite many; do ${CC:-cc} -O1 -Wall -Wextra -Werror -o build/guest/$f tests/guest/$f.c; done
module=$OUT/vm-$KERNEL/module/rdma_krping.ko
bare=$OUT/vm-$KERNEL/notrace/module/rdma_krping.ko

# boot NAME PROVIDER OPTION... -- COMMAND...: writes the samples to NAME.samples, and then shows its comment lines.
boot() {
	local name=$1 provider=$2 rc=0
	shift 2
	echo "== $name: in a VM, $PAIRS pairs; its samples are in ${dir#"$PWD"/}/$name.samples"
	tests/vm/run.sh --provider "$provider" --module "$module" --out "$dir/$name" "$@" >"$dir/$name.samples" </dev/null || rc=$?
	[ $rc -eq 0 ] || { tail -n 5 "$dir/$name.samples" "$dir/$name/console.log"; exit 1; }
	grep '^#' "$dir/$name.samples" || :
}

# compared TABLE PROVIDER ACCEL CPUS UNIT COMMAND...: a table of ratios; its samples, and a file for programs, with them.
compared() {
	local table=$1 p=$2 accel=$3 cpus=$4 unit=$5 name=$2-$1-$5
	shift 5
	KRPING_ACCEL=$accel boot "$name" "$p" --cpus "$cpus" --append "$([ "$accel" != mttcg ] || echo idle=poll)" --timeout 6000 -- "$@"
	echo "$unit, by $accel; the file for programs is ${dir#"$PWD"/}/$name.jsonl"
	tests/bench/ratios.pl "$table" "$p" "$unit" "$dir/$name.jsonl" <"$dir/$name.samples" || rc=2
}

accel=${KRPING_ACCEL:-$(tests/vm/run.sh --accel)}
cpus=2
if [ "$accel" = tcg ]; then
	accel=icount
	cpus=1
fi
# A run takes some tenths of a second: in a shorter run, a tool that reads or prints at intervals would do so too often, or never.
PINGS=${PINGS:-$([ "$accel" = icount ] && echo 2000 || echo 1500)}
rc=0
TABLES=${TABLES:-ping observers}
for t in $TABLES; do [[ $t == @(ping|observers|perftest|rping|runs) ]] || { echo "bench.sh: there is no table $t"; exit 1; }; done
ROUNDS=${ROUNDS:-7}
# The table ping: instructions where one CPU counts them, and times on two CPUs at once.
for p in "${providers[@]}"; do
	[[ " $TABLES " == *" ping "* ]] || break
	rows=(thread softirq workqueue thread-chain softirq-chain workqueue-chain)
	KRPING_ACCEL=icount boot "$p-ping-instructions" "$p" --cpus 1 --timeout 1800 -- tests/bench/ping.sh 1 2000 "${rows[@]}"
	tests/bench/ping.pl "$p" instructions <"$dir/$p-ping-instructions.samples" || rc=2
	# To wake an emulated CPU that has halted takes the host some 100 us, which would be half of each time: they do not halt.
	[ "$accel" = kvm ] && smp=kvm idle='' || smp=mttcg idle=idle=poll
	KRPING_ACCEL=$smp boot "$p-ping-time" "$p" --cpus 2 --append "$idle" --timeout 1800 -- \
		tests/bench/ping.sh "$ROUNDS" 1000 "${rows[@]}" busy rping
	echo "times by $smp on two CPUs${idle:+ ($idle)}"
	tests/bench/ping.pl "$p" ns <"$dir/$p-ping-time.samples" || rc=2
done
for p in "${providers[@]}"; do
	[[ " $TABLES " == *" observers "* ]] || break
	KRPING_ACCEL=$accel boot "$p" "$p" --cpus $cpus --timeout 3000 -- tests/bench/overhead.sh "$PAIRS" "$PINGS" "${observers[@]}"
	tests/bench/overhead.pl "$p" <"$dir/$p.samples" || rc=2
	# On two CPUs a tool reads beside the pings, and not instead of them.
	if [ "$cpus" = 1 ]; then
		KRPING_ACCEL=mttcg boot "$p-two-cpus" "$p" --cpus 2 --append idle=poll --timeout 3000 -- \
			tests/bench/overhead.sh --pairs "$PAIRS" "$PINGS" "${observers[@]}"
		echo "times by mttcg on two CPUs (idle=poll)"
		tests/bench/overhead.pl "$p" <"$dir/$p-two-cpus.samples" || rc=2
	fi
	# This comparison counts instructions in any case.
	KRPING_ACCEL=icount boot "$p-instructions" "$p" --cpus 1 --timeout 900 -- tests/bench/instructions.sh "$PAIRS" 3000 "$bare"
	tests/bench/overhead.pl "$p" <"$dir/$p-instructions.samples" || rc=2
done
[ "$accel" = kvm ] && smp=kvm || smp=mttcg
for p in "${providers[@]}"; do
	[[ " $TABLES " == *" rping "* ]] || continue
	# User-space rping is timed by the shell: where the clock jumps while all wait for a file, its start takes longer than its pings.
	[ "$p" = rxe ] || compared rping "$p" icount 1 instructions tests/bench/rping.sh "$(((PAIRS + 4) / 5))" "${ITERATIONS:-2000}"
	compared rping "$p" $smp 2 ns tests/bench/rping.sh "$PAIRS" "${ITERATIONS:-2000}"
done
# Many runs at once, on two CPUs; where the guest is emulated instructions are counted, on one CPU. With the machine's clock (mttcg)
# 256 runs were seen to make 0.72 of the pings of 64, while a ping took the same number of instructions: the rest is the emulator's.
for p in "${providers[@]}"; do
	[[ " $TABLES " == *" runs "* ]] || continue
	if [ "$accel" = kvm ] || [ "$accel" = mttcg ]; then
		KRPING_ACCEL=$accel boot "$p-runs" "$p" --cpus 2 --timeout 3000 -- tests/bench/runs.sh "${ROUNDS:-7}" 2 1 4 16 64 256
		unit=ns
	else
		KRPING_ACCEL=icount boot "$p-runs" "$p" --cpus 1 --timeout 3000 -- tests/bench/runs.sh "${ROUNDS:-2}" 0.3 1 4 16 64 256
		unit=instructions
	fi
	tests/bench/runs.pl "$p" "$unit" "$dir/$p-runs.jsonl" <"$dir/$p-runs.samples" || rc=2
done
# perftest needs soft-RoCE here. On one CPU the two ends of wlat, which both look at their memory, would take turns of a timer's
# tick: such a time says nothing, so instructions are counted where one end alone is at work.
for p in "${providers[@]}"; do
	[[ " $TABLES " == *" perftest "* && $p = rxe ]] || continue
	# Work of the kernel in between, as an RCU callback's, is 7 % of 1000 READs: so at least three pairs.
	compared perftest "$p" icount 1 instructions tests/bench/perftest.sh "$((PAIRS < 15 ? 3 : (PAIRS + 4) / 5))" "${ITERATIONS:-1000}" rlat bw rlat-events
	compared perftest "$p" "$smp" 2 ns tests/bench/perftest.sh "$PAIRS" "${ITERATIONS:-5000}" wlat rlat bw rlat-events
done
exit $rc
