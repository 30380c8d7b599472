#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The tests: on the host, and in VMs.
#
#   check.sh PLAN...
#
#   host              unit tests, completion, the gate's own tests, shellcheck, checkpatch, clang-format, warnings, the
#                     module's code with events off; with the sources for $KERNEL
#   KERNEL:SUITE...   a cell for each provider: a boot of that kernel (see kernel.sh) with that suite of
#                     tests/guest/table, and the planted bugs that it has to find; more suites are a boot each
#
# From the environment: OUT, the build folder; KERNEL, for host; PROVIDER, to test on one only; JOBS, VMs at a time (as many
# as there are CPUs for them, four at most: one for an emulated guest, two for another); LIMIT, seconds of a boot on a kernel that is not slow; BUDGET,
# seconds after which no cell is begun.
#
# Below $OUT/check/KERNEL-PROVIDER-SUITE/ are kept of each boot: console.log, dmesg.log, output.log and a .tap for each
# test. The last line is "N passed, N failed", with ", N skipped" where there are such; what is counted are assertions.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
export KERNEL=${KERNEL:-6.1}
OUT=${OUT:-$top/build}
read -ra providers <<<"${PROVIDER:-rxe siw}"
jobs_max=${JOBS:-0}
LIMIT=${LIMIT:-1200}
BUDGET=${BUDGET:-0}
[ $# -gt 0 ] || {
	echo "usage: check.sh host|KERNEL:SUITE..." >&2
	exit 2
}

dir=$OUT/check
rm -rf "$dir"
mkdir -p "$dir"
begin=$SECONDS

# cleanup: every VM ends with us, whatever ends us.
# To all that is prepared ahead, see there.
signal_ahead() { [ ! -s "$dir/ahead.pid" ] || pkill "-$1" --session "$(cat "$dir/ahead.pid")" || true; }

# shellcheck disable=SC2317 # called by the traps
cleanup() {
	trap '' INT TERM HUP
	local f
	for f in "$dir"/*/vm.pid "$dir"/*/peer/vm.pid; do
		[ ! -s "$f" ] || kill -TERM "$(cat "$f")" 2>/dev/null || true
	done
	signal_ahead TERM
	signal_ahead CONT
	wait
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '%s\n' "$*"; }

# --- results: a line "KERNEL PROVIDER SUITE PASSED FAILED SKIPPED SECONDS" a suite, in the folder's file "results" ---

# count TAPFILE: PASSED, FAILED and SKIPPED from it. A skip needs a reason that is in skips.allow.
count() {
	local skips bad
	PASSED=$(grep -c '^ok ' "$1" || true)
	FAILED=$(grep -c '^not ok ' "$1" || true)
	skips=$(grep -iE '^ok .*# *SKIP' "$1" || true)
	SKIPPED=0
	[ -z "$skips" ] || SKIPPED=$(wc -l <<<"$skips")
	PASSED=$((PASSED - SKIPPED))
	[ -n "$skips" ] || return 0
	grep -vE '^(#|$)' tests/skips.allow >"$1.allow" || true
	bad=$(sed 's/.*# *SKIP *//I' <<<"$skips" | grep -cvE -f "$1.allow" || true)
	rm -f "$1.allow"
	SKIPPED=$((SKIPPED - bad))
	FAILED=$((FAILED + bad))
	[ "$bad" = 0 ] || echo "# $bad skipped, for a reason that is not in tests/skips.allow" >>"$1"
}

# result FOLDER CELL SUITE SECONDS TAPFILE: counts, notes, says. CELL is "KERNEL PROVIDER".
result() {
	local folder=$1 cell=$2 suite=$3 seconds=$4 tap=$5
	count "$tap"
	echo "$cell $suite $PASSED $FAILED $SKIPPED $seconds" >>"$folder/results"
	printf '%-7s %-4s %-24s %4d ok, %d not ok%s, %d s\n' ${cell% *} "${cell#* }" "$suite" "$PASSED" "$FAILED" \
		"$([ "$SKIPPED" = 0 ] || echo ", $SKIPPED skipped")" "$seconds"
	sed -n 's/^# cell: /        /p' "$tap"
	[ "$FAILED" = 0 ] || grep -A4 -E '^not ok |skips\.allow$' "$tap" | grep -E '^(not ok|#)' | head -40 | sed "s/^/     /" || true
}

