#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# mpa.pl ADDR PORT BYTES: an iWARP server on plain TCP for one client. It answers the MPA request (RFC 5044, 7.1; RFC 6581)
# with krping's refusal "the server serves another client", but sends only BYTES bytes of the answer (-1: all), and its FIN
# comes in the segment of the last byte. With +N it accepts, and the segment of its answer has N bytes of a message, too. It
# prints "listening", then "answered", and ends after 10 s at the latest.
#
# mpa.pl client ADDR PORT BYTES END: a client of a krping server, which sends only BYTES bytes of its request (-1: all, and waits
# for the answer), and then ends: fin, a close; reset; silent, stays until it is killed, or for 10 s; behind an answer also garbage,
# 64 bytes that are no message, and half, the beginning of one. With rtr-END it promises a first frame behind the answer (RFC 6581,
# 9.2), which does not come. It prints "sent", or that there was no answer.

use v5.36;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_CORK SOL_SOCKET SO_LINGER);

$| = 1;
# struct krping_priv: magic, version, type, test, can, size, count, nonce, run, why, option, flags, warmup.
my $priv = 'N C C C C N N Q> N n a16 N N';

sub lie($addr, $port, $bytes, $end) {
	my $s = IO::Socket::INET->new(PeerAddr => $addr, PeerPort => $port) or die "connect: $!\n";
	my $data = pack $priv, 0x4b525047, 3, 0, 0, 0, 64, 5, 0, 1, 0, '', 0, 0;
	my $rtr = $end =~ s/^rtr-//;
	$data = pack('n n', 0x8001, 0x8001) . $data if $rtr;
	my $request = pack('a16 n n', 'MPA ID Req Frame', $rtr ? 0x1002 : 1, length $data) . $data;
	my $part = $bytes < 0 ? $request : substr $request, 0, $bytes;
	syswrite($s, $part) == length $part or die "write: $!\n" if length $part;
	if ($bytes < 0) {
		my $n = sysread $s, my $answer, 4096;
		defined $n && $n >= 20 && $answer =~ /^MPA ID Rep Frame/ or die "no answer\n";
	}
	syswrite $s, "\xa5" x 64 if $end eq 'garbage';
	# A length of 32 bytes, and a tagged message's control bytes.
	syswrite $s, pack('n C C', 32, 0xc1, 0x40) . "\0" x 6 if $end eq 'half';
	setsockopt $s, SOL_SOCKET, SO_LINGER, pack 'i i', 1, 0 if $end eq 'reset';
	print "sent\n";
	sleep 10 if $end eq 'silent';
	close $s;
	exit 0;
}

alarm 10 * ($ENV{KRPING_SLOW} // 1);
lie(@ARGV[1 .. 4]) if $ARGV[0] eq 'client';
my ($addr, $port, $bytes) = @ARGV;
my $l = IO::Socket::INET->new(LocalAddr => $addr, LocalPort => $port, Listen => 1, ReuseAddr => 1) or die "listen: $@\n";
print "listening\n";
my $s = $l->accept or die "accept: $!\n";

sub take($n) {
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
my $accepts = $bytes =~ /^\+/;
my $told = $ctrl . pack $priv, 0x4b525047, 3, 1, 0, 0, 64, $accepts ? 1 : 0, 0, 0, $accepts ? 0 : 1, '', 0, 0;
my $reply = pack('a16 n n', 'MPA ID Rep Frame', ($flags & 0x1fff) | ($accepts ? 0 : 0x2000), length $told) . $told;
if ($accepts) {
	$reply .= "\0" x $bytes;
} elsif ($bytes >= 0) {
	$reply = substr $reply, 0, $bytes;
}
# The corked data goes out as a whole, a refusal with the FIN.
setsockopt $s, IPPROTO_TCP, TCP_CORK, 1 or die "TCP_CORK: $!\n";
syswrite($s, $reply) == length $reply or die "write: $!\n" if length $reply;
$accepts ? setsockopt $s, IPPROTO_TCP, TCP_CORK, 0 : shutdown $s, 1;
print "answered\n";
# Read until the client has gone, since a close with unread data would send a reset.
1 while sysread $s, my $rest, 4096;
