#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# tests/check/check.pl, which judges and schedules the suite: a test's failure must not be reported as a success, what is no verdict must
# not be one, and the parts must run in the order that check.pl promises. It runs in a repository whose parts do what the file "does" says.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
top=$(cd "$here/../.." && pwd)
repo=$T/repo
mkdir -p "$repo"/tests/{check,guest,vm} "$T/cache" "$T/part"
cp "$top/tests/check/check.pl" "$repo/tests/check/"
export XDG_CACHE_HOME=$T/cache OUT=$repo/build STEPS=$T/steps
unset KERNEL PROVIDER TEST MUTANT ONLY
echo '^known reason$' >"$repo/tests/skips.allow"
echo 'excused.t|late|6.1 rxe .*|rxe is late|2020-01-01' >"$repo/tests/quarantine"

# --- a test's output ---

# judged WHAT STATUS TAP COUNTS [REASON-REGEX]
judged() {
	SAID=$(printf "### begin a.t 90\n$3### end a.t $2 3\n" | "$repo/tests/check/check.pl" judge "$T/part" "6.1 rxe full")
	is "$?|$SAID" "$([[ $4 == *' 0 not ok'* ]] && echo 0 || echo 1)|6.1 rxe full       a.t                       $4, 3 s$(tail -n +2 <<<"$SAID" | sed '1s/^/\n/')" "$1"
	[ -z "${5:-}" ] || like "$SAID" "    not ok - .*$5" "$1: it says why"
}
judged "all is well" 0 'ok 1 - a\n# note\nok 2 - b\n1..2\n' "2 ok, 0 not ok"
judged "a failure" 1 'ok 1 - a\nnot ok 2 - b\n1..2\n' "1 ok, 1 not ok"
judged "no plan" 0 'ok 1 - a\n' "1 ok, 1 not ok" 'No plan'
judged "nothing at all" 0 '' "0 ok, 2 not ok" 'no assertion'
judged "fewer tests than planned" 0 'ok 1 - a\n1..2\n' "1 ok, 1 not ok" 'planned 2 tests but ran 1'
judged "a number twice" 0 'ok 1 - a\nok 1 - b\n1..2\n' "2 ok, 1 not ok" 'out of sequence'
judged "a plan of no tests" 0 '1..0\n' "0 ok, 1 not ok" 'no assertion'
judged "a known skip" 0 'ok 1 # SKIP known reason\n1..1\n' "0 ok, 0 not ok, 1 skipped"
judged "a skip for another reason" 0 'ok 1 # SKIP no time\nok 2 - a\n1..2\n' "1 ok, 1 not ok" 'not in tests/skips.allow: no time'
judged "a skip of all for another reason" 0 '1..0 # SKIP no time\n' "0 ok, 1 not ok" 'no time'
judged "TODO is no excuse" 0 'not ok 1 - a # TODO later\n1..1\n' "0 ok, 1 not ok" 'yet to be written'
judged "failures, and the status is 0" 0 'not ok 1 - a\n1..1\n' "0 ok, 2 not ok" 'ended with status 0'
judged "status 1, and no failure" 1 'ok 1 - a\n1..1\n' "1 ok, 1 not ok" 'no assertion failed'
judged "its time was up" 124 'ok 1 - a\n' "1 ok, 1 not ok" 'HANG'
judged "it was killed" 137 'ok 1 - a\n1..1\n' "1 ok, 1 not ok" 'HANG'
judged "a run was left" 99 'ok 1 - a\n1..1\n' "1 ok, 1 not ok" 'left a run'
judged "it crashed" 139 'ok 1 - a\n1..1\n' "1 ok, 1 not ok" 'status 139'
judged "it bails out" 255 'ok 1 - a\nBail out! no disk\n' "1 ok, 2 not ok" 'no disk'

# --- the parts ---

# steps FOLDER NAME...: says a test NAME each, and does what "does" has behind NAME: bash.
cat >"$repo/tests/check/steps" <<'END'
#!/bin/bash
folder=$1
shift
for name; do
	echo "begin $name" >>"$STEPS"
	echo "### begin $name 0"
	rc=0
	eval "$(sed -n "s/^$name //p" "$(dirname "$0")/does")"
	sleep 0.1
	[ $rc = 0 ] && echo "ok 1 - $name" || echo "not ok 1 - $name"
	printf '1..1\n### end %s %d 1\n' "$name" $rc
	echo "end $name" >>"$STEPS"