# broken FOLDER CELL SUITE SECONDS WHY: a failure that no test could tell.
broken() {
	echo "not ok - $5" >>"$1/$3.broken.tap"
	result "$1" "$2" "$3" "$4" "$1/$3.broken.tap"
}

# skipped FOLDER CELL SUITE REASON: the whole of it.
skipped() {
	echo "ok 1 # SKIP $4" >"$1/$3.skipped.tap"
	say "$2 $3: skipped: $4"
	result "$1" "$2" "$3" 0 "$1/$3.skipped.tap"
}

# --- host ---

# host SUITE COMMAND...: TAP from a command.
host() {
	local suite=$1 t=$SECONDS tap=$dir/host/$1.tap rc=0
	shift
	"$@" >"$tap" 2>&1 || rc=$?
	# No silent end: the plan must be there, or the command be content.
	if [ $rc -ne 0 ] && ! grep -q '^not ok ' "$tap"; then
		echo "not ok - $suite: ended with status $rc" >>"$tap"
		tail -15 "$tap" | sed 's/^/     /'
	fi
	grep -q '^\(not \)\?ok ' "$tap" || echo "not ok - $suite: no result" >>"$tap"
	result "$dir/host" "$KERNEL host" "$suite" $((SECONDS - t)) "$tap"
}

# each "WHAT" COMMAND... for every line of stdin as its last argument: an assertion each.
each() {
	local what=$1 arg text failed=0
	shift
	while IFS= read -r arg; do
		if text=$("$@" "$arg" 2>&1 </dev/null); then
			echo "ok - $what ${arg#"$top"/}"
		else
			failed=1
			echo "not ok - $what ${arg#"$top"/}"
			printf '%s\n' "$text" | sed 's/^/# /'
		fi
	done
	return $failed
}

unit() {
	local t rc=0
	make --no-print-directory -C tests/unit all >"$dir/host/unit.log" 2>&1 || { sed 's/^/# /' "$dir/host/unit.log"; return 1; }
	for t in "$top"/build/unit/test_*; do
		case $t in *.d | *.o) continue ;; esac
		echo "# ${t##*/}"
		CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 120 "$t" || rc=$?
	done
	return $rc
}

# By their first line; what is sourced has a directive for shellcheck instead, near its head.
scripts() {
	find tests tools .ci -type f -not -name '*.o' -print | while IFS= read -r f; do
		IFS= read -r line <"$f" 2>/dev/null || continue
		if [[ $line == '#!/bin/'*sh* ]] || head -3 "$f" | grep -q '^# shellcheck shell=' 2>/dev/null; then
			printf '%s\n' "$f"
		fi
	done | sort
}

style() {
	local ksrc
	ksrc=$(sed -n 's/^KSRC=//p' "$OUT/vm-$KERNEL/kernel.env")
	find module -name '*.[ch]' -type f | sort |
		each checkpatch perl "$ksrc/scripts/checkpatch.pl" --no-tree --no-summary --terse -q -f
}

# By the version that .clang-format is written for: others differ in details.
format() {
	local bin v
	bin=$(command -v clang-format-14 || echo clang-format)
	v=$("$bin" --version | sed -n 's/.*clang-format version \([0-9]*\).*/\1/p')
	if [ "$v" != 14 ]; then
		echo "ok - clang-format # SKIP the style is that of clang-format 14, here is $v"
		return
	fi
	find bpf module tests tools trace -name '*.[ch]' -type f | sort | each clang-format "$bin" --dry-run -Werror
}

# The same build with W=1 and sparse, apart from the other; MUTANT gives it a folder, and a define that nobody reads.
warnings() {
	local log=$dir/host/warnings.log rc=0 what=(W=1)
	! command -v sparse >/dev/null || what+=(C=2)
	rm -rf "$OUT/vm-$KERNEL/module-mutant-lint"
	make --no-print-directory vm-module MUTANT=lint KBUILD_ARGS="${what[*]}" >"$log" 2>&1 || rc=$?
	if [ $rc -eq 0 ] && ! grep -E '(module|trace)[^ ]*\.[ch]:[0-9]+.*(warning|error)' "$log" | sed 's/^/# /' | grep .; then
		echo "ok - no warning of ${what[*]}"
	else
		[ $rc -eq 0 ] || tail -20 "$log" | sed 's/^/# /'
		echo "not ok - no warning of ${what[*]}"
		return 1
	fi
}

