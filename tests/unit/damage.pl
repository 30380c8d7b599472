#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# damage.pl SEED FILE: prints the recording with damage, which is always the same for a seed, which also
# selects the kind of damage. tests/fuzz has more kinds.
use strict;
use warnings;

my ($seed, $file) = @ARGV;
open my $f, '<:raw', $file or die "$file: $!\n";
my @lines = <$f>;
close $f;
binmode STDOUT;
srand $seed;
sub upto { return int rand $_[0] }
sub any { return $_[upto(scalar @_)] }

my @odd = ('-1', 0, 4294967295, 4294967296, '9223372036854775807', '18446744073709551615', '99999999999999999999', '1e308',
	'1.5', 'null', 'true', '{}', '[]', '""', '"x"', '"0x"', '"' . 'A' x 5000 . '"', '"\u0000"', '"\ud800"', '"\u009b2J"',
	'"' . '|' x 40 . '"', '"{' . '0x1,' x 40 . '}"', '"::"', '"255.255.255.255"');
my %kind = (
	# Cut off anywhere.
	0 => sub { my $all = join '', @lines; substr($all, 0, upto(length $all)) },
	# Bytes of any value, anywhere.
	1 => sub { my $all = join '', @lines; substr($all, upto(length $all), 1) = chr upto(256) for 0 .. upto(200); $all },
	# Lines that are missing, doubled or moved.
	2 => sub {
		for (0 .. upto(40)) {
			my ($line) = splice @lines, upto(scalar @lines), 1;
			splice @lines, upto(@lines + 1), 0, ($line) x upto(3) if defined $line;
		}
		join '', @lines;
	},
	# Values that no recorder writes.
	3 => sub {
		s/("(?!final|event)\w+":)("[^"]*"|[\w.-]+)/$1 . (rand() < 0.05 ? any(@odd) : $2)/ge for @lines;
		s/"\{[^"]*"/'"{' . join(',', ('0xf') x upto(80)) . '}"'/e for @lines;
		join '', @lines;
	},
	# Times and runs in disorder.
	4 => sub {
		s/("t_\w*ns":)(\d+)/$1 . (rand() < 0.05 ? any($2 - upto(1e9), $2 + upto(1e9), 0, '9223372036854775807') : $2)/ge,
			s/("run":)(\d+)/$1 . (rand() < 0.05 ? 1 + upto(5) : $2)/e for @lines;
		join '', @lines;
	},
	# Two recordings, of which the first is cut off, so that its last line runs into the second one.
	5 => sub { my $all = join '', @lines; substr($all, 0, upto(length $all)) . $all },
);
print $kind{$seed % keys %kind}->();
