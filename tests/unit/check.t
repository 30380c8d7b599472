#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The scripts that judge and schedule the suite (tests/check): a test's failure must not be reported as a success, and the
# parts must run in the order, and within the limits, that the queue promises.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
top=$(cd "$here/../.." && pwd)

# --- tap.pl ---
echo '^known reason$' >"$T/skips"
# judged DESCRIPTION STATUS TAP COUNTS [REASON-REGEX]
judged() {
	local got why
	printf '%b' "$3" >"$T/tap"
	{
		IFS= read -r got
		why=$(cat)
	} < <("$top/tests/check/tap.pl" "$T/tap" "$2" "$T/skips")
	is "$got" "$4" "tap.pl: $1"
	[ -z "${5:-}" ] || like "$why" "$5" "tap.pl: $1: it says why"
}
judged "all is well" 0 'ok 1 - a\n# note\nok 2 - b\n1..2\n' "2 0 0"
judged "a failure" 1 'ok 1 - a\nnot ok 2 - b\n1..2\n' "1 1 0"
judged "no plan" 0 'ok 1 - a\n' "1 1 0" 'No plan'
judged "nothing at all" 0 '' "0 2 0" 'No plan'
judged "fewer tests than planned" 0 'ok 1 - a\n1..2\n' "1 1 0" 'planned 2 tests but ran 1'
judged "a number twice" 0 'ok 1 - a\nok 1 - b\n1..2\n' "2 1 0" 'out of sequence'
judged "a plan of no tests" 0 '1..0\n' "0 1 0" 'no assertion'
judged "a known skip" 0 'ok 1 # SKIP known reason\n1..1\n' "0 0 1"
judged "a skip for another reason" 0 'ok 1 # SKIP no time\nok 2 - a\n1..2\n' "1 1 0" 'not in tests/skips.allow: no time'
judged "a skip of all for another reason" 0 '1..0 # SKIP no time\n' "0 1 0" 'no time'
judged "TODO is no excuse" 0 'not ok 1 - a # TODO later\n1..1\n' "0 1 0" 'yet to be written'
judged "failures, and the status is 0" 0 'not ok 1 - a\n1..1\n' "0 2 0" 'ended with status 0'
judged "status 1, and no failure" 1 'ok 1 - a\n1..1\n' "1 1 0" 'no assertion failed'
judged "its time was up" 124 'ok 1 - a\n' "1 1 0" 'HANG'
judged "it was killed" 137 'ok 1 - a\n1..1\n' "1 1 0" 'HANG'
judged "a run was left" 99 'ok 1 - a\n1..1\n' "1 1 0" 'left a run'
judged "it crashed" 139 'ok 1 - a\n1..1\n' "1 1 0" 'status 139'
judged "it bails out" 255 'ok 1 - a\nBail out! no disk\n' "1 2 0" 'no disk'

