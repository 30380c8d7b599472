# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2119,SC2120
#
# TAP for bash, and helpers that start krping's two ends. A test sources this file, makes its assertions and ends with
# done_testing, which also asserts that no run is left.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Modules of tests/plant; and what check.pl has built.
PLANTS=$here/../../build/vm-${KRPING_KERNEL:-6.1}/plant
krwrite=${KRWRITE:-$here/../../build/guest/krwrite}
T=$(mktemp -d)
LIVE=()
ADDR=${KRPING_ADDR:-10.9.0.1}
ADDR6=${KRPING_ADDR6:-fd09::1}
LINK=${KRPING_LINK:-rxe0}
PROVIDER=${KRPING_PROVIDER:-rxe}
# 1: the emulator runs the guest's CPUs in turns of 100 ms, so that one CPU may stand still while another one runs. A guest
# with one CPU has no such turns.
TURNS=${KRPING_TURNS:-0}
[ "$(nproc)" -gt 1 ] || TURNS=0
export KRPING_TURNS=$TURNS
TRACING=/sys/kernel/tracing
tap_n=0 tap_failed=0
PORT=9999
declare -A PIDS=()
LINE='' # the result line that field() reads
# Each look at /proc/krping_runs reads all runs that are remembered, up to 1024, which is most of a test's time. A test that looks at more
# runs that are over sets this by itself. On a machine that is not ours it stays.
HISTORY=/sys/module/rdma_krping/parameters/history
[ "${KRPING_SUITE-}" = here ] || [ ! -w $HISTORY ] || echo 40 >$HISTORY

# nap [SECONDS]: pauses without a new process, by reading with a timeout from a FIFO that nobody writes to.
mkfifo "$T/nap"
exec {nap_fd}<>"$T/nap"
nap() {
	local x
	read -rt "${1:-0.05}" -u "$nap_fd" x || :
}

cleanup() {
	local pid
	for pid in "${PIDS[@]}"; do kill -KILL "$pid" 2>/dev/null; done
	parting_off
	rm -rf "$T"
}
trap cleanup EXIT

diag() {
	local line
	while IFS= read -r line; do printf '# %s\n' "$line"; done <<<"$*"
}

# in_main WHAT: guards functions that do not work in a subshell, such as that of ok: the test's children are not the
# subshell's children, and its counters and variables are lost when it ends. In a subshell it fails, prints WHAT at
# once, and makes the whole test fail.
in_main() {
	[ "$BASHPID" != $$ ] || return 0
	echo "$*: in a subshell" | tee -a "$T/astray"
	return 1
}

# Do not call wait through ok, but write "wait PID; is $? 0 DESCRIPTION". A subshell waits for its own children with "builtin wait".
wait() {
	in_main "wait $*" || return 127
	builtin wait "$@"
}

pass() {
	in_main "pass $*" || return 1
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s\n' $tap_n "$*"
}

fail() {
	in_main "fail $*" || return 1
	tap_n=$((tap_n + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' $tap_n "$*"
}

# skip REASON [N]: skips N assertions (1). Each reason has to be listed in tests/skips.allow.
skip() {
	local i
	for ((i = 0; i < ${2:-1}; i++)); do
		tap_n=$((tap_n + 1))
		printf 'ok %d # SKIP %s\n' $tap_n "$1"
	done
}

# ok DESCRIPTION COMMAND...
ok() {
	local what=$1 text
	shift
	! text=$("$@" 2>&1) || { pass "$what" && return; }
	fail "$what"
	[ -z "$text" ] || diag "$text"
	return 1
}

# is GOT WANTED DESCRIPTION
is() {
	[ "$1" != "$2" ] || { pass "$3" && return; }
	fail "$3"
	diag "got:    $1"$'\n'"wanted: $2"
	return 1
}

# like GOT EXTENDED-REGEX DESCRIPTION
like() {
	[[ ! $1 =~ $2 ]] || { pass "$3" && return; }
	fail "$3"
	diag "got:    $1"$'\n'"wanted: a match of $2"
	return 1
}

unlike() {
	[[ $1 =~ $2 ]] || { pass "$3" && return; }
	fail "$3"
	diag "got: ${BASH_REMATCH[0]}"
	return 1
}

# absorb COMMAND...: turns the "ok -" and "not ok -" lines of COMMAND into assertions, and its other lines into
# diagnostics.
absorb() {
	local line n=0
	while IFS= read -r line; do
		case $line in
		'ok - '*) pass "${line#ok - }" ;;
		'not ok - '*) fail "${line#not ok - }" ;;
		*)
			diag "${line#\# }"
			continue
			;;
		esac
		n=$((n + 1))
	done < <("$@" 2>&1 || echo "not ok - $1 ended with status $?")
	[ $n -gt 0 ] || fail "$* said nothing"
}

