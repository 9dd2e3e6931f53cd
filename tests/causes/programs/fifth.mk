# SPDX-License-Identifier: Apache-2.0
# Jobs of fifth.py, for make: four targets that need nothing of each other.
all: a b c d
a b c d:
	awk -v seconds=$(SECONDS) -f $(SRC)/fifth.awk
