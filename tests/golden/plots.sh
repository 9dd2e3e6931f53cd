#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What plots of a run made by hand look like; --refresh writes them anew.
if [ "${1:-}" = --refresh ]; then
	export BUILD="${BUILD:-build}"
	make -s "$BUILD/unit/test_plots" && TOP=$PWD UPDATE_GOLDEN=1 "$BUILD/unit/test_plots" >/dev/null 2>&1
else
	exec "$BUILD/unit/test_plots"
fi
