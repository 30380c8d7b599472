# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
#
# What all measurements share: pairs of runs, and the programs that krping is compared with, user-space rping, perftest and
# sockperf, whose ends are both in this VM, as krping's.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../guest/lib.sh"

# pin: from now on each end has a CPU of its own if there are two: the client CPU 1, the server CPU 0. CPU_CLIENT and CPU_SERVER
# are the same for krping, as options. PINNED says so in words.
PIN_CLIENT=() PIN_SERVER=() CPU_CLIENT='' CPU_SERVER='' PINNED="not pinned"
pin() {
	[ "$(nproc)" -gt 1 ] || return 0
	PIN_CLIENT=(taskset -c 1) PIN_SERVER=(taskset -c 0) CPU_CLIENT=,cpu=1 CPU_SERVER=,cpu=0
	PINNED="client on CPU 1, server on CPU 0"
}

# broken WHAT: a run failed, so there will be no table.
broken() {
	diag "$*"
	exit 1
}

# pairs_of ROW COUNT ARGUMENT...: runs the functions ours and theirs with the arguments, in one order and the other in turn, and prints
# a line for each pair. They set NS, the time, and DID, a word for what was done: a pair in which both did not do the same is void.
#
#   pair ROW N OURS THEIRS OUR-WORD THEIR-WORD
pairs_of() {
	local row=$1 count=$2 n side
	local -A ns=() did=()
	shift 2
	for ((n = 1; n <= count; n++)); do
		for side in $( ((n % 2)) && echo ours theirs || echo theirs ours); do
			$side "$@"
			ns[$side]=$NS did[$side]=$DID
		done
		echo "pair $row $n ${ns[ours]} ${ns[theirs]} ${did[ours]} ${did[theirs]}"
	done
}

# one_pair SERVER-OPTIONS [CLIENT-OPTIONS]: a quiet run, with the same options at both ends if the client has none of its own; sets
# CLI, SRV, F of CLI, and NS, its duration by the client's clock.
one_pair() {
	quiet_pair "$1" "${2-$1}"
	parse "$CLI"
	[ "${F[state]-}" = DONE ] || broken "a run failed: $CLI"
	NS=${F[elapsed_ns]}
}

# begin COUNT [NICE]: starts so many pairs that ping 64 bytes without end, and waits until all of them ping: each server READs once a ping. Their
# threads have begun with krwrite's low priority, at which siw's thread interrupts them: that makes 9 % more instructions a ping.
begin() {
	background many "$krwrite" --many ping $((2 * $1)) "$ADDR" 12000
	until_ok 600 all_ping "$1" || broken "$1 runs do not begin: $(cat "$T/many.err")"
	pgrep '^krping/' | xargs -r renice -n "${2:-0}" -p >/dev/null
}
all_ping() { [ "$(awk '$9' /proc/krping | wc -l)" -ge "$1" ]; }
sum() { printf '%s\n' "$@" | awk '{ n += $9 } END { print n + 0 }'; }
# pings_in SECONDS: sets PINGS to how many there are meanwhile, and US to how long that was. The short lines of /proc/krping are counted
# when the time is over: to count those of /proc/krping_runs meanwhile took 13 % of the time of 256 runs, and 6 % of that of 16.
pings_in() {
	local begin=${EPOCHREALTIME/./} first last
	mapfile -t first </proc/krping
	nap "$1"
	US=$((${EPOCHREALTIME/./} - begin))
	mapfile -t last </proc/krping
	PINGS=$(($(sum "${last[@]}") - $(sum "${first[@]}")))
}
end() {
	end_of many KILL
	until_ok 60 no_live_runs || broken "runs are left"
}

# end_of NAME [SIGNAL]: waits for the program that background() started, after the signal.
end_of() {
	[ $# -eq 1 ] || kill "-$2" "${PIDS[$1]}"
	wait "${PIDS[$1]}" 2>/dev/null
	unset "PIDS[$1]"
}

# rping_ping SIZE PINGS: sets NS to the time of a ping of user-space rping, which is that of PINGS + 1 pings less that of one.
rping_ping() {
	local few
	user_rping "$1" 1
	few=$NS
	user_rping "$1" $(($2 + 1))
	NS=$(((NS - few) / $2))
}

# tcp_listens PORT: somebody listens on that port.
tcp_listens() { [ -n "$(ss -Hltn "sport = :$1")" ]; }

# user_rping SIZE PINGS: sets NS to how long user-space rping took for that many pings, with its set-up.
user_rping() {
	local begin
	background rping "${PIN_SERVER[@]}" rping -s -a "$ADDR" -p "$PORT" -S "$1"
	until_ok 600 rping_listens
	begin=$(date +%s%N)
	"${PIN_CLIENT[@]}" rping -c -a "$ADDR" -p "$PORT" -S "$1" -C "$2" >/dev/null 2>&1 || broken "rping failed"
	NS=$(($(date +%s%N) - begin))
	end_of rping
}

# perftest PROGRAM ARGUMENT...: runs both ends, and sets P[key] to each value of the report that the client writes.
declare -A P=()
perftest() {
	local key value
	background perftest "${PIN_SERVER[@]}" "$@"
	until_ok 600 tcp_listens 18515 || broken "$* does not listen: $(cat "$T"/perftest.{out,err})"
	"${PIN_CLIENT[@]}" "$@" --out_json --out_json_file="$T/perftest.json" "$ADDR" >"$T/perftest.client" 2>&1 ||
		broken "$* failed: $(cat "$T/perftest.client")"
	end_of perftest
	# It is no JSON that a parser would take.
	P=()
	while IFS=': ,' read -r key value _; do P[$key]=${value%,}; done <"$T/perftest.json"
}

# tcp_latency SIZE: sets NS to the one-way latency of TCP that sockperf measures for a second, half of a round trip. Where the machine
# is busy sockperf may throw all of its observations away, as too early or too late: it is asked again.
tcp_latency() {
	local try
	for try in 1 2 3 4 5; do
		background sockperf "${PIN_SERVER[@]}" sockperf server --tcp -i "$ADDR" -p 11111
		until_ok 600 tcp_listens 11111 || broken "sockperf does not listen: $(cat "$T"/sockperf.{out,err})"
		"${PIN_CLIENT[@]}" sockperf ping-pong --tcp -i "$ADDR" -p 11111 -m "$1" -t 1 --no-rdtsc >"$T/sockperf.client" 2>&1 ||
			broken "sockperf failed: $(cat "$T/sockperf.client")"
		end_of sockperf INT
		NS=$(sed -nE 's/.*[Ll]atency is ([0-9]+)\.([0-9]{3}) usec.*/\1\2/p' "$T/sockperf.client")
		NS=$((10#${NS:-0}))
		[ "$NS" -eq 0 ] || return 0
		diag "sockperf says no latency ($try): $(tail -n 2 "$T/sockperf.client" | xargs)"
	done
	broken "sockperf says no latency: $(cat "$T/sockperf.client")"
}
