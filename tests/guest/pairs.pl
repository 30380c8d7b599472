#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Draws runs of which each has many options, so that each combination of two values (or three) is in one of them: a covering
# array. A run that fails where each option by itself is fine has a pair, or a triple, that nobody had thought of.
#
#   pairs.pl [OPTION]...           a run a line: SERVER-OPTIONS|CLIENT-OPTIONS|SERVER-FIGURES|CLIENT-FIGURES|TURNS. The figures
#                                  are those of a good run in /proc/krping_runs; TURNS are its iterations with the warm-up
#   pairs.pl --claims              which two values go together: "yes|SERVER|CLIENT", or "no|SERVER|CLIENT" for each test with
#                                  which they do not; tests/unit/pairs.t asks module/command.c whether that is true
#
#   --strength N    all combinations of N values, 2 (the default) or 3
#   --seed N        the same seed draws the same runs
#   --cpus N        with the values for so many CPUs, 1 or 2 (the default): also of a device's completion vectors
#   --without NAME  without the values of this option, which the provider does not have
#   --addr A, --addr6 A, --port N   of the server

use v5.36;
use Getopt::Long;
use List::Util qw(first max sum);

my ($strength, $seed, @without, $claims) = (2, 1);
my ($addr, $addr6, $port, $cpus) = ('10.9.0.1', 'fd09::1', 9999, 2);
GetOptions('strength=i' => \$strength, 'seed=i' => \$seed, 'without=s' => \@without, 'claims' => \$claims,
	'addr=s' => \$addr, 'addr6=s' => \$addr6, 'port=i' => \$port, 'cpus=i' => \$cpus)
	&& !@ARGV && ($strength == 2 || $strength == 3)
	or die "usage: pairs.pl [--claims] [--strength 2|3] [--seed N] [--without NAME] [--addr A] [--addr6 A] [--port N] [--cpus N]\n";

# --- what there is to combine ---

# Without protect, which takes hardly an option, and fails where the provider does not protect memory: protect.t has it.
my @tests = qw(rping fr wlat rlat bw fast);
my $label = 'longest:label/of=31_characters.';

# of_each NAME, VALUE...: a factor of each end.
sub of_each($name, @values) {
	return map { ["$_.$name", @values] } qw(c s);
}

# Factors and their values, of which a run has one each. The first value goes together with any other one. A factor of one end
# begins with it, c. or s., and its values are the text of the options; the others are the subject of options_of(). The two ends
# have different numbers where a number is an end's own, which are more numbers for as many runs. Endless runs are left out,
# since their figures are not known beforehand: signals.t has them.
my @factors = (
	# Written as test=TEST, or short: as TEST, or for rping not at all.
	['test', @tests],
	['says', 'long', 'short'],
	# Has the server an option that it can also adopt?
	['server test', '', 'long', 'short'],
	map({ ["server $_", '', 'too'] } qw(size count warmup duplex random_size tos)),
	['c.size', '', 'size=1', 'size=13', 'size=14', 'size=4K', 'size=4097', 'size=131072', 'size=300001'],
	['c.random_size', '', 'random_size'],
	# siw sends a few bytes that cross a page wrongly: docs/known-bugs.md. sizes.t has the ends of pages.
	['c.offset', '', 'offset=2048'],
	['s.offset', '', 'offset=1'],
	['c.count', 'count=1', 'count=2', 'count=5'],
	['c.warmup', '', 'warmup=0', 'warmup=1', 'warmup=3'],
	['c.interval', '', 'interval=1us', 'interval=1ms'],
	['c.duplex', '', 'duplex'],
	['c.queues', '', 'queues=2', 'queues=5'],
	['server_inv', '', 'server_inv'],
	['c.txdepth', '', 'txdepth=1', 'depth=2', 'txdepth=17'],
	['s.txdepth', '', 'txdepth=1', 'txdepth=3', 'tx-depth=16'],
	['c.post_list', '', 'post_list=2', 'post_list=17'],
	['s.post_list', '', 'post_list=1', 'post_list=3'],
	['c.signal', '', 'signal=2', 'signal=5'],
	['s.signal', '', 'signal=1', 'signal=3'],
	# siw has no more than 80 bytes in a request.
	['c.inline_size', '', 'inline_size=13', 'inline_size=64'],
	['s.inline_size', '', 'inline_size=0', 'inline_size=64'],
	of_each('poll', '', map({ "poll_ctx=$_" } qw(thread softirq workqueue busy)), 'poll'),
	of_each('comp_vector', '', 'comp_vector=0', 'comp_vector=1'),
	of_each('cpu', '', 'cpu=0', 'cpu=1'),
	of_each('mem_mode', '', 'mem_mode=reg', 'mem_mode=dma'),
	map({ of_each($_, '', $_) } qw(read_inv local_dma_lkey)),
	# Long enough for a slow kernel.
	['c.timeout', '', 'timeout=600', 'timeout=600000ms'],
	['s.idle', '', 'idle=0', 'idle=600'],
	['s.timeout', '', 'timeout=600s', 'timeout=600000000us'],
	['c.name', '', 'name=c', "name=$label"],
	['s.name', '', 'name=s', "name=$label"],
	map({ of_each($_, '', $_) } qw(srq chain validate verbose)),
	['c.split', '', 'split'],
	# Where the server is: its address, any, or none in its command.
	['address', 'addr', 'none', 'any', 'addr6', 'any6'],
	['bind', '', 'own'],
	['c.tos', '', 'tos=0', 'tos=255'],
	# What is just what the client asks for.
	['accept', '', 'test', 'size', 'both'],
	['s.serve', '', 'clients=1', 'persistent', 'persistent,clients=2'],
);

