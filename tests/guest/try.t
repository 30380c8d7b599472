. ./lib.sh
. ./liar.sh
said=''
lies_begin
while IFS= read -r row <&3; do
	IFS='~' read -r _ name tests _ <<<"$row"
	[[ "$row" =~ ${ONLY:-.} ]] || continue
	for test in $tests; do 
		t0=$(now_ms)
		lie "$row" $test; echo "# $(($(now_ms)-t0)) ms"; done
done 3< <("$liar" list "$PROVIDER")
lies_end
done_testing
