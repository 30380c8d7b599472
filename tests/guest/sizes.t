#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Sizes up to one registration of the device, buffers that begin anywhere in a page (offset=), and pings of which each has another
# size (random_size). The data are verified at both ends, whose buffers begin at different places: pages in the wrong order, or
# bytes at the wrong place, would not be so at the other end, too.

. "$(dirname "$0")/lib.sh"

CONTIGUOUS=131072
MAX=2097152
[ "$PROVIDER" != siw ] || MAX=1048576
resources_before

# moved WHAT N SIZE: the pair that has run has made N pings of that size, and each end has counted all their bytes.
moved() {
	check_good "$1: client" "$CLI" "$2"
	is "${F[size]-} ${F[moved_bytes]-}" "$3 $((2 * $2 * $3))" "$1: client: its size, and the bytes that were moved"
	check_good "$1: server" "$SRV" "$2"
	is "${F[size]-} ${F[moved_bytes]-} ${F[read_bytes]-} ${F[write_bytes]-}" "$3 $((2 * $2 * $3)) $(($2 * $3)) $(($2 * $3))" \
		"$1: server: its size, and the bytes that were moved, read and written"
}

# verified SIZE [SERVER [CLIENT]]: three verified pings of that size.
verified() {
	ping_pair ",validate${2-}" ",validate,count=3,size=$1${3-}"
	moved "$1 bytes${2:+, server $2}${3:+, client $3}" 3 "$1"
}

