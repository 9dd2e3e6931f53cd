# SPDX-License-Identifier: Apache-2.0
# Jobs of kept.py: unseen.pl VERB ARGUMENT...
use strict;
use warnings;
use IO::Handle;
use Time::HiRes qw(time sleep);

sub work {
    my ($seconds) = @_;
    my ($end, $x) = (time + $seconds, 0);
    while (time < $end) {
        $x = sqrt($x + 7) * 1.5 for 1 .. 1000;
    }
}

my %verbs = (
    work => \&work,
    results => sub {
        my ($file) = @_;
        open my $out, '>', $file or die "$file: $!";
        $out->autoflush(1);
        for (;;) {
            work(0.4);
            print $out 'value ' x 15000;
        }
    },
    shards => sub {
        my ($directory) = @_;
        for (my $i = 0; ; $i++) {
            work(0.02);
            open my $out, '>', "$directory/shard$i" or die "$directory/shard$i: $!\n";
            close $out;
        }
    },
    bytes => sub {
        my ($file, $seconds) = @_;
        my ($end, $sum) = (time + $seconds, 0);
        while (time < $end) {
            open my $in, '<', $file or die "$file: $!";
            while (sysread($in, my $byte, 1)) {
                $sum += ord $byte;
                last if $sum % 4096 == 0 && time > $end;
            }
        }
    },
    tree => sub {
        my ($seconds) = @_;
        my $end = time + $seconds;
        while (time < $end) {
            mkdir "t$_" or die $! for 1 .. 100;
            rename "t$_", "u$_" or die $! for 1 .. 100;
            rmdir "u$_" or die $! for 1 .. 100;
        }
    },
    part => sub {
        my ($i, $bad, $seconds) = @_;
        work($seconds);
        exit($i == $bad ? 3 : 0);
    },
    children => sub {
        my ($n, $seconds) = @_;
        for (1 .. $n) {
            next if fork;
            work($seconds);
            exit 0;
        }
        1 while wait > 0;
    },
);

my $verb = shift @ARGV;
$verbs{$verb}->(@ARGV);
