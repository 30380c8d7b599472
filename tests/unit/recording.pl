#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# recording.pl [--inv] PINGS [NS...]: prints what krping-trace -j could have written about a client and its server. It has all
# events that a ladder needs, and one of each other event. Arguments that no reader needs are left out: a replay writes them as 0.
# A ping takes 22 times NS; with --inv the server invalidates the client's keys.
use v5.36;

my $inv = @ARGV && $ARGV[0] eq '--inv' && shift;
my ($pings, @ns) = @ARGV;
my $nonce = '0x1122334455667788';
my $t = 5_000_000_000;
my $key = 0x1200;
my (@events, %end);
$end{$_} = { run => $_ eq 'server' ? 1 : 2, role => $_, cid => 0, iter => 0, phase => 'none', t => $t, recv => [] } for qw(server client);

sub quote($v) { $v =~ s/(["\\])/\\$1/g; return $v =~ /^-?\d+$/ ? $v : "\"$v\"" }
sub event($role, $at, $event, @args) {
	my $json = "\"t_ns\":$at,\"event\":\"$event\",\"run\":$end{$role}{run},\"role\":\"$role\"";
	while (my ($name, $value) = splice @args, 0, 2) { $json .= ",\"$name\":" . quote($value) }
	# The time of day is that of the clock, and a fraction.
	my $s = int $at / 1e9;
	my $time = sprintf '2026-11-22T10:00:%02d.%06d+00:00', $s, ($at - $s * 1e9) / 1000;
	push @events, [$at, "{\"tool\":\"krping-trace\",\"schema\":1,\"time\":\"$time\",\"final\":false,$json}"];
}
sub phase($role, $at, $to, $flags = '') {
	my $e = $end{$role};
	$e->{iter}++ if $flags eq 'commit';
	event($role, $at, 'phase', iter => $e->{iter}, phase => $to, prev => $e->{phase}, t_prev_ns => $e->{t}, flags => $flags);
	@$e{qw(phase t)} = ($to, $at);
}
sub post($role, $at, $kind, $len, $rkey = 0, $inv_rkey = 0) {
	my $cid = $end{$role}{cid}++;
	event($role, $at, 'post_send', cq_id => 3, cid => $cid, qp => 17, kind => $kind, len => $len,
		flags => $kind =~ /REG_MR|LOCAL_INV/ ? '' : 'signaled', rkey => sprintf('0x%x', $rkey), inv_rkey => sprintf('0x%x', $inv_rkey));
	event($role, $at + 200, 'post_return', cq_id => 3, cid => $cid, nr => 1);
	return $cid;
}
sub post_recv($role, $at) {
	push @{ $end{$role}{recv} }, $end{$role}{cid};
	event($role, $at, 'post_recv', cq_id => 4, cid => $end{$role}{cid}++, qp => 17, len => 16);
}
sub done($role, $at, $kind, $len, $cid = undef) {
	$cid = shift @{ $end{$role}{recv} } if $kind eq 'RECV';
	event($role, $at, 'wc', cq_id => 3, cid => $cid, kind => $kind, len => $len);
}
sub waited($role, $at, $kind) {
	my $e = $end{$role};
	event($role, $at, 'wait', iter => $e->{iter}, phase => $e->{phase}, kind => $kind, t_start_ns => $e->{t},
		t_wc_ns => $at - 2000, t_run_ns => $at, slept => 1,
		$kind eq 'RECV' ? (t_sig_ns => $at - ($role eq 'client' ? 2500 : 3000)) : (t_post_ns => $e->{t} + 500, t_posted_ns => $e->{t} + 1500));
}
sub half($d, $what, $wr, $near) {
	my $sink = $near eq 'sink';
	my $k = ++$key;
	phase('client', $t, "reg_$near");
	post_recv('client', $t + 100) if $sink;
	event('client', $t + $d / 4, 'mr_map', mr_id => 8, pages => 1, len => 64, cost_ns => 1234);
	post('client', $t + $d / 2, 'LOCAL_INV', 0, 0, $k - 1) unless $inv;
	event('client', $t + $d / 2, 'mr_fastreg', mr_id => 8, new_key => sprintf('0x%x', $k), access => 'LOCAL_WRITE|REMOTE_READ');
	post('client', $t + $d / 2 + 1, 'REG_MR', 64, $k);
	$t += $d;
	phase('client', $t, "send_$near");
	event('client', $t + $d / 4, 'adv_send', rkey => sprintf('0x%x', $k), len => 64);
	my $cid = post('client', $t + $d / 2, 'SEND', 16);
	$t += $d;
	phase('client', $t, "wait_$what");
	$t += $d;
	done('server', $t, 'RECV', 16);
	done('client', $t + 100, 'SEND', 16, $cid);
	$t += $d;
	waited('server', $t, 'RECV');
	phase('server', $t, "reg_$what");
	post_recv('server', $t + 200);
	post('server', $t + $d / 2, 'REG_MR', 64, 0x9900 + $k);
	$t += $d;
	phase('server', $t, $what);
	$cid = post('server', $t + 500, $wr, 64, $k);
	$t += $d;
	done('server', $t, $wr, 64, $cid);
	$t += $d;
	waited('server', $t, $wr);
	phase('server', $t, "go_ahead_$what");
	event('server', $t + 100, 'adv_send');
	my $go = $inv ? 'SEND_WITH_INV' : 'SEND';
	$cid = post('server', $t + 200, $go, 16, 0, $inv ? $k : 0);
	$t += $d;
	phase('server', $t, $sink ? ('wait_source', 'commit') : 'wait_sink');
	$t += $d;
	done('client', $t, 'RECV', 16);
	done('server', $t + 50, $go, 16, $cid);
	$t += $d;
	waited('client', $t, 'RECV');
}

for my $role (qw(server client)) {
	event($role, $t++, 'run_start', role => $role, test => 'rping', size => 64, count => $pings, flags => 'validate', pid => 170,
		comm => 'a\x1b[2J\\\\ "b"');
	event($role, $t++, 'state', old => 'IDLE', new => 'CONNECTED');
	event($role, $t++, 'cm_event', cm_event => 'ESTABLISHED');
	event($role, $t++, 'addr', src => '10.9.0.1', dst => 'fe80::2', src_port => 9999, dst_port => 40001);
	event($role, $t++, 'conn', cq_id => 3, qp => 17, dev => 'rxe0', port => 1, size => 64, count => $pings,
		peer_run => 3 - $end{$role}{run}, peer_nonce => $nonce);
	substr($events[-1][1], -1, 0) = ',"peer_here":true';
	post_recv($role, $t++) for 1 .. 3;
}
phase('server', $t++, 'wait_source');
phase('client', $t, 'fill');
for my $n (1 .. $pings) {
	my $d = $ns[$n - 1] // 1000 * (7 + $n * 5 % 9);
	$t += 2 * $d;
	half($d, 'read', 'READ', 'source');
	half($d, 'write', 'WRITE', 'sink');
	event('client', $t, 'validate', iter => $n - 1, len => 64, offset => -1);
	phase('client', $t, 'fill', 'commit');
	# The first one has as many words, and as long ones, as an event can have.
	my @words = $n > 1 ? qw(0x10000017 0x20000923 0x3f0) : ('0xfffffffffffffff0') x 48;
	my @iter = (iter => $n - 1, flags => 'commit', t_begin_ns => $t - 5000);
	event('client', $t, 'iter', @iter, bytes => 64);
	event('client', $t, 'iter_stages', @iter, nr => scalar @words, words => '{' . join(',', @words) . '}');
	post_recv('client', $t + 100);
}
for my $role (qw(client server)) {
	phase($role, $t + 300, 'disconnect', 'abort');
	event($role, $t + 400, 'wc_flush', cid => $end{$role}{recv}[0], kind => 'RECV', status => 'WR_FLUSH_ERR', vendor_err => '0xf9');
	event($role, $t + 500, 'run_end', iters => $pings, err => 0, duration_ns => 12345, phase => 'disconnect', t_phase_ns => $t + 300);
}
print "$_->[1]\n" for sort { $a->[0] <=> $b->[0] } @events;
print '{"tool":"krping-trace","schema":1,"time":"2026-11-22T10:00:09.000000+00:00","final":true,"events":', scalar @events,
	",\"lost\":0,\"lost_missed\":0,\"lost_failed\":0,\"lost_dropped\":0,\"out_of_order\":0}\n";