# --- random sizes ---
# advertised LINE: sets ADVERTISED to what the trace has of the run's advertisements: how many there are, their sum, how many are not
# from 1 to the size, and how many pairs, of source and sink, have two lengths.
advertised() {
	parse "$1"
	ADVERTISED=$(trace_perl 'my ($file, $run, $size) = @ARGV;
		my @len = map { $_->{len} } grep { $_->{run} == $run } events($file, "adv_send");
		my ($sum, $wrong, $apart) = (0, 0, 0);
		$sum += $_, $wrong += $_ < 1 || $_ > $size for @len;
		$apart += $len[$_] != $len[$_ - 1] for grep { $_ % 2 } 0 .. $#len;
		print join " ", scalar(@len), $sum, $wrong, $apart' "$T/trace" "${F[id]}" "${F[size]}")
}
N=200
traced random_size krping_adv_send ping_pair ",validate,offset=77" ",validate,count=$N,size=$((CONTIGUOUS + 4097)),random_size"
check_good "random_size: client" "$CLI" $N
moved=${F[moved_bytes]-0} size=${F[size]-0} rate=${F[bits_per_s]-0} ns=${F[lat_sum_ns]-0}
advertised "$CLI"
is "$ADVERTISED" "$((2 * N)) $moved 0 0" "random_size: as many bytes as the messages say, none longer than the size, and a sink as long as its source"
# Half of the size in the mean: n=200 draws have a standard deviation of 1/49 of the size, and a seventh of the size is seven of these:
# p0 is 3e-12. That nine in ten of 200 sizes out of 135169 differ is more certain still.
mean=$((moved / 2 / N)) spread=''
[ $mean -gt $((size * 5 / 14)) ] && [ $mean -lt $((size * 9 / 14)) ] || spread="$mean of $size bytes in the mean"
is "$spread" '' "random_size: the sizes are spread from 1 to the largest one"
took=$((rate * (ns / 1000) / 8000000)) wrong=''
[ $took -ge $((moved * 99 / 100)) ] && [ $took -le $((moved * 101 / 100)) ] || wrong="$took, not $moved"
is "$wrong" '' "random_size: bits_per_s is of what was moved"
check_good "random_size: server" "$SRV" $N
is "$((${F[read_bytes]-0} + ${F[write_bytes]-0})) ${F[moved_bytes]-}" "$moved $moved" "random_size: the server has read and written what the client says"
lengths=$(sed -nE "s/.* krping_adv_send: run=$(field id "$CLI") .* len=([0-9]+).*/\\1/p" $TRACING/trace | sort -u | wc -l)
ok "random_size: nearly each ping has a size of its own: $lengths" test "$lengths" -gt $((N * 9 / 10))

# --- as much as is contiguous, a byte more, and as much as the device registers at once ---
verified $((CONTIGUOUS + 1))
verified $CONTIGUOUS
verified $MAX
verified $((MAX - 4095)) ,offset=4095 ,offset=13

# --- offsets, with sizes that end just before, at and behind the end of a page ---
for size in 1 4095 4096 4097; do
	verified $size ,offset=1 ,offset=13
	verified $size ,offset=4095 ,offset=1
	verified $size ,offset=13 ,offset=4095
done
verified 14 ,offset=4095 ,offset=4090
verified 4097 ,offset=13 ,offset=4095
is "$(field offset "$CLI") $(field offset "$SRV")" "4095 13" "krping_runs has the offset of each end"

# --- how many pages that are ---
traced "4098 bytes" "krping_mr_map krping_mr_fastreg krping_mr_done" verified 4098 '' ,offset=4095
# pages ID: how many pages its registrations have, as three events say.
pages() {
	local e
	for e in map fastreg "done"; do
		printf '%s ' "$(sed -nE "/kind=LOCAL_INV/d; s/.* krping_mr_$e: run=$1 .* pages=([0-9]+) .*/\\1/p" $TRACING/trace | sort | uniq -c | xargs)"
	done
}
is "$(pages "$(field id "$CLI")")" "6 3 6 3 6 3 " "4098 bytes at offset 4095 are in 3 pages" || diag "$(cat $TRACING/trace)"
is "$(pages "$(field id "$SRV")")" "6 2 6 2 6 2 " "4098 bytes at offset 0 are in 2 pages"

# --- more than the device registers at once ---
too_long="one registration of $LINK takes $MAX bytes less the offset"
if [ $MAX -lt 2097152 ]; then
	refused "a client of $((MAX + 1)) bytes" "client,addr=$ADDR,port=$PORT,count=1,size=$((MAX + 1))" "EOPNOTSUPP size=$((MAX + 1)): $too_long"
	refused "a server of $((MAX + 1)) bytes" "server,addr=$ADDR,port=$PORT,size=$((MAX + 1))" "EOPNOTSUPP size=$((MAX + 1)): $too_long"
fi
refused "a client of $MAX bytes, offset=1" "client,addr=$ADDR,port=$PORT,count=1,offset=1,size=$MAX" "EOPNOTSUPP size=$MAX: $too_long"
like "${F[reason]-}" "$too_long" "a client of $MAX bytes, offset=1: the reason has the limit"
refused "a server of $MAX bytes, offset=1" "server,addr=$ADDR,port=$PORT,offset=1,size=$MAX" "EOPNOTSUPP size=$MAX: $too_long"

# refuses SERVER CLIENT MOST SIZE: the server refuses such a client, says the limit, and serves the next one.
refuses() {
	server picky "server,port=$PORT$1"
	client_is "client,addr=$ADDR,port=$PORT,count=3,size=$4$2" "werr reason" "EPROTO the server refused: size differs: $3 at most there, $4 here" "server $1, client of $4 bytes: refused, with the limit"
	client_good "server $1, client of $3 bytes" "client,addr=$ADDR,port=$PORT,count=3,size=$3$2" 3
	finish_is picky "state iters rejects" "DONE 3 1" "server $1: it serves the next one"
}
refuses ,offset=1 '' $((MAX - 1)) $MAX
allow=/sys/module/rdma_krping/parameters/allow_dma_key
echo 1 >$allow
refuses ,mem_mode=dma '' $CONTIGUOUS $((CONTIGUOUS + 1))
refuses ,local_dma_lkey '' $CONTIGUOUS $((CONTIGUOUS + 1))
verified $CONTIGUOUS ,mem_mode=dma,offset=4095 ,mem_mode=dma,offset=1
verified $CONTIGUOUS ,local_dma_lkey,offset=13 ,offset=4095
echo 0 >$allow

# --- each test with much data, and buffers that begin anywhere ---
size=$((MAX - 5000)) N=7
for test in wlat rlat bw bw,duplex fast; do
	ping_pair ",offset=4095" ",$test,count=$N,size=$size,offset=1"
	parse "$CLI"
	c="${F[werr]-} ${F[iters]-} ${F[write_bytes]-} ${F[read_bytes]-} ${F[moved_bytes]-}"
	parse "$SRV"
	s="${F[werr]-} ${F[iters]-} ${F[write_bytes]-} ${F[read_bytes]-} ${F[moved_bytes]-}"
	all=$((N * size))
	case $test in
	wlat) want="0 $N $all 0 $((2 * all)), 0 $N $all 0 $((2 * all))" ;;
	rlat) want="0 $N 0 $all $all, 0 0 0 0 0" ;;
	bw) want="0 $N $all 0 $all, 0 0 0 0 0" ;;
	bw,duplex) want="0 $N $all 0 $all, 0 $N $all 0 $all" ;;
	fast) want="0 0 0 0 0, 0 $N $all 0 $all" ;;
	esac
	is "$c, $s" "$want" "$test of $size bytes: client, server: errno, iterations, bytes written, read, moved"
