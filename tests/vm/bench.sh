#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make bench: measures what a ping costs, what observing costs, what events cost when nobody observes them, and how krping
# compares with other programs; see docs/bench.md and tests/bench/. No part of make check. From the environment: OUT, KERNEL,
# PROVIDER (only one), TABLES (some of: ping observers perftest rping runs block older), PAIRS (15), PINGS of a run, OBSERVERS (a list), ROUNDS
# of the tables ping and runs (7), ITERATIONS of a run of the tables perftest and rping.
# Without KVM, an emulated CPU takes a nanosecond for each instruction: a time is then the number of instructions of both ends
# and of the observer on one CPU, and other load of the machine does not change it. KRPING_ACCEL=mttcg uses the machine's clock.
# All samples are kept below $OUT/bench/. Exit 2 if a bound is broken or could not be decided.

set -euo pipefail
cd "$(dirname "$0")/../.."
export KERNEL=${KERNEL:-6.1}
OUT=${OUT:-$PWD/build}
PAIRS=${PAIRS:-15}
TABLES=${TABLES:-ping observers}
ROUNDS=${ROUNDS:-7}
read -ra providers <<<"${PROVIDER:-rxe siw}"
read -ra observers <<<"${OBSERVERS:-}"
dir=$OUT/bench
mkdir -p "$dir" build/guest
${CC:-cc} -O1 -Wall -Wextra -Werror -o build/guest/krwrite tests/guest/krwrite.c

# measure TABLE[-LABEL] PROVIDER ACCEL SCRIPT ARGUMENT...: runs the script in a VM, shows its comment lines, and makes the table of
# its samples. There is one CPU where the clock counts instructions, otherwise two, which an emulator does not let halt: to wake one
# takes the host some 100 us, which would be half of each time.
measure() {
	local p=$2 cpus=2 unit=ns idle='' name
	[ "$3" != icount ] || cpus=1 unit=instructions
	[ "$3" != mttcg ] || idle=idle=poll
	name=$p-$1-$unit
	echo "== $name: in a VM, on $cpus CPU(s), by $3${idle:+ ($idle)}; in ${dir#"$PWD"/}, $name.samples, and $name.jsonl for programs"
	KRPING_ACCEL=$3 tests/vm/run.sh --provider "$p" --module "$OUT/vm-$KERNEL/module/rdma_krping.ko" --out "$dir/$name" \
		--cpus $cpus --append "$idle" --timeout 6000 -- "tests/bench/$4.sh" "${@:5}" >"$dir/$name.samples" </dev/null ||
		{ tail -n 5 "$dir/$name.samples" "$dir/$name/console.log"; exit 1; }
	grep '^#' "$dir/$name.samples" || :
	tests/bench/table.pl "${1%%-*}" "$p" $unit "$dir/$name.jsonl" <"$dir/$name.samples" || rc=2
}

accel=${KRPING_ACCEL:-$(tests/vm/run.sh --accel)}
[ "$accel" != tcg ] || accel=icount
# On two CPUs at once, by the machine's clock.
[ "$accel" = kvm ] && two=kvm || two=mttcg
# A run takes some tenths of a second: in a shorter run, a tool that reads or prints at intervals would do so too often, or never.
PINGS=${PINGS:-$([ "$accel" = icount ] && echo 2000 || echo 1500)}
rc=0
for t in $TABLES; do [[ $t == @(ping|observers|perftest|rping|runs|block|older) ]] || { echo "bench.sh: there is no table $t"; exit 1; }; done
for t in $TABLES; do
	for p in "${providers[@]}"; do
		case $t-$p in
		ping-*)
			rows=(thread softirq workqueue thread-chain softirq-chain workqueue-chain)
			measure ping "$p" icount ping 1 2000 "${rows[@]}"
			measure ping "$p" "$two" ping "$ROUNDS" 1000 "${rows[@]}" busy rping
			;;
		observers-*)
			measure observers "$p" "$accel" overhead "$PAIRS" "$PINGS" "${observers[@]}"
			# On two CPUs a tool reads beside the pings, and not instead of them.
			[ "$accel" != icount ] || measure observers "$p" mttcg overhead --pairs "$PAIRS" "$PINGS" "${observers[@]}"
			# A timer tick more in one of the runs is a million instructions, so there are thousands of pings.
			measure observers-notrace "$p" icount overhead --pairs "$PAIRS" 3000 notrace
			;;
		rping-*)
			# User-space rping is timed by the shell: where the clock jumps while all wait for a file, its start takes longer than
			# its pings.
			[ "$p" = rxe ] || measure rping "$p" icount rping "$(((PAIRS + 4) / 5))" "${ITERATIONS:-2000}"
			measure rping "$p" "$two" rping "$PAIRS" "${ITERATIONS:-2000}"
			;;
		runs-*)
			[ "$accel" = icount ] && window=0.3 || window=2
			measure runs "$p" "$accel" runs "$ROUNDS" $window 1 4 16 64 256
			;;
		block-*)
			measure block "$p" icount block "$(((PAIRS + 4) / 5))" 0.5
			measure block "$p" "$two" block "$PAIRS" 1
			;;
		older-*)
			[ -r "${KRPING_OLDER-}" ] || { echo "== $p-older: skipped: KRPING_OLDER= names no rdma_krping.ko of another krping" && continue; }
			measure older "$p" icount older "$(((PAIRS + 4) / 5))" 0.2 "$(realpath "$KRPING_OLDER")"
			;;
		perftest-rxe)
			# perftest needs soft-RoCE here. On one CPU the two ends of wlat, which both look at their memory, would take turns of
			# a timer's tick: such a time says nothing, so instructions are counted where one end alone is at work. Work of the
			# kernel in between, as an RCU callback's, is 7 % of 1000 READs: so at least three pairs.
			measure perftest rxe icount perftest "$((PAIRS < 15 ? 3 : (PAIRS + 4) / 5))" "${ITERATIONS:-1000}" rlat bw rlat-events
			measure perftest rxe "$two" perftest "$PAIRS" "${ITERATIONS:-5000}" wlat rlat bw rlat-events
			;;
		esac
	done
done
exit $rc
