#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Runs the parts of the suite, on the host and in VMs, as many at a time as there are slots, and judges what they say.
#
#   check.pl check|gate   the parts that the file plan beside this one has for that target
#   check.pl deep         all that this commit has no verdict for in the ledger; ONLY="faults.t wire.t": these tests, in any case
#   check.pl test         TEST="ping.t unit oldest:core:rxe", alone: tests of tests/guest/table, parts of host.sh, and cells,
#                         KERNEL:SUITE[:PROVIDER]; with MUTANT, a planted fault, which the tests have to find
#   check.pl report       what the ledger says of this commit: make deep-report
#   check.pl judge FOLDER LABEL  judges one part, which is stdin, and keeps its output in FOLDER (here.sh)
#
# From the environment: OUT, the build folder; PROVIDER, to test only one; KERNEL; N, how often a test is run, each time in a boot
# of its own (make burn); SLOTS, how many parts run at a time: as many as the CPUs allow, at most four (an emulated guest takes one
# CPU, another guest two); KRPING_SEED, the seed of what pairs.t and draw.t draw; KRPING_SOAK, seconds for which draw.t draws.
#
# A part says, between lines of no meaning, which its file "log" gets:
#
#   ### begin NAME [LIMIT], ### end NAME STATUS SECONDS  around the TAP of a test, which hangs after LIMIT seconds
#   ### patience SECONDS   the part hangs if it says nothing for longer, and for longer than the test's LIMIT; USR1 then tells it to end
#   ### died WHY           the test that runs, or the boot, has failed
#   ### instead KERNEL     the kernel that the suite is made for is not to be had: a failure is none of this commit's
#   ### note TEXT          what is not right, and is not for this commit to mend
#
# Below OUT/check/ each part has a folder with a .tap of each test, and console.log, dmesg.log and run.log of a boot; those of the
# run before are in OUT/check.prev/. The line "N passed, N failed", with ", N skipped" if tests were skipped, counts assertions.
# Behind it is "not judged: " with the notes.
#
# The ledger, in the cache folder, outlives a clone. A line for each test of each run, and for each part on the host, has TIME COMMIT
# LABEL NAME ok|red SECONDS FIRST-FAILURE, between tabs; LABEL is "KERNEL PROVIDER SUITE" or "host".

