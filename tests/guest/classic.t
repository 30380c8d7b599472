#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The classic line of wlat, rlat and bw: in the kernel's log with classic_log=1 only, one for each end that measures, and on the
# standard output of krping --classic; awkit-klat and awkit-kbw read from either what /proc/krping_runs has.

. "$(dirname "$0")/lib.sh"

param=/sys/module/rdma_krping/parameters/classic_log

# line_of LINE: prints the classic line that a run must have; nothing if it has none.
line_of() {
	parse "$1"
	case ${F[test]} in wlat | rlat | bw) ;; *) return ;; esac
	[ "${F[iters]}" != 0 ] || return 0
	# Of bw each WRITE is an iteration, as it was before signal=.
	[ "${F[test]}" != bw ] || F[iters]=$((F[iters] * F[moves]))
	printf 'delta sec %d delta usec %d iter %d size %d test %s\n' $((F[lat_sum_ns] / 1000000000)) \
		$((F[lat_sum_ns] % 1000000000 / 1000)) "${F[iters]}" "${F[size]}" "${F[test]}"
}

# figures_of TEXT LINE WHAT: the awk scripts say of the classic line in TEXT what /proc/krping_runs has of the run.
figures_of() {
	local got tool=klat value n slack=1e-3
	parse "$2"
	value="${F[lat_mean_ns]} / ${F[moves]} / 1e3" n=${F[iters]}
	[ "${F[test]}" != bw ] || tool=kbw value="${F[bits_per_s]} / 1e9" n=$((F[iters] * F[moves])) slack=1e-6
	got=$("awkit-$tool" <<<"$1")
	ok "$3: awkit-$tool: $got" awk -v ns="${F[lat_sum_ns]}" "
		function near(a, b, slack) { return a > b * (1 - 1000 / ns) - slack && a < b * (1 + 1001 / ns) + slack }
		{ exit !(NF == 3 && \$1 == ${F[size]} && near(\$2, $value, $slack) && near(\$3, $n * 1e9 / ns, 1e-6)) }" <<<"$got"
}

# logged OPTIONS LINES WHAT: a run of both ends prints so many lines, and those that its figures say.
logged() {
	local want
	printing ping_pair '' ",count=50,$1"
	check_ended "$3"
	is "$(grep -c . <<<"$PRINTED")" "$2" "$3: $2 lines" || diag "$PRINTED"
	want=$({ line_of "$CLI"; line_of "$SRV"; } | sort)
	[ "$2" != 0 ] || want=''
	is "$(sort <<<"$PRINTED")" "$want" "$3: with the figures of the runs"
}
check_ended() { is "$(field state "$CLI") $(field state "$SRV")" "DONE DONE" "$1: both ends well"; }

is "$(cat $param)" N "classic_log is off at first"
for opts in wlat rlat bw,duplex; do logged "$opts" 0 "$opts, classic_log=0"; done
ok "classic_log=1" eval "echo 1 >$param"
while read -r opts lines; do
	logged "$opts" "$lines" "$opts, classic_log=1"
	[ "$lines" = 0 ] || figures_of "$(line_of "$CLI" | sed 's/^/[   12.345678] krping: /')" "$CLI" "$opts"
done <<'END'
wlat 2
wlat,size=4096 2
rlat,size=64K 1
bw,size=4K 1
bw,size=4K,signal=4 1
bw,duplex,poll_ctx=busy 2
test=rping 0
fr 0
fast 0
END
# As dmesg has it, with its time stamps.
printing ping_pair '' ",count=50,rlat"
like "$(dmesg | awkit-klat | tail -1)" '^64 [0-9]+\.[0-9]+ [0-9]+\.[0-9]+$' "dmesg | awkit-klat"
printing_begin
pair_on 3 '' ,rlat,count=100000000
interrupt_is client "errno state" "4 ERROR" "a run with a count is interrupted"
finish server
printing_end
is "$PRINTED" '' "a run that fails prints nothing"
ok "classic_log=0 again" eval "echo 0 >$param"
logged rlat 0 "rlat, classic_log=0 again"

# both SERVER-OPTIONS CLIENT-WORDS...: runs krping --classic at both ends; sets SRV and CLI to the lines of /proc/krping_runs,
# and OUT and ERR of each.
both() {
	local server_opts=$1 spid cpid
	shift
	# shellcheck disable=SC2086 # words
	background server krping --classic server "$ADDR" $server_opts
	until_ok 10 listens_or_ended server
	background client krping --classic client "$ADDR" count=50 "$@"
	spid=${PIDS[server]} cpid=${PIDS[client]}
	tool_end client
	CRC=$RC
	tool_end server
	SRC=$RC
	run_line "$cpid"
	CLI=$LINE
	run_line "$spid"
	SRV=$LINE
}

while read -r opts; do
	# shellcheck disable=SC2086 # words
	both '' $opts
	is "$CRC $SRC" "0 0" "--classic $opts: both ends end with 0"
	is "$(cat "$T/client.out")" "krping: $(line_of "$CLI")" "--classic $opts: the client's line, and nothing else"
	is "$(cat "$T/client.err")" '' "--classic $opts: nothing on stderr"
	figures_of "$(cat "$T/client.out")" "$CLI" "--classic $opts"
	if [ -n "$(line_of "$SRV")" ]; then
		is "$(cat "$T/server.out")" "krping: $(line_of "$SRV")" "--classic $opts: the server's line"
	else
		is "$(cat "$T/server.out")" '' "--classic $opts: the server has none"
		like "$(tail -1 "$T/server.err")" 'this end has measured nothing' "--classic $opts: and says so"
	fi
done <<'END'
wlat size=4096
test=rlat
bw duplex size=64K
bw
END
background server krping --classic server "$ADDR"
until_ok 10 listens_or_ended server
client "client,addr=$ADDR,port=$PORT,count=5"
tool_end server
is "$RC $(cat "$T/server.out")" "0 " "--classic: a server of rping has no line"
like "$(tail -1 "$T/server.err")" 'test=rping has no classic line' "--classic: and says so"
krping --classic client "$ADDR" wlat count=5 port=1 >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "2 " "--classic: a run that failed has no line"
last=$(tail -1 /proc/krping_runs)
while read -r words; do
	# shellcheck disable=SC2086 # words
	krping $words >"$T/out" 2>"$T/err"
	rc=$?
	is "$rc" 1 "krping $words: refused"
	like "$(cat "$T/err" "$T/out")" '--classic: ' "krping $words: says why"
done <<END
--classic client $ADDR
--classic client $ADDR test=fast
--classic server fr
--classic -j client $ADDR wlat
--classic -i 1 client $ADDR wlat
--classic list
END
is "$(tail -1 /proc/krping_runs)" "$last" "and nothing of it was a command"

done_testing
