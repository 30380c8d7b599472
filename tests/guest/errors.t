#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Provokes each errno of the design that this version can give, and checks its reason, which is found by the writer's
# pid.
#
# Not tested here: EOPNOTSUPP and EOVERFLOW (limits.t); ENOMEM, for which this kernel cannot inject faults; EPROTO for a
# promised invalidation or an advertisement, and the other results of a lying peer (liar.t).

. "$(dirname "$0")/lib.sh"

# failed DESCRIPTION LINE ERRNO REASON-REGEX: asserts the result of the write, and that of the run's record.
declare -A number=(
	[EINTR]=4 [EIO]=5 [EBUSY]=16 [ENODEV]=19 [EINVAL]=22 [EPROTO]=71 [EBADMSG]=74 [EADDRINUSE]=98 [EADDRNOTAVAIL]=99
	[ENETUNREACH]=101 [ECONNRESET]=104 [ETIMEDOUT]=110 [ECONNREFUSED]=111 [EHOSTUNREACH]=113
)
failed() {
	parse "$2"
	is "${F[ret]-} ${F[werr]-} ${F[state]-} ${F[errno]-}" "-1 $3 ERROR ${number[$3]}" "$1: $3" || diag "${F[reason]-}"
	like "${F[reason]-}" "$4" "$1: its reason"
}

