#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Runs the parts of the suite, on the host and in VMs, as many at a time as there are slots.
#
#   check.pl check|gate   the parts that the file plan beside this one has for that target
#   check.pl deep         all that this commit has no verdict for in the ledger; ONLY="faults.t wire.t": these tests, in any case
#   check.pl test         the tests TEST="ping.t errors.t", alone: tests of tests/guest/table, or parts of host.sh; with MUTANT, a
#                         planted fault, which they have to find
#   check.pl cell         one cell, CELL=KERNEL:SUITE[:PROVIDER]; N=60: so many boots of that cell
#   check.pl report       what the ledger says of this commit: make deep-report
#
# From the environment: OUT, the build folder; PROVIDER, to test only one; KERNEL; N, how often a test is run, each time in a boot
# of its own (make burn); SLOTS, how many parts run at a time: as many as the CPUs allow, at most four (an emulated guest takes one
# CPU, another guest two); KRPING_SEED, the seed of what pairs.t and draw.t draw; KRPING_SOAK, seconds for which draw.t draws.
#
# Below OUT/check/ each part has a folder with a .tap of each test, and console.log, dmesg.log and run.log of a boot; those of the
# run before are in OUT/check.prev/. The line "N passed, N failed", with ", N skipped" if tests were skipped, counts assertions.
# Behind it is "not judged: ", if there is something that is not right and that is not for this commit to mend.
#
# The ledger, in the cache folder, outlives a clone: result.pl writes a line for each test of each run.

use strict;
use warnings;
use Cwd 'abs_path';
use Digest::SHA 'sha1_hex';
use File::Basename;
use File::Path qw(make_path remove_tree);
use List::Util qw(max min sum0);
use POSIX qw(:sys_wait_h strftime);

