# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
#
# Ends of runs: the rows of a test's table say in which state a run is, which end of it is ended by what, and what both ends say then.
# That the module waited for nothing else is read from a trace by ends.pl. Sourced after lib.sh.

# ends_on: beside what a run was doing, records what wakes its thread, the signals, and the timers of timeout=.
ends_on() {
	local e=$PARTING/events
	parting_on
	echo mono >$PARTING/trace_clock
	echo 'comm ~ "kr*"' >$e/sched/sched_waking/filter
	echo "function == 0x$(awk '$3 == "krping_run_deadline" { print $1 }' /proc/kallsyms)" >$e/timer/hrtimer_expire_entry/filter
	for e in $e/{krping/krping_run_end,sched/sched_waking,signal/signal_generate,timer/hrtimer_expire_entry}; do echo 1 >$e/enable; done
}
# how_ended [LINE]: sets F, and what ends.pl prints, for the run of LINE.
how_ended() {
	parse "${1-$LINE}"
	read -r PHASE BEGUN WOKEN SINCE LAST DOWN < <(perl "$here/ends.pl" "${F[id]:-0}" "${F[pid]:-0}" <$PARTING/trace)
}

# proc_is PID STATE: the process is in this state of proc(5).
proc_is() {
	local stat
	read -r stat <"/proc/$1/stat" && [[ ${stat##*) } == "$2"* ]]
}
# asleep NAME PHASE: the run is in this phase, and its writer sleeps.
asleep() { run_line "${PIDS[$1]}" && parse && [ "${F[phase]}" = "$2" ] && proc_is "${PIDS[$1]}" S; }
no_threads() { ! pgrep '^krping/[0-9]'; }
# slept THREAD: sets SLEPT to how often the thread has gone to sleep; slept_since THREAD N: it has done so since that was N.
slept() {
	local lines
	mapfile -t lines <"/proc/$1/status"
	SLEPT=${lines[*]} SLEPT=${SLEPT#*voluntary_ctxt_switches:} SLEPT=${SLEPT%%non*}
}
slept_since() { slept "$1" && [ "$SLEPT" != "$2" ]; }

# reach STATE WHO CLIENT SERVER [--die]: starts what the state needs, with these options of the ends, and waits for the state; but a
# run with a timeout, of MS, may end before.
reach() {
	local state=$1 who=$2 client="client,addr=$ADDR,port=$PORT$3" server="server,addr=$ADDR,port=$PORT$4" name=client
	shift 4
	echo >$PARTING/trace
	case $state in
	*-all) server=${server/$ADDR/0.0.0.0} ;;
	resolve_addr) client=${client/$ADDR/10.10.0.9} ;; # does not answer ARP
	connect) client=${client/$ADDR/10.9.0.77} ;; # is behind a link without ARP
	esac
	case $state-$who in
	leave-client)
		background peer "$liar" server "$ADDR" $PORT count=1 pings=1 leave=1 by=2 ready=1
		until_ok 10 grep -q listening "$T/peer.out"
		;;
	rping-client | hang*) rping_server -S 64 ;;
	*-client) ;;
	esac
	case $state-$who in
	listen* | ping* | *-server) server server "$server" "$@" ;;
	esac
	case $state-$who in
	listen*) ;;
	# The run makes one ping, and waits for a peer that never leaves; or for its last message to arrive, for which there is no RECV.
	leave-server) background peer "$liar" client "$ADDR" $PORT count=1 pings=1 leave=1 by=2 ;;
	rnr-server) background peer "$liar" client "$ADDR" $PORT count=1 pings=0 recvs=1 ;;
	rping-server) background rping rping -c -a "$ADDR" -p $PORT -S 64 ;;
	hang-terminal*)
		on_terminal client krping client "$ADDR:$PORT"
		name=child PIDS["child"]=$CHILD
		;;
	*) start client "$client" "$@" ;;
	esac
	if [[ $state == hang* ]]; then
		until_ok 10 pings_or_gone $name
		kill -STOP "${PIDS["rping"]}"
	fi
	[ -z "$MS" ] || return 0
	case $state in
	hang*)
		until_ok 20 still $name
		unset 'PIDS[child]'
		;;
	leave | rnr) until_ok 10 asleep "$who" disconnect ;;
	*ping*)
		wait_pings "${who%% *}" 5
		nap "0.0$((RANDOM % 100 + 100))"
		;;
	*) until_ok 10 asleep "$who" "${state%-all}" ;;
	esac
}

# signal SIGNAL|KEYS PID...: keys are signals of the client's terminal.
signal() {
	if [[ $1 == \\* ]]; then type_keys client "$1"; else kill -"$1" "${@:2}"; fi
}
# cause HOW NAME...: ends these runs.
cause() {
	local how=$1 pids=() name thread
	shift
	for name; do pids+=("${PIDS[$name]}"); done
	case $how in
	delete)
		rdma link delete "$LINK" 2>"$T/delete" &
		DELETER=$!
		;;
	*+*)
		# The second signal comes when the run has heard the first one, and waits for what is left of its second.
		thread=$(sed -n "s/^.*-\([0-9]*\) .* krping_phase: run=${F[id]} .*/\1/p" $PARTING/trace | tail -n 1)
		slept "$thread"
		signal "${how%+*}" "${pids[@]}"
		until_ok 5 slept_since "$thread" "$SLEPT"
		signal "${how#*+}" "${pids[@]}"
		;;
	*) signal "$how" "${pids[@]}" ;;
	esac
}

