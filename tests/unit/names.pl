#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Lists that are written twice say the same. bpftrace knows no list macros, so its scripts have tables of names of their own:
# these have to be complete, and in the order of trace/krping_abi.h. bpf/event_table.h has each event of trace/krping_trace.h,
# with its arguments and their types, and docs/events.md has a section with the same fields. tools/krping/words.c explains
# each name that the tools print, and each head of a column.
#
#   names.pl trace/krping_abi.h FILE.bt...

use v5.36;
use FindBin;
use lib "$FindBin::Bin/../guest";
use Trace;

my ($abi, @scripts) = @ARGV;

# same WHAT GOT WANTED: two lists of lines, of which a difference is told.
sub same($what, $got, $want) {
	my ($is, $should) = map { +{ map { $_ => 1 } split /\n/ } } $got, $want;
	check($got eq $want, $what, map({ "there: $_" } grep { !$should->{$_} } sort keys %$is), map({ "missing: $_" } grep { !$is->{$_} } sort keys %$should),
		'or in another order');
}

my %list;
for (split /(?<!\\)\n/, slurp($abi)) {
	my ($name) = /^#define\s+(KRPING_\w+)\(x\)/ or next;
	$list{$name} = [ /x\(\w+,\s*"([^"]*)"\)/g ];
}
# For each table's name in the scripts, the name of the list.
my %table = (phase => 'KRPING_PHASES', wr => 'KRPING_WRS', state => 'KRPING_STATES', role => 'KRPING_ROLES',
	test => 'KRPING_TESTS', mr => 'KRPING_MR_STATES');
my $tables = 0;
for my $script (@scripts) {
	my %got;
	my $text = slurp($script);
	push @{ $got{$1} }, "$2 $3" while $text =~ /^\s*\@(\w+)\[(\d+)\] = "([^"]*)";/mg;
	for my $t (sort keys %got) {
		$tables++;
		my @names = @{ $list{ $table{$t} // '' } // ['no list'] };
		same($script =~ s,.*/,,r . ": the names of \@$t", join("\n", @{ $got{$t} }), join("\n", map { "$_ $names[$_]" } 0 .. $#names));
	}
}
same('four tables were compared', $tables < 4 ? $tables : 'four', 'four');

my $top = $abi =~ s,[^/]*$,..,r;
# The events of the header, as lines "run u32" of each event's arguments.
my ($trace, %event) = slurp("$top/trace/krping_trace.h");
while ($trace =~ /^(?:TRACE_EVENT(?:_FN)?\(|DEFINE_EVENT(?:_FN)?\(\s*\w+,)\s*krping_(\w+),\s*TP_PROTO\(([^)]*)\),\s*TP_ARGS\(([^)]*)\)/mg) {
	my ($name, $proto, $args) = ($1, $2, $3);
	my @args = map { /^\s*(.*?)\s*(\w+)\s*$/s; [ $2, { 'const char *' => 'str', 'const u64 *' => 'words' }->{$1} // $1 ] } split /,/, $proto;
	$event{$name} = \@args;
	same("krping_$name: TP_ARGS has the names of TP_PROTO", join(' ', $args =~ /\w+/g), join(' ', map { $_->[0] } @args));
}
same('the header has 27 events at least', keys %event < 27 ? scalar keys %event : '27 or more', '27 or more');

my %row;
for (split /(?<!\\)\n/, slurp("$top/bpf/event_table.h")) {
	my ($name) = /^#define KRP_EVENT_(\w+)\(a, e\)/ or next;
	$row{$name} = join "\n", map { s/,//r } /a\(e, (\w+, \w+)/g;
}
same('bpf/event_table.h has these events', join("\n", sort keys %row), join("\n", sort keys %event));
same("bpf/event_table.h: krping_$_", $row{$_}, join("\n", map { "@$_" } @{ $event{$_} })) for grep { $row{$_} } sort keys %event;

# A section is "### krping_a, krping_b (context)"; its fields are a list in backticks that begins with run, or the first
# columns of its tables with the head "field".
my %page;
for (split /^#+ /m, slurp("$top/docs/events.md")) {
	my ($names) = /^(krping_[^(]*) \(/ or next;
	my ($fields) = /`(run, [^`]*)`/;
	$fields //= join ', ', map { /^\| (?!field \|)([^|]*?) \|/mg } /^\| field \|[^\n]*\n\|-[^\n]*\n((?:\|[^\n]*\n)*)/mg;
	$fields =~ s/\s+/ /g;
	$page{$_} = $fields for $names =~ /krping_(\w+)/g;
}
same('docs/events.md has sections of these events', join("\n", sort keys %page), join("\n", sort keys %event));
same("docs/events.md: krping_$_", $page{$_}, join(', ', map { $_->[0] } @{ $event{$_} })) for grep { defined $page{$_} } sort keys %event;

# The words of rows {"a|b", "text"}; a row without a text is a place.
my %words;
$words{lc $_} = 1 for map { split /\|/ } slurp("$top/tools/krping/words.c") =~ /^\t\{ "([^"]+)", "(?:[^"\\]|\\.)+" \},$/mg;
my @lists = qw(PHASES STAGES REQUESTS STATES TESTS WRS MR_STATES STEPS COSTS BLOCKS JUDGEMENTS WRONGS POLLS ROLES);
my %printed = map { $_ => 1 } map { @{ $list{"KRPING_$_"} // ["no list $_"] } } @lists;
my $sources = join '', map { slurp($_) } grep { !/words\.c$/ } glob "$top/tools/*/*.c $top/trace/krping_abi.h";
# Columns: { "HEAD", width }, of top { "HEAD", "word", width, most }; and arrays of texts.
my @heads = $sources =~ /\{ "([A-Z][^"|]*)", (?:(?:"\w+"|NULL), )?-?\d+(?:, \d+)? \}/g;
$printed{$_} = 1 for @heads, map { /"([^"]+)"/g } $sources =~ /^\s*static const char \*const (?:wc_statuses|names|region_names|what)\[[^;]*?(?:"[A-Z_]+_ERR|"CONREQ|"FREED|"set-up|\[PROVIDER_)[^;]*;/mg;
delete @printed{'-', 'NONE'};
same('columns were found in the sources', @heads > 60 && keys %printed > 160 ? 'many' : @heads . ' heads, ' . keys(%printed) . ' words', 'many');
same('tools/krping/words.c explains what the tools print', join("\n", sort grep { !$words{lc $_} } keys %printed), '');
# What nobody prints any more has no explanation. Words of the documents are the first rows.
my $all = lc $sources . slurp("$top/README.md") . slurp("$top/tools/trace/ladder.h");
same('tools/krping/words.c explains nothing else', join("\n", sort grep { index($all, $_) < 0 } keys %words), '');
finish();
