# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What the judges of recordings share: the events of ftrace's text, lines of /proc/krping_runs, objects of a tool's JSON, and TAP
# lines without numbers for absorb() in lib.sh. Scripts beside this file have it by "use lib $FindBin::Bin", tests by trace_perl() in lib.sh.

package Trace;

use strict;
use warnings;
use feature 'signatures';
no warnings 'experimental::signatures'; # of perls that make check-here may meet
use Exporter 'import';
use List::Util qw(sum0 min max);
our @EXPORT = qw(event events records slurp objects last_object check finish differs equal verdict same_sums same_sum same_costs counts_differ rank stages_of requests_of);

# event LINE: the event of a line of ftrace's text as a hash, undef if it has none. It has the fields of TP_printk, whose names may have a
# ".", as in "cq.id"; ev is the event's name, rest the text behind it, irqs the first one of ftrace's flags: d or D if interrupts are off.
sub event($line) {
	my ($name, $rest) = $line =~ /: krping_(\w+): (.*)/ or return;
	my %e = $rest =~ /([\w.]+)=(\S*)/g;
	@e{qw(ev rest)} = ($name, $rest);
	($e{irqs}) = $line =~ /\[\d+\] +([^ ])\S* +[\d.]+: /;
	($e{old}, $e{new}) = $rest =~ /(\w+)\(\d+\) -> (\w+)\(\d+\)/ if $name eq 'state';
	return \%e;
}

