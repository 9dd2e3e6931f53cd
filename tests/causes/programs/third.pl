# SPDX-License-Identifier: Apache-2.0
# Jobs of third.py: third.pl VERB ARGUMENT...
use strict;
use warnings;
use Time::HiRes qw(time sleep);

sub work {
	my ($end, $x) = (time + shift, 1);

	while (time < $end) {
		$x = sqrt($x + 7) for 1 .. 1000;
	}
}

# The whole state is written again after each step.
sub rewrite {
	my ($mb, $seconds) = @_;
	my ($state, $end) = ("x" x ($mb << 20), time + $seconds);

	while (time < $end) {
		open(my $f, '>', 'state.tmp') or die "state.tmp: $!\n";
		print $f $state;
		close $f;
		rename 'state.tmp', 'state';
	}
}

sub children {
	my ($n, $seconds) = @_;

	for (1 .. $n) {
		my $pid = fork;
		if (!$pid) { work($seconds); exit 0; }
	}
	1 while wait > 0;
}

# A word is looked for in a list from its beginning, for each line of a second list: quadratic.
sub quadratic {
	my ($end, @seen) = (time + shift);
	my $n = 0;

	while (time < $end) {
		my $word = sprintf 'w%07d', $n++ * 7919 % 10000000;
		push @seen, $word unless grep { $_ eq $word } @seen;
	}
}

my %verbs = (work => \&work, rewrite => \&rewrite, children => \&children, quadratic => \&quadratic);
my $verb = shift @ARGV;
$verbs{$verb}->(@ARGV);