# A server that has one of these only serves a client that has it, too: with this value, if the run says nothing else.
my %needs = ('server duplex' => ['c.duplex', 'duplex'], 'server random_size' => ['c.random_size', 'random_size'], 'server tos' => ['c.tos', 'tos=255']);

# The value of one option, in a list of options of one end; undef: it is not there.
sub option($options, $name) {
	return $options =~ /(?:^|,)(?:$name)(?:=([^,]*))?(?:,|$)/ ? $1 // 1 : undef;
}

# Values that the provider, or the machine, does not have.
for my $f (@factors) {
	my ($name, @values) = @$f;
	@values = grep { !/^(cpu|comp_vector)=1$/ } @values if $cpus < 2;
	@values = () if $name =~ /^server (\w+)/ && grep { $_ eq $1 } @without;
	@$f = ($name, grep { my $v = $_; !grep { defined option($v, $_) } @without } @values);
}
@factors = grep { @$_ > 2 } @factors;

# Larger ones are of single pages, which a key for all memory cannot name.
my $contiguous = 131072;
my %default_size = (map({ $_ => 64 } @tests), fast => 65536);

sub bytes($n) {
	return $n =~ /^(\d+)K$/ ? $1 * 1024 : $n;
}

# The options of server and client of a run; %run: each factor's value.
sub options_of(%run) {
	my (@s, @c);
	my ($test, $any) = ($run{test}, $run{address} =~ /^any/);
	my ($is, $at) = $run{address} =~ /6/ ? ('addr6', $addr6) : ('addr', $addr);
	my %at = (any => 'addr=0.0.0.0', any6 => 'addr6=::', none => '');
	push @s, $at{$run{address}} // "$is=$at";
	push @c, "$is=$at", $run{bind} ? "bind=$at" : ();
	my $short = $test eq 'rping' ? '' : $test;
	push @c, $run{says} eq 'long' ? "test=$test" : $short;
	push @s, $run{'server test'} eq 'long' ? "test=$test" : $short if $run{'server test'};
	for (@factors) {
		my $name = $_->[0];
		push @{$1 eq 'c' ? \@c : \@s}, $run{$name} if $name =~ /^([cs])\./;
	}
	my $client = join ',', @c;
	my $size = bytes(option($client, 'size') // $default_size{$test});
	push @s, "size=$size" if $run{'server size'};
	push @s, 'count=' . option($client, 'count') if $run{'server count'};
	push @s, 'warmup=' . (option($client, 'warmup') // 0) if $run{'server warmup'};
	for (grep { $run{$_} } sort keys %needs) {
		my ($name) = /(\w+)$/;
		push @s, $needs{$_}[1] =~ /=/ ? "$name=" . (option($client, $name) // 255) : $name;
	}
	$_->[0] && push @{$_->[1]}, 'server_inv' for map { [$run{server_inv}, $_] } \@s, \@c;
	my %accept = (test => $test, size => $size, both => "rping+$test+$size");
	push @s, "accept=$accept{$run{accept}}" if $run{accept};
	return map { join ',', grep { $_ ne '' } @$_ } \@s, \@c;
}

# --- what a good run of these options says of itself ---

sub figures_of($server, $client) {
	my $has = sub { defined option($client, $_[0]) };
	my $test = option($client, 'test') // (first { $has->($_) } @tests) // 'rping';
	my $size = bytes(option($client, 'size') // $default_size{$test});
	my $count = option($client, 'count');
	my $warm = option($client, 'warmup') // 0;
	my $turns = $count + $warm;
	my $inv = $has->('server_inv');
	# WRITEs of an iteration.
	my ($s_each, $c_each) = map { option($_, 'signal') // 1 } $server, $client;
	# Keys of one end: has it any, and one for the source of WRITEs? How many are there if it also has a target?
	my ($s_keys, $c_keys) = map { (option($_, 'mem_mode') // '') ne 'dma' } $server, $client;
	my ($s_source, $c_source) = map { defined option($_, 'local_dma_lkey') ? 0 : 1 } $server, $client;
	my $read_inv = defined option("$server,$client", 'read_inv');
	my $random = $has->('random_size|random');
	my @both = ($s_keys * (1 + $s_source), $c_keys * (1 + $c_source));
	my $s_linv = $s_keys ? ($read_inv ? 0 : $turns) + ($s_source ? $turns - 1 : 0) : 0;
	my $told = $inv ? 1 : 0;
	# Each connection has keys, and a message of each end that has a target.
	my $msgs = 1 + (my $queues = option($client, 'queues') // 1);
	# For each end: iterations, SENDs, WRITEs, READs, registrations, invalidations by itself, by the peer and by READs, and how often
	# an iteration moves the data.
	my %of = (
		rping => [
			[$count, 2 * $turns, $turns, $turns, $both[0] * $turns, $s_linv, 0, $read_inv ? $turns : 0, 2],
			[$count, 2 * $turns, 0, 0, $c_keys * 2 * $turns, $inv ? 0 : $c_keys * (2 * $turns - 1), $inv ? 2 * $turns : 0, 0, 2]],
		fr => [[0, (0) x 8], [$count, 2, 0, 0, $turns, $turns, 0, 0, 0]],
		wlat => [[$count, 2, $turns, 0, $both[0], 0, 0, 0, 2], [$count, 2, $turns, 0, $both[1], 0, $told, 0, 2]],
		rlat => [[0, $msgs, 0, 0, $queues * $s_keys, 0, 0, 0, 1], [$count, $msgs, 0, $turns, $queues * $c_keys, 0, 0, 0, 1]],
		bw => $has->('duplex') ?
			[[$count, $msgs, $turns * $s_each, 0, $queues * $both[0], 0, 0, 0, $s_each],
			 [$count, $msgs, $turns * $c_each, 0, $queues * $both[1], 0, $told, 0, $c_each]] :
			[[0, $msgs, 0, 0, $queues * $s_keys, 0, 0, 0, $s_each],
			 [$count, $msgs, $turns * $c_each, 0, $queues * $c_keys * $c_source, 0, 0, 0, $c_each]],
		fast => [[$count, 2, $turns * $s_each, 0, $queues * $s_keys * $s_source, 0, 0, 0, $s_each],
			 [0, $msgs, 0, 0, $queues * $c_keys, 0, $told, 0, $c_each]],
	);
	my $at = defined option($client, 'addr6') ? "[$addr6]:$port" : "$addr:$port";
	# Without a warm-up the first ping is the one that asks; a server with chain does not tell.
	my $split = $has->('split') && !defined option($server, 'chain') ? $count - ($warm ? 0 : 1) : 0;
	my @text;
	for my $end (0, 1) {
		my ($options, $peer) = ($end ? $client : $server, $of{$test}[1 - $end]);
		my ($iters, $sends, $writes, $reads, $reg, $linv, $rinv, $read_inv, $moves) = map { $_ || 0 } @{$of{$test}[$end]};
		# A queue of its own, or that of all clients with RECVs to spare.
		my $places = $end ? 0 : option($options, 'clients') // (defined option($options, 'persistent') ? 1 : 0);
		my $srq = defined option($options, 'srq') ? $places ? 4 * $places + 64 : 4 : 0;
		my $poll = option($options, 'poll_ctx') // (defined option($options, 'poll') ? 'busy' : 'thread');
		push @text, join ' ', 'state=DONE', 'errno=0', "test=$test", "size=$size", "count=$count", "iters=$iters",
			"send_msgs=$sends", 'send_bytes=' . 16 * $sends, "recv_msgs=$peer->[1]", 'recv_bytes=' . 16 * $peer->[1],
			"write_msgs=$writes", "read_msgs=$reads",
			# Each ping has its own size: pairs.t has both ends' sums.
			$random ? () : ('write_bytes=' . $writes * $size, 'read_bytes=' . $reads * $size, 'moved_bytes=' . $iters * $moves * $size),
			"fastreg=$reg", "localinv=$linv", "reminv=$rinv", "readinv=$read_inv", "moves=$moves", "poll_ctx=$poll",
			'offset=' . (option($options, 'offset') // 0), 'mem_mode=' . (option($options, 'mem_mode') // 'reg'), "srq=$srq", 'name=' . (option($options, 'name') // '-'), 'classic=0', 'rejects=0', 'split_iters=' . ($end ? $split : 0),
			($end ? 'dst' : 'src') . "=$at";
	}
	return (@text, $turns);
}

# --- which values go together, as tables ---

# All values, by numbers: [factor's number, value].
my (@values, @of_factor, %number);
for my $f (0 .. $#factors) {
	my ($name, @v) = @{$factors[$f]};
	for my $v (@v) {
		$number{$name}{$v} = @values;
		push @{$of_factor[$f]}, scalar @values;
		push @values, [$f, $v];
	}
}

# The tests that have a use for an option, of command.c; all others are for all tests.
my %takes = (
	(map { $_ => [qw(rping)] } qw(read_inv chain split validate verbose random_size random)),
	# Of bw only with duplex: mem.t has that.
	server_inv => [qw(rping wlat fast)],
	local_dma_lkey => [qw(rping wlat bw fast)],
	interval => [qw(rping fr wlat rlat)],
	duplex => [qw(bw)],
	queues => [qw(rlat bw fast)],
	(map { $_ => [qw(bw fast)] } qw(post_list signal)),
	inline_size => [qw(wlat bw fast)],
);

# For each value a bit for each test with which it can be.
my @with_tests = map {
	my ($f, $v) = @$_;
	my $name = $factors[$f][0];
	my ($option) = $name =~ /^server (\w+)/ ? $1 : $v =~ /^(\w+)/;
	my $of = $v eq '' ? undef : $name eq 'test' ? [$v] : $takes{$option};
	$of = [grep { $_ ne 'fr' } @tests] if $name eq 'c.mem_mode' && $v eq 'mem_mode=dma';
	# rping has no short name.
	$of = [grep { $_ ne 'rping' } @tests] if $name eq 'server test' && $v eq 'short';
	my %is = map { $_ => 1 } @{$of // \@tests};
	my $bits = 0;
	$is{$tests[$_]} and $bits |= 1 << $_ for 0 .. $#tests;
	$bits;
} @values;

# Do two values exclude each other, whatever the test is?
sub excluded($v, $w) {
	for my $pair ([$v, $w], [$w, $v]) {
		my ($x, $y) = map { $values[$_] } @$pair;
		my ($of_x, $of_y) = map { $factors[$_->[0]][0] } $x, $y;
		return 1 if $needs{$of_x} && $x->[1] && $of_y eq $needs{$of_x}[0] && !$y->[1];
		return 1 if $of_x =~ /^([cs])\.mem_mode$/ && $x->[1] eq 'mem_mode=dma' && $y->[1] &&
			($of_y eq "$1.local_dma_lkey" || $of_y eq 'server_inv' && $1 eq 'c' || $of_y =~ /\.read_inv$/ && $of_x eq 's.mem_mode');
		return 1 if $of_x eq 'c.size' && $x->[1] =~ /=(\d+)$/ && $1 > $contiguous && $of_y =~ /\.(mem_mode|local_dma_lkey)$/ &&
			$y->[1] =~ /^(mem_mode=dma|local_dma_lkey)$/;
		return 1 if $of_x eq 's.chain' && $x->[1] && $of_y =~ /^s\.(validate|verbose)$/ && $y->[1];
		next unless $of_x =~ /^([cs])\.(post_list|signal)$/ && $x->[1] && $of_y eq "$1.txdepth" && $y->[1];
		return 1 if $x->[1] =~ s/.*=//r > $y->[1] =~ s/.*=//r;
	}
	return $values[$v][0] == $values[$w][0] && $v != $w;
}

# Sets of values are strings of bits. $goes[V]: the values that go together with V; $of_tests[BITS]: those with a test of these.
my (@goes, @of_tests);
my $none = "\0" x int((@values + 7) / 8);
sub prepare {
	for my $v (0 .. $#values) {
		$goes[$v] = set_of(grep { $values[$v][0] != $values[$_][0] && $with_tests[$v] & $with_tests[$_] && !excluded($v, $_) } 0 .. $#values);
	}
	for my $bits (0 .. (1 << @tests) - 1) {
		$of_tests[$bits] = set_of(grep { $with_tests[$_] & $bits } 0 .. $#values);
	}
}

# --- the drawing ---

# A generator of our own: perl does not promise that srand() draws the same on all machines.
my $state;
sub seed { $state = ($_[0] * 48271 + 12345) % 2147483646 + 1 }
sub draw {
	$state = $state * 48271 % 2147483647;
	return int($state / 2147483647 * $_[0]);
}

sub shuffled(@all) {
	for my $i (reverse 1 .. $#all) {
		my $k = draw($i + 1);
		@all[$i, $k] = @all[$k, $i];
	}
	return @all;
}

sub ones { unpack '%32b*', $_[0] }
sub set_of {
	my $set = $none;
	vec($set, $_, 1) = 1 for @_;
	return $set;
}
sub in_set { grep { vec($_[0], $_, 1) } 0 .. $#values }

# A run, greedily: @first are values that it has to have, and each factor in turn takes the value that makes the most of
# what is left. $left->[V], or of triples $left->[V][W]: the values with which it has yet to be. Returns what it covers, and
# the run's values.
sub run($left, @first) {
	my ($set, $may, $bits, $gain, @run, @taken) = ($none, ~.$none, (1 << @tests) - 1, 0);
	# How many combinations a value adds to the run, of triples twice as many.
	my $adds = sub {
		my ($row) = $left->[$_[0]];
		return sum(0, map { ones($_ &. $set) } $strength == 2 ? $row : @$row[@taken]);
	};
	my $take = sub ($v) {
		$gain += $adds->($v);
		$run[$values[$v][0]] = $v + 1;
		push @taken, $v;
		vec($set, $v, 1) = 1;
		$may &.= $goes[$v];
		$bits &= $with_tests[$v];
		$may &.= $of_tests[$bits];
	};
	$take->($_) for @first;
	# Those with many values first: of their combinations there are so many that the number of runs comes from them.
	my @order = shuffled(grep { !$run[$_] } 0 .. $#factors);
	for my $f (sort { (@{$of_factor[$b]} > 3) <=> (@{$of_factor[$a]} > 3) } @order) {
		my ($best, @best) = -1;
		for my $v (@{$of_factor[$f]}) {
			next unless vec($may, $v, 1);
			my $score = $adds->($v);
			next if $score < $best;
			@best = () if $score > $best;
			$best = $score;
			push @best, $v;
		}
		$take->($best[@best > 1 ? draw(scalar @best) : 0]);
	}
	return ($gain, [map { $_ - 1 } @run]);
}

# All runs that it takes. Of a few that begin with a combination that is missing the best one is taken.
sub array {
	my (@left, @runs);
	my $tries = $strength == 2 ? 30 : 2;
	for my $v (0 .. $#values) {
		$left[$v] = $strength == 2 ? $goes[$v] : [map {
				my $both = $with_tests[$v] & $with_tests[$_];
				vec($goes[$v], $_, 1) ? $goes[$v] &. $goes[$_] &. $of_tests[$both] : $none;
			} 0 .. $#values];
	}
	for (;;) {
		my ($best, $most) = (undef, -1);
		# A value that is missing in the most, since the rest of the runs has to have it.
		my @missing = map { my $v = $_; $strength == 2 ? ones($left[$v]) : scalar grep { $_ ne $none } @{$left[$v]} } 0 .. $#values;
		my $max = max @missing;
		last unless $max;
		my @scarce = grep { $missing[$_] } 0 .. $#values;
		my @top = grep { $missing[$_] * 10 >= $max * 9 } @scarce;
		for my $try (1 .. $tries) {
			my $v = $try % 3 ? $top[draw(scalar @top)] : $scarce[draw(scalar @scarce)];
			my @first = ($v);
			my @with = $strength == 2 ? in_set($left[$v]) : grep { $left[$v][$_] ne $none } 0 .. $#values;
			push @first, $with[draw(scalar @with)];
			if ($strength == 3) {
				my @third = in_set($left[$v][$first[1]]);
				push @first, $third[draw(scalar @third)];
			}
			my ($gain, $run) = run(\@left, @first);
			($most, $best) = ($gain, $run) if $gain > $most;
		}
		push @runs, $best;
		my $set = set_of(@$best);
		for my $v (@$best) {
			$_ &.= ~.$set for $strength == 2 ? $left[$v] : @{$left[$v]}[@$best];
		}
	}
	return @runs;
}

# The lines of a seed. A CI has time for 80 pairs of ends; where chance has drawn nearly as many, it draws again.
sub lines_of($seed) {
	my @runs;
	seed($seed);
	do { @runs = array() } until $strength > 2 || @runs <= 76;
	return map {
		my ($server, $client) = options_of(map { my ($f, $v) = @{$values[$_]}; $factors[$f][0] => $v } @$_);
		join '|', $server, $client, figures_of($server, $client);
	} @runs;
}

# --- the claims ---

# A run that has these values, by numbers, and of all other factors the first value; undef: it has no such run.
sub plain_run {
	my %run = map { $_->[0] => $_->[1] } @factors;
	for (@_) {
		my ($f, $v) = @{$values[$_]};
		$run{$factors[$f][0]} = $v;
	}
	return options_of(%run);
}

# The client's values that a server with these needs, unless that is what is looked at.
sub needed {
	my @have = map { $factors[$values[$_][0]][0] } grep { $values[$_][1] } @_;
	my %is = map { $factors[$values[$_][0]][0] => 1 } @_;
	return map { $number{$_->[0]}{$_->[1]} } grep { !$is{$_->[0]} } map { $needs{$_} // () } @have;
}

# Each two values of different factors, with a run of them or, where there is none, with all tests.
sub claims {
	for my $v (0 .. $#values) {
		for my $w (0 .. $v - 1) {
			next if $values[$v][0] == $values[$w][0];
			my $both = $with_tests[$v] & $with_tests[$w];
			my ($f, $g) = map { $factors[$values[$_][0]][0] } $v, $w;
			# Without its short name rping is not what the value says.
			next if "$f $g" =~ /server test/ && !$both;
			my $yes = vec($goes[$v], $w, 1);
			for my $t (grep { $yes ? $both & 1 << $_ : 1 } 0 .. $#tests) {
				next if grep { $_ eq 'test' } $f, $g and !grep { $values[$_][1] eq $tests[$t] } $v, $w;
				# They do go together, and mem.t has them: no run here has server_inv with bw.
				next if $tests[$t] eq 'bw' && 2 == grep { /^(server_inv|duplex)$/ } map { $values[$_][1] =~ /^too$/ ? 'duplex' : $values[$_][1] }
					grep { $factors[$values[$_][0]][0] =~ /^(server_inv|c\.duplex|server duplex)$/ } $v, $w;
				print join('|', $yes ? 'yes' : 'no', plain_run($number{test}{$tests[$t]}, needed($v, $w), $v, $w)), "\n";
			}
		}
	}
}

prepare();
if ($claims) {
	claims();
} else {
	print "$_\n" for lines_of($seed);
}
