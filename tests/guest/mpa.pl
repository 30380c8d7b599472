#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# mpa.pl ADDR PORT BYTES: an iWARP server on plain TCP for one client. It answers the MPA request (RFC 5044, 7.1; RFC 6581)
# with krping's refusal "the server serves another client", but sends only BYTES bytes of the answer (-1: all), and its FIN
# comes in the segment of the last byte. It prints "listening", then "answered", and ends after 10 s at the latest.

use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_CORK);

my ($addr, $port, $bytes) = @ARGV;
alarm 10 * ($ENV{KRPING_SLOW} // 1);
$| = 1;
my $l = IO::Socket::INET->new(LocalAddr => $addr, LocalPort => $port, Listen => 1, ReuseAddr => 1) or die "listen: $@\n";
print "listening\n";
my $s = $l->accept or die "accept: $!\n";

sub take {
	my ($n) = @_;
	my $got = '';
	while (length $got < $n) {
		sysread $s, $got, $n - length $got, length $got or die "the request ends after " . length($got) . " of $n bytes\n";
	}
	return $got;
}

# Key, flags and revision, length of the private data.
my ($key, $flags, $len) = unpack 'a16 n n', take(20);
$key eq 'MPA ID Req Frame' or die "not an MPA request\n";
my $data = take($len);
# The private data of an enhanced request begins with IRD and ORD, four bytes in all, and that of the reply does, too.
my $ctrl = $flags & 0x1000 ? substr $data, 0, 4, '' : '';
# struct krping_priv: magic, version, type, test, reserved, size, count, nonce, run, why, option, flags.
my $refusal = pack 'N C C C C N N Q> N n a16 N', 0x4b525047, 2, 1, 0, 0, 64, 0, 0, 0, 1, '', 0;
my $reply = pack('a16 n n', 'MPA ID Rep Frame', ($flags & 0x1fff) | 0x2000, length $ctrl . $refusal) . $ctrl . $refusal;
setsockopt $s, IPPROTO_TCP, TCP_CORK, 1 or die "TCP_CORK: $!\n";
my $part = $bytes < 0 ? $reply : substr $reply, 0, $bytes;
syswrite($s, $part) == length $part or die "write: $!\n" if length $part;
# The corked data goes out with the FIN.
shutdown $s, 1;
print "answered\n";
# Read until the client has gone, since a close with unread data would send a reset.
1 while sysread $s, my $rest, 4096;
