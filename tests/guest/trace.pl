#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Prints what ftrace and krping-trace have recorded of the same runs, in a form in which the two can be compared.
#
#   trace.pl fields FILE [LINES]   "RUN EVENT NAME=VALUE..." for each event, sorted, of a trace or of krping-trace -j;
#                                  and writes the latter into LINES, as lines of a trace in their order
#   trace.pl iterations RUN FILE   "ITER DURATION" of a run, from a trace

use strict;
use warnings;
use JSON::PP;

my $what = shift;
my $run = $what eq 'iterations' ? shift : 0;
my $json = JSON::PP->new;
my (@lines, $begin, $out);

if (@ARGV == 2) {
	open $out, '>', pop or die "$!\n";
}

# Rewrites what the trace and JSON write differently, so that the fields can be compared.
sub trace_fields {
	my ($name, $rest) = @_;
	my %f;
	$rest =~ s/ dev=(\S+)\/(\d+)/ dev=$1 port=$2/;
	$rest =~ s/ (\w+)\(\d+\) -> (\w+)\(\d+\)/ old=$1 new=$2/;
	$rest =~ s/ event=(\S+) \(\d+\/(-?\d+)\)/ cm_event=$1 status=$2/;
	$rest =~ s/ event=(\S+) \(\d+\)/ ib_event=$1/;
	$rest =~ s/ status=(\S+) \(\d+\/(0x[0-9a-f]+)\)/ status=$1 vendor_err=$2/;
	$rest =~ s/ src=::ffff:(\S+) port=(\d+) dst=::ffff:(\S+) port=(\d+)/ src=$1 src_port=$2 dst=$3 dst_port=$4/;
	# The event of a RECV has no argument for the kind.
	$rest =~ s/ kind=RECV// if $name eq 'post_recv';
	while ($rest =~ /([\w.]+)=(\S*)/g) {
		my ($k, $v) = ($1, $2);
		$k =~ s/\./_/;
		$f{$k} = $v;
	}
	delete @f{'run', 't', 'role'};
	return \%f;
}

sub json_fields {
	my %f = %{$_[0]};
	delete @f{qw(tool schema time final t_ns event run role peer_here)};
	for my $k (keys %f) {
		(my $short = $k) =~ s/^(t_\w+)_ns$/$1/;
		$f{$short} = delete $f{$k} if $short ne $k;
	}
	return \%f;
}

while (<>) {
	my ($r, $name, $f, $t);
	if (/^\{/) {
		my $o = $json->decode($_);
		next unless defined $o->{event};
		($r, $name, $t) = @$o{qw(run event t_ns)};
		$f = json_fields($o);
		if ($out) {
			my %f = %$f;
			$f{role} = $o->{role} if $name eq 'run_start';
			$f{event} = delete $f{cm_event} if defined $f{cm_event};
			my @f = map { (my $k = $_) =~ s/^(cq|mr)_id$/$1.id/; "$k=$f{$_}" } grep { !/^(old|new)$/ } sort keys %f;
			push @f, "$f{old}(0) -> $f{new}(0)" if $name eq 'state';
			push @f, 'kind=RECV' if $name eq 'post_recv';
			# The flags written here mean a thread with interrupts on; only ftrace records what they really
			# were.
			print $out "x-1 [000] ..... 0.0: krping_$name: run=$r t=$t @f\n";
		}
	} else {
		next unless /: krping_(\w+): (run=(\d+).*)/;
		($name, $r) = ($1, $3);
		my $rest = $2;
		if ($what eq 'iterations') {
			next unless $name eq 'phase' && $r == $run;
			my ($at, $iter, $flags) = $rest =~ / t=(\d+) iter=(\d+) .* flags=(\S*) /;
			# iter is the number of the next iteration.
			printf "%d %d\n", $iter - 1, $at - $begin if $flags =~ /commit/ && $begin;
			# The first phase of an iteration begins after connect or accept, or where another iteration ends.
			$begin = $at if $flags =~ /commit/ || $rest =~ / prev=(connect|accept) /;
			next;
		}
		$f = trace_fields($name, $rest);
		# JSON has "-" for a run without a label.
		$f->{name} ||= '-' if $name eq 'run_start';
	}
	push @lines, "$r $name " . join(' ', map { "$_=$f->{$_}" } sort keys %$f) . "\n";
}
print sort @lines;