# --- EINVAL: TEXT, a tab, REGEX of the reason ---
bad_commands() {
	local c=client,addr=10.9.0.1,port=9999 name
	cat <<END
frobnicate,$c	^frobnicate: unknown option$
$c,siz=64	^siz=64: unknown option$
$c,SIZE=64	^SIZE=64: unknown option$
$c,size	^size: needs a value$
$c,size=	^size=: needs a number$
$c,size=0	^size=0: out of range \(1\.\.2097152\)$
$c,size=2097153	^size=2097153: out of range \(1\.\.2097152\)$
$c,size=1T	^size=1T: not a number$
$c,size=3M	^size=3M: out of range \(1\.\.2097152\)$
$c,mem_mode=dma,size=131073	^size: with mem_mode=dma memory is contiguous, of 131072 bytes at most$
$c,local_dma_lkey,size=131073	^size: with local_dma_lkey memory is contiguous, of 131072 bytes at most$
$c,offset=4096	^offset=4096: out of range \(0\.\.4095\)$
$c,offset=1K	^offset=1K: not a number$
$c,random_size=1	^random_size=1: takes no value$
$c,random_size,random	^random: given twice$
$c,wlat,random_size	^random_size: test=wlat has no use for it$
server,port=7,wlat,random	^random_size: test=wlat has no use for it$
$c,timeout=1m	^timeout=1m: not a number$
$c,timeout=999us	^timeout=999us: out of range \(1ms\.\.86400s\)$
$c,size=-1	^size=-1: not a number$
$c,size=+1	^size=\+1: not a number$
$c,size= 1	^size= 1: not a number$
$c,size=010	^size=010: leading zero$
$c,size=0x	^size=0x: not a number$
$c,size=0x200001	^size=0x200001: out of range \(1\.\.2097152\)$
$c,size=64,size=64	^size=64: given twice$
$c,count=4294967296	^count=4294967296: out of range \(0\.\.2147483647\)$
$c,count=18446744073709551617	out of range \(0\.\.2147483647\)$
$c,count=2147483648	^count=2147483648: out of range \(0\.\.2147483647\)$
client,addr=10.9.0.1,port=0	^port=0: out of range \(1\.\.65535\)$
client,addr=10.9.0.1,port=65536	^port=65536: out of range \(1\.\.65535\)$
client,addr=10.9.0.1	^port: missing$
client,addr=1.2.3,port=1	^addr=1\.2\.3: not an IPv4 address$
client,addr=1.2.3.4.5,port=1	not an IPv4 address$
client,addr=999.1.1.1,port=1	^addr=999\.1\.1\.1: not an IPv4 address$
client,addr=01.1.1.1,port=1	not an IPv4 address$
client,addr=,port=1	not an IPv4 address$
client,addr=localhost,port=1	^addr=localhost: not an IPv4 address$
client,port=9999	^addr: a client needs the server's address$
client,addr=0.0.0.0,port=9999	^addr: a client needs the server's address$
server,client,port=9999	^server and client: one command is one end$
addr=10.9.0.1,port=9999	^neither server nor client$
server=1,port=9999	^server=1: takes no value$
$c,server_inv=	^server_inv=: takes no value$
$c,validate=1	^validate=1: takes no value$
$c,validate,validate	^validate: given twice$
$c,test=nope	^test=nope: not one of its values$
$c,mem_mode=dmaX	^mem_mode=dmaX: not one of its values$
$c,poll_ctx=direct	^poll_ctx=direct: not one of its values$
$c,mem_mode=mr	^mem_mode=mr: not one of its values$
$c =1	^port=9999 =1: not a number$
$c;size=1	^port=9999;size=1: not a number$
,,,	^neither server nor client$
\n	^empty command$
  	^empty command$
$c,\x1b[31mred	^\?\[31mred: unknown option$
$c,a\x07\x7f\xff\n\nb	^a\?\?\?\?\?b: unknown option$
$c,size=64\x00	: not a number$
$c,validate\x00	: unknown option$
\x00	unknown option$
$c,poll=1	^poll=1: takes no value$
$c,poll,poll_ctx=thread	^poll_ctx=thread: given twice$
$c,cpu=65536	^cpu=65536: out of range \\(0\\.\\.65535\\)$
$c,comp_vector=65536	^comp_vector=65536: out of range \\(0\\.\\.65535\\)$
server,port=7,chain,validate	^chain: a server with validate or verbose has to look
$c,"quoted\\\\	^.?"quoted.*: unknown option$
END
}
bad_commands >"$T/bad"
cut -f1 "$T/bad" | "$krwrite" --batch >"$T/bad.results"
while IFS=$'\t' read -r text regex <&3 && IFS= read -r result <&4; do
	parse "$result"
	name="EINVAL: ${text//[^[:print:]]/?}"
	if [[ ${F[ret]} == -1 && ${F[werr]} == EINVAL && ${F[state]-} == ERROR && ${F[errno]-} == 22 &&
		${F[reason]-} =~ $regex && ${F[reason]} != *[^[:print:]]* ]]; then
		pass "$name"
	else
		fail "$name"
		diag "$result"
	fi
done 3<"$T/bad" 4<"$T/bad.results"
is "$(wc -l <"$T/bad.results")" "$(wc -l <"$T/bad")" "each bad command has its answer"

long="client,addr=$ADDR,port=9999,"
while [ ${#long} -lt 1024 ]; do long+=,; done
failed "1025 bytes" "$("$krwrite" "$long,")" EINVAL '^longer than 1024 bytes$'
failed "1 MiB" "$(head -c 1048576 /dev/zero | tr '\0' x | "$krwrite" --batch)" EINVAL '^longer than 1024 bytes$'
# bash writes a line of 5000 bytes in pieces, also after the first one was refused: one run, with the true cause.
# last_run: prints the number of the last run, and its reason.
last_run() { tail -1 /proc/krping_runs | sed -E 's/^id=([0-9]+) .* reason="(.*)"$/\1 \2/'; }
before=$(last_run)
printf -v line '%5000s' x
if { echo "${line// /x}" >/proc/krping; } 2>/dev/null; then fail "echo of 5000 bytes fails"; else pass "echo of 5000 bytes fails"; fi
is "$(last_run)" "$((${before%% *} + 1)) longer than 1024 bytes" "echo of 5000 bytes is one run, with the true cause"
exec 7>/proc/krping
{ echo "${line// /x}" >&7; } 2>/dev/null
{ echo nonsense >&7; } 2>/dev/null
is "$(last_run)" "$((${before%% *} + 3)) nonsense: unknown option" "the next line of the same descriptor is a command"
{ printf %s "${line// /x}" >&7; } 2>/dev/null
{ printf %s nonsense >&7; } 2>/dev/null
is "$(last_run)" "$((${before%% *} + 4)) longer than 1024 bytes" "what follows without a newline is the rest of the line"
{ echo nonsense >&7; } 2>/dev/null
is "$(last_run)" "$((${before%% *} + 5)) nonsense: unknown option" "and behind it comes a command"
exec 7>&-

failed "1024 bytes are a command" "$("$krwrite" "$long")" ECONNREFUSED 'refused'
failed "a write of nothing" "$("$krwrite" "")" EINVAL '^empty command$'
is "$(grep -c -P '[^\x0a\x20-\x7e]' /proc/krping_runs)" 0 "nothing but printable characters in krping_runs"

# --- EPERM: opener and writer both need the capability ---
nocap=(setpriv --bounding-set=-net_admin --inh-caps=-net_admin)
like "$("${nocap[@]}" "$krwrite" "server,port=9999")" '^ret=-1 werr=EPERM .*at=open' "EPERM: open without CAP_NET_ADMIN"
like "$(exec 7>/proc/krping && "${nocap[@]}" "$krwrite" --fd 7 "server,port=9999")" '^ret=-1 werr=EPERM ' \
	"EPERM: a writer without it, with an opener's descriptor"
like "$(unshare -Ur "$krwrite" "server,port=9999")" '^ret=-1 werr=EPERM ' "EPERM: root of a user namespace"
like "$(exec 7>/proc/krping && unshare -Ur "$krwrite" --fd 7 "server,port=9999")" '^ret=-1 werr=EPERM ' \
	"EPERM: the same, with a descriptor"
cp "$krwrite" "$T/krwrite" && chmod 711 "$T" && chmod 755 "$T/krwrite"
like "$(setpriv --reuid=65534 --regid=65534 --clear-groups "$T/krwrite" "server,port=9999")" \
	'^ret=-1 werr=E(ACCES|PERM) .*at=open' "an ordinary user cannot open it"
like "$(setpriv --reuid=65534 --regid=65534 --clear-groups cat /proc/krping_runs | head -1)" '^# krping runs' \
	"an ordinary user can read krping_runs"

# --- addresses ---
server first "server,addr=$ADDR,port=$PORT"
failed "a second server on the port" "$("$krwrite" "server,addr=$ADDR,port=$PORT")" EADDRINUSE '^binding the address'
failed "0.0.0.0 on the port" "$("$krwrite" "server,addr=0.0.0.0,port=$PORT")" EADDRINUSE '(binding|listening)'
client "client,addr=$ADDR,port=$PORT,count=3"
check_good "the first server's client" "$LINE" 3
finish first
check_good "the first server" "$LINE" 3

failed "a server's address that is not ours" "$("$krwrite" "server,addr=10.9.0.99,port=$PORT")" EADDRNOTAVAIL '^binding the address'
ip link add d1 type dummy && ip addr add 10.10.0.1/24 dev d1 && ip link set d1 arp on up
failed "a server's address without RDMA device" "$("$krwrite" "server,addr=10.10.0.1,port=$PORT")" ENODEV '^binding the address'
failed "a client's address without RDMA device" "$("$krwrite" "client,addr=10.10.0.1,port=$PORT")" ENODEV '^resolving the address'
failed "no route" "$("$krwrite" "client,addr=203.0.113.1,port=$PORT")" ENETUNREACH '^resolving the address'
failed "nobody answers ARP" "$("$krwrite" "client,addr=10.10.0.9,port=$PORT")" ETIMEDOUT '^resolving the address'
ip route add unreachable 198.51.100.0/24
failed "an unreachable host" "$("$krwrite" "client,addr=198.51.100.1,port=$PORT")" EHOSTUNREACH '^resolving the address'
ip route del unreachable 198.51.100.0/24
ip link del d1
failed "nobody listens" "$("$krwrite" "client,addr=$ADDR,port=$PORT")" ECONNREFUSED 'refused'

# --- the other end ---
server taken "server,addr=$ADDR,port=$PORT,count=1000000"
start taker "client,addr=$ADDR,port=$PORT,count=1000000,validate"
wait_pings taker
client "client,addr=$ADDR,port=$PORT,count=1000000"
failed "a second client" "$LINE" EBUSY '^the server serves another client$'
ok "it is told at once" test "${F[elapsed_ns]}" -lt 2000000000
run_line "${PIDS[taken]}" && parse
is "${F[rejects]-}" 1 "the server counts it in rejects="
before=${F[iters]}
more_pings() { pings taken $((before + 5)); }
ok "the first client's run goes on" until_ok 5 more_pings
kill -INT "${PIDS[taker]}"
finish taker
failed "an interrupted client" "$LINE" EINTR '^interrupted$'
finish taken
failed "its server" "$LINE" ECONNRESET 'after [0-9]+ of 1000000 iterations|connection is closed'

server strict "server,addr=$ADDR,port=$PORT,size=100,count=7"
client "client,addr=$ADDR,port=$PORT,size=200,count=7"
failed "sizes differ" "$LINE" EPROTO '^the server refused: size differs: 100 there, 200 here$'
client "client,addr=$ADDR,port=$PORT,size=100,count=8"
failed "counts differ" "$LINE" EPROTO '^the server refused: count differs: 7 there, 8 here$'
client "client,addr=$ADDR,port=$PORT,size=100"
failed "one has a count" "$LINE" EPROTO '^the server refused: count differs: 7 there, 0 here$'
client "client,addr=$ADDR,port=$PORT,size=100,count=7,server_inv"
failed "the client alone has server_inv" "$LINE" EPROTO '^the server refused: server_inv differs: here, not there$'
ok "the server still listens" is_listening strict
client "client,addr=$ADDR,port=$PORT,size=100,count=7"
check_good "a client that fits" "$LINE" 7
finish strict
check_good "the strict server" "$LINE" 7
is "${F[rejects]-}" 4 "it has refused four"
server strict "server,addr=$ADDR,port=$PORT,server_inv"
client "client,addr=$ADDR,port=$PORT,count=7"
failed "the server alone has server_inv" "$LINE" EPROTO '^the server refused: server_inv differs: there, not here$'
client "client,addr=$ADDR,port=$PORT,count=7,server_inv"
check_good "a client that has it, too" "$LINE" 7
finish strict

# --- EBADMSG and EIO: the test overwrites the memory of an rping while it pings ---
stop_rping() {
	kill -KILL "${PIDS[rping]}" 2>/dev/null
	wait "${PIDS[rping]}" $spoiler 2>/dev/null
	unset 'PIDS[rping]'
}

rping_server -S 100
start victim "client,addr=$ADDR,port=$PORT,size=100,validate"
wait_pings victim
"$here/spoil" data "${PIDS[rping]}" 60 &
spoiler=$!
finish victim 60
failed "a pong that is not the ping" "$LINE" EBADMSG '^data differ in ping [0-9]+ at byte [0-9]+ of 100$'
stop_rping

server victim "server,addr=$ADDR,port=$PORT,size=100,validate"
rping -c -a "$ADDR" -p $PORT -S 100 >"$T/rping.log" 2>&1 &
PIDS[rping]=$!
wait_pings victim
"$here/spoil" data "${PIDS[rping]}" 60 &
spoiler=$!
finish victim 60
failed "a ping without its pattern" "$LINE" EBADMSG '^data differ in ping [0-9]+ at byte [0-9]+ of 100$'
stop_rping

server victim "server,addr=$ADDR,port=$PORT,size=100"
rping -c -a "$ADDR" -p $PORT -S 100 >"$T/rping.log" 2>&1 &
PIDS[rping]=$!
wait_pings victim
parting_on
# spoil has to hit the moment between rping's filling in a key and its sending it, so it goes on until it does.
"$here/spoil" key "${PIDS[rping]}" 60 &
spoiler=$!
finish victim 60
# On siw the result depends on what the key was for. The peer's siw closes the connection, and a READ then fails. But a
# WRITE, which has no answer in iWARP, is complete before that, and its client seems to leave between two pings.
check_parted "a wrong remote key: the server ends by what it was doing"
parting_off
if [ "$PROVIDER" != siw ]; then
	failed "a wrong remote key" "$LINE" EIO '^(READ|WRITE) failed: .*\(status [0-9]+, vendor error 0x[0-9a-f]+\)$'
fi
stop_rping

works_after "after all that"
done_testing
