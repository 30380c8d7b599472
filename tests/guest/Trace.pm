# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What the judges of recordings share: the events of ftrace's text, lines of /proc/krping_runs, objects of a tool's JSON, and TAP
# lines without numbers for absorb() in lib.sh. Scripts beside this file have it by "use lib $FindBin::Bin", tests by trace_perl() in lib.sh.

package Trace;

use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(event events records slurp objects last_object check differs equal verdict stages_of);

# event LINE: the event of a line of ftrace's text as a hash, undef if it has none. It has the fields of TP_printk, whose names may have a
# ".", as in "cq.id"; ev is the event's name, rest the text behind it, irqs the first one of ftrace's flags: d or D if interrupts are off.
sub event {
	my ($line) = @_;
	my ($name, $rest) = $line =~ /: krping_(\w+): (.*)/ or return;
	my %e = $rest =~ /([\w.]+)=(\S*)/g;
	@e{qw(ev rest)} = ($name, $rest);
	($e{irqs}) = $line =~ /\[\d+\] +([^ ])\S* +[\d.]+: /;
	($e{old}, $e{new}) = $rest =~ /(\w+)\(\d+\) -> (\w+)\(\d+\)/ if $name eq 'state';
	return \%e;
}

# events FILE [REGEX]: the events of a file, in the order of time; with REGEX only those with such a name.
sub events {
	my ($file, $names) = @_;
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

# check OK, WHAT, WHY...: prints an assertion; WHY are the first causes if it fails.
our $title = '';
sub check {
	my ($ok, $what, @why) = @_;
	print(($ok ? 'ok' : 'not ok') . " - $title$what\n");
	print "# $_\n" for $ok ? () : splice @why, 0, 10;
}

# Comparisons of many values for one assertion: equal WHAT, OF, GOT, WANTED and differs WHAT, WHY collect what is wrong, and verdict WHAT
# prints the assertion. It fails, too, if nothing but 0 was compared.
my (%why, %seen);
sub differs {
	my ($what, $why) = @_;
	push @{$why{$what}}, $why;
}
sub equal {
	my ($what, $of, $got, $want) = @_;
	$seen{$what}++ if defined $want && $want ne 0;
	$_ //= 'null' for $got, $want;
	differs($what, "$of: $got, and $want is right") if $got ne $want;
}
sub verdict {
	my ($what) = @_;
	differs($what, 'nothing was compared') unless $seen{$what};
	my @why = @{$why{$what} // []};
	check(!@why, $what, @why);
}

# stages_of WAIT, NS: what the stages of a wait have to be: WAIT has the fields of a krping_wait, and the phase took NS. Returns the
# nanoseconds of post, wire, cq, wake and own as a text, "-" for what is not known. This is krping_each_stage() of
# trace/krping_stages.h, written again from docs/events.md.
sub stages_of {
	my ($wait, $ns) = @_;
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

1;
