# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A queue of jobs that depend on each other. As many jobs run at a time as there are slots; of the jobs that can begin, the
# one with the longest chain of jobs behind it begins first. Sourced by check.sh.

declare -A job_secs=() job_needs=() job_state=() job_command=() job_alone=() job_spare=() job_way=() job_begin=() job_pid=()
jobs_all=() jobs_expected=0 jobs_took=0

# job NAME SECONDS "NAME..." OPTIONS COMMAND...: adds a job. It is expected to take SECONDS; the jobs "NAME..." have to
# succeed before it begins. OPTIONS are words: alone, no other job runs beside it; spare, it begins when no other job waits,
# and is left out if there is no time for it.
job() {
	local name=$1
	jobs_all+=("$name")
	job_secs[$name]=$2 job_needs[$name]=$3 job_alone[$name]='' job_spare[$name]='' job_state[$name]=waits
	[[ " $4 " != *' alone '* ]] || job_alone[$name]=1
	[[ " $4 " != *' spare '* ]] || job_spare[$name]=1
	shift 4
	job_command[$name]=${*@Q}
}

# way NAME: sets job_way[NAME] to the seconds from the job's beginning to the end of the longest chain of jobs that need it.
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

# drop_void: makes jobs void that wait for a job which failed or is void, and leaves those out that wait for one which was left out.
drop_void() {
	local name need again=1
	while [ -n "$again" ]; do
		again=''
		for name in "${jobs_all[@]}"; do
			[ "${job_state[$name]}" = waits ] || continue
			for need in ${job_needs[$name]}; do
				case ${job_state[$need]} in
				bad | void) job_state[$name]=void again=1 ;;
				out)
					job_state[$name]=out again=1
					job_left_out "$name" "not run: what it needs was left out"
					;;
				esac
				[ "${job_state[$name]}" = waits ] || break
			done
		done
	done
}

# next_job: sets NEXT to a job that can begin now, or to nothing.
next_job() {
	local name need running ready must=''
	NEXT=''
	drop_void
	running=$(count_state runs)
	for name in "${jobs_all[@]}"; do
		[ "${job_state[$name]}" != waits ] || [ -n "${job_spare[$name]}" ] || must=1
	done
	for name in "${jobs_all[@]}"; do
		[ "${job_state[$name]}" = waits ] || continue
		ready=1
		for need in ${job_needs[$name]}; do
			[ "${job_state[$need]}" = good ] || ready=''
		done
		[ -n "$ready" ] || continue
		# A job that has to be alone comes last, so that no job waits for its end.
		if [ -n "${job_alone[$name]}" ] && [ $((running + $(count_others "$name"))) -gt 0 ]; then continue; fi
		if [ -n "${job_spare[$name]}" ] && [ -n "$must" ]; then continue; fi
		[ -n "$NEXT" ] && [ "${job_way[$NEXT]}" -ge "${job_way[$name]}" ] || NEXT=$name
	done
}

# count_others NAME: counts the jobs, except NAME, that wait, need not be alone and are not spare.
count_others() {
	local name n=0
	for name in "${jobs_all[@]}"; do
		[ "${job_state[$name]}" != waits ] || [ -n "${job_alone[$name]}${job_spare[$name]}" ] || [ "$name" = "$1" ] || n=$((n + 1))
	done
	echo $n
}

# seconds_left SLOTS: estimates how long the remaining jobs take.
seconds_left() {
	local name sum=0 longest=0 left
	for name in "${jobs_all[@]}"; do
		case ${job_state[$name]} in
		waits) left=${job_secs[$name]} ;;
		runs) left=$((job_secs[$name] - (SECONDS - job_begin[$name]))) && left=$((left > 5 ? left : 5)) ;;
		*) continue ;;
		esac
		# A job that runs alone takes all slots.
		sum=$((sum + left * (${#job_alone[$name]} > 0 ? $1 : 1)))
		left=$((left + job_way[$name] - job_secs[$name]))
		longest=$((left > longest ? left : longest))
	done
	echo $((sum / $1 > longest ? sum / $1 : longest))
}

# progress SLOTS: prints a line about the running jobs, and the time that is left. The file NAME/now in dir, the folder of
# check.sh, names the test that a part is running.
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

# lasts NAME: sets LASTS to the seconds that a job will take if this machine goes on as it has so far.
lasts() {
	LASTS=${job_secs[$1]}
	[ "$jobs_took" -le "$jobs_expected" ] || LASTS=$((LASTS * jobs_took / jobs_expected))
}

# run_jobs SLOTS LIMIT: runs all jobs. A job that would not end within LIMIT seconds (0: no limit) of this script's begin is
# not begun. Calls job_ended NAME STATUS SECONDS for each job that ended, job_dropped NAME WHY for each that was not begun, or
# job_left_out NAME WHY if it is a spare one.
run_jobs() {
	local slots=$1 limit=$2 name pid rc tick='' why took LASTS
	for name in "${jobs_all[@]}"; do way "$name"; done
	while :; do
		while [ "$(count_state runs)" -lt "$slots" ]; do
			next_job
			[ -n "$NEXT" ] || break
			name=$NEXT
			lasts "$name"
			if [ "$limit" -gt 0 ] && [ $((SECONDS + (${#job_spare[$name]} > 0 ? LASTS : job_secs[$name]))) -gt "$limit" ]; then
				why="not run: it takes $LASTS s, and $((limit - SECONDS)) s are left of $limit"
				if [ -n "${job_spare[$name]}" ]; then
					job_state[$name]=out
					job_left_out "$name" "$why"
				else
					job_state[$name]=bad
					job_dropped "$name" "$why"
				fi
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
			took=$((SECONDS - job_begin[$name]))
			jobs_took=$((jobs_took + took)) jobs_expected=$((jobs_expected + job_secs[$name]))
			job_ended "$name" $rc "$took"
		done
	done
	[ -z "$tick" ] || kill "$tick" 2>/dev/null || true
	for name in "${jobs_all[@]}"; do
		case ${job_state[$name]} in
		void | waits) job_dropped "$name" "not run: what it needs failed (${job_needs[$name]})" ;;
		esac
	done
}