# --- collect.sh ---
# shellcheck source=tests/check/collect.sh
. "$top/tests/check/collect.sh"
again() { echo "make check TEST=$1"; }
mkdir "$T/part"
collect "$T/part" "6.1 rxe full" >"$T/said" <<'END'
### begin good.t
ok 1 - a
1..1
### end good.t 0 3
### begin bad.t
not ok 1 - b
# why
1..1
### end bad.t 1 4
### begin planted-x-bad.t
not ok 1 - c
1..1
### end planted-x-bad.t 1 5
### begin dies.t
ok 1 - d
END
is "$RUNNING" dies.t "collect: it knows which test did not end"
is "$(cat "$T/part/results")" "6.1 rxe full|good.t|1|0|0|3
6.1 rxe full|bad.t|0|1|0|4" "collect: a result for each test that ended, and none for one with a planted fault"
is "$(cat "$T/part/failures")" "6.1 rxe full: bad.t
    not ok 1 - b
    # why
    log:   ${T#"$top"/}/part/bad.t.tap
    again: make check TEST=bad.t" "collect: a failure has its log and its command"

# A part goes on behind a test that fails from end to end.
rm -rf "$T/part" && mkdir "$T/part"
{
	echo "### begin bad.t"
	seq 1 20000 | sed 's/.*/not ok & - b\n# why & is not what was wanted/'
	printf '1..20000\n### end bad.t 1 4\n### begin good.t\nok 1 - a\n1..1\n### end good.t 0 3\n'
} | (set -euo pipefail && collect "$T/part" "6.1 rxe full") >"$T/said"
is "$(cat "$T/part/results")" "6.1 rxe full|bad.t|0|20000|0|4
6.1 rxe full|good.t|1|0|0|3" "collect: a test with 20000 failures, and the one behind it"

# --- queue.sh ---
# A job notes when it begins and ends; job_dropped and job_ended replace those of check.sh.
# shellcheck source=tests/check/queue.sh
. "$top/tests/check/queue.sh"
dir=$T
step() {
	echo "begin $1" >>"$T/steps"
	nap "${2:-0.2}"
	echo "end $1" >>"$T/steps"
	return "${3:-0}"
}
job_ended() { echo "ended $1 $2" >>"$T/ended"; }
job_dropped() { echo "$1: $2" >>"$T/dropped"; }
job_left_out() { echo "$1: left out: $2" >>"$T/dropped"; }
# queue SLOTS LIMIT: runs the jobs that were added, and empties the queue; STEPS, ENDED and DROPPED tell what happened.
queue() {
	: >"$T/steps" && : >"$T/ended" && : >"$T/dropped"
	run_jobs "$@"
	STEPS=$(tr '\n' ';' <"$T/steps") ENDED=$(sort "$T/ended" | tr '\n' ';') DROPPED=$(sort "$T/dropped" | tr '\n' ';')
	job_secs=() job_needs=() job_state=() job_command=() job_alone=() job_spare=() job_way=() jobs_all=() jobs_expected=0 jobs_took=0
}

job short 1 '' '' step short
job long 9 '' '' step long
queue 1 0
is "$STEPS" "begin long;end long;begin short;end short;" "queue: the longest first"

job a 1 '' '' step a
job b 2 a '' step b
job c 2 '' '' step c
queue 1 0
is "$STEPS" "begin a;end a;begin b;end b;begin c;end c;" "queue: first what the longest way to the end begins with"

job a 3 '' '' step a 0.6
job b 2 '' '' step b 0.6
job c 1 '' '' step c 0.6
queue 2 0
is "$(head -2 "$T/steps" | sort | tr '\n' ';')" "begin a;begin b;" "queue: two slots, two at a time"
like "$STEPS" 'end [ab];(end [ab];)?begin c' "queue: and no more"

job alone 9 '' alone step alone
job a 2 '' '' step a
job b 1 '' '' step b
queue 2 0
like "$STEPS" ';begin alone;end alone;$' "queue: what has to be alone comes last, and is"

job bad 1 '' '' step bad 0.1 1
job after 1 bad '' step after
job later 1 after alone step later
job other 1 '' '' step other
queue 2 0
is "$ENDED" "ended bad 1;ended other 0;" "queue: what needs a part that failed is not run"
like "$DROPPED" 'after: not run: .*later: not run: ' "queue: and is told of"

job fits 1 '' '' step fits
job does_not 99999 '' '' step does_not
queue 2 $((SECONDS + 60))
is "$ENDED" "ended fits 0;" "queue: what would not end in time is not begun"
like "$DROPPED" '^does_not: not run: it takes 99999 s' "queue: and is told of"

job spare 9 '' spare step spare
job a 1 '' '' step a
job alone 1 '' alone step alone
queue 1 0
is "$STEPS" "begin a;end a;begin alone;end alone;begin spare;end spare;" "queue: a spare one comes last, also without a limit"

job fits 1 '' '' step fits
job spare 99999 '' spare step spare
job after 1 spare spare step after
queue 2 $((SECONDS + 60))
is "$ENDED" "ended fits 0;" "queue: a spare one that would not end in time is not begun"
like "$DROPPED" '^after: left out: not run: what it needs was left out;spare: left out: not run: it takes 99999 s' "queue: it is left out, and what needs it"

job slow 1 '' '' step slow 3.2
job spare 30 '' spare step spare
queue 1 $((SECONDS + 60))
like "$DROPPED" '^spare: left out: not run: it takes (9|1[0-9])[0-9] s' "queue: on a machine that takes three times as long, a spare one does, too"

done_testing
