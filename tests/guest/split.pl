#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# split.pl NAME N CLIENT SERVER SPLIT TRACE: checks what the run CLIENT of N pings says of its hosts and of the network:
# SPLIT is "split_iters own_host_ns peer_host_ns network_ns" of its line, TRACE the text of ftrace with krping_iter,
# krping_wait and krping_post_send of both runs. Prints assertions for absorb() in lib.sh.

use strict;
use warnings;

my ($name, $n, $client, $server, $split, $trace) = @ARGV;

sub check {
	my ($good, $what, @more) = @_;
	print(($good ? 'ok' : 'not ok') . " - $name: $what\n");
	print "# $_\n" for $good ? () : @more[0 .. ($#more < 9 ? $#more : 9)];
}

# For each run and iteration its krping_iter, and its posts and waits in their order.
my (%iter, %done, %now);
open my $f, '<', $trace or die "$trace: $!\n";
while (<$f>) {
	next unless /: krping_(iter|wait|post_send): run=(\d+) (.*)/;
	my ($event, $run, $fields) = ($1, $2, $3);
	my %e = $fields =~ /\b(\w+)=(\S*)/g;
	if ($event eq 'iter') {
		$iter{$run}{ $e{iter} } = {%e} if $e{flags} =~ /commit/;
		$done{$run}{ $e{iter} } = $now{$run} // [];
		$now{$run} = [];
	} else {
		push @{ $now{$run} }, [$event, {%e}];
	}
}
close $f;

# How long a host had the ping, by the steps of its iteration: [begin, end] pairs of a wait's signal and the next post that
# passes the ping on. A signal that is missing, or from before the last post, does not time the wait: undef.
sub host {
	my ($at, $steps, $end) = @_;
	my ($ns, $out) = (0, 0);
	for (@$steps) {
		my ($event, $e) = @$_;
		if ($event eq 'wait') {
			return if !$e->{t_sig} || $e->{t_sig} <= $out;
			$at = $e->{t_sig};
		} elsif ($e->{kind} =~ /^(SEND|SEND_WITH_INV|READ|WRITE)$/) {
			$out = $e->{t};
			$ns += $out - $at if defined $at;
			undef $at;
		}
	}
	$ns += $end - $at if defined $end && defined $at;
	return $ns;
}

my (@told, @bad, %off, %sum);
for my $i (0 .. $n - 1) {
	my $c = $iter{$client}{$i} or next;
	my ($host, $peer, $all) = ($c->{host_ns}, $c->{peer_ns}, $c->{t} - $c->{t_begin});
	next if !$host && !$peer;
	push @told, $i;
	push @bad, "$i: host $host, peer $peer of $all" if !$host || !$peer || $host + $peer >= $all;
	$sum{host} += $host;
	$sum{peer} += $peer;
	$sum{network} += $all - $host - $peer;
	my $own = host($c->{t_begin}, $done{$client}{$i}, $c->{t});
	push @{ $off{client} }, $own - $host if defined $own;
	my $served = host(undef, $done{$server}{$i});
	push @{ $off{server} }, $served - $peer if defined $served;
}
check(@told == $n - 1 && $told[0] == 1, 'krping_iter: all iterations but the first are split', "@told");
check(!@bad, 'krping_iter: each part is less than the whole', @bad);
my $is = join ' ', scalar(@told), map { $_ // 0 } @sum{qw(host peer network)};
check($is eq $split, "the run's line is the sum of its krping_iter", "line: $split, krping_iter: $is");
# The host's time ends with a reading of the clock just before that of the post's event: the difference is that of a few
# calls, two to four times in a ping, but where something else ran in between. An emulated CPU has the ping for some 150 us,
# and needs some 5 us for these calls.
for my $end (qw(client server)) {
	# With poll_ctx=busy nothing signals, so that there is nothing to compare.
	next if $name =~ /busy/;
	my @d = sort { abs $a <=> abs $b } @{ $off{$end} // [] };
	my $median = $d[@d / 2];
	my $most = $sum{ $end eq 'client' ? 'host' : 'peer' } / @told * 0.15;
	check(@d >= $n / 2 && abs $median < $most, "the $end\'s host: the time between its signals and its posts",
		@d . " iterations, the median of the differences is " . ($median // '-') . " ns, not below $most");
}
