#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Compares the groups of --by with the single runs: in each line a group has the sums of the runs in that line, the lines of
# intervals add up to the summary, and percentiles are those of all values together.
#
#   by.pl DIR KEY...   DIR has TOOL-KEY.out of each tool and key (-j); those of krping-stages may have the buckets (-H)

use strict;
use warnings;
use JSON::PP;
use List::Util qw(sum0 min max);
use FindBin;
use lib $FindBin::Bin;
use Trace;

my ($dir, @keys) = @ARGV;
my $buckets = 0;

sub lines {
	my ($name) = @_;
	my @all = objects("$dir/$name.out");
	die "$name: no summary\n" unless @all && $all[-1]{final};
	return @all;
}

# What only krping-top tells of runs, by their numbers.
my (%peer, %size);

sub key_of {
	my ($by, $r) = @_;
	return $r->{size} // $size{$r->{run}} // '-' if $by eq 'size';
	# A run that /proc did not list yet has no name of its device.
	return $r->{$by} eq '' ? '-' : $r->{$by} if $by ne 'peer';
	my $a = $r->{dst} // $peer{$r->{run}} // '-';
	$a =~ s/:\d+$//;
	return $a =~ s/^\[(.*)\]$/$1/r;
}

# For each group of a line calls $do with the group and the runs that have its key. Before a run is connected it has no
# peer, and only krping-top tells when that is: of the others the summary is compared.
sub each_group {
	my ($what, $by, $line, $do) = @_;
	my %runs;
	if ($by eq 'peer' && $line->{tool} ne 'krping-top' && !$line->{final}) {
		$do->($_) for @{$line->{groups}};
		return;
	}
	push @{$runs{key_of($by, $_)}}, $_ for @{$line->{runs}};
	equal($what, 'by', $line->{by}, $by);
	equal($what, 'the groups', join(' ', sort map { $_->{group} } @{$line->{groups}}), join(' ', sort keys %runs));
	for my $g (@{$line->{groups}}) {
		my $runs = $runs{$g->{group}} or next;
		equal($what, "$g->{group}: ends", $g->{ends}, scalar @$runs);
		$do->($g, @$runs);
	}
}

sub same_sum {
	my ($what, $of, $g, $name, @parts) = @_;
	my @some = grep { $_->{count} } @parts;
	for my $k (qw(count sum_ns)) {
		equal($what, "$of: $k", $g->{$k}, sum0(map { $_->{$k} } @some));
	}
	return unless @some && !grep { !defined $_->{min_ns} || !defined $_->{max_ns} } @some;
	equal($what, "$of: min_ns", $g->{min_ns}, min(map { $_->{min_ns} } @some));
	equal($what, "$of: max_ns", $g->{max_ns}, max(map { $_->{max_ns} } @some));
}

# The bucket of the nearest rank among all values: a percentile is in it, or at the bound of the values.
sub percentile {
	my ($p, @buckets) = @_;
	my $total = sum0(map { $_->[1] } @buckets) or return;
	my $rank = int(($total * $p + 9999) / 10000) || 1;
	for my $i (0 .. $#buckets) {
		$rank -= $buckets[$i][1];
		return ($buckets[$i][0], $buckets[$i + 1] ? $buckets[$i + 1][0] : 9e18) if $rank <= 0;
	}
}

