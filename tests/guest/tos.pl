#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# tos.pl NETDEV: looks at the RoCE packets (UDP port 4791) that leave a netdev, until it gets SIGTERM. Prints "ready" when it has
# begun, and then which type of service each packet has, a line each: "4 32" for IPv4, "6 32" for IPv6.
use v5.36;

use constant { AF_PACKET => 17, SOCK_RAW => 3, ETH_P_ALL => 3, PACKET_OUTGOING => 4 };

my ($netdev) = @ARGV;
my $stop = 0;
$| = 1;
$SIG{TERM} = sub { $stop = 1 };

open(my $f, '<', "/sys/class/net/$netdev/ifindex") or die "$netdev: $!\n";
chomp(my $index = <$f>);
socket(my $s, AF_PACKET, SOCK_RAW, unpack('S', pack('n', ETH_P_ALL))) or die "socket: $!\n";
bind($s, pack('S n i S C C a8', AF_PACKET, ETH_P_ALL, $index, 0, 0, 0, '')) or die "bind: $!\n";
print "ready\n";

until ($stop) {
	# The signal may come just before recv(): so do not wait in there for ever.
	vec(my $in = '', fileno($s), 1) = 1;
	select($in, undef, undef, 0.1) > 0 or next;
	defined(my $from = recv($s, my $packet, 2048, 0)) or next;
	(undef, undef, undef, undef, my $type) = unpack('S n i S C', $from);
	next if $type != PACKET_OUTGOING || length($packet) < 62;
	my $protocol = unpack('n', substr($packet, 12, 2));
	my $head = substr($packet, 14);
	if ($protocol == 0x0800 && ord(substr($head, 9, 1)) == 17) {
		my $len = (ord($head) & 15) * 4;
		print '4 ' . ord(substr($head, 1, 1)) . "\n" if unpack('n', substr($head, $len + 2, 2)) == 4791;
	} elsif ($protocol == 0x86dd && ord(substr($head, 6, 1)) == 17) {
		print '6 ' . ((unpack('n', $head) >> 4) & 255) . "\n" if unpack('n', substr($head, 42, 2)) == 4791;
	}
}
