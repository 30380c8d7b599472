#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Peers that lie (liar.c): whatever a peer does, our end fails with the right errno and reason, posts no READ or WRITE for it, and
# serves others meanwhile and afterwards. The table of lies is liar_rows.sh; what does not fit into it is below.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/liar.sh"
said=''

# A planted fault for which the list has this test is told only the lies that the patterns of its rows name.
seeks=$(sed -n "s/^${KRPING_MUTANT:-none}|liar\.t|[^|]*|\([^|]*\)|.*/\1/p" "$here/../mutants/list")
[ "${KRPING_MUTANT-}" != waits_forever ] || seeks='server takes-no-last-message, fr'
wanted() { [[ -z $seeks || $seeks == *"$1"* ]]; }

# told NAME REGEX WORDS: asserts that our end's LINE matches, and that the liar printed one of the words.
told() {
	line_like "werr state reason" "^($2)\$" "$1"
	like "$said" "^($3)\$" "$1: the liar came so far"
}
lost='ECONNRESET ERROR (the peer disconnected|the connection is closed|the queue pair failed)'

# A third of the rows, always the same one, in one of their tests: rxe, siw and the debug kernel have different thirds, and slow kernels
# half of theirs. The suite "long" has all rows in all their tests.
# For some mutants one turn is not enough: the softirq of early_why may also hold up what would go on without it, and looks_again
# needs a WRITE that comes while our end compares.
turns=1 nr=0 third=0
case ${KRPING_MUTANT:-} in
early_why) turns=25 ;;
looks_again) turns=40 ;;
esac
[ "$PROVIDER" = rxe ] || third=1
[[ ${KRPING_SUITE-} != @(debug|alarms) ]] || third=2
lies_begin
while IFS= read -r r <&3; do
	IFS='~' read -r role name tests _ <<<"$r"
	read -ra tests <<<"$tests"
	nr=$((nr + 1))
	if [ -z "$seeks" ] && [ "${KRPING_SUITE-}" != long ]; then
		[ $((nr % 3)) = $third ] || continue
		[ "${KRPING_ROUNDS:-many}" = many ] || [ $((nr % 2)) = 0 ] || continue
		tests=("${tests[nr / 3 % ${#tests[@]}]}")
	fi
	for test in "${tests[@]}"; do
		wanted "$role $name, $test" || continue
		for ((turn = 0; turn < turns; turn++)); do lie "$r" "$test"; done
	done
done 3< <(lies)
lies_end

# A sink larger than the source: where the peer has sent nothing, it must get zeroes and not our memory. For this a
# process first fills most of the free memory with other bytes, and ends.
name="a classic sink of 128 KiB behind a source of one byte"
if wanted "$name"; then
	# What the allocator hands out may be memory that no one has used since the boot, so most of it is filled, and there are some turns.
	mib=$(awk '/^MemAvailable:/ { print int($2 / 1024 * 0.6) }' /proc/meminfo)
	turns=4
	[ -n "${KRPING_MUTANT:-}" ] || turns=$(rounds 4 1)
	for ((turn = 0; turn < turns; turn++)); do
		perl -e 'my $bytes = shift() << 20; my $filled = "x" x $bytes;' "$mib"
		server server "server,addr=$ADDR,port=$PORT,size=131072"
		said=$("$liar" client "$ADDR" $PORT priv=0 pings=0 source=1 sink=131072 2>&1)
		finish server 20
		told "$name" '0 DONE ' 'served other=0 rest=0'
	done
fi

# The first message of a classic client says how large its pings are, also where the server warms up, and whoever watches its phases.
name="a classic client of 4096 bytes, krping_phase, and a server with warmup"
if wanted "$name"; then
	trace_on krping_phase
	server server "server,addr=$ADDR,port=$PORT,warmup=2"
	said=$("$liar" client "$ADDR" $PORT priv=0 size=4096 pings=4 2>&1)
	finish server 20
	trace_off
	told "$name" '0 DONE ' 'served other=0 rest=0'
fi

# Private data that does not fit: the server names the option and refuses the client before it allocates anything for
# it, and listens on. RoCE pads short private data with zeroes, and so does the module.
server strict "server,addr=$ADDR,port=$PORT,persistent"
refused=0
while IFS='~' read -r name args option; do
	wanted "private data: $name" || continue
	# shellcheck disable=SC2086
	is "$("$liar" client "$ADDR" $PORT $args 2>&1)" "refused why=2 option=$option" "private data: $name is refused"
	refused=$((refused + 1))
