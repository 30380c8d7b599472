#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# words.pl NAME KINDS TRACE: are the words of krping_iter_phases, _stages and _memory what the other events of the same recording tell?
# KINDS are those that were on all the time ("stages memory"), or "any": they came and went. Without krping_phase each iteration must have
# the phases that the others of its run have, as in rping. The computation follows docs/events.md. Prints assertions for absorb() in lib.sh.

use v5.36;
no warnings "portable"; # words have 64 bits
use FindBin;
use lib $FindBin::Bin;
use List::Util qw(max);
use Trace;

my ($name, $kinds, $trace) = @ARGV;
my %on = map { $_ => 1 } split ' ', $kinds;
my $any = $on{any};

$Trace::title = "$name: ";

# The names of a list in the header, in the order of their numbers.
sub names($list) {
	my ($body) = slurp("$FindBin::Bin/../../trace/krping_abi.h") =~ /#define $list\(x\)(.*?)\n\n/s;
	return $body =~ /x\(\w+,\s*"([^"]+)"/g;
}

my %run;	# number -> its events, in their order
push @{$run{$_->{run}}}, $_ for events($trace);

my ($phase, $step, $wr, $cost) = map { [names("KRPING_$_")] } qw(PHASES STEPS WRS COSTS);
my %mr_state = (free => 0, valid => 1, flushed => 2);
my ($STEP, $COST, $REQUEST, $SUM) = (0xf0, 0xf1, 0xf2, 0x800);

