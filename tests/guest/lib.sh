# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2119,SC2120
#
# TAP for bash, and krping's two ends for tests. A test sources it, makes its assertions and ends with
# done_testing, which also asserts that no run is left.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Built by check.sh.
krwrite=${KRWRITE:-$here/../../build/guest/krwrite}
T=$(mktemp -d)
LIVE=()
ADDR=${KRPING_ADDR:-10.9.0.1}
LINK=${KRPING_LINK:-rxe0}
PROVIDER=${KRPING_PROVIDER:-rxe}
# 1: the CPUs are emulated, and take turns of 100 ms.
TURNS=${KRPING_TURNS:-0}
TRACING=/sys/kernel/tracing
tap_n=0 tap_failed=0
PORT=9999
declare -A PIDS=()
LINE='' # the result line that field() reads

# A pause without a process.
mkfifo "$T/nap"
exec {nap_fd}<>"$T/nap"
nap() {
	local x
	read -rt "${1:-0.05}" -u "$nap_fd" x || :
}

cleanup() {
	local pid
	for pid in "${PIDS[@]}"; do kill -KILL "$pid" 2>/dev/null; done
	rm -rf "$T"
}
trap cleanup EXIT

diag() {
	local line
	while IFS= read -r line; do printf '# %s\n' "$line"; done <<<"$*"
}

pass() {
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s\n' $tap_n "$*"
}

fail() {
	tap_n=$((tap_n + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' $tap_n "$*"
}

# skip REASON [N]: a reason has to be in tests/skips.allow.
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
	if text=$("$@" 2>&1); then
		pass "$what"
	else
		fail "$what"
		[ -z "$text" ] || diag "$text"
		return 1
	fi
}

# is GOT WANTED DESCRIPTION
is() {
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3"
		diag "got:    $1"
		diag "wanted: $2"
		return 1
	fi
}

# like GOT EXTENDED-REGEX DESCRIPTION
like() {
	if [[ $1 =~ $2 ]]; then
		pass "$3"
	else
		fail "$3"
		diag "got:    $1"
		diag "wanted: a match of $2"
		return 1
	fi
}

unlike() {
	if [[ $1 =~ $2 ]]; then
		fail "$3"
		diag "got: ${BASH_REMATCH[0]}"
		return 1
	fi
	pass "$3"
}

# absorb COMMAND...: its "ok -" and "not ok -" lines become assertions, "#" lines diagnostics.
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

# Limits of time are for hangs; a kernel with its alarms on is slow, not hung.
SLOW=${KRPING_SLOW:-1}

# until_ok SECONDS COMMAND...: polls until it succeeds.
until_ok() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000 * SLOW))
	shift
	while ! "$@"; do
		[ "${EPOCHREALTIME/./}" -lt $end ] || return 1
		nap
	done
}

# rounds MANY FEW: how often to repeat something in this suite (tests/suites).
rounds() {
	if [ "${KRPING_ROUNDS:-many}" = many ]; then echo "$1"; else echo "$2"; fi
}

now_ms() { printf '%s\n' $((${EPOCHREALTIME/./} / 1000)); }

gone() { ! kill -0 "$1" 2>/dev/null; }

