# SPDX-License-Identifier: Apache-2.0
# Computes for so many seconds (srand gives those of the clock).
function clock() { srand(); return srand() }
BEGIN {
	start = clock()
	while (clock() - start < seconds)
		for (i = 0; i < 100000; i++)
			x += sin(i)
}
