#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Prints what ftrace and krping-trace have recorded of the same runs, in a form in which the two can be compared.
#
#   trace.pl fields FILE           "RUN EVENT t=TIME NAME=VALUE..." for each event, sorted, of a trace or of krping-trace -j
#   trace.pl iterations RUN FILE   "ITER DURATION" of a run, from a trace

use strict;
use warnings;
use JSON::PP;
use FindBin;
use lib $FindBin::Bin;
use Trace;

my $what = shift;
my $run = $what eq 'iterations' ? shift : 0;
my $json = JSON::PP->new;
my (@lines, $begin);

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
		# These events have no time of their own, and krping-trace takes that of ftrace's clock.
		$t = '' if $name =~ /^(result|addr|post_(send|recv)_err|mr_(fastreg|localinv|reminv|readinv|dereg)|wait|validate|protect)$/;
		$f = json_fields($o);
	} else {
		my $e = event($_) // next;
		($name, $r, $t) = @$e{qw(ev run t)};
		if ($what eq 'iterations') {
			next unless $name eq 'phase' && $r == $run;
			# iter is the number of the next iteration.
			printf "%d %d\n", $e->{iter} - 1, $e->{t} - $begin if $e->{flags} =~ /commit/ && $begin;
			# The first phase of an iteration begins after connect or accept, or where another iteration ends.
			$begin = $e->{t} if $e->{flags} =~ /commit/ || $e->{prev} =~ /^(connect|accept)$/;
			next;
		}
		$t //= '';
		$f = trace_fields($name, ' ' . $e->{rest});
		# JSON has "-" for a run without a label.
		$f->{name} ||= '-' if $name eq 'run_start';
	}
	push @lines, "$r $name t=$t " . join(' ', map { "$_=$f->{$_}" } sort keys %$f) . "\n";
}
print sort @lines;
