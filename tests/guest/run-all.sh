#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The VM's command: runs the tests of the table, one after another, for this provider. What a test says is seen
# as it comes, also of one that hangs; prove judges it.
#
#   run-all.sh [OPTION]... [FILE.t]...
#
#   --suite NAME                   tests of the table's suite (full)
#   --also DIR:FILE.t              then that test again, with the tools of another folder; it is called FILE.t@FOLDER
#   --planted NAME:FILE.ko:FILE.t  then that test with a module that has a planted bug; it is called planted-NAME-FILE.t
#
# Everything goes to stdout, with "### begin FILE" and "### end FILE STATUS SECONDS" around each test, since
# /out takes no new files in a chroot without /proc. Exit 0: all passed.

set -u
cd "$(dirname "$0")" || exit 1
suite=full also=() planted=()
while [ $# -gt 0 ]; do
	case $1 in
	--suite) suite=$2 ;;
	--also) also+=("$2") ;;
	--planted) planted+=("$2") ;;
	*) break ;;
	esac
	shift 2
done
# lib.sh reads it: fewer rounds where a suite is not about endurance.
export KRPING_SUITE=$suite
slow=${KRPING_SLOW:-1}

tap=$(mktemp -d)
failed=0 ran=0
# run NAME FILE SECONDS
run() {
	local name=$1 file=$2 limit=$(($3 * slow)) begin=$EPOCHSECONDS rc pid
	echo "### begin $name"
	# To a file, not a pipe, which whatever a test leaves behind would hold open.
	timeout -k 5 "$limit" bash "$file" >"$tap/$name.tap" 2>&1 &
	pid=$!
	tail -q -n +1 -f -s 0.1 --pid=$pid "$tap/$name.tap"
	wait $pid
	rc=$?
	case $rc in
	124 | 137) echo "# $name: time is up after $limit s" ;;
	esac
	prove --norc --QUIET "$tap/$name.tap" 2>&1 | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" -eq 0 ] || [ $rc -ne 0 ] || rc=98
	# A test that died may have left writers; the next test must not suffer.
	if [ -e /proc/krping ] && [ -n "$(cat /proc/krping)" ]; then
		echo "# $name: left a live run behind:"
		sed 's/^/# /' /proc/krping
		fuser -k -KILL /proc/krping >/dev/null 2>&1
		[ $rc -ne 0 ] || rc=99
	fi
	echo "### end $name $rc $((EPOCHSECONDS - begin))"
	ran=$((ran + 1))
	[ $rc -eq 0 ] || failed=$((failed + 1))
}

chosen() {
	local want
	[ $# -gt 1 ] || return 0
	for want in "${@:2}"; do [ "$want" != "$1" ] || return 0; done
	return 1
}

# limit_of FILE: from the table.
limit_of() {
	awk -v f="$1" '$1 == f { print $4 }' table
}

# Every event into ftrace, every tool attached; what they say is not looked at here, only that they go on.
observers=() observers_tap=$tap/observers
observe() {
	local t
	echo 1 >/sys/kernel/tracing/events/krping/enable
	for t in krping-top krping-stages krping-mr; do
		command -v "$t" >/dev/null || continue
		"$t" -j -i 2 >"$tap/$t.json" 2>"$tap/$t.err" &
		observers+=("$t:$!")
	done
	for t in "${observers[@]}"; do
		for _ in $(seq $((slow * 20))); do
			[ ! -s "$tap/${t%:*}.json" ] || break
			sleep 0.5
		done
		if [ -s "$tap/${t%:*}.json" ]; then echo "ok - ${t%:*} is attached"; else echo "not ok - ${t%:*} is attached"; fi
	done >"$observers_tap"
}
observed() {
	local t rc n=0
	echo "### begin observers"
	cat "$observers_tap"
	echo 0 >/sys/kernel/tracing/events/krping/enable
	for t in "${observers[@]}"; do
		kill -TERM "${t#*:}"
		wait "${t#*:}"
		rc=$?
		# 2 is the tool's own verdict on the runs: an iteration that was cut short is no fault of the kernel.
		if [ $rc -eq 0 ] || [ $rc -eq 2 ]; then
			echo "ok - ${t%:*} went on to the end, status $rc"
		else
			echo "not ok - ${t%:*} went on to the end, status $rc"
			sed 's/^/# /' "$tap/${t%:*}.err"
		fi
		n=$((n + 2))
	done
	echo "1..$n"
	echo "### end observers 0 0"
}

[ "$suite" != observed ] || observe
while read -r file providers suites limit; do
	case $file in '' | '#'*) continue ;; esac
	[ "$providers" = all ] || [[ ,$providers, == *,"${KRPING_PROVIDER:-}",* ]] || continue
	chosen "$file" "$@" || continue
	[[ ,$suites, == *,"$suite",* ]] || [ $# -gt 0 ] || continue
	run "$file" "$file" "$limit" </dev/null
done <table
[ "$suite" != observed ] || observed

for pair in "${also[@]}"; do
	dir=${pair%:*} file=${pair##*:}
	PATH=$dir:$PATH KRPING_TOOLS=$dir run "$file@${dir##*/}" "$file" "$(limit_of "$file")" </dev/null
done

# Without the module: what it has not given back by now it never will.
leaks() {
	local scan=/sys/kernel/debug/kmemleak n
	[ -w $scan ] || return 0
	echo "### begin kmemleak"
	rmmod rdma_krping || echo "not ok - rmmod after all tests"
	# What is younger than 5 s is not yet suspected; the second scan is rid of what was on its way.
	sleep 6
	echo scan >$scan
	echo scan >$scan
	n=$(grep -c '^unreferenced object' $scan)
	if [ "$n" -eq 0 ]; then
		echo "ok 1 - no memory was leaked"
	else
		echo "not ok 1 - no memory was leaked: $n objects"
		head -60 $scan | sed 's/^/# /'
		failed=$((failed + 1))
	fi
	echo "1..1"
	echo "### end kmemleak 0 $((EPOCHSECONDS - $1))"
	insmod "${KRPING_MODULE:?}"
}
[ "$suite" = plant ] || leaks $EPOCHSECONDS

# swap FILE.ko: the module under test becomes another one.
swap() {
	rmmod rdma_krping && insmod "$1"
}
for triple in "${planted[@]}"; do
	IFS=: read -r name ko file <<<"$triple"
	echo "krping-test: planted $name begin" >/dev/kmsg
	if swap "$ko"; then
		KRPING_MODULE=$ko KRPING_MUTANT=$name run "planted-$name-$file" "$file" "$(limit_of "$file")" </dev/null
	fi
	swap "${KRPING_MODULE:?}" || failed=$((failed + 1))
	echo "krping-test: planted $name end" >/dev/kmsg
done
echo "### done $ran $failed"
[ $ran -gt 0 ] && [ $failed -eq 0 ]
