#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# hotpath.pl FILE.ko: checks what the module calls while its events are off. Follows the machine code of each function from
# its entry, past the NOPs that an event's static key would turn into jumps, and fails if it comes to the call of an
# event. (Reads of the clock depend on more than such a NOP: events.t counts them in the running kernel.) And no function prints
# but on a condition.

use v5.36;
use FindBin;
use lib "$FindBin::Bin/../guest";
use Trace;

my ($ko) = @ARGV;
my (%insn, %next, %entry, $function, $previous, $section);

open my $objdump, '-|', 'objdump', '-dr', '--no-show-raw-insn', '-j', '.text', $ko or die "objdump: $!\n";
while (<$objdump>) {
	if (/^([0-9a-f]+) <(\S+)>:/) {
		$function = $2;
		$entry{$2} = hex $1;
		undef $previous;
	} elsif (/^\s*([0-9a-f]+):\s+(R_X86_64_\S+)\s+(\S+)/) {
		$insn{$previous}{target} = $3 =~ s/[-+]0x[0-9a-f]+$//r if defined $previous;
	} elsif (/^\s*([0-9a-f]+):\t(\S.*)/) {
		my $at = hex $1;
		$next{$previous} = $at if defined $previous;
		$insn{$at} = { text => $2, function => $function };
		$previous = $at;
	}
}
close $objdump or die "objdump failed on $ko\n";

# Each place of a static key has its own relocation in __jump_table: the code there is a 5-byte NOP, or a jump that is
# patched out when the module is loaded.
my (%key, $code);
open my $readelf, '-|', 'readelf', '-rW', $ko or die "readelf: $!\n";
while (<$readelf>) {
	$section = $1 if /^Relocation section '\.rela(\S+)'/;
	next unless defined $section && $section eq '__jump_table';
	# An entry of the table has 16 bytes: code (at 0), target (at 4) and key (at 8).
	next unless /^([0-9a-f]+)\s.*R_X86_64_PC32\s+\S+\s+\.text \+ ([0-9a-f]+)/;
	$code = hex $2 if hex($1) % 16 == 0;
	$key{$code} = hex $2 if hex($1) % 16 == 4;
}
close $readelf;

my ($keys, %reached, @events);

# walk FUNCTION ON: collects the calls in %reached and @events; with ON it also follows the jumps that the keys become.
sub walk($f, $on) {
	my (%seen, @todo);
	@todo = ($entry{$f});
	while (defined(my $at = pop @todo)) {
		next if $seen{$at}++ || !$insn{$at};
		my ($text, $target) = @{ $insn{$at} }{qw(text target)};
		if (defined $key{$at}) {
			$keys++;
			push @todo, $key{$at} if $on;
		} elsif ($text =~ /^(?:call|jmp)q?\s/ && defined $target) {
			push @events, "$f calls $target"
				if $target =~ /^(?:__SCT__tp_func_|__traceiter_|trace_event_|__tracepoint_)/;
			$reached{$target}++;
			next if $text =~ /^jmp/;
		} elsif ($text =~ /^j\w+\s+([0-9a-f]+)/) {
			push @todo, hex $1;
			next if $text =~ /^jmp/;
		} elsif ($text =~ /^(?:ret|ud2|jmp)/) {
			next;
		}
		push @todo, $next{$at} if defined $next{$at};
	}
}

# The functions that an event itself consists of are left out.
my @functions = grep { !/^(?:__traceiter_|__bpf_trace_|perf_trace_|trace_event_raw_event_|trace_raw_output_|__probestub_)/ }
	sort keys %entry;
$keys = 0;
walk($_, 0) for @functions;
check(!@events, "with its events off the module calls none of them: $keys keys in " . @functions . ' functions', @events);
check($reached{$_}, "the code's calls were followed: $_") for qw(ib_map_mr_sg);
@events = ();
walk($_, 1) for @functions;
check(@events >= 27, 'the same walk with the events on comes to ' . @events . ' calls');

# A function that prints whatever it is called for is cold to the compiler, and with it each function that always calls it.
my @cold = `objdump -t $ko` =~ /F \.text\.unlikely\s+\S+\s+(?!\S*\.cold)(\S+)/g;
check(!@cold, 'no function prints on its way', @cold);
finish();
