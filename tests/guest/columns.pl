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

use strict;
use warnings;
use List::Util qw(sum0);
use FindBin;
use lib $FindBin::Bin;
use Trace;

my ($what, $title, $file, @rest) = @ARGV;

$Trace::title = "$title: ";

# Parses CSV by RFC 4180, as far as our tools write it.
sub csv {
	my ($text, @rows, @row) = ($_[0]);
	while ($text =~ /\G(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n)/gc) {
		my ($v, $end) = ($1 // $2, $3);
		$v =~ s/""/"/g;
		push @row, $v;
		next if $end eq ',';
		push @rows, [@row];
		@row = ();
	}
	die "no CSV behind row " . @rows . "\n" if (pos($text) // 0) < length $text;
	return @rows;
}

# The rows of a file as hashes, with the names of the first row as keys.
sub rows {
	my ($head, @rows) = csv(slurp($_[0]));
	return map {
		my %r;
		@r{@$head} = @$_;
		\%r;
	} @rows;
}

# Numbers are compared as numbers, so "0.000" is the same as 0, but an empty field is not.
sub same {
	my ($is, $want) = @_;
	return $is eq $want || ($is =~ /^-?[\d.]+$/ && $want =~ /^-?[\d.]+$/ && $is == $want);
}

sub text_of {
	my ($v) = @_;
	return JSON::PP::is_bool($v) ? ($v ? 'true' : 'false') : $v // '';
}

if ($what eq 'csv') {
	my ($manual, $section) = @rest;
	my ($list) = slurp($manual) =~ /^\.SS \Q$section\E\n\.EX\n(.*?)^\.EE/ms;
	my ($head, @rows) = csv(slurp($file));
	my @odd = grep { @{$rows[$_]} != @$head } 0 .. $#rows;
	is_list($head, [split ' ', $list // '']);
	check(@rows && !@odd, 'each row has as many fields', @rows ? map { 'row ' . ($_ + 2) } @odd : 'no rows');
} elsif ($what eq 'runs') {
	my ($json, @columns) = @rest;
	my $o = last_object($json);
	my (%row, @why);
	$row{$_->{run}} = $_ for rows($file);
	for my $r (@{$o->{runs}}) {
		my $row = $row{$r->{run}};
		push @why, "run $r->{run}: no row" and next unless $row;
		for my $c (@columns ? @columns : grep { $_ ne 'time' } keys %$row) {
			my $want = text_of(exists $r->{$c} ? $r->{$c} : $o->{$c});
			push @why, "run $r->{run}: $c is $row->{$c}, and -j has $want" unless same($row->{$c}, $want);
		}
	}
	check(@{$o->{runs}} && keys %row == @{$o->{runs}} && !@why, 'the numbers are those of -j', @why, keys(%row) . ' runs');
} elsif ($what eq 'stages') {
	my $o = last_object($rest[0]);
	my (%row, @why, $nr);
	$row{"$_->{run} $_->{phase} $_->{stage} $_->{peer_phase} $_->{peer_stage}"} = $_ for rows($file);
	my $same = sub {
		my ($key, $want) = @_;
		my $row = delete $row{$key};
		push @why, "$key: no row" and return unless $row;
		for my $k (qw(count sum_ns mean_ns min_ns max_ns p50_ns p90_ns p99_ns p999_ns span lost runs_dropped)) {
			my $v = exists $want->{$k} ? $want->{$k} : exists $o->{$k} ? $o->{$k} : next;
			push @why, "$key: $k is $row->{$k}, and -j has " . text_of($v) if $row->{$k} ne text_of($v);
		}
		$nr++;
	};
	for my $r (@{$o->{runs}}) {
		$same->("$r->{run} iteration   ", $r->{iteration});
		$same->("$r->{run} aborted   ", $r->{aborted});
		for my $p (@{$r->{phases}}) {
			$same->("$r->{run} $p->{phase}   ", $p);
			$same->("$r->{run} $p->{phase} $_  ", $p->{stages}{$_}) for keys %{$p->{stages} // {}};
		}
		for my $w (@{$r->{joined}{waits} // []}) {
			$same->("$r->{run} $w->{phase}  $_->{peer_phase} $_->{peer_stage}", { %$_, count => $w->{count} })
				for @{$w->{by}};
		}
	}
	check($nr > 20 && !@why, 'the numbers are those of -j', @why, "$nr rows");
	check(!%row, 'it has no other rows', sort keys %row);
} elsif ($what eq 'steps') {
	my @rows = rows($file);
	my $steps = last_object($rest[0])->{steps};
	my @why = @rows == @$steps ? () : (@rows . ' rows and ' . @$steps . ' steps');
	for my $i (0 .. $#rows) {
		for my $k (keys %{$rows[$i]}) {
			# A step has only the keys of its kind.
			next unless exists $steps->[$i]{$k};
			my $want = text_of($steps->[$i]{$k});
			push @why, "step $i: $k is $rows[$i]{$k}, and -j has $want" if $rows[$i]{$k} ne $want;
		}
	}
	check(@rows && !@why, 'the steps are those of -j', @why);
} elsif ($what eq 'events') {
	my (%n, %want);
	$n{"run $_->{run} $_->{event}"}++ for rows($file);
	$want{"run $_->{run} $_->{event}"}++ for grep { $_->{event} } objects($rest[0]);
	my @why = grep { ($n{$_} // 0) != ($want{$_} // 0) } sort keys %{{ %n, %want }};
	check(%want && !@why, 'the events are those of -j', @why);
} elsif ($what eq 'buckets') {
	my ($nr, @why) = (0);
	my $look;
	$look = sub {
		my ($v, $path) = @_;
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
	for my $r (map { $_->{iteration} ? $_ : () } @{$o->{runs}}) {
		$want{iteration} += $r->{iteration}{count};
		for my $p (grep { $_->{kind} eq 'iteration' } @{$r->{phases}}) {
			$want{$p->{phase}} += $p->{count};
			$want{"$p->{phase}, $_"} += $p->{stages}{$_}{count} for keys %{$p->{stages} // {}};
		}
	}
	for my $c (@{$o->{costs} // []}) {
		$want{"$c->{pages} pages, $_"} += $c->{$_}{count} for qw(map post done);
	}
	delete $want{$_} for grep { !$want{$_} } keys %want;
	my @why = grep { ($sum{$_} // 0) != ($want{$_} // 0) } sort keys %{{ %sum, %want }};
	check(%want && !@why, 'the bars of ' . keys(%want) . ' histograms add up to the counts of -j',
	      map { "$_: " . ($sum{$_} // 'none') . ', and -j has ' . ($want{$_} // 'none') } @why);
} else {
	die "what is $what?\n";
}

sub is_list {
	my ($got, $want) = @_;
	check("@$got" eq "@$want", 'the columns are those of the manual', "got:    @$got", "wanted: @$want");
}
