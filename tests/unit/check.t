#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The scripts that judge and schedule the suite (tests/check): a test's failure must not be reported as a success, what is no verdict
# must not be one, and the parts must run in the order that check.pl promises.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
top=$(cd "$here/../.." && pwd)

# --- result.pl ---
export KRPING_LEDGER=$T/ledger KRPING_COMMIT=abc KRPING_QUARANTINE=$T/quarantine KRPING_SKIPS=$T/skips
echo '^known reason$' >"$T/skips"
echo 'excused.t|late|6.1 rxe .*|rxe is late|2020-01-01' >"$T/quarantine"
# judged DESCRIPTION STATUS TAP COUNTS [REASON-REGEX]
judged() {
	local got why
	printf '%b' "$3" >"$T/tap"
	{
		IFS= read -r got
		why=$(cat)
	} < <("$top/tests/check/result.pl" --judge "$T/tap" "$2")
	is "$got" "$4" "result.pl: $1"
	[ -z "${5:-}" ] || like "$why" "$5" "result.pl: $1: it says why"
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
### begin good.t 90
ok 1 - a
1..1
### end good.t 0 3
### begin bad.t 90
not ok 1 - b
# why
1..1
### end bad.t 1 4
### begin planted-x-bad.t 90
not ok 1 - c
1..1
### end planted-x-bad.t 1 5
### begin excused.t 90
not ok 1 - it is late today
1..1
### end excused.t 1 6
### begin dies.t 90
ok 1 - d
END
is "$RUNNING" dies.t "collect: it knows which test did not end"
is "$(cat "$T/part/results")" "6.1 rxe full|good.t|1|0|0|3
6.1 rxe full|bad.t|0|1|0|4
6.1 rxe full|excused.t|0|0|0|6" "collect: a result for each test that ended, and none for one with a planted fault"
is "$(cat "$T/part/failures")" "6.1 rxe full: bad.t
    not ok 1 - b
    # why
    log:   ${T#"$top"/}/part/bad.t.tap
    again: make check TEST=bad.t" "collect: a failure has its log and its command"
is "$(cat "$T/part/notes")" "6.1 rxe full: excused.t: it is late today: quarantined: rxe is late" "a failure in quarantine is no verdict, and is told"
is "$(cut -f2-5,7 "$KRPING_LEDGER" | tr '\t\n' ' ;')" \
	"abc 6.1 rxe full good.t ok ;abc 6.1 rxe full bad.t red b;abc 6.1 rxe full excused.t ok ;" "the ledger has each"

# A guest that says nothing for longer than its test may take hangs.
mkfifo "$T/pipe"
(exec >"$T/pipe" && echo '### begin mute.t 0' && exec sleep 60) &
mute=$!
BOOT_PATIENCE=1
collect "$T/part" "6.1 rxe full" <"$T/pipe" >/dev/null
is "$RUNNING $SILENT" "mute.t 1" "collect: silence for longer than the test's limit is a hang"
kill $mute

# A part goes on behind a test that fails from end to end.
rm -rf "$T/part" && mkdir "$T/part"
unset BOOT_PATIENCE
{
	echo "### begin bad.t"
	seq 1 20000 | sed 's/.*/not ok & - b\n# why & is not what was wanted/'
	printf '1..20000\n### end bad.t 1 4\n### begin good.t\nok 1 - a\n1..1\n### end good.t 0 3\n'
} | (set -euo pipefail && collect "$T/part" "6.1 rxe full") >"$T/said"
is "$(cat "$T/part/results")" "6.1 rxe full|bad.t|0|20000|0|4
6.1 rxe full|good.t|1|0|0|3" "collect: a test with 20000 failures, and the one behind it"

# --- check.pl, in a repository whose parts only note when they begin and end ---
repo=$T/repo
mkdir -p "$repo"/tests/{check,guest,vm} "$T/cache"
cp "$top"/tests/check/{check.pl,result.pl} "$repo/tests/check/"
export XDG_CACHE_HOME=$T/cache OUT=$repo/build STEPS=$T/steps
unset KRPING_LEDGER KRPING_QUARANTINE KRPING_SKIPS KERNEL PROVIDER TEST MUTANT CELL
cat >"$repo/tests/check/part" <<'END'
#!/bin/bash
# part FOLDER LABEL NAME...: it does what "does" says of a NAME: bad, slow, instead (on another kernel)
folder=$1 label=$2
shift 2
mkdir -p "$folder"
rc=0
for name; do
	echo "begin $name" >>"$STEPS"
	what=$(sed -n "s/^$name //p" "$(dirname "$0")/does")
	[[ $what != *slow* ]] || sleep 0.6
	sleep 0.2
	[[ $what != *instead* ]] || echo "$label: on 7.4 for 7.3" >>"$folder/notes"
	if [[ $what == *bad* ]]; then echo "not ok 1 - $name" && rc=1; else echo "ok 1 - $name"; fi >"$folder/$name.tap"
	echo 1..1 >>"$folder/$name.tap"
	"$(dirname "$0")/result.pl" "$folder" "$label" "$name" 1 "$([[ $what == *bad* ]] && echo 1 || echo 0)" again
	echo "end $name" >>"$STEPS"
done
exit $rc
END
echo 'exec "$(dirname "$0")/part" "$1" "6.1 host" "$2"' >"$repo/tests/check/host.sh"
echo 'folder=$1 label="$2 $3 $4" k=$2; shift 4; exec "$(dirname "$0")/part" "$folder" "$label" ${*:-one.t two.t}' >"$repo/tests/check/cell.sh"
echo 'echo "begin ${1##*/}" >>"$STEPS"; ! grep -q "^${1##*/} bad" "$(dirname "$0")/does"' >"$repo/tests/check/prepare.sh"
echo '[ "$1" != tests ] || printf "one.t all %s 5\ntwo.t all %s 5\n" "$2" "$2"' >"$repo/tests/select.sh"
echo 'echo 6.1' >"$repo/tests/vm/kernel.sh"
echo 'echo tcg' >"$repo/tests/vm/run.sh"
: >"$repo/tests/vm/root.sh"
: >"$repo/tests/quarantine"
printf '%s rxe few -\n' core >"$repo/tests/suites"
echo 'wire rxe few pair' >>"$repo/tests/suites"
printf '%s all core 5\n' one.t two.t >"$repo/tests/guest/table"
for f in "$repo"/tests/*/*.sh "$repo"/tests/select.sh "$repo/tests/check/part"; do
	[[ $f == */part ]] || sed -i '1i #!/bin/bash' "$f"
	chmod 755 "$f"
