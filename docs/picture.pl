#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The picture of the README: the ladder of a real ping, as an SVG.
#
#	make demo | docs/picture.pl >docs/ladder.svg
#
# Reads what "krping-trace ladder" has drawn, alone or among other lines, and draws that, character by character.
use strict;
use warnings;

my ($W, $H, $SIZE, $PAD) = (7.8, 16, 13, 14); # of a character, of a line, of the font, around all
my @lines;
while (my $line = <STDIN>) {
	chomp $line;
	$line =~ s/\e\[[0-9;]*[A-Za-z]//g;
	# From its first line to the first blank one behind its table.
	push @lines, $line if @lines || $line =~ /^\S+ on \S+, \d+ bytes$/;
	last if @lines > 8 && $line eq '';
}
pop @lines while @lines && $lines[-1] eq '';
die "picture.pl: there is no ladder on the standard input\n" if @lines < 10;

my ($columns) = sort { $b <=> $a } map { length } @lines;
my $width = int($columns * $W + 2 * $PAD);
my $height = int(@lines * $H + 2 * $PAD);

sub xml {
	my $text = shift;
	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	$text =~ s/>/&gt;/g;
	return $text;
}

# What each piece of a line is, and so its class: the first that matches.
my @pieces = (
	[ arrow => qr/<?[-=]{3,}>?|['`.]-{2,}[>.']?|[|](?= )/ ],
	[ stage => qr/(?:post|wire|cq|wake)=\S+/ ],
	[ key => qr/\[?0x[0-9a-f]+\]?/ ],
	[ phase => qr/(?<= )[a-z]+(?:_[a-z]+)+(?= )|\b(?:fill|read|write|validate)(?= +\d)/ ],
	[ verb => qr/\b(?:SEND|RECV|READ|WRITE|REG_MR|LOCAL_INV|SEND_INV)\b/ ],
);

print <<"END";
<svg xmlns="http://www.w3.org/2000/svg" width="$width" height="$height" viewBox="0 0 $width $height" role="img" aria-label="krping-trace ladder: both ends of one ping">
<!-- SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB; made by docs/picture.pl -->
<style>
text { font: ${SIZE}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre; }
.arrow { fill: #ebcb8b; font-weight: bold; } .stage { fill: #8fbcbb; } .key { fill: #b48ead; }
.phase { fill: #a3be8c; } .verb { fill: #88c0d0; } .dim { fill: #7b8698; }
</style>
<rect width="100%" height="100%" rx="8" fill="#242933"/>
END

my $y = $PAD + $SIZE;
for my $line (@lines) {
	# The head, and the time to the left, stand back.
	my $dim = $line =~ /^(?:iteration|fastest|-{20})/ ? length $line : $line =~ /^( *-?\d+\.\d)/ ? length $1 : 0;
	my $at = 0;
	my $out = '';
	while ($at < length $line) {
		my ($class, $text) = ('', substr $line, $at, 1);
		if ($at < $dim) {
			($class, $text) = ('dim', substr $line, $at, $dim - $at);
		} else {
			pos($line) = $at;
			for my $p (@pieces) {
				pos($line) = $at;
				next unless $line =~ /\G$p->[1]/;
				($class, $text) = ($p->[0], $&);
				last;
			}
		}
		$out .= $class ? sprintf('<tspan class="%s">%s</tspan>', $class, xml($text)) : xml($text);
		$at += length $text;
	}
	printf qq{<text x="%d" y="%d" xml:space="preserve" textLength="%d">%s</text>\n}, $PAD, $y, length($line) * $W, $out if $line ne '';
	$y += $H;
}
print "</svg>\n";
