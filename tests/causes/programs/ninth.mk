# SPDX-License-Identifier: Apache-2.0
# Compilers leave all optimization to the linker, which does it alone.
parts := main $(patsubst %.c,%,$(wildcard part*.c))
all: $(parts:=.o)
	gcc -O2 -flto=1 -flto-partition=one -o program $^
%.o: %.c
	gcc -O2 -flto -c -o $@ $<
