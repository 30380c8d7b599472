#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Runs the tests, on the host and in VMs, for make check and the other check targets.
#
#   check.sh check|matrix|tools|wire|debug|kcsan|smp|full|all  the parts that the file plan beside this one has for that target; all
#                                                 also has those of "spare", as far as BUDGET allows
#   check.sh cell                                 the full suite on $KERNEL
#   check.sh test                                 $TEST alone: a test of tests/guest/table, or a part of host.sh; on $KERNEL, and
#                                                 with $MUTANT, a planted fault, which it has to find
#
# From the environment: OUT, the build folder; PROVIDER, to test only one; KERNEL, TEST, MUTANT; SLOTS, how many parts run
# at a time (default: as many as the CPUs allow, at most four; an emulated guest takes one CPU, another guest two); LIMIT,
# seconds of a boot on a kernel that is not slow; BUDGET, seconds: a part that would not end within them is not begun;
# KRPING_SEED, the seed of what pairs.t and draw.t draw; KRPING_SOAK, seconds for which draw.t goes on drawing.
#
# Below $OUT/check/ each part has a folder with a .tap of each test, and console.log, dmesg.log and run.log of a boot; those of
# the run before are in $OUT/check.prev/. The last line is "N passed, N failed", with ", N skipped" if tests were skipped; it
# counts assertions.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
OUT=${OUT:-$top/build}
export OUT
BUDGET=${BUDGET:-0}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping
dir=$OUT/check
# shellcheck source=tests/check/collect.sh
. tests/check/collect.sh
# shellcheck source=tests/check/queue.sh
. tests/check/queue.sh

fail() {
	echo "krping: $*" >&2
	exit 2
}

target=${1:-}
KERNEL=${KERNEL:-} TEST=${TEST:-} MUTANT=${MUTANT:-}
[ -z "${PROVIDER:-}" ] || export ONE_PROVIDER=1
case $target in
check | matrix | tools | wire | debug | kcsan | smp | full | all | cell | test) ;;
*) fail "usage: check.sh check|matrix|tools|wire|debug|kcsan|smp|full|all|cell|test" ;;
esac

