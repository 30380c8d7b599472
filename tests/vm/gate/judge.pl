#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Splits a kernel's log into whole reports, and says of each report whose fault the report is.
#
#   judge.pl [--planted NAME] LOG           LOG is dmesg's output, or that of a serial console
#   judge.pl --leaks FILE RELEASE [PID]     FILE is /sys/kernel/debug/kmemleak of the kernel RELEASE
#   judge.pl --self-test                    TAP, with the logs of t/
#
# For each report it prints one line, "VERDICT LINE-NUMBER MARK: FIRST LINE: TOP FRAME". MARK is the "test NAME" before the report.
# So `grep -c '^ours '` counts. VERDICT is
#
#   known        a row of the file "known" matches
#   ours         a stack has a frame of rdma_krping, or the report names rdma_krping, or a device's user has left objects, or the report
#                is nobody's, since memory that we corrupt may be anybody's
#   provider     all RDMA frames are those of rxe, siw and the kernel's RDMA core
#   environment  a CPU or a task stalls, or memory is short, and no frame is ours; a leak that is nobody's, since a leak has one owner
#   planted      a leak that the process PID made
#
# A report that is ours or the provider's follows, each line behind "# ". Exit status: 0 nothing, or only known and planted reports;
# 1 a report of ours; 3 only reports of others; 2 no log.
#
# A test marks in the log what it asks the kernel to print, from "krping-test: KIND begin" to "krping-test: KIND end": "planted NAME"
# hides all lines, "printing" those that the module prints, "scanning" how many leaks were found, since who scans also judges
# the leaks. A begin without its end hides nothing. --planted NAME judges only what is between these two marks.

use strict;
use warnings;
use FindBin;
no warnings 'portable'; # addresses have 64 bits

# Lines that begin a report, by what belongs to the report: "stack", the lines up to the last stack; "line", nothing else. A "part"
# belongs to the report before it; without one it begins a report, whose first lines were lost.
my @kinds = map { [split ' ', $_, 2] } split /\n/, <<'END';
part ^KASAN: |Call Trace:|Kernel panic|Oops|DEADLOCK|invalid opcode
stack WARNING: |BUG: |BUG [a-z]|kernel BUG at|KASAN|KCSAN|KFENCE|UBSAN|ODEBUG|DMA-API:
stack possible (?:circular|irq)|recursive locking|inconsistent lock state|suspicious RCU|bad unlock balance|non-static key
stack sleeping function called from invalid context|scheduling while atomic
stack general protection fault|unable to handle|NULL pointer dereference|hard LOCKUP|stack-protector|Bad page (?:state|map)
stack refcount_t|use-after-free|double[- ]free|list_(?:add|del) corruption
stack soft lockup|\brcu.*(?:stall|detected)|INFO: task .* blocked for more than|hung task|hung_task:
stack page allocation failure|vmalloc error: size|invoked oom-killer|Out of memory
line restrack: |CMA: |unregister_netdevice: waiting|slab.*remaining|kmem_cache_destroy|[Ll]eaked|kmemleak
line segfault at|trap (?:int3|divide error)|BPF:|failed to validate module
END
@$_[1, 2] = (qr/$_->[1]/, $_->[1]) for @kinds;

# Lines that only look as if they began a report.
my $excused = qr/
	# The command line of the VM names kernel parameters.
	(?:C|Kernel\ c)ommand\ line:\ |
	# The kernel announces its detectors when it boots.
	kmemleak:\ (?:Kernel\ memory\ leak\ detector\ initialized|Automatic\ memory\ scanning\ thread\ started)|
	DMA-API:\ (?:preallocated|debugging\ enabled\ by)|
	asan:\ KernelAddressSanitizer\ initialized|
	kcsan:\ (?:enabled|strict\ mode|non-strict\ mode|selftest)|
	rcu:\ .*(?:RCU|rcu_task_|stall\ warnings|CPU\ stall)|
	# The kernel says this about each module from outside its tree, and about each one without a signature.
	rdma_krping:\ (?:loading\ out-of-tree\ module\ taints\ kernel|module\ verification\ failed:\ signature)|
	# The RDMA core names whoever makes such a PD: mem_mode=dma.
	rdma_krping:\ enabling\ unsafe\ global\ rkey$|
	# The rest of the kernel has data races of its own (KERNEL=kcsan).
	BUG:\ KCSAN:\ data-race\ in\ (?!.*krping)
