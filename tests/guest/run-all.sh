#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The command that the VM runs: the tests of the table, one after another, for this provider. A test's output is printed
# as it comes, even if the test hangs; check.pl judges it.
#
#   run-all.sh [OPTION]... [FILE.t | observers | faults-planted]...
#
#   --suite NAME          tests of the suite (full); with names, only these tests and parts
#   --rounds many|few|least  how often to repeat what is repeated (many); see tests/suites
#   --seed N              what pairs.t and draw.t draw by
#   --soak SECONDS        how long draw.t goes on drawing
#   --also DIR:FILE.t     then run that test again, with the tools of another folder, as FILE.t@FOLDER
#   --mutants DIR         then run the suite's planted faults (tests/mutants/list), with DIR/NAME/module/rdma_krping.ko
#   --only-mutant NAME    run only that planted fault, with FILE.t or with its tests in the list
#
# All output goes to stdout, with "### begin FILE" and "### end FILE STATUS SECONDS" around each test, since in a chroot
# without /proc no new file can be created in /out.

set -u
cd "$(dirname "$0")" || exit 1
suite=full rounds=many also=() mutants='' only_mutant=''
while [ $# -gt 0 ]; do
	case $1 in
	--suite) suite=$2 ;;
	--rounds) rounds=$2 ;;
	--seed) export KRPING_SEED=$2 ;;
	--soak) export KRPING_SOAK=$2 ;;
	--also) also+=("$2") ;;
	--mutants) mutants=$2 ;;
	--only-mutant) only_mutant=$2 ;;
	*) break ;;
	esac
	shift 2
done
# lib.sh reads these.
export KRPING_SUITE=$suite KRPING_ROUNDS=$rounds
provider=${KRPING_PROVIDER:-}
select=../select.sh
read -r _ _ _ options <<<"$($select suite "$suite")"
slow=${KRPING_SLOW:-1}