# run_line PID: LINE becomes the last line of a writer. Not read, which seeks in the file after each line.
run_line() {
	local lines i
	LINE=''
	mapfile -t lines </proc/krping_runs
	for ((i = ${#lines[@]} - 1; i >= 0; i--)); do
		[[ ${lines[i]} == *" pid=$1 "* ]] || continue
		LINE=${lines[i]}
		return 0
	done
	return 1
}

# parse [LINE]: F[key] for each key=value of a line, F[reason] without its quotes. No process: it is what
# most of the time would go into.
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

# field NAME [LINE]: prints one.
field() {
	parse "${2-$LINE}"
	printf '%s\n' "${F[$1]-}"
}

reason() { field reason "$@"; }

# start NAME TEXT [OPTION]...: a writer in the background.
start() {
	local name=$1 text=$2
	shift 2
	rm -f "$T/$name.result"
	"$krwrite" --out "$T/$name.result" "$@" "$text" &
	PIDS[$name]=$!
}

# state_is NAME REGEX: matches "state" of the run; a run that has not begun has none.
state_is() {
	run_line "${PIDS[$1]}" || return 1
	parse
	[[ ${F[state]} =~ ^($2)$ ]]
}

# wait_state NAME REGEX [SECONDS]
wait_state() {
	until_ok "${3:-10}" state_is "$1" "$2"
}

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

# server NAME TEXT [OPTION]...: starts one and waits until it listens, or has ended.
server() {
	start "$@"
	until_ok 10 listens_or_ended "$1"
}

pings() {
	run_line "${PIDS[$1]}" || return 1
	parse
	[ "${F[iters]}" -ge "${2:-3}" ]
}

# wait_pings NAME [N]: N pings were made.
wait_pings() {
	until_ok 10 pings "$@"
}

# finish NAME [SECONDS]: waits for the writer; LINE becomes its result. 1 if it had to be killed.
finish() {
	local pid=${PIDS[$1]} rc=0
	if ! until_ok "${2:-15}" gone "$pid"; then
		diag "$1 (pid $pid) does not end within ${2:-15} s: $(cat "/proc/$pid/stack" 2>/dev/null)"
		diag "$(tail -5 /proc/krping_runs)"
		kill -INT "$pid" 2>/dev/null
		until_ok 5 gone "$pid" || kill -KILL "$pid" 2>/dev/null
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

# client TEXT [SECONDS]: runs one to its end; LINE becomes its result.
client() {
	start client "$1"
	finish client "${2:-20}"
}

# ping_pair SERVER-OPTIONS CLIENT-OPTIONS: results in SRV and CLI.
ping_pair() {
	server pair-server "server,addr=$ADDR,port=$PORT$1"
	client "client,addr=$ADDR,port=$PORT$2"
	CLI=$LINE
	finish pair-server
	SRV=$LINE
}

# remote COMMAND: in the VM at the wire's other end (agent.pl); its output in REMOTE, its status is ours.
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

# check_good SIDE LINE ITERATIONS: the run did what was asked.
check_good() {
	parse "$2"
	is "ret=${F[ret]-} ${F[werr]-} ${F[state]-} errno=${F[errno]-} iters=${F[iters]-}" \
		"ret=${F[len]-?} 0 DONE errno=0 iters=$3" "$1 ended well" || diag "${F[reason]-}"
}

# Of a user-space rping.
rping_listens() { [[ $(rdma res show cm_id) == *LISTEN*rping* ]]; }

# A pair that must work, as the last word of a test that broke something.
works_after() {
	ping_pair ",count=5,validate" ",count=5,validate"
	check_good "$1: the next server" "$SRV" 5
	check_good "$1: the next client" "$CLI" 5
}

# background NAME COMMAND...: output in $T/NAME.out and .err.
background() {
	local name=$1
	shift
	"$@" >"$T/$name.out" 2>"$T/$name.err" &
	PIDS[$name]=$!
}

# tool_end NAME [SIGNAL]: RC becomes its exit status.
tool_end() {
	[ -z "${2:-}" ] || kill -"$2" "${PIDS[$1]}"
	until_ok 10 gone "${PIDS[$1]}" || { kill -KILL "${PIDS[$1]}"; diag "$1 does not end"; }
	wait "${PIDS[$1]}" 2>/dev/null
	RC=$?
	unset "PIDS[$1]"
}

# LIVE becomes what /proc/krping shows.
no_live_runs() {
	LIVE=()
	[ ! -e /proc/krping ] || mapfile -t LIVE </proc/krping
	[ ${#LIVE[@]} -eq 0 ]
}

# What the link has of every kind, without what user space and the core hold themselves.
resources() {
	rdma res show "link" "$LINK" 2>/dev/null | sed 's/^[0-9]*: //'
}

done_testing() {
	until_ok 5 no_live_runs || :
	is "${LIVE[*]}" '' "no run is left"
	printf '1..%d\n' $tap_n
	[ $tap_failed -eq 0 ]
	exit
}