done
(cd "$repo" && git init -q . && git add . && git -c user.name=a -c user.email=a@example.org commit -q -m a)
: >"$repo/tests/check/does"
printf '%s\n' /build/ /tests/check/{plan,does} >"$repo/.git/info/exclude"

# planned "ROW;..." "NAME WHAT;..." TARGET [VARIABLE=VALUE]...: runs check.pl; SAID is its output, RC its status, DID what happened.
planned() {
	tr ';' '\n' <<<"$1" >"$repo/tests/check/plan"
	tr ';' '\n' <<<"$2" >"$repo/tests/check/does"
	: >"$STEPS"
	SAID=$(env "${@:4}" "$repo/tests/check/check.pl" "$3" 2>&1)
	RC=$?
	DID=$(grep -v 'prepare-' "$STEPS" | tr '\n' ';')
}
planned 'host:short check 1;host:long check 9' '' check SLOTS=1
is "$DID" "begin long;end long;begin short;end short;" "the longest first"
like "$RC $SAID" $'^0 .*\n2 passed, 0 failed$' "all is well: status 0, and the line with the counts is the last one"
planned 'host:a check 3;host:b check 2;host:c check 1' 'a slow;b slow;c slow' check SLOTS=2
is "$(head -3 "$STEPS" | sort | tr '\n' ';')" "begin a;begin b;begin prepare-6.1;" "two slots, two at a time"
like "$DID" 'end [ab];(end [ab];)?begin c' "and no more"
planned 'oldest:wire check 9;host:a check 2;host:b check 1' '' check SLOTS=2
like "$DID" ';begin one.t;end one.t;begin two.t;end two.t;$' "what has to be alone comes last, and is"
planned 'host:a check 2;host:b gate 1;host:c deep 1' '' gate
is "$(grep -c begin <<<"${DID//;/$'\n'}")" 2 "the gate has the parts of check, too, and not those of deep"
planned 'host:a check 2;debug:core:rxe check 2' 'prepare-debug bad' check
is "$DID" "begin a;end a;" "what needs a part that failed is not run"
like "$RC $SAID" '^1 .*not run: what it needs failed .*1 passed, 1 failed$' "and is told of: status 1"
planned 'host:a check 2;host:b check 1' 'a bad' check
like "$RC $SAID" $'^1 .*What failed:\n6.1 host: a\n    not ok 1 - a\n.*again: again\n\n1 passed, 1 failed$' "a failure is repeated at the end: status 1"
planned 'newest:core:rxe check 9;host:a check 1' 'one.t bad instead' check
like "$RC $SAID" $'^0 .*\n2 passed, 0 failed\nnot judged: newest rxe core: on 7.4 for 7.3; newest rxe core: one.t: 1 failed on' \
	"what fails on a kernel that the suite is not made for is named in the last line: status 0"
planned 'host:a check 1 tests/guest;host:b check 1' '' check
like "$DID" 'begin a;' "a part with inputs runs"
planned 'host:a check 1 tests/guest;host:b check 1' '' check
is "$DID" "begin b;end b;" "and not again with the same inputs"
echo '#' >>"$repo/tests/guest/table"
planned 'host:a check 1 tests/guest;host:b check 1' '' check
like "$DID" 'begin a;' "but with others"
plan='oldest:core deep 9;host:a deep 1'
planned "$plan" '' deep ONLY=two.t
is "$DID" "begin two.t;end two.t;" "make deep ONLY=two.t"
planned "$plan" 'one.t bad' deep
like "$DID" 'begin one.t;' "make deep runs what is left"
unlike "$DID" 'two.t' "and not what has a verdict for this commit"
planned "$plan" '' deep
like "$RC $DID $SAID" '^0  nothing is left' "until nothing is left"
planned "$plan;host:never deep 1" '' report
like "$RC $SAID" $'^1 .*\nred, first seen  6.1 rxe core one.t: one.t\n.*not run  host:never' "make deep-report names what is red and what was not run"
planned "$plan" '' deep ONLY=one.t
planned "$plan" '' report
like "$RC $SAID" $'^0 .*\nflaky    6.1 rxe core one.t: 1 ok, 1 red on ' "and what has both verdicts on one commit"
echo 'x.t|.|.|why|2020-01-01' >"$repo/tests/quarantine"
planned "$plan" '' report
like "$RC $SAID" '^1 .*too long in quarantine: x.t' "and what is in quarantine for too long"
planned "$plan" 'one.t bad' cell CELL=oldest:core N=3
like "$RC $SAID" $'^1 .*\n3 passed, 3 failed$' "make burn: three boots of a cell"

done_testing