host_tests() {
	mkdir -p "$dir/host"
	host unit unit
	host completion tests/unit/completion.t
	host gate tests/vm/gate/check.sh --self-test
	scripts >"$dir/host/scripts"
	host shellcheck each shellcheck shellcheck -x -S warning -P SCRIPTDIR -e SC2317 <"$dir/host/scripts"
	host checkpatch style
	host clang-format format
	host bpftrace-names tests/unit/bpftrace-names.pl trace/krping_abi.h tools/bpftrace/*.bt
	host warnings warnings
	host hotpath tests/unit/hotpath.pl "$OUT/vm-$KERNEL/module/rdma_krping.ko"
}

# --- guest ---

# Bugs that are planted into the module (module/mutant.h), and who has to find them:
# NAME|TEST|SUITES|PATTERN|DETAIL: the test has a "not ok" with PATTERN, followed by a line with DETAIL; or
# the gate denies a line of the kernel's log with DETAIL, where PATTERN is "log". Full suites have all of theirs, in the others each has one that is quick.
planted='
drop_phase|events.t|full|krping_phase. residual|got 
drop_phase|tools.t|full|krping-stages ends with 0|got. +2
drop_inv|events.t|full|krping_mr_localinv|got 43, wanted 45
drop_inv|events.t|full|krping_mr_reminv|got 44, wanted 46
drop_inv|tools.t|full|krping-mr ends with 0|got. +2
drop_inv|tools.t|full|krping-mr --watch ends with 0|got. +2
drop_inv|tools.t|full|krping-mr --watch has nothing to say|got. run [0-9]+, MR [0-9]+
drop_wc|events.t|full,quick|krping_wc.WRITE|got 22, wanted 23
drop_wc|events.t|full,quick|has its krping_wc|cid 11
drop_quiesce|cq.t|full|no CQ was destroyed|got: +[1-9]
drop_unmap|ping.t|debug|log|WARNING: .*/ledger\.c:
drop_sync|ping.t|debug|log|WARNING: .*/ledger\.c:
'

# table PROVIDER SUITE: the tests that it has for them.
table() {
	awk -v p="$1" -v s="$2" '!/^#/ && NF && ($2 == "all" || index("," $2 ",", "," p ",")) && index("," $3 ",", "," s ",") { print $1 }' \
		tests/guest/table
}

# planted_for PROVIDER SUITE: lines of planted. On one provider: they are about the module's own events.
planted_for() {
	case $1:$2 in
	rxe:full | *:quick | *:debug) ;;
	*) [ "$2" = full ] && [ "${providers[*]}" = "$1" ] || return 0 ;;
	esac
	awk -F'|' -v s="$2" 'NF && index("," $3 ",", "," s ",")' <<<"$planted"
}

# boot FOLDER CELL LIMIT RUN.SH-OPTION... -- COMMAND...: RC becomes run.sh's; a .tap for each test, "FILE STATUS
# SECONDS" in "ended".
boot() {
	local folder=$1 cell=$2 limit=$3 line file='' rc
	shift 3
	mkdir -p "$folder"
	: >"$folder/ended"
	mkfifo "$folder/pipe"
	# Several at a time are each slower.
	KERNEL=${cell% *} KRPING_SLOWER=$jobs_max tests/vm/run.sh --provider "${cell#* }" --out "$folder" --timeout "$limit" "$@" \
		>"$folder/pipe" 2>"$folder/run.log" </dev/null &
	echo $! >"$folder/vm.pid"
	while IFS= read -r line; do
		case $line in
		'### begin '*)
			file=${line#'### begin '}
			: >"$folder/$file.tap"
			;;
		'### end '*)
			echo "${line#'### end '}" >>"$folder/ended"
			test_ended "$folder" "$cell" "${line#'### end '}"
			file=''
			;;
		*) [ -z "$file" ] || printf '%s\n' "$line" >>"$folder/$file.tap" ;;
		esac
	done <"$folder/pipe"
	wait "$(cat "$folder/vm.pid")" && rc=0 || rc=$?
	rm -f "$folder/pipe" "$folder/vm.pid"
	RC=$rc RUNNING=$file
}

