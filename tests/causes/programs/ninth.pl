# SPDX-License-Identifier: Apache-2.0
# The Perl programs of the ninth set: ninth.pl WHAT ARGUMENTS.
use strict;
use warnings;
use Fcntl;
use Time::HiRes qw(time);

my ($what, @arg) = @ARGV;
my $end = time + ($arg[-1] // 0);

# A pattern with a repeat in a repeat tries all ways to divide a line before it says no.
sub nested {
	my ($letters, $lines) = @_;
	my $matched = 0;
	for my $i (1 .. $lines) {
		my $line = 'x' x $letters . ($i % 10) . '!';
		$matched++ if $line =~ /^(([x-z]+)+)(\d)\3\1?$/;
	}
	print "$matched\n";
}

# Asks again and again, without a pause, whether the other process has written.
sub asks {
	pipe my $from, my $to or die;
	if (!fork) {
		sleep $arg[0];
		syswrite $to, "done\n";
		exit;
	}
	fcntl $from, F_SETFL, O_NONBLOCK;
	my ($line, $times) = ('', 0);
	$times++ until sysread $from, $line, 5;
	print "$times $line";
}

# A file for each reading, and all are gathered and removed at the end of each round.
sub files {
	mkdir 'readings';
	my $sum = 0;
	while (time < $end) {
		for my $i (1 .. 5000) {
			open my $f, '>', "readings/$i.new" or die;
			print $f $i;
			close $f;
			rename "readings/$i.new", "readings/$i.txt";
		}
		for my $path (glob 'readings/*.txt') {
			open my $f, '<', $path or die;
			$sum += <$f>;
			close $f;
			unlink $path;
		}
	}
	print "$sum\n";
}

# Each process looks for words in lines that it makes.
sub even {
	my ($processes, $lines) = @arg;
	for my $p (1 .. $processes) {
		next if fork;
		my ($x, $found) = (7, 0);
		for (1 .. $lines * 1000) {
			$x = ($x * 16807) % 2147483647;
			$found++ if ("$x:" . $x % 977) =~ /\A(\d+?)7(\d*):(\d)/;
		}
		exit;
	}
	1 while wait > 0;
}

{ nested => sub { nested(@arg) }, asks => \&asks, files => \&files, even => \&even }->{$what}->();
