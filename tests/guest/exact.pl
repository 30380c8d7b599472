#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Compares the distributions that tools show with those computed here from ftrace's full recording of the same runs. The
# computation follows docs/events.md, not the tools' code.
#
#   exact.pl distributions TRACE STAGES MR TOP   what each tool has written with -j
#   exact.pl counts TRACE STAGES MR TOP EVENTS RESULTS   also all that krping-trace -j wrote, and lines of /proc/krping_runs

use strict;
use warnings;
use List::Util qw(sum0);
use FindBin;
use lib $FindBin::Bin;
use Trace;

my ($what, $trace, $stages, $mr, $top, $events, $results) = @ARGV;

# All have as many of each event as ftrace, in all and for each run.
if ($what eq 'counts') {
	my (%n, %got, %differs);
	my $count = sub {
		my ($in, $regex, $run_is, $kind_is) = @_;
		for (split /\n/, slurp($in eq 'trace' ? $trace : $events)) {
			my ($name) = /$regex/ or next;
			my ($run) = /$run_is/;
			my $of = $in eq 'trace' ? $n{$run} //= {} : $got{$run} //= {};
			$of->{$name}++;
			$of->{"$name:$1"}++ if $name ne 'post_recv' && /$kind_is/;
		}
	};
	$count->('trace', qr/: krping_(\w+): run=/, qr/ run=(\d+)/, qr/ kind=(\w+)/);
	$count->('tool', qr/"event": ?"(\w+)"/, qr/"run": ?(\d+)/, qr/"kind": ?"(\w+)"/);
	my $equal = sub {
		my ($tool, $run, $key, $is, $want) = @_;
		push @{$differs{$tool}}, "run $run: $key $is, and ftrace has $want" if $is != $want;
	};
	for my $run (keys %n, keys %got) {
		my %keys = (%{$n{$run} // {}}, %{$got{$run} // {}});
		$equal->('krping-trace', $run, $_, $got{$run}{$_} // 0, $n{$run}{$_} // 0) for keys %keys;
	}
	# The counts that a tool has for a run, by the names of its JSON.
	my %tools = ('krping-stages' => last_object($stages), 'krping-mr' => last_object($mr), 'krping-top' => last_object($top));
	my %runs = ('krping-trace' => scalar keys %got);
	for my $tool (keys %tools) {
		for my $r (@{$tools{$tool}{runs}}) {
			my $e = $n{$r->{run}} // {};
			my $pings = ($e->{mr_fastreg} // 0) / 2;
			my $is = sub { $equal->($tool, $r->{run}, $_[0], $r->{$_[0]} // -1, $_[1]) };
			$runs{$tool}++;
			if ($tool eq 'krping-mr') {
				$is->($_, $e->{"mr_$_"} // 0) for qw(fastreg localinv reminv);
				$is->('off_balance', 0);
			} elsif ($tool eq 'krping-top') {
				$is->('iters_seen', $pings);
				$is->('wc_err', 0);
			} else {
				$is->($_, 0) for qw(residual_ns holes unmatched);
				$equal->($tool, $r->{run}, $_->{phase}, $_->{count}, $pings)
					for grep { $_->{kind} eq 'iteration' } @{$r->{phases}};
			}
		}
	}
	for my $k (records($results)) {
		my $e = $n{$k->{id}} // {};
		# What was posted, of which the last SEND may be flushed where the peer leaves first (see ping.t), and RECVs that completed.
		my %kinds = (send => [qw(SEND SEND_WITH_INV)], recv => ['RECV'], read => ['READ'], write => ['WRITE']);
		$runs{'/proc'}++;
		for my $key (sort keys %kinds) {
			my $event = $key eq 'recv' ? 'wc' : 'post_send';
			$equal->('/proc', $k->{id}, $key, $k->{"${key}_msgs"} // -1, sum0(map { $e->{"$event:$_"} // 0 } @{$kinds{$key}}));
		}
	}
	my $all = sum0(map { my $r = $_; map { /:/ ? () : $n{$r}{$_} } keys %{$n{$r}} } keys %n);
	for my $who (sort(keys %tools), 'krping-trace', '/proc') {
		check(($runs{$who} // 0) == keys %n && !$differs{$who},
		      "$who: what ftrace has, $all events of " . keys(%n) . ' runs',
		      'runs: ' . ($runs{$who} // 0), @{$differs{$who} // []});
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

# The percentile by nearest rank; $p is in hundredths of a per cent.
sub percentile {
	my ($v, $p) = @_;
	my $rank = int((@$v * $p + 9999) / 10000) || 1;
	return $v->[$rank - 1];
}

my (@far, @outside, @inexact, $nr);
sub compare {
	my ($what, $got, $v) = @_;
	$v //= [];
	$nr++;
	my %want = (count => scalar @$v, sum_ns => sum0(@$v));
	@want{qw(min_ns max_ns)} = ($v->[0], $v->[-1]) if @$v;
	for my $k (sort keys %want) {
		my $is = $got->{$k} // -1;
		push @inexact, "$what: $k $is, and $want{$k} is right" if $is != $want{$k};
	}
	return unless @$v;
	for (['p50_ns', 5000], ['p90_ns', 9000], ['p99_ns', 9900], ['p999_ns', 9990]) {
		my ($k, $p) = @$_;
		my $want = percentile($v, $p);
		my $is = $got->{$k} // 1e18;
		push @far, "$what: $k $is, and $want is right" if abs($is - $want) > $want / 32 + 1;
		push @outside, "$what: $k $is is not in $v->[0]..$v->[-1]" if $is < $v->[0] || $is > $v->[-1];
	}
}

sub verdict {
	my $tool = shift;
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
verdict('krping-stages');

for my $cost (@{last_object($mr)->{costs}}) {
	compare("$cost->{pages} pages $_", $cost->{$_}, $values{"$cost->{pages} $_"}) for qw(map post done);
}
verdict('krping-mr');

compare("run $_->{run}", $_, $values{"$_->{run} iteration"}) for @{last_object($top)->{runs}};
verdict('krping-top');