# A test has ended. Its status says more than its lines where it was killed, or had no plan.
test_ended() {
	local folder=$1 cell=$2 file rc seconds tap
	read -r file rc seconds <<<"$3"
	# Judged when the boot is over, against what it should have found.
	[[ $file != planted-* ]] || return 0
	tap=$folder/$file.tap
	case $rc in
	0) grep -q '^1\.\.[1-9]' "$tap" || echo "not ok - $file: no plan" >>"$tap" ;;
	1) grep -q '^not ok ' "$tap" || echo "not ok - $file: ended with status 1" >>"$tap" ;;
	98) grep -q '^not ok ' "$tap" || echo "not ok - $file: prove does not accept it" >>"$tap" ;;
	99) echo "not ok - $file: left a run behind" >>"$tap" ;;
	124 | 137) echo "not ok - $file: HANG: its time was up" >>"$tap" ;;
	*) echo "not ok - $file: ended with status $rc" >>"$tap" ;;
	esac
	result "$folder" "$cell" "$file" "$seconds" "$tap"
}

# found FOLDER NAME TEST PATTERN DETAIL: did the test, or the log, find the planted bug?
found() {
	grep -q "^planted-$2-$3 " "$1/ended" || return 1
	if [ "$4" = log ]; then
		grep -qE -- "$5" <<<"$(tests/vm/gate/check.sh --planted "$2" "$1/dmesg.log")"
	else
		grep -A3 -E "^not ok .*$4" "$1/planted-$2-$3.tap" | grep -E -- "$5" >/dev/null
	fi
}

# verdict FOLDER CELL SUITE SECONDS: what the boot itself has to say.
verdict() {
	local folder=$1 cell=$2 suite=$3 seconds=$4 log=$1/dmesg.log name file pattern detail n=0 t
	case $RC in
	0 | 1) ;;
	124) broken "$folder" "$cell" "${RUNNING:-boot}" "$seconds" "HANG: the guest was ended after $seconds s" ;;
	70) broken "$folder" "$cell" "${RUNNING:-boot}" "$seconds" "DEAD KERNEL: $(tail -1 "$folder/run.log")" ;;
	71) broken "$folder" "$cell" boot "$seconds" "NO BOOT: $(tail -1 "$folder/run.log")" ;;
	*) broken "$folder" "$cell" boot "$seconds" "run.sh ended with status $RC: $(tail -1 "$folder/run.log")" ;;
	esac
	# A guest that died has left nothing but its console.
	[ -s "$log" ] || log=$folder/console.log
	if tests/vm/gate/check.sh "$log" >"$folder/gate.log" 2>&1; then
		echo "ok - the kernel log is clean" >"$folder/gate.tap"
	else
		{
			echo "not ok - the kernel log is clean"
			sed 's/^/# /' "$folder/gate.log"
		} >"$folder/gate.tap"
	fi
	result "$folder" "$cell" "kernel-log" 0 "$folder/gate.tap"

	planted_for "${cell#* }" "$suite" >"$folder/planted"
	while IFS='|' read -r name file _ pattern detail; do
		n=$((n + 1))
		if found "$folder" "$name" "$file" "$pattern" "$detail"; then
			echo "ok $n - $name: $file finds it: $pattern"
		else
			echo "not ok $n - $name SURVIVES: $file does not find: $pattern ($detail)"
		fi
	done <"$folder/planted" >"$folder/planted.tap"
	[ $n -eq 0 ] || {
		t=$(awk '/^planted-/ { t += $3 } END { print t + 0 }' "$folder/ended")
		result "$folder" "$cell" "planted bugs" "$t" "$folder/planted.tap"
	}
}

# The environment of a kernel, as kernel.sh printed it: KDIST, KROOT and so on.
kernel_env() {
	# shellcheck source=/dev/null
	. "$OUT/vm-$1/kernel.env"
}

# prepare KERNEL SUITE...: kernel, modules, tools and mutants. 1, and REASON, where that failed; 3 where there is none.
prepare() {
	local kernel=$1 log=$dir/prepare-$1.log suite m
	shift
	rc=0
	KERNEL=$kernel tests/vm/kernel.sh >/dev/null 2> >(tee "$log" >&2) || rc=$?
	REASON=$(tail -1 "$log" | sed 's/^krping: //')
	[ $rc -eq 0 ] || return $((rc == 3 ? 3 : 1))
	make --no-print-directory vm-module vm-plant vm-tools KERNEL="$kernel" MUTANT= >"$log" 2>&1 || {
		REASON="not built: $(tail -1 "$log")"
		return 1
	}
	for suite; do
		for m in $(planted_for rxe "$suite" | cut -d'|' -f1 | sort -u); do
			make --no-print-directory vm-module KERNEL="$kernel" MUTANT="$m" >"$log" 2>&1 || {
				REASON="mutant $m not built: $(tail -1 "$log")"
				return 1
			}
		done
	done
}

