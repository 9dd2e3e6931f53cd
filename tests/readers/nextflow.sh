#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches Nextflow's jars with Maven into $BUILD/nextflow, when they are not there or tests/interop/nextflow.xml has changed.
set -eu
cd "$(dirname "$0")/../.."
place=${BUILD:-build}/nextflow
wanted=tests/interop/nextflow.xml
! cmp -s "$wanted" "$place/nextflow.xml" || exit 0
command -v mvn >/dev/null || exit 1
rm -rf "$place"
mkdir -p "$place"
mvn -q -B -f "$wanted" dependency:copy-dependencies -DoutputDirectory="$(realpath "$place")"
cp "$wanted" "$place/nextflow.xml"
