#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Checks what tools print for programs in other forms than -j: CSV against the manuals' lists of columns and against the
# JSON of the same runs, and histograms against their counts.
#
#   columns.pl csv TITLE FILE MANUAL SECTION        the columns are those of the manual, and each row has them
#   columns.pl runs TITLE FILE JSON [COLUMN]...     for each run: these columns, or all, are those of the JSON's last object
#   columns.pl stages TITLE FILE JSON               rows of krping-stages
#   columns.pl steps TITLE FILE JSON                rows of the ladder
#   columns.pl events TITLE FILE JSON               rows of krping-trace: each run has as many of each event
#   columns.pl buckets TITLE JSON                   histograms of -j -H
#   columns.pl text TITLE FILE JSON                 histograms of -H

use v5.36;
use List::Util qw(sum0);
use FindBin;
use lib $FindBin::Bin;
use Trace;

my ($what, $title, $file, @rest) = @ARGV;

$Trace::title = "$title: ";

# Numbers are compared as numbers, so "0.000" is the same as 0, but an empty field is not.
sub same($is, $want) {
	return $is eq $want || ($is =~ /^-?[\d.]+$/ && $want =~ /^-?[\d.]+$/ && $is == $want);
}

sub text_of($v) {
	return JSON::PP::is_bool($v) ? ($v ? 'true' : 'false') : $v // '';
}

# How a row differs from what it has to have in these columns.
sub apart($of, $row, $want, @columns) {
	return "$of: no row" unless $row;
	return map { "$of: $_ is $row->{$_}, and -j has " . text_of($want->{$_}) } grep { !same($row->{$_}, text_of($want->{$_})) } @columns;
}

if ($what eq 'csv') {
	my ($manual, $section) = @rest;
	my ($list) = slurp($manual) =~ /^\.SS \Q$section\E\n\.EX\n(.*?)^\.EE/ms;
	my ($head, @rows) = csv($file);
	my @odd = grep { @{$rows[$_]} != @$head } 0 .. $#rows;
	my $want = join ' ', split ' ', $list // '';
	check("@$head" eq $want, 'the columns are those of the manual', "got:    @$head", "wanted: $want");
	check(@rows && !@odd, 'each row has as many fields', @rows ? map { 'row ' . ($_ + 2) } @odd : 'no rows');
} elsif ($what eq 'runs') {
	my ($json, @columns) = @rest;
	my $o = last_object($json);
	my %row = map { $_->{run} => $_ } rows($file);
	my @why = map {
		my $row = $row{$_->{run}};
		apart("run $_->{run}", $row, { %$o, %$_ }, @columns ? @columns : grep { $_ ne 'time' } keys %{$row // {}});
	} @{$o->{runs}};
	check(@{$o->{runs}} && keys %row == @{$o->{runs}} && !@why, 'the numbers are those of -j', @why, keys(%row) . ' runs');
} elsif ($what eq 'stages') {
	my $o = last_object($rest[0]);
	my %row = map { join(' ', @$_{qw(run phase stage peer_phase peer_stage)}) => $_ } rows($file);
	my %want;
	for my $r (@{$o->{runs}}) {
		$want{"$r->{run} $_   "} = $r->{$_} for qw(iteration aborted);
		for my $p (@{$r->{phases}}) {
			$want{"$r->{run} $p->{phase}   "} = $p;
			$want{"$r->{run} $p->{phase} $_  "} = $p->{stages}{$_} for keys %{$p->{stages} // {}};
		}
		for my $w (@{$r->{joined}{waits} // []}) {
			$want{"$r->{run} $w->{phase}  $_->{peer_phase} $_->{peer_stage}"} = { %$_, count => $w->{count} } for @{$w->{by}};
		}
	}
	my @why = map {
		my $want = { map({ $_ => $o->{$_} } qw(span lost runs_dropped)), %{$want{$_}} };
		apart($_, $row{$_}, $want, grep { exists $want->{$_} }
			qw(count sum_ns mean_ns min_ns max_ns p50_ns p90_ns p99_ns p999_ns span lost runs_dropped));
	} sort keys %want;
	check(keys %want > 20 && !@why, 'the numbers are those of -j', @why, keys(%want) . ' rows');
	my @other = grep { !$want{$_} } sort keys %row;
	check(!@other, 'it has no other rows', @other);
} elsif ($what eq 'steps') {
	my @rows = rows($file);
	my $steps = last_object($rest[0])->{steps};
	my @why = @rows == @$steps ? () : (@rows . ' rows and ' . @$steps . ' steps');
	# A step has only the keys of its kind.
	push @why, map { my $i = $_; apart("step $i", $rows[$i], $steps->[$i], grep { exists $steps->[$i]{$_} } keys %{$rows[$i]}) } 0 .. $#rows;
	check(@rows && !@why, 'the steps are those of -j', @why);
} elsif ($what eq 'events') {
	my (%n, %want);
	$n{"run $_->{run} $_->{event}"}++ for rows($file);
	$want{"run $_->{run} $_->{event}"}++ for grep { $_->{event} } objects($rest[0]);
	my @why = counts_differ(\%n, \%want);
	check(%want && !@why, 'the events are those of -j', @why);
} elsif ($what eq 'buckets') {
	my ($nr, @why) = (0);
	my $look;
	$look = sub ($v, $path) {
		if (ref $v eq 'ARRAY') {
			$look->($v->[$_], "$path.$_") for 0 .. $#$v;
		} elsif (ref $v eq 'HASH') {
			$look->($v->{$_}, "$path.$_") for grep { $_ ne 'buckets' } keys %$v;
			my $b = $v->{buckets} // return;
			$nr++;
			my $sum = sum0(map { $_->[1] } @$b);
			push @why, "$path: $sum in buckets, count $v->{count}" if $sum != $v->{count};
		}
	};
	$look->(last_object($file), '');
	check($nr > 2 && !@why, "the buckets of all $nr histograms add up to their counts", @why);
} elsif ($what eq 'text') {
	my $o = last_object($rest[0]);
	my (%sum, %want, $name);
	for (split /\n/, slurp($file)) {
		if (/^  +\S+ \.\. \S* +(\d+) \|\** *\|$/) {
			$sum{$name} += $1;
		} else {
			$name = $_;
		}
	}
	for my $r (grep { $_->{iteration} } @{$o->{runs}}) {
		$want{iteration} += $r->{iteration}{count};
		for my $p (grep { $_->{kind} eq 'iteration' } @{$r->{phases}}) {
			$want{$p->{phase}} += $p->{count};
			$want{"$p->{phase}, $_"} += $p->{stages}{$_}{count} for keys %{$p->{stages} // {}};
		}
	}
	for my $c (@{$o->{costs} // []}) {
		$want{"$c->{pages} pages, $_"} += $c->{$_}{count} for qw(map post done);
	}
	my @why = counts_differ(\%sum, \%want);
	my $nr = grep { $_ } values %want;
	check($nr && !@why, "the bars of $nr histograms add up to the counts of -j", @why);
} else {
	die "what is $what?\n";
}
