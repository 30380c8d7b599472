#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# includes.pl FILE...: is there a circle of includes among these files? NAME.c and NAME.h are one node: it is also a circle
# if a.c includes b.h and b.c includes a.h, since then neither stands below the other. Prints TAP, with the circle.
use strict;
use warnings;
use File::Basename;
use File::Spec;

sub node { my ($file) = @_; $file =~ s/\.[ch]$//; return $file }

# "dir/../" is folded by hand: the files are not all there, and no folder is a link.
sub fold {
	my ($path) = File::Spec->canonpath($_[0]);
	1 while $path =~ s{[^/]+/\.\./}{};
	return $path;
}

# The circle that is found first, as words; empty: there is none. %$text: what each file contains.
sub circle {
	my ($text) = @_;
	my (%uses, %seen, @way, $visit, @found);
	for my $file (sort keys %$text) {
		my $me = node($file);
		$uses{$me} //= {};
		for my $name ($text->{$file} =~ /^\s*#\s*include\s+"([^"]+)"/mg) {
			# Beside the file that includes it, or else in a folder that the compiler searches.
			my ($is) = grep { defined $text->{$_} } fold(dirname($file) . "/$name"),
				sort grep { basename($_) eq $name } keys %$text;
			$uses{$me}{node($is)} = 1 if defined $is && node($is) ne $me;
		}
	}
	$visit = sub {
		my ($at) = @_;
		my ($first) = grep { $way[$_] eq $at } 0 .. $#way;
		@found = (@way[$first .. $#way], $at) if defined $first;
		return if @found || $seen{$at}++;
		push @way, $at;
		$visit->($_) for sort keys %{$uses{$at}};
		pop @way;
	};
	$visit->($_) for sort keys %uses;
	return @found;
}

my ($n, $bad, %text) = (0, 0);
sub check {
	my ($good, $what, @why) = @_;
	$n++;
	print $good ? 'ok' : 'not ok', " $n - $what\n";
	print "# $_\n" for $good ? () : @why;
	$bad = 1 if !$good;
}

for my $file (@ARGV) {
	open my $in, '<', $file or die "$file: $!\n";
	local $/;
	$text{fold($file)} = <$in>;
}
my @is = circle(\%text);
check(!@is && scalar @ARGV, 'no circle of includes among ' . @ARGV . ' files', join ' -> ', @is);

my %planted = ('x/a.h' => '', 'x/b.h' => '', 'x/a.c' => "#include \"b.h\"\n", 'x/b.c' => "#include \"b.h\"\n#include \"../x/a.h\"\n",
	'y/a.h' => '');
check("@{[circle(\%planted)]}" eq 'x/a x/b x/a', 'a circle by way of two .c files is found', "@{[circle(\%planted)]}");
$planted{'x/b.c'} = "#include \"../y/a.h\"\n";
check(!circle(\%planted), 'files of the same name in two folders are two', "@{[circle(\%planted)]}");
print "1..$n\n";
exit $bad;