# Time limits exist to catch hangs, so they are multiplied by this: a debug kernel or a busy host is slow, not hung. No other
# figure may be multiplied by this, and no assertion may depend on how fast the machine is.
SLOW=${KRPING_SLOW:-1}

# limited SECONDS COMMAND...: runs a command that ends by itself, and ends a command that hangs.
limited() { timeout $(($1 * SLOW)) "${@:2}"; }

# expired WHAT: a failed assertion of its own, which names the line of the test that has waited in vain for WHAT. In a subshell, as
# that of ok, only the return value tells.
expired() {
	local i=1 file
	[ "$BASHPID" = $$ ] || return 1
	while file=${BASH_SOURCE[i + 1]-} && [[ $file == */lib*.sh ]]; do i=$((i + 1)); done
	fail "${file##*/}:${BASH_LINENO[i]}: $*"
	return 1
}

# until_ok SECONDS COMMAND...: calls COMMAND until it succeeds. After SECONDS the test has failed: use within where the command
# need not succeed.
until_ok() { within "$@" || expired "${*:2}, within $(($1 * SLOW)) s"; }

# within SECONDS COMMAND...: calls COMMAND until it succeeds; fails after SECONDS.
within() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000 * SLOW))
	shift
	while ! "$@"; do
		[ "${EPOCHREALTIME/./}" -lt $end ] || return 1
		nap
	done
}

# rounds MANY FEW [LEAST]: prints how often this suite repeats something (tests/suites). Without LEAST that is FEW.
rounds() {
	case ${KRPING_ROUNDS:-many} in
	many) echo "$1" ;;
	least) echo "${3-$2}" ;;
	*) echo "$2" ;;
	esac
}

now_ms() { printf '%s\n' $((${EPOCHREALTIME/./} / 1000)); }