# peers_end: ends the peer in user space, if there is one.
peers_end() {
	local name
	for name in rping peer; do
		[ -z "${PIDS[$name]-}" ] || tool_end $name KILL
	done
}
declare -A LINES
# all_end: waits for all runs; LINES has their results.
all_end() {
	local name
	LINES=()
	for name in client server; do
		[ -n "${PIDS[$name]-}" ] || continue
		finish $name 40
		LINES[$name]=$LINE
	done
	peers_end
}

# in_time STATE HOW: the machine was quick enough: the timeout, or the second signal, came when the run was in its state.
in_time() {
	case $2:$1 in
	timeout:ping) [ "${F[iters]}" -gt 0 ] ;;
	timeout:hang) [ "${F[iters]}" -gt 0 ] && [ "${F[state]}" != DONE ] ;;
	timeout:*) [ "$PHASE" = "${1%-all}" ] ;;
	*+*) [ "$LAST" -lt 900 ] ;;
	esac
}

# ended STATE WHO HOW OPTIONS RESULT PEER: one row; see all_ended.
ended() {
	local state=$1 who=$2 how=$3 opts=${4#-} text='EINTR ERROR 4 interrupted' context=task server='' die=() iters name MS='' t said
	local what="$state${opts:+ $opts}: SIG$how to the $who"
	case $5/$how in
	DONE/*) text='0 DONE 0 ' ;;
	*/delete) text='ENODEV ERROR 19 .*removed' ;;
	*/timeout) text='ETIMEDOUT ERROR 110 not done within timeout=MSms' context=hardirq ;;
	esac
	# siw connects in the writer, which then wakes the thread.
	[ "$state-$PROVIDER" != connect-siw ] || context=task
	[[ $opts != *cpu=* ]] || server=,cpu=0
	[[ $how == KILL || $opts == *,die || $state == @(listen*|resolve_addr|connect) && $how != @(timeout|delete) ]] && die=(--die)
	[[ $how != @(timeout|delete) ]] || what=${what/SIG/}
	[ "$5" = DONE ] && said=well || said="with ${text%% *}"
	opts=${opts%,die}
	for t in 300 1200 4800 19200; do
		[ "$how" != timeout ] || MS=$t
		reach "$state" "$who" "$opts$([[ -z $MS || $who != *client* ]] || echo ",timeout=${MS}ms")" \
			"$server$([[ -z $MS || $who != *server* ]] || echo ",timeout=${MS}ms")" "${die[@]}"
		# shellcheck disable=SC2086 # two names
		[ -n "$MS" ] || cause "$how" $who
		all_end
		how_ended "${LINES[${who%% *}]}"
		! in_time "$state" "$how" || break
	done
	for name in $who; do
		how_ended "${LINES[$name]}"
		# A writer that dies does not tell its errno.
		like "${F[werr]:-${text%% *}} ${F[state]-} ${F[errno]-} ${F[reason]-}" "^${text/MS/$MS}\$" "$what: the $name ended $said"
		case $state/$how in
		ping*/delete | leave/* | rnr/*) ;;
		ping/* | rping/*) ok "$what: the $name finishes its ping, and begins no other ($BEGUN)" test "${F[iters]}" -gt 0 -a "$BEGUN" -le 2 ;;
		hang*/*+*) is "$WOKEN" task "$what: the $name is woken by the second one" ;;
		hang*) is "$WOKEN $((SINCE >= 990 && SINCE < 5000))" "softirq 1" "$what: its ping is given a second ($SINCE ms)" ;;
		*) is "$PHASE $WOKEN" "${state%-all} $context" "$what: the $name is woken where it sleeps" ;;
		esac
		ok "$what: the $name does not wait 5 s for its peer" test "$DOWN" -lt 5000 || diag "got: $DOWN ms"
	done
	iters=${F[iters]}
	for name in client server; do
		LINE=${LINES[$name]-}
		case $6:$LINE in
		same:ret=*)
			check_good "$what: the $name" "$LINE" "$iters"
			how_ended
			ok "$what: nor does the $name" test "$DOWN" -lt 5000 || diag "got: $DOWN ms"
			;;
		parted:?*) [[ " $who " == *" $name "* ]] || check_parted "$what: the $name ends by what it was doing" ;;
		esac
	done
	[ "$how" = delete ] || return 0
	wait $DELETER
	is $? 0 "$what: the link can be deleted" || diag "$(cat "$T/delete")"
	ok "$what: the link is made again" link_add "$LINK" d0 "$ADDR"
}

# all_ended N: goes through the N rows of stdin: STATE, WHO, HOW, OPTIONS of the client, the result of WHO (errno: that of HOW), PEER,
# and how often this is done by many rounds and by few: a provider's name is once, on that provider. WHO and HOW may be lists. PEER is
# what the other end says: "same", it has as many pings; "parted", it ends by what it was doing.
all_ended() {
	local rows=0 n i row how
	while read -ra row <&3; do
		rows=$((rows + 1)) n=$(rounds "${row[6]}" "${row[7]}")
		[[ $n == [0-9]* ]] || n=$([ "$n" = "$PROVIDER" ] && echo 1 || echo 0)
		[ "$n" != 0 ] || continue
		[[ $(rounds '' '' least) != least || ${row[*]:0:4} != *@(-all|cpu=)* ]] || continue
		for how in ${row[2]//,/ }; do
			for ((i = 0; i < n; i++)); do ended "${row[0]}" "${row[1]//,/ }" "$how" "${row[@]:3:3}"; done
		done
		nothing_left "${row[*]:0:4}"
		ok "${row[*]:0:4}: no thread is left" until_ok 5 no_threads
	done 3<&0
	is $rows "$1" "all were tried"
}
