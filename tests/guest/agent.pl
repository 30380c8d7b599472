#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# agent.pl ADDRESS: carries out commands in the other VM on the wire. A connection to port 7000 carries one line, a
# command for bash; the command's output goes back, and as the last line "status N". The command "end" ends the agent.

use v5.36;
use IO::Socket::INET;

my $listen = IO::Socket::INET->new(LocalAddr => $ARGV[0], LocalPort => 7000, Listen => 8, ReuseAddr => 1)
	or die "agent: port 7000 of $ARGV[0]: $!\n";
$SIG{CHLD} = 'IGNORE';
while (1) {
	my $peer = $listen->accept or next;
	my $command = <$peer>;
	defined $command or next;
	chomp $command;
	last if $command eq 'end';
	my $pid = fork;
	defined $pid or die "agent: fork: $!\n";
	next if $pid;
	$SIG{CHLD} = 'DEFAULT';
	open STDIN, '<', '/dev/null';
	open STDOUT, '>&', $peer;
	open STDERR, '>&', $peer;
	system 'bash', '-c', $command;
	my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
	print $peer "status $status\n";
	exit;
}
