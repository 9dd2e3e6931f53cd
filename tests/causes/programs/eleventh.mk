# SPDX-License-Identifier: Apache-2.0
# Builds all parts in the folder, for judge.py.
PARTS := $(wildcard part*.cpp)

all: $(PARTS:.cpp=.o)

%.o: %.cpp
	g++ -O2 -c -o $@ $<
