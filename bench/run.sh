#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every bench, one after the other. Ends with 1 when a bar is missed.
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build}
missed=0
for script in bench/*.sh; do
	name=$(basename "$script" .sh)
	case $name in bar | run) continue ;; esac
	echo "== $name"
	bash "$script" || missed=1
done
echo "== sources"
"$BUILD/bench/sources" || missed=1
exit $missed
