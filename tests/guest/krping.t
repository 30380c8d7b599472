#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# krping, the front end: it writes the text that one would echo, its figures are those of /proc/krping_runs, and its
# exit status and its messages say how the run ended.

. "$(dirname "$0")/lib.sh"

# The list at the end has runs of all parts.
echo 200 >"$HISTORY"
# content FILE NAME: sets the variable NAME to the file's contents, without the newline at the end. It starts no
# process, since each start takes long in an emulated guest.
content() {
	IFS= read -rd '' "$2" <"$1"
	printf -v "$2" %s "${!2%$'\n'}"
}

# run COMMAND...: runs COMMAND, and sets RC, OUT and ERR.
run() {
	"$@" >"$T/out" 2>"$T/err" </dev/null
	RC=$?
	content "$T/out" OUT
	content "$T/err" ERR
}

# says STATUS REGEX DESCRIPTION COMMAND...: asserts that COMMAND ends with STATUS, and prints nothing but one line on stderr, which
# matches REGEX.
says() {
	run "${@:4}"
	is "$RC $OUT${ERR//[^$'\n']/}" "$1 " "$3: exit $1, and one line" || diag "$ERR$OUT"
	like "$ERR" "$2" "$3: says why"
}

# ends NAME STATUS DESCRIPTION [SIGNAL]: ends the tool in the background, sets OUT and ERR, and asserts its exit status.
ends() {
	tool_end "$1" "${4:-}"
	content "$T/$1.out" OUT
	content "$T/$1.err" ERR
	is $RC "$2" "$3: exit $2" || diag "$OUT$ERR"
}

# up NAME COMMAND...: starts a server in the background, and waits until it listens or has ended.
up() {
	background "$@"
	until_ok 10 listens_or_ended "$1"
}

# What a client says when it has its server, and nothing else.
connected="^run [0-9]+ is connected to [^ ]+ on $LINK/1, test=rping size=[0-9]+\$"

# --- with closed streams, in whose place /proc/krping must not be opened ---
server server "server,addr=$ADDR,port=$PORT"
last_id() { sed -n '$s/^id=\([0-9]*\) .*/\1/p' /proc/krping_runs; }
last=$(last_id)
krping client "$ADDR" count=3 -v >&- 2>&- <&-
is $? 1 "a client without standard streams cannot print its summary: exit 1"
finish server
is $(($(last_id) - last)) 1 "it writes nothing but its command to /proc/krping"

# --- without a run ---
last=$(tail -1 /proc/krping_runs)
# tests/unit/test_cmdtext.c has all kinds of words.
while IFS='|' read -r words text; do
	# shellcheck disable=SC2086 # words
	run setpriv --reuid=65534 --regid=65534 --clear-groups krping $words
	is "$RC $OUT$ERR" "0 $text" "krping $words"
done <<'END'
-n client 10.9.0.1 count=100 size=4096 validate|client,addr=10.9.0.1,port=9999,count=100,size=4096,validate
client 10.9.0.1:7174 count=100,validate --dry-run|client,addr=10.9.0.1,port=7174,count=100,validate
client -n [fd09::1]:7174 size=1|client,addr6=fd09::1,port=7174,size=1
server -n|server,port=9999
END
is "$(tail -1 /proc/krping_runs)" "$last" "nothing of this was a command"

# --- a run, both ends ---
figures='iterations/s, [0-9.kM]+ MB/s, latency min/avg/max = [0-9.]+[mun]?s/[0-9.]+[mun]?s/[0-9.]+[mun]?s'
up server krping server "$ADDR"
like "$(cat "$T/server.err")" "^run [0-9]+ listens on $ADDR:9999\$" "the server says that it listens" ||
	diag "$(cat /proc/krping_runs)"
