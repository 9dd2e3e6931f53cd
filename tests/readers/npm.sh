#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches from npm what the folder $1 beside this script lists, to $BUILD/$1, when it is missing or the list has changed.
set -eu
cd "$(dirname "$0")/$1"
to=$(realpath -m "${BUILD:-../../../build}")/$1
! cmp -s package-lock.json "$to/package-lock.json" || [ ! -e "$to/fetched" ] || exit 0
rm -rf "$to"
mkdir -p "$to"
cp package.json package-lock.json "$to"
cd "$to"
npm ci --ignore-scripts --no-audit --no-fund --silent
touch fetched
