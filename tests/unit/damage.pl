#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# damage.pl SEED FILE: prints the recording with damage, which is always the same for a seed, which also
# selects the kind of damage. tests/fuzz has more kinds.
use v5.36;

my ($seed, $file) = @ARGV;
open my $f, '<:raw', $file or die "$file: $!\n";
my $all = do { local $/; <$f> };
close $f;
binmode STDOUT;
srand $seed;
sub upto { return int rand $_[0] }
sub any { return $_[upto(scalar @_)] }

# Its chunks, behind what a file begins with.
my ($magic, @chunks) = substr $all, 0, 16;
for (my $at = 16; $at < length $all; $at += length $chunks[-1]) {
	push @chunks, substr $all, $at, 8 + ((unpack 'L', substr $all, $at + 4, 4) + 7 & ~7);
}
# Changes numbers of 64 bits in one of twenty events, from a byte on.
sub numbers($from, $to) {
	for (@chunks) {
		next if unpack('L', $_) != 3 || rand() > 0.05;
		my $at = $from + 8 * upto((length($_) - $from) / 8);
		substr $_, $at, 8, pack 'Q', $to->(unpack 'Q', substr $_, $at, 8);
	}
	return join '', $magic, @chunks;
}
my %kind = (
	# Cut off anywhere behind its beginning.
	0 => sub { substr $all, 0, 16 + upto(length($all) - 16) },
	# Bytes of any value, anywhere behind it.
	1 => sub { substr($all, 16 + upto(length($all) - 16), 1) = chr upto(256) for 0 .. upto(200); $all },
	# Chunks that are missing, doubled or moved.
	2 => sub {
		for (0 .. upto(40)) {
			my ($chunk) = splice @chunks, upto(scalar @chunks), 1;
			splice @chunks, upto(@chunks + 1), 0, ($chunk) x upto(3) if defined $chunk;
		}
		join '', $magic, @chunks;
	},
	# Arguments that no recorder writes.
	3 => sub { numbers(32, sub { any(0, 48, 49, 4294967295, 4294967296, ~0 >> 1, ~0) }) },
	# Times and runs in disorder.
	4 => sub { numbers(8, sub($v) { any($v - upto(1e9), $v + upto(1e9), 0, 1 + upto(5), ~0 >> 1) & ~0 }) },
);
print $kind{$seed % keys %kind}->();
