#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# bpftrace knows no list macros, so its scripts have tables of names of their own: these tables have to be complete, and in
# the order of trace/krping_abi.h.
#
#   bpftrace-names.pl krping_abi.h FILE.bt...

use strict;
use warnings;

my ($abi, @scripts) = @ARGV;
my (%list, $name);
open my $f, '<', $abi or die "$abi: $!\n";
while (<$f>) {
	$name = $1 if /^#define\s+(KRPING_\w+)\(x\)/;
	push @{ $list{$name} }, $1 if defined $name && /x\(\w+,\s*"([^"]*)"\)/;
	undef $name unless /\\$/;
}
close $f;

# For each table's name in the scripts, the name of the list.
my %table = (phase => 'KRPING_PHASES', wr => 'KRPING_WRS', state => 'KRPING_STATES', role => 'KRPING_ROLES',
	test => 'KRPING_TESTS', mr => 'KRPING_MR_STATES');
my ($bad, $tables) = (0, 0);
for my $script (@scripts) {
	my %got;
	open $f, '<', $script or die "$script: $!\n";
	while (<$f>) {
		push @{ $got{$1} }, "$2 $3" if /^\s*\@(\w+)\[(\d+)\] = "([^"]*)";/;
	}
	close $f;
	for my $t (sort keys %got) {
		my $names = $table{$t} && $list{ $table{$t} };
		my $want = join "\n", map { "$_ $names->[$_]" } 0 .. $#{ $names // [] };
		my $ok = $names && $want eq join("\n", @{ $got{$t} });
		(my $short = $script) =~ s,.*/,,;
		$tables++;
		print(($ok ? 'ok' : 'not ok') . " $tables - $short: \@$t has the names of " . ($table{$t} // 'no list') . "\n");
		$bad = 1 unless $ok;
	}
}
my $last = $tables + 1;
print(($tables >= 4 ? 'ok' : 'not ok') . " $last - $tables tables were compared\n1..$last\n");
exit($bad || $tables < 4 ? 1 : 0);
