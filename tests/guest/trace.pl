#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# trace.pl FILE: prints what ftrace and krping-trace have recorded of the same runs, in a form in which the two can be compared:
# "RUN EVENT t=TIME NAME=VALUE..." for each event, sorted, of a trace or of krping-trace -j.

use v5.36;
use JSON::PP;
use FindBin;
use lib $FindBin::Bin;
use Trace;

my $json = JSON::PP->new;
my @lines;

# Rewrites what the trace and JSON write differently, so that the fields can be compared.
sub trace_fields($name, $rest) {
	$rest =~ s/ dev=(\S+)\/(\d+)/ dev=$1 port=$2/;
	$rest =~ s/ (\w+)\(\d+\) -> (\w+)\(\d+\)/ old=$1 new=$2/;
	$rest =~ s/ event=(\S+) \(\d+\/(-?\d+)\)/ cm_event=$1 status=$2/;
	$rest =~ s/ event=(\S+) \(\d+\)/ ib_event=$1/;
	$rest =~ s/ status=(\S+) \(\d+\/(0x[0-9a-f]+)\)/ status=$1 vendor_err=$2/;
	$rest =~ s/ src=::ffff:(\S+) port=(\d+) dst=::ffff:(\S+) port=(\d+)/ src=$1 src_port=$2 dst=$3 dst_port=$4/;
	# The event of a RECV has no argument for the kind.
	$rest =~ s/ kind=RECV// if $name eq 'post_recv';
	my %of = $rest =~ /([\w.]+)=(\S*)/g;
	my %f = map { (tr/./_/r => $of{$_}) } keys %of;
	# JSON has "-" for a run without a label.
	$f{name} ||= '-' if $name eq 'run_start';
	delete @f{'run', 't', 'role'};
	return \%f;
}

sub json_fields {
	my %f = %{$_[0]};
	delete @f{qw(tool schema time final t_ns event run role peer_here)};
	return { map { s/^(t_\w+)_ns$/$1/r => $f{$_} } keys %f };
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
		$t //= '';
		$f = trace_fields($name, ' ' . $e->{rest});
	}
	push @lines, "$r $name t=$t " . join(' ', map { "$_=$f->{$_}" } sort keys %$f) . "\n";
}
print sort @lines;
