#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The helpers that other tests rely on must be able to fail: this test plants a leak of each kind, and a run that
# ignores its signal, and the helpers have to report them.

. "$(dirname "$0")/lib.sh"

# other CODE: runs CODE as a test of its own, with lib.sh. OTHER becomes its output, RC its exit status. SLOW=0 in CODE
# makes each wait look only once, where the condition that it waits for never comes true.
other() {
	OTHER=$(bash -c '. "$0"; eval "$1"' "$here/lib.sh" "$1" 2>&1)
	RC=$?
	OTHER=$(sed -E 's/wait [0-9]+:/wait PID:/g' <<<"$OTHER")
}

# says DESCRIPTION LINE...: asserts that these are the other test's assertions, without their numbers, and that it
# failed if one of them did.
says() {
	local what=$1 want
	shift
	want=$(printf '%s\n' "$@")
	is "$(sed -nE 's/^((not )?ok) [0-9]+/\1/p' <<<"$OTHER")" "$want" "$what" || diag "$OTHER"
	if [[ $want == *'not ok'* ]]; then is $RC 1 "$what: it fails"; else is $RC 0 "$what: it does not"; fi
}

# --- resources of runs, which are the kernel's, and of a program; and a run that is left ---
# shellcheck disable=SC2016 # for the other
other '
# MORE becomes what there is more of than before.
more() {
	local kind was is
	MORE=
	for kind in "${KINDS[@]}"; do
		was=${RES_BEFORE#*$kind=} is=${RES#*$kind=}
		[ "${is%% *}" = "${was%% *}" ] || MORE+=" $kind+$((${is%% *} - ${was%% *}))"
	done
}
resources_before
nothing_left nothing
slow=$SLOW
rping_server
background pings rping -c -a "$ADDR" -p $PORT
all() { resources; more; [[ $MORE =~ ^\ pd.*\ cq.*\ qp.*\ mr.*\ cm_id.*\ ctx ]]; }
ok "a program has some of each kind but srq" until_ok 10 all
SLOW=0
nothing_left "a program"
SLOW=$slow
tool_end pings KILL
rping_ends
nothing_left "a program that has gone"
server server "server,addr=$ADDR,port=$PORT,srq"
pinging client "client,addr=$ADDR,port=$PORT"
SLOW=0
nothing_left "a pair that pings"
more
is "$MORE" " pd+2 cq+4 qp+2 mr+2 cm_id+3 srq+1" "two of each kind that a run has, the listener, and the shared queue"
done_testing'
says "resources that are held" 'ok - rdma counts what the link has' 'ok - nothing: no resource of the link is left' \
	'ok - a program has some of each kind but srq' 'not ok - a program: no resource of the link is left' \
	'ok - a program that has gone: no resource of the link is left' 'not ok - a pair that pings: no resource of the link is left' \
	'ok - two of each kind that a run has, the listener, and the shared queue' 'not ok - no run is left'
for kind in "${KINDS[@]}"; do
	[ "$kind" = srq ] || like "$OTHER" $'\n'"# $kind: [^"$'\n'"]*comm rping" "the $kind is named, and whose it is"
done

# --- rdma cannot count the resources ---
# shellcheck disable=SC2016
other '
LINK=nosuch0
resources_before
nothing_left "nothing"
done_testing'
says "a link that rdma does not know" 'not ok - rdma counts what the link has' \
	'not ok - nothing: no resource of the link is left' 'ok - no run is left'

# --- a run that ignores its signal ---
cat >"$T/deaf" <<END
#!/bin/sh
exec env --block-signal=INT "$krwrite" "\$@"
END
chmod +x "$T/deaf"
# shellcheck disable=SC2016
KRWRITE=$T/deaf other '
server deaf "server,addr=$ADDR,port=$PORT"
kill -INT "${PIDS[deaf]}"
SLOW=0
finish deaf
line_is "state errno" "ERROR 4" "its result is that of an interrupted run"
background tool env --block-signal=INT sleep 600
tool_end tool INT
SLOW=1
done_testing'
says "a run, and a tool, that are deaf to INT" 'not ok - deaf ends without being killed' \
	'ok - its result is that of an interrupted run' 'not ok - tool ends without being killed' 'ok - no run is left'

# --- helpers that do not work in a subshell ---
# shellcheck disable=SC2016
other '
sleep 0 &
nap 0.3
ok "a process that has ended" wait $!
sleep 1 &
ok "a process that has not" wait $!
(pass "an assertion that nobody counts") >/dev/null
: $(start server "server,addr=$ADDR,port=$PORT")
wait
sleep 0 &
wait $!
is $? 0 "not in a subshell"
done_testing'
says "wait, pass and start in a subshell" 'not ok - a process that has ended' 'not ok - a process that has not' \
	'ok - not in a subshell' 'ok - no run is left' \
	"not ok - nothing is asserted or waited for in a subshell: $(printf '%s: in a subshell;' 'wait PID' 'wait PID' \
		'pass an assertion that nobody counts' 'start server')"
other 'SLOW=0
until_ok 1 false
within 1 false
done_testing'
says "a wait in vain" 'not ok - :2: false, within 0 s' 'ok - no run is left'
done_testing