background client krping client "$ADDR" count=23 size=4096 validate
client_pid=${PIDS[client]} server_pid=${PIDS[server]}
ends client 0 "client"
is "${ERR#run * }" "is connected to $ADDR:9999 on $LINK/1, test=rping size=4096" "client: it says whom it has, and what it does"
run_line "$client_pid" && parse
is "${F[role]-} ${F[count]-} ${F[size]-} ${F[iters]-} ${F[state]-}" "client 23 4096 23 DONE" "client: it was run as asked"
mapfile -t lines <<<"$OUT"
is "${lines[0]-}" "--- $ADDR:9999 krping client statistics ---" "client: the summary's head"
like "${lines[1]-}" '^23 of 23 iterations of 4096 bytes, time [0-9.]+m?s$' "client: its iterations"
like "${lines[2]-}" "^[0-9.k]+ $figures\$" "client: its rate and latency"
like "${lines[3]-}" '^latency p50/p90/p99/p99.9 = ([0-9.]+[mun]?s/){3}[0-9.]+[mun]?s$' "client: its percentiles"
is "${lines[4]-}" "run ${F[id]-} on $LINK/1, peer run ${F[peer_run]-} at ${F[dst]-}" "client: who with"
narrow "$OUT" "client"
ends server 0 "server"
run_line "$server_pid" && parse
is "${F[role]-} ${F[size]-} ${F[iters]-} ${F[state]-}" "server 4096 23 DONE" "server: it took what the client asked"
like "$ERR" $'\n'"run ${F[id]-} serves $ADDR on $LINK/1, test=rping size=4096\$" "server: it says whom it serves"
like "$OUT" "^--- $ADDR:9999 krping server statistics ---"$'\n''23 of 23 iterations of 4096 bytes, time ' "server: its summary"

# --- intervals, and limits ---
up server krping -j -i 0.5 server "$ADDR"
background client krping -i 0.5 client "$ADDR" size=4096
until_ok 30 eval '[ "$(wc -l <"$T/client.out")" -ge 5 ]'
ends client 0 "-i" INT
like "$ERR" "$connected" "-i: a line on stderr, and no progress"
mapfile -t lines <<<"$OUT"
is "$(xargs <<<"${lines[0]}")" "TIME ITERS ITER/S MB/S MIN P50 P90 P99 P99.9 MAX" "-i: a line of names, once"
number='[0-9.]+[kM]?' ns='[0-9.]+[mun]?s'
like "${lines[2]-}" "^ *$ns +$number +$number +$number( +$ns){6}\$" "-i: a row of each interval"
narrow "$OUT" "-i"
like "$OUT" $'\n'"--- $ADDR:9999 krping client statistics ---" "-i: the summary is there, too"
ends server 0 "-j -i"
is "$(jq -s '[.[].final] | unique' -c <<<"$OUT")" "[false,true]" "-j -i: intervals, and the result"
# What came in the intervals, and in the rest after the last one, is the whole run. An iteration that is under way at an end of
# an interval makes a difference of one iteration at most.
is "$(jq -s '.[-1].lat_max_ns as $most | .[-1].iters as $all | map(select(.final | not)) | length >= 3 and (.[1:-1] | all(.interval_ns > 3e8)) and
	all(.[]; .count > 0 and .min_ns <= .p50_ns and .p50_ns <= .p999_ns and .p999_ns <= .max_ns and
		(.iters_per_s * .interval_ns / 1e9 - .count | fabs < 0.1) and (.sum_ns - .interval_ns | fabs <= $most)) and
	(map(.count) | add | . <= $all and . > $all / 2)' \
	<<<"$OUT")" true "-j -i: each interval has iterations, and together they are those of the run" || diag "$OUT"
# A server of several clients: each line is the sum over them, a client between two lines and one of another size are in it.
up server krping -j -i 0.3 server "$ADDR" persistent clients=2
server_pid=${PIDS[server]}
server_lines() { [ "$(wc -l <"$T/server.out")" -ge "$1" ]; }
run krping client "$ADDR" count=23
until_ok 10 server_lines 1
background client krping client "$ADDR" size=4096
background client2 krping client "$ADDR" size=100
until_ok 10 server_lines 5
for t in client client2; do ends $t 0 "-i: a client of two" INT; done
n=$(wc -l <"$T/server.out")
until_ok 10 server_lines $((n + 2))
ends server 0 "-j -i server persistent" INT
run_line "$server_pid" && parse
want=$(awk -v parent="parent=${F[id]-}" '$2 == parent { split("", v); for (i = 1; i <= NF; i++) { split($i, a, "="); v[a[1]] = a[2] }
	n++; iters += v["iters"]; mb += (v["moved_bytes"] ? v["moved_bytes"] : v["iters"] * v["moves"] * v["size"]) / 1e6 } END { printf "[%d, %d, %f]", n, iters, mb }' /proc/krping_runs)
