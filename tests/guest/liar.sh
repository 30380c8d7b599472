# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
#
# Tells lies to our end (liar.c, with the table in liar_rows.sh), and judges what it makes of them; sourced behind lib.sh by liar.t
# and draw.t.

# shellcheck source=tests/guest/liar_rows.sh
. "$here/liar_rows.sh"
PORT2=$((PORT + 1))
# The values of a test for the liar, and for a client of ours where they differ from its name.
declare -A test_values=([rping]=0 [fr]=1 [wlat]=2 [rlat]=3 [bw]=4 [fast]=5 [duplex]='4 flags=2' [protect]=6 [block]='7 count=0')
declare -A test_options=([duplex]='bw,duplex')
declare -A errno_name=([0]=0 [5]=EIO [16]=EBUSY [22]=EINVAL [71]=EPROTO [74]=EBADMSG [104]=ECONNRESET [110]=ETIMEDOUT [111]=ECONNREFUSED [113]=EHOSTUNREACH)
# A silent peer is waited for so long.
WAITS=$((1000 * SLOW))ms
LIES=$TRACING/instances/krping-lies

# lies_begin: starts an honest server for several clients at once, to which most lies are told, and an honest client of it, whose
# pings go on beside all of them.
lies_begin() {
	local e
	echo 16 >$HISTORY
	mkdir -p $LIES
	echo 4096 >$LIES/buffer_size_kb
	# Of the phases only the one in which a tear-down begins.
	echo "phase == $(sed -nE 's/.*\{ ([0-9]+), "disconnect" \}.*/\1/p' $LIES/events/krping/krping_phase/format)" >$LIES/events/krping/krping_phase/filter
	for e in post_send mr_fastreg mr_localinv mr_reminv mr_readinv mr_dereg run_end; do
		echo 1 >$LIES/events/krping/krping_$e/enable
	done
	trap lies_off EXIT
	server honest "server,addr=$ADDR,port=$PORT,persistent,clients=4,name=honest"
	run_line "${PIDS[honest]}" && parse
	HONEST=${F[id]-}
	pinging neighbour "client,addr=$ADDR,port=$PORT,interval=50ms,name=neighbour"
	CLIENTS=1 BAD=0 LIE_NR=0
}
# shellcheck disable=SC2317 # by the trap
lies_off() {
	[ ! -d $LIES ] || { echo 0 >$LIES/events/enable && rmdir $LIES; }
	cleanup
}

# lies_end: the honest two end well, and the server has counted what its clients did.
lies_end() {
	local counted
	interrupt neighbour
	line_is "werr state" "0 DONE" "the client beside all the lies ends well"
	# shellcheck disable=SC2317 # by until_ok
	counted() { run_line "${PIDS[honest]}" && parse && [ "${F[served]}" = $CLIENTS ]; }
	until_ok 5 counted
	is "${F[state]-} failed=${F[failed]-} served=${F[served]-}" "IDLE failed=$BAD served=$CLIENTS" \
		"the server has counted its clients, and listens on"
	interrupt honest
	line_is "werr state" "0 DONE" "the honest server ends well"
}

