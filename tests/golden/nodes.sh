#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the sources say of each machine in tests/fixtures; --refresh writes it anew.
if [ "${1:-}" = --refresh ]; then
	export BUILD="${BUILD:-build}"
	make -s "$BUILD/unit/test_node" && TOP=$PWD UPDATE_GOLDEN=1 "$BUILD/unit/test_node" >/dev/null 2>&1
else
	exec "$BUILD/unit/test_node"
fi
