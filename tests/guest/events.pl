#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# events.pl N OPTIONS TRACE RUNS: compares the trace of one pair of runs, both with OPTIONS ("validate,chain"), of which read_inv
# is the server's alone, with the protocol's arithmetic and with the lines of /proc/krping_runs. Prints TAP lines without numbers.

use v5.36;
use FindBin;
use lib $FindBin::Bin;
use List::Util qw(sum);
use Trace;

my ($N, $options, $trace, $runs) = @ARGV;
my ($inv, $val, $chain, $read_inv, $lkey, $dma, $srq) =
	map { $options =~ /\b$_\b/ ? 1 : 0 } qw(server_inv validate chain read_inv local_dma_lkey mem_mode=dma srq);
# The default is that the thread polls.
my $polls = $options !~ /\bpoll_ctx=(softirq|workqueue)\b/;
my $mode = $options || 'default';
$Trace::title = "$mode: ";

sub same($got, $want, $what) {
	check($got == $want, "$what = $want", "got $got, wanted $want");
}

my @events = events($trace);

my %role = map { $_->{run} => $_->{role} } grep { $_->{ev} eq 'run_start' } @events;
same(scalar(keys %role), 2, 'runs that began');
same(scalar(grep { !defined $role{$_->{run}} } @events), 0, 'events of other runs');

# The clock on the wall is that at t, however long the event took: nobody sets the guest's clocks, so they always differ by as much.
my %apart = map { $_->{t_real} - $_->{t} => 1 } grep { defined $_->{t_real} } @events;
same(scalar(keys %apart), 1, 'differences of t_real and t');
check(abs((keys %apart)[0] + $events[0]{t} - time * 1e9) < 3600e9, 't_real is the time of day');

