#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# result.pl FOLDER LABEL NAME SECONDS STATUS AGAIN: judges a test by its output, FOLDER/NAME.tap, and its exit status, with the
# parser of prove, and tells the result to all who want it:
#
#   stdout           one line; of a red test also what failed, the log's file and AGAIN, the command that runs the test again
#   FOLDER/results   "LABEL|NAME|PASSED|FAILED|SKIPPED|SECONDS"
#   FOLDER/failures  what check.pl repeats at its end
#   FOLDER/notes     what is no verdict, but belongs into the last line: a failure that tests/quarantine excuses
#   the ledger       a line "TIME COMMIT LABEL NAME ok|red SECONDS FIRST-FAILURE", between tabs
#
# LABEL is "KERNEL PROVIDER SUITE", or "KERNEL host". From the environment: KRPING_LEDGER, the ledger's file (none: no line),
# and KRPING_COMMIT. result.pl --judge FILE STATUS prints "PASSED FAILED SKIPPED" and the reasons that FILE itself does not show.

use strict;
use warnings;
use Cwd 'abs_path';
use Fcntl ':flock';
use File::Basename;
use POSIX 'strftime';
use TAP::Parser;

my $top = abs_path(dirname(abs_path($0)) . '/../..');

# rows FILE: the lines of a table, without comments.
sub rows {
	open my $in, '<', $_[0] or return;
	return grep { !/^(?:#|$)/ } map { s/\n//r } <$in>;
}

sub append {
	my ($file, $text) = @_;
	open my $out, '>>', $file or die "$file: $!\n";
	flock $out, LOCK_EX;
	print $out $text;
	close $out;
}

# excused LABEL NAME WHAT: the row of tests/quarantine, FILE|PATTERN|LABEL|REASON|DAY, that excuses this failure.
sub excused {
	my ($label, $name, $what) = @_;
	for (rows($ENV{KRPING_QUARANTINE} // "$top/tests/quarantine")) {
		my ($file, $pattern, $where, $reason) = split /\|/;
		return $reason if $name eq $file && $label =~ /^(?:$where)$/ && $what =~ /$pattern/;
	}
	return;
}

# judge FILE STATUS LABEL NAME: (passed, failed, skipped, [reasons that FILE does not show], [excused failures]).
sub judge {
	my ($file, $status, $label, $name) = @_;
	open my $in, '<:raw', $file or die "$file: $!\n";
	my $text = do { local $/; <$in> // '' };
	my @allowed = rows($ENV{KRPING_SKIPS} // "$top/tests/skips.allow");
	my ($passed, $failed, $skipped, @why, @todo) = (0, 0, 0);
	# The parser does not accept an empty text as TAP.
	my $parser = TAP::Parser->new({ tap => $text =~ /\S/ ? $text : "# nothing\n" });
	while (my $line = $parser->next) {
		if ($line->is_bailout) {
			push @why, 'bails out: ' . $line->explanation;
			next;
		}
		next unless $line->is_test;
		my $what = $line->description =~ s/^- //r;
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
		} elsif (my $reason = excused($label, $name, $what)) {
			push @todo, "$label: $name: $what: quarantined: $reason";
		} else {
			$failed++;
		}
	}
	# A test that makes no assertion, or skips all of them, has shown nothing.
	push @why, 'no assertion: ' . ($parser->skip_all || 'it has none') unless $passed + $failed + $skipped + @why + @todo;
	# The exit statuses with which run-all.sh and host.sh end a test.
	if ($status == 124 || $status == 137) {
		push @why, 'HANG: its time was up';
	} elsif ($status == 99) {
		push @why, 'it left a run behind';
	} elsif ($status > 1) {
		push @why, "ended with status $status";
	} elsif ($status == 1 && !$failed && !@todo) {
		push @why, 'ended with status 1, and no assertion failed';
	} elsif ($status == 0 && $failed) {
		push @why, 'assertions failed, and it ended with status 0';
	}
	push @why, map { "TAP: $_" } $parser->parse_errors unless $status > 1;
	return ($passed, $failed + @why, $skipped, \@why, \@todo);
}

if (($ARGV[0] // '') eq '--judge') {
	my ($passed, $failed, $skipped, $why) = judge(@ARGV[1, 2], '', '');
	print "$passed $failed $skipped\n", map { "$_\n" } @$why;
	exit;
}

@ARGV == 6 or die "usage: result.pl FOLDER LABEL NAME SECONDS STATUS AGAIN\n";
my ($folder, $label, $name, $seconds, $status, $again) = @ARGV;
my $tap = "$folder/$name.tap";
my ($passed, $failed, $skipped, $why, $todo) = judge($tap, $status, $label, $name);
append($tap, join '', map { "not ok - $_\n" } @$why);
append("$folder/results", "$label|$name|$passed|$failed|$skipped|$seconds\n");
append("$folder/notes", join '', map { "$_\n" } @$todo) if @$todo;

$| = 1;
printf "%-18s %-22s %4d ok, %d not ok%s, %d s\n", $label, $name, $passed, $failed, $skipped ? ", $skipped skipped" : '', $seconds;
open my $in, '<', $tap or die "$tap: $!\n";
my @lines = <$in>;
print map { s/^# cell: /        /r } grep { /^# cell: / } @lines;

my $first = '';
if ($failed) {
	# Each failure with the lines of explanation that follow it; a report of the kernel is long, and is one failure.
	my ($left, $most, @told) = (0, $name =~ /kernel-log$/ ? 80 : 4);
	for (@lines) {
		if (/^not ok (?:\d+ )?(?:- )?(.*)/) {
			$first = $1 if $first eq '';
			$left = $most + 1;
		}
		push @told, $_ if $left-- > 0 && /^(?:not ok|#)/;
	}
	splice @told, 80 if @told > 80;
	my $text = "$label: $name\n" . join('', map { s/\n//; '    ' . substr($_, 0, 400) . "\n" } @told);
	$text .= '    log:   ' . ($tap =~ s/^\Q$top\E\///r) . "\n    again: $again\n";
	append("$folder/failures", $text);
	print $text;
}
append($ENV{KRPING_LEDGER}, join("\t", strftime('%FT%TZ', gmtime), $ENV{KRPING_COMMIT} // '-', $label, $name,
	$failed ? 'red' : 'ok', $seconds, substr($first, 0, 200)) . "\n") if $ENV{KRPING_LEDGER};
exit($failed ? 1 : 0);
