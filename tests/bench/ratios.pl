#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# ratios.pl TABLE PROVIDER UNIT FILE: makes a table of the output of TABLE.sh, which compares a run of krping with another
# program's: perftest or rping. UNIT says what the times are: instructions or ns. FILE gets each pair and each row as a line of
# JSON. A pair counts only if both sides say that they did the same: otherwise it is void, and the table says in what they
# differed. Verdicts: "pass" the goal is reached, "floor" only the floor, "fail" neither. Exit 2 if a row with a goal fails, or
# has no pair that counts.

use strict;
use warnings;
use FindBin;
require "$FindBin::Bin/stats.pl";

my ($table, $provider, $unit, $file) = @ARGV;
# For each row: goal and floor of the ratio, and whether the ratio says how many times the time of the other program ours is
# (then it must be small), or the inverse, how many times quicker ours is.
my %goals = (
	perftest => [
		[qr{^(wlat|rlat|bw)/64$}, 1.05, 0.97],
		[qr{^(wlat|rlat|bw)/}, 0.97, 0.90],
	],
	rping => [
		[qr{^tcp$}, 1.25, 1.25, 'times'],
		[qr{^tcp-chain$}, 1.15, 1.15, 'times'],
		[qr{^rping$}, 2.4, 2.4],
		[qr{^rping-chain$}, 2.8, 2.8],
	],
);
my $goals = $goals{ $table // '' } or die "ratios.pl: there is no table " . ($table // '') . "\n";
my (@rows, %of, %void);

my $record = records($file, { table => $table, provider => $provider, unit => $unit });
while (<STDIN>) {
	next unless /^pair (\S+) (\d+) (-?[\d.]+) (-?[\d.]+) (\S+) (\S+)$/;
	my ($row, $n, $ours, $theirs, $did, $they) = ($1, $2, $3, $4, $5, $6);
	push @rows, $row unless $of{$row};
	$of{$row} //= [];
	my $same = $did eq $they && $ours > 0 && $theirs > 0;
	$record->(row => $row, pair => $n + 0, ours => $ours + 0, theirs => $theirs + 0, did => $did, theirs_did => $they,
		void => $same ? \0 : \1);
	if ($same) { push @{ $of{$row} }, [$ours, $theirs] } else { $void{$row}{"ours $did; theirs $they"}++ }
}
@rows or die "ratios.pl: no samples\n";

# goal ROW: the goal's row, or undef.
sub goal {
	my $row = shift;
	for my $g (@$goals) { return $g if $row =~ $g->[0] }
	return undef;
}

my $bad = 0;
printf "%-5s %-18s %5s %5s %12s %12s %7s %16s %6s %6s  %s\n", 'on', "$table, $unit", 'pairs', 'void', 'ours', 'theirs', 'ratio',
	'95 % interval', 'goal', 'floor', 'verdict';
for my $row (@rows) {
	my $g = goal($row);
	my (undef, $goal, $floor, $times) = $g ? @$g : ();
	my @pairs = @{ $of{$row} };
	my @ratios = map { $times ? $_->[0] / $_->[1] : $_->[1] / $_->[0] } @pairs;
	my $void = 0;
	$void += $_ for values %{ $void{$row} // {} };
	my $ratio = @ratios ? median(@ratios) : undef;
	my $verdict = !@ratios ? (defined $goal ? 'void' : '-') : verdict($ratio, $goal, $floor, $times);
	my @in = interval(@ratios);
	my ($ours, $theirs) = map { my $i = $_; @pairs ? median(map { $_->[$i] } @pairs) : undef } 0, 1;
	$bad = 1 if $verdict eq 'fail' || $verdict eq 'void';
	printf "%-5s %-18s %5d %5d %12s %12s %7s %16s %6s %6s  %s\n", $provider, $row, scalar @pairs, $void,
		(map { defined $_ ? sprintf('%.0f', $_) : '-' } $ours, $theirs), defined $ratio ? sprintf('%.3f', $ratio) : '-',
		@in ? sprintf('%.3f .. %.3f', @in) : '-', $goal // '-', $floor // '-', $verdict;
	$record->(row => $row, pairs => scalar @pairs, void => $void, ours => $ours, theirs => $theirs, ratio => $ratio,
		low => $in[0], high => $in[1], goal => $goal, floor => $floor, verdict => $verdict);
}
for my $row (@rows) {
	printf "void: %s, %d times: %s\n", $row, $void{$row}{$_}, $_ for sort keys %{ $void{$row} // {} };
}
exit($bad ? 2 : 0);
