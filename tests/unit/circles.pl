#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# circles.pl FILE...: is there a circle of includes among the sources (.c, .h), or a circle of symbols among the object files (.o)?
# NAME.c and NAME.h are one node: it is also a circle if a.c includes b.h and b.c includes a.h, since then neither stands below the
# other. An object file stands above those whose symbols it uses, whatever it includes. Prints TAP, with the steps of the circle.
use v5.36;
use File::Basename;
use File::Spec;
use FindBin;
use lib "$FindBin::Bin/../guest";
use Trace;

sub node($file) { return $file =~ s/\.[ch]$//r }

# "dir/../" is folded by hand: the files are not all there, and no folder is a link.
sub fold {
	my ($path) = File::Spec->canonpath($_[0]);
	1 while $path =~ s{[^/]+/\.\./}{};
	return $path;
}

# $uses{NODE}{OTHER NODE} is the name that the first one uses of the other one. %$text: what each source contains.
sub includes($text) {
	my %uses;
	for my $file (sort keys %$text) {
		my $me = node($file);
		$uses{$me} //= {};
		for my $name ($text->{$file} =~ /^\s*#\s*include\s+"([^"]+)"/mg) {
			# Beside the file that includes it, or else in a folder that the compiler searches.
			my ($is) = grep { defined $text->{$_} } fold(dirname($file) . "/$name"),
				sort grep { basename($_) eq $name } keys %$text;
			$uses{$me}{node($is)} = $name if defined $is && node($is) ne $me;
		}
	}
	return \%uses;
}

# The same for symbols. %$nm: what nm prints of each object file.
sub symbols($nm) {
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
sub circle($uses) {
	my (%seen, @way, $visit, @found);
	$visit = sub ($at) {
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

my (%text, %nm);
for my $file (@ARGV) {
	# The module itself is linked of all the others.
	next if basename($file) =~ /^rdma_krping\b/;
	my $is_object = $file =~ /\.o$/;
	open my $in, '-|', $is_object ? 'nm' : 'cat', $file or die "$file: $!\n";
	local $/;
	my $content = <$in>;
	close $in or die "$file cannot be read\n";
	($is_object ? $nm{basename($file, '.o')} : $text{fold($file)}) = $content;
}
my $symbols = symbols(\%nm);
my @is = circle(includes(\%text));
check(!@is && scalar(keys %text), 'no circle of includes among ' . keys(%text) . ' files', @is);
check(scalar(grep { %$_ } values %$symbols) > keys(%nm) / 2, 'most of the ' . keys(%nm) . ' object files use another one');
@is = circle($symbols);
check(!@is, 'no circle of symbols among them', @is);

my %planted = ('x/a.h' => '', 'x/b.h' => '', 'x/a.c' => "#include \"b.h\"\n", 'x/b.c' => "#include \"b.h\"\n#include \"../x/a.h\"\n",
	'y/a.h' => '');
@is = circle(includes(\%planted));
check("@is" eq 'x/a uses b.h of x/b x/b uses ../x/a.h of x/a', 'a circle by way of two .c files is found', @is);
$planted{'x/b.c'} = "#include \"../y/a.h\"\n";
check(!circle(includes(\%planted)), 'files of the same name in two folders are two', circle(includes(\%planted)));
@is = circle(symbols({
	a => "                 U b_do\n0000 T a_do\n", b => "                 U c_do\n0000 T b_do\n",
	c => "                 U a_do\n0000 D c_do\n" }));
check("@is" eq 'a uses b_do of b b uses c_do of c c uses a_do of a', 'a circle of three object files is found', @is);
finish();
