# SPDX-License-Identifier: Apache-2.0
# Opens, reads and removes small files.
use strict;
my $end = time + shift;
mkdir "items";
for (my $i = 0; time < $end; $i++) {
	my $name = "items/" . $i % 500;
	open(my $out, ">", $name) or die $!;
	print $out $i;
	close $out;
	-s $name or die "$name is empty";
	unlink $name;
}