# The rates are rounded to three digits behind the point.
is "$(jq -s -r --argjson want "$want" 'map(select(.final | not)) | $want[0] == 3 and (map(.count) | add) == $want[1] and
	(map(.mb_per_s * .interval_ns / 1e9) | add - $want[2] | fabs < 0.05 + $want[2] / 100)' <<<"$OUT")" true \
	"-j -i server persistent: the lines have what its clients made, together" || diag "$want $OUT"
up server krping server "$ADDR"
run krping -j -i 0.2 client "$ADDR" timeout=1s --fail 'p99>100s' --fail 'p99<100s' --fail 'iterations>1'
is "$RC $(jq -r 'select(.final).error' <<<"$OUT" | sed -E "s/p99 is [0-9.]+us/p99 is SO/; s/iterations is [0-9]+/iterations is SO/")" \
	"2 p99<100s: p99 is SO; iterations>1: iterations is SO" "limits: those that are broken" || diag "$OUT"
ends server 0 "its server"
# limited_run OPTION... DESCRIPTION WANTED: a client with these limits ends with a status, and its JSON has whether it was good, and why not.
limited_run() {
	up server krping server "$ADDR"
	run krping -j client "$ADDR" count=23 "${@:1:$#-2}"
	is "$RC $(jq -c '[.good, .error]' <<<"$OUT")" "${!#}" "${*:$#-1:1}"
	ends server 0 "its server"
}
limited_run --fail 'iterations<23' --fail 'MB/s<0.0001' "limits that are kept" '0 [true,null]'
limited_run --fail 'iterations<24' "-j: a limit that is broken" '2 [false,"iterations<24: iterations is 23"]'
# Whose figures are forgotten keeps no limit.
echo 0 >$HISTORY
limited_run --fail 'time>1000s' "a run without figures" '2 [false,"--fail: the run has no figures here"]'
echo 200 >$HISTORY
for wrong in '-i 0' '-i 1s' '-i -1' '-i 99999999' '--fail p99' '--fail max>1h' '--fail nothing>1'; do
	# shellcheck disable=SC2086 # words
	says 1 '^krping: (-i|--fail): ' "krping $wrong is refused" krping $wrong client "$ADDR" count=1
done
says 1 '^krping: -i: not for "krping list" ' "krping -i list is refused" krping -i 1 list

# The interface is an echo into /proc/krping: either end may be an echo instead of krping.
server echo "server,addr=$ADDR,port=$PORT"
run krping -j client "$ADDR" count=7,validate
is "$RC $ERR" "0 " "with an echo's server"
finish_good "an echo's server" echo 7
is "$(jq -c '[.tool, .schema, .final, .command, .good, .error, .role, .iters, .count, .state, .errno]' <<<"$OUT")" \
	"[\"krping\",1,true,\"client,addr=$ADDR,port=9999,count=7,validate\",true,null,\"client\",7,7,\"DONE\",0]" \
	"-j: the result"
run_line "$(jq .pid <<<"$OUT")" && parse
is "$(jq -r '"\(.run) \(.elapsed_ns) \(.lat_min_ns) \(.lat_mean_ns) \(.lat_max_ns) \(.send_msgs) \(.recv_bytes)"' <<<"$OUT")" \
	"${F[id]-} ${F[elapsed_ns]-} ${F[lat_min_ns]-} ${F[lat_mean_ns]-} ${F[lat_max_ns]-} ${F[send_msgs]-} ${F[recv_bytes]-}" \
	"-j: the figures are the module's"
is "$(jq '(.iters_per_s * .lat_mean_ns / 1e9 - 1 | fabs < 0.001) and (.mb_per_s - .iters_per_s * 128 / 1e6 | fabs < 0.01)' \
	<<<"$OUT")" true "-j: the rates are those of the latency"

up server krping server "$ADDR:7174" count=7
client_good "an echo's client" "client,addr=$ADDR,port=7174,count=7" 7
ends server 0 "with an echo's client"

