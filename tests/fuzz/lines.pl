#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# lines.pl SEED NR: prints lines of a log, always the same for a seed: classic lines of krping, and what they are not, as a log
# that was cut, or that others wrote into, has them. Numbers have at most the digits of 64 bits.
use v5.36;

my ($seed, $nr) = @ARGV;
srand $seed;
sub any { return $_[int rand @_] }

my @good = ('krping: delta sec 1 delta usec 500000 iter 100000 size 64 test wlat',
	'[   12.345678] krping: delta sec 12 delta usec 3 iter 3000000 size 65536 test bw',
	'krping: delta nsec 1500000000 iter 100000 size 64 cycle_iters 1000 sum_post 5 sum_poll 6 sum_last_poll 7',
	'Nov 24 18:00:01 delta kernel: krping: delta sec 0 delta usec 7 iter 1 size 1 test rlat');
my @words = (qw(delta sec usec nsec iter size test rlat wlat bw krping:),
	'', "\r", "\t", 'nan', 'inf', '0x10', '1e9', '%s', '$(x)', '\\', '"');
my @odd = (0, 1, '00', '-1', '+1', '1.5', '.', 999999, 1000000, 4294967296, '18446744073709551615', '99999999999999999999');
my @ways = (
	sub { splice @{ $_[0] }, int rand @{ $_[0] }, 1 },
	sub { splice @{ $_[0] }, int rand @{ $_[0] }, 0, any(@words, @odd) },
	sub { my $at = int rand @{ $_[0] }; splice @{ $_[0] }, $at, 0, $_[0][$at] },
	sub { $_[0][rand @{ $_[0] }] = any(@odd) },
	sub { $_ =~ s/\d+/any(@odd)/e for $_[0][rand @{ $_[0] }] },
	sub { substr($_, int rand length, 1) = chr(1 + int rand 255) for grep { length } $_[0][rand @{ $_[0] }] },
);
for (1 .. $nr) {
	my @line = split / /, any(@good);
	for (1 .. int rand 5) { any(@ways)->(\@line) if @line }
	my $line = join any(' ', ' ', ' ', '  ', "\t"), @line;
	$line =~ tr/\n//d;
	print $line, any("\n", "\n", "\r\n");
}
