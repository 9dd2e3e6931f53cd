# SPDX-License-Identifier: Apache-2.0
# Compiles FILES even files of some hundred functions each.
OBJECTS := $(patsubst %,part%.o,$(shell seq $(FILES)))
all: $(OBJECTS)
$(OBJECTS): %.o: %.c
	gcc -O2 -c -o $@ $<