done
END
echo 'exec "$(dirname "$0")/steps" "$1" "$2"' >"$repo/tests/check/host.sh"
echo 'f=$1; shift 4; exec "$(dirname "$0")/steps" "$f" ${*:-one.t two.t} kernel-log' >"$repo/tests/check/cell.sh"
echo 'case $1$4 in tests) printf "%s all core 5\n" one.t two.t ;; suite-ofrxe) echo core ;; esac' >"$repo/tests/select.sh"
echo 'echo 6.1' >"$repo/tests/vm/kernel.sh"
printf 'vm-all:\n\t@! grep -q "^$(KERNEL) bad" tests/check/does || { echo "cc: error: none"; exit 1; }\n' >"$repo/Makefile"
printf '%s\n' 'core rxe few -' 'wire rxe few pair' >"$repo/tests/suites"
printf '%s all core 5\n' one.t two.t excused.t >"$repo/tests/guest/table"
sed -i '1i #!/bin/bash' "$repo"/tests/*/*.sh "$repo/tests/select.sh"
chmod 755 "$repo"/tests/*/*.sh "$repo/tests/select.sh" "$repo/tests/check/steps"
printf '%s\n' /build/ /tests/check/{plan,does} >"$T/ignored"
(cd "$repo" && git init -q . && cp "$T/ignored" .git/info/exclude && git add . && git -c user.name=a -c user.email=a@example.org commit -q -m a)

# planned "ROW;..." "NAME WHAT" TARGET [VARIABLE=VALUE]...: runs check.pl; SAID is its output, RC its status, DID what happened.
planned() {
	tr ';' '\n' <<<"$1" >"$repo/tests/check/plan"
	echo "$2" >"$repo/tests/check/does"
	: >"$STEPS"
	SAID=$(env SLOTS=1 "${@:4}" "$repo/tests/check/check.pl" "$3" 2>&1)
	RC=$?
	DID=$(grep -v kernel-log "$STEPS" | tr '\n' ';')
}
planned 'host:short check 1;host:long check 9' '' check
is "$DID" "begin long;end long;begin short;end short;" "the longest first"
like "$RC $SAID" $'^0 .*\n2 passed, 0 failed$' "all is well: status 0, and the line with the counts is the last one"
planned 'host:a check 3;host:b check 2;host:c check 1' '' check SLOTS=2
like "$DID" '^begin [ab];begin [ab];end [ab];(end [ab];)?begin c' "two slots, two at a time"
planned 'oldest:wire check 9;host:a check 2;host:b check 1' '' check SLOTS=2
like "$DID" ';begin one.t;end one.t;begin two.t;end two.t;$' "what has to be alone comes last, and is"
planned 'host:a check 2;host:b gate 1;host:c deep 1' '' gate
is "$(grep -o begin <<<"$DID" | wc -l)" 2 "the gate has the parts of check, too, and not those of deep"
planned 'host:a check 2;debug:core:rxe check 2' 'debug bad' check
is "$DID" "begin a;end a;" "what needs a part that failed is not run"
like "$RC $SAID" '^1 .*cc: error: none.*not run: what it needs failed .*1 passed, 2 failed$' "and is told of, and why: status 1"

planned 'host:a check 2;host:b check 1' 'a rc=1' check
like "$RC $SAID" $'^1 .*What failed:\n6.1 host: a\n    not ok 1 - a\n    log:   build/check/host-a/a.tap\n    again: make check TEST=a KERNEL=6.1\n\n1 passed, 1 failed$' \
	"a failure is repeated at the end, with its log and its command: status 1"
