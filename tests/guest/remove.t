#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The link is deleted under a run: the run ends with ENODEV, and waits for nobody; the next run works on a new link. A run that
# had already done what it was asked to do stays good, and does not wait for its peer either.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ends.sh"

resources_before
ends_on
# On iWARP the client leaves first, and a SEND is complete when TCP has it; on RoCE a server is done when its last SEND has arrived,
# and RNR is retried without end.
if [ "$PROVIDER" = siw ]; then
	all_ended 1 <<<"leave	server	delete	-	DONE	-	1 1"
else
	all_ended 2 <<'END'
leave		client		delete	,count=1	DONE	-	1 1
rnr		server		delete	-	errno	-	1 1
END
fi

# A device numbers its CQs from 0, so the first run on a new link may have number 0, and has a CQ nevertheless.
pair_on
is "$(grep -c " listen\$" /proc/krping) $(grep -c "^[0-9]*-$LINK " /proc/krping)" "0 2" \
	"/proc/krping shows the counters of the first runs on a new link" || diag "$(cat /proc/krping)"
pair_off

# A device is renamed under a run, as udev may do it: its name of now is shown, and either name finds the run.
pair_on
rdma dev set "$LINK" name renamed0
run_line "${PIDS[client]}" && parse
is "${F[dev]-} ${F[dev_was]-}" "renamed0 $LINK" "a device is renamed: its run has both names"
is "$(krping list -j | jq -c '[.runs[].dev] | unique')" '["renamed0"]' "krping list has the new one"
for name in renamed0 "$LINK"; do
	is "$(krping-top -j -t 0.5 --dev "$name" | jq -s '.[-1].runs | length')" 2 "krping-top --dev $name finds both ends"
done
rdma dev set renamed0 name "$LINK"
pair_off
line_is "state dev dev_was" "DONE $LINK " "renamed again, to the first one: its run has this name alone"

all_ended 6 <<'END'
listen		server		delete	-		errno	-	1 1
listen-all	server		delete	-		errno	-	1 1
connect		client		delete	-		errno	-	1 1
ping		client,server	delete	,validate	errno	-	1 1
ping-all	client,server	delete	,size=65536	errno	-	1 1
ping		client,server	delete	,cpu=0		errno	-	1 1
END
# Its network device goes down under siw of 6.1, which closes its connections as if the peers had left. That of 6.12 lets them be, and rxe
# sends again for a while, and fails.
if [[ "$PROVIDER $(uname -r)" == "siw 6.1."* ]]; then
	pair_on
	ip link set d0 down
	for name in client server; do
		finish_like $name "state errno reason" '^ERROR 104 the link went down in iteration ' "the network device goes down: the $name"
	done
	ip link set d0 up
	until_ok 20 link_is_up "$LINK" "$ADDR"
fi
done_testing "after all that"