use strict;
use warnings;
use Cwd 'abs_path';
use Digest::SHA 'sha1_hex';
use File::Basename;
use File::Path qw(make_path remove_tree);
use IO::Handle;
use IO::Select;
use List::Util qw(max min sum0 uniq);
use POSIX 'strftime';
use TAP::Parser;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
chdir $top or die "$top: $!\n";
$| = 1;
my $target = $ARGV[0] // '';
my $cache = ($ENV{XDG_CACHE_HOME} || "$ENV{HOME}/.cache") . '/krping';
my $ledger = "$cache/ledger";
my ($kernel, $provider, $test, $mutant) = map { $ENV{$_} // '' } qw(KERNEL PROVIDER TEST MUTANT);
my ($commit, @jobs, @notes);

sub fail { print STDERR "krping: @_\n"; exit 2 }
sub output { my $text = qx(@_); chomp $text; return $text }
sub lines { open my $in, '<', $_[0] or return; return map { s/\n//r } <$in> }
sub rows { return grep { !/^(?:#|$)/ } lines($_[0]) }
sub clock { my $s = shift; return sprintf '%d:%02d', $s / 60, $s % 60 }
sub within_top { return $_[0] =~ s/^\Q$top\E\///r }

sub append {
	my ($file, @text) = @_;
	open my $out, '>>', $file or die "$file: $!\n";
	print $out @text;
	close $out or die "$file: $!\n";
}

sub to_ledger {
	my ($commit, $label, $name, $failed, $secs, $first) = @_;
	append($ledger, join("\t", strftime('%FT%TZ', gmtime), $commit, $label, $name, $failed ? 'red' : 'ok', $secs, substr($first, 0, 200)) . "\n");
}

# --- what a part says ---

my @allowed = rows('tests/skips.allow');
my @quarantine = map { [split /\|/] } rows('tests/quarantine');

# judge FILE STATUS LABEL NAME: (passed, failed, skipped, reasons that FILE does not show...). A test that did not end has no STATUS.
sub judge {
	my ($file, $status, $label, $name) = @_;
	my ($passed, $failed, $skipped, $excused, @why) = (0, 0, 0, 0);
	my $text = join '', map { "$_\n" } lines($file);
	# The parser does not accept an empty text as TAP.
	my $parser = TAP::Parser->new({ tap => $text =~ /\S/ ? $text : "# nothing\n" });
	while (my $line = $parser->next) {
		push @why, 'bails out: ' . $line->explanation if $line->is_bailout;
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
			push @why, "a test that is yet to be written: $what";
		} elsif ($line->is_actual_ok) {
			$passed++;
		} elsif (my ($row) = grep { $name eq $_->[0] && $what =~ /$_->[1]/ && $label =~ /^(?:$_->[2])$/ } @quarantine) {
			$excused++;
			push @notes, "$label: $name: $what: quarantined: $row->[3]";
		} else {
			$failed++;
		}
	}
	# A test that makes no assertion, or skips all of them, has shown nothing.
	push @why, 'no assertion: ' . ($parser->skip_all || 'it has none') unless $passed + $failed + $skipped + @why + $excused;
	return ($passed, $failed + @why, $skipped, @why) unless defined $status;
	# The exit statuses with which run-all.sh and host.sh end a test.
	my %means = (124 => 'HANG: its time was up', 137 => 'HANG: its time was up', 99 => 'it left a run behind');
	if ($status > 1) {
		push @why, $means{$status} // "ended with status $status";
	} elsif ($status && !$failed && !$excused) {
		push @why, 'ended with status 1, and no assertion failed';
	} elsif (!$status && $failed) {
		push @why, 'assertions failed, and it ended with status 0';
	}
	push @why, map { "TAP: $_" } $parser->parse_errors unless $status > 1;
	return ($passed, $failed + @why, $skipped, @why);
}

# again JOB NAME: the command that runs a test again. The name of one that ran with another folder's tools, or under observation,
# has an @; a name that is not a test's stands for the whole cell.
sub again {
	my ($j, $name) = @_;
	return $j->{again} unless $j->{cell};
	my ($kernel, $suite, $provider, @tests) = @{$j->{cell}};
	@tests = $1 if $name =~ /^(?:planted-\w+-)?([^@]*\.t)/;
	return "make check TEST=$kernel:$suite:$provider" if !@tests || grep { !/\.t$/ } @tests;
	return "make check TEST='@tests' KERNEL=$kernel PROVIDER=$provider" . ($mutant && " MUTANT=$mutant");
}

sub begin_test {
	my ($j, $name, $limit) = @_;
	@$j{qw(test limit since)} = ($name, $limit // 0, time);
	open $j->{tap}, '>', "$j->{folder}/$name.tap" or die "$j->{folder}/$name.tap: $!\n";
	$j->{tap}->autoflush;
}

# end_test JOB STATUS SECONDS: judges the test that runs, and tells the result.
sub end_test {
	my ($j, $status, $secs) = @_;
	my ($name, $label) = (delete $j->{test}, $j->{label});
	my $tap = "$j->{folder}/$name.tap";
	close delete $j->{tap};
	my ($passed, $failed, $skipped, @why) = judge($tap, $status, $label, $name);
	append($tap, map { "not ok - $_\n" } @why);
	push @{$j->{results}}, { name => $name, passed => $passed, failed => $failed, skipped => $skipped };
	printf "%-18s %-22s %4d ok, %d not ok%s, %d s\n", $label, $name, $passed, $failed, $skipped ? ", $skipped skipped" : '', $secs;
	my @lines = lines($tap);
	print map { /^# cell: (.*)/ ? "        $1\n" : () } @lines;
	my $first = '';
	if ($failed) {
		# Each failure with the lines of explanation that follow it; a report of the kernel is long, and is one failure.
		my ($left, $most, @told) = (0, $name =~ /kernel-log$/ ? 80 : 4);
		for (@lines) {
			if (/^not ok (?:\d+ )?(?:- )?(.*)/) {
				$first = $1 if $first eq '';
				$left = $most + 1;
			}
			push @told, '    ' . substr($_, 0, 400) . "\n" if $left-- > 0 && /^(?:not ok|#)/;
		}
		splice @told, 80 if @told > 80;
		push @{$j->{failures}}, join '', "$label: $name\n", @told, '    log:   ', within_top($tap), "\n    again: ", again($j, $name), "\n";
		print $j->{failures}[-1];
		$j->{first} //= $first;
	}
	to_ledger($commit, $label, $name, $failed, $secs, $first) if $j->{cell};
}

# red JOB NAME WHY: a failure that no test could assert: that of the test that runs, or else of a test NAME.
sub red {
	my ($j, $name, $why) = @_;
	begin_test($j, $name) unless $j->{test};
	print { $j->{tap} } "not ok - $why\n";
	end_test($j, undef, time - $j->{since});
}

sub hear {
	my ($j, $line) = @_;
	if ($line =~ /^### begin (\S+) ?(\d*)$/) {
		begin_test($j, $1, $2 || 0);
	} elsif ($line =~ /^### end (\S+) (\d+) (\d+)$/ && $j->{test}) {
		# Whether a planted fault was found is an assertion of faults-planted.
		if ($1 =~ /^planted-/) { delete @$j{qw(test tap)} } else { end_test($j, $2, $3) }
	} elsif ($line =~ /^### (patience|instead|died) (.*)/) {
		$j->{$1} //= $2;
		red($j, 'boot', $j->{died}) if $1 eq 'died';
	} elsif ($line =~ /^### note (.*)/) {
		push @notes, "$j->{label}: $1";
	} elsif ($j->{test}) {
		print { $j->{tap} } "$line\n";
	} else {
		append("$j->{folder}/log", "$line\n");
		print "$line\n" if $line =~ /^krping: /;
	}
}

# ended JOB STATUS: a part has ended. What it did not do must not look like success.
sub ended {
	my ($j, $status) = @_;
	red($j, '', $j->{died} // "it did not end: status $status") if $j->{test};
	if ($j->{cell} && !$j->{died}) {
		my %has = map { $_->{name} => 1 } @{$j->{results}};
		my ($kernel, $suite, $provider, @tests) = @{$j->{cell}};
		@tests = $mutant ? 'faults-planted' : @tests ? @tests : items($suite, $provider);
		red($j, $_, "$_ was not run") for grep { !$has{$_} } @tests, 'kernel-log';
	}
	# Where no program says "error:", the line before make's own is the cause.
	my $said = join "\n", lines("$j->{folder}/log");
	my $cause = $said =~ /^(.*error:.*)/m || $said =~ /^(.*)\n.*\*\*\*/m || $said =~ /(.*)\z/ ? $1 : '';
	red($j, $j->{name}, $status ? "ended with status $status: $cause" : 'it left no result')
		if !defined $j->{first} && ($status || !$j->{results} && !$j->{prepares});
	$j->{state} = defined $j->{first} ? 'bad' : 'good';
	to_ledger($j->{key}, 'host', $j->{part}, $j->{first}, $j->{took}, $j->{first} // '') if $j->{part};
}

if ($target eq 'judge') {
	my $j = { name => 'here', folder => $ARGV[1], label => $ARGV[2], again => 'make check-here' };
	while (<STDIN>) {
		chomp;
		hear($j, $_);
	}
	ended($j, 0);
	exit($j->{state} eq 'good' ? 0 : 1);
}

# --- the suite ---

my $out = $ENV{OUT} ||= "$top/build";
my $dir = "$out/check";
# The oldest kernel is also the default of make demo and make check: it has the same name here, so that it is prepared once.
my $oldest = output('KERNEL=oldest tests/vm/kernel.sh --version');
my %suite = map { my @f = split; ($f[0] => { providers => [split /,/, $f[1]], options => $f[3] }) } rows('tests/suites');
sub kernel_of { return $_[0] eq 'oldest' ? $oldest : $_[0] }

# This commit's name in the ledger. What is changed and not committed has a name of its own.
$commit = output('git rev-parse --short=12 HEAD 2>/dev/null') || 'none';
if (my $changed = output('(git diff HEAD; git ls-files -o -z --exclude-standard | xargs -0 -r cat) 2>/dev/null')) {
	$commit .= '+' . substr(sha1_hex($changed), 0, 6);
}
# A part that tests the tests, and that was green with the same inputs, is not run again. Its key stands in place of the commit.
sub key_of { return 'in:' . substr(output("git ls-files -z -- " . $_[0] =~ tr/,/ /r . " | xargs -0 cat | sha1sum"), 0, 12) }

# The parts of the plan, a cell for each of its providers.
my (@parts, %preparation);
for (rows('tests/check/plan')) {
	my ($part, $targets, $secs, $inputs) = split;
	my ($where, $what, $which) = split /:/, $part;
	my %row = (part => $part, targets => $targets, secs => $secs, what => $what, inputs => $inputs, label => 'host');
	if ($where eq 'prepare') {
		$preparation{kernel_of($what)} = $secs;
	} elsif ($where eq 'host') {
		push @parts, { %row, kernel => kernel_of($which // 'oldest'), key => $inputs ? key_of($inputs) : $commit };
	} else {
		my $k = kernel_of($where);
		push @parts, map { { %row, kernel => $k, key => $commit, provider => $_, label => "$k $_ $what" } } $which // @{$suite{$what}{providers}};
	}
}

# items SUITE PROVIDER: the names of all results of that cell which do not come with each boot.
sub items {
	my ($suite, $provider) = @_;
	my @items = map { (split)[0] } split /\n/, output("tests/select.sh tests $suite $provider");
	push @items, 'observers' if $suite{$suite}{options} =~ /observed/;
	push @items, 'faults-planted' if output("tests/select.sh mutants $suite $provider");
	return uniq @items;
}
sub items_of { my $p = shift; return $p->{provider} ? items($p->{what}, $p->{provider}) : $p->{part} }

# The lines of the ledger: {LABEL NAME} -> the verdicts, the newest last.
my %verdicts;
for (lines($ledger)) {
	my (undef, $commit, $label, $name, $verdict, undef, $first) = split /\t/;
	push @{$verdicts{"$label $name"}}, { commit => $commit, verdict => $verdict, first => $first // '' };
}
# is_done PART ITEM: has this commit a verdict for that? With inputs only a good one counts.
sub is_done {
	my ($p, $item) = @_;
	return grep { $_->{commit} eq $p->{key} && (!$p->{inputs} || $_->{verdict} eq 'ok') } @{$verdicts{"$p->{label} $item"} // []};
}

# --- jobs ---

# job NAME SECONDS LABEL NEEDS COMMAND [KEY VALUE]...: the jobs NEEDS have to succeed before it begins.
sub job {
	my ($name, $secs, $label, $needs, $command, @more) = @_;
	my ($j) = grep { $_->{name} eq $name } @jobs;
	return $j if $j;
	push @jobs, { name => $name, secs => $secs, label => $label, needs => $needs, command => $command, state => 'waits', folder => "$dir/$name",
		again => "@$command", alone => 0, @more };
	return $jobs[-1];
}

# prepared KERNEL [NAME FAULT...]: the job that makes what all cells of that kernel need, and then the one that plants these faults.
sub prepared {
	my ($kernel, $name, @faults) = @_;
	my ($cached) = (glob("$cache/{chosen-$kernel-,kernel-$kernel}*"), $kernel =~ /^(?:newest|longterm|realtime)$/ ? glob("$cache/root-trixie-*") : ());
	my @make = ('make', '--no-print-directory', "KERNEL=$kernel");
	my $base = job("prepare-$kernel", $cached ? 30 : $preparation{$kernel} // 120, "$kernel prepare", [], [@make, 'vm-all'], prepares => 1);
	return $base unless @faults;
	return job("faults-$kernel-$name", 10 * @faults, "$kernel prepare", [$base], [@make, 'vm-mutant', "MUTANT=@faults"], prepares => 1);
}

# add_cell KERNEL SUITE PROVIDER SECONDS [TEST]...
sub add_cell {
	my ($kernel, $suite, $provider, $secs, @tests) = @_;
	my @faults = $mutant || !@tests || grep({ $_ eq 'faults-planted' } @tests) ?
		$mutant || uniq map { /^([^|]*)/ } split /\n/, output("tests/select.sh mutants $suite any") : ();
	my $need = prepared($kernel, $mutant || $suite, @faults);
	my $times = $ENV{N} || 1;
	for my $n (1 .. $times) {
		my $name = "$kernel-$provider-$suite" . ($times > 1 ? "-$n" : '');
		# A suite of two VMs has both CPUs.
		job($name, $secs, "$kernel $provider $suite", [$need], ['tests/check/cell.sh', "$dir/$name", $kernel, $provider, $suite, @tests],
			cell => [$kernel, $suite, $provider, @tests], alone => $suite{$suite}{options} =~ /pair|together/ ? 1 : 0);
	}
}

# add_host PART KERNEL SECONDS [KEY VALUE]...
sub add_host {
	my ($part, $kernel, $secs, @more) = @_;
	my $name = "host-$part" . ($kernel eq $oldest ? '' : "-$kernel");
	job($name, $secs, "$kernel host", [prepared($kernel)], ['tests/check/host.sh', "$dir/$name", $part, $kernel],
		again => "make check TEST=$part KERNEL=$kernel", @more);
}

# add_parts [ONLY]...: adds the parts of the plan which the target has.
sub add_parts {
	my %only = map { $_ => 1 } @_;
	my @skipped;
	for my $p (grep { $target eq 'deep' || $_->{targets} =~ /\b$target\b/ || $target eq 'gate' && $_->{targets} =~ /\bcheck\b/ } @parts) {
		my @all = $target eq 'deep' || $p->{inputs} ? items_of($p) : '';
		my @tests = grep { %only ? $only{s/^host:([^:]*).*/$1/r} : $_ eq '' || !is_done($p, $_) } @all;
		if (!@tests) {
			push @skipped, $p->{what} if $p->{inputs} && !%only;
		} elsif ($p->{provider}) {
			next if $provider && $p->{provider} ne $provider;
			add_cell($target eq 'check' && $kernel || $p->{kernel}, @$p{qw(what provider secs)}, @tests == @all ? () : @tests);
		} elsif ($target ne 'check' || !$provider && ($kernel || $oldest) eq $oldest) {
			add_host(@$p{qw(what kernel secs)}, part => $p->{part}, key => $p->{key});
		}
	}
	print 'as before, and not run again: ', join(', ', @skipped), "\n" if @skipped;
}

# --- the queue ---

my ($begin, $ratio, %way) = (time, 1);

# way JOB: the seconds from that job's beginning to the end of the longest chain of jobs behind it.
sub way {
	my $j = shift;
	return $way{$j} //= $j->{secs} + max(0, map { way($_) } grep { grep { $_ == $j } @{$_->{needs}} } @jobs);
}

# done_share JOB: which share of a running job is done: of a cell by the seconds that the table has for its tests.
sub done_share {
	my $j = shift;
	return min(0.95, (time - $j->{begin}) / $ratio / $j->{secs}) unless $j->{cell};
	my (undef, $suite, $provider, @tests) = @{$j->{cell}};
	$j->{tests} //= { map { (split)[0, 3] } map { split /\n/, output("tests/select.sh tests $suite $provider $_") } @tests ? @tests : '' };
	my $all = sum0(values %{$j->{tests}}) or return 0;
	return min(0.95, sum0(map { $j->{tests}{$_->{name}} // 0 } @{$j->{results}}) / $all);
}

# progress SLOTS: a line about the running jobs, and the time that is left if this machine goes on as it has so far.
sub progress {
	my $slots = shift;
	my ($left, $longest, $planned, $took, @now) = (0, 0, 0, 0);
	for my $j (@jobs) {
		my $share = $j->{state} eq 'waits' ? 0 : $j->{state} eq 'runs' ? done_share($j) : 1;
		my $rest = $j->{secs} * (1 - $share);
		push @now, "$j->{name} " . clock(time - $j->{begin}) . ($j->{test} ? " ($j->{test})" : '') if $j->{state} eq 'runs';
		# A part on the host that takes longer than planned tells that, too.
		if (!$j->{prepares} && $share > ($j->{cell} ? 0.2 : 0.9)) {
			$planned += $j->{secs} * $share;
			$took += $j->{took} // time - $j->{begin};
		}
		$left += $rest * ($j->{alone} ? $slots : 1);
		$longest = max($longest, $rest + way($j) - $j->{secs}) if $rest;
	}
	# The first parts say little of all others.
	$ratio = ($took + 200) / ($planned + 200);
	printf "-- %s  %d of %d parts done, %s; about %d min left\n", clock(time - $begin), scalar grep({ $_->{state} =~ /good|bad/ } @jobs),
		scalar @jobs, join(', ', @now), max($left / $slots, $longest) * $ratio / 60 + 0.99;
}

sub start {
	my $j = shift;
	make_path($j->{folder});
	@$j{qw(state begin heard)} = ('runs', (time) x 2);
	$j->{pid} = open($j->{from}, '-|') // die "fork: $!\n";
	# A process group of its own, with what the part starts: stop() ends all of it. Both sides say so, as either may be the first.
	setpgrp $j->{pid}, $j->{pid};
	return if $j->{pid};
	$SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
	open STDERR, '>&', \*STDOUT;
	open STDIN, '<', '/dev/null';
	exec @{$j->{command}} or die "@{$j->{command}}: $!\n";
}

sub stop {
	kill -TERM => map { $_->{state} eq 'runs' ? $_->{pid} : () } @jobs;
	1 while wait > 0;
	exit 130;
}

# listen JOB: reads what a job says; at the end takes its status.
sub listen_to {
	my $j = shift;
	my $got = sysread $j->{from}, $j->{said}, 65536, length($j->{said} //= '');
	$j->{heard} = time;
	hear($j, $1) while $j->{said} =~ s/^(.*)\n//;
	return if $got;
	hear($j, $j->{said}) if $j->{said} ne '';
	close delete $j->{from};
	delete $j->{said};
	my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
	$j->{took} = time - $j->{begin};
	return ended($j, $status) unless $status == 75;
	# The guest died, and its log has only reports of the provider or of the environment: a machine may be so slow that a watchdog barks.
	# The second death counts.
	rename $j->{folder}, "$j->{folder}.first" or die "$j->{folder}: $!\n";
	delete @$j{qw(test tap died patience results failures first)};
	$j->{state} = 'waits';
	push @notes, "$j->{label}: the first guest died, and not of krping: " . within_top("$j->{folder}.first");
	print "$notes[-1]; it is booted once more\n";
}

sub run_jobs {
	my $slots = shift;
	my $told = time;
	local @SIG{qw(INT TERM HUP)} = (\&stop) x 3;
	while (1) {
		my @running = grep { $_->{state} eq 'runs' } @jobs;
		while (@running < $slots && !grep { $_->{alone} } @running) {
			# A job that has to be alone comes last, so that no job waits for its end.
			my ($j) = sort { $a->{alone} <=> $b->{alone} || way($b) <=> way($a) }
				grep { $_->{state} eq 'waits' && !grep { $_->{state} ne 'good' } @{$_->{needs}} } @jobs;
			last if !$j || $j->{alone} && @running;
			start($j);
			push @running, $j;
		}
		last unless @running;
		my %from = map { $_->{from} => $_ } @running;
		listen_to($from{$_}) for IO::Select->new(map { $_->{from} } @running)->can_read(1);
		for my $j (grep { $_->{patience} && $_->{state} eq 'runs' } @running) {
			my $patience = $j->{patience} + ($j->{test} ? $j->{limit} : 0);
			next if time - $j->{heard} <= $patience;
			@$j{qw(died patience)} = ("HANG: the guest said nothing for $patience s", 0);
			kill USR1 => $j->{pid};
		}
		next if time - $told < 30;
		$told = time;
		progress($slots);
	}
	for my $j (grep { $_->{state} eq 'waits' } @jobs) {
		make_path($j->{folder});
		red($j, $j->{name}, 'not run: what it needs failed (' . join(' ', map { $_->{name} } @{$j->{needs}}) . ')');
	}
}

# --- the report of the ledger ---

sub report {
	my ($ran, @red, @flaky) = (0);
	for my $key (sort keys %verdicts) {
		my @here = grep { $_->{commit} eq $commit } @{$verdicts{$key}};
		my %by;
		$by{$_->{commit}}{$_->{verdict}}++ for @{$verdicts{$key}};
		$ran++ if @here;
		if (@here && $here[-1]{verdict} eq 'red') {
			my ($before) = grep { $_->{commit} ne $commit } reverse @{$verdicts{$key}};
			push @red, sprintf "%s  %s: %s\n", !$before ? 'red, first seen' : $before->{verdict} eq 'ok' ? 'new red' : 'red as before', $key, $here[-1]{first};
		}
		push @flaky, map { "flaky    $key: $by{$_}{ok} ok, $by{$_}{red} red on $_\n" } grep { $by{$_}{ok} && $by{$_}{red} } keys %by;
	}
	print "commit $commit: $ran results\n", @red, @flaky;
	for my $p (@parts) {
		my @all = items_of($p);
		my @not = grep { !is_done($p, $_) } @all or next;
		printf "not run  %-24s %d of %d: %.90s\n", $p->{label} eq 'host' ? $p->{part} : $p->{label}, scalar @not, scalar @all, "@not";
	}
	my @old;
	for (@quarantine) {
		my ($file, undef, undef, $reason, $day) = @$_;
		my $age = int((time - output("date -d '$day' +%s")) / 86400);
		print "quarantine  $file: $reason: $age days\n";
		push @old, $file if $age > 21;
	}
	print "too long in quarantine: @old\n" if @old;
	exit(@red || @old ? 1 : 0);
}

# --- what is to be done ---

if ($target eq 'report') {
	report();
} elsif ($target eq 'deep') {
	# A part of the gate draws with a seed of its own; here each run draws another one, and prints it.
	$ENV{KRPING_SEED} ||= time;
	add_parts(split /[\s,]+/, $ENV{ONLY} // '');
	if (!@jobs) {
		print "nothing is left to be run for $commit: make deep-report\n";
		exit 0;
	}
} elsif ($target =~ /^(?:check|gate)$/) {
	add_parts();
} elsif ($target eq 'test') {
	$kernel ||= $oldest;
	my %host = map { $_ => 1 } split /\n/, output('tests/check/host.sh - list');
	my %tests = map { ((split)[0] => 1) } rows('tests/guest/table');
	my %cells;
	for my $t (split /[\s,]+/, $test) {
		if (my ($k, $s, $p) = $t =~ /^(\w+(?:\.\w+)*):(\w+)(?::(\w+))?$/) {
			fail("TEST=$t: tests/suites has no such suite") unless $suite{$s};
			my ($row) = grep { $_->{what} eq $s } @parts;
			add_cell(kernel_of($k), $s, $_, $row ? $row->{secs} : 300) for $p // @{$suite{$s}{providers}};
		} elsif ($tests{$t}) {
			my @suites = grep { $_->[0] } map { [output("tests/select.sh suite-of $t $kernel $_"), $_] } $provider || qw(rxe siw);
			fail("TEST=$t: tests/guest/table does not have it for $provider") unless @suites;
			push @{$cells{"@$_"}}, $t for @suites;
		} elsif ($host{$t}) {
			add_host($t, $kernel, 60);
		} else {
			fail("TEST=$t: neither a test of tests/guest/table, nor a part of tests/check/host.sh, nor KERNEL:SUITE:PROVIDER");
		}
	}
	add_cell($kernel, split(/ /), 60, @{$cells{$_}}) for sort keys %cells;
	fail('TEST names no test') unless @jobs;
} else {
	fail('usage: check.pl check|gate|deep|test|report|judge');
}

# --- the run ---

remove_tree("$dir.prev");
rename $dir, "$dir.prev";
make_path($dir, "$out/guest", $cache);

# Programs that tests run in the guest. Each source names the libraries that it is linked with.
for my $f (glob 'tests/guest/*.c') {
	my ($libs) = map { /krping-link: *(.*)/ ? $1 : () } lines($f);
	my $cc = $ENV{CC} || 'cc';
	system("$cc -O1 -Wall -Wextra -Werror -o $out/guest/" . basename($f, '.c') . " $f " . ($libs // '')) == 0 or exit 1;
}

# Probe for KVM once here, before several jobs would do it at the same time.
my $slots = $ENV{SLOTS};
if (!$slots) {
	system('KERNEL= tests/vm/kernel.sh >/dev/null') == 0 or exit 1;
	my $cpus = output('nproc');
	$slots = max(1, min(4, int(output('tests/vm/run.sh --accel') eq 'tcg' ? $cpus : $cpus / 2)));
}
printf "%s: %d parts, %d at a time; about %d min where this was measured (two cores, emulated guests); logs in %s/\n", $target, scalar @jobs, $slots,
	max(sum0(map { $_->{secs} * ($_->{alone} ? $slots : 1) } @jobs) / $slots, map { way($_) } @jobs) / 60 + 0.99, within_top($dir);
run_jobs($slots);

printf "\n%-28s %8s %8s\n", 'part', 'seconds', 'planned';
printf "%-28s %8d %8d\n", @$_{qw(name took secs)} for sort { $b->{took} <=> $a->{took} } grep { ($_->{took} // 0) > 9 } @jobs;
printf "%-28s %8d\n", 'all of it', time - $begin;
my @failures = map { @{$_->{failures} // []} } @jobs;
print "\nWhat failed:\n", @failures if @failures;

my ($passed, $failed, $skipped) = (0, 0, 0);
for my $j (@jobs) {
	push @notes, "$j->{label}: on $j->{instead}" if $j->{instead};
	for (@{$j->{results}}) {
		$passed += $_->{passed};
		$skipped += $_->{skipped};
		# The suite is made for certain kernels. What another one does differently is not for this commit to mend.
		if ($_->{failed} && $j->{instead}) {
			push @notes, "$j->{label}: $_->{name}: $_->{failed} failed on a kernel that the suite is not made for";
		} else {
			$failed += $_->{failed};
		}
	}
}
print "\n$passed passed, $failed failed", $skipped ? ", $skipped skipped" : '', "\n";
print 'not judged: ', join('; ', uniq @notes), "\n" if @notes;
exit($failed || !$passed ? 1 : 0);
