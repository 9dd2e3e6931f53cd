# SPDX-License-Identifier: Apache-2.0
# tenth.pl WHAT NUMBER
use strict; use warnings;
use Fcntl ':flock';
my ($what, $n) = @ARGV;
if ($what eq 'files') {    # a file for each event, which is renamed and removed
	mkdir 'spool';
	for my $i (1 .. $n * 1000) {
		open my $f, '>', "spool/$i.tmp" or die; print $f "event $i\n"; close $f;
		rename "spool/$i.tmp", "spool/$i"; unlink "spool/$i";
	}
} elsif ($what eq 'turns') {    # two runs want one lock file and sleep with it
	my @pids;
	for my $k (1 .. 3) {
		my $p = fork; if ($p) { push @pids, $p; next }
		open my $f, '>', 'run.lock' or die; flock $f, LOCK_EX; sleep $n; exit 0;
	}
	waitpid $_, 0 for @pids;
}
