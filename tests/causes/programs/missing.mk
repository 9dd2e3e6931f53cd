# SPDX-License-Identifier: Apache-2.0
# The second input is nowhere.
report: table.dat reference.dat
	cat $^ >$@
table.dat:
	$(BIN)/cpu threads 1 $(SECONDS)
	touch $@
