#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Combinations of options: pairs.pl draws runs in which each two values of two options meet, in the suite "long" each three, and
# says what /proc/krping_runs has to have of both ends. Other tests look at an option by itself, and closer.
#
# What is drawn depends on the seed, which is printed. It is the same in each run, so that no change is red for what others would
# have been red for, too; in the suite "long" it is drawn at random. To draw by another one: KRPING_SEED=SEED, or KRPING_SEED=SEED/3
# for combinations of three, before make check TEST=pairs.t.

. "$(dirname "$0")/lib.sh"

default=1 strength=2
[ "${KRPING_SUITE-}" != long ] || strength=3 default=$((RANDOM * 32768 + RANDOM))
KRPING_SEED=${KRPING_SEED:-$default}
[[ $KRPING_SEED != */* ]] || strength=${KRPING_SEED#*/}
seed=${KRPING_SEED%%/*}

# Options that no run here has, and why. A provider that cannot says so: errors and ipv6.t have that.
declare -A elsewhere=([stop]="a command that is no run" [id]="of stop" [case]="of protect, whose cases protect.t makes")
for name in window shared ro sector in_capsule local_inv io_timeout; do elsewhere[$name]="of block: block.t"; done
draw=(--strength "$strength" --seed "$seed" --addr "$ADDR" --addr6 "$ADDR6" --port "$PORT" --cpus "$(nproc)")
if [ "$PROVIDER" = siw ]; then
	elsewhere[tos]="siw refuses it"
	draw+=(--without tos)
else
	elsewhere[read_inv]="only iWARP has it"
	draw+=(--without read_inv)
fi
echo 1 >/sys/module/rdma_krping/parameters/allow_dma_key
diag "KRPING_SEED=$seed/$strength"
"$here/pairs.pl" "${draw[@]}" >"$T/runs"
is $? 0 "runs are drawn"
mapfile -t runs <"$T/runs"
ok "strength $strength: there are runs (${#runs[@]}), and no more than there is time for" \
	test "${#runs[@]}" -ge 48 -a "${#runs[@]}" -le $((strength == 2 ? 80 : 800))

# --- no option is left out ---
# The role and the port are not drawn: each command has them.
declare -A used=([server]=1 [client]=1 [port]=1)
while IFS= read -r name; do used[$name]=1; done < <(cut -d'|' -f1,2 "$T/runs" | tr '|' ',' | tr ',' '\n' | sed 's/=.*//' | grep . | sort -u)
mapfile -t options < <(awk '!/^#/ { print $1 }' /proc/krping_help)
missing=''
for name in "${options[@]}"; do
	[ -n "${used[$name]-}${elsewhere[$name]-}" ] || missing+=" $name"
done
is "$missing" '' "each option of /proc/krping_help is in a run, or said to be elsewhere"
ok "and the help has options (${#options[@]})" test ${#options[@]} -ge 43
unneeded=''
for name in "${!elsewhere[@]}"; do
	[[ " ${options[*]} " == *" $name "* ]] && [ -z "${used[$name]-}" ] || unneeded+=" $name"
done
is "$unneeded" '' "what is said to be elsewhere is an option, and in no run"

# --- the runs ---
# line_of ID: sets LINE to the run's line.
line_of() { LINE=$(grep "^id=$1 " /proc/krping_runs); }
# shellcheck disable=SC2317 # by until_ok
is_over() { line_of "$1" && [[ $LINE == *" state="@(DONE|ERROR)" "* ]]; }

# has OPTIONS NAME: is the option, or the option with this value, among them?
has() { [[ ,$1, == *,"$2"[=,]* ]]; }

# serving NAME: runs the client against a server that has a run for each client. SRV becomes the line of that run.
serving() {
	local child
	parse "$CLI"
	child=${F[peer_run]:-0}
	# A server that is asked to end takes the runs of its clients with it.
	if has "$srv" persistent; then
		[ "$child" = 0 ] || until_ok 10 is_over "$child" || diag "run $child is not over: $LINE"
		kill -INT "${PIDS[server]}" 2>/dev/null
	fi
	finish_is server "werr state served failed rejects iters" "0 DONE 1 0 0 0" "$1: the server of clients"
	parent=${F[id]-}
	line_of "$child"
	SRV=$LINE
}

# each_end LINE: prints what has to be the same, or the other way round, at the other end.
each_end() {
	parse "$1"
	local moved=''
	# A ping moves as much for either end, whatever its size is.
	[ "${F[test]-}" != rping ] || moved=${F[moved_bytes]-}
	OWN="$moved ${F[id]-} ${F[peer_run]-} ${F[send_msgs]-}/${F[send_bytes]-} ${F[recv_msgs]-}/${F[recv_bytes]-} ${F[size]-} ${F[count]-} ${F[test]-} ${F[dev]-}"
	OTHER="$moved ${F[peer_run]-} ${F[id]-} ${F[recv_msgs]-}/${F[recv_bytes]-} ${F[send_msgs]-}/${F[send_bytes]-} ${F[size]-} ${F[count]-} ${F[test]-} ${F[dev]-}"
}

# combined NUMBER: makes the run, and compares what both ends say with what they have to say.
combined() {
	local what="pair $1" srv cli srv_wants cli_wants turns prints='' parent=0 was=$tap_failed
	IFS='|' read -r srv cli srv_wants cli_wants turns <<<"${runs[$1]}"
	! has "$srv" verbose && ! has "$cli" verbose || prints=1
	[ -z "$prints" ] || printing_begin
	server server "server,port=$PORT,$srv"
	client "client,port=$PORT,$cli"
	CLI=$LINE
	# A server that has not met its client would wait for ever.
	[[ $CLI == *" state=DONE "* ]] || kill -INT "${PIDS[server]}" 2>/dev/null
	if has "$srv" clients || has "$srv" persistent; then
		serving "$what: $srv"
	else
		finish server
		SRV=$LINE
	fi
	if [ -n "$prints" ]; then
		printing_end
		is "$(grep -c '^server ping data (64B max): |.*|$' <<<"$PRINTED") $(grep -c '^ping data (64B max): |.*|$' <<<"$PRINTED")" \
			"$(has "$srv" verbose && echo "$turns" || echo 0) $(has "$cli" verbose && echo "$turns" || echo 0)" \
			"$what: verbose: as many lines of server and client as pings" || diag "$PRINTED"
	fi

	figures_are "$what: client,$cli" "$cli_wants parent=0 role=client dev=$LINK" \
		"$what: server,$srv" "$srv_wants parent=$parent role=server dev=$LINK"
	each_end "$SRV"
	local servers=$OTHER
	each_end "$CLI"
	[ -n "$LATE" ] || is "$OWN" "$servers" "$what: each end is the other's peer, and has received what that has sent"
	[ $tap_failed = "$was" ]
}

echo 8 >$HISTORY
parting_on
resources_before
# Where the rounds are few, one provider has the first run, the third and so on, and the other one the rest.
step=$(rounds 1 2) failed=0 made=0
[ "$PROVIDER" = rxe ] && first=0 || first=$((step - 1))
for ((at = first; at < ${#runs[@]}; at += step)); do
	combined $at || failed=$((failed + 1))
	made=$((made + 1))
	# Of a fault that most combinations have, a few are enough.
	[ $failed -lt 8 ] || break
done
is "$made" $(((${#runs[@]} - first + step - 1) / step)) "all of them were made" || diag "KRPING_SEED=$seed/$strength: not after so many that failed"
nothing_left "after all that"
done_testing "after all that"