my ($steps, $costs, $waits, $mores, $requests) = (0, 0, 0, 0, 0);
my %with = (whole => 0, part => 0);
my (@time, @stage, @request_bad, @step_bad, @cost_bad, @more, @part, @bytes, @unasked);
for my $id (sort { $a <=> $b } keys %run) {
	my @own = @{$run{$id}};
	my ($start, $end) = @own[0, -1];
	next unless $start->{ev} eq 'run_start' && $end->{ev} eq 'run_end';

	# What the other events tell: phases, the wait in each, steps with the number of iterations that were told before, and costs.
	my (@phases, %wait, @want_steps, @want_costs, %return_of, %records);
	my $told = 0;
	for my $e (@own) {
		if ($e->{ev} eq 'phase') {
			push @phases, { phase => $e->{phase}, t => $e->{t} };
		} elsif ($e->{ev} =~ /^iter(?:_(phases|stages|memory))?$/) {
			push @{$records{$1 // 'iter'}}, $e;
			$told++ if ($1 // '') eq 'memory' && $e->{flags} !~ /more/;
		} elsif ($e->{ev} eq 'wait') {
			$wait{$#phases} = $e;
		} elsif ($e->{ev} eq 'post_return') {
			$return_of{$_} = $e->{t} for $e->{cid} .. $e->{cid} + $e->{nr} - 1;
		} elsif ($e->{ev} =~ /^mr_(fastreg|localinv|reminv|readinv|dereg)$/) {
			my $what = $1 eq 'fastreg' ? 'reg' : $1;
			my $state = $what eq 'dereg' ? $mr_state{$e->{state}} : $e->{valid_before};
			my ($key, $pages) = $what eq 'reg' ? ($e->{new_key}, $e->{pages}) : ($e->{key}, 0);
			push @want_steps, { is => "$what state=$state pages=$pages key=$key", told => $told };
		}
	}
	for my $e (grep { $_->{ev} eq 'mr_done' && $_->{t_post} } @own) {
		my $reg = $e->{kind} eq 'REG_MR';
		my $pages = $reg ? $e->{pages} : 0;
		push @want_costs, map { { is => $_ } } $reg && $e->{map_ns} ? "map $e->{kind} failed=0 pages=$pages ns=$e->{map_ns}" : (),
			"post $e->{kind} failed=0 pages=$pages ns=" . (($return_of{$e->{cid}} // 0) - $e->{t_post}),
			"done $e->{kind} failed=" . ($e->{err} ? 1 : 0) . " pages=$pages ns=" . ($e->{t} - $e->{t_post});
	}

	# krping_iter: each begins where the one before has ended.
	my ($t, $sum_ns, $sum_bytes, $iters, %is) = ($start->{t}, 0, 0, 0);
	my $of = sub { "run $id, $_[0]{ev}, iteration $_[0]{iter}" };
	for my $r (@{$records{iter}}) {
		push @time, $of->($r) . " begins at $r->{t_begin}, the one before ends at $t" if $r->{t_begin} != $t;
		push @time, $of->($r) . " comes after $iters complete ones" if $r->{flags} =~ /commit/ && $r->{iter} != $iters++;
		push @part, $of->($r) . ": flags=$r->{flags}" if $r->{flags} =~ /part|more/;
		$is{$r->{t}} = $r;
		$t = $r->{t};
		if ($r->{flags} eq 'commit') {
			$sum_ns += $r->{t} - $r->{t_begin};
			$sum_bytes += $r->{bytes};
		} elsif ($r->{bytes}) {
			push @bytes, $of->($r) . ": flags=$r->{flags} bytes=$r->{bytes}";
		}
	}
	push @time, "run $id: the last one ends at $t, the run at $end->{t}" if $t != $end->{t};
	my ($result) = grep { $_->{ev} eq 'result' } @own;
	if ($result) {
		my $bits = $sum_ns ? int($sum_bytes * 8 * 1e9 / $sum_ns) : 0;
		push @bytes, "run $id: $bits bits a second, krping_result has $result->{bits_per_s}"
			if abs($bits - $result->{bits_per_s}) > 1 + $bits / 1e12;
	}

	# Each of the other events tells the same iteration, and with it all of its words or none.
	my (%at, $all, @got_steps, @got_costs, @got_requests);
	$at{$phases[$_]{t}} //= $_ for reverse 0 .. $#phases;
	for my $kind (qw(phases stages memory)) {
		my @told = @{$records{$kind} // []};
		my ($pending, $n);
		if (!$any) {
			my ($want, $got) = ($on{$kind} ? scalar @{$records{iter}} : 0, scalar grep { $_->{flags} !~ /more/ } @told);
			push @more, "run $id: $got of krping_iter_$kind, wanted $want" if $got != $want;
		}
		$n = 0;
		for my $r (@told) {
			my @words = map { hex } $r->{words} =~ /0x([0-9a-f]+)/g;
			push @time, $of->($r) . ": nr=$r->{nr}, but there are " . @words if @words != $r->{nr};
			push @more, $of->($r) . ": more of iteration $pending->{iter} should follow"
				if $pending && ($pending->{iter} != $r->{iter} || $pending->{t_begin} != $r->{t_begin});
			undef $pending;
			if ($r->{flags} =~ /more/) {
				$mores++;
				$pending = $r;
				push @more, $of->($r) . ": t=$r->{t}, t_begin=$r->{t_begin}" if $r->{t} != $r->{t_begin};
				push @more, $of->($r) . ": flags=$r->{flags} nr=$r->{nr}"
					if $r->{flags} ne 'more' || $kind ne 'memory' || $r->{nr} < 46;
			} else {
				my $base = $is{$r->{t}};
				my ($i, $flags) = map { my $e = $_; join ' ', map { $e->{$_} // '-' } qw(iter t_begin flags) } $base // {}, $r;
				my $part = $flags =~ s/\|?\bpart$//;
				$with{$part ? 'part' : 'whole'}++;
				push @part, $of->($r) . " is a part, and has $r->{nr} words" if $part && ($r->{nr} || !$any);
				push @time, $of->($r) . ": it is $flags, in krping_iter $i" if !$base || $i ne $flags;
				next if $part;
			}
			for my $w (grep { $kind eq 'memory' } @words) {
				if (($w & 0xff) == $STEP) {
					push @got_steps, { told => $n, is => sprintf '%s state=%d pages=%d key=0x%x', $step->[$w >> 8 & 0xf] // '?',
						$w >> 12 & 3, $w >> 14 & 0x3ffff, $w >> 32 };
				} elsif (($w & 0xff) == $COST) {
					push @got_costs, { is => sprintf '%s %s failed=%d pages=%d ns=%d', $cost->[$w >> 12 & 3] // '?',
						$wr->[$w >> 8 & 0xf] // '?', $w >> 14 & 1, $w >> 15 & 0x3ff, $w >> 25 };
				} else {
					push @unasked, $of->($r) . sprintf ': 0x%x', $w;
				}
			}
			$n++ if $r->{flags} !~ /more/;
			next if $kind eq 'memory';

			my $at = $at{$r->{t_begin}};
			my ($sum, @pieces, @seen, @request) = (0);
			push @time, $of->($r) . ": no phase begins at $r->{t_begin}" if @phases && !defined $at;
			for my $w (@words) {
				my ($p, $stage, $ns) = ($w & 0xff, $w >> 8 & 7, $w >> 13);
				my $what = $of->($r) . ', ' . ($phase->[$p] // $p);
				$request[$stage] = $ns, next if $p == $REQUEST;
				push @unasked, "$what has stages" if $kind eq 'phases' && ($stage || $w & $SUM);
				if ($stage) {
					push @pieces, [$stage, $ns, $p];
					next;
				}
				push @stage, "$what: a stage of $phase->[$_->[2]]" for grep { $_->[2] != $p } @pieces;
				push @seen, $phase->[$p] // $p;
				$sum += $ns;
				my $wait;
				if (@phases && defined $at) {
					my $is = $phases[$at] // { phase => '-', t => 0 };
					my $to = $at < $#phases ? $phases[$at + 1]{t} : $end->{t};
					push @time, "$what: by krping_phase it is $is->{phase}" if $phase->[$p] ne $is->{phase};
					push @time, "$what took " . ($to - $is->{t}) . " ns, here $ns" if $to - $is->{t} != $ns;
					$wait = $wait{$at++};
				}
				# A phase that waited.
				if ($w & $SUM) {
					my ($all, @by) = (0);
					$all += $_->[1], $by[$_->[0]] += $_->[1] for @pieces;
					$waits++;
					push @stage, "$what took $ns ns, its stages $all" if $all != $ns;
					if (!$any) {
						my $is = join ' ', map { $_ // '-' } @by[1 .. 5];
						my $want = $wait ? stages_of($wait, $ns) : 'no wait';
						push @stage, "$what: post wire cq wake own are $is, by krping_wait $want" if $is ne $want;
					}
				} else {
					push @stage, "$what has stages, and no sum" if @pieces;
					push @stage, "$what waited, and has no stages" if $kind eq 'stages' && $wait;
				}
				@pieces = ();
			}
			push @got_requests, join ' ', map { $_ // '-' } @request[0 .. 6] if @request;
			push @stage, $of->($r) . ' ends with a stage' if @pieces;
			push @time, $of->($r) . " took " . ($r->{t} - $r->{t_begin}) . " ns, its phases $sum" if $sum != $r->{t} - $r->{t_begin};
			next if @phases || $r->{flags} ne 'commit';
			$all //= "@seen";
			push @time, $of->($r) . " has the phases @seen, another one has $all" if "@seen" ne $all;
		}
		push @more, "run $id: more should follow at the end" if $pending;
	}
	my ($want_requests, @bad) = requests_of(@own);
	my @want = $on{stages} ? @$want_requests : ();
	push @request_bad, map { "run $id: $_" } @bad;
	push @request_bad, map { "run $id, number $_: $got_requests[$_], the event has $want[$_]" }
		grep { $got_requests[$_] ne $want[$_] } 0 .. max($#want, $#got_requests);
	$requests += @want;
	next if $any || !$on{memory};

	for my $of ([\@step_bad, \@got_steps, \@want_steps], [\@cost_bad, \@got_costs, \@want_costs]) {
		my ($bad, $got, $events) = @$of;
		for my $i (0 .. max($#$events, $#$got)) {
			my ($is, $want) = map { $_->[$i] // { is => 'nothing' } } $got, $events;
			push @$bad, "run $id, number $i: $is->{is}, the events have $want->{is}" if $is->{is} ne $want->{is};
			push @$bad, "run $id, number $i: $is->{is} in record $is->{told}, the event came in that of $want->{told}"
				if defined $is->{told} && defined $want->{told} && $is->{told} != $want->{told};
		}
	}
	$steps += @got_steps;
	$costs += @got_costs;
}
check(scalar(keys %run) == 2, 'there are two runs', 'there are ' . keys %run);
check(!@time, 'times: each phase is there, and as long as krping_phase has it', @time);
check($with{part} && $with{whole}, "there are events of whole iterations ($with{whole}) and of parts ($with{part})", %with) if $any;
check(!@part, 'a part has no words, and is there only where an event came in the iteration', @part);
check(!@more, "each event tells each iteration, and what comes before the last one of memory ($mores) has no room for a request's costs", @more);
check(!@bytes, 'bytes: as many as krping_result has', @bytes);
check(!@stage, "stages of $waits waits are those of krping_wait", @stage);
check(!@request_bad, "$requests requests have the times of other events, and stages in words those of krping_request", @request_bad);
check(!@unasked, 'there is no word of another kind', @unasked);
exit if $any;
check(!@step_bad, "$steps steps of keys are those of the krping_mr events, in their iterations", @step_bad);
check(!@cost_bad, "$costs costs are those of krping_mr_done", @cost_bad);
