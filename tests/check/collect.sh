# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034 # RUNNING and SILENT are for who sources this
#
# Turns the output of a part of the suite into files and results: NAME.tap, the output of each test, which result.pl judges, and
# now, "NAME TESTS" of the running test. Sourced by cell.sh, host.sh and prepare.sh, which set top, the repository.

# again NAME: prints the command that runs a test again; each part defines it.

# result FOLDER LABEL NAME SECONDS STATUS: judges NAME.tap.
# shellcheck disable=SC2154 # top is theirs
result() { "$top/tests/check/result.pl" "$@" "$(again "$3")" || :; }

# say_result FOLDER LABEL NAME SECONDS "ok|not ok" WORDS...: the result of one assertion that no test could make.
say_result() {
	local folder=$1 label=$2 name=$3 seconds=$4 verdict=$5
	shift 5
	printf '%s 1 - %s\n1..1\n' "$verdict" "$*" >"$folder/$name.tap"
	result "$folder" "$label" "$name" "$seconds" "$([ "$verdict" = ok ] && echo 0 || echo 1)"
}

# collect FOLDER LABEL: stdin has "### begin NAME [LIMIT]" and "### end NAME STATUS SECONDS" around the output of each test. The
# output of a test with a planted fault is kept, but not judged: another assertion says whether the fault was found. Sets
# RUNNING to the name of a test that did not end, and SILENT to the seconds after which nothing more was expected of whoever
# writes: a test ends within its LIMIT, or is ended, so a guest that has said nothing for longer hangs.
collect() {
	local folder=$1 label=$2 line file='' name status seconds patience=${BOOT_PATIENCE:-} rc
	RUNNING='' SILENT=''
	while :; do
		rc=0
		IFS= read -r ${patience:+-t "$patience"} line || rc=$?
		if [ $rc -gt 128 ]; then
			SILENT=$patience
			break
		fi
		[ $rc -eq 0 ] || break
		case $line in
		'### begin '*)
			read -r file seconds <<<"${line#'### begin '}"
			: >"$folder/$file.tap"
			echo "$file" >"$folder/now"
			patience=${BOOT_PATIENCE:+$((BOOT_PATIENCE + ${seconds:-0}))}
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
	RUNNING=$file
}

# no_red FOLDER: none of its results has a failure.
no_red() { ! grep -q '|[1-9][0-9]*|[0-9]*|[0-9]*$' "$1/results"; }