# peer FOLDER KERNEL PROVIDER: the VM at the other end of the wire, in vm[] ours. One CPU each, of the two that there
# are; the socket's path, in wire, has to be short.
peer() {
	wire=$(mktemp -d)/wire
	mkdir -p "$1/peer"
	vm+=(--cpus 1)
	KERNEL=$2 tests/vm/run.sh --provider "$3" --out "$1/peer" --timeout "$LIMIT" "${vm[@]}" --wire "listen:$wire" \
		-- tests/guest/agent.pl 10.9.0.1 >"$1/peer/run.log" 2>&1 </dev/null &
	echo $! >"$1/peer/vm.pid"
	vm+=(--wire "connect:$wire")
	for _ in $(seq 100); do
		[ ! -S "$wire" ] || return 0
		sleep 0.1
	done
	rm -rf "${wire%/*}"
	broken "$1" "$2 $3" wire 10 "the other VM does not start: $(tail -1 "$1/peer/run.log")"
	return 1
}

# peer_ended FOLDER CELL: it was told to end; its log has to be as clean as ours.
peer_ended() {
	local pid rc=0
	pid=$(cat "$1/peer/vm.pid")
	for _ in $(seq 100); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	kill "$pid" 2>/dev/null || true
	wait "$pid" || rc=$?
	rm -f "$1/peer/vm.pid"
	rm -rf "${wire%/*}"
	{
		if [ $rc -eq 0 ]; then echo "ok - it ended as told"; else echo "not ok - it ended as told: $rc"; fi
		if tests/vm/gate/check.sh "$1/peer/dmesg.log" >"$1/peer/gate.log" 2>&1; then
			echo "ok - its kernel log is clean"
		else
			echo "not ok - its kernel log is clean"
			sed 's/^/# /' "$1/peer/gate.log"
		fi
	} >"$1/peer.tap"
	result "$1" "$2" "the other end" 0 "$1/peer.tap"
}

# guest KERNEL PROVIDER SUITE: a cell.
guest() {
	local kernel=$1 provider=$2 suite=$3 folder=$dir/$1-$2-$3 t=$SECONDS name file seen='' test args=() vm=() wire RC RUNNING
	kernel_env "$kernel"
	local tools=$OUT/tools
	args=(--suite "$suite")
	# One binary runs everywhere: the tools of the host's, older, distribution, too. In the quick suite each has a provider.
	if [ "$KROOT" != / ]; then
		if [ "$suite" != quick ] || [ ${#providers[@]} -eq 1 ]; then
			tools=$OUT/tools-$KDIST
			! table "$provider" "$suite" | grep -x tools.t >/dev/null || args+=(--also "$OUT/tools:tools.t")
		elif [ "$provider" != "${providers[0]}" ]; then
			tools=$OUT/tools-$KDIST
		fi
	fi
	while IFS='|' read -r name file _; do
		[[ $seen != *" $name:$file "* ]] || continue
		seen+=" $name:$file "
		args+=(--planted "$name:$OUT/vm-$kernel/module-mutant-$name/rdma_krping.ko:$file")
	done < <(planted_for "$provider" "$suite")
	vm=(--module "$OUT/vm-$kernel/module/rdma_krping.ko" --tools "$tools")
	[ "$suite" != plant ] || vm+=(--plant "$OUT/vm-$kernel/plant/krping_plant.ko")
	# It measures how long things take, in two VMs that need two CPUs for themselves.
	if [ "$suite" = wire ]; then
		signal_ahead STOP
		peer "$folder" "$kernel" "$provider" || { signal_ahead CONT && return 0; }
	fi
	boot "$folder" "$kernel $provider" $((LIMIT * (KSLOW > 1 ? 3 : 1))) "${vm[@]}" -- tests/guest/run-all.sh "${args[@]}"
	if [ "$suite" = wire ]; then
		signal_ahead CONT
		peer_ended "$folder" "$kernel $provider"
	fi
	verdict "$folder" "$kernel $provider" "$suite" $((SECONDS - t))
	for test in $(table "$provider" "$suite"); do
		grep -q "^$test " "$folder/ended" || [ "$test" = "$RUNNING" ] ||
			broken "$folder" "$kernel $provider" "$test" 0 "$test was not run"
	done
	: >"$folder/complete"
}

# How many VMs at a time. Once a kernel is there, with which to look what they run under.
how_many() {
	[ "$jobs_max" = 0 ] || return 0
	jobs_max=$(nproc)
	[ "$(tests/vm/run.sh --accel)" = tcg ] || jobs_max=$((jobs_max / 2))
	jobs_max=$((jobs_max > 4 ? 4 : jobs_max < 1 ? 1 : jobs_max))
}

# job VMS COMMAND...: in the background, with so many VMs, no more than jobs_max at a time.
job() {
	local room=$((jobs_max / $1))
	shift
	while [ "$(jobs -rp | wc -l)" -ge $((room > 1 ? room : 1)) ]; do wait -n || true; done
	"$@" &
}

# cells KERNEL SUITE...
cells() {
	local kernel=$1 suite p folder vms rc=0 REASON=''
	shift
	say "== $kernel: $*"
	prepare "$kernel" "$@" || rc=$?
	[ $rc -ne 0 ] || how_many
	for suite; do
		for p in "${providers[@]}"; do
			# It is not about a provider.
			[ "$suite" != plant ] || [ "$p" = "${providers[0]}" ] || continue
			folder=$dir/$kernel-$p-$suite
			mkdir -p "$folder"
			case $rc in
			0)
				if [ "$BUDGET" -gt 0 ] && [ $((SECONDS - begin)) -ge "$BUDGET" ]; then
					broken "$folder" "$kernel $p" "$suite" 0 "not run: the time of the whole, $BUDGET s, was up"
				else
					vms=1
					[ "$suite" != wire ] || vms=2
					job $vms guest "$kernel" "$p" "$suite"
				fi
				;;
			3) skipped "$folder" "$kernel $p" "$suite" "$REASON" && : >"$folder/complete" ;;
			*) broken "$folder" "$kernel $p" "$suite" 0 "$REASON" && : >"$folder/complete" ;;
			esac
		done
	done
	wait
	# A defect of this script must not look like success.
	for suite; do
		for p in "${providers[@]}"; do
			folder=$dir/$kernel-$p-$suite
			[ ! -d "$folder" ] || [ -e "$folder/complete" ] || [ -e "$folder/$suite.broken.tap" ] ||
				broken "$folder" "$kernel $p" "$suite" 0 "check.sh broke while it tested this"
		done
	done
}

