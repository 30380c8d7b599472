#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Makes everything that can fail in one side's runs fail, one after another:
#
#   sweep.pl LIMIT GRACE TO client|server SERVER-COMMAND CLIENT-COMMAND FAULT...
#
# For each FAULT and N = 1, 2, 3 ... a pair of runs is made, in one of which the N-th try fails, until a run ends without having made N
# tries. FAULT is "alloc", an allocation of the run's thread (fail-nth, with what faults.t has set up in failslab and fail_page_alloc), or
# the name of a function that fail_function can make fail: it then returns -ENOMEM. The other side is healthy. LIMIT is how many seconds a
# run has to end, before it counts as hanging and is killed; GRACE how many milliseconds the healthy side has to notice, before it is
# signalled; TO the last N of a part of the sweep, 0 for all of it.
#
# It prints a line for each N, with key=value as in /proc/krping_runs:
#
#   run   the fault was met: FAULT, N, what write() said, the peer's end, the run's line
#   end   the fault was not met, so the pair is healthy, and the sweep of this FAULT is complete
#   pair  two healthy runs, after others that failed: peer_ is the server's
#   hang  a run did not end in time, with its kernel stack
#
# by= says how the peer ended: "itself"; "signal" if it had to be signalled; "killed" if it did not end on that, either; "kept" for a
# server that had not heard of its client and serves the next one; "none" for a client that was not started, since the server was gone.
#
# Two processes make all the runs, since in an emulated guest the start of a program costs more than a pair of runs.

use strict;
use warnings;
use Errno;
use Fcntl;
use IO::Select;
use POSIX ':sys_wait_h';
use Socket;
use Time::HiRes qw(time sleep);

$| = 1;
my ($limit, $grace, $to, $side, @commands) = splice @ARGV, 0, 6;
die "usage: sweep.pl LIMIT GRACE TO client|server SERVER-COMMAND CLIENT-COMMAND FAULT...\n" unless @ARGV && $side =~ /^(?:client|server)$/;
my $settle = 0.1;    # for a request to reach a server, after its client failed
my ($fault, $try, $failed) = ('', 0, 0);    # what is made to fail, in which try; runs since the last healthy pair
my %errno_name = (0 => 0, map { (Errno->can($_)->() => $_) } reverse sort keys %!);
my %faulty = (name => 'faulty');
my %healthy = (name => 'healthy');

sub fatal { print "fatal @_\n"; exit 3 }

# put FILE TEXT: one write(), as debugfs and proc want it.
sub put {
	my ($file, $text) = @_;
	sysopen my $f, $file, O_WRONLY or return;
	return defined syswrite $f, $text;
}

sub setting {
	my ($name, $text) = @_;
	put("/sys/kernel/debug/fail_function/$name", $text) or fatal("$name: $!");
}

# last_line PID: the last line of a process in krping_runs, or an empty one.
sub last_line {
	my ($pid, $last) = ($_[0], '');
	open my $f, '<', '/proc/krping_runs' or return '';
	/ pid=$pid / and $last = $_ while <$f>;
	return $last =~ s/\n//r;
}

sub field { my ($line, $name) = @_; return $line =~ / $name=(\S*)/ ? $1 : '-' }

