#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Peers that lie (liar.c): whatever a peer does, our end fails with the right errno and reason, and can then serve
# others. Each row is a lie that is told after an honest ping.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-tools.sh"
said=''

# wanted NAME: for a mutant, only the rows run that the mutant must fail.
wanted() {
	case ${KRPING_MUTANT:-} in
	'') return 0 ;;
	no_sink_check) [[ $1 == "the sink has a byte more"* ]] ;;
	no_length_rule) [[ $1 == "the source has "* ]] ;;
	dirty_buffers) [[ $1 == "a classic sink of 128 KiB"* ]] ;;
	no_inv_check) [[ $1 == "server_inv, no invalidation"* || $1 == "server_inv, the key of another client" ]] ;;
	no_msg_length) [[ $1 == *"15 bytes" ]] ;;
	no_size_bounds) [[ $1 == "private data: size"* ]] ;;
	no_answer_check) [[ $1 == "private data: another size" ]] ;;
	no_last_words) [[ $1 == "the source is past the end" ]] ;;
	early_why) [[ $1 == *"17 bytes, in a softirq" ]] ;;
	no_last_message) [[ $1 == "takes all but the last message" ]] ;;
	no_retire) [[ $1 == "both go-aheads at once" ]] ;;
	no_told) [[ $1 == "a WRITE past the end" ]] ;;
	esac
}

# row ROW: splits a row of the tables below: NAME, OUR OPTIONS, LIAR'S ARGUMENTS, a regex of "ERRNO STATE REASON" for
# rxe, and one for siw ("=": the same as for rxe).
row() {
	IFS='~' read -r name ours args regex siw <<<"$1"
	[ "$siw" = = ] || [ "$PROVIDER" != siw ] || regex=$siw
	wanted "$name"
}

# told NAME REGEX WORDS: asserts that our end's LINE matches, and that the liar printed one of the words.
told() {
	parse
	like "${F[werr]-} ${F[state]-} ${F[reason]-}" "^($2)\$" "$1"
	like "$said" "^($3)\$" "$1: the liar came so far"
}

