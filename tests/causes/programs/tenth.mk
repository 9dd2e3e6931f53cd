# SPDX-License-Identifier: Apache-2.0
# Objects that each take a while: make -f tenth.mk BIN=... EACH=... N=...
PARTS := $(addprefix part,$(shell seq $(N)))
all: $(PARTS)
$(PARTS):
	@$(BIN)/tenth serial $(EACH)
