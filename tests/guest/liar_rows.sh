# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The table of lies, one a row: what the liar (liar.c) does, and what our end has to say. liar.t tells a third of them, draw.t all, in a
# random order. The words of a row:
#
#	client		the liar is a client and our end a server; server: the other way round
#	name		of the deviation
#	tests		in which it is told
#	ours		options of our end, behind address, port, and a client's size, count and test
#	how		the liar's values
#	result		of our end, ERRNO STATE REASON, as an extended regular expression. @s is the size, @m and @l a byte more and less,
#			@p the honest iterations, @n one more
#	on siw		the same, where it is another one
#	moves		READs/WRITEs that our end posts in all, as such an expression; "-": as many as it likes. An advertisement that is
#			refused posts none, so these are those of the honest iterations.
#
# If siw refuses an access of the peer, it raises an event. It raises none for a key that it does not know at all, nor for a WRITE to a
# range that wraps, which it finds too late. rxe raises no events.
#
# lies: prints the rows, each with the result on this provider.
lies() {
	local LOST='ECONNRESET ERROR (the peer disconnected|the connection is closed|the queue pair failed)'
	local ENDED="$LOST.*"
	# siw's client may read the first words of a server that does not wait together with its MPA reply: see siw.t.
	local EARLY='EINVAL ERROR connecting: error -(EINVAL|22)'
	local ALONE='ETIMEDOUT ERROR the client did not make connection 2 of 2'
	local LATE='ETIMEDOUT ERROR not done within timeout=[0-9]+m?s.*'
	local REFUSED='EIO ERROR this end refused the peer.s access: QP access error.*'
	local READ_OF="$LOST.* READ of @s bytes of key 0x[0-9a-f]+.*"
	local WRITE_TO="$LOST.* WRITE of @s bytes to key 0x[0-9a-f]+.*"
	local NO_READ='EIO ERROR READ failed: remote access error .*'
	local NO_WRITE='EIO ERROR WRITE failed: remote access error .*'
	local NOT_ITS_DATA='EPROTO ERROR a request with data that do not belong to it: operation'
	local NO_RECV='EIO ERROR RECV failed: .*'
	local BYTES='EPROTO ERROR a message of N bytes instead of 16'
	local GOOD='0 DONE '
	# Data that change while our end may be looking: the finding, the refusal of a WRITE that comes too late, or nothing of it.
	local DIFFER='EBADMSG ERROR data (differ|changed while they were compared,) in ping [0-9]+ at byte [0-9]+ of @s'
	local CHANGES="($GOOD|$DIFFER|$REFUSED|$ENDED)"
	local NO_SEND='EIO ERROR SEND failed: RNR retry counter exceeded .*'
	local PATIENT=',timeout=@t'
	# For a result that is not LATE: only an end that hangs is ended by this.
	local ENDS=',timeout=15s'
	local BENCHES='wlat rlat bw fast duplex'
	local DISK=',test=block,window=512K'
	local CASE='size=12288 count=1 queues=2 '
	local NOT_RIGHT='EIO ERROR case [a-z_]+ is not as it has to be: (FAILED|LEAK)'
	local NONE=0 IWARP='' # there a message needs a RECV, and a client leaves without waiting
	[ "$PROVIDER" != siw ] || NONE=1 IWARP='# '
	local REJECT='pings=0 reject=1 type=1 '
	awk -F'~' -v OFS='~' -v siw="${PROVIDER#rxe}" '/^[^#]/ { print $1, $2, $3, $4, $5, siw != "" && $7 != "" ? $7 : $6, $8 }' <<END
# --- an advertisement of ping/pong ---
client~source-of-0-bytes~rping~~source=0~EPROTO ERROR 0 bytes advertised, @s agreed~~@p/@p
client~source-a-byte-more~rping~~source=+1~EPROTO ERROR @m bytes advertised, @s agreed~~@p/@p
client~source-a-byte-less~rping~~source=-1~EPROTO ERROR @l bytes advertised, @s agreed~~@p/@p
client~source-asks-unagreed~rping~~size=64 source=0x80000040~EPROTO ERROR 2147483712 bytes advertised, 64 agreed~~@p/@p
client~source-asks-and-a-byte-more~rping~~size=64 can=1 source=0x80000041~EPROTO ERROR 65 bytes advertised, 64 agreed~~@p/@p
# Random sizes are agreed: then a source may be shorter, and its sink must be as long.
client~random-source-a-byte-more~rping~~flags=4 source=+1~EPROTO ERROR @m bytes advertised, @s agreed~~@p/@p
client~random-source-shorter-than-its-sink~rping~~flags=4 source=-1~EPROTO ERROR @s bytes advertised, @l agreed~~@n/@p
client~random-sink-a-byte-more~rping~~flags=4 sink=+1 at=1~EPROTO ERROR @m bytes advertised, @s agreed~~@n/@p
client~sink-a-byte-more~rping~~sink=+1 at=1~EPROTO ERROR @m bytes advertised, @s agreed~~@n/@p
client~sink-a-byte-less~rping~~sink=-1 at=1~EPROTO ERROR @l bytes advertised, @s agreed~~@n/@p
client~classic-source-too-large~rping~~priv=0 pings=0 size=64 source=131073~EPROTO ERROR 131073 bytes advertised, 64 agreed~~0/0
client~classic-sink-larger-than-source~rping~~priv=0 size=64 sink=65 at=1~EPROTO ERROR 65 bytes advertised, 64 agreed~~@n/@p
client~source-key-dead~rping~~key=1~$NO_READ~$READ_OF~@n/@p
client~sink-key-dead~rping~~key=1 at=1~$NO_WRITE~$WRITE_TO~@n/@n
client~source-past-the-end~rping~~off=32~$NO_READ~$READ_OF~@n/@p
client~source-ends-a-byte-late~rping~~off=1~$NO_READ~$READ_OF~@n/@p
client~sink-ends-a-byte-late~rping~~off=1 at=1~$NO_WRITE~$WRITE_TO~@n/@n
client~source-wraps~rping~~addr=0xffffffffffffffe0~$NO_READ~$READ_OF~@n/@p
client~sink-wraps~rping~~addr=0xffffffffffffffe0 at=1~$NO_WRITE~$WRITE_TO~@n/@n
client~source-key-dead-chain~rping~,chain~key=1~$NO_READ~$READ_OF~@n/@p
client~sink-key-dead-chain~rping~,chain~key=1 at=1~$NO_WRITE~$WRITE_TO~@n/@n
# --- the message itself ---
client~message-of-0-bytes~rping $BENCHES~~bytes=0~${BYTES/N/0}~~(0|@p)/(0|@p)
client~message-of-15-bytes~rping $BENCHES~~bytes=15~${BYTES/N/15}~~(0|@p)/(0|@p)
client~message-of-17-bytes~rping $BENCHES~~bytes=17~$NO_RECV~~(0|@p)/(0|@p)
client~message-of-17-bytes-softirq~rping~,poll_ctx=softirq~bytes=17~$NO_RECV~~@p/@p
client~message-of-17-bytes-busy~rping~,poll_ctx=busy~bytes=17~$NO_RECV~~@p/@p
client~message-of-17-bytes-workqueue~rping~,poll_ctx=workqueue~bytes=17~$NO_RECV~~@p/@p
client~no-message~rping $BENCHES~$PATIENT~times=0 leave=2 by=2~$LATE~~-
client~does-not-begin~rping $BENCHES fr~,idle=500ms~pings=0 leave=1 by=2~ETIMEDOUT ERROR the client did not begin for idle=500ms~~0/0
client~is-gone~rping~,idle=4s~leave=1 by=3~ETIMEDOUT ERROR nothing came from the client for idle=4s~$ENDED~@p/@p
client~no-sink-message~rping~$PATIENT~at=1 times=0~$LATE~~@n/@p
# Two of them are an honest ping to our end; more than it has RECVs for are the transport's affair.
client~forty-messages-at-once~rping $BENCHES~$PATIENT~times=40~($GOOD|EPROTO ERROR .* bytes advertised, .*|EIO ERROR .*|$LATE|$ENDED)~~-
client~done-twice~rlat bw fast duplex~~at=2 times=2~($GOOD|$ENDED)~~0/[05]
client~message-invalidates-nobodys-key~rping $BENCHES~~inv=2~$NO_RECV~~(0|@p)/(0|@p)
client~takes-all-but-the-last-message~rping~~size=64 count=1 pings=0 recvs=1 rnr=1~EIO ERROR SEND failed: RNR retry counter exceeded .*~($GOOD|$ENDED)~1/1
# The ping is complete, and our end sends its last message without end.
client~takes-no-last-message~rping~,idle=2s~size=64 count=1 pings=0 recvs=1~ETIMEDOUT ERROR nothing came from the client for idle=2s~($GOOD|$ENDED)~1/1
# A shared receive queue is not flushed: only the send queue knows that the SEND has failed.
client~takes-no-message~rping~$ENDS~size=64 pings=0 recvs=0 rnr=1~$NO_SEND~$ENDED~1/0
client~takes-no-message-srq~rping~$ENDS,srq~size=64 pings=0 recvs=0 rnr=1~$NO_SEND~$ENDED~1/0
client~takes-no-message-srq-busy~rping~$ENDS,srq,poll_ctx=busy~size=64 pings=0 recvs=0 rnr=1~$NO_SEND~$ENDED~1/0
client~message-of-17-bytes-srq~rping $BENCHES~,srq~bytes=17~$NO_RECV~~(0|@p)/(0|@p)
client~forty-messages-at-once-srq~rping~$PATIENT,srq~times=40~($GOOD|EPROTO ERROR (srq: the peer sent|.* bytes advertised,).*|EIO ERROR .*|$LATE|$ENDED)~~-
client~dies-inside-srq~rping $BENCHES~,srq~leave=3 by=1~(EIO ERROR (READ|WRITE|SEND) failed: .*|$ENDED)~~-
# --- data that change: the client's own memory, while our end READs it ---
client~source-with-a-wrong-first-byte~rping~,validate~data=0~EBADMSG ERROR data differ in ping @p at byte 0 of @s~~@n/@p
client~source-with-a-wrong-byte~rping~,validate~data=40~EBADMSG ERROR data differ in ping @p at byte 40 of @s~~@n/@p
client~source-with-a-wrong-last-byte~rping~,validate~data=-1~EBADMSG ERROR data differ in ping @p at byte @l of @s~~@n/@p
client~source-with-wrong-bytes~rping~,validate~data=0 wrong=+0~EBADMSG ERROR data differ in ping @p at byte 0 of @s~~@n/@p
client~source-first-byte-changes~rping~,validate~pings=4 data=0 flip=1~($GOOD|$DIFFER)~~@n/(@p|@n)
client~source-last-byte-changes~rping~,validate~pings=4 data=-1 flip=1~($GOOD|$DIFFER)~~@n/(@p|@n)
client~source-changes~rping~,validate~pings=4 data=0 wrong=+0 flip=1~($GOOD|$DIFFER)~~@n/(@p|@n)
client~source-changes-in-a-chain~rping~,chain~pings=4 data=0 wrong=+0 flip=1~$GOOD~~@n/@n
# --- the other tests ---
# A WRITE with immediate data completes a RECV, whose buffer it does not fill. siw has no such request.
client~done-by-a-WRITE~wlat bw duplex~$PATIENT~pings=5 at=2 imm=1~EPROTO ERROR a WRITE with immediate data instead of a message~$LATE~0/[0-5]
client~done-by-a-WRITE-srq~wlat bw duplex~$PATIENT,srq~pings=5 at=2 imm=1~EPROTO ERROR a WRITE with immediate data instead of a message~$LATE~0/[0-5]
client~answers-no-READ~rlat~$PATIENT~pings=0 ird=0~($GOOD|EIO ERROR .*|$LATE|$ENDED)~~-
client~answers-255-READs~rping rlat~$ENDS~pings=0 ird=255 ord=255~($GOOD|$ENDED)~~-
client~target-of-0-bytes~wlat fast duplex~~source=0~EPROTO ERROR 0 bytes advertised, @s agreed~~0/0
client~target-a-byte-more~wlat fast duplex~~source=+1~EPROTO ERROR @m bytes advertised, @s agreed~~0/0
client~target-a-byte-less~wlat fast duplex~~source=-1~EPROTO ERROR @l bytes advertised, @s agreed~~0/0
client~target-of-4-GiB~wlat fast duplex~~source=0xffffffff~EPROTO ERROR 4294967295 bytes advertised, @s agreed~~0/0
client~target-where-none-is~rlat bw~~source=1~EPROTO ERROR 1 bytes advertised, 0 agreed~~0/0
# In wlat our end WRITEs only after the client has: without an honest ping it would never use the target.
client~target-key-dead~wlat fast~~pings=1 key=1~$NO_WRITE~$WRITE_TO~0/[1-5]
client~target-past-the-end~wlat fast~~pings=1 off=1~$NO_WRITE~$WRITE_TO~0/[1-5]
client~target-wraps~wlat fast~~pings=1 addr=0xffffffffffffffe0~$NO_WRITE~$WRITE_TO~0/[1-5]
client~done-of-15-bytes~rlat bw fast duplex~~at=2 bytes=15~${BYTES/N/15}~~0/[05]
# It fails our RECV, and with it the queue pair, perhaps before we have posted all of our WRITEs.
client~done-of-17-bytes~rlat bw fast duplex~~at=2 bytes=17~$NO_RECV~~0/[0-5]
client~done-with-a-length~rlat bw fast duplex~~at=2 source=1~EPROTO ERROR 1 bytes advertised, 0 agreed~~0/[05]
client~done-invalidates-the-target~rlat bw~~at=2 inv=1~EPROTO ERROR key 0x[0-9a-f]+ was invalidated, which was not agreed~~0/0
client~done-too-early~wlat~$PATIENT~leave=5 by=2~$LATE~~0/@p
client~never-done~rlat bw fast duplex~$PATIENT~leave=4 by=2~$LATE~~0/[05]
# --- it uses our memory ---
client~uses-a-dead-key~wlat rlat bw~~at=1 key=1~$ENDED~~0/(0|@p)
client~uses-a-byte-past-the-end~wlat bw~~at=1 more=1~$ENDED~$REFUSED~0/(0|@p)
client~reads-a-byte-past-the-end~rlat~~at=1 more=1~$ENDED~$LOST.*QP request error.*~0/0
client~uses-memory-past-the-end~wlat bw~~at=1 off=1~$ENDED~$REFUSED~0/(0|@p)
client~uses-an-address-that-wraps~wlat rlat bw~~at=1 addr=0xffffffffffffffe0~$ENDED~~0/(0|@p)
client~writes-where-it-may-read~rlat~~at=1 move=1~$ENDED~$REFUSED~0/0
client~uses-a-dead-key-beside-our-WRITEs~duplex~~at=1 key=1~$ENDED~~0/[0-5]
client~uses-a-byte-past-the-end-beside-our-WRITEs~duplex~~at=1 more=1~$ENDED~$REFUSED~0/[0-5]
client~reads-where-it-may-write-beside-our-WRITEs~duplex~~at=1 move=1~$ENDED~~0/5
client~reads-where-it-may-write~bw~~at=1 move=1~$ENDED~~0/0
# The number that our end waits for: another one, its own again and again, or those of later iterations.
client~number-that-is-wrong~wlat~$PATIENT~number=119~$LATE~~0/0
client~number-of-the-next-iteration~wlat~$PATIENT~number=2~$LATE~~0/0
client~numbers-without-waiting~wlat~$PATIENT~burst=5~($GOOD|$LATE)~~0/[0-5]
client~number-changes~wlat~$PATIENT~at=1 late=50~($GOOD|$LATE)~~0/[0-5]
client~goes-on-without-end~wlat rlat bw duplex~$PATIENT~at=1 late=200~($GOOD|$LATE)~~0/[0-5]
client~goes-on-behind-done~wlat rlat bw duplex~~pings=5 at=2 late=1000~($GOOD|$REFUSED|$ENDED)~~0/[0-5]
# --- fast registration: a client says that it has done, and nothing else ---
client~word-of-15-bytes~fr~~bytes=15~${BYTES/N/15}~~0/0
client~word-of-17-bytes~fr~~bytes=17~$NO_RECV~~0/0
client~word-invalidates-nobodys-key~fr~~inv=2~$NO_RECV~~0/0
client~forty-words-at-once~fr~$ENDS~times=40~($GOOD|EIO ERROR .*|$ENDED)~~0/0
client~no-word~fr~$PATIENT~times=0 leave=2 by=2~$LATE~~0/0
client~leaves-without-a-word~fr~~leave=1~ECONNRESET ERROR the peer disconnected.*~~0/0
# --- protect: each message of the client has the number of the case; "send" is that of which=0, "read_invalidated" which=7 ---
client~case-of-15-bytes~protect~$ENDS~${CASE}bytes=15~${BYTES/N/15}~~0/0
client~case-of-17-bytes~protect~$ENDS~${CASE}bytes=17~$NO_RECV~~0/0
client~case-that-there-is-not~protect~$ENDS~${CASE}key=1~EPROTO ERROR a message of another case: 0x0, and this is 0x70726f00~~0/0
client~case-invalidates-nobodys-key~protect~$ENDS~${CASE}inv=2~$NO_RECV~~0/0
client~forty-cases-at-once~protect~$ENDS~${CASE}key=1 times=40~EPROTO ERROR a message of another case: .*~~0/0
client~invalidates-the-key-of-a-case~protect~$ENDS~${CASE}at=1 inv=1~$NOT_RIGHT~~0/0
client~invalidates-nobodys-key-in-a-case~protect~$PATIENT~${CASE}at=1 inv=2~($LATE|$NOT_RIGHT)~~0/0
client~sees-without-an-access~protect~$ENDS~${CASE}which=7~$NOT_RIGHT~~0/0
client~saw-everything~protect~$ENDS~${CASE}which=7 at=2 answer=0xffffffffffffffff~$NOT_RIGHT~~0/0
client~saw-another-case~protect~$ENDS~${CASE}at=2 key=1~EPROTO ERROR a message of another case: 0x0, and this is 0x6e6f7400~~0/0
client~silent-without-a-second-connection~protect~$PATIENT~${CASE}leave=1 by=2~($LATE|$ALONE)~~0/0
client~third-connection~protect~$PATIENT~${CASE}second=2~($LATE|$ALONE|$ENDED)~~0/0
client~is-silent-in-a-case~protect~$PATIENT~${CASE}leave=4 by=2~$LATE~~0/0
client~dies-in-a-case~protect~$ENDS~${CASE}leave=4 by=1~$ENDED~~0/0
client~no-case~protect~$PATIENT~${CASE}times=0 leave=2 by=2~$LATE~~0/0
client~leaves-without-a-case~protect~$ENDS~${CASE}leave=1~ECONNRESET ERROR the peer disconnected.*~~0/0
# --- a disk: what a client asks for ---
client~outside-the-window~block~$DISK~pos=520704~EPROTO ERROR a request outside the window: operation 2, byte 520704, @s bytes~~@p/0
client~at-a-byte-within-a-sector~block~$DISK~pos=1~EPROTO ERROR a request of a part of a sector: operation 2, byte 1, @s bytes~~@p/0
client~of-0-bytes~block~$DISK~len=0~EPROTO ERROR a request of a part of a sector: operation 2, byte 0, 0 bytes~~@p/0
client~larger-than-agreed~block~$DISK~len=4608~EPROTO ERROR a request that is larger than agreed: operation 2, byte 0, 4608 bytes~~@p/0
client~zeroes-that-are-too-large~block~$DISK~op=3 len=262656~EPROTO ERROR a request that is too large: operation 3, byte 0, 262656 bytes~~@p/0
client~across-a-chunk~block~$DISK~pos=261632~EPROTO ERROR a request that crosses a chunk of the window: operation 2, byte 261632, @s bytes~~@p/0
client~of-an-unknown-operation~block~$DISK~op=4~EPROTO ERROR a request of no operation: operation 4, .*~~@p/0
client~tag-that-is-too-large~block~$DISK~tag=4~EPROTO ERROR a request with tag 4, and there are not so many~~@p/0
client~more-than-it-asked-for~block~$DISK~times=5~EPROTO ERROR a request with tag 4, and there are not so many~~-
client~the-same-tag-eight-times~block~$DISK~tag=0 times=8~EPROTO ERROR a request with tag 0, which is here already~~-
client~of-31-bytes~block~$DISK~bytes=31~EPROTO ERROR a message of 31 bytes instead of 32~~@p/0
client~of-33-bytes~block~$DISK~bytes=33~$NOT_ITS_DATA 2, byte 0, @s bytes~~@p/0
client~data-of-more-than-4K~block~$DISK~bytes=4129~$NO_RECV~~@p/0
client~data-of-another-length~block~$DISK~len=1024 bytes=544~$NOT_ITS_DATA 2, byte 0, 1024 bytes~~@p/0
client~data-of-a-read~block~$DISK~op=1 len=512 bytes=544~$NOT_ITS_DATA 1, byte 0, 512 bytes~~@p/0
client~data-and-a-key~block~$DISK~inv=1 len=512 bytes=544~$NOT_ITS_DATA 2, byte 0, 512 bytes~~@p/0
client~write-with-a-dead-key~block~$DISK~key=1~$NO_READ~$ENDED~@n/0
client~read-with-a-dead-key~block~$DISK~op=1 key=1~$NO_WRITE~$ENDED~@p/1
client~write-to-a-read-only-window~block~$DISK,ro~pings=0~EPROTO ERROR a request that writes, and the window is read only: operation 2, .*~~0/0
client~zeroes-with-a-key~block~$DISK~op=3 inv=1~EPROTO ERROR a request with a key that it does not need: operation 3, .*~~@p/0
# --- it leaves ---
client~leaves-before-its-first-message~rping $BENCHES~~pings=0 leave=1~ECONNRESET ERROR the peer disconnected.*~~0/0
client~leaves-behind-its-first-message~rping $BENCHES~~pings=0 leave=2~(EIO ERROR (READ|WRITE) failed: .*|$ENDED)~~-
client~leaves-inside~rping $BENCHES~~leave=3~(EIO ERROR (READ|WRITE) failed: .*|$ENDED)~~-
client~leaves-at-the-end~rping $BENCHES~~leave=4~(EIO ERROR (READ|WRITE) failed: .*|$ENDED)~~-
client~leaves-behind-done~rlat bw fast duplex~~leave=5~($GOOD|$ENDED)~~-
client~dies-before-its-first-message~rping $BENCHES~~pings=0 leave=1 by=1~$ENDED~~0/0
client~dies-behind-its-first-message~rping $BENCHES~~pings=0 leave=2 by=1~(EIO ERROR (READ|WRITE) failed: .*|$ENDED)~~-
client~dies-inside~rping $BENCHES~~leave=3 by=1~(EIO ERROR (READ|WRITE|SEND) failed: .*|$ENDED)~~-
client~dies-at-the-end~rping $BENCHES~~leave=4 by=1~(EIO ERROR (READ|WRITE|SEND) failed: .*|$ENDED)~~-
client~is-silent-behind-its-first-message~rping $BENCHES~$PATIENT~pings=0 leave=2 by=2~$LATE~~-
client~is-silent-inside~rping $BENCHES~$PATIENT~leave=3 by=2~$LATE~~-
client~fails-inside~rping $BENCHES~$PATIENT~leave=3 by=3~(EIO ERROR .*|$LATE|$ENDED)~~-
client~fails-inside-srq~rping $BENCHES~$PATIENT,srq~leave=3 by=3~(EIO ERROR .*|$LATE|$ENDED)~~-
client~is-silent-at-the-end~rping~$PATIENT~leave=4 by=2~$LATE~~@n/@n
client~classic-leaves-before-its-first-message~rping~~priv=0 pings=0 leave=1~$GOOD~~0/0
client~classic-leaves-behind-its-first-message~rping~~priv=0 pings=0 leave=2~$ENDED~~[01]/0
client~classic-leaves-behind-an-advertisement~rping~~priv=0 leave=2~$ENDED~~(@p|@n)/@p
client~classic-leaves-inside~rping~~priv=0 leave=3~$LOST.*in iteration @p.*~~@n/@p
client~classic-leaves-at-the-end~rping~~priv=0 leave=4~$GOOD~~@n/@n
client~another-magic-is-classic~rping~~magic=1 leave=4~$GOOD~~@n/@n
client~another-type-is-classic~rping~~type=1 leave=4~$GOOD~~@n/@n
# --- honest, but odd ---
client~honest-at-odd-addresses~rping~~priv=0 size=65537 skew=4001 leave=0~$GOOD~~@n/@n
client~honest-classic-takes-less~rping~,size=4096~priv=0 source=100 sink=50 size=4096~$GOOD~~@n/@n
# --- a server: its go-ahead ---
server~message-of-0-bytes~rping~~bytes=0~${BYTES/N/0}~~0/0
server~message-of-15-bytes~rping~~bytes=15~${BYTES/N/15}~~0/0
server~message-of-17-bytes~rping~~bytes=17~$NO_RECV~~0/0
server~message-of-4096-bytes~rping~~bytes=4096~$NO_RECV~~0/0
server~message-of-15-bytes~wlat rlat bw duplex~~bytes=15~${BYTES/N/15}~~0/0
server~message-of-17-bytes~wlat rlat bw duplex~~bytes=17~$NO_RECV~~0/0
server~no-go-ahead~rping~$PATIENT~times=0~$LATE~~0/0
server~no-go-ahead-of-the-sink~rping~$PATIENT~at=1 times=0~$LATE~~0/0
# Our end may have gone on by the time that the lie would show, and then waits for a peer that has nothing more to say.
server~go-ahead-twice~rping~$PATIENT~times=2~(EIO ERROR .*|$LATE|$ENDED)~~0/0
server~forty-go-aheads-at-once~rping~$PATIENT~times=40~($GOOD|EIO ERROR .*|$LATE|$ENDED)~~0/0
server~forty-messages-at-once~wlat rlat bw~$PATIENT~times=40~($GOOD|EPROTO ERROR .* bytes advertised, 0 agreed|EIO ERROR .*|$LATE|$ENDED)~~-
server~go-ahead-without-a-READ~rping~~pings=4 move=2~$GOOD~~0/0
server~go-ahead-without-a-WRITE~rping~,validate~at=1 move=2~EBADMSG ERROR data differ in ping @p at byte [0-9]+ of @s~~0/0
server~lies-about-its-time~rping~,split~pings=4 can=1 answer=0xffffffffffffffff~$GOOD~~0/0
server~server-inv-no-invalidation-of-the-source~rping~,server_inv~inv=0 flags=1~EPROTO ERROR the promised invalidation of key 0x[0-9a-f]+ did not come~~0/0
server~server-inv-no-invalidation-of-the-sink~rping~,server_inv~inv=0 at=1 flags=1~EPROTO ERROR the promised invalidation of key 0x[0-9a-f]+ did not come~~0/0
server~server-inv-nobodys-key~rping~,server_inv~inv=2 flags=1~$NO_RECV~~0/0
server~server-inv-the-key-before~rping~,server_inv~inv=4 at=1 flags=1~$NO_RECV~~0/0
server~invalidation-that-was-not-agreed~rping~~inv=1~EPROTO ERROR key 0x[0-9a-f]+ was invalidated, which was not agreed~~0/0
server~go-ahead-by-a-WRITE~rping~$PATIENT~at=1 imm=1~EPROTO ERROR a WRITE with immediate data instead of a message~$LATE~0/0
server~go-ahead-by-a-WRITE-srq~rping~$PATIENT,srq~at=1 imm=1~EPROTO ERROR a WRITE with immediate data instead of a message~$LATE~0/0
server~invalidates-a-dead-key~rping~~inv=4 at=1~($NO_RECV|EPROTO ERROR key 0x[0-9a-f]+ was invalidated, which was not agreed)~~0/0
server~invalidates-the-next-key~rping~~inv=5~$NO_RECV~($NO_RECV|EPROTO ERROR key 0x[0-9a-f]+ was invalidated, which was not agreed)~0/0
server~server-inv-the-next-key~rping~,server_inv~inv=5 flags=1~$NO_RECV~~0/0
server~takes-no-message~rping~$ENDS~size=64 recvs=0 rnr=1 pings=0~$NO_SEND~$ENDED~0/0
server~takes-no-last-message~fr~$ENDS~recvs=1~$GOOD~~0/0
server~takes-no-message-srq~rping~$ENDS,srq~size=64 recvs=0 rnr=1 pings=0~$NO_SEND~$ENDED~0/0
server~takes-no-message-srq-busy~rping~$ENDS,srq,poll_ctx=busy~size=64 recvs=0 rnr=1 pings=0~$NO_SEND~$ENDED~0/0
server~message-of-17-bytes-srq~rping wlat rlat bw duplex~,srq~bytes=17~$NO_RECV~~0/0
# --- data that change: our client's sink, before, while and after it looks ---
server~first-byte-comes-back-wrong~rping~,validate~data=0 at=1~EBADMSG ERROR data differ in ping @p at byte 0 of @s~~0/0
server~last-byte-comes-back-wrong~rping~,validate~data=-1 at=1~EBADMSG ERROR data differ in ping @p at byte @l of @s~~0/0
server~all-bytes-come-back-wrong~rping~,validate~data=0 wrong=+0 at=1~EBADMSG ERROR data differ in ping @p at byte 0 of @s~~0/0
server~first-byte-becomes-right~rping~,validate~data=0 at=1 late=1~$CHANGES~~0/0
server~last-byte-becomes-right~rping~,validate~data=-1 at=1 late=1~$CHANGES~~0/0
server~last-byte-becomes-right-soon~rping~,validate,size=1048576~data=-1 at=1 late=1 wait=2000~$CHANGES~~0/0
server~first-byte-changes~rping~,validate~data=0 at=1 late=40~$CHANGES~~0/0
server~last-byte-changes~rping~,validate~data=-1 at=1 late=40~$CHANGES~~0/0
server~last-byte-changes-of-1-MiB~rping~,validate,size=1048576~data=-1 at=1 late=40~$CHANGES~~0/0
server~all-bytes-change~rping~,validate~data=0 wrong=+0 at=1 late=40~$CHANGES~~0/0
server~all-bytes-change-in-a-chain~rping~,validate,chain~data=0 wrong=+0 at=1 late=40~$CHANGES~~0/0
server~all-bytes-change-unseen~rping~~data=0 wrong=+0 at=1 late=40~($GOOD|$REFUSED|$ENDED)~~0/0
server~WRITEs-to-a-sink-that-it-invalidated~rping~,server_inv,validate~data=0 at=1 late=40 flags=1~($DIFFER|$REFUSED|$ENDED)~~0/0
server~WRITEs-during-the-tear-down~rping~~pings=4 data=0 wrong=+0 at=1 late=200~($GOOD|$REFUSED|$ENDED)~~0/0
# --- it uses the memory of our client ---
server~READ-of-a-dead-key~rping~~key=1~$ENDED~~0/0
server~READ-of-the-next-key~rping~~key=3~$ENDED~~0/0
server~WRITE-to-the-next-key~rping~~key=3 at=1~$ENDED~~0/0
server~READ-of-the-key-before~rping~~key=2~$ENDED~~0/0
server~WRITE-to-a-dead-key~rping~~key=1 at=1~$ENDED~~0/0
server~WRITE-to-the-key-before~rping~~key=2 at=1~$ENDED~~0/0
server~READ-of-a-byte-more~rping~~more=1~$ENDED~$LOST.*QP request error.*~0/0
server~WRITE-past-the-end~rping~~off=32 at=1~$ENDED~$REFUSED~0/0
server~WRITE-of-a-byte-more~rping~~more=1 at=1~$ENDED~$REFUSED~0/0
server~READ-that-wraps~rping~~addr=0xffffffffffffffe0~$ENDED~$LOST.*QP request error.*~0/0
server~WRITE-that-wraps~rping~~addr=0xffffffffffffffe0 at=1~$ENDED~~0/0
server~WRITE-to-the-source~rping~~move=1~$ENDED~$REFUSED~0/0
server~READ-of-the-sink~rping~~pings=4 move=1 at=1~$ENDED~~0/0
# --- the other tests ---
server~target-of-0-bytes~wlat rlat bw duplex~~source=0~EPROTO ERROR 0 bytes advertised, @s agreed~~0/0
server~target-a-byte-more~wlat rlat bw duplex~~source=+1~EPROTO ERROR @m bytes advertised, @s agreed~~0/0
server~target-key-dead~wlat bw duplex~~key=1~$NO_WRITE~$WRITE_TO~0/[1-5]
server~target-key-dead~rlat~~key=1~$NO_READ~$READ_OF~1/0
server~target-past-the-end~wlat bw duplex~~off=1~$NO_WRITE~$WRITE_TO~0/[1-5]
server~target-past-the-end~rlat~~off=1~$NO_READ~$READ_OF~1/0
server~target-wraps~wlat bw duplex~~addr=0xffffffffffffffe0~$NO_WRITE~$WRITE_TO~0/[1-5]
server~invalidation-that-was-not-agreed~wlat~~inv=1~EPROTO ERROR key 0x[0-9a-f]+ was invalidated, which was not agreed~~0/0
server~no-target~wlat rlat bw duplex~$PATIENT~times=0~$LATE~~0/0
server~uses-a-dead-key~wlat fast duplex~~at=1 key=1~$ENDED~~0/[0-5]
server~uses-a-byte-past-the-end~wlat fast duplex~~at=1 more=1~$ENDED~$REFUSED~0/[0-5]
server~reads-where-it-may-write~fast~~at=1 move=1~$ENDED~~0/0
server~reads-where-it-may-write-beside-our-WRITEs~duplex~~at=1 move=1~$ENDED~~0/5
server~number-that-is-wrong~wlat~$PATIENT~number=119~$LATE~~0/1
server~numbers-without-waiting~wlat~$PATIENT~burst=5~($GOOD|$LATE|$ENDED)~~0/[1-5]
server~number-changes~wlat~$PATIENT~at=1 late=50~($GOOD|$LATE|$ENDED)~~0/[1-5]
server~goes-on-without-end~fast duplex~$PATIENT~at=1 late=200~($GOOD|$LATE|$ENDED)~~0/[0-5]
server~goes-on-behind-done~wlat fast duplex~~pings=5 at=2 late=1000~($GOOD|$REFUSED|$ENDED)~~0/[0-5]
server~done-does-not-invalidate~wlat fast~,server_inv~pings=5 at=2 inv=0 flags=1~EPROTO ERROR the promised invalidation of key 0x[0-9a-f]+ did not come~~0/[0-5]
server~done-invalidates-nobodys-key~wlat fast~,server_inv~pings=5 at=2 inv=2 flags=1~$NO_RECV~~0/[0-5]
server~done-invalidates-the-next-key~wlat fast~,server_inv~pings=5 at=2 inv=5 flags=1~$NO_RECV~($NO_RECV|EPROTO ERROR key 0x[0-9a-f]+ was invalidated instead of 0x[0-9a-f]+)~0/[0-5]
server~invalidates-before-done~wlat~,server_inv~inv=1 flags=1~EPROTO ERROR key 0x[0-9a-f]+ was invalidated, which was not agreed~~0/[0-5]
server~done-of-15-bytes~rlat bw fast duplex~~at=2 bytes=15~${BYTES/N/15}~~[05]/[05]
server~done-with-a-length~rlat bw fast duplex~~at=2 source=1~EPROTO ERROR 1 bytes advertised, 0 agreed~~[05]/[05]
# --- fast registration: a server only waits; our client needs a second for its five keys ---
server~speaks-unasked-of-17-bytes~fr~,interval=200ms~bytes=17~$NO_RECV~($NO_RECV|$EARLY)~0/0
server~speaks-forty-times-unasked~fr~,interval=200ms~times=40~($GOOD|EIO ERROR .*|$ENDED)~($GOOD|EIO ERROR .*|$ENDED|$EARLY)~0/0
server~invalidates-nobodys-key-unasked~fr~,interval=200ms~inv=2~$NO_RECV~($NO_RECV|$EARLY)~0/0
server~leaves-in-the-middle~fr~,interval=200ms~leave=1~$ENDED~~0/0
server~dies-in-the-middle~fr~,interval=200ms~leave=1 by=1~$ENDED~~0/0
# --- protect: the answer to the first message, and the advertisement; ours is the client of "send" ---
server~case-of-0-bytes~protect~$ENDS~${CASE}bytes=0~${BYTES/N/0}~~0/0
server~case-of-15-bytes~protect~$ENDS~${CASE}bytes=15~${BYTES/N/15}~~0/0
server~case-of-17-bytes~protect~$ENDS~${CASE}bytes=17~$NO_RECV~~0/0
server~case-that-there-is-not~protect~$ENDS~${CASE}key=1~EPROTO ERROR a message of another case: 0x0, and this is 0x70726f00~~0/0
server~case-invalidates-nobodys-key~protect~$ENDS~${CASE}inv=2~$NO_RECV~~0/0
server~case-of-another-length~protect~$ENDS~${CASE}at=1 source=5121~EPROTO ERROR 5121 bytes advertised, 5120 agreed~~0/0
server~case-of-4-GiB~protect~$ENDS~${CASE}at=1 source=0xffffffff~EPROTO ERROR 4294967295 bytes advertised, 5120 agreed~~0/0
server~saw-another-case~protect~$ENDS~${CASE}at=3 key=1~EPROTO ERROR a message of another case: 0x0, and this is 0x6e6f7400~~0/0
server~saw-everything~protect~$ENDS~${CASE}at=3 answer=0xffffffffffffffff~$NOT_RIGHT~~0/0
server~no-case~protect~$PATIENT~${CASE}times=0~$LATE~~0/0
server~no-second-connection~protect~$PATIENT~${CASE}leave=1 by=2~$LATE~~0/0
server~is-silent-in-a-case~protect~$PATIENT~${CASE}leave=4 by=2~$LATE~~0/0
server~leaves-in-a-case~protect~$ENDS~${CASE}leave=4~$ENDED~~0/0
server~dies-in-a-case~protect~$ENDS~${CASE}leave=2 by=1~$ENDED~~0/0
# --- a disk: what a server answers; ours reads it ---
server~window-of-0-bytes~block~~addr=0 pings=0~EPROTO ERROR a window of 0 bytes~~0/0
server~window-of-2^63-bytes~block~~addr=0x8000000000000000 pings=0~EPROTO ERROR a window of 9223372036854775808 bytes~~0/0
server~depth-of-0~block~~depth=0 pings=0~EPROTO ERROR the server grants 0 requests, 4 asked for~~0/0
server~depth-of-one-more~block~~depth=5 pings=0~EPROTO ERROR the server grants 5 requests, 4 asked for~~0/0
server~answers-before-a-request~block~~early=1 pings=0~EPROTO ERROR an answer (before the first request|to tag 0, operation 1, 0 bytes: no such request is in flight)~~0/0
server~answers-an-unknown-tag~block~~tag=4~EPROTO ERROR an answer to tag 4, operation 1, @s bytes: no such request is in flight~~0/0
server~answers-twice~block~~pings=0 times=2~EPROTO ERROR an answer to tag [0-3], operation 1, @s bytes: no such request is in flight~~0/0
server~answers-another-operation~block~~op=2~EPROTO ERROR an answer to tag [0-3], operation 2, @s bytes: the request is another one~~0/0
server~answers-another-length~block~~len=512~EPROTO ERROR an answer to tag [0-3], operation 1, 512 bytes: the request is another one~~0/0
server~answer-without-the-invalidation~block~~inv=0~EPROTO ERROR the promised invalidation of key 0x[0-9a-f]+ did not come~~0/0
server~answer-that-invalidates-nobodys-key~block~~inv=2~$NO_RECV~~0/0
server~answer-that-invalidates-the-key-before~block~~inv=4~($NO_RECV|EPROTO ERROR key 0x[0-9a-f]+ was invalidated instead of 0x[0-9a-f]+)~~0/0
server~answer-with-an-unagreed-invalidation~block~,local_inv~inv=1~EPROTO ERROR key 0x[0-9a-f]+ was invalidated, which was not agreed~~0/0
server~answer-of-33-bytes~block~~bytes=33~$NO_RECV~~0/0
server~no-answer~block~~times=0~ETIMEDOUT ERROR no answer to request [0-3] of connection 0 for io_timeout=[0-9]+ms~~0/0
# --- it leaves ---
server~leaves-before-its-first-message~rping $BENCHES~~pings=0 leave=1~$ENDED~~0/0
server~leaves-behind-the-first-message~rping $BENCHES~~pings=0 leave=2~(EIO ERROR (READ|WRITE|SEND) failed: .*|$ENDED)~~-
server~leaves-inside~rping $BENCHES~~leave=3~(EIO ERROR (READ|WRITE|SEND) failed: .*|$ENDED)~~-
server~leaves-at-the-end~rping~~leave=4~$LOST.*after (@p|@n) of 5 iterations.*~~0/0
server~dies-before-its-first-message~rping $BENCHES~~pings=0 leave=1 by=1~$ENDED~~0/0
server~dies-behind-the-first-message~rping $BENCHES~~pings=0 leave=2 by=1~(EIO ERROR (READ|WRITE|SEND) failed: .*|$ENDED)~~-
server~dies-inside~rping $BENCHES~~leave=3 by=1~(EIO ERROR (READ|WRITE|SEND) failed: .*|$ENDED)~~-
server~is-silent-before-its-first-message~rping $BENCHES~$PATIENT~pings=0 leave=1 by=2~$LATE~~0/0
server~is-silent-behind-the-first-message~rping $BENCHES~$PATIENT~pings=0 leave=2 by=2~$LATE~~-
server~is-silent-inside~rping $BENCHES~$PATIENT~leave=3 by=2~$LATE~~-
server~is-silent-at-the-end~rping~$PATIENT~leave=4 by=2~$LATE~~0/0
server~fails-inside~rping $BENCHES~$PATIENT~leave=3 by=3~(EIO ERROR .*|$LATE|$ENDED)~~-
server~fails-inside-srq~rping $BENCHES~$PATIENT,srq~leave=3 by=3~(EIO ERROR .*|$LATE|$ENDED)~~-
server~classic-leaves-inside~rping~~priv=0 leave=3~$LOST.*after @p of 5 iterations.*~~0/0
# --- it does not let our client in ---
server~does-not-answer~rping $BENCHES fr~$PATIENT~accept=0 by=2~$LATE~~0/0
server~leaves-without-an-answer~rping fr~$ENDS~accept=0 by=0~(ECONNREFUSED|ECONNRESET|EHOSTUNREACH) ERROR .*~~0/0
server~dies-without-an-answer~rping fr~$ENDS~accept=0 by=1~(ECONNREFUSED|ECONNRESET|EHOSTUNREACH) ERROR .*~~0/0
server~refuses-without-a-word~rping~~${REJECT}priv=0~ECONNREFUSED ERROR connection refused .*~~0/0
server~refuses-with-another-magic~rping~~${REJECT}magic=1 why=2~ECONNREFUSED ERROR connection refused .*~~0/0
server~refuses-with-another-type~rping~~${REJECT}type=0 why=2~ECONNREFUSED ERROR connection refused .*~~0/0
server~refuses-with-the-magic-and-no-more~rping~~${REJECT}priv=4 why=2~ECONNREFUSED ERROR connection refused .*~~0/0
server~refuses-in-the-middle-of-a-word~rping~~${REJECT}priv=33 why=2 word=4~EPROTO ERROR the server refused: siz differs~~0/0
server~refuses-with-a-reason-that-there-is-not~rping~~${REJECT}why=65535~ECONNREFUSED ERROR the server refused: reason 65535~~0/0
server~refuses-because-it-is-busy~rping~~${REJECT}why=1 word=1~EBUSY ERROR the server serves another client~~0/0
server~refuses-an-option-without-a-name~rping~~${REJECT}why=2~EPROTO ERROR the server refused:  differs~~0/0
server~refuses-a-word-without-an-end~rping~~${REJECT}why=2 word=1~EPROTO ERROR the server refused: [?]{15} differs~~0/0
server~refuses-a-word-for-a-terminal~rping~~${REJECT}why=2 word=2~EPROTO ERROR the server refused: [?] [?]{3}\[2J[?]{2},= differs~~0/0
server~refuses-a-format~rping~~${REJECT}why=2 word=3~EPROTO ERROR the server refused: %s%n%p%x%s%n%p% differs~~0/0
server~refuses-a-size-up-to-4-GiB~rping~~${REJECT}why=2 word=4 can=2 size=0xffffffff~EPROTO ERROR the server refused: size differs: 4294967295 at most there, 64 here~~0/0
server~refuses-what-was-not-asked-for~rping~~${REJECT}why=2 word=5 flags=1~EPROTO ERROR the server refused: server_inv differs: there, not here~~0/0
server~refuses-a-size-of-its-own~rping~~${REJECT}why=2 word=6~EPROTO ERROR the server refused: accept differs: it does not take this test or size~~0/0
# --- its answer to our client's private data ---
server~answers-with-our-own-number~rping~~pings=4 echo=1~$GOOD~~0/0
server~answers-no-READ~rping rlat~$PATIENT~pings=0 ird=0 ord=0~($GOOD|EIO ERROR .*|$LATE|$ENDED)~~-
server~tells-a-long-time~rping~,split~pings=4 can=1 answer=0x4000000000000000~$GOOD~~0/0
server~answers-nothing~$BENCHES~~priv=0 pings=0~EPROTO ERROR the test needs a peer that is krping, too~~0/0
server~answers-the-half~rping $BENCHES fr~~pings=0 priv=11~EPROTO ERROR the server answered: (size|count) differs: .*~~0/0
server~answers-another-version~rping~~pings=0 version=1~EPROTO ERROR the server answered: version differs: 1 there, 3 here~~0/0
server~answers-another-test~rping~~pings=0 says=3~EPROTO ERROR the server answered: test differs: rlat there, rping here~~0/0
server~answers-no-test~rping~~pings=0 says=8~EPROTO ERROR the server answered: test differs: 8 there, rping here~~0/0
server~answers-another-size~rping~~pings=0 size=65~EPROTO ERROR the server answered: size differs: 65 there, 64 here~~0/0
server~answers-another-count~rping~~pings=0 count=6~EPROTO ERROR the server answered: count differs: 6 there, 5 here~~0/0
server~answers-another-warmup~rping~~pings=0 warmup=1~EPROTO ERROR the server answered: warmup differs: 1 there, 0 here~~0/0
server~answers-an-unknown-flag~rping~~pings=0 flags=16~EPROTO ERROR the server answered: flags differs~~0/0
server~answers-random-size~rping~~pings=0 flags=4~EPROTO ERROR the server answered: random_size differs: there, not here~~0/0
server~answers-duplex~rping~~pings=0 flags=2~EPROTO ERROR the server answered: duplex differs: there, not here~~0/0
server~answers-server-inv~rping~~pings=0 flags=1~EPROTO ERROR the server answered: server_inv differs: there, not here~~0/0
# * --- duplex, whose client says that it is done while our end still WRITEs: on iWARP a WRITE has completed before the peer refuses it, so the run may have ended well by then ---
client~target-key-dead-beside-its-WRITEs~duplex~~key=1~$NO_WRITE~($GOOD|$WRITE_TO)~0/[1-5]
client~target-past-the-end-beside-its-WRITEs~duplex~~off=1~$NO_WRITE~($GOOD|$WRITE_TO)~0/[1-5]
client~target-wraps-beside-its-WRITEs~duplex~~addr=0xffffffffffffffe0~$NO_WRITE~($GOOD|$WRITE_TO)~0/[1-5]
# --- a benchmark whose end does not come, or comes too early ---
# Our end takes the second target for the server's "done".
server~target-twice~rlat bw duplex~$ENDS~times=2~EPROTO ERROR @s bytes advertised, 0 agreed~~-
server~is-silent-before-done~$BENCHES~$PATIENT~leave=4 by=2~$LATE~~-
# --- several connections; of a good run those behind the first one have no RECV for our end's last message, or do not leave ---
client~lets-no-connection-go~bw~~queues=16 rest=$NONE~$GOOD~~0/0
client~dies-with-8-connections~bw~~queues=8 leave=4 by=1~$ENDED~~0/0
${IWARP}server~lets-no-connection-go~bw~,queues=16~queues=16~$GOOD~~0/5
client~is-silent-on-2-connections~bw~$PATIENT~queues=2 leave=4 by=2~$LATE~~0/0
END
}
