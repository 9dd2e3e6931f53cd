#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches from npm what looks at pages in tests, to $BUILD/axe, when it is not there or its list has changed.
set -eu
cd "$(dirname "$0")/axe"
to=$(realpath -m "${BUILD:-../../../build}")/axe
! cmp -s package-lock.json "$to/package-lock.json" || [ ! -e "$to/fetched" ] || exit 0
rm -rf "$to"
mkdir -p "$to"
cp package.json package-lock.json "$to"
cd "$to"
npm ci --ignore-scripts --no-audit --no-fund --silent
touch fetched
