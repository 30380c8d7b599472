# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Turns the output of a part of the suite into files, counts and words. The part's folder gets NAME.tap, the output of each
# test; results, a line "LABEL|NAME|PASSED|FAILED|SKIPPED|SECONDS" for each test; failures, which the report repeats at its
# end; now, the name of the running test. Sourced by cell.sh and host.sh, which set top, the repository.

# again NAME: prints the command that runs a test again; each part defines it.

# result FOLDER LABEL NAME SECONDS STATUS: judges NAME.tap, and writes and prints its result.
# shellcheck disable=SC2154 # top is theirs
result() {
	local folder=$1 label=$2 name=$3 seconds=$4 status=$5 tap=$1/$3.tap passed failed skipped why lines=4
	{
		read -r passed failed skipped
		why=$(cat)
	} < <("$top/tests/check/tap.pl" "$tap" "$status" "$top/tests/skips.allow" || echo "0 1 0")
	[ -z "$why" ] || printf 'not ok - %s\n' "$why" >>"$tap"
	echo "$label|$name|$passed|$failed|$skipped|$seconds" >>"$folder/results"
	printf '%-16s %-24s %4d ok, %d not ok%s, %d s\n' "$label" "$name" "$passed" "$failed" \
		"$([ "$skipped" = 0 ] || echo ", $skipped skipped")" "$seconds"
	sed -n 's/^# cell: /        /p' "$tap"
	[ "$failed" -ne 0 ] || return 0
	{
		echo "$label: $name"
		# Kernel reports are long, and their calls are at their end.
		[[ $name != *kernel-log ]] || lines=80
		# Not head: it would end grep by SIGPIPE, and with pipefail the whole part.
		grep -A$lines -E '^not ok ' "$tap" | grep -E '^(not ok|#)' | awk 'NR <= 80' | cut -c1-400 | sed 's/^/    /'
		echo "    log:   ${tap#"$top"/}"
		echo "    again: $(again "$name")"
	} | tee -a "$folder/failures"
}

# say_result FOLDER LABEL NAME SECONDS "ok|not ok" WORDS...: the result of one assertion that no test could make.
say_result() {
	local folder=$1 label=$2 name=$3 seconds=$4 verdict=$5
	shift 5
	printf '%s 1 - %s\n1..1\n' "$verdict" "$*" >"$folder/$name.tap"
	result "$folder" "$label" "$name" "$seconds" "$([ "$verdict" = ok ] && echo 0 || echo 1)"
}

# collect FOLDER LABEL: stdin has "### begin NAME" and "### end NAME STATUS SECONDS" around the output of each test. The
# output of a test with a planted fault is kept, but not judged: another assertion says whether the fault was found. Sets
# RUNNING to the name of a test that did not end.
collect() {
	local folder=$1 label=$2 line file='' name status seconds
	while IFS= read -r line; do
		case $line in
		'### begin '*)
			file=${line#'### begin '}
			: >"$folder/$file.tap"
			echo "$file" >"$folder/now"
			;;
		'### end '*)
			read -r name status seconds <<<"${line#'### end '}"
			echo "$name $status $seconds" >>"$folder/ended"
			[[ $name == planted-* ]] || result "$folder" "$label" "$name" "$seconds" "$status"
			file=''
			;;
		*) [ -z "$file" ] || printf '%s\n' "$line" >>"$folder/$file.tap" ;;
		esac
	done
	rm -f "$folder/now"
	# shellcheck disable=SC2034 # for who sourced this
	RUNNING=$file
}
