#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every bench, one after the other. Ends with 1 when a bar is missed.
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build}
missed=0
echo "== CPU and memory of a sample"
bash bench/cost.sh || missed=1
for source in bench/*.c; do
	name=$(basename "$source" .c)
	echo "== $name"
	"$BUILD/bench/$name" || missed=1
done
exit $missed