tap=$(mktemp -d)
# run NAME FILE SECONDS [COMMAND...]: runs a test that takes so many seconds; with COMMAND, ends it as soon as COMMAND succeeds.
# A test that takes many times as long hangs: the limit is three times of that and half a minute, times KRPING_SLOW.
run() {
	local name=$1 file=$2 limit=$(((30 + 3 * $3) * slow + ${KRPING_SOAK:-0})) begin=$EPOCHSECONDS rc pid tail
	shift 3
	echo "### begin $name $limit"
	# A report in the kernel's log is that of a test.
	echo "krping-test: test $name" >/dev/kmsg
	# The output goes into a file, not into a pipe: a process that a test leaves behind would hold a pipe open.
	timeout -k 5 "$limit" bash "$file" >"$tap/$name.tap" 2>&1 &
	pid=$!
	tail -q -n +1 -f -s 0.1 --pid=$pid "$tap/$name.tap" &
	tail=$!
	while [ $# -gt 0 ] && kill -0 $pid 2>/dev/null; do
		! "$@" || { kill -TERM $pid && break; }
		sleep 0.5
	done
	wait $pid
	rc=$?
	wait $tail
	# A test that was killed may not have ended its last line.
	[ -z "$(tail -c 1 "$tap/$name.tap")" ] || echo
	# A test that died may have left writers; the next test must not suffer.
	if [ -e /proc/krping ] && [ -n "$(cat /proc/krping)" ]; then
		echo "# $name: left a live run behind:"
		sed 's/^/# /' /proc/krping
		# On a machine that is not ours to tidy up, it may be somebody else's.
		[ "$suite" = here ] || fuser -k -KILL /proc/krping >/dev/null 2>&1
		[ $rc -ne 0 ] || rc=99
	fi
	echo "### end $name $rc $((EPOCHSECONDS - begin))"
}

# seconds_of FILE: prints the test's seconds from the table.
seconds_of() { $select tests "$suite" "$provider" "$1" | awk '{ print $4 }'; }

# section NAME SECONDS COMMAND...: what the command prints are the assertions of a test NAME, which hangs after so many seconds, times
# KRPING_SLOW. verdict STATUS WHAT [FILE]: prints an assertion; if it fails, with the file.
section() {
	local name=$1 begin=$EPOCHSECONDS rc=0
	echo "### begin $name $(($2 * slow))"
	"${@:3}" >"$tap/$name.tap"
	cat "$tap/$name.tap"
	! grep -q '^not ok' "$tap/$name.tap" || rc=1
	echo "1..$(grep -cE '^(not )?ok ' "$tap/$name.tap")"
	echo "### end $name $rc $((EPOCHSECONDS - begin))"
}
verdict() {
	[ "$1" != 0 ] || { echo "ok - $2" && return; }
	echo "not ok - $2"
	[ -z "${3-}" ] || sed 's/^/# /' "$3"
}

# observe: records every event with ftrace, and attaches the tools.
observers=()
observe() {
	local t
	echo 1 >/sys/kernel/tracing/events/krping/enable
	for t in krping-top krping-stages krping-mr; do
		"$t" -j -i 2 >"$tap/$t.json" 2>"$tap/$t.err" &
		observers+=("$t:$!")
	done
	for t in "${observers[@]}"; do
		for _ in $(seq $((slow * 20))); do
			[ ! -s "$tap/${t%:*}.json" ] || break
			sleep 0.5
		done
		[ -s "$tap/${t%:*}.json" ]
		verdict $? "${t%:*} is attached"
	done >"$tap/attached"
}

# For each tool, a jq filter that lists what is wrong in its last object. Runs that were killed, or whose device was
# removed, end in the middle of an iteration; nevertheless their phases add up to their duration, and their keys are
# freed or flushed. The number of iterations must be that of the module itself ($iters), if the module still knows the
# run.
declare -A wrong=(
	[krping-top]='[.runs[] | $iters["\(.run)"] as $n | select($n != null and .iters_seen != $n) | [.run, .iters_seen, $n]]'
	[krping-stages]='[.runs[] | $iters["\(.run)"] as $n | select(.residual_ns != 0 or .holes != 0 or
		($n != null and (.iteration.count // 0) != $n)) | [.run, .residual_ns, .holes, .iteration.count, $n]]'
	[krping-mr]='[.runs[] | select(.off_balance != 0) | [.run, .off_balance]]'
)
observed() {
	local t name iters want='[true,0,true,[]]'
	cat "$tap/attached"
	echo 0 >/sys/kernel/tracing/events/krping/enable
	iters=$(sed -n 's/^id=\([0-9]*\) .* iters=\([0-9]*\) .*/{"\1":\2}/p' /proc/krping_runs | jq -c -s 'add // {}')
	for t in "${observers[@]}"; do
		name=${t%:*}
		kill -TERM "${t#*:}"
		wait "${t#*:}"
		verdict $? "$name went on to the end" "$tap/$name.err"
		# [it is a summary, nothing was lost, the tool saw runs that failed, nothing is wrong]
		jq -c -s --argjson iters "$iters" ".[-1] | [.final, .lost, ([.runs[] | select(.errno != 0)] | length > 0), ${wrong[$name]}]" \
			"$tap/$name.json" >"$tap/said" 2>&1
		[ "$(cat "$tap/said")" = "$want" ]
		verdict $? "$name lost nothing, and all it saw adds up, runs that failed too (final, lost, whether runs failed, what does not add up)" "$tap/said"
	done
}

# tests SUITE [FILE.t]...: prints rows of the table.
tests() {
	local of=$1 f
	shift
	[ $# -gt 0 ] || { $select tests "$of" "$provider" && return; }
	for f; do $select tests "$of" "$provider" "$f"; done
}

# run_tests SUITE SUFFIX [FILE.t]...
run_tests() {
	local of=$1 suffix=$2 file limit
	shift 2
	while read -r file _ _ limit; do
		run "$file$suffix" "$file" "$limit" </dev/null
	done < <(tests "$of" "$@")
}

# What is wanted: all of the suite, or these tests and parts.
wanted=() want_observers='' want_faults='' all=''
[ $# -gt 0 ] || all=1
for name; do
	case $name in
	observers | *@observers) want_observers=1 ;;
	faults-planted) want_faults=1 ;;
	*) wanted+=("$name") ;;
	esac
done
if [ -z "$only_mutant" ]; then
	[ -z "$all" ] && [ ${#wanted[@]} -eq 0 ] || run_tests "$suite" '' "${wanted[@]}"
	# Some tests run once more, watched by all tools. They come after all tests that unload the module, since the
	# tools must not see it unloaded.
	if [[ $options == *observed* ]] && [ -n "$all$want_observers" ]; then
		observe
		run_tests observed @observers
		section observers 120 observed
	fi
fi

for pair in "${also[@]}"; do
	dir=${pair%:*} file=${pair##*:}
	PATH=$dir:$PATH KRPING_TOOLS=$dir run "$file@${dir##*/}" "$file" "$(seconds_of "$file")" </dev/null
done

# leaks: unloads the module, and looks for memory that it has not freed: after that it never will.
. ./kmemleak.sh
leaks() {
	rmmod rdma_krping || echo "not ok - rmmod after all tests"
	leak_check
}
if [[ $suite != @(plant|here) ]] && [ -w "$KMEMLEAK" ]; then
	section kmemleak 120 leaks
	insmod "${KRPING_MODULE:?}"
fi

# link_there: makes sure that the link is there and can be used. The functions for that are in lib.sh, which gets a
# shell of its own, since it sets a trap.
link_there() {
	bash -c '. ./lib.sh; link_is_up "$LINK" "$ADDR" || link_add "$LINK" "$KRPING_NETDEV" "$ADDR"'
}

# swap FILE.ko: replaces the module under test, which may be missing here, if a test was ended while it reloaded the module.
swap() { { [ ! -e /sys/module/rdma_krping ] || rmmod rdma_krping; } && insmod "$1"; }

# tidy: cleans up after a test that was ended early. It may have left a deletion that is under way, peers of
# tests/guest, file systems of a disk, modules of tests/plant, network namespaces, and no link.
tidy() {
	local m
	pkill -KILL -x 'liar|many|idle|rping'
	awk '$1 ~ "^/dev/krping" { print $2 }' /proc/mounts | xargs -r umount
	for _ in $(seq $((slow * 100))); do
		pgrep -x 'rdma|rmmod|insmod' >/dev/null || break
		sleep 0.1
	done
	for m in $(lsmod | sed -n 's/^\(krping_[a-z]*\) .*/\1/p'); do rmmod "$m"; done
	for m in $(ip netns list | cut -d' ' -f1); do ip netns delete "$m"; done
	link_there
}

# works: a pair pings. Otherwise a test might fail because of what the last test has left, and the next fault would
# count as found.
works() { timeout -k 5 $((60 * slow)) bash -c '. ./lib.sh; works_after "the sound module"; done_testing' >"$tap/works" 2>&1; }

# found ROW: has the test that runs with the planted fault found it?
found() {
	local name file pattern detail
	IFS='|' read -r name file _ pattern detail <<<"$1"
	grep -A3 -E "^not ok .*$pattern" "$tap/planted-$name-$file.tap" | grep -qE -- "$detail"
}
# all_found: the test has found all rows before its end.
all_found() {
	local row
	for row in "${rows[@]}"; do found "$row" || return 1; done
}

# planted NAME FILE.t: runs the test with the fault, and makes an assertion of each row.
planted() {
	local name=$1 file=$2 module=$mutants/$1/module/rdma_krping.ko sound=$KRPING_MODULE row pattern detail loaded=0
	swap "$module" || loaded=1
	[ $loaded -ne 0 ] ||
		KRPING_MODULE=$module KRPING_MUTANT=$name run "planted-$name-$file" "$file" "$(seconds_of "$file")" all_found </dev/null
	{
		verdict $loaded "$name: it is loaded"
		tidy && swap "$sound" && works
		verdict $? "$name: the sound module is loaded again, and works" "$tap/works"
		for row in "${rows[@]}"; do
			IFS='|' read -r _ _ _ pattern detail <<<"$row"
			found "$row"
			verdict $? "$name: $file finds it: $pattern ($detail)"
		done
	} >>"$tap/planted"
	# If the test was ended between the marks around what the module prints on request, the gate still waits for the second
	# mark. No run of the test prints any more, since swap has unloaded its module.
	echo "krping-test: printing end" >/dev/kmsg
}

# all_planted [FILE.t]: calls planted once for each fault and test of the list.
all_planted() {
	local list name file seen='' rows
	if [ -n "$only_mutant" ]; then
		list=$(grep "^$only_mutant|${1:-}" ../mutants/list || echo "$only_mutant|${1:-cell.t}|-|the test fails|not ok")
	else
		list=$($select mutants "$suite" "$provider")
	fi
	while IFS='|' read -r name file _; do
		[[ $seen != *" $name|$file "* ]] || continue
		seen+=" $name|$file "
		mapfile -t rows < <(grep -F "$name|$file|" <<<"$list")
		planted "$name" "$file"
	done < <(grep . <<<"$list")
}
if [ -n "$mutants" ] && [ -n "$only_mutant$all$want_faults" ]; then
	all_planted "${wanted[0]:-}"
	[ ! -e "$tap/planted" ] || section faults-planted 1 cat "$tap/planted"
fi
