#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Jobs of second.py that want Perl.
use strict;
use warnings;
use Time::HiRes qw(sleep time);

sub compute {
    my ($seconds) = @_;
    my $end = time + $seconds;
    my $x   = 1;
    while (time < $end) {
        $x = ($x * 1103515245 + 12345) % 2147483648 for 1 .. 2000;
    }
    return $x;
}

my %verb = (

    # Writes each read to the file of its barcode, and closes none.
    demultiplex => sub {
        my ($barcodes) = @_;
        my %file;
        for my $i (1 .. $barcodes) {
            compute(0.03);
            open($file{$i}, '>', "barcode$i.fastq") or die "cannot open barcode$i.fastq: $!";
            print { $file{$i} } "\@read$i\nACGT\n+\nIIII\n";
        }
    },

    # Its own clean-up ends everything named in a list, itself too.
    cleanup => sub {
        my ($seconds) = @_;
        compute($seconds);
        my @old = ($$);
        kill 'KILL', @old;
        sleep 5;
    },

    # A search that is far from its end when its time is over.
    search => sub { compute($_[0]) },

    # Lines as fast as the reader takes them, and a reader that pauses at each.
    source => sub {
        my ($lines) = @_;
        print join(',', $_, ('x') x 2000), "\n" for 1 .. $lines;
    },
    sink => sub {
        my ($pause) = @_;
        while (<STDIN>) { sleep $pause }
    },

    # Two workers over all parts; a checkpoint of some MiB now and then.
    simulate => sub {
        my ($seconds) = @_;
        for my $worker (1 .. 2) {
            next if fork;
            my $end = time + $seconds;
            while (time < $end) {
                compute(1.5);
                open(my $out, '>', "checkpoint$worker") or die $!;
                print $out 'x' x (2 << 20);
                close $out;
            }
            exit 0;
        }
        1 while wait > 0;
    },
);

my $name = shift // '';
die "no such verb: $name\n" unless $verb{$name};
$verb{$name}->(@ARGV);