# shellcheck disable=SC2317 # called by the traps
cleanup() {
	trap '' INT TERM HUP
	local pid
	for pid in $(jobs -p); do kill "$pid" 2>/dev/null || true; done
	wait
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# --- what is to be done ---

# The oldest kernel is also the default of make demo and make check: it has the same name here, so that it is prepared once.
# The versions of the other roles come from the archive, which is asked when these kernels are prepared.
oldest=$(KERNEL=oldest tests/vm/kernel.sh --version)
plan_rows() { grep -vE '^(#|$)' tests/check/plan | sed "s/\<oldest\>/$oldest/"; }
KERNEL=${KERNEL:-$oldest}
declare -A plan_secs=() plan_budget=()
while read -r part _ secs budget; do
	plan_secs[$part]=$secs plan_budget[$part]=$budget
done < <(plan_rows)

# This machine's record: "PART SECONDS" a line, the newest last.
declare -A times=()
if [ -e "$cache/times" ]; then
	while read -r part secs; do times[$part]=$secs; done <"$cache/times"
fi

# expected PART JOB: sets EXPECT to the seconds that JOB, the plan's row PART, is expected to take.
declare -A job_part=()
expected() {
	local part=$1
	job_part[$2]=$1
	EXPECT=${times[$2]:-${plan_secs[$part]:-60}}
	# These jobs fill the cache, so the record says nothing: 30 s if the cache has the result, else the plan's time.
	case $part in
	prepare:* | root:*)
		EXPECT=${plan_secs[$part]:-100}
		[ -z "$(find "$cache" -maxdepth 1 -name "*${part#*:}*" 2>/dev/null)" ] || EXPECT=30
		;;
	esac
}

# needed: the kernels that have to be prepared; needed_more: "KERNEL --suite SUITE" and "KERNEL --mutant NAME", which have to
# be prepared in addition. need sets NEEDS to the jobs that a cell needs.
declare -A needed=() needed_more=()
# need KERNEL [--suite SUITE | --mutant NAME]
need() {
	needed[$1]=1
	NEEDS=prepare-$1
	[ $# -gt 1 ] || return 0
	needed_more[$1-$3]=$*
	NEEDS+=" faults-$1-$3"
}

# Set while the parts are added that are left out if there is no time for them.
SPARE=''

# add_cell KERNEL SUITE [PROVIDER [TEST]]: adds a job for each provider of the suite, or for PROVIDER only.
add_cell() {
	local kernel=$1 suite=$2 only=${3:-${PROVIDER:-}} test=${4:-} p row providers options name
	row=$(tests/select.sh suite "$suite") || fail "there is no suite $suite (tests/suites)"
	read -r _ providers _ options <<<"$row"
	if [ -n "$MUTANT" ]; then
		need "$kernel" --mutant "$MUTANT"
	elif [[ $options == *stock* ]] || { [ -z "$test" ] && [ -n "$(tests/select.sh mutants "$suite" any)" ]; }; then
		need "$kernel" --suite "$suite"
	else
		need "$kernel"
	fi
	for p in ${providers//,/ }; do
		[ -z "$only" ] || [ "$p" = "$only" ] || continue
		[ -z "$test" ] || tests/select.sh tests "$suite" "$p" | grep -q "^${test}[[:space:]]" || continue
		name=$kernel-$p-$suite
		expected "$kernel:$suite${3:+:$3}" "$name"
		[ -z "$test" ] || EXPECT=60
		job "$name" "$EXPECT" "$NEEDS" "$SPARE $([[ $options != *alone* ]] || echo alone)" \
			tests/check/cell.sh "$dir/$name" "$kernel" "$p" "$suite" ${test:+"$test"} ${MUTANT:+"$MUTANT"}
	done
}

# add_host PART [KERNEL]
add_host() {
	local part=$1 kernel=${2:-$oldest} name
	name=host-$part${2:+-$2}
	expected "host:$part${2:+:$2}" "$name"
	need "$kernel"
	job "$name" "$EXPECT" "prepare-$kernel" "$SPARE" tests/check/host.sh "$dir/$name" "$part" "$kernel"
}

case $target in
test)
	if [[ $TEST == *.t ]]; then
		[ -e "tests/guest/$TEST" ] || fail "TEST=$TEST: tests/guest has no such test"
		# A fault is a patch of the module, or a patch of siw that is left out.
		[ -z "$MUTANT" ] || [ -e "tests/mutants/$MUTANT.patch" ] || grep -q "^$MUTANT|" tests/mutants/list ||
			fail "MUTANT=$MUTANT: there is no tests/mutants/$MUTANT.patch"
		for provider in ${PROVIDER:-rxe siw}; do
			! suite=$(tests/select.sh suite-of "$TEST" "$KERNEL" "$provider") || add_cell "$KERNEL" "$suite" "$provider" "$TEST"
		done
		[ ${#jobs_all[@]} -gt 0 ] || fail "TEST=$TEST: tests/guest/table does not have it for ${PROVIDER:-any provider}"
	else
		tests/check/host.sh - list | grep -qx "${TEST//-/_}" || fail "TEST=$TEST: neither a test of tests/guest/table nor a part of tests/check/host.sh"
		add_host "$TEST" "$KERNEL"
	fi
	;;
cell) add_cell "$KERNEL" full ;;
*)
	while read -r part targets _; do
		[[ ,$targets, == *,"$target",* || $target:,$targets, == all:*,spare,* ]] || continue
		[[ $target:,$targets, != all:*,spare,* ]] && SPARE='' || SPARE=spare
		case $part in
		host:*) IFS=: read -r _ name kernel <<<"$part" && add_host "$name" ${kernel:+"$kernel"} ;;
		*)
			IFS=: read -r kernel suite provider <<<"$part"
			[ -z "$provider" ] || [ "${PROVIDER:-$provider}" = "$provider" ] || continue
			add_cell "$kernel" "$suite" "$provider"
			;;
		esac
	done < <(plan_rows)
	;;
esac

# prepared JOB KERNEL [--suite SUITE | --mutant NAME]: the command of a job that runs prepare.sh; if that fails, the job
# gets a result of its own.
prepared() {
	local name=$1 kernel=$2 folder=$dir/$1 args
	shift
	args=$*
	mkdir -p "$folder"
	# shellcheck disable=SC2317 # called by result
	again() { echo "OUT=build tests/check/prepare.sh $args"; }
	if tests/check/prepare.sh "$@" 2> >(tee "$folder/log" | grep --line-buffered '^krping:' >&2); then
		return 0
	fi
	sleep 0.2
	say_result "$folder" "$kernel - prepare" "${name%%-*}" 0 'not ok' "$(tail -1 "$folder/log" | sed 's/^krping: //')"
	return 1
}
# for_spare NAME: prints "spare" if each job that needs NAME is a spare one.
for_spare() {
	local name
	for name in "${jobs_all[@]}"; do
		[[ " ${job_needs[$name]} " != *" $1 "* ]] || [ -n "${job_spare[$name]}" ] || return 0
	done
	echo spare
}
for kernel in "${!needed[@]}"; do
	expected "prepare:$kernel" "prepare-$kernel"
	job "prepare-$kernel" "$EXPECT" "$([ "$kernel" = "$oldest" ] || echo root-trixie)" "$(for_spare "prepare-$kernel")" \
		prepared "prepare-$kernel" "$kernel"
	[ "$kernel" = "$oldest" ] || other_root=1
done
for key in "${!needed_more[@]}"; do
	read -r kernel what name <<<"${needed_more[$key]}"
	expected "faults:$kernel:$name" "faults-$key"
	job "faults-$key" "$EXPECT" "prepare-$kernel" "$(for_spare "faults-$key")" prepared "faults-$key" "$kernel" "$what" "$name"
done
if [ -n "${other_root:-}" ]; then
	expected root:trixie root-trixie
	job root-trixie "$EXPECT" '' "$(for_spare root-trixie)" sh -c 'tests/vm/root.sh trixie >/dev/null'
fi

# --- the run ---

rm -rf "$dir.prev"
[ ! -d "$dir" ] || mv "$dir" "$dir.prev"
mkdir -p "$dir" "$OUT/guest"

# Programs that tests run in the guest. Each source names the libraries that it is linked with.
for f in tests/guest/*.c; do
	# shellcheck disable=SC2046 # words
	${CC:-cc} -O1 -Wall -Wextra -Werror -o "$OUT/guest/$(basename "$f" .c)" "$f" $(sed -n 's/.*krping-link: *//p' "$f")
done

# Probe for KVM once here, before several jobs would do it at the same time.
if [ -z "${SLOTS:-}" ]; then
	SLOTS=$(nproc)
	tests/vm/kernel.sh >/dev/null
	[ "$(tests/vm/run.sh --accel)" = tcg ] || SLOTS=$((SLOTS / 2))
	SLOTS=$((SLOTS > 4 ? 4 : SLOTS < 1 ? 1 : SLOTS))
fi
export SLOTS

# shellcheck disable=SC2317 # called by run_jobs
job_ended() {
	echo "$1 $3" >>"$dir/times"
	[ "$2" -ne 0 ] || [ -n "$TEST" ] || [[ $1 == prepare-* || $1 == root-* ]] || times[$1]=$3
}
# shellcheck disable=SC2317
not_run() {
	mkdir -p "$dir/$1"
	# shellcheck disable=SC2317
	again() {
		case $target in
		check) echo "make check" ;;
		cell | test) echo "make check${TEST:+ TEST=$TEST} KERNEL=$KERNEL" ;;
		*) echo "make check-$target" ;;
		esac
	}
	say_result "$dir/$1" "$1" "$1" 0 "$2" "$3"
}
# shellcheck disable=SC2317
job_dropped() { not_run "$1" 'not ok' "$2"; }
# shellcheck disable=SC2317
job_left_out() {
	case $1 in
	prepare-* | faults-* | root-*) ;;
	*) not_run "$1" ok "# SKIP $2" ;;
	esac
}
run_jobs "$SLOTS" "$BUDGET"

