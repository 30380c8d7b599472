#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# split.pl NAME N CLIENT SERVER SPLIT TRACE: checks what the run CLIENT of N pings says of its hosts and of the network:
# SPLIT is "split_iters own_host_ns peer_host_ns network_ns" of its line, TRACE the text of ftrace with krping_iter,
# krping_iter_split, krping_wait and krping_post_send of both runs. Prints assertions for absorb() in lib.sh.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Trace;

my ($name, $n, $client, $server, $split, $trace) = @ARGV;

$Trace::title = "$name: ";

# For each run and iteration its krping_iter and krping_iter_split, and its posts and waits in their order.
my (%iter, %split, %done, %now);
for my $e (events($trace, 'iter|iter_split|wait|post_send')) {
	if ($e->{ev} eq 'iter_split') {
		$split{$e->{run}}{$e->{iter}} = $e;
	} elsif ($e->{ev} eq 'iter') {
		$iter{$e->{run}}{$e->{iter}} = $e if $e->{flags} =~ /commit/;
		$done{$e->{run}}{$e->{iter}} = delete $now{$e->{run}} // [];
	} else {
		push @{$now{$e->{run}}}, $e;
	}
}

# How long a host had the ping, by the steps of its iteration: from a wait's signal to the next post that passes the ping on. Returns the
# least and the most that this may be: the host reads the clock between the end of the wait and the post's event. A signal that is
# missing, or from before the last post, does not time the wait: undef.
sub host {
	my ($at, $steps, $end) = @_;
	my ($least, $most, $out, $woken) = (0, 0, 0, $at);
	for my $e (@$steps) {
		if ($e->{ev} eq 'wait') {
			return if !$e->{t_sig} || $e->{t_sig} <= $out;
			$at = $e->{t_sig};
			$woken = $e->{t_run} > $e->{t_wc} ? $e->{t_run} : $e->{t_wc};
		} elsif ($e->{kind} =~ /^(SEND|SEND_WITH_INV|READ|WRITE)$/) {
			$out = $e->{t};
			$least += $woken - $at, $most += $out - $at if defined $at;
			undef $at;
		}
	}
	$least += $end - $at, $most += $end - $at if defined $end && defined $at;
	return [$least, $most];
}

my (@told, @bad, %off, %sum, %apart);
for my $i (0 .. $n - 1) {
	my $c = $iter{$client}{$i} or next;
	my $s = $split{$client}{$i} or next;
	my ($host, $peer, $all) = ($s->{host_ns}, $s->{peer_ns}, $c->{t} - $c->{t_begin});
	push @told, $i;
	push @bad, "$i: $s->{t_begin} to $s->{t}, krping_iter: $c->{t_begin} to $c->{t}" if $s->{t} != $c->{t} || $s->{t_begin} != $c->{t_begin};
	push @bad, "$i: host $host, peer $peer of $all" if !$host || !$peer || $host + $peer >= $all;
	$sum{host} += $host;
	$sum{peer} += $peer;
	$sum{network} += $all - $host - $peer;
	my %is = (client => [$host, host($c->{t_begin}, $done{$client}{$i}, $c->{t})], server => [$peer, host(undef, $done{$server}{$i})]);
	for my $end (grep { $is{$_}[1] } keys %is) {
		my ($ns, $of) = @{$is{$end}};
		push @{$apart{$end}}, $of->[1] - $ns;
		push @{$off{$end}}, "$i: $ns is not in $of->[0]..$of->[1]" if $ns < $of->[0] || $ns > $of->[1];
	}
}
check(@told == $n - 1 && $told[0] == 1, 'krping_iter_split: all iterations but the first are split', "@told");
check(!@bad, 'krping_iter_split: each part is less than the whole, which is that of krping_iter', @bad);
my $is = join ' ', scalar(@told), map { $_ // 0 } @sum{qw(host peer network)};
check($is eq $split, "the run's line is the sum of its krping_iter_split", "line: $split, krping_iter_split: $is");
check(!$split{$server}, 'the server splits nothing');
for my $end (qw(client server)) {
	# With poll_ctx=busy nothing signals, and where the core polls it has the signal: there is nothing to compare.
	next if $name =~ /busy|softirq/;
	my @d = sort { $a <=> $b } @{$apart{$end} // []};
	check(@d && !$off{$end}, "the $end\'s host: the time between its signals and its posts",
		@d . ' iterations, the median of the differences is ' . ($d[@d / 2] // '-') . ' ns', @{$off{$end} // []});
}