# --- a client lies, our server knows ---
lost='ECONNRESET ERROR (the peer disconnected|the connection is closed|the queue pair failed)'
clients=(
	"the source has 0 bytes~~source=0~EPROTO ERROR 0 bytes advertised, 64 agreed~="
	"the source has a byte more~~source=65~EPROTO ERROR 65 bytes advertised, 64 agreed~="
	"the source has a byte less~~source=63~EPROTO ERROR 63 bytes advertised, 64 agreed~="
	"the source asks for a time, which was not agreed~~source=0x80000040~EPROTO ERROR 2147483712 bytes advertised, 64 agreed~="
	"the source asks for a time, and has a byte more~~can=1 source=0x80000041~EPROTO ERROR 65 bytes advertised, 64 agreed~="
	"the source has 4 GiB~~source=0xffffffff~EPROTO ERROR 4294967295 bytes advertised, 64 agreed~="
	"the sink has 0 bytes~~sink=0~EPROTO ERROR 0 bytes advertised, 64 agreed~="
	"the sink has a byte more~~sink=65~EPROTO ERROR 65 bytes advertised, 64 agreed~="
	"the sink has a byte less~~sink=63~EPROTO ERROR 63 bytes advertised, 64 agreed~="
	"a classic source of more than there can be~~priv=0 pings=0 source=131073~EPROTO ERROR 131073 bytes advertised, 64 agreed~="
	"a classic sink larger than the first source~~priv=0 sink=65~EPROTO ERROR 65 bytes advertised, 64 agreed~="
	"the message has 0 bytes~~bytes=0~EPROTO ERROR a message of 0 bytes instead of 16~="
	"the message has 15 bytes~~bytes=15~EPROTO ERROR a message of 15 bytes instead of 16~="
	"the message has 17 bytes~~bytes=17~EIO ERROR RECV failed: .*~="
	"the message has 17 bytes, in a softirq~,poll_ctx=softirq~bytes=17~EIO ERROR RECV failed: .*~="
	"the source's key is dead~~key=1~EIO ERROR READ failed: remote access error .*~$lost.* READ of 64 bytes of key 0x[0-9a-f]+.*"
	"the sink's key is dead~~key=1 at=1~EIO ERROR WRITE failed: remote access error .*~$lost.* WRITE of 64 bytes to key 0x[0-9a-f]+.*"
	"the source is past the end~~off=32~EIO ERROR READ failed: remote access error .*~$lost.* READ of 64 bytes of key 0x[0-9a-f]+.*"
	"the sink is past the end~~off=32 at=1~EIO ERROR WRITE failed: remote access error .*~$lost.* WRITE of 64 bytes to key 0x[0-9a-f]+.*"
	"the source's address wraps~~addr=0xffffffffffffffe0~EIO ERROR READ failed: remote access error .*~$lost.* READ of 64 bytes of key 0x[0-9a-f]+.*"
	"the sink's address wraps~~addr=0xffffffffffffffe0 at=1~EIO ERROR WRITE failed: remote access error .*~$lost.* WRITE of 64 bytes to key 0x[0-9a-f]+.*"
	"leaves before its first message~~pings=0 leave=1~ECONNRESET ERROR the peer disconnected after 0 of 5 iterations~="
	"leaves behind its first advertisement~~pings=0 leave=2~$lost.*~="
	"leaves inside a ping~~leave=3~$lost.*after 1 of 5 iterations.*~="
	"leaves between two pings~~leave=4~$lost.*after 2 of 5 iterations.*~="
	"a classic one leaves before its first message~~priv=0 pings=0 leave=1~0 DONE ~="
	"a classic one leaves behind its first advertisement~~priv=0 pings=0 leave=2~$lost.*~="
	"a classic one leaves behind an advertisement~~priv=0 leave=2~$lost.*~="
	"a classic one leaves inside a ping~~priv=0 leave=3~$lost.*in iteration 1.*~="
	"a classic one leaves between two pings~~priv=0 leave=4~0 DONE ~="
	"private data: another magic makes a classic peer~~magic=1 leave=4~0 DONE ~="
	"takes all but the last message~~count=1 pings=0 recvs=1 rnr=1~EIO ERROR SEND failed: RNR retry counter exceeded .*~(0 DONE |$lost.*)"
	"honest, with buffers at odd addresses~~priv=0 size=65537 skew=4001 leave=0~0 DONE ~="
	"honest, but for the sink's size: a classic one takes less~,size=4096~priv=0 source=100 sink=50~0 DONE ~="
)
# early_why holds the cause back, but its softirq may also hold up what would go on without it: one turn in two notices.
turns=1
[ "${KRPING_MUTANT:-}" != early_why ] || turns=25
for r in "${clients[@]}"; do
	row "$r" || continue
	for ((turn = 0; turn < turns; turn++)); do
		server server "server,addr=$ADDR,port=$PORT$ours"
		# shellcheck disable=SC2086 # words
		said=$("$liar" client "$ADDR" $PORT $args 2>&1)
		finish server 20
		told "a client lies: $name" "$regex" 'told, disconnected|left|served other=0 rest=0'
	done
done

# A sink larger than the source: where the peer has sent nothing, it must get zeroes and not our memory. For this a
# process first fills most of the free memory with other bytes, and ends.
name="a classic sink of 128 KiB behind a source of one byte"
if wanted "$name"; then
	# What the allocator hands out may be memory that no one has used since the boot, so most of it is filled, and there are
	# some turns.
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

# Private data that does not fit: the server names the option and refuses the client before it allocates anything for
# it, and listens on. RoCE pads short private data with zeroes, and so does the module.
server strict "server,addr=$ADDR,port=$PORT"
refused=0
while IFS='~' read -r name args option; do
	wanted "private data: $name" || continue
	# shellcheck disable=SC2086
	is "$("$liar" client "$ADDR" $PORT $args 2>&1)" "refused why=2 option=$option" "private data: $name is refused"
	refused=$((refused + 1))
