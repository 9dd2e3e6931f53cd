# SPDX-License-Identifier: Apache-2.0
# Jobs of fourth.py: fourth.pl VERB ARGUMENT...
use strict;
use warnings;
use Time::HiRes qw(time sleep);

sub work {
	my ($seconds) = @_;
	my ($end, $x) = (time + $seconds, 0);
	while (time < $end) { $x = sin($x) + 1 for 1 .. 5000 }
	return $x;
}

# As many children at once as said, round after round, with even shares.
sub rounds {
	my ($n, $seconds) = @_;
	for (my $end = time + $seconds; time < $end;) {
		for (1 .. $n) {
			if (!fork) { work(1.5); exit 0 }
		}
		1 while wait != -1;
	}
}

# Tasks in batches: one of each batch is longer, and the next batch waits for it.
sub batches {
	my ($n, $count) = @_;
	for (1 .. $count) {
		for my $i (1 .. $n) {
			if (!fork) { work($i == 1 ? 2.0 : 0.2); exit 0 }
		}
		1 while wait != -1;
	}
}

# Each small step looks through a whole directory.
sub lists {
	my ($seconds) = @_;
	for (my $end = time + $seconds; time < $end;) {
		opendir my $d, "many" or die "many: $!\n";
		my @new = grep { /^new/ } readdir $d;
		closedir $d;
	}
}

my ($verb, @rest) = @ARGV;
if ($verb eq 'work') { work(@rest) }
elsif ($verb eq 'module') { work(@rest); require PDL::LinearAlgebra }
elsif ($verb eq 'nan') { work(@rest); die "residual is NaN in iteration 412\n" }
elsif ($verb eq 'rounds') { rounds(@rest) }
elsif ($verb eq 'batches') { batches(@rest) }
elsif ($verb eq 'lists') { lists(@rest) }
