# SPDX-License-Identifier: Apache-2.0
# Jobs of the eleventh set of causes in Perl, for judge.py.
use strict;
use warnings;

my ($job, $n) = @ARGV;
if ($job eq "report") {    # counts requests of a log, line by line
	my %count;
	for my $pass (1 .. $n) {
		open my $log, "<", "access.log" or die "access.log: $!";
		while (<$log>) {
			$count{$1}{$2}++ if m{^(\d+\.\d+\.\d+)\.\d+ .*?"(?:GET|POST) (/[^ /]*)[^"]*" (?:200|30\d) };
		}
	}
	printf "%s %d\n", $_, scalar keys %{$count{$_}} for sort keys %count;
} elsif ($job eq "fields") {    # each field of each row is one write
	open my $out, ">", "rows.csv" or die "rows.csv: $!";
	for my $row (1 .. $n) {
		for my $field ($row, $row * 7 % 1001, "x") {
			syswrite $out, "$field,";
		}
		syswrite $out, "\n";
	}
}
