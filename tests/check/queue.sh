# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A queue of jobs with what they need before them: as many at a time as there are slots, and of those that could begin the
# one with the longest way to the end of the whole. Sourced by check.sh.

declare -A job_secs=() job_needs=() job_state=() job_command=() job_alone=() job_way=() job_begin=() job_pid=()
jobs_all=()

# job NAME SECONDS "NAME..." ALONE COMMAND...: SECONDS is what it is expected to take; the names are jobs that have to end
# well before it. Where ALONE is not empty, nothing runs beside it.
job() {
	local name=$1
	jobs_all+=("$name")
	job_secs[$name]=$2 job_needs[$name]=$3 job_alone[$name]=$4 job_state[$name]=waits
	shift 4
	job_command[$name]=${*@Q}
}

# way NAME: job_way[NAME] becomes the seconds from its beginning to the end of the longest chain that needs it.
way() {
	local name=$1 other longest=0
	[ -z "${job_way[$name]-}" ] || return 0
	for other in "${jobs_all[@]}"; do
		[[ " ${job_needs[$other]} " == *" $name "* ]] || continue
		way "$other"
		longest=$((job_way[$other] > longest ? job_way[$other] : longest))
	done
	job_way[$name]=$((job_secs[$name] + longest))
}

count_state() {
	local name n=0
	for name in "${jobs_all[@]}"; do [[ ${job_state[$name]} != "$1" ]] || n=$((n + 1)); done
	echo $n
}

# drop_void: jobs that wait for one which failed are void.
drop_void() {
	local name need again=1
	while [ -n "$again" ]; do
		again=''
		for name in "${jobs_all[@]}"; do
			[ "${job_state[$name]}" = waits ] || continue
			for need in ${job_needs[$name]}; do
				case ${job_state[$need]} in
				bad | void) job_state[$name]=void again=1 ;;
				esac
			done
		done
	done
}

# next_job: NEXT becomes a job that can begin now, or nothing.
next_job() {
	local name need running ready
	NEXT=''
	drop_void
	running=$(count_state runs)
	for name in "${jobs_all[@]}"; do
		[ "${job_state[$name]}" = waits ] || continue
		ready=1
		for need in ${job_needs[$name]}; do
			[ "${job_state[$need]}" = good ] || ready=''
		done
		[ -n "$ready" ] || continue
		# What has to be alone comes last, so that nothing waits for it.
		if [ -n "${job_alone[$name]}" ] && [ $((running + $(count_others "$name"))) -gt 0 ]; then continue; fi
		[ -n "$NEXT" ] && [ "${job_way[$NEXT]}" -ge "${job_way[$name]}" ] || NEXT=$name
	done
}

# count_others NAME: jobs that wait and need not be alone.
count_others() {
	local name n=0
	for name in "${jobs_all[@]}"; do
		[ "${job_state[$name]}" != waits ] || [ -n "${job_alone[$name]}" ] || [ "$name" = "$1" ] || n=$((n + 1))
	done
	echo $n
}

# seconds_left SLOTS: an estimate for all that is left.
seconds_left() {
	local name sum=0 longest=0 left
	for name in "${jobs_all[@]}"; do
		case ${job_state[$name]} in
		waits) left=${job_secs[$name]} ;;
		runs) left=$((job_secs[$name] - (SECONDS - job_begin[$name]))) && left=$((left > 5 ? left : 5)) ;;
		*) continue ;;
		esac
		# What is alone has all slots.
		sum=$((sum + left * (${#job_alone[$name]} > 0 ? $1 : 1)))
		left=$((left + job_way[$name] - job_secs[$name]))
		longest=$((left > longest ? left : longest))
	done
	echo $((sum / $1 > longest ? sum / $1 : longest))
}

# progress SLOTS: a line about what runs, and the time that is left. In dir, the folder of check.sh, a part says what it does.
# shellcheck disable=SC2154 # dir is theirs
progress() {
	local name what='' left ended
	for name in "${jobs_all[@]}"; do
		[ "${job_state[$name]}" = runs ] || continue
		what+=", $name $((SECONDS - job_begin[$name])) s"
		[ ! -s "$dir/$name/now" ] || what+=" ($(cat "$dir/$name/now" 2>/dev/null))"
	done
	left=$(seconds_left "$1")
	ended=$(($(count_state good) + $(count_state bad)))
	printf -- '-- %d:%02d  %d of %d parts done%s; about %d min left\n' $((SECONDS / 60)) $((SECONDS % 60)) $ended \
		${#jobs_all[@]} "$what" $(((left + 59) / 60))
}

# run_jobs SLOTS LIMIT: all of them. One that would not end within LIMIT seconds (0: no limit) of this script's begin is not
# begun. job_ended NAME STATUS is called for each that ended; job_dropped NAME WHY for each that was not begun.
run_jobs() {
	local slots=$1 limit=$2 name pid rc tick=''
	for name in "${jobs_all[@]}"; do way "$name"; done
	while :; do
		while [ "$(count_state runs)" -lt "$slots" ]; do
			next_job
			[ -n "$NEXT" ] || break
			name=$NEXT
			if [ "$limit" -gt 0 ] && [ $((SECONDS + job_secs[$name])) -gt "$limit" ]; then
				job_state[$name]=bad
				job_dropped "$name" "not run: it takes ${job_secs[$name]} s, and $((limit - SECONDS)) s are left of $limit"
				continue
			fi
			job_state[$name]=runs job_begin[$name]=$SECONDS
			eval "${job_command[$name]} &"
			job_pid[$name]=$!
			[ -z "${job_alone[$name]}" ] || break
		done
		[ "$(count_state runs)" -gt 0 ] || break
		[ -n "$tick" ] || { sleep 60 & tick=$!; }
		rc=0
		wait -n -p pid || rc=$?
		if [ "${pid:-}" = "$tick" ]; then
			tick=''
			progress "$slots"
			continue
		fi
		for name in "${jobs_all[@]}"; do
			[ "${job_state[$name]}" = runs ] && [ "${job_pid[$name]}" = "${pid:-}" ] || continue
			[ $rc -eq 0 ] && job_state[$name]=good || job_state[$name]=bad
			job_ended "$name" $rc $((SECONDS - job_begin[$name]))
		done
	done
	[ -z "$tick" ] || kill "$tick" 2>/dev/null || true
	for name in "${jobs_all[@]}"; do
		case ${job_state[$name]} in
		void | waits) job_dropped "$name" "not run: what it needs failed (${job_needs[$name]})" ;;
		esac
	done
}
