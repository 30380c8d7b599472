# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What the stages of a wait have to be, for tests that compare krping_iter with krping_wait: krping_each_stage() of
# trace/krping_stages.h, written again from docs/events.md.

use strict;
use warnings;

# stages_of WAIT NS: WAIT has the fields of a krping_wait, and the phase took NS. Returns the nanoseconds of post, wire, cq, wake and
# own as a text, "-" for what is not known.
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
