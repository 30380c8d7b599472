#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# ends.pl RUN PID < TRACE: how the module ended a run, from what ftrace recorded (ends_on in ends.sh), so that the answer does not
# depend on how long the test's own commands take. PID is the writer's. The cause is a signal to the writer, or a timer of timeout=.
# Prints six words, "-" for what is not known:
#
#   PHASE  what the thread did when the run's test ended
#   BEGUN  iterations that were completed after the first cause
#   WOKEN  by what the thread was last woken in that phase: task, hardirq (a high-resolution timer), softirq (a timer of
#          jiffies, or the network)
#   SINCE  ms from the first cause to the end of the phase
#   LAST   ms from the first cause to the last one
#   DOWN   ms of the longest phase of the tear-down

use strict;
use warnings;

my ($run, $pid) = @ARGV;
my ($cause, $phase, $woken, $since, $last, $begun, $down, %woken);
while (<STDIN>) {
	my ($task, $flags, $now, $event, $text) = /-(\d+) +\[\d+\] +(\S+) +([\d.]+): (\w+): (.*)/ or next;
	if ($event eq 'sched_waking' && $text =~ / pid=(\d+) /) {
		$woken{$1} = { '.' => 'task', s => 'softirq' }->{ substr $flags, 2, 1 } // 'hardirq';
	} elsif ($text =~ /^sig=(?:2|9|15|19) .* pid=$pid / || $event eq 'hrtimer_expire_entry') {
		$cause //= 1000 * $now;
		$begun //= 0;
		$last = 1000 * $now - $cause;
	}
	next unless $text =~ /^run=$run /;
	my %f = $text =~ /(\w+)=(\S+)/g;
	@f{'prev', 't_prev'} = @f{'phase', 't_phase'} if $event eq 'krping_run_end';
	next unless defined $f{prev};
	$begun++ if defined $cause && ($f{flags} // '') =~ /commit/;
	if ($f{prev} =~ /^(?:disconnect|drain|free)$/) {
		my $ms = ($f{t} - $f{t_prev}) / 1e6;
		$down = $ms if $ms > ($down // -1);
	} elsif ($f{phase} eq 'disconnect') {
		($phase, $woken) = ($f{prev}, $woken{$task});
		$since = $f{t} / 1e6 - $cause if defined $cause;
	}
	delete $woken{$task};
}
print join(' ', map { $_ // '-' } $phase, $begun, $woken, map { defined ? int : undef } $since, $last, $down), "\n";