my $top = abs_path(dirname(abs_path($0)) . '/../..');
chdir $top or die "$top: $!\n";
$| = 1;
my $target = $ARGV[0] // '';
my $out = $ENV{OUT} ||= "$top/build";
my $dir = "$out/check";
my $cache = ($ENV{XDG_CACHE_HOME} || "$ENV{HOME}/.cache") . '/krping';
my $ledger = $ENV{KRPING_LEDGER} //= "$cache/ledger";
my ($kernel, $provider, $test, $mutant) = map { $ENV{$_} // '' } qw(KERNEL PROVIDER TEST MUTANT);
my $times = $ENV{N} || 1;

sub fail { print STDERR "krping: @_\n"; exit 2 }
sub output { my $text = qx(@_); chomp $text; return $text }
sub lines { open my $in, '<', $_[0] or return; return map { s/\n//r } <$in> }
sub rows { return grep { !/^(?:#|$)/ } lines($_[0]) }
sub clock { my $s = shift; return sprintf '%d:%02d', $s / 60, $s % 60 }

# --- the suite ---

my @plan = map { { part => $_->[0], targets => $_->[1], secs => $_->[2], inputs => $_->[3] // '' } } map { [split] } rows('tests/check/plan');
my %tests_row = map { ((split)[0] => 1) } rows('tests/guest/table');
my %suite = map { my @f = split; ($f[0] => { providers => [split /,/, $f[1]], options => $f[3] }) } rows('tests/suites');

# The oldest kernel is also the default of make demo and make check: it has the same name here, so that it is prepared once.
my $oldest = output('KERNEL=oldest tests/vm/kernel.sh --version');
sub kernel_of { return $_[0] eq 'oldest' ? $oldest : $_[0] }

# This commit's name in the ledger. What is changed and not committed has a name of its own.
my $commit = output('git rev-parse --short=12 HEAD 2>/dev/null') || 'none';
if (my $changed = output('(git diff HEAD; git ls-files -o -z --exclude-standard | xargs -0 -r cat) 2>/dev/null')) {
	$commit .= '+' . substr(sha1_hex($changed), 0, 6);
}
$ENV{KRPING_COMMIT} = $commit;

# verdicts: {LABEL NAME} -> its lines of the ledger, the newest last.
sub verdicts {
	my %of;
	for (lines($ledger)) {
		my ($time, $commit, $label, $name, $verdict, $secs, $first) = split /\t/;
		push @{$of{"$label $name"}}, { time => $time, commit => $commit, verdict => $verdict, secs => $secs, first => $first // '' };
	}
	return \%of;
}

# items KERNEL SUITE PROVIDER: the names of all results of that cell which do not come with each boot.
sub items {
	my ($kernel, $suite, $provider) = @_;
	my %seen;
	my @items = grep { !$seen{$_}++ } map { (split)[0] } split /\n/, output("tests/select.sh tests $suite $provider");
	push @items, 'observers' if $suite{$suite}{options} =~ /observed/;
	push @items, 'faults-planted' if output("tests/select.sh mutants $suite $provider");
	return @items;
}

# --- jobs ---

my (%job, @order);
# job NAME SECONDS [NEEDS] COMMAND...: the jobs NEEDS have to succeed before it begins.
sub job {
	my ($name, $secs, $needs, @command) = @_;
	return $name if $job{$name};
	$job{$name} = { name => $name, secs => $secs, needs => $needs, command => \@command, state => 'waits', folder => "$dir/$name" };
	push @order, $name;
	return $name;
}

# The seconds that preparing a kernel takes if the cache has the kernel, and if it does not.
sub prepared {
	my ($kernel, $option, $name) = @_;
	my ($plan) = grep { $_->{part} eq "prepare:$kernel" || $kernel eq $oldest && $_->{part} eq 'prepare:oldest' } @plan;
	my $cached = () = glob("$cache/chosen-$kernel-* $cache/kernel-$kernel*");
	$cached = 1 if $kernel =~ /^(?:newest|longterm|realtime)$/ && glob("$cache/root-trixie-*");
	my $root = $kernel eq $oldest ? [] : [job('root-trixie', glob("$cache/root-trixie-*") ? 1 : 60, [], 'tests/vm/root.sh', 'trixie')];
	my $base = job("prepare-$kernel", $cached ? 30 : $plan ? $plan->{secs} : 120, $root, 'tests/check/prepare.sh', "$dir/prepare-$kernel", $kernel);
	return $base unless $name;
	return job("faults-$kernel-$name", $option eq '--suite' ? 100 : 10, [$base], 'tests/check/prepare.sh', "$dir/faults-$kernel-$name", $kernel, $option, $name);
}

# add_cell KERNEL SUITE PROVIDER SECONDS [TEST]...
sub add_cell {
	my ($kernel, $suite, $provider, $secs, @tests) = @_;
	my $need = $mutant ? prepared($kernel, '--mutant', $mutant) :
		(!@tests || grep { $_ eq 'faults-planted' } @tests) && output("tests/select.sh mutants $suite any") ?
		prepared($kernel, '--suite', $suite) : prepared($kernel);
	for my $n (1 .. $times) {
		my $name = "$kernel-$provider-$suite" . ($times > 1 ? "-$n" : '');
		job($name, $secs, [$need], 'tests/check/cell.sh', "$dir/$name", $kernel, $provider, $suite, @tests);
		$job{$name}{cell} = [$kernel, $suite, $provider, @tests];
		# A suite of two VMs has both CPUs.
		$job{$name}{alone} = $suite{$suite}{options} =~ /pair|together/;
	}
}

sub add_host {
	my ($part, $kernel, $secs) = @_;
	my $name = "host-$part" . ($kernel eq $oldest ? '' : "-$kernel");
	job($name, $secs, [prepared($kernel)], 'tests/check/host.sh', "$dir/$name", $part, $kernel);
}

# unchanged INPUTS PART: a part that tests the tests, and that was green with the same inputs, is not run again. Its key stands in
# the ledger in place of the commit.
sub key_of { return 'in:' . substr(sha1_hex(output("git ls-files -z -- " . $_[0] =~ tr/,/ /r . " | xargs -0 cat | sha1sum")), 0, 12) }

# parts TARGET: adds the rows of the plan which that target has.
sub add_parts {
	my ($target, $of, $only) = @_;
	my @skipped;
	for my $row (grep { $_->{part} !~ /^prepare:/ } @plan) {
		my ($where, $what, $which) = split /:/, $row->{part};
		next unless $target eq 'deep' || ",$row->{targets}," =~ /,$target,/ || $target eq 'gate' && ",$row->{targets}," =~ /,check,/;
		if ($where eq 'host') {
			my $kernel = kernel_of($which // 'oldest');
			next if $only && !$only->{$what};
			my $key = $row->{inputs} ? key_of($row->{inputs}) : $commit;
			if ($row->{inputs} && !$only && grep { $_->{commit} eq $key && $_->{verdict} eq 'ok' } @{$of->{"host $row->{part}"} // []}) {
				push @skipped, $what;
				next;
			}
			next if $target eq 'deep' && !$only && grep { $_->{commit} eq $commit } @{$of->{"host $row->{part}"} // []};
			next if $ENV{ONE_CELL};
			@{$job{add_host($what, $kernel, $row->{secs})}}{qw(part key)} = ($row->{part}, $key);
			next;
		}
		$where = kernel_of($where);
		for my $p ($which ? $which : @{$suite{$what}{providers}}) {
			next if $provider && $p ne $provider;
			my @tests;
			if ($target eq 'deep') {
				my @all = items($where, $what, $p);
				@tests = $only ? grep { $only->{$_} } @all :
					grep { my $l = $of->{"$where $p $what $_"}; !$l || !grep { $_->{commit} eq $commit } @$l } @all;
				next unless @tests;
				@tests = () if @tests == @all;
			}
			add_cell($kernel && $target eq 'check' ? $kernel : $where, $what, $p, $row->{secs}, @tests);
		}
	}
	print 'as before, and not run again: ', join(', ', @skipped), "\n" if @skipped;
}

# --- the queue ---

my ($begin, %running) = (time);
my $ratio = 1;

# way NAME: the seconds from that job's beginning to the end of the longest chain of jobs behind it.
my %way;
sub way {
	my $name = shift;
	return $way{$name} //= $job{$name}{secs} + max(0, map { way($_) } grep { my $j = $_; grep { $_ eq $name } @{$job{$j}{needs}} } @order);
}

# done_share JOB: which share of a running cell's tests has ended, in seconds of the table.
sub done_share {
	my $job = shift;
	return 0 unless $job->{cell};
	my ($kernel, $suite, $provider, @tests) = @{$job->{cell}};
	my %secs = %{$job->{tests} //= { map { my @f = split; ($f[0] => $f[3]) } map { split /\n/, output("tests/select.sh tests $suite $provider $_") } @tests ? @tests : '' }};
	my $all = sum0(values %secs) or return 0;
	return min(0.95, sum0(map { $secs{(split)[0] // ''} // 0 } lines("$job->{folder}/ended")) / $all);
}

# progress SLOTS: a line about the running jobs, and the time that is left if this machine goes on as it has so far.
sub progress {
	my $slots = shift;
	my ($left, $longest, $planned, $took, @now) = (0, 0, 0, 0);
	for my $j (map { $job{$_} } @order) {
		my $rest = 0;
		if ($j->{state} eq 'waits') {
			$rest = $j->{secs};
		} elsif ($j->{state} eq 'runs') {
			my $share = done_share($j);
			$rest = $j->{cell} ? $j->{secs} * (1 - $share) : max(5, $j->{secs} - (time - $j->{begin}) / $ratio);
			if ($share > 0.2) {
				$planned += $j->{secs} * $share;
				$took += time - $j->{begin};
			}
			push @now, "$j->{name} " . clock(time - $j->{begin}) . join '', map { " ($_)" } lines("$j->{folder}/now");
		} elsif ($j->{took} && $j->{name} !~ /^(?:prepare|faults|root)-/) {
			$planned += $j->{secs};
			$took += $j->{took};
		}
		$left += $rest * ($j->{alone} ? $slots : 1);
		$longest = max($longest, $rest + way($j->{name}) - $j->{secs}) if $rest;
	}
	# The first parts say little of all others.
	$ratio = ($took + 200) / ($planned + 200);
	my $ended = grep { $job{$_}{state} !~ /^(?:waits|runs)$/ } @order;
	printf "-- %s  %d of %d parts done, %s; about %d min left\n", clock(time - $begin), $ended, scalar @order, join(', ', @now),
		max($left / $slots, $longest) * $ratio / 60 + 0.99;
}

# not_run JOB WHY: a part that was not run must not look like success.
sub not_run {
	my ($job, $why) = @_;
	return if $job->{name} =~ /^(?:prepare|faults|root)-/;
	make_path($job->{folder});
	open my $tap, '>', "$job->{folder}/$job->{name}.tap" or die "$job->{folder}: $!\n";
	print $tap "not ok 1 - $why\n1..1\n";
	close $tap;
	system 'tests/check/result.pl', $job->{folder}, $job->{name}, $job->{name}, 0, 1, "make $target";
}

# part_ended JOB: the line of a part on the host in the ledger.
sub part_ended {
	my $j = shift;
	my ($first) = map { /^ *not ok (?:\d+ )?(?:- )?(.*)/ ? $1 : () } lines("$j->{folder}/failures");
	open my $to, '>>', $ledger or die "$ledger: $!\n";
	print $to join("\t", strftime('%FT%TZ', gmtime), $j->{key}, 'host', $j->{part}, $j->{state} eq 'good' ? 'ok' : 'red', $j->{took}, $first // ''), "\n";
}

sub run_jobs {
	my ($slots) = @_;
	my $told = time;
	my $stop = sub { kill TERM => keys %running; 1 while wait > 0; exit 130 };
	local @SIG{qw(INT TERM HUP)} = ($stop) x 3;
	while (1) {
		for my $j (map { $job{$_} } @order) {
			$j->{state} = 'void' if $j->{state} eq 'waits' && grep { $job{$_}{state} =~ /^(?:bad|void)$/ } @{$j->{needs}};
		}
		while (keys %running < $slots) {
			my @ready = grep { my $j = $job{$_}; $j->{state} eq 'waits' && !grep { $job{$_}{state} ne 'good' } @{$j->{needs}} } @order;
			# A job that has to be alone comes last, so that no job waits for its end.
			my @together = grep { !$job{$_}{alone} } @ready;
			last if grep { $_->{alone} } values %running;
			@together = @ready if !@together && !%running;
			my ($name) = sort { way($b) <=> way($a) } @together or last;
			my $j = $job{$name};
			defined(my $pid = fork) or die "fork: $!\n";
			if (!$pid) {
				$SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
				# The ledger has a line for each part on the host, and not for each program.
				delete $ENV{KRPING_LEDGER} if $name =~ /^host-/;
				open STDIN, '<', '/dev/null';
				open STDOUT, '>', '/dev/null' if $name =~ /^root-/;
				exec @{$j->{command}} or die "@{$j->{command}}: $!\n";
			}
			@$j{qw(state begin)} = ('runs', time);
			$running{$pid} = $j;
		}
		last unless %running;
		while ((my $pid = waitpid -1, WNOHANG) > 0) {
			my $j = delete $running{$pid} or next;
			@$j{qw(state took)} = ($? ? 'bad' : 'good', time - $j->{begin});
			part_ended($j) if $j->{part};
		}
		select undef, undef, undef, 0.2;
		if (%running && time - $told >= 30) {
			$told = time;
			progress($slots);
		}
	}
	for my $j (map { $job{$_} } @order) {
		not_run($j, "not run: what it needs failed (@{$j->{needs}})") if $j->{state} eq 'void';
		# Each job has to have left a result: a defect of this script must not look like success.
		not_run($j, 'it left no result') if $j->{state} =~ /good|bad/ && !-s "$j->{folder}/results";
	}
}

# --- the report of the ledger ---

sub report {
	my $of = verdicts();
	my (@red, @flaky, %missing, $ran);
	for my $key (sort keys %$of) {
		my @here = grep { $_->{commit} eq $commit } @{$of->{$key}};
		my %by;
		$by{$_->{commit}}{$_->{verdict}}++ for @{$of->{$key}};
		$ran++ if @here;
		if (@here && $here[-1]{verdict} eq 'red') {
			my ($before) = grep { $_->{commit} ne $commit } reverse @{$of->{$key}};
			push @red, sprintf "%s  %s: %s", !$before ? 'red, first seen' : $before->{verdict} eq 'ok' ? 'new red' : 'red as before', $key, $here[-1]{first};
		}
		for my $c (grep { $by{$_}{ok} && $by{$_}{red} } keys %by) {
			push @flaky, sprintf "flaky    %s: %d ok, %d red on %s", $key, $by{$c}{ok}, $by{$c}{red}, $c;
		}
	}
	for my $row (grep { $_->{part} !~ /^prepare:/ } @plan) {
		my ($where, $what, $which) = split /:/, $row->{part};
		my @keys = $where eq 'host' ? ("host $row->{part}") : map {
			my $p = $_;
			map { kernel_of($where) . " $p $what $_" } items($where, $what, $p);
		} $which ? $which : @{$suite{$what}{providers}};
		my $key = $row->{inputs} ? key_of($row->{inputs}) : $commit;
		my @not = grep { my $l = $of->{$_}; !$l || !grep { $_->{commit} eq $key } @$l } @keys;
		$missing{$row->{part}} = sprintf '%d of %d: %s', scalar @not, scalar @keys, join ' ', map { (split)[-1] } @not if @not;
	}
	print "commit $commit: ", $ran // 0, " results\n", map { "$_\n" } @red, @flaky;
	printf "not run  %-24s %s\n", $_, length $missing{$_} > 100 ? substr($missing{$_}, 0, 97) . '...' : $missing{$_} for sort keys %missing;
	my @old;
	for (rows('tests/quarantine')) {
		my ($file, undef, undef, $reason, $day) = split /\|/;
		my $age = int((time - output("date -d '$day' +%s")) / 86400);
		print "quarantine  $file: $reason: $age days\n";
		push @old, $file if $age > 21;
	}
	print "too long in quarantine: @old\n" if @old;
	exit(@red || @old ? 1 : 0);
}

# --- what is to be done ---

if ($target eq 'check' && $kernel && $kernel ne $oldest || $target eq 'check' && $provider) {
	$ENV{ONE_CELL} = 1;
}
$ENV{ONE_PROVIDER} = 1 if $provider;
if ($target eq 'report') {
	report();
} elsif ($target eq 'deep') {
	my %only = map { $_ => 1 } split /[\s,]+/, $ENV{ONLY} // '';
	# A part of the gate draws with a seed of its own; here each run draws another one, and prints it.
	$ENV{KRPING_SEED} ||= time;
	add_parts('deep', verdicts(), %only ? \%only : undef);
	if (!@order) {
		print "nothing is left to be run for $commit: make deep-report\n";
		exit 0;
	}
} elsif ($target =~ /^(?:check|gate)$/) {
	add_parts($target, verdicts());
} elsif ($target eq 'cell') {
	my ($k, $s, $p) = split /:/, $ENV{CELL} // '';
	fail("CELL=KERNEL:SUITE:PROVIDER, with a suite of tests/suites") unless $s && $suite{$s};
	my ($row) = grep { $_->{part} =~ /:\Q$s\E\b/ } @plan;
	add_cell(kernel_of($k), $s, $_, $row ? $row->{secs} : 300) for $p ? $p : @{$suite{$s}{providers}};
} elsif ($target eq 'test') {
	$kernel ||= $oldest;
	my %host = map { $_ => 1 } split /\n/, output('tests/check/host.sh - list');
	my %cells;
	for my $t (split /[\s,]+/, $test) {
		if ($t =~ /\.t$/) {
			fail("TEST=$t: tests/guest has no such test") unless $tests_row{$t};
			my @suites = map { [$_, output("tests/select.sh suite-of $t $kernel $_")] } $provider ? $provider : qw(rxe siw);
			fail("TEST=$t: tests/guest/table does not have it for $provider") unless grep { $_->[1] } @suites;
			push @{$cells{"$_->[1]:$_->[0]"}}, $t for grep { $_->[1] } @suites;
		} elsif ($host{$t}) {
			add_host($t, $kernel, 60);
		} else {
			fail("TEST=$t: neither a test of tests/guest/table nor a part of tests/check/host.sh");
		}
	}
	for (sort keys %cells) {
		my ($suite, $p) = split /:/;
		add_cell($kernel, $suite, $p, 60, @{$cells{$_}});
	}
	fail('TEST names no test') unless @order;
} else {
	fail('usage: check.pl check|gate|deep|test|cell|report');
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
$ENV{SLOTS} = $slots;
printf "%s: %d parts, %d at a time; about %d min where this was measured (two cores, emulated guests); logs in %s/\n", $target, scalar @order, $slots,
	max(sum0(map { $_->{secs} * ($_->{alone} ? $slots : 1) } values %job) / $slots, map { way($_) } @order) / 60 + 0.99, $dir =~ s/^\Q$top\E\///r;
run_jobs($slots);

# --- the report ---

my @results = map { [split /\|/] } map { lines("$_->{folder}/results") } map { $job{$_} } @order;
printf "\n%-28s %8s %8s\n", 'part', 'seconds', 'planned';
printf "%-28s %8d %8d\n", @$_{qw(name took secs)} for sort { $b->{took} <=> $a->{took} } grep { ($_->{took} // 0) > 9 } values %job;
printf "%-28s %8d\n", 'all of it', time - $begin;
for my $k (sort map { /^prepare-(.*)/ ? $1 : () } @order) {
	my %env = map { /^(\w+)=(.*)/ ? ($1 => $2) : () } lines("$out/vm-$k/kernel.env");
	print "kernel $k: $env{KREL}, package $env{KVERSION}\n" if $env{KREL};
}
my @failures = map { lines("$_->{folder}/failures") } map { $job{$_} } @order;
print "\nWhat failed:\n", map { "$_\n" } @failures if @failures;

my @notes = map { lines("$_->{folder}/notes") } map { $job{$_} } @order;
my ($passed, $failed, $skipped) = (0, 0, 0);
my %instead = map { /^(.*?): on / ? ($1 => 1) : () } @notes;
for (@results) {
	my ($label, $name, $ok, $bad, $left) = @$_;
	$passed += $ok;
	$skipped += $left;
	# The suite is made for certain kernels. What another one does differently is not for this commit to mend.
	if ($bad && $instead{$label}) {
		push @notes, "$label: $name: $bad failed on a kernel that the suite is not made for";
	} else {
		$failed += $bad;
	}
}
print "\n$passed passed, $failed failed", $skipped ? ", $skipped skipped" : '', "\n";
print 'not judged: ', join('; ', @notes), "\n" if @notes;
exit($failed || !$passed ? 1 : 0);
