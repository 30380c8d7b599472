#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Adds up the lines of intervals, and compares the sums with the summary, and both with ftrace and /proc/krping_runs.
#
#   interval.pl DIR   DIR has TOOL.out and TOOL-total.out of each tool (-j), trace, and runs

use v5.36;
use FindBin;
use lib $FindBin::Bin;
use Trace;

my ($dir) = @ARGV;

sub lines($name) {
	my @all = objects("$dir/$name.out");
	my $final = pop @all;
	return ($final, @all);
}

# of_run RUN, LINE...: what the lines have of a run.
sub of_run($r, @lines) {
	return grep { $_->{run} == $r->{run} } map { @{$_->{runs}} } @lines;
}

# What ftrace has of each run: complete iterations, and the keys' events in their order.
my (%ends, %keys);
for my $e (events("$dir/trace", 'iter|mr_fastreg|mr_localinv|mr_reminv')) {
	push @{$keys{$e->{run}}}, $1 if $e->{ev} =~ /^mr_(\w+)/;
	push @{$ends{$e->{run}}}, $e->{t} if $e->{ev} eq 'iter' && $e->{flags} =~ /^commit\b/;
}
my %proc = map { $_->{id} => $_ } records("$dir/runs");

# The distributions of a run, by name.
sub dists($r) {
	my %d = (iteration => $r->{iteration}, aborted => $r->{aborted});
	for my $p (@{$r->{phases}}) {
		$d{$p->{phase}} = $p;
		$d{"$p->{phase} $_"} = $p->{stages}{$_} for keys %{$p->{stages} // {}};
	}
	return %d;
}

sub spans($tool, $final, @lines) {
	my $what = "$tool: lines are of the interval, and the summary of all";
	equal($what, 'a line', $_->{span}, 'interval') for @lines;
	equal($what, 'lines, and the summary', (@lines > 0) . " $final->{span}", '1 total');
	verdict($what);
}

# --- krping-stages ---
my ($final, @lines) = lines('krping-stages');
spans('krping-stages', $final, @lines);
my $sums = 'krping-stages: intervals add up to the summary';
my $each = 'krping-stages: each interval has the iterations that ftrace has in it';
my $rest = 'krping-stages: the residual of each interval is 0';
my $several = 0;
for my $r (@{$final->{runs}}) {
	my @parts = of_run($r, @lines);
	my %all = dists($r);
	my @d = map { { dists($_) } } @parts;
	for my $name (sort keys %all) {
		same_sum($sums, "run $r->{run} $name", $all{$name}, map { $_->{$name} // () } @d);
	}
	equal($sums, "run $r->{run}: not seen", $r->{not_seen}{records}, 0);
	same_sums($sums, "run $r->{run}", $r, \@parts, qw(sum_ns window_ns holes unmatched clock_anomalies));
	equal($sums, "run $r->{run}: iterations of /proc", $r->{iteration}{count}, $proc{$r->{run}}{iters});
	my $t = $proc{$r->{run}}{start_ns};
	for my $p (@parts) {
		my $end = $t + $p->{window_ns};
		my $n = grep { $_ > $t && $_ <= $end } @{$ends{$r->{run}} // []};
		equal($each, "run $r->{run}", $p->{iteration}{count}, $n);
		equal($rest, "run $r->{run}", "residual $p->{residual_ns}", 'residual 0');
		$several++ if $n && $n < $r->{iteration}{count};
		$t = $end;
	}
}
differs $each, 'no interval has a part of a run' unless $several;
verdict($_) for $sums, $each, $rest;

# --- krping-mr ---
($final, @lines) = lines('krping-mr');
spans('krping-mr', $final, @lines);
$sums = 'krping-mr: intervals add up to the summary';
$each = 'krping-mr: each interval has the events that ftrace has in it';
$rest = 'krping-mr: the ledger of each interval balances';
$several = 0;
for my $r (@{$final->{runs}}) {
	my (%sum, %seen);
	my @order = @{$keys{$r->{run}} // []};
	for my $p (of_run($r, @lines)) {
		$sum{$_} += $p->{$_} for qw(fastreg localinv reminv readinv freed_valid flushed freed);
		equal($rest, "run $r->{run}",
		      $p->{valid_before} + $p->{valid_at_attach} + $p->{fastreg} - $p->{localinv} - $p->{reminv} -
		      $p->{readinv} - $p->{freed_valid} - $p->{flushed}, $p->{valid_now});
		equal($rest, "run $r->{run}", "off_balance $p->{off_balance}", 'off_balance 0');
		# One thread raises these events, so the first $n of ftrace's events must be of these kinds.
		my $n = $sum{fastreg} + $sum{localinv} + $sum{reminv};
		%seen = (fastreg => 0, localinv => 0, reminv => 0);
		$seen{$_}++ for @order[0 .. $n - 1];
		equal($each, "run $r->{run}: $_ so far", $sum{$_}, $seen{$_}) for sort keys %seen;
		$several++ if $n && $n < @order;
	}
	equal($sums, "run $r->{run}: $_", $sum{$_}, $r->{$_}) for sort keys %sum;
	equal($sums, "run $r->{run}: $_ of /proc", $r->{$_}, $proc{$r->{run}}{$_}) for qw(fastreg localinv reminv);
	equal($each, "run $r->{run}: all", $r->{fastreg} + $r->{localinv} + $r->{reminv}, scalar @order);
}
differs $each, 'no interval has a part of a run' unless $several;
same_costs($sums, $final, @lines);
for my $i (@{$final->{invalidations}}) {
	my @parts = grep { $_->{by} eq $i->{by} } map { @{$_->{invalidations}} } @lines;
	for my $k (qw(post done)) {
		same_sum($sums, "$i->{by} $k", $i->{$k}, map { $_->{$k} } @parts);
	}
}
verdict($_) for $sums, $each, $rest;

# The sums of krping-top are for by.pl.
spans('krping-top', lines('krping-top'));

# --- with --total ---
for my $tool (qw(krping-top krping-stages krping-mr)) {
	my $what = "$tool --total: lines grow up to the summary";
	($final, @lines) = lines("$tool-total");
	differs $what, "span $_->{span}" for grep { $_->{span} ne 'total' } @lines;
	my $number = sub ($r) {
		return $tool eq 'krping-stages' ? $r->{iteration}{count} :
		       $tool eq 'krping-mr'     ? $r->{fastreg} : $r->{interval_iters} // $r->{iters_seen};
	};
	my $grew = 0;
	for my $r (@{$final->{runs}}) {
		my ($last, $n) = (0);
		for my $p (of_run($r, @lines)) {
			$n = $number->($p);
			differs $what, "run $r->{run}: $n after $last" if $n < $last;
			$grew++ if $last && $n > $last;
			$last = $n;
		}
		equal($what, "run $r->{run}: the last line", $last, $number->($r));
	}
	differs $what, 'no line has more than the one before' unless $grew;
	verdict($what);
}
