# SPDX-License-Identifier: Apache-2.0
# Jobs of fresh.py: fresh.pl VERB ARGUMENT...
use strict;
use warnings;
use Time::HiRes qw(time);

sub work {
    my ($seconds) = @_;
    my ($end, $x) = (time + $seconds, 0);
    while (time < $end) {
        $x = sin($x) + 1 for 1 .. 1000;
    }
}

my ($verb, @rest) = @ARGV;
if ($verb eq "children") {
    my ($n, $seconds) = @rest;
    for (1 .. $n) {
        my $pid = fork;
        next if $pid;
        work($seconds);
        exit 0;
    }
    1 while wait > 0;
} elsif ($verb eq "crash") {
    work($rest[0]);
    kill "SEGV", $$;
}