# events FILE [REGEX]: the events of a file, in the order of time; with REGEX only those with such a name.
sub events($file, $names = undef) {
	open my $f, '<', $file or die "$file: $!\n";
	return map { event($_) // () } grep { !$names || /: krping_(?:$names): / } <$f>;
}

# records FILE: the lines of a copy of /proc/krping_runs as hashes. A reason is cut at its first blank.
sub records {
	return map { { /(\w+)=(\S*)/g } } grep { /\bid=\d/ } split /\n/, slurp($_[0]);
}

sub slurp {
	open my $f, '<', $_[0] or die "$_[0]: $!\n";
	local $/;
	return <$f> // '';
}

# objects FILE: what a tool has written with -j, an object a line.
sub objects {
	require JSON::PP;
	return map { JSON::PP::decode_json($_) } split /\n/, slurp($_[0]);
}
sub last_object { (objects($_[0]))[-1] }

# check OK, WHAT, WHY...: prints an assertion; WHY are the first causes if it fails. finish: ends a judge that is a test by itself.
our $title = '';
my ($checks, $failed) = (0, 0);
sub check($ok, $what, @why) {
	$checks++;
	$failed ||= !$ok;
	print(($ok ? 'ok' : 'not ok') . " - $title$what\n");
	print "# $_\n" for $ok ? () : splice @why, 0, 10;
}
sub finish {
	print "1..$checks\n";
	exit($failed ? 1 : 0);
}

# Comparisons of many values for one assertion: equal WHAT, OF, GOT, WANTED and differs WHAT, WHY collect what is wrong, and verdict WHAT
# prints the assertion. It fails, too, if nothing but 0 was compared.
my (%why, %seen);
sub differs($what, $why) {
	push @{$why{$what}}, $why;
}
sub equal($what, $of, $got, $want) {
	$seen{$what}++ if defined $want && $want ne 0;
	$_ //= 'null' for $got, $want;
	differs($what, "$of: $got, and $want is right") if $got ne $want;
}
sub verdict($what) {
	differs($what, 'nothing was compared') unless $seen{$what};
	my @why = @{$why{$what} // []};
	check(!@why, $what, @why);
}

# same_sums WHAT, OF, TOTAL, PARTS, NAME...: under each name TOTAL has the sum of what the parts have. A hash instead of a name maps
# names of TOTAL to those of the parts.
sub same_sums($what, $of, $total, $parts, @names) {
	my %of_part = map { ref $_ ? %$_ : ($_ => $_) } @names;
	for my $k (sort keys %of_part) {
		equal($what, "$of: $k", $total->{$k}, sum0(map { $_->{$of_part{$k}} } @$parts));
	}
}

# same_sum WHAT, OF, TOTAL, PART...: the same of distributions, whose minimum and maximum are compared, too.
sub same_sum($what, $of, $total, @parts) {
	my @some = grep { $_->{count} } @parts;
	same_sums($what, $of, $total, \@some, qw(count sum_ns));
	return unless @some;
	equal($what, "$of: min_ns", $total->{min_ns}, min(map { $_->{min_ns} } @some));
	equal($what, "$of: max_ns", $total->{max_ns}, max(map { $_->{max_ns} } @some));
}

# same_costs WHAT, TOTAL, PART...: the same of krping-mr's costs, by pages.
sub same_costs($what, $total, @parts) {
	for my $c (@{$total->{costs}}) {
		my @of = grep { $_->{pages} == $c->{pages} } map { @{$_->{costs}} } @parts;
		for my $k (qw(map post done)) {
			same_sum($what, "$c->{pages} pages, $k", $c->{$k}, map { $_->{$k} } @of);
		}
	}
}

# counts_differ GOT, WANTED: where two hashes of counts differ, a text each.
sub counts_differ($got, $want) {
	return map { "$_: " . ($got->{$_} // 'none') . ', and ' . ($want->{$_} // 'none') . ' is right' }
		grep { ($got->{$_} // 0) != ($want->{$_} // 0) } sort keys %{{ %$got, %$want }};
}

# rank PERCENTILE, N: the nearest rank of "p50" or "p99_ns" among N values, from 1.
sub rank($p, $n) {
	my ($digits) = $p =~ /^p(\d+)/;
	my $of = 10 ** length $digits;
	return int(($n * $digits + $of - 1) / $of) || 1;
}

# stages_of WAIT, NS: what the stages of a wait have to be: WAIT has the fields of a krping_wait, and the phase took NS. Returns the
# nanoseconds of post, wire, cq, wake and own as a text, "-" for what is not known. This is krping_each_stage() of
# trace/krping_stages.h, written again from docs/events.md.
sub stages_of($wait, $ns) {
	my ($at, @want) = ($wait->{t_start});
	my $next = sub { my $to = $_[0] > $at ? $_[0] : $at; $want[$_[1]] = $to - $at; $at = $to };
	my ($wc, $run) = @$wait{qw(t_wc t_run)};
	my $arrived = $wc < $run ? $wc : $run;
	$arrived = $wait->{t_sig} if $wait->{t_sig} && $wait->{t_sig} < $arrived;
	if ($wait->{t_post}) {
		$next->($wait->{t_post}, 5);
		$next->($wait->{t_posted} && $wait->{t_posted} < $arrived ? $wait->{t_posted} : $arrived, 1);
	}
	$next->($arrived, 2);
	if ($run < $wc) {
		$next->($run, 4) if $wait->{t_sig};
		$next->($wc, 3);
	} else {
		$next->($wc, 3) if $wait->{t_sig};
		$next->($run, 4);
	}
	my $waited = ($run > $wc ? $run : $wc) - $wait->{t_start};
	$want[5] += $ns - $waited if $ns > $waited;
	return join ' ', map { $_ // '-' } @want[1 .. 5];
}

# requests_of EVENT...: the stages of each krping_request of a run: all of it, queued, map, post, wire, cq and done, "-" for what is not known,
# as docs/events.md has them; and what is wrong with its times, and with those that other events of the recording have.
sub requests_of(@events) {
	my (%is, %begun, %before, @requests, @bad);
	for my $e (@events) {
		if ($e->{ev} eq 'post_send' && $e->{kind} =~ /^(READ|WRITE)$/) {
			$is{$e->{cid}} = { post => $e->{t}, first => $begun{$e->{'cq.id'}} //= $e->{t}, queue => $e->{'cq.id'} };
			delete $begun{$e->{'cq.id'}} if $e->{flags} =~ /signaled/;
		} elsif ($e->{ev} eq 'post_return') {
			$is{$_}{posted} = $e->{t} for $e->{cid} .. $e->{cid} + $e->{nr} - 1;
		} elsif ($e->{ev} eq 'wc') {
			$is{$e->{cid}}{wc} = $e->{t};
		}
	}
	for my $e (grep { $_->{ev} eq 'request' } @events) {
		my ($is, $last) = ($is{$e->{cid}} // {}, $before{$e->{queue}} // {});
		my ($post, $sig, $wc) = @$e{qw(t_post t_sig t_wc)};
		my $at = $sig || $wc;
		my $posted = $e->{t_posted} < $at ? $e->{t_posted} : $at;
		my @of = ($e->{t_queued}, $is->{first} // $post, $post, $posted, $at, $wc, $e->{t});
		my @rise = map { $of[$_] > $of[$_ + 1] ? "$of[$_] > $of[$_ + 1]" : () } 0 .. $#of - 1;
		push @rise, "queued after $post" if $e->{t_queued} + $e->{map_ns} > $post || !$e->{t_queued};
		push @rise, "before the one before" if $e->{cid} <= $last->{cid} || $e->{t_queued} < $last->{t_queued} || $e->{t} <= $last->{t};
		push @rise, "$_ is $is->{$_}" for grep { defined $is->{$_} && $is->{$_} != $e->{"t_$_"} } qw(post posted wc);
		push @rise, "CQ $is->{queue}, not $last->{is}{queue}" if $last->{is} && $last->{is}{queue} ne $is->{queue};
		push @bad, "cid $e->{cid}: @rise" if @rise;
		$before{$e->{queue}} = { %$e, is => $is };
		push @requests, join ' ', $e->{t} - $e->{t_queued}, $post - $e->{t_queued} - $e->{map_ns}, $e->{map_ns} || '-',
			$posted - $post, $at - $posted, $sig ? $wc - $sig : '-', $e->{t} - $wc;
	}
	return \@requests, @bad;
}

1;