# The newest run of the honest server, if it is over: sets LINE.
# shellcheck disable=SC2317 # by until_ok
child_is_over() {
	local lines i
	mapfile -t lines </proc/krping_runs
	for ((i = ${#lines[@]} - 1; i >= 0; i--)); do
		[[ ${lines[i]} == *" parent=$HONEST "* ]] || continue
		LINE=${lines[i]}
		[[ ${LINE%% *} != "id=$NEWEST" && $LINE == *" state="@(DONE|ERROR)" "* ]]
		return
	done
	return 1
}
newest_child() {
	local line
	NEWEST=0
	while IFS= read -r line; do
		[[ $line != *" parent=$HONEST "* ]] || { NEWEST=${line%% *} && NEWEST=${NEWEST#id=}; }
	done </proc/krping_runs
}

# moved ID: prints READs/WRITEs that the run has posted, and whether its keys balance: each registration ends in an invalidation,
# or in the region's being freed.
moved() {
	awk -v run="run=$1 " '
		!index($0, run) { next }
		/: krping_post_send: .* kind=READ / { reads++ }
		/: krping_post_send: .* kind=WRITE / { writes++ }
		/: krping_mr_fastreg: / { reg++ }
		/: krping_mr_(localinv|reminv|readinv): / { inv++ }
		/: krping_mr_dereg: / { freed++ }
		/: krping_mr_dereg: .* state=(valid|flushed)/ { inv++ }
		END { printf "%d/%d %s\n", reads, writes, reg == inv ? "balanced" : reg + 0 " registered, " inv + 0 " ended, " freed + 0 " freed" }' \
		$LIES/trace
}

# torn_down ID: prints for how many ms the run was torn down, by the events' own times.
torn_down() {
	sed -nE "s/.*: krping_(phase|run_end): run=$1 t=([0-9]+)[0-9]{6} .*/\2/p" $LIES/trace | awk '{ t[NR] = $1 } END { print NR == 2 ? t[2] - t[1] : "of two events there are " NR }'
}

# to_client_lie WORDS: an honest server is told a lie; sets LINE to its run.
to_client_lie() {
	if [ -z "$ours" ]; then
		newest_child
		# shellcheck disable=SC2086 # words
		said=$("$liar" client "$ADDR" $PORT $1 2>&1)
		LINE=''
		until_ok 20 child_is_over || LINE=''
		CLIENTS=$((CLIENTS + 1))
		[[ $LINE != *" state=ERROR "* ]] || BAD=$((BAD + 1))
		return
	fi
	# On a machine that is slow just then the server may have waited long enough before the liar comes.
	for _ in 1 2 3 4 5; do
		server lied-to "server,addr=$ADDR,port=$PORT2$ours"
		# shellcheck disable=SC2086
		said=$("$liar" client "$ADDR" $PORT2 $1 2>&1)
		finish lied-to 20
		[[ $LINE == *' werr=ETIMEDOUT '* && $said == *': Connection refused' ]] || break
		diag "the server's time was over before the liar came"
	done
}
# to_server_lie WORDS TEST: the same of an honest client.
# shellcheck disable=SC2317 # by until_ok
is_ready() { [ -s "$T/liar.out" ] || gone "${PIDS[liar]}"; }
# shellcheck disable=SC2317 # by until_ok
has_disk() { [ -b /dev/krping0 ] || gone "${PIDS[client]}"; }
to_server_lie() {
	local text="client,addr=$ADDR,port=$PORT2,count=5,test=${test_options[$2]:-$2}$ours"
	[[ $ours == *,size=* || $2 = protect ]] || text+=",size=$size"
	[ "$2" != protect ] || text=${text/count=5,/case=send,}
	[ "$2" != block ] || text="${text/count=5,/},txdepth=4,io_timeout=$((5 * SLOW))s,timeout=$((15 * SLOW))s"
	# That of the liar before would be ready.
	rm -f "$T/liar.out"
	# shellcheck disable=SC2086
	background liar "$liar" server "$ADDR" $PORT2 ready=1 $1
	until_ok 10 is_ready
	start client "$text"
	if [ "$2" = block ]; then
		until_ok 10 has_disk
		dd if=/dev/krping0 of=/dev/null bs="$size" count=$((pings + 1)) iflag=direct status=none 2>"$T/dd.err"
	fi
	finish client 20
	[[ $how != *accept=0* ]] || kill "${PIDS[liar]}" 2>/dev/null
	tool_end liar
	said=$(sed '1{/^listening$/d}' "$T/liar.out" "$T/liar.err")
}

# lie ROW TEST [SIZE PINGS OPTIONS]: tells the lie of a row in that test, and asserts the result.
lie() {
	local role name tests ours how regex moves size=${3:-64} pings=${4:-1} what got before far hangs='' other=0 phases ms
	IFS='~' read -r role name tests ours how regex moves <<<"$1"
	[[ $how != *' size='* && $how != size=* ]] || size=64
	[[ $role != server || $ours != *,size=* ]] || size=${ours##*,size=}
	[[ " $how" != *' pings='* ]] || { pings=${how##*pings=} && pings=${pings%% *}; }
	ours=${ours//@t/$WAITS}
	if [ "$2" = block ]; then size=4096; else ours+=${5:-}; fi
	regex=${regex//@s/$size} regex=${regex//@m/$((size + 1))} regex=${regex//@l/$((size - 1))}
	regex=${regex//@p/$pings} regex=${regex//@n/$((pings + 1))}
	moves=${moves//@p/$pings} moves=${moves//@n/$((pings + 1))}
	what="$role $name, $2"
	run_line "${PIDS[neighbour]}" && parse
	before=${F[iters]-0}
	echo >$LIES/trace
	[[ $how == *queues=16* ]] && phases=1 || phases=0
	echo $phases >$LIES/events/krping/krping_phase/enable
	if [ "$role" = client ]; then
		to_client_lie "test=${test_values[$2]} size=$size pings=$pings $how"
	else
		to_server_lie "test=${test_values[$2]} size=$size pings=$pings $how" "$2"
	fi
	parse
	got="${errno_name[${F[errno]:-none}]-${F[errno]-}} ${F[state]-} ${F[reason]-}"
	like "$got" "^($regex)\$" "$what"
	diag "$got"
	[[ ! $got =~ at\ byte\ ([0-9]+)\ of\ ([0-9]+) ]] ||
		ok "$what: byte ${BASH_REMATCH[1]} is one of ${BASH_REMATCH[2]}" test "${BASH_REMATCH[1]}" -lt "${BASH_REMATCH[2]}"
	# Where the liar's own siw has closed the connection, since it did not like what came, it may not say so to its user; our end then
	# says that the peer did it.
	[[ $PROVIDER != siw || ${F[reason]-} != 'the peer disconnected'* ]] || hangs='|told, hangs'
	# Our end takes the second of many messages for the one with the sink. So it writes to the source, and not to the liar's sink.
	[[ $role != client || $how != *times=40* ]] || other='[0-9]+'
	far="told, disconnected|left|served( other=$other rest=0)?$hangs"
	[[ $how != *second=* ]] || far='refused why=2 option=queues'
	like "$said" "^($far)\$" "$what: the liar came so far"
	[ "$moves" != - ] || moves='[0-9]+/[0-9]+'
	like "$(moved "${F[id]-}")" "^$moves balanced\$" "$what: no READ or WRITE for it, and the keys balance"
	# Once 5 s for a message and 5 s for the peer, and a second for all else; a slow machine has as much again.
	if [ $phases = 1 ]; then
		ms=$(torn_down "${F[id]-0}")
		ok "$what: the peer is not waited for on each connection" test "$ms" -le 22000
		diag "torn down in $ms ms"
	fi
	# Neither a second answer nor one that comes too early is that of a request.
	[[ $role$2 != serverblock || $how =~ (addr=|depth=|times=2|early=) ]] ||
		like "$(<"$T/dd.err")" 'Input/output error$' "$what: the request in flight fails"
	# Honest ends are served beside it, and after it: a new one after each fourth lie, which takes half of a lie's time.
	# shellcheck disable=SC2317 # by until_ok
	went_on() { pings neighbour $((before + 1)); }
	LIE_NR=$((LIE_NR + 1))
	ok "$what: the honest client beside it goes on" until_ok 5 went_on
	[ $((LIE_NR % 4)) = 0 ] || return 0
	client "client,addr=$ADDR,port=$PORT,count=2,size=$size,validate"
	CLIENTS=$((CLIENTS + 1))
	check_good "$what: an honest client after it" "$LINE" 2
}
