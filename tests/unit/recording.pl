#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# recording.pl [--inv] [--events] PINGS [NS...]: prints what krping-record could have written about a client and its server. It has all
# events that a ladder needs, and one of each other event. Arguments that no reader needs are left out, and are 0. A ping takes 22 times
# NS; with --inv the server invalidates the client's keys; with --events there are events alone, and not what is around them.
use v5.36;
use FindBin;

my %option;
$option{shift()} = 1 while @ARGV && $ARGV[0] =~ /^--/;
my $inv = $option{'--inv'};
my ($pings, @ns) = @ARGV;
my $nonce = 0x11223344 << 32 | 0x55667788;
my $t = 5_000_000_000;
my $key = 0x1200;
my (@events, %end);
$end{$_} = { run => $_ eq 'server' ? 1 : 2, role => $_, cid => 0, iter => 0, phase => 'none', t => $t, recv => [] } for qw(server client);

# The numbers of events, their arguments, and names of values, as the sources have them.
sub slurp($file) {
	open my $f, '<', "$FindBin::Bin/../../$file" or die "$file: $!\n";
	local $/;
	return <$f> =~ s/\\\n//gr;
}
my ($table, $abi) = (slurp('bpf/event_table.h'), slurp('trace/krping_abi.h'));
my (%args, %number);
while ($table =~ /^#define KRP_EVENT_(\w+)\(a, e\)(.*)/mg) {
	my ($name, $is) = ($1, $2);
	$args{$name} = $is =~ /KRP_EVENT_(\w+)/ ? $args{$1} : [map { [split /, /] } $is =~ /a\(e, ([^)]*)\)/g];
}
my ($names) = $table =~ /^#define KRP_EVENTS\(x\)(.*)/m;
my @names = $names =~ /x\((\w+)\)/g;
my %id = map { $names[$_] => $_ } 0 .. $#names;
for my $how (qw(role test state phase wr)) {
	my ($list) = $abi =~ /^#define KRPING_\U${how}\ES\(x\)(.*)/m;
	my @of = $list =~ /"([^"]*)"/g;
	$number{$how} = { map { $of[$_] => $_ } 0 .. $#of };
}

sub chunk($kind, $data) { return pack('L2', $kind, length $data) . $data . "\0" x (-length($data) % 8) }
sub event($role, $at, $event, %of) {
	my ($args, $more) = ('', '');
	for (@{$args{$event}}) {
		my ($name, undef, $how) = @$_;
		my $v = $name eq 'run' ? $end{$role}{run} : $how eq 'stamp' ? $at : $of{$name} // 0;
		$v = $number{$how}{$v} // die "$event: $name $v" if $number{$how} && $v !~ /^\d+$/;
		$more .= $how eq 'text' ? pack 'Z64', $v || '' : $how eq 'label' ? pack 'Z32', $v || '' : $how eq 'words' && $v ? pack 'Q*', @$v : '';
		$args .= pack 'q', $how =~ /^(text|label|words)$/ ? 0 : $v;
	}
	push @events, [$at, chunk(3, pack('QL4', $at, $end{$role}{run}, $id{$event}, 170, 0) . $args . $more)];
}
sub phase($role, $at, $to, $flags = 0) {
	my $e = $end{$role};
	$e->{iter}++ if $flags == 1;
	event($role, $at, 'phase', iter => $e->{iter}, phase => $to, prev => $e->{phase}, t_prev => $e->{t}, flags => $flags);
	@$e{qw(phase t)} = ($to, $at);
}
sub post($role, $at, $kind, $len, $rkey = 0, $inv_rkey = 0) {
	my $cid = $end{$role}{cid}++;
	event($role, $at, 'post_send', cq_id => 3, cid => $cid, qp => 17, kind => $kind, len => $len,
		flags => $kind =~ /REG_MR|LOCAL_INV/ ? 0 : 1, rkey => $rkey, inv_rkey => $inv_rkey);
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
	event($role, $at, 'wait', iter => $e->{iter}, what => $number{phase}{$e->{phase}} | $number{wr}{$kind} << 8 | 1 << 16,
		t_start => $e->{t}, t_wc => $at - 2000,
		$kind eq 'RECV' ? (t_sig => $at - ($role eq 'client' ? 2500 : 3000)) : (t_post => $e->{t} + 500, t_posted => $e->{t} + 1500));
}
sub half($d, $what, $wr, $near) {
	my $sink = $near eq 'sink';
	my $k = ++$key;
	phase('client', $t, "reg_$near");
	post_recv('client', $t + 100) if $sink;
	event('client', $t + $d / 4, 'mr_map', mr_id => 8, pages => 1, len => 64, cost_ns => 1234);
	post('client', $t + $d / 2, 'LOCAL_INV', 0, 0, $k - 1) unless $inv;
	event('client', $t + $d / 2, 'mr_fastreg', mr_id => 8, new_key => $k, access => 5);
	post('client', $t + $d / 2 + 1, 'REG_MR', 64, $k);
	$t += $d;
	phase('client', $t, "send_$near");
	event('client', $t + $d / 4, 'adv_send', rkey => $k, len => 64);
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
	phase('server', $t, $sink ? ('wait_source', 1) : 'wait_sink');
	$t += $d;
	done('client', $t, 'RECV', 16);
	done('server', $t + 50, $go, 16, $cid);
	$t += $d;
	waited('client', $t, 'RECV');
}

