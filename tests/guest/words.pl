#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# words.pl NAME ASKED TRACE: are the words of krping_iter what the other events of the same recording tell? ASKED is what an observer
# asked for all the time ("stages memory"), or "any": they came and went. Without krping_phase each iteration must have the phases that
# the others of its run have, as in rping. The computation follows docs/events.md. Prints assertions for absorb() in lib.sh.

use strict;
use warnings;
no warnings "portable"; # words have 64 bits
use FindBin;
use lib $FindBin::Bin;
use List::Util qw(max);
use Trace;

my ($name, $asked, $trace) = @ARGV;
my %asked = map { $_ => 1 } split ' ', $asked;
my $any = $asked{any};
$asked{phases} ||= $asked{stages};

$Trace::title = "$name: ";

# The names of a list in the header, in the order of their numbers.
sub names {
	my ($list) = @_;
	my ($body) = slurp("$FindBin::Bin/../../trace/krping_abi.h") =~ /#define $list\(x\)(.*?)\n\n/s;
	return $body =~ /x\(\w+,\s*"([^"]+)"/g;
}

my %run;	# number -> its events, in their order
push @{$run{$_->{run}}}, $_ for events($trace);

my ($phase, $step, $wr, $cost) = map { [names("KRPING_$_")] } qw(PHASES STEPS WRS COSTS);
my %mr_state = (free => 0, valid => 1, flushed => 2);
my ($STEP, $COST, $SUM, $EARLY) = (0xf0, 0xf1, 0x800, 0x1000);

