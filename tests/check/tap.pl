#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# tap.pl FILE STATUS SKIPS: judges a test by its output (FILE) and its exit status, with the parser of prove. Prints
# "PASSED FAILED SKIPPED" and then a line for each failure that FILE itself does not show: no plan, another number of
# tests than planned, a skip for a reason that is not in the file SKIPS, an end by a signal.

use strict;
use warnings;
use TAP::Parser;

my ($file, $status, $skips) = @ARGV;
open my $in, '<:raw', $file or die "$file: $!\n";
my $text = do { local $/; <$in> // '' };
close $in;

open my $list, '<', $skips or die "$skips: $!\n";
my @allowed = grep { !/^(?:#|$)/ } map { s/\n//r } <$list>;
close $list;

my ($passed, $failed, $skipped, @why) = (0, 0, 0);
# The parser does not accept an empty text as TAP.
my $parser = TAP::Parser->new({ tap => $text =~ /\S/ ? $text : "# nothing\n" });
while (my $line = $parser->next) {
	if ($line->is_bailout) {
		push @why, 'bails out: ' . $line->explanation;
		next;
	}
	next unless $line->is_test;
	if ($line->has_skip) {
		my $reason = $line->explanation;
		if (grep { $reason =~ /$_/ } @allowed) {
			$skipped++;
		} else {
			push @why, "skipped, for a reason that is not in tests/skips.allow: $reason";
		}
	} elsif ($line->has_todo) {
		push @why, 'a test that is yet to be written: ' . $line->description;
	} elsif ($line->is_actual_ok) {
		$passed++;
	} else {
		$failed++;
	}
}

# A test that makes no assertion, or skips all of them, has shown nothing.
push @why, 'no assertion: ' . ($parser->skip_all || 'it has none') unless $passed + $failed + $skipped + @why;

# The exit statuses with which run-all.sh and host.sh end a test.
if ($status == 124 || $status == 137) {
	push @why, 'HANG: its time was up';
} elsif ($status == 99) {
	push @why, 'it left a run behind';
} elsif ($status > 1) {
	push @why, "ended with status $status";
} elsif ($status == 1 && !$failed) {
	push @why, 'ended with status 1, and no assertion failed';
} elsif ($status == 0 && $failed) {
	push @why, 'assertions failed, and it ended with status 0';
}
push @why, map { "TAP: $_" } $parser->parse_errors unless $status > 1;
$failed += @why;
print "$passed $failed $skipped\n", map { "$_\n" } @why;
