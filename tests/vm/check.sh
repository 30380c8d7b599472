#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make check: host tests; the guest's tests on each provider; and the mutants, which those tests must find.
#
# From the environment: MODULE, the module for the VM; OUT, the build folder; KERNEL; PROVIDER, to test on one only;
# SUITE, full or quick; JOBS, boots at a time (two where there are four CPUs or
# more: a guest has two).
#
# Below $OUT/check/KERNEL-NAME/ are kept of each boot: console.log, dmesg.log, output.log and a .tap for each test. The
# last line is "N passed, N failed", with ", N skipped" where there are such; what is counted are assertions.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
export KERNEL=${KERNEL:-6.1}
OUT=${OUT:-$top/build}
MODULE=${MODULE:-$OUT/vm-$KERNEL/module/rdma_krping.ko}
SUITE=${SUITE:-full}
read -ra providers <<<"${PROVIDER:-rxe siw}"
jobs_max=${JOBS:-$(($(nproc) > 3 ? 2 : 1))}
LIMIT=${LIMIT:-600}		# seconds of a boot with all its tests
MUTANT_LIMIT=240

dir=$OUT/check
rm -rf "$dir"
mkdir -p "$dir"
begin=$SECONDS

# cleanup: every VM ends with us, whatever ends us.
# shellcheck disable=SC2317 # called by the traps
cleanup() {
	trap '' INT TERM HUP
	local f
	for f in "$dir"/*/vm.pid; do
		[ ! -s "$f" ] || kill -TERM "$(cat "$f")" 2>/dev/null || true
	done
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

# result FOLDER PROVIDER SUITE SECONDS TAPFILE: counts, notes, says.
result() {
	local folder=$1 provider=$2 suite=$3 seconds=$4 tap=$5
	count "$tap"
	echo "$KERNEL $provider $suite $PASSED $FAILED $SKIPPED $seconds" >>"$folder/results"
	printf '%-4s %-16s %4d ok, %d not ok%s, %d s\n' "$provider" "$suite" "$PASSED" "$FAILED" \
		"$([ "$SKIPPED" = 0 ] || echo ", $SKIPPED skipped")" "$seconds"
	[ "$FAILED" = 0 ] || grep -A4 -E '^not ok |skips\.allow$' "$tap" | grep -E '^(not ok|#)' | head -40 | sed "s/^/     /" || true
}

# broken FOLDER PROVIDER SUITE SECONDS WHY: a failure that no test could tell.
broken() {
	echo "not ok - $5" >>"$1/$3.broken.tap"
	result "$1" "$2" "$3" "$4" "$1/$3.broken.tap"
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
	result "$dir/host" host "$suite" $((SECONDS - t)) "$tap"
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

scripts() {
	find tests tools .ci -type f -not -name '*.o' -print | while IFS= read -r f; do
		IFS= read -r line <"$f" 2>/dev/null || continue
		[[ $line == '#!/bin/'*sh* ]] && printf '%s\n' "$f"
	done | sort
}

style() {
	local ksrc
	ksrc=$(sed -n 's/^KSRC=//p' "$OUT/vm-$KERNEL/kernel.env")
	find module -name '*.[ch]' -type f | sort |
		each checkpatch perl "$ksrc/scripts/checkpatch.pl" --no-tree --no-summary --terse -q -f
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
	host gate tests/vm/gate/check.sh --self-test
	scripts >"$dir/host/scripts"
	host shellcheck each shellcheck shellcheck -x -S warning -P SCRIPTDIR -e SC2317 <"$dir/host/scripts"
	host checkpatch style
	host warnings warnings
}

# --- guest ---

# expected PROVIDER: the tests that the table has for it.
expected() {
	awk -v p="$1" -v s="$SUITE" '!/^#/ && NF && ($2 == "all" || index("," $2 ",", "," p ",")) && index("," $3 ",", "," s ",") { print $1 }' \
		tests/guest/table
}

# boot FOLDER PROVIDER MODULE LIMIT COMMAND...: RC becomes run.sh's; a .tap for each test, "FILE STATUS SECONDS" in "ended".
boot() {
	local folder=$1 provider=$2 module=$3 limit=$4 line file='' rc
	shift 4
	mkdir -p "$folder"
	: >"$folder/ended"
	mkfifo "$folder/pipe"
	tests/vm/run.sh --provider "$provider" --module "$module" --out "$folder" --timeout "$limit" -- "$@" \
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
			[ -z "${ON_END:-}" ] || $ON_END "$folder" "$provider" "${line#'### end '}"
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
# shellcheck disable=SC2317 # ON_END
test_ended() {
	local folder=$1 provider=$2 file rc seconds tap
	read -r file rc seconds <<<"$3"
	tap=$folder/$file.tap
	case $rc in
	0) grep -q '^1\.\.[1-9]' "$tap" || echo "not ok - $file: no plan" >>"$tap" ;;
	1) grep -q '^not ok ' "$tap" || echo "not ok - $file: ended with status 1" >>"$tap" ;;
	98) grep -q '^not ok ' "$tap" || echo "not ok - $file: prove does not accept it" >>"$tap" ;;
	99) echo "not ok - $file: left a run behind" >>"$tap" ;;
	124 | 137) echo "not ok - $file: HANG: its time was up" >>"$tap" ;;
	*) echo "not ok - $file: ended with status $rc" >>"$tap" ;;
	esac
	result "$folder" "$provider" "$file" "$seconds" "$tap"
}

# verdict FOLDER PROVIDER SECONDS: what the boot itself has to say.
verdict() {
	local folder=$1 provider=$2 seconds=$3 log=$1/dmesg.log
	case $RC in
	0 | 1) ;;
	124) broken "$folder" "$provider" "${RUNNING:-boot}" "$seconds" "HANG: the guest was ended after $seconds s" ;;
	70) broken "$folder" "$provider" "${RUNNING:-boot}" "$seconds" "DEAD KERNEL: $(tail -1 "$folder/run.log")" ;;
	71) broken "$folder" "$provider" boot "$seconds" "NO BOOT: $(tail -1 "$folder/run.log")" ;;
	*) broken "$folder" "$provider" boot "$seconds" "run.sh ended with status $RC: $(tail -1 "$folder/run.log")" ;;
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
	result "$folder" "$provider" "kernel-log" 0 "$folder/gate.tap"
}

guest() {
	local provider=$1 folder=$dir/$KERNEL-$1 t=$SECONDS test RC RUNNING
	ON_END=test_ended boot "$folder" "$provider" "$MODULE" $LIMIT tests/guest/run-all.sh --suite "$SUITE"
	verdict "$folder" "$provider" $((SECONDS - t))
	for test in $(expected "$provider"); do
		grep -q "^$test " "$folder/ended" || [ "$test" = "$RUNNING" ] ||
			broken "$folder" "$provider" "$test" 0 "$test was not run"
	done
	: >"$folder/complete"
}

# mutant NAME TEST:PATTERN:DETAIL...: each test must have a "not ok" with PATTERN, followed by a line with DETAIL.
mutant() {
	local name=$1 folder=$dir/$KERNEL-mutant-$1 t=$SECONDS spec file pattern detail tests=() tap n=0 RC RUNNING
	shift
	mkdir -p "$folder"
	tap=$folder/mutant.tap
	for spec; do tests+=("${spec%%:*}"); done
	boot "$folder" rxe "$OUT/vm-$KERNEL/module-mutant-$name/rdma_krping.ko" $MUTANT_LIMIT \
		env KRPING_MUTANT="$name" tests/guest/run-all.sh "${tests[@]}"
	for spec; do
		IFS=: read -r file pattern detail <<<"$spec"
		n=$((n + 1))
		if grep -q "^$file " "$folder/ended" &&
			grep -A3 -E "^not ok .*$pattern" "$folder/$file.tap" | grep -qE -- "$detail"; then
			echo "ok $n - $name: $file finds it: $pattern"
		else
			echo "not ok $n - $name SURVIVES: $file does not find: $pattern ($detail)"
		fi
	done >"$tap"
	echo "1..$n" >>"$tap"
	case $RC in
	0 | 1) ;;
	*) echo "not ok - $name: the boot ended with status $RC: $(tail -1 "$folder/run.log")" >>"$tap" ;;
	esac
	result "$folder" rxe "mutant-$name" $((SECONDS - t)) "$tap"
	: >"$folder/complete"
}

# job COMMAND...: in the background, no more than jobs_max at a time.
job() {
	while [ "$(jobs -rp | wc -l)" -ge "$jobs_max" ]; do wait -n || true; done
	"$@" &
}

mkdir -p build/guest
${CC:-cc} -O1 -Wall -Wextra -Werror -o build/guest/krwrite tests/guest/krwrite.c
host_tests
for m in drop_phase drop_inv drop_wc; do
	if ! make --no-print-directory vm-module MUTANT=$m >"$dir/mutant-$m.log" 2>&1; then
		mkdir -p "$dir/mutant-$m"
		broken "$dir/mutant-$m" rxe mutant-$m 0 "$(tail -1 "$dir/mutant-$m.log")"
	fi
done
say "booting VMs: ${providers[*]}, and three mutants; $jobs_max at a time, at most $LIMIT s each"
for p in "${providers[@]}"; do job guest "$p"; done
job mutant drop_phase "events.t:krping_phase. residual:got " "tools.t:krping-stages ends with 0:got. +2"
job mutant drop_inv "events.t:krping_mr_localinv:got 43, wanted 45" "events.t:krping_mr_reminv:got 44, wanted 46" \
	"tools.t:krping-mr ends with 0:got. +2"
job mutant drop_wc "events.t:krping_wc.WRITE:got 22, wanted 23" "events.t:has its krping_wc:cid 11"
wait
# A defect of this script must not look like success.
for name in "${providers[@]}" mutant-drop_phase mutant-drop_inv mutant-drop_wc; do
	[ -e "$dir/$KERNEL-$name/complete" ] && continue
	mkdir -p "$dir/$KERNEL-$name"
	broken "$dir/$KERNEL-$name" "${name%%-*}" "$name" 0 "check.sh broke while it tested $name"
done

say ''
cat "$dir"/*/results 2>/dev/null | sort -k2,2 -s | awk '
	BEGIN { printf "%-8s %-9s %-18s %7s %7s %8s %8s\n", "kernel", "provider", "suite", "passed", "failed", "skipped", "seconds" }
	{ printf "%-8s %-9s %-18s %7d %7d %8d %8d\n", $1, $2, $3, $4, $5, $6, $7 }'
totals=$(cat "$dir"/*/results 2>/dev/null | awk '{ p += $4; f += $5; s += $6 } END { print p + 0, f + 0, s + 0 }')
read -r passed failed skipped <<<"$totals"
say "kept in ${dir#"$top"/}; $((SECONDS - begin)) s"
if [ "$skipped" -gt 0 ]; then
	say "$passed passed, $failed failed, $skipped skipped"
else
	say "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
