#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Compares the groups of --by with the single runs: in each line a group has the sums of the runs in that line, the lines of
# intervals add up to the summary, and percentiles are those of all values together.
#
#   by.pl DIR KEY...   DIR has TOOL-KEY.out of each tool and key (-j); those of krping-stages may have the buckets (-H)

use v5.36;
use JSON::PP;
use List::Util qw(sum0 min);
use FindBin;
use lib $FindBin::Bin;
use Trace;

my ($dir, @keys) = @ARGV;
my $buckets = 0;

# What only krping-top tells of runs, by their numbers.
my (%peer, %size);

sub key_of($by, $r) {
	return $r->{size} // $size{$r->{run}} // '-' if $by eq 'size';
	# A run that /proc did not list yet has no name of its device.
	return $r->{$by} eq '' ? '-' : $r->{$by} if $by ne 'peer';
	my $a = $r->{dst} // $peer{$r->{run}} // '-';
	$a =~ s/:\d+$//;
	return $a =~ s/^\[(.*)\]$/$1/r;
}

# For each group of a line calls $do with the group, its name, and the runs that have its key. Before a run is connected it has no
# peer, and only krping-top tells when that is: of the others the summary is compared.
sub each_group($what, $by, $line, $do) {
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
		$do->($g, ($line->{final} ? 'summary, ' : 'interval, ') . $g->{group}, @$runs);
	}
}

# The distribution of a group: its buckets are those of its runs together, and so are its percentiles.
sub same_dist($what, $of, $g, @parts) {
	my %n;
	same_sum($what, $of, $g, @parts);
	$n{$_->[0]} += $_->[1] for map { @{$_->{buckets} // []} } @parts;
	my @low = sort { $a <=> $b } grep { $n{$_} } keys %n;
	$buckets += @low;
	equal($what, "$of: buckets", join(' ', map { "@$_" } @{$g->{buckets} // []}), join(' ', map { "$_ $n{$_}" } @low));
	for my $k (@low ? grep { defined $g->{$_} } qw(p50_ns p90_ns p99_ns p999_ns) : ()) {
		# The bucket of the nearest rank among all values: a bucket is a 32nd of its octave, and the next one that is not
		# empty may be far.
		my ($i, $rank) = (-1, rank($k, sum0(values %n)));
		$rank -= $n{$low[++$i]} while $rank > 0;
		my $high = min($low[$i + 1] // 9e18, $low[$i] + $low[$i] / 32 + 1);
		differs $what, "$of: $k is $g->{$k}, and its rank is from $low[$i] to $high" if $g->{$k} < $low[$i] || $g->{$k} > $high;
	}
}

# The lines of intervals have, for each group, as many as the summary: $count says of what.
sub add_up($tool, $by, $count, @lines) {
	my $what = "$tool --by $by: the intervals of a group add up to its summary";
	my ($final, %sum) = pop @lines;
	$sum{$_->{group}} += $count->($_) for map { @{$_->{groups}} } @lines;
	equal($what, $_->{group}, $sum{$_->{group}}, $count->($_)) for @{$final->{groups}};
	verdict($what);
}

my @figures = qw(count sum_ns p50_ns p90_ns p99_ns p999_ns);
for my $by (@keys) {
	my %lines;
	for my $tool (qw(krping-top krping-stages krping-mr)) {
		$lines{$tool} = [objects("$dir/$tool-$by.out")];
		die "$tool-$by: no summary\n" unless @{$lines{$tool}} && $lines{$tool}[-1]{final};
	}
	my @lines = @{$lines{'krping-top'}};
	my $what = "krping-top --by $by: a group has the sums of its runs, at each interval and in the end";
	my %total; # by group: the percentiles of all iterations
	($peer{$_->{run}}, $size{$_->{run}}) = ($_->{dst}, "$_->{size}") for map { @{$_->{runs}} } @lines;
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
				$total{$g->{group}} = join ' ', map { $_ // '-' } @$g{@figures};
			} else {
				same_sums($what, $of, $g, \@runs, { interval_end_iters => 'interval_iters' });
			}
		});
	}
	verdict($what);
	add_up('krping-top', $by, sub { $_[0]{interval_end_iters} // $_[0]{end_iters_seen} }, @lines);

	@lines = @{$lines{'krping-stages'}};
	$what = "krping-stages --by $by: a group has the sums, and all values, of its runs";
	my $same = "krping-stages --by $by: percentiles of a group are those of krping-top";
	for my $line (@lines) {
		each_group($what, $by, $line, sub ($g, $of = undef, @runs) {
			return unless @runs;
			same_sums($what, $of, $g, \@runs, qw(sum_ns window_ns residual_ns holes clock_anomalies unmatched too_long_ns));
			same_sums($what, "$of: not_seen", $g->{not_seen}, [map { $_->{not_seen} } @runs], qw(count records sum_ns));
			equal($what, "$of: residual", "$g->{residual_ns} $g->{residual_ends}", '0 0');
			same_dist($what, "$of: iteration", $g->{end_iteration}, map { $_->{iteration} } @runs);
			same_sum($what, "$of: aborted", $g->{aborted}, map { $_->{aborted} } @runs);
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
			equal($same, $g->{group}, $total{$g->{group}}, join ' ', map { $_ // '-' } @{$g->{end_iteration}}{@figures})
				if $line->{final} && $g->{end_iteration}{count};
		});
	}
	verdict($_) for $what, $same;
	add_up('krping-stages', $by, sub { $_[0]{end_iteration}{count} }, @lines);

	@lines = @{$lines{'krping-mr'}};
	$what = "krping-mr --by $by: a group has the sums of its runs, and the groups all costs";
	for my $line (@lines) {
		each_group($what, $by, $line, sub ($g, $of = undef, @runs) {
			return unless @runs;
			same_sums($what, $of, $g, \@runs, qw(valid_at_attach fastreg localinv reminv readinv freed_valid flushed valid_now freed
				off_balance invalidated_invalid registered_valid ledger_mismatch map_errors without_completion
				valid_before not_seen not_seen_records not_seen_ns not_followed));
			equal($what, "$of: unbalanced_ends", $g->{unbalanced_ends}, 0);
			equal($what, "$of: not_seen_ends", $g->{not_seen_ends}, scalar grep { $_->{not_seen_records} } @runs);
		});
		same_costs($what, $line, @{$line->{groups}});
	}
	verdict($what);
	add_up('krping-mr', $by, sub { $_[0]{fastreg} }, @lines);
}

check(0, 'no buckets') unless $buckets;
