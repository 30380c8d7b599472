#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Compares the distributions that tools show with those computed here from ftrace's full recording of the same runs. The
# computation follows docs/events.md, not the tools' code.
#
#   exact.pl distributions TRACE STAGES MR TOP   what each tool has written with -j
#   exact.pl counts TRACE STAGES MR TOP EVENTS RESULTS   also all that krping-trace -j wrote, and lines of /proc/krping_runs

use v5.36;
use List::Util qw(sum0);
use FindBin;
use lib $FindBin::Bin;
use Trace;

my ($what, $trace, $stages, $mr, $top, $events, $results) = @ARGV;

# All have as many of each event as ftrace, in all and for each run.
if ($what eq 'counts') {
	# count FILE, NAME, RUN, KIND: how often each event comes in the lines of a file, by run; the others are regular expressions.
	my $count = sub ($file, $name_is, $run_is, $kind_is) {
		my %n;
		for (split /\n/, slurp($file)) {
			my ($name) = /$name_is/ or next;
			my ($run) = /$run_is/;
			$n{$run}{$name}++;
			$n{$run}{"$name:$1"}++ if $name ne 'post_recv' && /$kind_is/;
		}
		return \%n;
	};
	my $n = $count->($trace, qr/: krping_(\w+): run=/, qr/ run=(\d+)/, qr/ kind=(\w+)/);
	my $got = $count->($events, qr/"event": ?"(\w+)"/, qr/"run": ?(\d+)/, qr/"kind": ?"(\w+)"/);
	my (%differs, %runs);
	# figures HASH, NAME...: some of its figures, -1 for one that is missing.
	my $figures = sub { my $of = shift; return map { $_ => $of->{$_} // -1 } @_ };
	# same WHO, RUN, GOT, WANTED: what WHO counts for a run, by names, and what ftrace has.
	my $same = sub ($who, $run, $is, $want) {
		$runs{$who}++;
		push @{$differs{$who}}, map { "run $run: $_" } counts_differ($is, $want);
	};
	$same->('krping-trace', $_, $got->{$_}, $n->{$_} // {}) for keys %$got;
	for my $r (@{last_object($stages)->{runs}}) {
		my @phases = grep { $_->{kind} eq 'iteration' } @{$r->{phases}};
		my $pings = $n->{$r->{run}}{mr_fastreg} / 2;
		$same->('krping-stages', $r->{run}, { $figures->($r, qw(residual_ns holes unmatched)), map { $_->{phase} => $_->{count} } @phases },
			{ map { $_->{phase} => $pings } @phases });
	}
	for my $r (@{last_object($mr)->{runs}}) {
		$same->('krping-mr', $r->{run}, { $figures->($r, qw(fastreg localinv reminv off_balance)) },
			{ map { $_ => $n->{$r->{run}}{"mr_$_"} } qw(fastreg localinv reminv) });
	}
	for my $r (@{last_object($top)->{runs}}) {
		$same->('krping-top', $r->{run}, { $figures->($r, qw(iters_seen wc_err)) }, { iters_seen => $n->{$r->{run}}{mr_fastreg} / 2 });
	}
	# What was posted, of which the last SEND may be flushed (figures_are() in lib-tools.sh), and RECVs that completed.
	my %is = (send_msgs => [qw(post_send:SEND post_send:SEND_WITH_INV)], recv_msgs => ['wc:RECV'], read_msgs => ['post_send:READ'],
		write_msgs => ['post_send:WRITE']);
	for my $k (records($results)) {
		my $e = $n->{$k->{id}};
		$same->('/proc', $k->{id}, { $figures->($k, keys %is) }, { map { my $key = $_; $key => sum0(map { $e->{$_} // 0 } @{$is{$key}}) } keys %is });
	}
	my $all = sum0(map { my $r = $_; map { /:/ ? () : $n->{$r}{$_} } keys %{$n->{$r}} } keys %$n);
	for my $who (qw(krping-mr krping-stages krping-top krping-trace /proc)) {
		check(($runs{$who} // 0) == keys %$n && !@{$differs{$who}}, "$who: what ftrace has, $all events of " . keys(%$n) . ' runs',
		      'runs: ' . ($runs{$who} // 0), @{$differs{$who}});
	}
	exit;
}

# Value lists by "RUN PHASE", "RUN PHASE STAGE", "RUN iteration", and "PAGES COST".
my (%values, %pending, %begin, %chain, %open);
for my $e (events($trace)) {
	my ($name, $run) = @$e{qw(ev run)};
	if ($name eq 'phase') {
		my $of = $e->{prev};
		push @{$pending{$run}}, ["$run $of", $e->{t} - $e->{t_prev}] if $begin{$run};
		if ($e->{flags} =~ /commit/) {
			push @{$values{$_->[0]}}, $_->[1] for @{$pending{$run}};
			push @{$values{"$run iteration"}}, $e->{t} - $begin{$run};
		}
		if ($e->{flags} =~ /commit/ || $of =~ /^(connect|accept)$/) {
			$pending{$run} = [];
			$begin{$run} = $e->{t};
		}
	} elsif ($name eq 'wait') {
		my @ns = split ' ', stages_of($e, 0);
		my @stage = qw(post wire cq wake);
		push @{$pending{$run}}, map { ["$run $e->{phase} $stage[$_]", $ns[$_]] } grep { $ns[$_] ne '-' } 0 .. 3;
	} elsif ($name eq 'mr_map') {
		push @{$values{"$e->{pages} map"}}, $e->{cost_ns};
	} elsif ($name eq 'mr_fastreg') {
		$open{$e->{run}}{$e->{cid}} = { pages => $e->{pages} };
	} elsif ($name eq 'post_send') {
		# All requests of a chain have the same t; the call returns with the cid of the first one.
		my $c = $chain{$run};
		$chain{$run} = $c = { t => $e->{t}, cid => $e->{cid} } if !$c || $c->{t} != $e->{t};
		push @{$c->{reg}}, $open{$run}{$e->{cid}} if $e->{kind} eq 'REG_MR';
		$open{$run}{$e->{cid}}{t} = $e->{t} if $e->{kind} eq 'REG_MR';
	} elsif ($name eq 'post_return') {
		my $c = $chain{$run} // next;
		next if $c->{cid} != $e->{cid};
		push @{$values{"$_->{pages} post"}}, $e->{t} - $c->{t} for @{$c->{reg} // []};
	} elsif ($name eq 'wc' && $e->{kind} ne 'RECV') {
		for my $cid (grep { $_ < $e->{cid} } keys %{$open{$run}}) {
			my $reg = delete $open{$run}{$cid};
			push @{$values{"$reg->{pages} done"}}, $e->{t} - $reg->{t};
		}
	}
}
$_ = [sort { $a <=> $b } @$_] for values %values;

my (@far, @outside, @inexact, $nr);
sub compare($what, $got, $v) {
	$v //= [];
	$nr++;
	my %want = (count => scalar @$v, sum_ns => sum0(@$v), @$v ? (min_ns => $v->[0], max_ns => $v->[-1]) : ());
	for my $k (sort keys %want) {
		my $is = $got->{$k} // -1;
		push @inexact, "$what: $k $is, and $want{$k} is right" if $is != $want{$k};
	}
	for my $k (@$v ? qw(p50_ns p90_ns p99_ns p999_ns) : ()) {
		my $want = $v->[rank($k, scalar @$v) - 1];
		my $is = $got->{$k} // 1e18;
		push @far, "$what: $k $is, and $want is right" if abs($is - $want) > $want / 32 + 1;
		push @outside, "$what: $k $is is not in $v->[0]..$v->[-1]" if $is < $v->[0] || $is > $v->[-1];
	}
}

sub all_of($tool) {
	check($nr > 0 && !@inexact, "$tool: count, sum, minimum and maximum of $nr distributions are exact", @inexact);
	check(!@far, "$tool: percentiles are within 1/32 of the exact ones", @far);
	check(!@outside, "$tool: and within minimum and maximum", @outside);
	(@far, @outside, @inexact, $nr) = ();
}

for my $run (@{last_object($stages)->{runs}}) {
	my $id = $run->{run};
	compare("run $id iteration", $run->{iteration}, $values{"$id iteration"});
	for my $p (grep { $_->{kind} eq 'iteration' } @{$run->{phases}}) {
		compare("run $id $p->{phase}", $p, $values{"$id $p->{phase}"});
		for my $s (sort keys %{$p->{stages} // {}}) {
			compare("run $id $p->{phase} $s", $p->{stages}{$s}, $values{"$id $p->{phase} $s"});
		}
	}
}
all_of('krping-stages');

for my $cost (@{last_object($mr)->{costs}}) {
	compare("$cost->{pages} pages $_", $cost->{$_}, $values{"$cost->{pages} $_"}) for qw(map post done);
}
all_of('krping-mr');

compare("run $_->{run}", $_, $values{"$_->{run} iteration"}) for @{last_object($top)->{runs}};
all_of('krping-top');
