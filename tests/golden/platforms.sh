#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is said of each machine in tests/fixtures/platform; --refresh writes it anew.
if [ "${1:-}" = --refresh ]; then
	export BUILD="${BUILD:-build}"
	make -s "$BUILD/unit/test_platform" && folder=$(mktemp -d) &&
		(TOP=$PWD && export TOP && cd "$folder" && UPDATE_GOLDEN=1 "$TOP/$BUILD/unit/test_platform" >/dev/null 2>&1)
	rm -rf "$folder"
else
	exec "$BUILD/unit/test_platform"
fi
