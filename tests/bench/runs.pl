#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# runs.pl PROVIDER UNIT FILE: makes a table of the output of runs.sh: for each count of runs the median of the rounds' rates, and its
# ratio to the best median of a smaller count, which must not be below 0.85; then the module's own memory for a run, which must be
# below 32 KiB. FILE gets each sample and each row as a line of JSON. Exit 2 if a row fails, or memory was not measured.

use strict;
use warnings;
use FindBin;
require "$FindBin::Bin/stats.pl";

my ($provider, $unit, $file) = @ARGV;
my ($LEAST, $MOST) = (0.85, 32 * 1024 - 1);
my (%rates, @memory);
my $record = records($file, { table => 'runs', provider => $provider, unit => $unit });
while (<STDIN>) {
	if (/^rate (\d+) (\d+) ([\d.]+)$/) {
		push @{ $rates{$1} }, $3 + 0;
		$record->(runs => $1 + 0, round => $2 + 0, rate => $3 + 0);
	} elsif (/^memory (\d+) (\d+) (\d+)$/ && $1 && $2) {
		push @memory, [$2 / $1, $3 / $1];
	}
}
%rates or die "runs.pl: no samples\n";

my ($bad, $best) = (0, undef);
printf "%-5s %-12s %7s %14s %8s %6s  %s\n", 'on', "runs, $unit", 'rounds', 'iterations/s', 'ratio', 'least', 'verdict';
for my $n (sort { $a <=> $b } keys %rates) {
	my $rate = median(@{ $rates{$n} });
	my $ratio = $best ? $rate / $best : undef;
	my $verdict = defined $best ? ($best ? verdict($ratio, $LEAST, $LEAST) : 'fail') : '-';
	$bad = 1 if $verdict eq 'fail';
	printf "%-5s %-12d %7d %14.1f %8s %6s  %s\n", $provider, $n, scalar @{ $rates{$n} }, $rate,
		defined $ratio ? sprintf('%.3f', $ratio) : '-', defined $best ? $LEAST : '-', $verdict;
	$record->(row => "$n", rate => $rate, ratio => $ratio, goal => defined $best ? $LEAST : undef, verdict => $verdict);
	$best = $rate if !defined $best || $rate > $best;
}
if (@memory) {
	my ($own, $buffers) = map { my $i = $_; median(map { $_->[$i] } @memory) } 0, 1;
	my $verdict = verdict($own, $MOST, $MOST, 1);
	$bad = 1 if $verdict eq 'fail';
	printf "\n%-5s a run's memory: %.0f bytes of the module, below %d: %s; and buffers of %.0f bytes\n", $provider, $own, $MOST + 1, $verdict, $buffers;
	$record->(row => 'memory', own => $own, buffers => $buffers, goal => $MOST, verdict => $verdict);
} else {
	$bad = 1;
	print "\n$provider: no memory was measured\n";
}
exit($bad ? 2 : 0);