done
ping_pair "" ",fr,count=99,size=$size,offset=4095"
check_good "fr of $size bytes: client" "$CLI" 99
is "${F[fastreg]-} ${F[localinv]-} ${F[moved_bytes]-}" "99 99 0" "fr of $size bytes: registrations and invalidations, and nothing moved"

# --- random sizes of which there is only one; pairs.t has them with other options ---
ping_pair ,validate ",validate,count=9,size=1,random_size,offset=4095"
moved "random_size, size=1" 9 1
ping_pair ,validate,size=100 ",validate,count=9,size=100,random_size"
is "$(field state "$CLI") $(field state "$SRV")" "DONE DONE" "random_size, and a server that was given the size"

# --- peers that are not krping ---
rping_server -S 65535
client_good "random_size, rping -s" "client,addr=$ADDR,port=$PORT,count=20,size=65535,offset=13,validate,random_size" 20
ok "random_size, rping -s: less than all of the size was moved: ${F[moved_bytes]-}" test "${F[moved_bytes]-0}" -lt $((2 * 20 * 65535)) -a "${F[moved_bytes]-0}" -ge 40
rping_ends
for opts in size=$MAX offset=4095 size=70001,offset=1; do
	server classic "server,addr=$ADDR,port=$PORT,validate,$opts"
	ok "rping -c -S 65535, server $opts: it goes well" limited 20 rping -c -a "$ADDR" -p $PORT -C 7 -S 65535 -V
	finish_good "rping -c -S 65535, server $opts" classic 7
	is "${F[read_bytes]-} ${F[write_bytes]-} ${F[moved_bytes]-}" "458745 458745 917490" "rping -c -S 65535, server $opts: all was moved"
done
nothing_left "after all that"

# --- many at once: 3 MiB for each pair of ends ---
many=$(rounds 64 8)
free_before=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
server many "server,addr=$ADDR,port=$PORT,clients=$many"
for ((i = 0; i < many; i++)); do start "client$i" "client,addr=$ADDR,port=$PORT,count=2,size=1M,validate"; done
ended=''
for ((i = 0; i < many; i++)); do
	finish "client$i" 60
	parse
	ended+="${F[werr]-} ${F[iters]-}"$'\n'
done
ended=$(grep . <<<"$ended" | sort | uniq -c | xargs)
is "$ended" "$many 0 2" "$many clients of 1 MiB at once: each ends well"
finish many 60
line_is "state served failed" "DONE $many 0" "$many clients of 1 MiB at once: their server"
nothing_left "after many at once"
has_memory() { [ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -gt $((free_before - many * 1024)) ]; }
ok "their memory is free again" until_ok 5 has_memory
done_testing "after all that"
