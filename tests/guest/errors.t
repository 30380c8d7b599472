#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Provokes each errno of the design that this version can give, and checks its reason, which is found by the writer's
# pid.
#
# Not tested here: EOPNOTSUPP and EOVERFLOW (limits.t); ENOMEM, for which this kernel cannot inject faults; EPROTO for a
# promised invalidation or an advertisement, EBADMSG, EIO, and the other results of a lying peer (liar.t).

. "$(dirname "$0")/lib.sh"

# failed DESCRIPTION LINE ERRNO REASON-REGEX: asserts the result of the write, and that of the run's record.
declare -A number=(
	[EINTR]=4 [EIO]=5 [EBUSY]=16 [ENODEV]=19 [EINVAL]=22 [EPROTO]=71 [EBADMSG]=74 [EADDRINUSE]=98 [EADDRNOTAVAIL]=99
	[ENETUNREACH]=101 [ECONNRESET]=104 [ETIMEDOUT]=110 [ECONNREFUSED]=111 [EHOSTUNREACH]=113
)
failed() {
	line_is "ret werr state errno" "-1 $3 ERROR ${number[$3]}" "$1: $3" "$2"
	like "${F[reason]-}" "$4" "$1: its reason"
}

# --- EINVAL: TEXT, a tab, REGEX of the reason. tests/unit/test_command.c has all that can be wrong with a command; here is how the reason
# comes out, and what no C string can have ---
c=client,addr=10.9.0.1,port=9999
cat >"$T/bad" <<END
frobnicate,$c	^frobnicate: unknown option$
$c;size=1	^port=9999;size=1: not a number$
\n	^empty command$
  	^empty command$
$c,\x1b[31mred	^\?\[31mred: unknown option$
$c,a\x07\x7f\xff\n\nb	^a\?\?\?\?\?b: unknown option$
$c,size=64\x00	: has a NUL$
$c,validate\x00	: has a NUL$
\x00	has a NUL$
$c,"quoted\\\\	^.?"quoted.*: unknown option$
END
cut -f1 "$T/bad" | "$krwrite" --batch >"$T/bad.results"
while IFS=$'\t' read -r text regex <&3 && IFS= read -r result <&4; do
	failed "${text//[^[:print:]]/?}" "$result" EINVAL "$regex"
	unlike "${F[reason]-}" '[^[:print:]]' "${text//[^[:print:]]/?}: its reason is printable"
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
"$krwrite" "client,addr=$ADDR,port=$PORT" >"$T/told"
shown() { sed -n '$s/.* \(pid=[^ ]*\) .* \(src=[^ ]* dst=[^ ]*\) .*/\1 \2/p'; }
like "$(shown </proc/krping_runs)" "^pid=[1-9][0-9]* src=[^ ]* dst=$ADDR:$PORT\$" "the last run's process and peer"
is "$(setpriv --reuid=65534 --regid=65534 --clear-groups cat /proc/krping_runs | shown)" "pid=0 src=- dst=-" \
	"an ordinary user sees neither"

# --- addresses ---
server first "server,addr=$ADDR,port=$PORT"
failed "a second server on the port" "$("$krwrite" "server,addr=$ADDR,port=$PORT")" EADDRINUSE '^binding the address'
failed "0.0.0.0 on the port" "$("$krwrite" "server,addr=0.0.0.0,port=$PORT")" EADDRINUSE '(binding|listening)'
client_good "the first server's client" "client,addr=$ADDR,port=$PORT,count=3" 3
finish_good "the first server" first 3

ip link add d1 type dummy && ip addr add 10.10.0.1/24 dev d1 && ip link set d1 arp on up
ip route add unreachable 198.51.100.0/24
while IFS='|' read -r what end errno regex; do failed "$what" "$("$krwrite" "$end,port=$PORT")" "$errno" "$regex"; done <<END
a server's address that is not ours|server,addr=10.9.0.99|EADDRNOTAVAIL|^binding the address
a server's address without RDMA device|server,addr=10.10.0.1|ENODEV|^binding the address
a client's address without RDMA device|client,addr=10.10.0.1|ENODEV|^resolving the address
no route|client,addr=203.0.113.1|ENETUNREACH|^resolving the address
nobody answers ARP|client,addr=10.10.0.9|ETIMEDOUT|^resolving the address
an unreachable host|client,addr=198.51.100.1|EHOSTUNREACH|^resolving the address
nobody listens|client,addr=$ADDR|ECONNREFUSED|refused
END
ip route del unreachable 198.51.100.0/24
ip link del d1

# --- the other end ---
server taken "server,addr=$ADDR,port=$PORT,count=1000000"
pinging taker "client,addr=$ADDR,port=$PORT,count=1000000,validate"
client "client,addr=$ADDR,port=$PORT,count=1000000"
failed "a second client" "$LINE" EBUSY '^the server serves another client$'
run_line "${PIDS[taken]}"
line_is rejects 1 "the server counts it in rejects="
ok "the first client's run goes on" more_pings taken
interrupt taker
failed "an interrupted client" "$LINE" EINTR '^interrupted$'
finish taken
failed "its server" "$LINE" ECONNRESET 'after [0-9]+ of 1000000 iterations|connection is closed'

done_testing "after all that"
