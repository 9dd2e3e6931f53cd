# SPDX-License-Identifier: Apache-2.0
# Logs every step.
use strict;
my $end = time + shift;
for (my $i = 0; time < $end; $i++) {
	print STDERR "DEBUG step $i\n";
}