planned '' 'one.t rc=1; seq 1 20000 | sed "s/.*/not ok & - b\n# why/"; echo 1..20000; echo "### end one.t 1 4"; continue' test TEST=oldest:core
like "$RC $SAID" $'^1 .*again: make check TEST=\'one.t\' KERNEL=6.1 PROVIDER=rxe\n\n2 passed, 20000 failed$' "a test with 20000 failures, and those behind it"
planned '' 'one.t exit' test TEST=oldest:core
like "$RC $SAID" $'^1 .*not ok - it did not end: status 0\n.*two.t was not run.*kernel-log was not run.*\n0 passed, 3 failed$' "a part that ends too early"
planned '' 'kernel-log rc=1' test TEST=one.t
like "$RC $SAID" $'^1 .*again: make check TEST=\'one.t\' KERNEL=6.1 PROVIDER=rxe\n\n1 passed, 1 failed$' "a report in the kernel's log"
planned '' 'excused.t rc=1; echo "not ok - it is late today"; echo "1..1"; echo "### end excused.t 1 1"; continue' test TEST=excused.t
like "$RC $SAID" $'^0 .*\n1 passed, 0 failed\nnot judged: 6.1 rxe core: excused.t: it is late today: quarantined: rxe is late$' "a failure in quarantine"
planned '' 'one.t echo "### end one.t 0 1"; echo "### begin planted-x-one.t 9"; echo "not ok 1"; echo "### end planted-x-one.t 1 1"; echo "### begin one.t"' \
	test TEST=one.t
like "$RC $SAID" $'^1 .*\n2 passed, 2 failed$' "a test with a planted fault has no verdict of its own"
planned '' 'one.t trap "echo \"### died 143\"; exit" USR1; echo "### patience 1"; sleep 9 & wait' test TEST=one.t
like "$RC $SAID" $'^1 .*not ok - HANG: the guest said nothing for 1 s\n.*\n0 passed, 1 failed$' "silence for longer than the test's limit is a hang"
planned '' 'one.t echo "### died of x"; exit' test TEST=oldest:core
like "$RC $SAID" $'^1 .*not ok - of x\n.*\n0 passed, 1 failed$' "a guest that dies"
planned '' 'one.t [ -d $folder.first ] || exit 75' test TEST=one.t
like "$RC $SAID" $'^0 .*\n2 passed, 0 failed\nnot judged: .*: the first guest died, and not of krping' "and not of krping: the cell has a second chance"
planned '' 'one.t echo "### instead 7.4 for 7.3"; rc=1' test TEST=one.t
like "$RC $SAID" $'^0 .*\n1 passed, 0 failed\nnot judged: 6.1 rxe core: on 7.4 for 7.3; 6.1 rxe core: one.t: 1 failed on' \
	"what fails on a kernel that the suite is not made for is named in the last line: status 0"
planned 'host:a check 1' 'a sleep 99 & echo $! >"$STEPS.child"; kill $PPID; wait' check
is $RC 130 "check.pl is stopped"
ok "and so is what its parts have started" until_ok 5 gone "$(cat "$STEPS.child")"

# --- the ledger ---

: >"$T/cache/krping/ledger"
for want in 'begin a;.*begin b;' '^begin b;end b;$'; do
	planned 'host:a check 1 tests/guest;host:b check 1' '' check
	like "$DID" "$want" "a part with inputs runs, and not again with the same inputs"
done
echo '#' >>"$repo/tests/guest/table"
planned 'host:a check 1 tests/guest;host:b check 1' '' check
like "$DID" 'begin a;' "but with others"
plan='oldest:core deep 9;host:a deep 1'
planned "$plan" '' deep ONLY=two.t
is "$DID" "begin two.t;end two.t;" "make deep ONLY=two.t"
planned "$plan" 'one.t rc=1' deep
like "$DID" '^(begin a;end a;)?begin one.t;end one.t;(begin a;end a;)?$' "make deep runs what is left, and not what has a verdict for this commit"
planned "$plan" '' deep
like "$RC $DID $SAID" '^0  nothing is left' "until nothing is left"
planned "$plan;host:never deep 1" '' report
like "$RC $SAID" $'^1 .*\nred, first seen  6.1 rxe core one.t: one.t\n.*not run  host:never' "make deep-report names what is red and what was not run"
planned "$plan" '' deep ONLY=one.t
planned "$plan" '' report
like "$RC $SAID" $'\nflaky    6.1 rxe core one.t: 1 ok, 1 red on .*too long in quarantine: excused.t$' \
	"and what has both verdicts on one commit, and what is in quarantine for too long"
planned '' 'one.t rc=1' test TEST=one.t N=3
like "$RC $SAID" $'^1 .*\n3 passed, 3 failed$' "make burn: three boots"

done_testing
