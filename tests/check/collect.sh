# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What a part of the suite prints becomes files, counts and words. Below the part's folder: NAME.tap, what each test
# printed; results, a line "LABEL|NAME|PASSED|FAILED|SKIPPED|SECONDS" for each; failures, what the report repeats at its
# end; now, which test runs. Sourced by cell.sh and host.sh, with top, the repository.

# again NAME: the command that runs a test again; a part defines it.

# result FOLDER LABEL NAME SECONDS STATUS: judges NAME.tap.
# shellcheck disable=SC2154 # top is theirs
result() {
	local folder=$1 label=$2 name=$3 seconds=$4 status=$5 tap=$1/$3.tap passed failed skipped why
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
		grep -A4 -E '^not ok ' "$tap" | grep -E '^(not ok|#)' | head -40 | cut -c1-400 | sed 's/^/    /'
		echo "    log:   ${tap#"$top"/}"
		echo "    again: $(again "$name")"
	} | tee -a "$folder/failures"
}

# say_result FOLDER LABEL NAME SECONDS "ok|not ok" WORDS...: one assertion that no test could make.
say_result() {
	local folder=$1 label=$2 name=$3 seconds=$4 verdict=$5
	shift 5
	printf '%s 1 - %s\n1..1\n' "$verdict" "$*" >"$folder/$name.tap"
	result "$folder" "$label" "$name" "$seconds" "$([ "$verdict" = ok ] && echo 0 || echo 1)"
}

# collect FOLDER LABEL: stdin has "### begin NAME" and "### end NAME STATUS SECONDS" around what each test prints. What
# runs with a planted fault is kept and not judged: that it was found is an assertion elsewhere. RUNNING becomes the name
# of a test that did not end.
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