done <<'END'
another version~version=1~version
size 0~size=0~size
size 131073~size=131073~size
size 4294967295~size=0xffffffff~size
a count that no command can have~count=0x80000000~count
server_inv where the server has none~flags=1~server_inv
the magic and no more~priv=4~version
the size is missing~priv=8~size
a flag that nobody knows~flags=0x80000000~flags
END
if is_listening strict; then
	parse
	is "${F[rejects]-}" $refused "the server listens on, and has counted them"
	kill -INT "${PIDS[strict]}"
else
	fail "the server listens on"
fi
finish strict

# --- a server lies, our client knows ---
# If siw refuses an access of the peer, it raises an event. It raises none for a key that it does not know at all, nor
# for a WRITE to a range that wraps, which it finds too late, and it does not know that a READ needs a right. rxe raises
# no events.
access='EIO ERROR this end refused the peer.s access: QP access error.*'
servers=(
	"the message has 0 bytes~~bytes=0~EPROTO ERROR a message of 0 bytes instead of 16~="
	"the message has 15 bytes~~bytes=15~EPROTO ERROR a message of 15 bytes instead of 16~="
	"the message has 17 bytes~~bytes=17~EIO ERROR RECV failed: .*~="
	"server_inv, no invalidation of the source's key~,server_inv~inv=0 flags=1~EPROTO ERROR the promised invalidation of key 0x[0-9a-f]+ did not come~="
	"server_inv, no invalidation of the sink's key~,server_inv~inv=0 at=1 flags=1~EPROTO ERROR the promised invalidation of key 0x[0-9a-f]+ did not come~="
	"server_inv, nobody's key~,server_inv~inv=2 flags=1~EIO ERROR RECV failed: .*~="
	"an invalidation that was not agreed~~inv=1~EPROTO ERROR key 0x[0-9a-f]+ was invalidated, which was not agreed~="
	"a READ of a dead key~~key=1~$lost.*~$lost.*"
	"a WRITE to a dead key~~key=1 at=1~$lost.*~$lost.*"
	"a READ past the end~~off=32~$lost.*~$lost.*QP request error.*"
	"a WRITE past the end~~off=32 at=1~$lost.*~$access"
	"a READ of an address that wraps~~addr=0xffffffffffffffe0~$lost.*~$lost.*QP request error.*"
	"a WRITE to an address that wraps~~addr=0xffffffffffffffe0 at=1~$lost.*~$lost.*"
	"a WRITE to the source~~move=1~$lost.*~$access"
	"a READ of the sink~~pings=4 move=1 at=1~$lost.*~0 DONE "
	"leaves before its first message~~pings=0 leave=1~$lost.*~="
	"leaves behind the first advertisement~~pings=0 leave=2~$lost.*~="
	"leaves inside a ping~~leave=3~$lost.*after 1 of 5 iterations.*~="
	"leaves between two pings~~leave=4~$lost.*after [12] of 5 iterations.*~="
	"a classic one leaves inside a ping~~priv=0 leave=3~$lost.*after 1 of 5 iterations.*~="
	"another byte comes back~,validate~data=40 at=1~EBADMSG ERROR data differ in ping 1 at byte 40 of 64~="
	"private data: another version~~pings=0 version=1~EPROTO ERROR the server answered: version differs~="
	"private data: another size~~pings=0 size=65~EPROTO ERROR the server answered: size differs: 65 there, 64 here~="
	"private data: another count~~pings=0 count=6~EPROTO ERROR the server answered: count differs: 6 there, 5 here~="
	"private data: a flag that nobody knows~~pings=0 flags=4~EPROTO ERROR the server answered: flags differs~="
	"private data: duplex~~pings=0 flags=2~EPROTO ERROR the server answered: duplex differs: there, not here~="
	"private data: server_inv~~pings=0 flags=1~EPROTO ERROR the server answered: server_inv differs: there, not here~="
)
for r in "${servers[@]}"; do
	row "$r" || continue
	# shellcheck disable=SC2086
	lying_server $args
	client "client,addr=$ADDR,port=$PORT,count=5$ours" 20
	tool_end liar
	said=$(cat "$T/liar.out" "$T/liar.err")
	told "a server lies: $name" "$regex" 'told, disconnected|left'
done

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

works_after "after all the lies"
done_testing
