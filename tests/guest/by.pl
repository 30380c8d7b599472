#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Compares the groups of krping-top --by with the single runs: in each line a group has the sums of the runs in that line, the lines
# of intervals add up to the summary, and percentiles are those of all values together, as krping-stages has them.
#
#   by.pl DIR KEY...   DIR has krping-top-KEY.out of each key (-j), and krping-stages.out, with the buckets (-j -H)

use v5.36;
use JSON::PP;
use List::Util qw(sum0 min);
use FindBin;
use lib $FindBin::Bin;
use Trace;

my ($dir, @keys) = @ARGV;

sub key_of($by, $r) {
	# A run that /proc did not list yet has no name of its device.
	return $r->{$by} eq '' ? '-' : $r->{$by} if $by ne 'peer';
	my $a = $r->{dst} =~ s/:\d+$//r;
	return $a =~ s/^\[(.*)\]$/$1/r;
}

# For each group of a line calls $do with the group, its name, and the runs that have its key.
sub each_group($what, $by, $line, $do) {
	my %runs;
	push @{$runs{key_of($by, $_)}}, $_ for @{$line->{runs}};
	equal($what, 'by', $line->{by}, $by);
	equal($what, 'the groups', join(' ', sort map { $_->{group} } @{$line->{groups}}), join(' ', sort keys %runs));
	for my $g (@{$line->{groups}}) {
		my $runs = $runs{$g->{group}} or next;
		equal($what, "$g->{group}: ends", $g->{ends}, scalar @$runs);
		$do->($g, ($line->{final} ? 'summary, ' : 'interval, ') . $g->{group}, @$runs);
	}
}

# The percentiles of a group are those of the buckets of its runs together; their number.
sub same_percentiles($what, $of, $g, @parts) {
	my %n;
	$n{$_->[0]} += $_->[1] for map { @{$_->{buckets}} } @parts;
	my @low = sort { $a <=> $b } grep { $n{$_} } keys %n;
	equal($what, "$of: values", $g->{count}, sum0(values %n));
	for my $k (@low ? qw(p50_ns p90_ns p99_ns p999_ns) : ()) {
		# The bucket of the nearest rank among all values: a bucket is a 32nd of its octave, and the next one that is not
		# empty may be far.
		my ($i, $rank) = (-1, rank($k, sum0(values %n)));
		$rank -= $n{$low[++$i]} while $rank > 0;
		my $high = min($low[$i + 1] // 9e18, $low[$i] + $low[$i] / 32 + 1);
		differs $what, "$of: $k is $g->{$k}, and its rank is from $low[$i] to $high" if $g->{$k} < $low[$i] || $g->{$k} > $high;
	}
	return scalar @low;
}

my %iteration = map { $_->{run} => $_->{iteration} } @{last_object("$dir/krping-stages.out")->{runs}};
my $buckets = 0;
for my $by (@keys) {
	my @lines = objects("$dir/krping-top-$by.out");
	die "krping-top-$by: no summary\n" unless @lines && $lines[-1]{final};
	my $what = "krping-top --by $by: a group has the sums of its runs, at each interval and in the end";
	my $all = "krping-top --by $by: percentiles of a group are those of all values";
	my $sum = "krping-top --by $by: the intervals of a group add up to its summary";
	my %seen;
	for my $line (@lines) {
		each_group($what, $by, $line, sub ($g, $of, @runs) {
			same_sums($what, $of, $g, \@runs, { map { ("end_$_" => $_) } qw(iters iters_seen iters_aborted) },
				  qw(wc_err wc_flush fastreg inv post_err));
			my (%ns, %count);
			for my $p (map { @{$_->{phases}} } @runs) {
				$ns{$p->{phase}} += $p->{sum_ns};
				$count{$p->{phase}} += $p->{count};
			}
			my %of_group = map { $_->{phase} => $_ } @{$g->{phases}};
			for my $p (keys %ns) {
				equal($what, "$of: $p", "$of_group{$p}{count} $of_group{$p}{sum_ns}", "$count{$p} $ns{$p}");
			}
			if ($line->{final}) {
				same_sum($what, $of, $g, @runs);
				$buckets += same_percentiles($all, $of, $g, map { $iteration{$_->{run}} } @runs);
				equal($sum, $g->{group}, $seen{$g->{group}}, $g->{end_iters_seen});
			} else {
				same_sums($what, $of, $g, \@runs, { interval_end_iters => 'interval_iters' });
				$seen{$g->{group}} += $g->{interval_end_iters};
			}
		});
	}
	verdict($_) for $what, $all, $sum;
}

check(0, 'no buckets') unless $buckets;