# work SOCKET: a process that writes commands. left: the tries that fail-nth still waits for.
sub work {
	my ($fd, $seen, $n) = (shift, '', '');
	$SIG{INT} = sub { };
	sysopen my $krping, '/proc/krping', O_WRONLY or fatal("krping: $!");
	sysopen my $nth, '/proc/thread-self/fail-nth', O_WRONLY or fatal("fail-nth: $!");
	while (1) {
		my $got = sysread $fd, my $job, 4096;
		next if !defined $got && $!{EINTR};
		POSIX::_exit(0) unless $got;
		my ($try, $may_fail, $text) = split / /, $job, 3;
		put('/proc/thread-self/make-it-fail', $may_fail);
		# Opened before: from here on to the end of the run nothing but the run may allocate.
		sysopen my $left, '/proc/thread-self/fail-nth', O_RDONLY or fatal("fail-nth: $!");
		syswrite($nth, $try) or fatal("fail-nth: $!");

		my $ret = syswrite $krping, $text;
		my $err = defined $ret ? 0 : $! + 0;

		sysread $left, $n, 15;
		syswrite($nth, '0') or fatal("fail-nth: $!");
		put('/proc/thread-self/make-it-fail', '0');
		my $line = last_line($$);
		# The line is that of an earlier command if this one has begun nothing.
		my ($id) = split / /, $line;
		$line = '' if ($id // '') eq $seen;
		$seen = $id // '';
		my $result = join "\t", $n + 0, $ret // -1, $err, length $text, $line;
		1 until defined syswrite($fd, $result) || !$!{EINTR};
	}
}

sub spawn {
	my $w = shift;
	socketpair $w->{fd}, my $theirs, AF_UNIX, SOCK_SEQPACKET, PF_UNSPEC or fatal("socketpair: $!");
	$w->{pid} = fork // fatal("fork: $!");
	if (!$w->{pid}) {
		close $_->{fd} for grep { $_->{fd} } \%faulty, \%healthy;
		work($theirs);
	}
	$w->{busy} = 0;
}

sub submit {
	my ($w, $text, $nth, $may_fail) = @_;
	syswrite $w->{fd}, "$nth $may_fail $text" or fatal("write to a worker: $!");
	@$w{qw(busy said disk)} = (1, 0, $text =~ /^client.*test=block/);
}

# result_of WORKER SECONDS: the result, or nothing when the time is up.
sub result_of {
	my ($w, $seconds) = @_;
	IO::Select->new($w->{fd})->can_read($seconds) or return;
	sysread $w->{fd}, my $text, 8192 or fatal('a worker died');
	$w->{busy} = 0;
	my %r;
	@r{qw(left ret err len line)} = split /\t/, $text, 5;
	return \%r;
}

# use_disk WORKER: of a client of test=block, writes and reads the disk as soon as that is there, and interrupts the run; its result. Where
# a function fails it may be one that these requests call.
sub use_disk {
	my ($w, $may_fail) = @_;
	my $buf = "\0" x 8192;
	my $at = -unpack('Q', pack 'P', $buf) & 4095;
	for (my $end = time + $limit; time < $end;) {
		my $r = result_of($w, 0.01);
		return $r if $r;
		sysopen my $disk, '/dev/krping0', O_RDWR | O_DIRECT or next;
		put('/proc/self/make-it-fail', $may_fail);
		sysread $disk, $buf, 4096, $at if syswrite $disk, $buf, 4096, $at;
		put('/proc/self/make-it-fail', 0);
		close $disk;
		return (interrupt($w))[0];
	}
	hang($w);
	return (interrupt($w))[0];
}

sub hang {
	my $w = shift;
	return if $w->{said}++;
	print "hang fault=$fault n=$try who=$w->{name}\n";
	for ($w, grep { $_ != $w && $_->{busy} } \%faulty, \%healthy) {
		print "# $_->{name}: ", last_line($_->{pid}), "\n";
		open my $f, '<', "/proc/$_->{pid}/stack" or next;
		print map { "# $_" } <$f>;
	}
}

# interrupt WORKER: signals a run to end; its result, and whether that was enough.
sub interrupt {
	my $w = shift;
	my $end = time + $limit;
	# More than once: the first signal can come before the write() has begun.
	do {
		kill INT => $w->{pid};
		my $r = result_of($w, 0.2);
		return ($r, 1) if $r;
	} while (time < $end);
	hang($w);
	kill KILL => $w->{pid};
	for ($end = time + $limit; waitpid($w->{pid}, WNOHANG) == 0; sleep 0.05) {
		fatal("fault=$fault n=$try: $w->{name} cannot be killed") if time > $end;
	}
	spawn($w);
	return ({ left => 0, ret => -1, err => &Errno::EINTR, len => 0, line => '' }, 0);
}

sub is_listening { my $line = last_line($_[0]{pid}); return field($line, 'state') eq 'IDLE' && field($line, 'src') ne '-' }

# until_listens WORKER: waits until a server listens; the result of one that ends before.
sub until_listens {
	my $w = shift;
	for (my $end = time + $limit; time < $end;) {
		my $r = result_of($w, 0.003);
		return $r if $r;
		return if is_listening($w);
	}
	hang($w);
	return (interrupt($w))[0];
}

# serve: provides a healthy server that waits for its client: keeps the last one, or starts one.
sub serve {
	return 1 if $healthy{busy};
	submit(\%healthy, $commands[0], 0, 0);
	my $r = until_listens(\%healthy) or return 1;
	print "pair fault=$fault n=$try: the server does not listen: ", $errno_name{$r->{err}}, " $r->{line}\n";
	return 0;
}

# end_healthy: waits until the healthy side has ended: how it ended, and its result.
sub end_healthy {
	my $r = result_of(\%healthy, $grace / 1000);
	return (itself => $r) if $r;
	($r, my $ended) = interrupt(\%healthy);
	return ($ended ? 'signal' : 'killed', $r);
}

# end_of WORKER: waits for a run that has to end, and ends it if it hangs. One of a disk is used before.
sub end_of {
	my ($w, $may_fail) = @_;
	return use_disk($w, $may_fail // 0) if $w->{disk};
	my $r = result_of($w, $limit);
	return $r if $r;
	hang($w);
	return (interrupt($w))[0];
}

# faulty_client N, faulty_server N: makes one pair with a fault: the result of the faulty side, the word for by=, and the healthy side's
# result, but for the words "kept" and "none". N is 0 where a function fails.
sub faulty_client {
	my $nth = shift;
	serve() or return ({ left => $nth, ret => -1, err => 0, len => 0, line => '' }, 'none');
	submit(\%faulty, $commands[1], $nth, $nth ? 0 : 1);
	my $f = end_of(\%faulty, $nth ? 0 : 1);
	return ($f, end_healthy()) unless $f->{err};
	# A client without a CQ has not tried to connect; otherwise a request may be on its way.
	my $r = field($f->{line}, 'cq') =~ /[1-9]/ && result_of(\%healthy, $settle);
	return $r ? ($f, itself => $r) : is_listening(\%healthy) ? ($f, 'kept') : ($f, end_healthy());
}

sub faulty_server {
	my $nth = shift;
	submit(\%faulty, $commands[0], $nth, $nth ? 0 : 1);
	my $f = until_listens(\%faulty);
	return ($f, 'none') if $f;
	submit(\%healthy, $commands[1], 0, 0);
	my $h = $healthy{disk} && end_of(\%healthy);
	$f = end_of(\%faulty);
	return ($f, $h ? (itself => $h) : end_healthy());
}

# healthy_pair: makes two healthy runs. The server may be one that still waits.
sub healthy_pair {
	serve() or return;
	submit(\%faulty, $commands[1], 0, 0);
	my ($c, $s) = (end_of(\%faulty), end_of(\%healthy));
	print "pair fault=$fault n=$try werr=", $errno_name{$c->{err}}, ' peer_werr=', $errno_name{$s->{err}}, ' peer_iters=', field($s->{line}, 'iters'),
		" $c->{line}\n";
}

sub sweep {
	my $alloc = $fault eq 'alloc';
	setting(inject => $alloc ? "\n" : $fault);
	if (!$alloc) {
		setting("$fault/retval" => '0xfffffffffffffff4');    # -ENOMEM
		setting(@$_) for [probability => 100], [interval => 1], ['task-filter' => 'Y'], [verbose => 0];
	}
	for ($try = 1; !$to || $try <= $to; $try++) {
		my $began = time;
		# Each call before the N-th costs 1 of the space, and does not fail.
		if (!$alloc) { setting(times => 1); setting(space => $try) }
		my ($f, $by, $h) = ($side eq 'client' ? \&faulty_client : \&faulty_server)->($alloc ? $try : 0);
		my $met = !$f->{left};
		if (!$alloc) {
			open my $times, '<', '/sys/kernel/debug/fail_function/times' or fatal("times: $!");
			$met = <$times> == 0;
			setting(times => 0);
		}
		printf '%s fault=%s n=%d ms=%.0f ret=%d werr=%s len=%d by=%s', $met ? 'run' : 'end', $fault, $try, (time - $began) * 1000, $f->{ret},
			$errno_name{$f->{err}}, $f->{len}, $by;
		printf ' peer_ret=%d peer_werr=%s peer_state=%s peer_iters=%s', $h->{ret}, $errno_name{$h->{err}}, map { field($h->{line}, $_) } qw(state iters)
			if $h;
		print ' ', $f->{line} || 'id=-', "\n";
		last unless $met;
		# A healthy pair after so many that failed.
		if ($f->{err} && ++$failed >= 10) { healthy_pair(); $failed = 0 }
	}
	setting(inject => "\n");
}

spawn(\%faulty);
spawn(\%healthy);
for (@ARGV) {
	$fault = $_;
	sweep();
}
($fault, $try) = ('-', 0);
healthy_pair();
interrupt(\%healthy) if $healthy{busy};
print "done\n";
