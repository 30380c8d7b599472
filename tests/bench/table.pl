#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# table.pl TABLE PROVIDER UNIT FILE: makes a table of the samples of stdin: observers of overhead.sh; perftest, rping, older, block, ping
# and runs of the script of that name. UNIT says what times are: instructions or ns. FILE gets pairs, rates and rows as lines of JSON.
# Verdicts: "pass" the goal is reached, "floor" only the floor, "fail" neither. Exit 2 if a row with a goal fails, or was not measured.

use v5.36;
use JSON::PP;

my ($table, $provider, $unit, $file) = @ARGV;
my $json = JSON::PP->new->canonical;
my ($bad, $out, %s) = (0);

# --- statistics ---
sub median(@v) {
	my @s = sort { $a <=> $b } @v;
	return @s % 2 ? $s[$#s / 2] : ($s[@s / 2 - 1] + $s[@s / 2]) / 2;
}

# interval VALUE...: the 95 % interval of the median, as (low, high); () if there are too few. The k-th and the (n+1-k)-th of n
# values enclose their distribution's median with at least that probability, whatever the distribution: P of a binomial(n, 1/2).
sub interval(@v) {
	my @s = sort { $a <=> $b } @v;
	my ($k, $tail, $c) = (0, 0, 1);
	for my $i (0 .. @s) {
		$tail += $c / 2**@s;
		last if 2 * $tail > 0.05;
		$k = $i + 1;
		$c = $c * (@s - $i) / ($i + 1);
	}
	return $k ? ($s[$k - 1], $s[-$k]) : ();
}

# verdict VALUE GOAL FLOOR [MOST]: with MOST, goal and floor are the most that the value may be, otherwise the least. "-" without a goal.
sub verdict($value, $goal, $floor, $most = 0) {
	return '-' unless defined $goal;
	my $sign = $most ? -1 : 1;
	return 'pass' if $sign * $value >= $sign * $goal;
	return 'floor' if $sign * $value >= $sign * $floor;
	$bad = 1;
	return 'fail';
}

# kept VALUE MOST: the same in words, for a bound without a floor.
sub kept($value, $most) {
	return "at most $most: " . (verdict($value, $most, $most, 1) eq 'pass' ? 'kept' : 'BROKEN');
}

sub record(@more) {
	my %o = (table => $table, provider => $provider, unit => $unit, @more);
	print $out $json->encode(\%o), "\n" or die "table.pl: $file: $!\n";
}
sub or_dash($format, @v) { return @v && defined $v[0] ? sprintf $format, @v : '-' }

# --- pairs of runs ---
# For each row goal and floor of the ratio, and what the ratio is: how many times quicker ours is, "most" how many times the time of
# theirs ours takes, or "observed" the speed of theirs, which are runs with an observer, by that of ours.
my %goals = (
	observers => [
		[qr{^krping-top(-screen)?$}, 0.985, 0.97, 'observed'],
		[qr{^krping-stages$}, 0.965, 0.95, 'observed'],
		[qr{^krping-mr$}, 0.97, 0.96, 'observed'],
		[qr{^krping-record$}, 0.97, 0.92, 'observed'],
		[qr{^all$}, 0.95, 0.92, 'observed'],
		[qr{^notrace$}, 0.998, 0.998, 'observed'],
		[qr{}, undef, undef, 'observed'],
	],
	perftest => [
		[qr{^(wlat|rlat|bw)/64$}, 1.05, 0.97],
		[qr{^(wlat|rlat|bw)/}, 0.97, 0.90],
	],
	rping => [
		[qr{^tcp$}, 1.25, 1.25, 'most'],
		[qr{^tcp-chain$}, 1.15, 1.15, 'most'],
		[qr{^rping$}, 2.4, 2.4],
		[qr{^rping-chain$}, 2.8, 2.8],
	],
	older => [[qr{^siw$}, 0.95, 1.02, 'most'], [qr{^rxe$}, 0.80, 0.88, 'most']],
	block => [[qr{^nvme/}, ($unit eq 'instructions' ? 0.87 : undef) x 2, 'most'], [qr{}, undef, undef, 'most']],
);
# An observer's interval that is wider than this decides nothing.
my $WIDE = 0.03;

# A pair counts only if both sides say that they did the same: otherwise it is void, and the table says in what they differed.
sub pairs {
	my (@rows, %of, %void);

	for (@{ $s{pair} // [] }) {
		my ($row, $n, $ours, $theirs, $did, $they) = @$_;
		push @rows, $row unless $of{$row};
		$of{$row} //= [];
		my $same = $did eq $they && $ours > 0 && $theirs > 0;
		record(row => $row, pair => $n + 0, ours => $ours + 0, theirs => $theirs + 0, did => $did, theirs_did => $they,
			void => $same ? \0 : \1);
		if ($same) { push @{ $of{$row} }, [$ours, $theirs] } else { $void{$row}{"ours $did; theirs $they"}++ }
	}
	@rows or die "table.pl: no samples\n";
	printf "%-5s %-18s %5s %5s %12s %12s %7s %18s %6s %6s  %s\n", 'on', "$table, $unit", 'pairs', 'void', 'ours', 'theirs', 'ratio',
		'95 % interval', 'goal', 'floor', 'verdict';
	for my $row (@rows) {
		my ($of_row) = grep { $row =~ $_->[0] } @{ $goals{$table} };
		my (undef, $goal, $floor, $how) = @{ $of_row // [] };
		my @pairs = @{ $of{$row} };
		my @ratios = map { $how ? $_->[0] / $_->[1] : $_->[1] / $_->[0] } @pairs;
		my ($ours, $theirs) = map { my $i = $_; @pairs ? median(map { $_->[$i] } @pairs) : undef } 0, 1;
		my $ratio = @ratios ? median(@ratios) : undef;
		my @in = interval(@ratios);
		my ($void, $verdict) = (0, '');
		$void += $_ for values %{ $void{$row} // {} };
		$verdict = 'inconclusive' if $table eq 'observers' && @in && $in[1] - $in[0] > $WIDE;
		$verdict = 'too few pairs' if $table eq 'observers' && !@in;
		$verdict = defined $goal ? 'void' : '-' if !@ratios;
		$bad = 1 if $verdict && defined $goal;
		$verdict ||= verdict($ratio, $goal, $floor, ($how // '') eq 'most');
		printf "%-5s %-18s %5d %5d %12s %12s %7s %18s %6s %6s  %s\n", $provider, $row, scalar @pairs, $void, or_dash('%.0f', $ours),
			or_dash('%.0f', $theirs), or_dash('%.4f', $ratio), or_dash('%.4f .. %.4f', @in), $goal // '-', $floor // '-', $verdict;
		record(row => $row, pairs => scalar @pairs, void => $void, ours => $ours, theirs => $theirs, ratio => $ratio,
			low => $in[0], high => $in[1], goal => $goal, floor => $floor, verdict => $verdict);
	}
	for my $row (@rows) {
		printf "void: %s, %d times: %s\n", $row, $void{$row}{$_}, $_ for sort keys %{ $void{$row} // {} };
	}
}

# What observers take beside the time of runs. The bounds: KiB of BPF maps of all tools together for 500 runs, milliseconds from a
# tool's start to its first line, and instructions that events may cost a ping while they are off.
my ($MAPS, $START, $OFF) = (64 * 1024, 400, 260);

sub observers {
	my %start;

	pairs();
	# Of the module without tracepoints, the word for what was done is the pings.
	my @more = map { ($_->[3] - $_->[2]) / $_->[4] } grep { $_->[0] eq 'notrace' } @{ $s{pair} };
	printf "\n%-5s events off: %.0f %s a ping (median), %s\n", $provider, median(@more), $unit, kept(median(@more), $OFF) if @more;
	if ($s{program}) {
		printf "\n%-17s %-12s %12s %10s %10s\n", 'BPF programs', 'event', 'calls a ping', 'ns a call', 'ns a ping';
		printf "%-17s %-12s %12.2f %10d %10.0f\n", @$_, $_->[2] * $_->[3] for @{ $s{program} };
	}
	printf "\n%-17s %8s %14s %14s\n", 'memory', 'runs', 'resident KiB', 'BPF maps KiB' if $s{memory};
	for (@{ $s{memory} // [] }) {
		printf "%-17s %8d %14d %14d  %s\n", @$_, "$_->[0] $_->[1]" eq 'all 500' ? kept($_->[3], $MAPS) : '';
	}
	push @{ $start{ $_->[0] } }, $_->[2] / 1000 for @{ $s{start} // [] };
	printf "\n%-17s %8s %14s\n", 'start', 'times', 'median ms' if %start;
	for my $t (sort keys %start) {
		my $ms = median(@{ $start{$t} });
		printf "%-17s %8d %14.0f  %s\n", $t, scalar @{ $start{$t} }, $ms, $t =~ /^krping-/ ? kept($ms, $START) : '';
	}
}

# --- ping ---
# The most instructions of a ping of 64 bytes: goal, and bound.
my %instructions = (
	siw => { thread => [140_000, 153_000], 'thread-chain' => [130_000, 144_000] },
	rxe => { thread => [123_000, 138_000], 'thread-chain' => [112_000, 124_000] },
);

# Each figure is the median of the rounds, and for times also its ratio to the row softirq, the median of the ratios of each round.
# That the row thread takes 0.75 of the time of softirq on siw is a goal only, since the clock of an emulated machine is noisy.
sub ping {
	my $counts = $unit eq 'instructions';
	my (@rows, %of);

	for (@{ $s{ping} // [] }) {
		push @rows, $_->[0] unless $of{ $_->[0] };
		push @{ $of{ $_->[0] }{ $_->[1] } }, $_->[2];
	}
	@rows or die "table.pl: no samples\n";
	my %sleeps = map { $_->[0] => "$_->[1] $_->[2]" } @{ $s{sleeps} // [] };
	my %goal = $counts ? %{ $instructions{$provider} // {} } : ();
	$of{$_}{64} or die "table.pl: no samples of $_\n" for sort keys %goal;
	my @sizes = sort { $a <=> $b } keys %{ $of{ $rows[0] } };
	printf "%-5s %-16s", 'on', "$unit a ping";
	printf " %9s%s", $_ >= 1024 ? $_ / 1024 . ' KiB' : "$_ B", $counts ? '' : '  ratio' for @sizes;
	printf " %16s  %s\n", 'sleeps cli srv', 'verdict';
	for my $row (@rows) {
		my ($verdict, %ratio) = ('');
		printf "%-5s %-16s", $provider, $row;
		for my $size (@sizes) {
			my @v = @{ $of{$row}{$size} };
			my $base = $of{softirq}{$size};
			$base && @$base != @v and die "table.pl: $row has another number of rounds than softirq\n";
			$ratio{$size} = $base ? median(map { $v[$_] / $base->[$_] } 0 .. $#v) : undef;
			printf " %9.0f", median(@v);
			printf " %6s", or_dash('%.3f', $ratio{$size}) if !$counts;
		}
		$verdict = verdict(median(@{ $of{$row}{64} }), @{ $goal{$row} }, 1) if $goal{$row};
		$verdict = $ratio{64} <= 0.75 ? 'pass' : 'not 0.75' if !$counts && "$provider $row" eq 'siw thread' && defined $ratio{64};
		printf " %16s  %s\n", $sleeps{$row} // '-', $verdict;
	}
}

# --- many runs ---
# For each count of runs the median of the rounds' rates, and its ratio to the best median of a smaller count; then the module's own
# memory for a run.
sub runs {
	my ($LEAST, $MOST) = (0.85, 24 * 1024);
	my ($best, %rates);

	for (@{ $s{rate} // [] }) {
		push @{ $rates{ $_->[0] } }, $_->[2];
		record(runs => $_->[0] + 0, round => $_->[1] + 0, rate => $_->[2] + 0);
	}
	%rates or die "table.pl: no samples\n";
	printf "%-5s %-12s %7s %14s %8s %6s  %s\n", 'on', "runs, $unit", 'rounds', 'iterations/s', 'ratio', 'least', 'verdict';
	for my $n (sort { $a <=> $b } keys %rates) {
		my $rate = median(@{ $rates{$n} });
		my $goal = defined $best ? $LEAST : undef;
		my $ratio = $best ? $rate / $best : undef;
		my $verdict = verdict($ratio // 0, $goal, $goal);
		printf "%-5s %-12d %7d %14.1f %8s %6s  %s\n", $provider, $n, scalar @{ $rates{$n} }, $rate, or_dash('%.3f', $ratio), $goal // '-',
			$verdict;
		record(row => "$n", rate => $rate, ratio => $ratio, goal => $goal, verdict => $verdict);
		$best = $rate if !defined $best || $rate > $best;
	}
	my @memory = grep { $_->[0] && $_->[1] } @{ $s{memory} // [] };
	if (!@memory) {
		$bad = 1;
		print "\n$provider: no memory was measured\n";
		return;
	}
	my ($own, $buffers) = map { my $i = $_; median(map { $_->[$i] / $_->[0] } @memory) } 1, 2;
	my $verdict = verdict($own, $MOST, $MOST, 1);
	printf "\n%-5s a run's memory: %.0f bytes of the module, below %d: %s; and buffers of %.0f bytes\n",
		$provider, $own, $MOST + 1, $verdict, $buffers;
	record(row => 'memory', own => $own, buffers => $buffers, goal => $MOST, verdict => $verdict);
}

my %make = (observers => \&observers, (map { $_ => \&pairs } qw(perftest rping older block)), ping => \&ping, runs => \&runs);
my $make = $make{ $table // '' } or die 'table.pl: there is no table ' . ($table // '') . "\n";
# The lines of samples, by their first word.
my $number = qr/-?[\d.]+/;
my %format = (
	pair => qr/^\S+ \d+ $number $number \S+ \S+$/, program => qr/^\S+ \S+ $number \d+$/, memory => qr/^\S+( \d+){2,3}$/,
	start => qr/^\S+ \d+ \d+$/, ping => qr/^\S+ \d+ $number$/, sleeps => qr/^\S+ $number $number$/, rate => qr/^\d+ \d+ $number$/,
);
while (<STDIN>) {
	my ($kind, $rest) = /^(\w+) (.*)$/ or next;
	push @{ $s{$kind} }, [split / /, $rest] if $format{$kind} && $rest =~ $format{$kind};
}
open $out, '>', $file or die "table.pl: $file: $!\n";
$make->();
exit($bad ? 2 : 0);