gone() {
	local stat
	kill -0 "$1" 2>/dev/null || return 0
	# A zombie, which has ended but which bash has not reaped yet, is gone, too.
	read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
	[[ ${stat##*) } == Z* ]]
}

# run_line PID: sets LINE to the last line of that writer, of a run without a parent, in /proc/krping_runs. It uses mapfile, since read would seek
# in the file after each line.
run_line() {
	local lines i
	LINE=''
	mapfile -t lines </proc/krping_runs
	for ((i = ${#lines[@]} - 1; i >= 0; i--)); do
		[[ ${lines[i]} == *" parent=0 "*" pid=$1 "* ]] || continue
		LINE=${lines[i]}
		return 0
	done
	return 1
}

# parse [LINE]: sets F[key] for each key=value of a line, and F[reason] without its quotes. It starts no process, since
# that would take most of a test's time.
declare -A F=()
parse() {
	local line=${1-$LINE} token
	F=()
	if [[ $line == *' reason="'* ]]; then
		F[reason]=${line#* reason=\"}
		F[reason]=${F[reason]%\"}
		line=${line%% reason=\"*}
	fi
	for token in $line; do F[${token%%=*}]=${token#*=}; done
}

# field NAME [LINE]: prints the value of one key.
field() {
	parse "${2-$LINE}"
	printf '%s\n' "${F[$1]-}"
}

reason() { field reason "$@"; }

# values KEYS LINE: parses the line, and sets GOT to the values of these keys, with a blank between two.
values() {
	local key
	parse "$2"
	GOT=''
	for key in $1; do GOT+=" ${F[$key]-}"; done
	GOT=${GOT# }
}
# line_is KEYS WANTED DESCRIPTION [LINE]: compares these values of the line; line_like: with a regular expression.
line_is() { values "$1" "${4-$LINE}"; is "$GOT" "$2" "$3" || diag "${4-$LINE}"; }
line_like() { values "$1" "${4-$LINE}"; like "$GOT" "$2" "$3" || diag "${4-$LINE}"; }
# pair_is KEYS WANTED DESCRIPTION: the same of client and server, CLI and SRV.
pair_is() {
	line_is "$1" "$2" "$3: the client" "$CLI"
	line_is "$1" "$2" "$3: the server" "$SRV"
}

# start NAME TEXT [OPTION]...: starts a writer in the background.
start() {
	in_main "start $1" || return 1
	local name=$1 text=$2
	shift 2
	rm -f "$T/$name.result"
	"$krwrite" --out "$T/$name.result" "$@" "$text" &
	PIDS[$name]=$!
}

# state_is NAME REGEX: REGEX matches "state" of the run. A run that has not begun has no state, so this fails.
state_is() {
	run_line "${PIDS[$1]}" || return 1
	parse
	[[ ${F[state]} =~ ^($2)$ ]]
}

# wait_state NAME REGEX [SECONDS]
wait_state() {
	until_ok "${3:-10}" state_is "$1" "$2"
}

# clients_over N FAILED: so many clients of the writer "server" are over, and so many of them have failed.
clients_over() { run_line "${PIDS[server]}" && parse && [ "${F[served]} ${F[failed]}" = "$*" ]; }
# reasons: prints the errnos and reasons of the runs of the server P that have failed.
reasons() { sed -nE "s/.* parent=$P"' .* state=ERROR .* errno=([0-9]+) .*reason="(.*)"$/\1 \2/p' /proc/krping_runs; }

is_listening() {
	local lines line
	run_line "${PIDS[$1]}" || return 1
	parse
	[ "${F[src]}" != - ] && [ "${F[state]}" = IDLE ] || return 1
	mapfile -t lines </proc/krping
	for line in "${lines[@]}"; do
		[ "$line" != "${F[id]} listen" ] || return 0
	done
	return 1
}

listens_or_ended() { gone "${PIDS[$1]}" || is_listening "$1"; }

# server NAME TEXT [OPTION]...: starts a server and waits until it listens, or has ended.
server() {
	start "$@"
	until_ok 10 listens_or_ended "$1"
}

# serve OPTIONS [OPTION]...: starts the server "server", and sets P to the id of its run.
serve() {
	server server "server,addr=${AT:-$ADDR},port=$PORT$1" "${@:2}"
	run_line "${PIDS[server]}"
	P=$(field id)
}

pings() {
	run_line "${PIDS[$1]}" || return 1
	parse
	[ "${F[iters]}" -ge "${2:-3}" ]
}

# wait_pings NAME [N]: waits until the run has made N pings (3); the test has failed if the run ends before that.
wait_pings() { within 10 pings_or_gone "$@" && pings "$@" || expired "$1 has made ${2:-3} pings: $LINE"; }
pings_or_gone() { pings "$@" || gone "${PIDS[$1]}"; }

# more_pings NAME [N]: waits until the run has made N pings more than now (2).
more_pings() { pings "$1" 0 && wait_pings "$1" $((F[iters] + ${2:-2})); }

# finish NAME [SECONDS]: waits for the writer and sets LINE to its result. If we have to kill the writer, that is a
# failed assertion of its own: a run that ignored the test's signal ends by our signal, and its result looks right.
finish() {
	in_main "finish $1" || return 1
	local pid=${PIDS[$1]} rc=0
	if ! within "${2:-15}" gone "$pid"; then
		fail "$1 ends without being killed"
		diag "$1 (pid $pid) does not end within $((${2:-15} * SLOW)) s: $(cat "/proc/$pid/stack" 2>/dev/null)"
		diag "$(tail -5 /proc/krping_runs)"
		kill -INT "$pid" 2>/dev/null
		within 5 gone "$pid" || kill -KILL "$pid" 2>/dev/null
		rc=1
	fi
	wait "$pid" 2>/dev/null
	unset "PIDS[$1]"
	LINE='ret=none werr=none'
	if [ -e "$T/$1.result" ]; then
		IFS= read -r LINE <"$T/$1.result"
	else
		run_line "$pid"
	fi
	return $rc
}

# interrupt NAME [SIGNAL]: ends the writer by SIGINT, and sets LINE to its result.
interrupt() {
	kill -"${2:-INT}" "${PIDS[$1]}" 2>/dev/null
	finish "$1"
}

# client TEXT [SECONDS]: runs a client to its end and sets LINE to its result.
client() {
	start client "$1"
	finish client "${2:-20}"
}

# refused DESCRIPTION TEXT REGEX: asserts that the command fails, with "ERRNO REASON" that matches all of REGEX.
refused() {
	start refused "$2"
	finish refused
	line_like "werr reason state" "^($3) ERROR\$" "$1: ${3%% *}, and its reason"
}

# client_is TEXT KEYS WANTED DESCRIPTION: runs a client, and asserts of its line what line_is does. finish_is and interrupt_is NAME KEYS
# WANTED DESCRIPTION: the same of a writer that is waited for, or interrupted; client_like and finish_like: with a regular expression.
client_is() { client "$1"; line_is "${@:2}"; }
client_like() { client "$1"; line_like "${@:2}"; }
finish_is() { finish "$1"; line_is "${@:2}"; }
finish_like() { finish "$1"; line_like "${@:2}"; }
interrupt_is() { interrupt "$1"; line_is "${@:2}"; }

# pinging NAME TEXT [N]: starts a writer, and waits until its run has made N pings (3).
pinging() {
	start "$1" "$2"
	wait_pings "$1" "${3:-3}"
}

# client_good DESCRIPTION TEXT PINGS: runs a client, which makes so many pings. finish_good DESCRIPTION NAME [PINGS]: waits for a writer,
# which has done so.
client_good() {
	client "$2"
	check_good "$1" "$LINE" "$3"
}
finish_good() {
	finish "$2"
	check_good "$1" "$LINE" "${@:3}"
}

# ping_pair SERVER-OPTIONS CLIENT-OPTIONS: runs a pair to its end and sets SRV and CLI to the results.
ping_pair() {
	server pair-server "server,addr=$ADDR,port=$PORT$1"
	client "client,addr=$ADDR,port=$PORT$2"
	CLI=$LINE
	finish pair-server
	SRV=$LINE
}

# quiet_pair SERVER-OPTIONS CLIENT-OPTIONS: as ping_pair, for measurements. The script does nothing while the client runs, where
# finish() looks twenty times a second whether it has ended, which takes as long as five pings of an emulated CPU.
quiet_pair() {
	local pid limit
	server pair-server "server,addr=$ADDR,port=$PORT$1"
	start client "client,addr=$ADDR,port=$PORT$2"
	pid=${PIDS[client]}
	(nap $((120 * SLOW)) && kill -INT "$pid") &
	limit=$!
	wait "$pid"
	kill "$limit"
	wait "$limit" 2>/dev/null
	finish client
	CLI=$LINE
	finish pair-server
	SRV=$LINE
}

# trace_perl CODE [ARGUMENT]...: runs perl with Trace.pm, for what a test looks for in a recording.
trace_perl() { perl -I"$here" -MTrace -we 'use strict; no warnings "uninitialized";' -e "$@"; }

# These events show what a run was doing when it ended. They go into an ftrace instance of their own, so that a test can
# use ftrace for something else at the same time. Its buffer is small, since the last events are enough.
PARTING=$TRACING/instances/krping-parting
parting_on() {
	local e
	mkdir -p $PARTING
	echo 128 >$PARTING/buffer_size_kb
	for e in phase cm_event wc_err wc_flush post_send_err post_recv_err; do
		echo 1 >$PARTING/events/krping/krping_$e/enable
	done
}
parting_off() {
	[ ! -d $PARTING ] || { echo 0 >$PARTING/events/enable && rmdir $PARTING; }
}

# parted LINE: sets WANT to the result that the run of that line must have after its peer has left, "ERRNO STATE REASON" as a
# regular expression. The peer may leave at any point, and each point has its own result:
#   a failed completion gives EIO, with the request and its status; but on siw the statuses 2 and 21 may be due to the closed
#   connection, which then is the cause; a refused post gives ECONNRESET; an endless run is DONE if it was between two pings,
#   as far as it knows; every other case gives ECONNRESET, with the iteration.
# The point is taken from the run's own events, since nobody else knows where a run was when the news came: that the result fits the
# events is all that is asserted here. Where a test holds the peer at a point (rping_stopped), it compares with a fixed result, too.
parted() {
	parse "$1"
	WANT=$(trace_perl '
		my ($file, $run, $role, $count, $iters, $provider) = @ARGV;
		my ($cause, $doubt, $closed, $left, $last);
		for my $e (grep { $_->{run} == $run } events($file)) {
			if ($e->{ev} eq "wc_err" && !$cause) {
				my ($status, $vendor) = $e->{rest} =~ m{\((\d+)/0x(\w+)\)};
				my $eio = "EIO ERROR $e->{kind} failed: .* [(]status $status, vendor error 0x$vendor\[)]\$";
				if ($provider eq "siw" && $status =~ /^(2|21)$/) { $doubt = $eio } else { $cause = $eio }
			}
			$closed = 1 if $e->{ev} =~ /^post_(send|recv)_err$/ && $e->{err} == -107;
			$left = 1 if $e->{ev} eq "cm_event" && $e->{event} eq "DISCONNECTED";
			$last = $e->{prev} and last if $e->{ev} eq "phase" && $e->{phase} eq "disconnect";
		}
		my $between = $role eq "server" ? qr/^wait_source$/ : qr/^(reg_source|send_source|wait_read)$/;
		print !$last ? "no end of it in the trace" : $cause ? $cause : $doubt && !$left ? $doubt :
			$closed && !($left && !$count) ? "ECONNRESET ERROR the connection is closed" :
			$left && !$count && $last =~ $between ? "0 DONE \$" :
			"ECONNRESET ERROR the peer disconnected " . ($count ? "after $iters of $count iterations" : "in iteration $iters");
		' $PARTING/trace "${F[id]}" "${F[role]}" "${F[count]}" "${F[iters]}" "$PROVIDER")
}

# check_parted DESCRIPTION: asserts the result that parted computes. LINE is of a run whose peer has left.
check_parted() {
	parted "$LINE"
	like "${F[werr]-none} ${F[state]-} ${F[reason]-}" "^$WANT" "$1" || diag "$(grep ": run=${F[id]} " $PARTING/trace | tail -8)"
}

# remote COMMAND: runs COMMAND in the VM at the wire's other end (agent.pl). REMOTE becomes its output, and remote
# returns its exit status.
remote() {
	local line fd
	REMOTE=''
	exec {fd}<>"/dev/tcp/${KRPING_PEER:?}/7000" || return 255
	printf '%s\n' "$1" >&"$fd"
	while IFS= read -r line <&"$fd"; do
		if [[ $line =~ ^status\ ([0-9]+)$ ]]; then
			exec {fd}>&-
			return "${BASH_REMATCH[1]}"
		fi
		REMOTE+=$line$'\n'
	done
	exec {fd}>&-
	return 255
}

# check_good SIDE LINE [ITERATIONS]: the run did what was asked, with as many iterations, or without end.
check_good() {
	parse "$2"
	is "ret=${F[ret]-} ${F[werr]-} ${F[state]-} errno=${F[errno]-} iters=${F[iters]-}" \
		"ret=${F[len]-?} 0 DONE errno=0 iters=${3-${F[iters]-}}" "$1 ended well" || diag "${F[reason]-}"
}

# rping_listens: a user-space rping, PIDS[rping], listens.
rping_listens() { [[ $(rdma res show cm_id) == *LISTEN*rping* ]]; }

# rping_server [OPTION]...: starts a user-space rping, PIDS[rping], and waits until it listens; rping_ends kills it.
rping_server() {
	rping -s -a "$ADDR" -p $PORT "$@" >"$T/rping.log" 2>&1 &
	PIDS[rping]=$!
	until_ok 5 rping_listens
}
rping_ends() { tool_end rping KILL; }

# idle_ticks: sets IDLE to how long each CPU has been idle, in ticks.
idle_ticks() {
	local word n
	IDLE=()
	while read -r word _ _ _ n _; do [[ $word != cpu[0-9]* ]] || IDLE+=("$n"); done </proc/stat
}

# still NAME: the run makes no progress any more. Its line was the same before and after each CPU had nothing to do, so that nothing
# is under way, however slow the machine is. A CPU on which a thread polls is never idle, nor is one of a machine that is not ours alone:
# there the line has to be the same for two seconds.
still() {
	local was="${F[iters]-} ${F[state]-}" ticks i
	idle_ticks
	ticks=("${IDLE[@]}")
	if [ "${F[poll_ctx]-}" = busy ] || [ "${KRPING_SUITE-}" = here ]; then nap 2; else nap 0.1; fi
	run_line "${PIDS[$1]}" && parse && [ "${F[iters]-} ${F[state]-}" = "$was" ] || return 1
	[ "${F[poll_ctx]}" != busy ] && [ "${KRPING_SUITE-}" != here ] || return 0
	idle_ticks
	for i in "${!ticks[@]}"; do [ "${IDLE[i]}" -gt "${ticks[i]}" ] || return 1; done
}

# rping_stopped NAME STATE: stops rping; succeeds if nothing is under way any more and our end waits for rping in that
# state. If our end is in another state, rping goes on and the caller has to try again. Do not call it through ok, since it
# sets F.
rping_stopped() {
	kill -STOP "${PIDS[rping]}"
	within 20 still "$1" && [ "${F[state]}" = "$2" ] && return
	kill -CONT "${PIDS[rping]}"
	return 1
}

# The lying peer, liar.c. Tests run it as a client with "$liar" client "$ADDR" $PORT NAME=VALUE..., and as a server in
# the background with lying_server.
liar=$here/../../build/guest/liar
liar_listens() { [[ $(rdma res show cm_id) == *LISTEN*liar* ]]; }
lying_server() {
	background liar "$liar" server "$ADDR" $PORT "$@"
	until_ok 10 liar_listens
}

# good_pair WHAT ITERATIONS SERVER-OPTIONS [CLIENT-OPTIONS]: a pair, with the same options if the client has none of its own, of which both
# ends do what was asked. F is the client's.
good_pair() {
	ping_pair "$3" "${4-$3}"
	check_good "$1: server" "$SRV" "$2"
	check_good "$1: client" "$CLI" "$2"
}
# works_after WHAT: asserts that a pair still works, at the end of a test that broke something.
works_after() { good_pair "$1: the next pair" 5 ",count=5,validate"; }

# background NAME COMMAND...: runs COMMAND in the background, with its output in $T/NAME.out and .err.
background() {
	in_main "background $1" || return 1
	local name=$1
	shift
	"$@" >"$T/$name.out" 2>"$T/$name.err" &
	PIDS[$name]=$!
}

# on_terminal NAME COMMAND...: starts a command, of words without blanks, on a terminal of its own, in the background, and
# sets CHILD to its pid. Its output, and what is typed, is in $T/NAME.out; NAME ends with its status, 128 and the signal's
# number if it dies of one.
on_terminal() {
	in_main "on_terminal $1" || return 1
	local name=$1 keys=$T/$1.keys
	shift
	rm -f "$keys"
	mkfifo "$keys"
	# Opened for both, it never ends: script(1) would type a ctrl-d at its end.
	background "$name" bash -c 'exec script -q -e -f -c "$1" /dev/null <>"$2"' - "exec $*" "$keys"
	until_ok 10 child_of "${PIDS[$name]}"
}
child_of() { CHILD=$(pgrep -P "$1"); }
# type_keys NAME KEYS: types on that terminal, with printf's escapes.
type_keys() { printf '%b' "$2" >"$T/$1.keys"; }

# tool_end NAME [SIGNAL]: ends a background command and sets RC to its exit status. As in finish, it is a failed
# assertion if the command has to be killed.
tool_end() {
	in_main "tool_end $1" || return 1
	[ -z "${2:-}" ] || kill -"$2" "${PIDS[$1]}"
	within 10 gone "${PIDS[$1]}" || { fail "$1 ends without being killed"; kill -KILL "${PIDS[$1]}"; }
	wait "${PIDS[$1]}" 2>/dev/null
	RC=$?
	unset "PIDS[$1]"
}

# tool_ends DESCRIPTION NAME [SIGNAL]: ends a command as tool_end does, and asserts that its status is 0; tool_ok: and that it has said
# nothing on stderr.
tool_ends() {
	tool_end "${@:2}"
	is "$RC" 0 "$1"
}
tool_ok() {
	tool_end "${@:2}"
	is "$RC $(cat "$T/$2.err")" "0 " "$1"
}

# printing_begin, printing_end: the test expects what the module prints between them; the gate fails if the module
# prints anywhere else. PRINTED becomes what it has printed, without its prefix.
printing_begin() { echo "krping-test: printing begin" >/dev/kmsg; }
printing_end() {
	echo "krping-test: printing end" >/dev/kmsg
	PRINTED=$(dmesg | awk '/krping-test: printing begin/ { text = ""; next } { text = text $0 "\n" }
		END { printf "%s", text }' | sed -n 's/^\[[^]]*\] krping: //p')
}

# printing COMMAND...: the command, between the two.
printing() {
	printing_begin
	"$@"
	printing_end
}

# no_live_runs: sets LIVE to the lines of /proc/krping; succeeds if there are none.
no_live_runs() {
	LIVE=()
	[ ! -e /proc/krping ] || mapfile -t LIVE </proc/krping
	[ ${#LIVE[@]} -eq 0 ]
}

# link_is_up LINK ADDRESS: on RoCE the GID of the address must be there, too, since without it there is no route.
link_is_up() {
	local gid
	grep -q ACTIVE "/sys/class/infiniband/$1/ports/1/state" 2>/dev/null || return 1
	[ "$PROVIDER" != siw ] || return 0
	# shellcheck disable=SC2086 # four words
	printf -v gid '0000:ffff:%02x%02x:%02x%02x' ${2//./ }
	cat "/sys/class/infiniband/$1/ports/1/gids/"* 2>/dev/null | grep -q "$gid"
}

# link_add LINK NETDEV ADDRESS [COMMAND...]: makes a link, with COMMAND in front of rdma, and waits until the link can
# be used.
link_add() {
	"${@:4}" rdma link add "$1" type "$PROVIDER" netdev "$2" && until_ok 20 link_is_up "$1" "$3"
}

# link_lost WHAT NAME...: begins to delete the link, and asserts that these clients end with ENODEV. DELETER becomes the process that
# deletes it, which may wait for more than the clients.
link_lost() {
	local what=$1 name
	shift
	rdma link delete "$LINK" 2>"$T/delete" &
	DELETER=$!
	for name; do
		finish "$name" 8
		is "$(field errno)" 19 "$what: client $name: ENODEV"
	done
}

# link_deleted WHAT: asserts that the deletion that link_lost began has ended well.
link_deleted() {
	wait $DELETER
	is $? 0 "$1: that ends" || diag "$(cat "$T/delete")"
}

# resources: sets RES to the number of resources of each kind that the link has, as the kernel counts them, no matter
# who owns them. If rdma prints no such list, RES becomes an error text; its exit status does not tell, since rdma ends
# with 0 even if it does not know its arguments. A cm_id belongs to no link before its address is resolved.
KINDS=(pd cq qp mr cm_id srq ctx)
resources() {
	local text kind
	text=$(rdma -j res show "$LINK" 2>&1)
	RES=''
	for kind in "${KINDS[@]}"; do
		if ! [[ $text =~ \"ifname\":\"$LINK\".*\"$kind\":([0-9]+)[,}] ]]; then
			RES="no number for $kind in what rdma says: $text"
			return 1
		fi
		RES+=" $kind=${BASH_REMATCH[1]}"
	done
	RES=${RES# }
}

# held: lists the resources of each kind whose number is not the same as before, with their owners. A QP that is not
# connected has no port, so it is missing in every list that is asked for by "link".
held() {
	local kind
	for kind in "${KINDS[@]}"; do
		[[ $RES =~ $kind=([0-9]+) && " $RES_BEFORE " == *" ${BASH_REMATCH[0]} "* ]] ||
			rdma res show "$kind" 2>&1 | sed -n "/ ${LINK}[/ ]/s/^/$kind: /p"
	done
}

# resources_before: remembers the resources that nothing_left compares with.
resources_before() {
	ok "rdma counts what the link has" resources
	resources
	RES_BEFORE=$RES
}
same_resources() { resources && [ "$RES" = "$RES_BEFORE" ]; }

# nothing_left WHAT: asserts that the link soon has the same resources as before, and no more.
nothing_left() {
	local what="$1: no resource of the link is left"
	ok "$what" within 5 same_resources || {
		resources
		diag "before: $RES_BEFORE"$'\n'"now:    $RES"$'\n'"$(held)"
	}
}

# finish_here: ends a test that has no runs of the module; done_testing ends all others.
finish_here() {
	printf '1..%d\n' $tap_n
	[ $tap_failed -eq 0 ]
	exit
}

# done_testing [WHAT]: ends a test; behind WHAT a pair still works.
done_testing() {
	[ $# -eq 0 ] || works_after "$1"
	within 5 no_live_runs || :
	is "${LIVE[*]}" '' "no run is left"
	[ ! -e "$T/astray" ] || fail "nothing is asserted or waited for in a subshell: $(tr '\n' ';' <"$T/astray")"
	finish_here
}

# shellcheck source=tests/guest/lib-tools.sh
. "$here/lib-tools.sh"
