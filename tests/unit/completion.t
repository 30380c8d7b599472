#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Bash completion of krping and its tools, with the tools that were built, and a table of options that also has options
# which this version of the module does not have.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
top=$(cd "$here/../.." && pwd)
PATH=$top/build/tools:$PATH

mkdir -p "$T/proc" "$T/sys/class/infiniband"/{rxe0,mlx5_0}
cat >"$T/proc/krping_help" <<'END'
# A command: options between commas, written to /proc/krping.
# option   value         side   agree meaning
server     -             -      -     wait for a client and serve it
client     -             -      -     connect to a server and ping it
stop       -             -      -     end a run
addr       a.b.c.d       both   local the server's IPv4 address
addr6      a:b::c        both   local the server's IPv6 address
port       1..65535      both   local the server's port
count      0..2147483647 both   adopt iterations
test       rping|bw|rlat both   adopt what to run
validate   -             both   local compare
verbose    -             both   local print
clients    1..100        server local how many at a time
interval   0..100        client local a pause
name       LABEL         both   local a label
id         1..4294967295 stop   local number of the run
END
cat >"$T/proc/krping_runs" <<'END'
# krping runs abi=1 events=1 evicted=0 nonce=0x1
id=7 parent=0 peer_run=0 name=- pid=170 role=client test=rping state=DONE reason=""
id=12 parent=0 peer_run=0 name=rack-4 pid=171 role=server test=rping state=IDLE reason="a id=3 b"
END
# shellcheck disable=SC2034 # read by what is sourced
_krping_proc=$T/proc _krping_sys=$T/sys
# shellcheck source=tools/completion/krping
. "$top/tools/completion/krping"

# complete_line LINE: sets COMPREPLY to the words that a tab at the end of LINE would offer.
complete_line() {
	local spec COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=${COMP_WORDBREAKS:-$' \t\n"\'><=;|&(:'}
	COMPREPLY=()
	spec=$(complete -p "${1%% *}") || return
	spec=${spec#*-F }
	"${spec%% *}" "${1%% *}"
}

# offers LINE WORDS [DESCRIPTION]
offers() {
	complete_line "$1"
	is "${COMPREPLY[*]}" "$2" "\"$1\"${3:+: $3}"
}

offers 'krping ' 'server client list stop help bug-report top stages slow mr ladder trace record'
offers 'krping c' 'client'
offers 'krping top --spl' '--split'
offers 'krping slow --dev r' 'rxe0'
offers 'krping ladder --wid' '--wide'
offers 'krping b' 'bug-report'
offers 'krping bug-report --p' '--plain'
offers 'krping x' ''
offers 'krping -j c' 'client' "an option before the command"
offers 'krping --dry' '--dry-run'
offers 'krping client 10.9.0.1 --js' '--json' "an option behind it"
offers 'krping list ' ''
offers 'krping list --a' '--all'
offers 'krping stop ' '12' "the runs that go on"
offers 'krping stop 1' '12'
offers 'krping help ' 'server client stop addr addr6 port count test validate verbose clients interval name id'
offers 'krping help v' 'validate verbose'

offers 'krping client ' 'addr= addr6= port= count= test= validate verbose interval= name=' "a client's options"
offers 'krping server ' 'addr= addr6= port= count= test= validate verbose clients= name=' "a server's options"
offers 'krping client 10.9.0.1 ' 'port= count= test= validate verbose interval= name=' "the address is there"
offers 'krping client [fd09::1]:7174 v' 'validate verbose'
offers 'krping client 10.9.0.1 va' 'validate'
offers 'krping client 10.9.0.1 validate v' 'verbose' "what is there is not offered again"
offers 'krping client 10.9.0.1 count=5,validate v' 'verbose' "nor what is there between commas"
offers 'krping client 10.9.0.1 count=5 cou' ''
offers 'krping client 10.9.0.1 te' 'test='
# readline replaces only the text after the "=".
offers 'krping client 10.9.0.1 test=' 'rping bw rlat' "values"
offers 'krping client 10.9.0.1 test=r' 'rping rlat'
offers 'krping client 10.9.0.1 count=' '' "a number"
offers 'krping client 10.9.0.1 validate,te' 'validate,test=' "behind a comma"
offers 'krping client 10.9.0.1 count=5,te' '5,test='
offers 'krping client 10.9.0.1 count=5,test=b' 'bw'
offers 'krping client 10.9.0.1 count=5,' '5,port= 5,test= 5,validate 5,verbose 5,interval= 5,name='
COMP_WORDBREAKS=${COMP_WORDBREAKS//[=:]/} offers 'krping client 10.9.0.1 count=5,test=b' 'count=5,test=bw' \
	"where words do not break at ="

# All options of each tool: its --help is the only list of them.
for t in "$top"/build/tools/krping*; do
	[ -x "$t" ] || continue
	t=${t##*/}
	have=$("$t" --help | grep -oE '^ +(-., )?--[a-z0-9-]+' | grep -oE -e '--[a-z0-9-]+' | sort -u | xargs)
	complete_line "$t --"
	is "$(printf '%s\n' "${COMPREPLY[@]%=}" | sort -u | xargs)" "$have" "$t: all of its long options"
	like " ${COMPREPLY[*]} " ' --version ' "$t: --version is one"
done
offers 'krping-top --dev ' 'mlx5_0 rxe0' "devices"
offers 'krping-top --dev=r' 'rxe0'
offers 'krping-stages --run ' '7 12' "runs"
offers 'krping-stages --role s' 'server'
offers 'krping-mr --test=r' 'rping rlat' "tests"
offers 'krping-top --by ' 'dev peer role test size' "keys"
offers 'krping-top --by=r' 'role'
offers 'krping-mr --qp ' '' "a number"
offers 'krping-trace --name ' 'rack-4' "labels"
offers 'krping client 10.9.0.1 name=' '' "a label of the user's own"
offers 'krping-top -b --ro' '--rows= --role='

# Without module and devices there is nothing to offer, and no error is printed.
rm -r "$T/proc" "$T/sys"
for line in 'krping client 10.9.0.1 ' 'krping help ' 'krping-top --dev ' 'krping-top --run ' 'krping-top --test '; do
	complete_line "$line" 2>"$T/err"
	is "${COMPREPLY[*]}$(cat "$T/err")" '' "\"$line\" without the module"
done

# In a real readline: a value follows its "=" without a blank, a word is followed by one.
mkdir -p "$T/proc"
printf '%s\n' 'count 0..9 both adopt x' 'validate - both local x' 'test rping|bw both adopt x' >"$T/proc/krping_help"
cat >"$T/rc" <<END
_krping_proc=$T/proc
. $top/tools/completion/krping
krping() { if [ "\$1" = --help ]; then command krping --help; else printf '<%s>' "\$@" >$T/args; fi; }
PS1= PS2= HISTFILE=
END
printf 'krping cl\t10.9.0.1 cou\t5 va\ttest=b\t\nexit\n' |
	timeout 20 script -qc "bash --noprofile --rcfile '$T/rc' -i" /dev/null >"$T/log" 2>&1
is "$(cat "$T/args")" '<client><10.9.0.1><count=5><validate><test=bw>' "in a terminal" || diag "$(cat -v "$T/log")"

finish_here