mkdir -p "$cache"
for part in "${!times[@]}"; do echo "$part ${times[$part]}"; done | sort >"$cache/times.$$" && mv "$cache/times.$$" "$cache/times"

# --- the report ---

# Each job has to have left a result: a defect of this script must not look like success.
for name in "${jobs_all[@]}"; do
	case $name in
	prepare-* | faults-* | root-*) continue ;;
	esac
	[ -s "$dir/$name/results" ] || job_dropped "$name" "it left no result"
done

say() { printf '%s\n' "$*"; }
say ''
all_results() { find "$dir" -name results -exec cat {} +; }
all_results | sort -t'|' -k1,1V -s | awk -F'|' '
	BEGIN { printf "%-18s %-26s %7s %7s %8s %8s\n", "part", "test", "passed", "failed", "skipped", "seconds" }
	{ printf "%-18s %-26s %7d %7d %8d %8d\n", $1, $2, $3, $4, $5, $6 }'
say ''
for f in "$OUT"/vm-*/kernel.env; do
	kernel=${f%/kernel.env} && kernel=${kernel##*/vm-}
	[ -n "${needed[$kernel]-}" ] || continue
	printf '%-22s %s\n' "kernel $kernel" "$(sed -n 's/^KREL=//p' "$f"), package $(sed -n 's/^KVERSION=//p' "$f")"
done
say ''
printf '%-22s %8s %8s\n' part seconds budget
while read -r name secs; do
	budget=${plan_budget[${job_part[$name]-}]-}
	printf '%-22s %8d %8s%s\n' "$name" "$secs" "${budget:--}" "$([ -n "$budget" ] && [ "$secs" -gt "$budget" ] && echo '  OVER' || :)"
done < <(sort -k2,2nr "$dir/times")
printf '%-22s %8d %8s\n' 'all of it' "$SECONDS" "$([ "$BUDGET" -gt 0 ] && echo "$BUDGET" || echo -)"

failures=$(find "$dir" -name failures | sort -V)
if [ -n "$failures" ]; then
	say ''
	say 'What failed:'
	# shellcheck disable=SC2086 # words
	cat $failures
fi
say ''
totals=$(all_results | awk -F'|' '{ p += $3; f += $4; s += $5 } END { print p + 0, f + 0, s + 0 }')
read -r passed failed skipped <<<"$totals"
say "kept in ${dir#"$top"/}"
if [ "$skipped" -gt 0 ]; then
	say "$passed passed, $failed failed, $skipped skipped"
else
	say "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
