#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The statistics of the tables of make bench, their verdicts, and the file that they leave for programs. A script that makes a
# table requires this file.

use strict;
use warnings;
use JSON::PP;

sub median {
	my @s = sort { $a <=> $b } @_;
	return @s % 2 ? $s[$#s / 2] : ($s[@s / 2 - 1] + $s[@s / 2]) / 2;
}

# rank N: the k-th and the (n+1-k)-th of N values enclose their distribution's median with a probability of 95 % at least,
# whatever the distribution (P of a binomial(n, 1/2)). This is the largest such k; 0: N is too small.
sub rank {
	my $n = shift;
	my ($k, $tail, $c) = (0, 0, 1);
	for my $i (0 .. $n) {
		$tail += $c / 2**$n;
		last if 2 * $tail > 0.05;
		$k = $i + 1;
		$c = $c * ($n - $i) / ($i + 1);
	}
	return $k;
}

# interval RATIO...: the 95 % interval of the median, as (low, high); () if there are too few.
sub interval {
	my @s = sort { $a <=> $b } @_;
	my $k = rank(scalar @s);
	return $k ? ($s[$k - 1], $s[-$k]) : ();
}

# verdict VALUE GOAL FLOOR [MOST]: "pass" if the value reaches the goal, "floor" if it reaches only the floor, else "fail". With
# MOST, goal and floor are the most that it may be, otherwise the least. Without a goal: "-".
sub verdict {
	my ($value, $goal, $floor, $most) = @_;
	return '-' unless defined $goal;
	my $sign = $most ? -1 : 1;
	return $sign * $value >= $sign * $goal ? 'pass' : $sign * $value >= $sign * $floor ? 'floor' : 'fail';
}

# records FILE COMMON: opens FILE; returns a function that writes a line to it, an object of the keys of COMMON and of its arguments.
sub records {
	my ($file, $common) = @_;
	my $json = JSON::PP->new->canonical;
	open my $out, '>', $file or die "$file: $!\n";
	return sub { print $out $json->encode({ %$common, @_ }), "\n" or die "$file: $!\n" };
}

1;
