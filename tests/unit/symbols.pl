#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# symbols.pl OBJECT...: is there a circle of symbols among these object files? An object file stands above those whose symbols it
# uses, whatever it includes. Prints TAP, with the circle and the symbol of each step.
use strict;
use warnings;
use File::Basename;

# Which symbols of another file each file uses, from the output of nm for each: $uses{FILE}{OTHER FILE} is one of them.
sub uses {
	my ($nm) = @_;
	my (%home, %uses);
	for my $file (keys %$nm) {
		$home{$_} = $file for $nm->{$file} =~ /^[0-9a-f]+ [A-TV-Z] (\S+)$/mg;
	}
	for my $file (sort keys %$nm) {
		$uses{$file} = {};
		for my $symbol ($nm->{$file} =~ /^\s+U (\S+)$/mg) {
			my $other = $home{$symbol};
			$uses{$file}{$other} = $symbol if defined $other && $other ne $file;
		}
	}
	return \%uses;
}

# The circle that is found first, a line for each step; empty: there is none.
sub circle {
	my ($uses) = @_;
	my (%seen, @way, $visit, @found);
	$visit = sub {
		my ($at) = @_;
		my ($first) = grep { $way[$_] eq $at } 0 .. $#way;
		@found = (@way[$first .. $#way], $at) if defined $first;
		return if @found || $seen{$at}++;
		push @way, $at;
		$visit->($_) for sort keys %{$uses->{$at}};
		pop @way;
	};
	$visit->($_) for sort keys %$uses;
	return map { "$found[$_] uses $uses->{$found[$_]}{$found[$_ + 1]} of $found[$_ + 1]" } 0 .. $#found - 1;
}

my ($n, $bad, %nm) = (0, 0);
sub check {
	my ($good, $what, @why) = @_;
	$n++;
	print $good ? 'ok' : 'not ok', " $n - $what\n";
	print "# $_\n" for $good ? () : @why;
	$bad = 1 if !$good;
}

# The module itself is linked of all the others.
@ARGV = grep { basename($_) !~ /^rdma_krping\b/ } @ARGV;
for my $object (@ARGV) {
	my $text = qx(nm '$object');
	die "nm $object: $?\n" if $?;
	$nm{basename($object, '.o')} = $text;
}
my $uses = uses(\%nm);
my @is = circle($uses);
check(scalar(grep { %$_ } values %$uses) > @ARGV / 2, 'most of the ' . @ARGV . ' object files use another one');
check(!@is, 'no circle of symbols among them', @is);

my @planted = circle(uses({
	a => "                 U b_do\n0000 T a_do\n", b => "                 U c_do\n0000 T b_do\n",
	c => "                 U a_do\n0000 D c_do\n" }));
check("@planted" eq 'a uses b_do of b b uses c_do of c c uses a_do of a', 'a circle of three files is found', @planted);
print "1..$n\n";
exit $bad;