# The distribution of a group: its buckets are those of its runs together, and so are its percentiles.
sub same_dist {
	my ($what, $of, $g, @parts) = @_;
	my %n;
	same_sum($what, $of, $g, $of, @parts);
	$n{$_->[0]} += $_->[1] for map { @{$_->{buckets} // []} } @parts;
	my @all = map { [$_, $n{$_}] } sort { $a <=> $b } grep { $n{$_} } keys %n;
	$buckets += @all;
	equal($what, "$of: buckets", encode_json([map { [map { 0 + $_ } @$_] } @{$g->{buckets} // []}]),
	      encode_json([map { [map { 0 + $_ } @$_] } @all]));
	my %p = (p50_ns => 5000, p90_ns => 9000, p99_ns => 9900, p999_ns => 9990);
	for my $k (keys %p) {
		my ($low, $high) = percentile($p{$k}, @all) or next;
		my $v = $g->{$k} // next;
		# The next bucket that is not empty may be far: a bucket is a 32nd of its octave.
		$high = min($high, $low + $low / 32 + 1);
		differs $what, "$of: $k is $v, and its rank is from $low to $high" if $v < $low || $v > $high;
	}
}

my %total; # by tool, key and group: the percentiles of all iterations

for my $by (@keys) {
	# --- krping-top ---
	my @lines = lines("krping-top-$by");
	my $what = "krping-top --by $by: a group has the sums of its runs, at each interval and in the end";
	my (%iters, $final);
	for my $r (map { @{$_->{runs}} } @lines) {
		($peer{$r->{run}}, $size{$r->{run}}) = ($r->{dst}, "$r->{size}");
	}
	for my $line (@lines) {
		each_group($what, $by, $line, sub {
			my ($g, @runs) = @_;
			my $of = ($line->{final} ? 'summary, ' : 'interval, ') . $g->{group};
			my %is = (end_iters => 'iters', end_iters_seen => 'iters_seen', end_iters_aborted => 'iters_aborted',
				  wc_err => 'wc_err', wc_flush => 'wc_flush', fastreg => 'fastreg', inv => 'inv', post_err => 'post_err');
			for my $k (keys %is) {
				equal($what, "$of: $k", $g->{$k}, sum0(map { $_->{$is{$k}} } @runs));
			}
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
				same_sum($what, $of, $g, $of, @runs);
				$total{"$by $g->{group}"} = join ' ', map { $_ // '-' } @$g{qw(count sum_ns p50_ns p90_ns p99_ns p999_ns)};
				return;
			}
			equal($what, "$of: interval_end_iters", $g->{interval_end_iters}, sum0(map { $_->{interval_iters} } @runs));
			$iters{$g->{group}} += $g->{interval_end_iters};
		});
	}
	verdict($what);
	$final = $lines[-1];
	$what = "krping-top --by $by: the intervals of a group add up to its summary";
	equal($what, $_->{group}, $iters{$_->{group}}, $_->{end_iters_seen}) for @{$final->{groups}};
	verdict($what);

	# --- krping-stages ---
	@lines = lines("krping-stages-$by");
	$what = "krping-stages --by $by: a group has the sums, and all values, of its runs";
	my $same = "krping-stages --by $by: percentiles of a group are those of krping-top";
	%iters = ();
	for my $line (@lines) {
		each_group($what, $by, $line, sub {
			my ($g, @runs) = @_;
			my $of = ($line->{final} ? 'summary, ' : 'interval, ') . $g->{group};
			$iters{$g->{group}} += $g->{end_iteration}{count} unless $line->{final};
			return unless @runs;
			for my $k (qw(sum_ns window_ns residual_ns holes clock_anomalies unmatched too_long_ns)) {
				equal($what, "$of: $k", $g->{$k}, sum0(map { $_->{$k} } @runs));
			}
			for my $k (qw(count records sum_ns)) {
				equal($what, "$of: not_seen, $k", $g->{not_seen}{$k}, sum0(map { $_->{not_seen}{$k} } @runs));
			}
			equal($what, "$of: residual", "$g->{residual_ns} $g->{residual_ends}", '0 0');
			same_dist($what, "$of: iteration", $g->{end_iteration}, map { $_->{iteration} } @runs);
			same_sum($what, "$of: aborted", $g->{aborted}, '', map { $_->{aborted} } @runs);
			my %of_group = map { $_->{phase} => $_ } @{$g->{phases}};
			my %of_runs;
			push @{$of_runs{$_->{phase}}}, $_ for grep { $_->{count} } map { @{$_->{phases}} } @runs;
			equal($what, "$of: phases", join(' ', sort keys %of_group), join(' ', sort keys %of_runs));
			for my $p (keys %of_runs) {
				my @parts = @{$of_runs{$p}};
				same_dist($what, "$of: $p", $of_group{$p}, @parts);
				for my $stage (keys %{$of_group{$p}{stages} // {}}) {
					same_dist($what, "$of: $p $stage", $of_group{$p}{stages}{$stage},
						  map { $_->{stages}{$stage} // () } @parts);
				}
			}
			return unless $line->{final};
			equal($same, $g->{group}, $total{"$by $g->{group}"},
			      join ' ', map { $_ // '-' } @{$g->{end_iteration}}{qw(count sum_ns p50_ns p90_ns p99_ns p999_ns)})
				if $g->{end_iteration}{count};
		});
	}
	verdict($_) for $what, $same;
	$what = "krping-stages --by $by: the intervals of a group add up to its summary";
	equal($what, $_->{group}, $iters{$_->{group}}, $_->{end_iteration}{count}) for @{$lines[-1]{groups}};
	verdict($what);

	# --- krping-mr ---
	@lines = lines("krping-mr-$by");
	$what = "krping-mr --by $by: a group has the sums of its runs, and the groups all costs";
	my %reg;
	for my $line (@lines) {
		each_group($what, $by, $line, sub {
			my ($g, @runs) = @_;
			my $of = ($line->{final} ? 'summary, ' : 'interval, ') . $g->{group};
			$reg{$g->{group}} += $g->{fastreg} unless $line->{final};
			return unless @runs;
			for my $k (qw(valid_at_attach fastreg localinv reminv readinv freed_valid flushed valid_now freed off_balance
				      invalidated_invalid registered_valid ledger_mismatch map_errors without_completion
				      valid_before not_seen not_seen_records not_seen_ns)) {
				equal($what, "$of: $k", $g->{$k}, sum0(map { $_->{$k} } @runs));
			}
			equal($what, "$of: unbalanced_ends", $g->{unbalanced_ends}, 0);
			equal($what, "$of: not_seen_ends", $g->{not_seen_ends}, scalar grep { $_->{not_seen_records} } @runs);
		});
		my %cost;
		for my $c (map { @{$_->{costs}} } @{$line->{groups}}) {
			$cost{"$c->{pages} $_"} += $c->{$_}{count} * 1e12 + $c->{$_}{sum_ns} for qw(map post done);
		}
		for my $c (@{$line->{costs}}) {
			equal($what, "$c->{pages} pages, $_", $cost{"$c->{pages} $_"} // 0, $c->{$_}{count} * 1e12 + $c->{$_}{sum_ns})
				for qw(map post done);
		}
	}
	verdict($what);
	$what = "krping-mr --by $by: the intervals of a group add up to its summary";
	equal($what, $_->{group}, $reg{$_->{group}}, $_->{fastreg}) for @{$lines[-1]{groups}};
	verdict($what);
}

check(0, 'no buckets') unless $buckets;
