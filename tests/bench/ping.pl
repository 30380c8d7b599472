#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# ping.pl PROVIDER UNIT: makes a table of the output of ping.sh. UNIT says what the numbers are: instructions or ns. Each
# figure is the median of the rounds, and for times also its ratio to the row softirq, the median of the ratios of each round.
# Exit 2 if a ping of 64 bytes takes more instructions than its bound. That the row thread takes 0.75 of the time of softirq on
# siw is a goal only, since the clock of an emulated machine is noisy.

use strict;
use warnings;
use FindBin;
require "$FindBin::Bin/stats.pl";

my ($provider, $unit) = @ARGV;
my $counts = $unit eq 'instructions';
# The most that is accepted, and what is aimed at.
my %bound = (
	siw => { thread => 153_000, 'thread-chain' => 144_000 },
	rxe => { thread => 138_000, 'thread-chain' => 124_000 },
);
my %goal = (
	siw => { thread => 140_000, 'thread-chain' => 130_000 },
	rxe => { thread => 123_000, 'thread-chain' => 112_000 },
);
my (@rows, %of, %sleeps);

while (<STDIN>) {
	if (/^ping (\S+) (\d+) (-?\d+)$/) {
		push @rows, $1 unless $of{$1};
		push @{ $of{$1}{$2} }, $3;
	} elsif (/^sleeps (\S+) (\S+) (\S+)$/) {
		$sleeps{$1} = "$2 $3";
	}
}
@rows or die "ping.pl: no samples\n";

$counts && !$of{$_}{64} and die "ping.pl: no samples of $_\n" for sort keys %{ $bound{$provider} // {} };
my $bad = 0;
my @sizes = sort { $a <=> $b } keys %{ $of{ $rows[0] } };
printf "%-5s %-16s", 'on', "$unit a ping";
printf " %9s%s", $_ >= 1024 ? $_ / 1024 . ' KiB' : "$_ B", $counts ? '' : '  ratio' for @sizes;
printf " %16s  %s\n", 'sleeps cli srv', 'verdict';
for my $row (@rows) {
	printf "%-5s %-16s", $provider, $row;
	my $verdict = '';
	for my $size (@sizes) {
		my @v = @{ $of{$row}{$size} };
		my $m = median(@v);
		printf " %9.0f", $m;
		my $base = $of{softirq}{$size};
		$base && @$base != @v and die "ping.pl: $row has another number of rounds than softirq\n";
		my $ratio = $base ? median(map { $v[$_] / $base->[$_] } 0 .. $#v) : undef;
		printf " %6s", defined $ratio ? sprintf('%.3f', $ratio) : '-' if !$counts;
		next if $size != 64;
		if ($counts && $bound{$provider}{$row}) {
			$verdict = $m <= $goal{$provider}{$row} ? 'goal kept' : $m <= $bound{$provider}{$row} ? 'bound kept' : 'BROKEN';
		} elsif (!$counts && $provider eq 'siw' && $row eq 'thread' && defined $ratio) {
			$verdict = $ratio <= 0.75 ? 'goal kept' : 'not 0.75';
		}
		$bad = 1 if $verdict eq 'BROKEN';
	}
	printf " %16s  %s\n", $sleeps{$row} // '-', $verdict;
}
exit($bad ? 2 : 0);