# Since 6.12 rxe calls the completion handler with the CQ's lock held and interrupts off. A module that polls in the
# handler, as older versions of krping do, waits for that lock for ever. With this module the core polls, in its
# softirq, on every kernel.
my @handler = grep { $_->{ev} =~ /^wc/ && ($_->{irqs} // 'd') =~ /d/i } @events;
check(!@handler, 'no completion is polled with interrupts off', map { "$_->{ev} cid=$_->{cid}" } @handler);

my %line = map { $role{$_->{id}} => $_ } grep { defined $role{$_->{id}} } records($runs);

# The arithmetic of N pings. A name is an event, or event:kind; an event that is not named must not occur.
#
# A ping of the client registers twice (source, sink) and sends twice; the server registers twice (for the
# READ, for the WRITE), reads, writes and sends twice. Each message takes one RECV, which is then posted
# again; 4 RECVs are posted at set-up and are flushed at the end. With srq nobody flushes them: they stay in the queue.
#
# Invalidation. Client: a LOCAL_INV before each REG_MR except the very first, so 2N-1; with server_inv none,
# since the server's SEND_WITH_INV invalidates its 2N keys. Server, in both modes: a LOCAL_INV after each READ
# (N), and one before the REG_MR of each READ except the first (N-1), since the key of the WRITE before it is
# still valid. With read_inv the READs themselves invalidate. With local_dma_lkey the WRITE has no key of its own, and with
# mem_mode=dma nothing has.
my $s_reg = $dma ? 0 : $lkey ? $N : 2 * $N;
my $s_linv = $dma ? 0 : ($read_inv ? 0 : $N) + ($lkey ? 0 : $N - 1);
my $s_read = $read_inv ? 'READ_WITH_INV' : 'READ';
my $c_reg = $dma ? 0 : 2 * $N;
my $c_linv = $dma || $inv ? 0 : 2 * $N - 1;
my %both = (
	'run_start' => 1, 'run_end' => 1, 'result' => 1, 'conn' => 1, 'addr' => 1,
	'adv_send' => 2 * $N, 'adv_recv' => 2 * $N,
	'post_recv' => 4 + 2 * $N, 'wc:RECV' => 2 * $N, 'wc_flush:RECV' => $srq ? 0 : 4,
	'mr_dereg' => $dma ? 0 : 1,
	# N iterations, set-up and tear-down
	(map { $_ => $N + 2 } qw(iter iter_phases iter_stages iter_memory)),
	'validate' => $val ? $N : 0,
);
my %want = (
	client => {
		%both,
		# IDLE ADDR_RESOLVED ROUTE_RESOLVED CONNECTED DONE; READ_ADV WRITE_ADV WRITE_COMPLETE
		'state' => 5 + 3 * $N,
		# resolve_addr resolve_route alloc connect, disconnect drain free; for each ping seven, and validate. With
		# chain, reg_source and reg_sink are a part of what sends; with mem_mode=dma there are none.
		'phase' => 7 + $N * (($chain || $dma ? 5 : 7) + $val),
		'post_send:REG_MR' => $c_reg, 'post_send:SEND' => 2 * $N,
		'post_send:LOCAL_INV' => $c_linv,
		# calls: RECVs; (LOCAL_INV and) REG_MR in one call; SEND, which chain adds to that call
		'post_return' => (4 + 2 * $N) + ($chain || $dma ? 2 : 4) * $N,
		'wc:SEND' => 2 * $N,
		'mr_map' => $c_reg, 'mr_fastreg' => $c_reg,
		'mr_done:REG_MR' => $c_reg, 'mr_done:LOCAL_INV' => $c_linv,
		'mr_localinv' => $c_linv, 'mr_reminv' => $inv ? 2 * $N : 0,
		# wait_read wait_write
		'wait' => 2 * $N,
	},
	server => {
		%both,
		# IDLE CONNECT_REQUEST CONNECTED DONE; READ_ADV READ_COMPLETE WRITE_ADV WRITE_COMPLETE CONNECTED. With
		# chain the server does not know when a READ or WRITE is complete.
		'state' => 4 + ($chain ? 2 : 5) * $N,
		# listen alloc accept, disconnect drain free; for each ping eight, or wait_source go_ahead_read wait_sink
		# go_ahead_write; what is not registered has no reg_read and reg_write
		'phase' => 6 + ($chain ? 4 : $dma ? 6 : $lkey ? 7 : 8) * $N,
		'post_send:REG_MR' => $s_reg, "post_send:$s_read" => $N, 'post_send:WRITE' => $N,
		'post_send:LOCAL_INV' => $s_linv,
		'post_send:' . ($inv ? 'SEND_WITH_INV' : 'SEND') => 2 * $N,
		# calls: RECVs; REG_MR, READ and LOCAL_INV, SEND, REG_MR, WRITE, SEND; with chain two
		'post_return' => (4 + 2 * $N) + ($chain ? 2 : $dma ? 4 : $lkey ? 5 : 6) * $N,
		"wc:$s_read" => $N, 'wc:WRITE' => $N, 'wc:' . ($inv ? 'SEND_WITH_INV' : 'SEND') => 2 * $N,
		'mr_map' => $s_reg, 'mr_fastreg' => $s_reg, 'mr_localinv' => $s_linv, 'mr_readinv' => $read_inv ? $N : 0,
		'mr_done:REG_MR' => $s_reg, 'mr_done:LOCAL_INV' => $s_linv, 'mr_done:SEND_WITH_INV' => $inv ? 2 * $N : 0,
		'mr_done:READ_WITH_INV' => $read_inv ? $N : 0,
		# wait_source read wait_sink write; with chain not read and write
		'wait' => ($chain ? 2 : 4) * $N,
	},
);
# How often rdma_cm reports an event depends on the provider, except for these events.
my %cm = (
	client => { ADDR_RESOLVED => 1, ROUTE_RESOLVED => 1, ESTABLISHED => 1 },
	server => { CONNECT_REQUEST => 1, ESTABLISHED => 1 },
);
# The end that leaves second gets DISCONNECTED; see krping_leaves_first().
$cm{($ENV{KRPING_PROVIDER} // 'rxe') eq 'siw' ? 'server' : 'client'}{DISCONNECTED} = 1;

my %has_kind = map { $_ => 1 } qw(post_send wc wc_flush wc_err post_send_err mr_done);
my %got;
for my $e (@events) {
	my $r = $role{$e->{run}} // next;
	my $key = $e->{ev};
	$key .= ":$e->{kind}" if $has_kind{$key};
	$key .= ":$e->{event}" if $key eq 'cm_event';
	# Words of memory regions that do not fit into the event of their iteration have events of their own. Whose time iterations
	# are is for split.pl.
	$got{$r}{$key}++ unless $key eq 'iter_split' || ($e->{flags} // '') =~ /more/;
}
# Where CPUs take turns, or where events.t has krping_unacked.ko, rxe may not acknowledge the client's last SEND (figures_are() in
# lib-tools.sh): that one, and no other, is flushed then. With one CPU KRPING_TURNS is 0, and the SEND has to complete.
my @sends = grep { ($_->{kind} // '') eq 'SEND' && ($role{$_->{run}} // '') eq 'client' } @events;
my @unacked = grep { $_->{ev} eq 'wc_flush' } @sends;
my ($last) = grep { $_->{ev} eq 'post_send' } reverse @sends;
if ($ENV{KRPING_TURNS} && ($ENV{KRPING_PROVIDER} // '') eq 'rxe' && @unacked == 1 && $last && $unacked[0]{cid} == $last->{cid}) {
	print "# $mode: rxe has not acknowledged the client's last SEND\n";
	delete $got{client}{'wc_flush:SEND'};
	$got{client}{'wc:SEND'}++;
}
for my $r (qw(client server)) {
	for my $key (sort keys %{$want{$r}}) {
		same($got{$r}{$key} // 0, $want{$r}{$key}, "$r: krping_$key");
	}
	same($got{$r}{"cm_event:$_"} // 0, $cm{$r}{$_}, "$r: cm_event $_") for sort keys %{$cm{$r}};
	# How often a provider signals depends on the provider, and on when the thread asks for it.
	my @other = grep { !defined $want{$r}{$_} && !/^cm_event:/ && !/^(async|cq)_event$/ } sort keys %{$got{$r}};
	check(!@other, "$r: no other event", @other);
}

for my $r (qw(client server)) {
	my @own = grep { ($role{$_->{run}} // '') eq $r } @events;
	my (@bad, %post, %wc, %bytes);
	my %signal = map { ("$_->{'cq.id'} $_->{t}" => 1) } grep { $_->{ev} eq 'cq_event' } @own;

	my ($start, $e) = @own[0, -1];
	check("$start->{ev} $e->{ev}" eq 'run_start run_end', "$r: run_start is the first event, run_end the last");

	# Completions come after their posts, once each, with the kind and on the CQ of the post; the numbers of posts
	# have no gap.
	for my $e (@own) {
		$bytes{"$e->{ev}:$e->{kind}"} += $e->{len} if $e->{ev} =~ /^(wc|post_send)$/;
		if ($e->{ev} =~ /^post_(send|recv)$/) {
			push @bad, "cid $e->{cid} posted twice" if $post{$e->{cid}};
			$post{$e->{cid}} = $e;
		} elsif ($e->{ev} =~ /^wc/) {
			my $p = $post{$e->{cid}};
			my $kind = !$p ? '' : $p->{ev} eq 'post_recv' ? 'RECV' : $p->{kind};
			push @bad, "cid $e->{cid} completed, not posted" if !$p;
			push @bad, "cid $e->{cid}: posted $kind, completed $e->{kind}" if $p && $kind ne $e->{kind};
			push @bad, "cid $e->{cid} completed before it was posted" if $p && $p->{t} > $e->{t};
			push @bad, "cid $e->{cid} completed twice" if $wc{$e->{cid}}++;
			push @bad, "cid $e->{cid}: cq $e->{'cq.id'}, posted to $p->{'cq.id'}" if $p && $p->{'cq.id'} ne $e->{'cq.id'};
		}
	}
	check(!@bad, "$r: each completion has one earlier post", @bad);
	@bad = grep { !$post{$_} } 0 .. keys(%post) - 1;
	check(!@bad, "$r: numbers of posts have no gap", "missing: @bad");
	my @open = grep { !$wc{$_} && ($post{$_}{flags} // 'signaled') =~ /signaled/ } sort { $a <=> $b } keys %post;
	# In a queue that is not flushed the last four RECVs are left.
	my @recvs = grep { $post{$_}{ev} eq 'post_recv' } sort { $a <=> $b } keys %post;
	my %left = map { $_ => 1 } $srq ? @recvs[-4 .. -1] : ();
	@bad = map { "cid $_ ($post{$_}{ev})" } grep { !$left{$_} } @open;
	check(!@bad && @open == keys %left, "$r: each krping_post that asks for a completion has its krping_wc", @bad);

	# The phases cover the run, without gaps and overlaps.
	my @phases = grep { $_->{ev} eq 'phase' } @own;
	my $sum = $e->{t} - $e->{t_phase};
	@bad = $phases[0]{t} == $start->{t} ? () : "first phase begins at $phases[0]{t}, the run at $start->{t}";
	for my $i (1 .. $#phases) {
		my ($before, $p) = @phases[$i - 1, $i];
		my $of = "$p->{phase} of iteration $p->{iter}";
		push @bad, "$of: prev=$p->{prev}, but it was $before->{phase}" if $p->{prev} ne $before->{phase};
		push @bad, "$of: t_prev=$p->{t_prev}, but it was $before->{t}" if $p->{t_prev} != $before->{t};
		push @bad, "$of: time goes back" if $p->{t} < $before->{t};
		$sum += $p->{t} - $p->{t_prev};
	}
	push @bad, "run_end: $e->{phase} since $e->{t_phase}, but it was $phases[-1]{phase} since $phases[-1]{t}"
		if $e->{phase} ne $phases[-1]{phase} || $e->{t_phase} != $phases[-1]{t};
	check(!@bad, "$r: krping_phase: each begins where the last one ends", @bad);
	same($e->{duration_ns} - $sum, 0, "$r: krping_phase: residual");
	same($e->{t} - $start->{t}, $e->{duration_ns}, "$r: run_end's duration");
	same(scalar(grep { $_->{flags} =~ /commit/ } @phases), $N, "$r: krping_phase: complete iterations");
	same(scalar(grep { $_->{flags} =~ /abort/ } @phases), 0, "$r: krping_phase: aborted iterations");

	# What the words of an iteration are is for words.pl.
	my @lines = grep { $_->{ev} eq 'iter' } @own;

	# Memory regions balance.
	my ($d) = grep { $_->{ev} eq 'mr_dereg' } @own;
	# Without a region no key of one was valid.
	$d //= { state => 'free' };
	my $n = sub { $got{$r}{"mr_$_[0]"} // 0 };
	same($n->('fastreg'), $n->('localinv') + $n->('reminv') + $n->('readinv') + ($d->{state} ne 'free'),
		"$r: krping_mr_fastreg: localinv + reminv + readinv + valid when freed,");
	check($d->{state} eq ($dma || ($r eq 'client' ? $inv : $lkey) ? 'free' : 'valid'), "$r: state of the region when freed",
		$d->{state});
	my ($key, $valid, %bykey) = ('', 0);
	@bad = ();
	for my $e (grep { $_->{ev} =~ /^mr_(fastreg|localinv|reminv|readinv)$/ } @own) {
		if ($e->{ev} eq 'mr_fastreg') {
			push @bad, "old_key=$e->{old_key}, but it was $key" if $key ne '' && $key ne $e->{old_key};
			# If the old key was valid, its LOCAL_INV comes before this in the same chain.
			push @bad, "key $e->{new_key} is made valid over a valid one" if $valid;
			$key = $e->{new_key};
			push @bad, "key $key registered twice" if $bykey{$key}++;
			$valid = 1;
		} else {
			push @bad, "$e->{ev} of $e->{key}, but the key is $key" if $e->{key} ne $key;
			push @bad, "$e->{ev} of $e->{key}, which is not valid" if !$valid;
			$valid = 0;
		}
		push @bad, "$e->{ev}: nothing was posted with cid $e->{cid}" if !$post{$e->{cid}};
	}
	check(!@bad, "$r: krping_mr events follow one key", @bad);

	# States: those before the first ping, those of each, and the end.
	my @ping = $r eq 'client' ? qw(RDMA_READ_ADV RDMA_WRITE_ADV RDMA_WRITE_COMPLETE) : $chain ? qw(RDMA_READ_ADV RDMA_WRITE_ADV) :
		qw(RDMA_READ_ADV RDMA_READ_COMPLETE RDMA_WRITE_ADV RDMA_WRITE_COMPLETE CONNECTED);
	my @states = (qw(NEW IDLE), $r eq 'client' ? qw(ADDR_RESOLVED ROUTE_RESOLVED) : 'CONNECT_REQUEST', 'CONNECTED', (@ping) x $N, 'DONE');
	my @is = map { "$_->{old} -> $_->{new}" } grep { $_->{ev} eq 'state' } @own;
	@bad = grep { ($is[$_] // 'none') ne "$states[$_] -> $states[$_ + 1]" } 0 .. $#states - 1;
	check(!@bad, "$r: states are legal and end in DONE", map { "number $_: " . ($is[$_] // 'none') . ", not to $states[$_ + 1]" } @bad);

	# Waits: their times are in order, and the next phase begins where they end.
	@bad = ();
	for my $i (0 .. $#own) {
		my $w = $own[$i];
		next if $w->{ev} ne 'wait';
		my ($next) = grep { $_->{ev} eq 'phase' } @own[$i + 1 .. $#own];
		my $what = "$w->{phase} of iteration $w->{iter}: ";
		# A RECV was posted before the phase, and so was a request that had to retire before it could end.
		my $early = $w->{phase} =~ /^wait_(?!completion)/;
		my $order = sub ($a, $b) {
			push @bad, "$what$a $w->{$a} > $b $w->{$b}" if $w->{$a} && $w->{$b} && $w->{$a} > $w->{$b};
		};
		push @bad, "$what$_ is 0" for grep { !$w->{$_} } qw(t_start t_wc t_run),
			$early ? () : qw(t_post t_posted);
		push @bad, "${what}no krping_cq_event of cq $post{$w->{cid}}{'cq.id'} at $w->{t_sig}"
			if $w->{t_sig} && !$signal{"$post{$w->{cid}}{'cq.id'} $w->{t_sig}"};
		$order->('t_start', 't_run');
		$order->('t_sig', 't_wc');
		# The thread polls: it runs, and then handles the completion, unless an earlier poll has.
		$order->($polls && $w->{t_wc} >= $w->{t_start} ? ('t_run', 't_wc') : ('t_wc', 't_run'));
		if (!$early) {
			$order->('t_start', 't_post');
			$order->('t_post', 't_posted');
			$order->('t_posted', 't_run');
			$order->('t_post', 't_sig');
			$order->('t_post', 't_wc');
		}
		# The end of an iteration reads the clock again, so the next phase begins a little later; after every
		# other wait it begins where that ends.
		my $end = $w->{t_run} > $w->{t_wc} ? $w->{t_run} : $w->{t_wc};
		push @bad, "${what}its end is not where $next->{phase} begins" if $next->{t} < $end ||
			$next->{t} != $end && $next->{flags} !~ /commit/;
		push @bad, "${what}no such completion" if !$wc{$w->{cid}};
	}
	check(!@bad, "$r: times of krping_wait are in order", @bad);
	same(scalar(grep { $_->{ev} eq 'validate' && $_->{offset} != -1 } @own), 0, "$r: pings with other data");

	# The counters of /proc/krping_runs are those of the events.
	my $l = $line{$r};
	my %c = (send => ['post_send:SEND', 'post_send:SEND_WITH_INV'], recv => ['wc:RECV'], read => ['post_send:READ', 'post_send:READ_WITH_INV'],
		 write => ['post_send:WRITE']);
	for my $k (sort keys %c) {
		my ($msgs, $bytes) = map { my $of = $_; sum(map { $of->{$_} // 0 } @{$c{$k}}) } $got{$r}, \%bytes;
		check($l->{"${k}_msgs"} == $msgs && $l->{"${k}_bytes"} == $bytes,
			"$r: ${k}_msgs and ${k}_bytes are what the events tell",
			"runs: $l->{qq(${k}_msgs)} $l->{qq(${k}_bytes)}, events: $msgs $bytes");
	}
	same($l->{iters}, $e->{iters}, "$r: iters of run_end");
	# The run's own latency figures are those of the boundaries of its iterations: both come from the same clock, but
	# the module computes its sums itself.
	my @took = sort { $a <=> $b } map { $_->{t} - $_->{t_begin} } grep { $_->{flags} eq 'commit' } @lines;
	my $sum_ns = sum(@took);
	my ($is, $should) = ("$l->{lat_min_ns} $l->{lat_mean_ns} $l->{lat_max_ns}",
			     $took[0] . ' ' . int($sum_ns / @took) . " $took[-1]");
	check($is eq $should, "$r: lat_min, lat_mean and lat_max are those of the iterations", "runs: $is, krping_iter: $should");
	# The module's percentiles are no further than 1/32 from those of all the iterations.
	@bad = ();
	for my $p (qw(p50 p90 p99 p999)) {
		my $exact = $took[rank($p, scalar @took) - 1];
		my $told = $l->{"lat_${p}_ns"};
		push @bad, "$p: runs: $told, krping_iter: $exact" if abs($told - $exact) > $exact / 32 || $told < $took[0] || $told > $took[-1];
	}
	check(!@bad, "$r: the percentiles are those of the iterations", @bad);
	# Rates are those of the time that the iterations took. A ping moves its data twice.
	@bad = ();
	for my $of ([bits_per_s => 16 * $l->{size} * @took], [msgs_per_s => 2 * @took], [regs_per_s => $l->{fastreg}]) {
		my $want = int($of->[1] * 1e9 / $sum_ns);
		push @bad, "$of->[0]: $l->{$of->[0]}, not $want" if abs($l->{$of->[0]} - $want) > 1;
	}
	check(!@bad, "$r: bits, messages and registrations a second", @bad);
	my ($result) = grep { $_->{ev} eq 'result' } @own;
	$is = join ' ', map { $result->{$_} } qw(iters sum_ns min_ns p50_ns p90_ns p99_ns p999_ns max_ns bits_per_s msgs_per_s regs_per_s);
	$should = join ' ', $l->{iters}, $sum_ns, map { $l->{$_} } qw(lat_min_ns lat_p50_ns lat_p90_ns lat_p99_ns lat_p999_ns lat_max_ns
		bits_per_s msgs_per_s regs_per_s);
	check($is eq $should, "$r: krping_result has the figures of krping_runs", "runs: $should, krping_result: $is");
	# Pages: each buffer begins on a page boundary, and is as long as a ping.
	my $pages = int(($l->{size} + 4095) / 4096);
	for my $of (['mr_map'], ['mr_fastreg'], ['mr_done', 'REG_MR']) {
		my @of = grep { $_->{ev} eq $of->[0] && (!$of->[1] || $_->{kind} eq $of->[1]) } @own;
		@bad = grep { $_->{pages} != $pages || defined $_->{len} && $_->{len} != $l->{size} } @of;
		check((@of || $dma) && !@bad, "$r: krping_$of->[0]: pages = $pages",
		      map { "cid=" . ($_->{cid} // '-') . " pages=$_->{pages}" } @bad);
	}
	# Access: each registration has only the rights that it needs; on iWARP the buffer of a READ also needs
	# REMOTE_WRITE.
	my $siw = ($ENV{KRPING_PROVIDER} // 'rxe') eq 'siw';
	my @access = $r eq 'client' ? ('REMOTE_READ', 'LOCAL_WRITE|REMOTE_WRITE') :
		($siw ? 'LOCAL_WRITE|REMOTE_WRITE' : 'LOCAL_WRITE', '');
	@bad = ();
	my @regs = grep { $_->{ev} eq 'mr_fastreg' } @own;
	for my $i (0 .. $#regs) {
		my $of = $access[$r eq 'server' && $lkey ? 0 : $i % 2];
		push @bad, "number $i: access=$regs[$i]{access}, not $of" if $regs[$i]{access} ne $of;
	}
	check(!@bad, "$r: krping_mr_fastreg: the rights that the transport needs, and no others", @bad);
	# The LOCAL_INV behind a READ is fenced, so that it waits for the READ, and no other request is, but with chain the
	# go-ahead behind it, or behind the READ where no LOCAL_INV is needed.
	my %fenced = map { $_->{cid} => 1 } grep { $_->{ev} eq 'post_send' && $_->{flags} =~ /fence/i } @own;
	my (%behind, $last_kind);
	for my $p (grep { $_->{ev} eq 'post_send' } @own) {
		my $inv = $p->{kind} eq 'LOCAL_INV' && ($last_kind // '') eq 'READ';
		$behind{$p->{cid}} = 1 if $inv ||
			$chain && ($last_kind // '') =~ ($dma || $read_inv ? qr/^READ/ : qr/^INV$/);
		$last_kind = $inv ? 'INV' : $p->{kind};
	}
	my ($f, $b) = map { join ' ', sort { $a <=> $b } keys %$_ } \%fenced, \%behind;
	check($f eq $b, "$r: krping_post_send: what has to wait for a READ is fenced, and no other request", "fenced: $f", "behind: $b");
	same($l->{elapsed_ns}, $e->{duration_ns}, "$r: elapsed_ns of the duration");
	my ($conn) = grep { $_->{ev} eq 'conn' } @own;
	check($l->{qp} == $conn->{qp} && $l->{cq} == $conn->{'cq.id'} && $l->{peer_run} == $conn->{peer_run},
		"$r: krping_conn has the qp, cq and peer_run of the run's line");
	for (grep { $_->{ev} =~ /^(conn|run_start)$/ } @own) {
		my ($poll) = ($_->{flags} // '') =~ /\b(softirq|workqueue|busy)\b/;
		check(($poll // 'thread') eq $l->{poll_ctx}, "$r: krping_$_->{ev} has the poll_ctx of the run's line");
	}
}
