# SPDX-License-Identifier: Apache-2.0
# Runs STEPS steps of three short commands each, as a build of very many small files does.
.PHONY: all $(shell seq $(STEPS))
all: $(shell seq $(STEPS))
$(shell seq $(STEPS)):
	@sh -c 'i=0; while [ $$i -lt 60000 ]; do i=$$((i + 1)); done'; /bin/true; expr $@ + 1 >step$@