# The run was made, but its result cannot be written.
for opt in '' -j; do
	up server krping server "$ADDR"
	# shellcheck disable=SC2086 # a word, or none
	krping $opt client "$ADDR" count=3 >/dev/full 2>"$T/err"
	RC=$?
	# With -j it is the only line.
	content "$T/err" ERR
	[ -n "$opt" ] || ERR=${ERR##*$'\n'}
	is "$RC $ERR" "1 krping: cannot write: ENOSPC (No space left on device)" "krping $opt client >/dev/full: exit 1, and says why"
	ends server 0 "its server"
done

# rping, a peer that we did not write.
up server krping server "$ADDR" size=100
ok "rping pings it" timeout 20 rping -c -a "$ADDR" -p 9999 -C 5 -S 100
ends server 0 "with rping"
like "$OUT" $'\n'"5 iterations of 100 bytes, .*a classic peer at $ADDR:" "with rping: its summary"

# --- what goes wrong ---
says 2 "^krping: connection refused: nobody listens on $ADDR:9999; " "nobody listens" krping client "$ADDR" count=3
run krping -j client "$ADDR" count=3
is "$RC $(jq -r '"\(.good) \(.errno) \(.final) \(.iters) \(.error)"' <<<"$OUT" | cut -d';' -f1)" \
	"2 false 111 true 0 connection refused: nobody listens on $ADDR:9999" "nobody listens, -j"
# Names of our own, of which one has addresses of both kinds.
{ cat /etc/hosts && printf '%s six.test both.test\n%s both.test four.test\n' "$ADDR6" "$ADDR"; } >"$T/hosts"
mount --bind "$T/hosts" /etc/hosts
while read -r words text; do
	# shellcheck disable=SC2086 # words
	run krping -n client ${words//+/ }
	is "$RC $OUT" "0 client,$text" "names: ${words//+/ }"
done <<END
four.test+count=3 addr=$ADDR,port=9999,count=3
four.test:7174 addr=$ADDR,port=7174
six.test addr6=$ADDR6,port=9999
six.test:7174 addr6=$ADDR6,port=7174
both.test+bind=$ADDR addr=$ADDR,port=9999,bind=$ADDR
both.test+bind=$ADDR6 addr6=$ADDR6,port=9999,bind=$ADDR6
END
run krping -n client both.test
is "$OUT" "client,$(getent ahosts both.test | awk '{ print ($1 ~ /:/ ? "addr6=" : "addr=") $1; exit }'),port=9999" \
	"a name with both: the first address is taken"
says 1 '^krping: four\.test: neither an address, nor a name that can be looked up: ' "a name that has no address of that kind" \
	krping client four.test bind="$ADDR6"
umount /etc/hosts
says 1 '^krping: nosuch\.invalid: neither an address, nor a name that can be looked up: ' "a name that nobody knows" \
	krping client nosuch.invalid
says 2 "^krping: connection refused: nobody listens on $ADDR:7174; start \"krping server port=7174\" there " "nobody listens, on another port" \
	krping client "$ADDR:7174"
says 1 '^krping: siz=64: unknown option; see "krping help"$' "a wrong option" krping client "$ADDR" siz=64
says 1 '^krping: port=0: out of range \(1\.\.65535\); see "krping help"$' "a wrong port" krping client "$ADDR:0" count=3
says 1 '^krping: longer than 1024 bytes; ' "a command that is too long" krping server "$ADDR" "$(printf 'size=64,%.0s' {1..200})"

up server krping server "$ADDR" count=1000000
says 2 '^krping: port 9999 is taken; .*\[binding the address' "a second server" krping server "$ADDR"
background client krping client "$ADDR" count=1000000
wait_pings client
says 2 "^krping: the server on $ADDR:9999 serves another client; " "a second client" krping client "$ADDR" count=1000000
ends client 2 "a client with a count, TERM" TERM
like "$ERR" $'\n''krping: interrupted after [0-9]+ of 1000000 iterations$' "a client with a count, TERM: how far it came"
like "$OUT" '^--- .*of 1000000 iterations of 64 bytes, .*latency min/avg/max = ' "a client with a count, TERM: its figures"
ends server 2 "its server"
like "$ERR" '^run [0-9]+ listens.*krping: the client left too early; .*\[' "its server: the cause"
like "$OUT" '1 other clients? (was|were) refused' "its server: who was refused"

up server krping server "$ADDR" size=100
says 2 '^krping: the two ends do not agree; .*\[the server refused: size differs: 100 there, 200 here\]$' "options differ" \
	krping client "$ADDR" size=200 count=3
ends server 2 "a server that waits, INT" INT
like "$ERR" 'krping: interrupted before a client came$' "a server that waits, INT: says so"
like "$OUT" '^--- .*0 iterations of 100 bytes' "a server that waits, INT: its figures"

ip link add d1 type dummy && ip addr add 10.10.0.1/24 dev d1 && ip link set d1 arp on up
says 2 '^krping: 10\.9\.0\.99 is no address of this host; ' "a foreign address" krping server 10.9.0.99
says 2 '^krping: there is no route to 203\.0\.113\.1; ' "no route" krping client 203.0.113.1 count=3
background dead krping client 10.10.0.9
tried() { krping list | grep -qE ' client .* 10\.10\.0\.9:9999 '; }
ok "list: the address that is tried, from the first moment" until_ok 10 tried || diag "$(krping list -a | tail -1)"
ends dead 2 "a client of nobody" INT
ip link del d1
# rdma_cm listens there, where nobody comes.
up server krping server 127.0.0.1
says 2 "^krping: " "a client of a loopback address" krping client 127.0.0.1 count=3
ends server 2 "a server on a loopback address" INT
like "$ERR" '^no RDMA device has the address 127\.0\.0\.1, ' "a server on a loopback address: a warning"
# A client that does not end says at once whom it has.
up server krping server "$ADDR" persistent clients=2
background client krping client "$ADDR"
says_connected() { content "$T/client.err" ERR && [[ $ERR =~ $connected ]]; }
ok "a client without end says whom it has" until_ok 10 says_connected || diag "$ERR"
run krping client "$ADDR" count=3 size=100
both="size=64"$'\n'"run [0-9]+ serves $ADDR on $LINK/1, test=rping size=100\$"
said_both() { content "$T/server.err" ERR && [[ $ERR =~ $both ]]; }
ok "a server of several says whom it serves, each once" until_ok 10 said_both || diag "$ERR"
ends client 0 "the client without end" INT
ends server 0 "the server of several" INT

cp "$(command -v krping)" "$T/krping" && chmod 711 "$T" && chmod 755 "$T/krping"
says 1 '^krping: needs root, .*try "sudo krping client"$' "an ordinary user" \
	setpriv --reuid=65534 --regid=65534 --clear-groups "$T/krping" client "$ADDR" count=3
says 1 '^krping: needs root, ' "root without CAP_NET_ADMIN" \
	setpriv --bounding-set=-net_admin --inh-caps=-net_admin krping server "$ADDR"

# --- IPv6 ---
up server krping server "[$ADDR6]:7174"
run krping client "[$ADDR6]:7174" count=5
is $RC 0 "IPv6: a ping"
like "$OUT" "^--- \\[$ADDR6\\]:7174 krping client statistics ---" "IPv6: its summary"
narrow "$OUT" "IPv6"
ends server 0 "IPv6: the server"
like "$ERR" "^run [0-9]+ listens on \\[$ADDR6\\]:7174"$'\n'"run [0-9]+ serves $ADDR6 on $LINK/1, test=rping size=64\$" "IPv6: the server says where it listens, and whom it serves"
says 2 "^krping: connection refused: nobody listens on \\[$ADDR6\\]:9999; " "IPv6: nobody listens" krping client "$ADDR6" count=5

# timeout(1) sends two signals, the second one when the tool has taken the first and no longer blocks it. They are one wish to
# stop, and the tool says all that it has to say.
int_twice() {
	perl -e '($pid) = @ARGV; kill INT => $pid; do {
		open my $f, "<", "/proc/$pid/status" or exit; ($blocked) = map { /^SigBlk:\s*(\S+)/ } <$f> }
		while (defined $blocked && hex(substr $blocked, -8) & 2); kill INT => $pid' "${PIDS[$1]}"
}
background peer rping -s -a "$ADDR" -p "$PORT"
until_ok 10 rping_listens
background twice krping client "$ADDR" port="$PORT"
until_ok 10 pings twice 3
kill -STOP "${PIDS[peer]}"
until_ok 10 still twice
int_twice twice
ends twice 2 "INT and INT: the run has its second"
like "$OUT" '^--- .* krping client statistics ---' "INT and INT: its summary is there"
like "$ERR" $'\n''krping: interrupted in iteration [0-9]+, which did not end within a second$' "INT and INT: it says why"
kill -CONT "${PIDS[peer]}"
tool_end peer KILL
# Ctrl-C reaches timeout(1) and its command, and timeout(1) passes it on.
up server krping server "$ADDR"
on_terminal twice timeout 60 krping client "$ADDR"
client_is_there() { krping list | grep -q ' client '; }
until_ok 10 client_is_there
nap 0.5
type_keys twice '\003'
ends twice 0 "ctrl-c and timeout"
like "$OUT" '--- .* krping client statistics ---' "ctrl-c and timeout: the summary is there"
ends server 0 "its server"
up server krping server "$ADDR"
background client krping client "$ADDR"
attach_as twice krping-stages --slowest 9
int_twice twice
ends twice 0 "INT and INT: krping-stages"
like "$(tail -n 1 "$T/twice.out")" '^runs 2, lost events' "INT and INT: krping-stages has its last line"
ends client 0 "the client that was watched" INT
ends server 0 "its server"

# Both ends often print to the same terminal at the same time, so each summary is one write: one packet of this socket.
up server krping server "$ADDR"
writes=$(perl -MSocket -e 'socketpair my $out, my $in, AF_UNIX, SOCK_SEQPACKET, 0 or die;
	if (!fork) { open STDOUT, ">&", $in; exec @ARGV }
	close $in; $n++ while sysread $out, $packet, 4096; print $n' krping client "$ADDR" count=3)
is "$writes" 1 "a summary is one write"
ends server 0 "the server of that"

# --- how runs end ---
run krping server "$ADDR" timeout=100ms
like "$RC ${ERR##*$'\n'}" '^2 krping: not done within timeout=100ms: no client came$' "a server's timeout" || diag "$ERR"
up server krping server "$ADDR"
background client krping client "$ADDR"
wait_pings client 10
begin=$(now_ms)
ends client 0 "a client without end, INT" INT
ok "a client without end, INT: at once" test $(($(now_ms) - begin)) -lt $((2000 * SLOW))
like "$ERR" "$connected" "a client without end, INT: that is no error"
like "$OUT" "^--- $ADDR:9999 .*"$'\n'"[0-9]+ iterations of 64 bytes, .*$figures" "a client without end, INT: its figures"
client_iters=$(sed -n 's/^\([0-9]*\) iterations of .*/\1/p' <<<"$OUT")
ends server 0 "its server"
is "$(sed -n 's/^\([0-9]*\) iterations of .*/\1/p' <<<"$OUT")" "$client_iters" "and it has as many iterations"

# A signal at any time, also before the write has begun.
bad='' n=$(rounds 12 4)
for ((i = 0; i < n; i++)); do
	background one krping server "$ADDR"
	nap "0.$((i * 3 + 10))"
	begin=$(now_ms)
	# Until krping has a handler the signal kills it, which is just as good.
	kill -TERM "${PIDS[one]}"
	tool_end one
	[ $RC -eq 2 ] || [ $RC -eq 143 ] && [ $(($(now_ms) - begin)) -lt $((2000 * SLOW)) ] || bad+=" $i:$RC"
done
is "$bad" '' "$n servers, TERM at any time: each ends soon"

# KILL also ends the run, since krping writes the command itself, not through another process.
up server krping server "$ADDR"
tool_end server KILL
ok "KILL: its run is over within 2 s" until_ok 2 no_live_runs

# --- list ---
up waits krping server "$ADDR:7174"
up server krping server "$ADDR"
background client krping client "$ADDR"
wait_pings client
run setpriv --reuid=65534 --regid=65534 --clear-groups krping list
is $RC 0 "list by an ordinary user"
is "$(grep -c "$ADDR" <<<"$OUT")" 0 "list by an ordinary user: it names no peer"
run krping list
narrow "$OUT" "list"
mapfile -t lines <<<"$OUT"
is "${#lines[@]} $(xargs <<<"${lines[0]-}")" "4 ID ROLE TEST DEV PEER SIZE ITERS STATE ELAPSED" "list: the runs, and a head" ||
	diag "$OUT"
like "$OUT" " server +rping +$LINK +- +64 +0 +LISTEN:7174 " "list: one that waits, and where"
like "$OUT" " client +rping +$LINK +$ADDR:9999 +64 +[0-9]+ +[A-Z_]+ +[0-9.]+m?s" "list: one that pings, and whom"
like "$OUT" " server +rping +$LINK +$ADDR +64 +[1-9]" "list: one that is pinged, and by whom"
like "$ERR" ' have ended: "krping list -a"$' "list: there are more"
run krping list -a
is "$RC $(wc -l <"$T/out")" "0 $(($(grep -c ^id= /proc/krping_runs) + 1))" "list -a: all that /proc/krping_runs has"
narrow "$OUT" "list -a"
like "$OUT" ' client +rping +[a-z0-9]+ +[0-9.:]+ +64 +0 +ECONNREFUSED ' "list -a: a failed run has its errno"
like "$OUT" ' - +- +- +- +- +0 +EINVAL ' "list -a: a command that was refused"
run krping list -j
is "$(jq -r '"\(.tool) \(.schema) \(.final) \(.evicted | type) \(.runs | length) \([.runs[].role] | sort)"' <<<"$OUT")" \
	'krping 1 true number 3 ["client","server","server"]' "list -j: jq reads it"

# As under nohup.
attach_as hup bash -c "trap '' HUP; exec krping-stages"
kill -HUP "${PIDS[hup]}"
nap 0.5
ok "HUP that was ignored does not end a tool" kill -0 "${PIDS[hup]}"
ends hup 0 "a tool under nohup" INT

# --- progress: on a terminal it is a line that is overwritten; elsewhere it is printed only with -v ---
tool_end client INT
tool_end server
tool_end waits INT
if [ "$(rounds 1 0)" = 1 ]; then
	server endless "server,addr=$ADDR,port=7175"
	background logged krping -v client "$ADDR:7175"
	up server krping server "$ADDR"
	on_terminal script krping client "$ADDR"
	progress() { grep -qaP '\rrun \d+ client: [A-Z_]+, \d+ iterations, [\d.k]+/s, [\d.]+s\e\[K' "$T/script.out"; }
	ok "on a terminal: progress, over itself" until_ok 15 progress
	kill -INT "$CHILD"
	tool_ends "on a terminal, INT" script
	tool_end server
	ok "on a terminal: the summary has a line of its own" \
		grep -qaP "(^|\e\[K)--- $ADDR:9999 krping [a-z]+ statistics ---\r?$" "$T/script.out" || diag "$(cat -v "$T/script.out")"
	logged() { grep -q 'iterations, ' "$T/logged.err"; }
	until_ok 15 logged
	ends logged 0 "-v without a terminal" INT
	like "$ERR" "^krping: writes \"client,addr=$ADDR,port=7175\" to /proc/krping"$'\n'"run [0-9]+ is connected to [^ ]+ on [^ ]+ test=rping size=64"$'\n'"krping: run [0-9]+ client: [A-Z_]+, [0-9]+ iterations, [0-9.k]+/s, ([0-9.]+)s\$" \
		"-v without a terminal: what it writes, and a line"
	ok "-v without a terminal: the line comes after 10 s, not before: ${BASH_REMATCH[1]-}" \
		awk -v s="${BASH_REMATCH[1]-0}" 'BEGIN { exit !(s >= 9.9) }'
	finish endless
fi

# --- a disk: who has it open ---
modprobe -a ext4 crc32c_generic
# hold: opens the disk. has NAME TEXT: the tool has said so on stderr.
hold() {
	background holder sleep 1000 7<"$disk"
	until_ok 10 grep -q sleep "/proc/${PIDS[holder]}/comm"
}
has() { grep -qsF "$2" "$T/$1.err"; }
up server krping server "$ADDR" test=block window=2M persistent clients=2
background client krping client "$ADDR" test=block
ok "a client says that its disk is there" until_ok 10 has client "/dev/krping0, 2 MiB, is there until you press Ctrl-C" || diag "$(cat "$T/client.err")"
run_line "${PIDS[client]}" && parse
disk=/dev/${F[disk]-}
run krping list
like "$OUT" " ELAPSED DISK"$'\n'".* krping0"$'\n' "list: which disk a run has"
run krping client "$ADDR" test=block
is "$RC ${ERR##*$'\n'}" "2 krping: another client has the disk of the server on $ADDR:9999; wait for its end, or give both ro, or that server shared" \
	"the window is taken: exit 2, and no other run is begun"
mkfs.ext4 -q "$disk" && mkdir -p "$T/mnt" && mount "$disk" "$T/mnt" && hold
says 2 "^krping: run ${F[id]} goes on until $disk is closed \(mounted on $T/mnt, sleep\[${PIDS[holder]}\]\); \"krping stop ${F[id]}\" again " \
	"stop, and the disk is open" krping stop "${F[id]}"
tool_end holder TERM
umount "$T/mnt"
ends client 0 "the disk is closed: the client ends well"

background second krping client "$ADDR" test=block
until_ok 10 has second "is there until"
hold
kill -INT "${PIDS[second]}"
ok "INT, and the disk is open: the client says so, and by whom" \
	until_ok 10 has second "goes on until $disk is closed (sleep[${PIDS[holder]}]); a second signal ends it at once" || diag "$(cat "$T/second.err")"
# A nudge of the writer each 50 ms would be a second signal.
nap 0.5
run_line "${PIDS[second]}" && parse
is "${F[state]}" CONNECTED "its run goes on"
says 0 "" "then a stop" krping stop "${F[id]}"
ends second 2 "then a stop: it fails"
tool_end holder TERM
ends server 0 "the server of the disk" INT

# --- help ---
run krping help
is "$RC $ERR" "0 " "help"
narrow "$OUT" "help"
like "$OUT" '^Usage: krping ' "help: the usage"
is "$(awk 'NR == FNR { if (!/^#/) want[$1]; next } { delete want[$1] } END { for (name in want) print name }' /proc/krping_help "$T/out")" '' \
	"help: all the module's options"
run krping help count
is "$(sed '1d; /(a column/Q' <<<"$OUT" | tr -s ' \n' ' ')" "$(grep '^count ' /proc/krping_help | tr -s ' \n' ' ')" "help: a row of the module's options"
like "$OUT" $'\n''COUNT \(a column of top' "help: the same word in a table"
says 1 '^krping: help: no table has the word siz, and the module no such option; near it: SIZE$' "help: a word that is none" krping help siz

# --- a report of a bug ---
run krping bug-report
is "$RC $ERR" "0 " "bug-report"
like "$OUT" "  srcversion: $(cat /sys/module/rdma_krping/srcversion)"$'\n' "bug-report: the module that is loaded"
like "$OUT" $'\n'"  $LINK: driver $([ "$PROVIDER" = siw ] && echo siw || echo rdma_rxe)"$'\n' "bug-report: the device and its driver"
like "$OUT" $'\n'"  $LINK/ports/1/state: 4: ACTIVE"$'\n' "bug-report: the state of its port"
last=$(grep ' src=[0-9[]' /proc/krping_runs | tail -n 1)
like "$OUT" $'\n'"  ${last%% src=*} src=[a-z]+:" "bug-report: a run, and a letter for its address"
unlike "$OUT" "${ADDR//./\\.}|$(hostname)" "bug-report: neither addresses nor this host's name"
run krping bug-report --plain
like "$OUT" $'\n'"  ${last%% reason=*}" "bug-report --plain: the line as it is"
run setpriv --reuid=65534 --regid=65534 --clear-groups krping bug-report
is "$RC $ERR" "0 " "bug-report without root"
like "$OUT" $'\n'"  ${last%% pid=*} pid=0 .* src=- dst=- " "bug-report without root: the runs are there, as the module shows them to anybody"

# --- without the module ---
rmmod rdma_krping
for words in "client $ADDR" "server" "list"; do
	# shellcheck disable=SC2086 # words
	says 1 '^krping: the module is not loaded: try "modprobe rdma_krping"$' "krping $words, not loaded" krping $words
done
run krping -n client "$ADDR"
is "$RC $OUT" "0 client,addr=$ADDR,port=9999" "a dry run needs no module"
says 1 '^krping: help: no table has the word cou, and the module, .* is not loaded; near it: counted, COUNT$' "krping help, not loaded" krping help cou
run krping help count
like "$RC $OUT" '^0 COUNT \(a column of top' "a word of a table needs no module"
run krping bug-report
like "$RC $OUT" '^0 .*: the module is not loaded\)' "a report of a bug says that the module is not there"
insmod "$KRPING_MODULE"
done_testing "after the front end"