# Kernels that are yet to be fetched or built are, with what the VMs leave of the CPUs, while the first ones are tested.
# No child of ours: wait is for the cells.
ahead() {
	local plan kernels=()
	for plan; do
		[[ $plan != *:* || " ${kernels[*]} " == *" ${plan%%:*} "* ]] || kernels+=("${plan%%:*}")
	done
	[ ${#kernels[@]} -gt 1 ] || return 0
	# shellcheck disable=SC2016 # for the inner shell
	(
		setsid nice -n 19 bash -c 'for KERNEL; do
			export KERNEL
			tests/vm/kernel.sh >/dev/null 2>"$0/ahead-$KERNEL.log"
		done' "$dir" "${kernels[@]}" </dev/null >/dev/null 2>&1 &
		echo $! >"$dir/ahead.pid"
	)
}

ahead "$@"
mkdir -p build/guest
for f in krwrite sweep; do ${CC:-cc} -O1 -Wall -Wextra -Werror -o build/guest/$f tests/guest/$f.c; done
for plan; do
	case $plan in
	host) host_tests ;;
	*:*)
		IFS=: read -ra words <<<"$plan"
		cells "${words[@]}"
		;;
	*) broken "$dir" "$plan -" plan 0 "no such plan" ;;
	esac
done

say ''
all_results() {
	find "$dir" -name results -exec cat {} +
}
all_results | sort -k1,1V -k2,2 -s | awk '
	BEGIN { printf "%-8s %-9s %-26s %7s %7s %8s %8s\n", "kernel", "provider", "suite", "passed", "failed", "skipped", "seconds" }
	{ suite = $3; for (i = 4; i <= NF - 4; i++) suite = suite " " $i
	  printf "%-8s %-9s %-26s %7d %7d %8d %8d\n", $1, $2, suite, $(NF - 3), $(NF - 2), $(NF - 1), $NF }'
totals=$(all_results | awk '{ p += $(NF - 3); f += $(NF - 2); s += $(NF - 1) } END { print p + 0, f + 0, s + 0 }')
read -r passed failed skipped <<<"$totals"
say "kept in ${dir#"$top"/}; $((SECONDS - begin)) s"
if [ "$skipped" -gt 0 ]; then
	say "$passed passed, $failed failed, $skipped skipped"
else
	say "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