my ($steps, $costs, $waits, $mores) = (0, 0, 0, 0);
my %with = (phases => 0, none => 0);
my (@time, @stage, @step_bad, @cost_bad, @more, @bytes, @unasked);
for my $id (sort { $a <=> $b } keys %run) {
	my @own = @{$run{$id}};
	my ($start, $end) = @own[0, -1];
	next unless $start->{ev} eq 'run_start' && $end->{ev} eq 'run_end';

	# What the other events tell: phases, the wait in each, steps and costs, each with how many phases had begun.
	my (@phases, %wait, @want_steps, @want_costs, %return_of);
	for my $e (@own) {
		if ($e->{ev} eq 'phase') {
			push @phases, { phase => $e->{phase}, t => $e->{t} };
		} elsif ($e->{ev} eq 'iter') {
			# The phase that ends it has begun, unless it is the last one.
			$e->{behind} = @phases - ($e != $own[-2]);
		} elsif ($e->{ev} eq 'wait') {
			$wait{$#phases} = $e;
		} elsif ($e->{ev} eq 'post_return') {
			$return_of{$_} = $e->{t} for $e->{cid} .. $e->{cid} + $e->{nr} - 1;
		} elsif ($e->{ev} =~ /^mr_(fastreg|localinv|reminv|readinv|dereg)$/) {
			my $what = $1 eq 'fastreg' ? 'reg' : $1;
			my $state = $what eq 'dereg' ? $mr_state{$e->{state}} : $e->{valid_before};
			my ($key, $pages) = $what eq 'reg' ? ($e->{new_key}, $e->{pages}) : ($e->{key}, 0);
			push @want_steps, { is => "$what state=$state pages=$pages key=$key", phase => $#phases };
		}
	}
	for my $e (grep { $_->{ev} eq 'mr_done' && $_->{t_post} } @own) {
		my $reg = $e->{kind} eq 'REG_MR';
		my $pages = $reg ? $e->{pages} : 0;
		push @want_costs, map { { is => $_ } } $reg && $e->{map_ns} ? "map $e->{kind} failed=0 pages=$pages ns=$e->{map_ns}" : (),
			"post $e->{kind} failed=0 pages=$pages ns=" . (($return_of{$e->{cid}} // 0) - $e->{t_post}),
			"done $e->{kind} failed=" . ($e->{err} ? 1 : 0) . " pages=$pages ns=" . ($e->{t} - $e->{t_post});
	}

	# The records: each begins where the one before has ended, and has all phases in between, or none.
	my ($t, $at, $sum_ns, $sum_bytes, $iters, $pending, $all, @got_steps, @got_costs) = ($start->{t}, 0, 0, 0, 0);
	my $of = sub { "run $id, iteration $_[0]{iter}" };
	for my $r (grep { $_->{ev} eq 'iter' } @own) {
		my @words = map { hex } $r->{words} =~ /0x([0-9a-f]+)/g;
		my $more = $r->{flags} =~ /\bmore\b/;
		my $whole = $r->{flags} =~ s/\|?\bphases$//;
		push @time, $of->($r) . ' has ' . ($whole ? '' : 'no ') . 'phases' if !$any && !$whole != !$asked{phases};
		push @time, $of->($r) . ": nr=$r->{nr}, but there are " . @words if @words != $r->{nr};
		push @time, $of->($r) . " begins at $r->{t_begin}, the one before ends at $t" if $r->{t_begin} != $t;
		push @more, $of->($r) . ": more of iteration $pending->{iter} should follow"
			if $pending && ($pending->{iter} != $r->{iter} || $pending->{t_begin} != $r->{t_begin});
		$pending = $more ? $r : undef;
		if ($more) {
			$mores++;
			push @more, $of->($r) . ": t=$r->{t}, t_begin=$r->{t_begin}" if $r->{t} != $r->{t_begin};
			push @more, $of->($r) . ": flags=$r->{flags}" if $r->{flags} ne 'more';
			push @more, $of->($r) . ": bytes, host_ns or peer_ns" if $r->{bytes} || $r->{host_ns} || $r->{peer_ns};
			push @more, $of->($r) . ": $r->{nr} words" if $r->{nr} < 1 || $r->{nr} > 48;
		}
		push @time, $of->($r) . " comes after $iters complete ones" if $r->{flags} =~ /commit/ && $r->{iter} != $iters++;
		my ($sum, @pieces, @seen) = (0);
		for my $w (@words) {
			my $kind = $w & 0xff;
			if ($kind == $STEP) {
				my $is = sprintf '%s state=%d pages=%d key=0x%x', $step->[$w >> 8 & 0xf] // '?', $w >> 12 & 3, $w >> 14 & 0x3ffff, $w >> 32;
				push @got_steps, { is => $is, phase => $more || !$whole ? undef : $at };
				next;
			}
			if ($kind == $COST) {
				push @got_costs, { is => sprintf '%s %s failed=%d pages=%d ns=%d', $cost->[$w >> 12 & 3] // '?',
					$wr->[$w >> 8 & 0xf] // '?', $w >> 14 & 1, $w >> 15 & 0x3ff, $w >> 25 };
				next;
			}
			push @more, $of->($r) . ': a time in what comes before' if $more;
			# Who asked has gone, or came, in this iteration.
			push @unasked, $of->($r) . ": a time of $phase->[$kind]" if !$whole;
			next if !$whole;
			my ($stage, $ns) = ($w >> 8 & 7, $w >> 13);
			if ($stage) {
				push @pieces, [$stage, $ns];
				push @stage, $of->($r) . ": a stage of $phase->[$kind], which is not the phase" if $kind != ($w & 0xff);
				next;
			}
			my $p = $phases[$at] // { phase => '-', t => 0 };
			my $what = $of->($r) . ", $p->{phase}";
			my $to = $at < $#phases ? $phases[$at + 1]{t} : $end->{t};
			push @time, "$what: here it is " . ($phase->[$kind] // $kind) if @phases && ($phase->[$kind] // '') ne $p->{phase};
			push @time, "$what took " . ($to - $p->{t}) . " ns, here $ns" if @phases && $to - $p->{t} != $ns;
			push @seen, $phase->[$kind] // $kind;
			$sum += $ns;
			# A phase that waited.
			my $wait = $wait{$at};
			if ($w & $SUM) {
				my $all = 0;
				my @by;
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
				push @stage, "$what waited, and has no stages" if $asked{stages} && $wait;
			}
			push @unasked, "$what has stages" if ($w & $SUM || @pieces) && !$asked{stages} && !$any;
			@pieces = ();
			$at++;
		}
		push @time, $of->($r) . " took " . ($r->{t} - $r->{t_begin}) . " ns, its phases $sum" if $whole && $sum != $r->{t} - $r->{t_begin};
		$with{$whole ? 'phases' : 'none'}++ if $r->{flags} eq 'commit';
		if (!@phases && $whole && $r->{flags} eq 'commit') {
			$all //= "@seen";
			push @time, $of->($r) . " has the phases @seen, another one has $all" if "@seen" ne $all;
		}
		$at = $r->{behind} if !$whole && !$more;
		push @stage, $of->($r) . ' ends with a stage' if @pieces;
		$t = $r->{t};
		if ($r->{flags} eq 'commit') {
			$sum_ns += $r->{t} - $r->{t_begin};
			$sum_bytes += $r->{bytes};
		} elsif ($r->{bytes}) {
			push @bytes, $of->($r) . ": flags=$r->{flags} bytes=$r->{bytes}";
		}
	}
	push @time, "run $id: the last one ends at $t, the run at $end->{t}" if $t != $end->{t};
	push @time, "run $id: $at phases, krping_phase has " . @phases if @phases && $at != @phases;
	push @time, "run $id: no iteration has phases" if !@phases && !$all;
	push @more, "run $id: more should follow at the end" if $pending;
	my ($result) = grep { $_->{ev} eq 'result' } @own;
	if ($result) {
		my $bits = $sum_ns ? int($sum_bytes * 8 * 1e9 / $sum_ns) : 0;
		push @bytes, "run $id: $bits bits a second, krping_result has $result->{bits_per_s}"
			if abs($bits - $result->{bits_per_s}) > 1 + $bits / 1e12;
	}
	next if $any;

	if (!$asked{memory}) {
		push @unasked, map { "run $id: $_->{is}" } @got_steps, @got_costs;
		next;
	}
	for my $of ([\@step_bad, \@got_steps, \@want_steps], [\@cost_bad, \@got_costs, \@want_costs]) {
		my ($bad, $got, $events) = @$of;
		for my $i (0 .. max($#$events, $#$got)) {
			my ($is, $want) = map { $_->[$i] // { is => 'nothing' } } $got, $events;
			push @$bad, "run $id, number $i: $is->{is}, the events have $want->{is}" if $is->{is} ne $want->{is};
			push @$bad, "run $id, number $i: $is->{is} in phase $is->{phase}, the event came in $want->{phase}"
				if defined $is->{phase} && defined $want->{phase} && $is->{phase} != $want->{phase};
		}
	}
	$steps += @got_steps;
	$costs += @got_costs;
}
check(scalar(keys %run) == 2, 'there are two runs', 'there are ' . keys %run);
check(!@time, 'times: each phase is there, and as long as krping_phase has it', @time);
check($with{phases} && $with{none}, 'there are iterations with phases and without', %with) if $any;
check(!@more, "what comes before the last event of an iteration ($mores) has no times", @more);
check(!@bytes, 'bytes: as many as krping_result has', @bytes);
check(!@stage, "stages of $waits waits are those of krping_wait", @stage);
exit if $any;
check(!@unasked, 'there is no word that nobody asked for', @unasked);
check(!@step_bad, "$steps steps of keys are those of the krping_mr events, in their phases", @step_bad);
check(!@cost_bad, "$costs costs are those of krping_mr_done", @cost_bad);