for my $role (qw(server client)) {
	event($role, $t++, 'run_start', role => $role, test => 'rping', size => 64, count => $pings, flags => 2, pid => 170, comm => "a\e[2J\\ \"b");
	event($role, $t++, 'state', old => 'IDLE', new => 'CONNECTED');
	event($role, $t++, 'cm_event', event => 9);
	event($role, $t++, 'addr', src_port => 9999, dst_port => 40001, nonce => $nonce);
	event($role, $t++, 'conn', cq_id => 3, qp => 17, dev => 'rxe0', port => 1, size => 64, peer_run => 3 - $end{$role}{run}, peer_nonce => $nonce);
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
	phase('client', $t, 'fill', 1);
	# The first one has as many words, and as long ones, as an event can have.
	my @words = $n > 1 ? (0x10000017, 0x20000923, 0x3f0) : (~0xf) x 48;
	my @iter = (iter => $n - 1, flags => 1, t_begin => $t - 5000);
	event('client', $t, 'iter', @iter, bytes => 64);
	event('client', $t, 'iter_stages', @iter, nr => scalar @words, words => \@words, told => $n);
	post_recv('client', $t + 100);
}
for my $role (qw(client server)) {
	phase($role, $t + 300, 'disconnect', 2);
	event($role, $t + 400, 'wc_flush', cid => $end{$role}{recv}[0], kind => 'RECV', status => 5, vendor_err => 0xf9);
	event($role, $t + 500, 'run_end', iters => $pings, duration_ns => 12345, phase => 'disconnect', t_phase => $t + 300);
}

# A line of the table of events.
sub line($event) {
	return join(' ', $event, map { "$_->[0]:" . ($_->[2] =~ /^(text|label|words)$/ ? $_->[2] : $_->[1]) } @{$args{$event}}) . "\n";
}

my @all = map { $_->[1] } sort { $a->[0] <=> $b->[0] } @events;
binmode STDOUT;
print @all and exit if $option{'--events'};
print "krping record 1\n", chunk(1, join '', map { line($_) } @names), chunk(2, '{"host":"made","kernel":"up"}'),
	chunk(6, sprintf "# krping runs abi=1 events=3 evicted=0 nonce=0x%x\n", $nonce), chunk(4, pack 'Q2', 5e9, 1795341605e9),
	@all, chunk(7, '');
