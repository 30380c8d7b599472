#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# overhead.pl PROVIDER: makes a table of the output of overhead.sh and instructions.sh. The ratio is the speed with the
# observer divided by the speed without it. The 95 % interval of its median is made of order statistics (stats.pl).
# An interval wider than 0.03 decides nothing. Exit 2 if a floor is broken or could not be decided.

use strict;
use warnings;
use FindBin;
require "$FindBin::Bin/stats.pl";

my $provider = shift // '-';
my $WIDE = 0.03;
# The goal, and the lowest ratio that is accepted; observers without are only shown for comparison.
my %bound = (
	'krping-top' => [0.985, 0.97],
	'krping-top-screen' => [0.985, 0.97],
	'krping-stages' => [0.965, 0.95],
	'krping-mr' => [0.97, 0.96],
	'all' => [0.95, 0.92],
	'notrace' => [0.998, 0.998],
);
# The most KiB of BPF maps that all tools together may have for 500 runs.
my $MAPS = 64 * 1024;
# The most milliseconds from a tool's start to its first line.
my $START = 400;
# The most instructions that events may cost a ping while they are off.
my $OFF = 260;
my (@more, @order, %ratio, %void, %start, @memory, @programs);

while (<STDIN>) {
	if (/^pair (\S+) \d+ (\d+) (\d+) (-?\d+) (-?\d+)$/) {
		push @order, $1 unless $ratio{$1} || $void{$1};
		if ($4 != $5) { $void{$1}++ } else { push @{ $ratio{$1} }, $2 / $3 }
	} elsif (/^instructions \d+ (-?\d+)$/) {
		push @more, $1;
	} elsif (/^start (\S+) \d+ (\d+)$/) {
		push @{ $start{$1} }, $2;
	} elsif (/^program (\S+) (\S+) (\S+) (\d+)$/) {
		push @programs, [$1, $2, $3, $4, $3 * $4];
	} elsif (/^memory (\S+) (\d+) (\d+) (\d+)$/) {
		push @memory, [$1, $2, $3, $4];
	}
}

my $bad = 0;
printf "%-5s %-17s %5s %5s %8s %18s %6s %6s  %s\n", 'on', 'observer', 'pairs', 'void', 'speed', '95 % interval', 'goal', 'floor',
	'verdict';
for my $o (@order) {
	my @r = sort { $a <=> $b } @{ $ratio{$o} // [] };
	my $k = rank(scalar @r);
	my ($verdict, $bound) = ('', $bound{$o});
	my ($goal, $floor) = @{ $bound // [] };
	if (!$k) {
		$verdict = 'too few pairs';
	} elsif ($r[-$k] - $r[$k - 1] > $WIDE) {
		$verdict = 'inconclusive';
	} else {
		$verdict = verdict(median(@r), $goal, $floor);
	}
	$bad = 1 if $bound && $verdict !~ /^(pass|floor)$/;
	printf "%-5s %-17s %5d %5d %8s %18s %6s %6s  %s\n", $provider, $o, scalar @r, $void{$o} // 0,
		@r ? sprintf('%.4f', median(@r)) : '-', $k ? sprintf('%.4f .. %.4f', $r[$k - 1], $r[-$k]) : '-',
		$goal // '-', $floor // '-', $verdict;
}
if ($ratio{notrace} && !@more) {
	$bad = 1;
	print "\n$provider: no instructions were counted\n";
}
if (@more) {
	my $more = median(@more);
	$bad = 1 if $more > $OFF;
	printf "\n%-5s events off: %.0f instructions a ping (median), at most %d: %s\n", $provider, $more, $OFF,
		$more <= $OFF ? 'kept' : 'BROKEN';
}
if (@programs) {
	printf "\n%-17s %-12s %12s %10s %10s\n", 'BPF programs', 'event', 'calls a ping', 'ns a call', 'ns a ping';
	printf "%-17s %-12s %12.2f %10d %10.0f\n", @$_ for @programs;
}
if (@memory) {
	printf "\n%-17s %8s %14s %14s\n", 'memory', 'runs', 'resident KiB', 'BPF maps KiB';
	for my $m (@memory) {
		my $verdict = '';
		$verdict = $m->[3] <= $MAPS ? "  at most $MAPS: kept" : "  at most $MAPS: BROKEN" if $m->[0] eq 'all' && $m->[1] == 500;
		$bad = 1 if $verdict =~ /BROKEN/;
		printf "%-17s %8d %14d %14d%s\n", @$m, $verdict;
	}
}
if (%start) {
	printf "\n%-17s %8s %14s\n", 'start', 'times', 'median ms';
	for my $t (sort keys %start) {
		my $ms = median(@{ $start{$t} }) / 1000;
		my $verdict = $t !~ /^krping-/ ? '' : $ms <= $START ? "  at most $START: kept" : "  at most $START: BROKEN";
		$bad = 1 if $verdict =~ /BROKEN/;
		printf "%-17s %8d %14.0f%s\n", $t, scalar @{ $start{$t} }, $ms, $verdict;
	}
}
exit($bad ? 2 : 0);