done <<'END'
version 0~version=0~version 3 vs. 0
the version before~version=2~version 3 vs. 2
a later version~version=4~version
a test that there is not~says=8~test
size 0~size=0~size
size 2097153~size=2097153~size
a count that no command can have~count=0x80000000~count
a warmup that no command can have~warmup=1000001~warmup
server_inv where the server has none~flags=1~server_inv
duplex in ping/pong~flags=2~duplex
random sizes in another test~says=3 flags=4~random_size
a flag that nobody knows~flags=16~flags
the second of its connections~queue=1~queues
several connections~queues=2~queues
it answers no READs, of which ping/pong has some~ird=0~read_depth
the magic and no more~priv=4~version 3 vs. 0
the size is missing~priv=8~size
the size is cut~priv=11~size
END
if is_listening strict; then
	line_is rejects $refused "the server listens on, and has counted them"
else
	fail "the server listens on"
fi
server disks "server,addr=$ADDR,port=$PORT2,test=block,window=64K,persistent"
while IFS='~' read -r args option; do
	wanted "a disk: $option" || continue
	# shellcheck disable=SC2086
	is "$("$liar" client "$ADDR" $PORT2 test=7 count=0 size=4096 $args 2>&1)" "refused why=2 option=$option" "a disk: $args: $option is refused"
done <<'END'
depth=0~txdepth
depth=257~txdepth
ird=0~read_depth
END
interrupt disks
# Shorter than the magic is a classic client, and a field that is missing is 0: without a count the run has no end.
for length in 0 1 3 12 15 16 19 20 49 50 53 54 55; do
	wanted "private data of $length bytes" || continue
	is "$("$liar" client "$ADDR" $PORT priv=$length pings=0 leave=1 2>&1)" left "private data of $length bytes: the client is let in"
done
interrupt strict

# The go-ahead comes before the client knows that its message has left. The device may still have to read the region's list of
# pages for that message's registration, so nothing is mapped onto the region until then.
name="both go-aheads at once"
if wanted "$name"; then
	lying_server early=1
	trace_on krping_mr_map krping_mr_fastreg krping_wc krping_wc_flush
	client "client,addr=$ADDR,port=$PORT,count=5" 20
	trace_off
	tool_end liar
	said=$(cat "$T/liar.out" "$T/liar.err")
	told "a server lies: $name" "$lost.*after 2 of 5 iterations.*" left
	is "$(sed -nE '/ krping_wc(_flush)?: .* kind=RECV/d; s/.* krping_(\w+): run=([0-9]+) .*\<cid=([0-9]+).*/\1 \2 \3/p; s/.* krping_(mr_map): run=([0-9]+) .*/\1 \2/p' $TRACING/trace |
		awk -v id="$(field id)" '
			$2 != id { next }
			$1 == "mr_map" && reg && done < reg { print "mapped before " reg " was done" }
			$1 == "mr_fastreg" { reg = $3 }
			$1 ~ /^wc/ { done = $3 }')" '' "$name: the region is mapped again when its last request is done"
	is "$(grep -c ": krping_mr_map: " $TRACING/trace)" 5 "$name: five times"
fi

# siw checks to which client a key belongs, rxe does not.
name="server_inv, the key of another client"
if wanted "$name"; then
	lying_server inv=3 flags=1
	start victim "client,addr=$ADDR,port=$PORT,count=5,server_inv"
	wait_state victim RDMA_READ_ADV
	client "client,addr=$ADDR,port=$PORT,count=5,server_inv"
	tool_end liar
	said=$(cat "$T/liar.out" "$T/liar.err")
	regex='EPROTO ERROR key 0x[0-9a-f]+ was invalidated instead of 0x[0-9a-f]+'
	[ "$PROVIDER" != siw ] || regex='EIO ERROR RECV failed: .*'
	told "a server lies: $name" "$regex" 'told, disconnected'
	finish victim
	told "the other client" "$lost.*" 'told, disconnected'
fi

# On iWARP a peer can break off below RDMA, too: half a request, another one than MPA's, a half-open connection, half a message.
if [ "$PROVIDER" = siw ] && wanted "raw TCP"; then
	server raw "server,addr=$ADDR,port=$PORT,persistent,clients=2"
	background half-open "$here/mpa.pl" client "$ADDR" $PORT 0 silent
	until_ok 5 test -s "$T/half-open.out"
	for what in '0 fin' '1 fin' '19 fin' '20 fin' '40 fin' '73 fin' '0 reset' '20 reset' '-1 fin' '-1 reset' '-1 garbage' '-1 half'; do
		# shellcheck disable=SC2086
		like "$("$here/mpa.pl" client "$ADDR" $PORT $what 2>&1)" '^sent$' "raw TCP, $what: it came so far"
		client_good "raw TCP, $what: an honest client" "client,addr=$ADDR,port=$PORT,count=2,validate" 2
	done
	kill "${PIDS[half-open]}"
	tool_end half-open
	interrupt_is raw "werr state failed" "0 DONE 4" "raw TCP: the server ends well, and those that got in have failed"
fi

done_testing "after all the lies"
