#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Checks the histograms of -H against their counts.
#
#   histograms.pl buckets TITLE JSON                histograms of -j -H
#   histograms.pl text TITLE FILE JSON              histograms of -H

use v5.36;
use List::Util qw(sum0);
use FindBin;
use lib $FindBin::Bin;
use Trace;

my ($what, $title, $file, @rest) = @ARGV;

$Trace::title = "$title: ";

if ($what eq 'buckets') {
	my ($nr, @why) = (0);
	my $look;
	$look = sub ($v, $path) {
		if (ref $v eq 'ARRAY') {
			$look->($v->[$_], "$path.$_") for 0 .. $#$v;
		} elsif (ref $v eq 'HASH') {
			$look->($v->{$_}, "$path.$_") for grep { $_ ne 'buckets' } keys %$v;
			my $b = $v->{buckets} // return;
			$nr++;
			my $sum = sum0(map { $_->[1] } @$b);
			push @why, "$path: $sum in buckets, count $v->{count}" if $sum != $v->{count};
		}
	};
	$look->(last_object($file), '');
	check($nr > 2 && !@why, "the buckets of all $nr histograms add up to their counts", @why);
} elsif ($what eq 'text') {
	my $o = last_object($rest[0]);
	my (%sum, %want, $name);
	for (split /\n/, slurp($file)) {
		if (/^  +\S+ \.\. \S* +(\d+) \|\** *\|$/) {
			$sum{$name} += $1;
		} else {
			$name = $_;
		}
	}
	for my $r (grep { $_->{iteration} } @{$o->{runs}}) {
		$want{iteration} += $r->{iteration}{count};
		for my $p (grep { $_->{kind} eq 'iteration' } @{$r->{phases}}) {
			$want{$p->{phase}} += $p->{count};
			$want{"$p->{phase}, $_"} += $p->{stages}{$_}{count} for keys %{$p->{stages} // {}};
		}
	}
	for my $c (@{$o->{costs} // []}) {
		$want{"$c->{pages} pages, $_"} += $c->{$_}{count} for qw(map post done);
	}
	my @why = counts_differ(\%sum, \%want);
	my $nr = grep { $_ } values %want;
	check($nr && !@why, "the bars of $nr histograms add up to the counts of -j", @why);
} else {
	die "what is $what?\n";
}