/x;
# The module prints nothing unless it was asked to.
my $printed = qr/(?:^|[] ])(?<!workqueue )(?:rdma_)?krping: /;
my %hides = (planted => qr/^/, printing => $printed, scanning => qr/kmemleak: \d+ new suspected/);

my $frame = qr{([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(\w+)[^]]*\])?};
# A line that is a part of a report by its shape. Between two such lines of a report text may stand.
my $shape = qr/^\s+\S|^$frame|^---\[/;
# What may still come behind the line "end trace".
my $last_lines = qr/^(?:[A-Z][A-Z0-9]{1,3}: |Code: |Kernel (?:panic|Offset))/;
my $rule = qr/^(?:restrack: )?(?:={20,}|-+\[ cut here \]-+)$/;
my $text_lines = 30; # more than any report has in a row, registers included
my $environment = qr/(?:soft|workqueue)\ lockup|\brcu.*(?:stall|detected)|task\ .*\ blocked|hung\ task|hung_task:|allocation\ failure
	|vmalloc\ error|oom-killer|Out\ of\ memory/x;
my $provider = qr/^(?:rdma_rxe|siw|ib_\w+|iw_cm|rdma_cm|rdma_ucm)$/;
# Functions that detect a bug, or allocate and free for whoever has the bug.
my $generic = qr/^_*(?:dump_|show_|print_|k?asan|warn|report_|handle_(?:bug|exception)|exc_|asm_|refcount_|k[vzm]*alloc|kv?free
	|kmem|kvmalloc|kmemleak|slab|v[mz]alloc|v?free$|vfree|remove_vm|krealloc|memdup|mem(?:cpy|set|move)|check_|lock|raw_spin|mutex
	|might_|ubsan|debug_|lockdep|stack_trace|list_(?:add|del)|kcsan|alloc_pages|post_alloc)/x;

my @known; # [function, caller or undef, type, module, oldest kernel, newest, page]
sub kernel { ($_[0] // '') =~ /^(\d+)\.(\d+)/ ? $1 * 1000 + $2 : 0 }
open my $rows, '<', "$FindBin::Bin/known" or die "known: $!\n";
for (grep { !/^(?:#|$)/ } <$rows>) {
	chomp;
	my ($function, $type, $module, $kernels, $page) = split /\|/;
	my ($oldest, $newest) = map { kernel($_) } split /-/, $kernels;
	push @known, [split(/</, $function), (undef) x ($function !~ /</), qr/$type/, $module, $oldest, $newest // $oldest, $page];
}

# judge REPORT: sets the report's verdict and its top frame. The report has line (its number), mark, release, and text, a list.
sub judge {
	my ($r) = @_;
	my @text = grep { !/^Modules linked in: / } @{ $r->{text} };
	my ($first) = grep { !/$rule/ } @text, '';
	my $head = join "\n", grep { !/^\s/ } @text[0 .. ($#text < 5 ? $#text : 5)];
	my @frames;
	for (@text) {
		s/Comm: \S+|\bcomm "[^"]*"|\bkrping[\w-]*[:\/]\d+//g; # the name of a process is not the module's
		$r->{release} = $1 if !$r->{release} && /^CPU: .* (\d+\.\d+\.\d\S*) #/;
		next if /^\s*\? /; # what the stack held before
		while (/$frame/g) {
			my ($function, $module) = ($1, $2 // '');
			push @frames, [$function =~ s/\..*//r, $module];
		}
	}
	my ($top) = grep { $_->[0] !~ /$generic/ } @frames;
	$r->{first} = $first;
	$r->{top} = $top ? $top->[0] . ($top->[1] && " [$top->[1]]") : '-';
	my $kernel = kernel($r->{release});
	for (@known) {
		my ($function, $caller, $type, $module, $oldest, $newest) = @$_;
		next unless $top && $top->[0] eq $function && $top->[1] eq $module && $head =~ $type && $kernel >= $oldest && $kernel <= $newest;
		next if $caller && !grep { $_->[0] eq $caller } @frames;
		$r->{row} = $_;
		return 'known';
	}
	return 'ours' if $first =~ $printed || grep { $_->[1] =~ /krping/ } @frames;
	# A device goes, and still has objects of a user. 6.1 and later do not name it; a program's are freed before, so it is krping.
	return 'ours' if $top && $top->[0] eq 'rdma_restrack_clean';
	# A report of a stall also names tasks and work that have nothing to do with the stall.
	my $waits = $head =~ $environment;
	return 'ours' if !$waits && grep { /(?<![\w-])(?:krping_\w|rdma_krping\b)/ } @text;
	return 'provider' if grep { $_->[1] =~ $provider } @frames;
	return $waits ? 'environment' : 'ours';
}

# stamp LINE: the line's time, if it has one, and its text without time and caller.
sub stamp {
	my ($text) = @_;
	return ($text =~ s/^\[ *(\d+\.\d+)\](?:\[ *[CT]\d+\])? ?// ? $1 : undef, $text);
}

# reports LINES: the reports of a log.
sub reports {
	my @lines = @_;
	my (@reports, $open, $pending, $cut, $printing, $mark, $release, $last) = ();
	my @hidden;
	my ($kind, $from) = ('', 0);
	for my $i (0 .. $#lines) {
		$lines[$i] =~ s/[\r\n]+$//;
		if ($lines[$i] =~ /krping-test: (planted) .* begin/ || !$kind && $lines[$i] =~ /krping-test: (printing|scanning) begin/) {
			($kind, $from) = ($1, $i);
		} elsif ($kind && $lines[$i] =~ /krping-test: $kind\b.* end/) {
			$hidden[$_] ||= $lines[$_] =~ $hides{$kind} for $from .. $i;
			$kind = '';
		}
	}
	my $begin = sub {
		my ($i, $text, $way) = @_;
		$open = { line => $i + 1, mark => $mark, release => $release, time => $last, text => [] };
		if ($cut && $i - $cut->{at} < 6) { $open->{$_} = $cut->{$_} for qw(line text joins) }
		push @{ $open->{text} }, $text;
		push @reports, $open;
		($pending, $cut) = ();
		$open = undef if $way eq 'line';
	};
	for my $i (0 .. $#lines) {
		my ($time, $text) = stamp($lines[$i]);
		$open = undef if $open && defined $time && defined $last && $time > $last + 10;
		$last = $time // $last;
		next if $hidden[$i];
		$mark = $1 if $text =~ /krping-test: (test \S+)/;
		$release = $1 if $text =~ /^Linux version (\S+)/;
		if ($text =~ $printed && $text !~ /$excused/) {
			# What the module prints stands in the middle of a report of another CPU.
			if ($printing && $printing->{next} == $i) { push @{ $printing->{text} }, $text }
			else { push @reports, $printing = { line => $i + 1, mark => $mark, text => [$text] } }
			$printing->{next} = $i + 1;
			next;
		}
		my $is_frame = $text =~ /^\s*(?:\? )?$frame$/;
		my ($way) = $is_frame || $text =~ $excused ? () : map { $_->[0] } grep { $text =~ $_->[1] } @kinds;
		if ($text =~ $rule) {
			if ($open && $open->{frames} && $text =~ /=/ && $open->{text}[0] =~ /^=/) {
				push @{ $open->{text} }, @{ $pending // [] }, $text;
				($open, $pending) = ();
			} else {
				$open = undef;
				# Below "cut here" a message stands, which may look like the beginning of another report, and then WARNING or BUG.
				$cut = { at => $i, line => $i + 1, text => [$text], joins => $text !~ /=/ };
			}
		} elsif ($way && !($open && ($way eq 'part' ? !$open->{ended} || $text =~ $last_lines : $open->{joins} && !$open->{frames}))) {
			$begin->($i, $text, $way);
		} elsif ($open && ($way || $text =~ ($open->{ended} ? $last_lines : $shape))) {
			push @{ $open->{text} }, @{ $pending // [] }, $text;
			$pending = [];
		} elsif ($open) {
			push @{ $pending }, $text;
			($open, $pending) = () if @$pending > $text_lines;
		} elsif ($cut) {
			push @{ $cut->{text} }, $text;
		}
		next unless $open;
		$open->{frames} ||= $is_frame;
		$open->{joins} &&= $text !~ /WARNING: |kernel BUG at/;
		$open->{ended} ||= $text =~ /^---\[ end /;
	}
	$_->{verdict} = judge($_) for @reports;
	# A panic writes the whole log to the console, which has the reports already.
	my %seen;
	return grep { !defined $_->{time} || !$seen{"$_->{time} $_->{verdict} $_->{first}"}++ } @reports;
}

# leaks PID RELEASE LINES: the records of kmemleak.
sub leaks {
	my ($pid, $release, @lines) = @_;
	my @reports;
	for my $i (0 .. $#lines) {
		push @reports, { line => $i + 1, release => $release, text => ['leak'] } if $lines[$i] =~ /^unreferenced object/;
		chomp(my $text = $lines[$i]);
		push @{ $reports[-1]{text} }, $text if @reports;
	}
	for my $r (@reports) {
		my $record = join "\n", @{ $r->{text} };
		$r->{verdict} = judge($r);
		$r->{first} = join ' ', $record =~ /^(unreferenced .*)\n\s*(comm "[^"]*", pid \d+)/m;
		if ($pid && $record =~ /comm "insmod", pid $pid,/) { $r->{verdict} = 'planted' }
		# An address without a name is that of a module that was unloaded, and only modules of ours are: the record was made by one of
		# them. The module's last address does not tell, since tests load it again and again.
		elsif ($record =~ /^\s+(?:\[<\S+>\] )?0x[0-9a-f]{16}$/m) { $r->{verdict} = 'ours' }
		elsif ($r->{verdict} eq 'ours' && $record !~ /\[rdma_krping|\bkrping_/) { $r->{verdict} = 'environment' }
	}
	return @reports;
}

# read_log FILE: its lines; none if there is no such file.
sub read_log {
	my ($file) = @_;
	open my $f, '<', $file or return;
	return <$f>;
}

# show REPORT: a report in at most 60 lines. The last calls are worth more than registers and what the memory holds.
sub show {
	my @text = @{ $_[0]{text} };
	@text = grep { !/^\s*\? |^[A-Z][A-Z0-9]{1,2}: |^Code: |^Modules linked in|^>?\s?[0-9a-f]{16}: / } @text if @text > 60;
	splice @text, 20, @text - 59, '[...]' if @text > 60;
	print "# $_\n" for @text;
}

# print_all REPORTS: prints them, and returns the exit status.
sub print_all {
	my $status = 0;
	for my $r (@_) {
		printf "%s %d %s: %s: %s\n", $r->{verdict}, $r->{line}, $r->{mark} // 'no test', $r->{first}, $r->{top};
		show($r) if $r->{verdict} =~ /^(?:ours|provider)$/;
		$status = 3 if !$status && $r->{verdict} !~ /^(?:known|planted)$/;
		$status = 1 if $r->{verdict} eq 'ours';
	}
	return $status;
}

# like_known FUNCTION, KERNEL, MODULE: a log with a report that a row of "known" may match.
sub like_known { return "Linux version $_[1]|BUG: KASAN: slab-use-after-free in $_[0]+0x1/0x2 [$_[2]]" }

# self_test: the name of each log in t/ begins with the verdict of all reports in it, or with "clean". In "-lines.log" each line is a
# report of its own. In "-leaks.log" kmemleak speaks. Of each report in the other logs, t/borders has the first line's number, how many
# lines there are, the mark before the report, and the top frame.
sub self_test {
	my ($n, $failed, %unseen, %unused, @borders) = (0, 0);
	my $ok = sub {
		my ($passed, $what, @why) = @_;
		$n++;
		$failed ||= !$passed;
		print(($passed ? 'ok' : 'not ok') . " $n - " . $what =~ s/#//gr . "\n");
		print "# $_\n" for $passed ? () : @why;
	};
	$unused{"$_->[0], $_->[6]"} = 1 for @known;
	$unseen{$_} = 1 for map { split /\|(?![^(]*\))/, $_->[2] } @kinds;
	for my $file (sort glob "$FindBin::Bin/t/*-*.log") {
		my ($name, $want) = $file =~ m{(([a-z]+)-[^/]*)\.log$};
		my @lines = read_log($file);
		if ($name =~ /-lines$/) {
			for my $line (@lines) {
				my @reports = reports($line);
				$ok->(@reports == 1 && $reports[0]{verdict} eq $want, "$name: $line" =~ s/\s+$//r, map { $_->{verdict} } @reports);
				(stamp($line))[1] =~ $_ and delete $unseen{$_} for keys %unseen;
			}
			next;
		}
		my @reports = $name =~ /-leaks$/ ? leaks(364, '6.12.117', @lines) : reports(@lines);
		my @wrong = grep { $_->{verdict} ne $want } @reports;
		$ok->(!@wrong && ($want eq 'clean') == !@reports, "$name: all", map { "$_->{verdict} $_->{line}: $_->{first}" } @wrong);
		for (@reports) {
			push @borders, "$name $_->{line}+" . @{ $_->{text} } . ' ' . ($_->{mark} // 'no test') . ": $_->{top}\n";
			delete $unused{"$_->{row}[0], $_->{row}[6]"} if $_->{row};
		}
	}
	my %want = map { $_ => 1 } grep { !/^#/ } read_log("$FindBin::Bin/t/borders");
	$ok->(delete $want{$_}, "borders: $_" =~ s/\n//r) for @borders;
	$ok->(!%want, 'all borders are found', sort keys %want);
	$ok->(!%unseen, 'each kind of line is in a log', sort keys %unseen);
	$ok->(!%unused, 'each row of known is in a log', sort keys %unused);
	$ok->(-s "$FindBin::Bin/../../../docs/upstream/$_->[6]", "known: $_->[0], $_->[6]") for @known;
	my ($begin, $end) = map { "krping-test: planted x $_" } qw(begin end);
	my ($b1, $b2) = map { "ours BUG: $_" } qw(one two);
	my ($p1, $p2, $s1, $s2) = map { ("krping-test: $_ begin", "krping-test: $_ end") } qw(printing scanning);
	my ($cut, $siw, $warn) = ('---------[ cut here ]---------', ' f+0x1/0x2 [siw]', 'WARNING: CPU: 0 at f+0x1/0x2 [siw]');
	for (
		['a beginning alone hides nothing', "$begin|BUG: one", $b1],
		['what is planted is hidden', "$begin|BUG: one|$end|BUG: two", $b2],
		['a second beginning gives back what the first one held', "$begin|BUG: one|$begin|BUG: two|$end", $b1],
		['other marks within these hide nothing less', "$begin|BUG: one|$p1|BUG: two|$end", ''],
		['the module may print where it was asked to', "$p1|krping: a|$p2", ''],
		['and nowhere else', "$p1|krping: a|$p2|krping: b", 'ours krping: b'],
		['and a bug counts there, too', "$p1|krping: a|BUG: one|$p2", $b1],
		['printing that does not end hides nothing', "$p1|krping: a", 'ours krping: a'],
		['who scans hides the number of leaks', "$s1|kmemleak: 3 new suspected memory leaks|BUG: one|$s2", $b1],
		['text may stand within a report', "BUG: one|" . 'text|' x 30 . $siw, 'provider BUG: one'],
		['and not any number of lines', "BUG: one|" . 'text|' x 31 . $siw, $b1],
		['nor for ten seconds', "[ 1.0] BUG: one|[ 12.0] $siw", $b1],
		['a report of one line ends with the line', "CMA: one|$siw", 'ours CMA: one'],
		['a frame begins no report', "BUG: one|$siw| kmem_cache_destroy+0x1/0x2", 'provider BUG: one'],
		['a message is below "cut here", and then WARNING', "$cut|BUG: one|$warn", 'provider BUG: one'],
		['and then no other report', "$cut|one|$warn|BUG: two", "provider one|$b2"],
		['nor below a line of "="', '=' x 30 . "|BUG: one|$warn", "$b1|provider $warn"],
		['nor far away', "$cut|" . 'text|' x 6 . 'BUG: one', $b1],
		['a stack without a beginning is a report', "$warn|$siw|---[ end trace ]---|Call Trace:", "provider $warn|ours Call Trace:"],
		['a frame of ours in a stall is ours', 'hung task| g+0x1/0x2 [rdma_krping]', 'ours hung task'],
		['so is the name of a lock of ours', "BUG: one|(krping_lock)|$siw", $b1],
		['and a frame that the stack held before', "BUG: one| ? krping_run+0x1/0x2 [rdma_krping]|$siw", $b1],
		['but not a process', "BUG: one by task krping_x/1|CPU: 0 Comm: krping_x|$siw", 'provider BUG: one by task krping_x/1'],
		['nor the path of a file', "BUG: one at /a-krping_b/c.c:1|$siw", 'provider BUG: one at /a-krping_b/c.c:1'],
		['registers may stand behind the end', "$cut|one|$warn|---[ end trace ]---|RIP: 0010:x+0x1/0x2|CPU: 0|$siw", "provider one"],
		['a known function in parts', like_known('rxe_sched_task.isra.0', '6.12.117', 'rdma_rxe'), 'known '],
		['on an older kernel', like_known('rxe_sched_task', '6.1.0', 'rdma_rxe'), 'provider '],
		['in another module', like_known('rxe_sched_task', '6.12.117', 'siw'), 'provider '],
		['with another bug', like_known('rxe_sched_task', '6.12.117', 'rdma_rxe') =~ s/KASAN/KFENCE/r, 'provider '],
	) {
		my ($what, $log, $want) = @$_;
		my $got = join '|', map { "$_->{verdict} $_->{first}" } reports(split /\|/, $log);
		$got =~ s/(?<=$want).*// if $want =~ / $/;
		$ok->($got eq $want, $what, "got $got, wanted $want");
	}
	print "1..$n\n";
	return $failed ? 1 : 0;
}

my ($how, @args) = ($ARGV[0] // '') =~ /^--(.*)/ ? ($1, @ARGV[1 .. $#ARGV]) : ('log', @ARGV);
exit self_test() if $how eq 'self-test';
if ($how eq 'leaks') {
	my ($file, $release, $pid) = @args;
	-e $file or print("$file: no records\n"), exit 2;
	exit print_all(leaks($pid, $release, read_log($file)));
}
my ($planted, $log) = $how eq 'planted' ? @args : (undef, @args);
my @lines = read_log($log // '') or print(($log // 'judge.pl') . ": no kernel log\n"), exit 2;
if (defined $planted) {
	# The other lines become empty, so that all lines keep their numbers; so do marks, which would hide what is between them.
	my $on = 0;
	for (@lines) {
		my $was = $on;
		$on = 1 if /krping-test: planted \Q$planted\E begin/;
		$on = 0 if $was && /krping-test: planted \Q$planted\E end/;
		$_ = '' unless $was && $on && !/krping-test: \S+.* (?:begin|end)/ || /krping-test: test /;
	}
}
exit print_all(reports(@lines));
