# SPDX-License-Identifier: Apache-2.0
# N targets, each of them next to nothing.
targets := $(addprefix t,$(shell seq $(N)))
all: $(targets)
$(targets):
	@echo $@ >$@
