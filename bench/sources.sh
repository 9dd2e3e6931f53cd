#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU time of reading the node, source by source, next to the kernel's time to return the same files. A sample every 20
# ms, with caches as in use. Takes 10 s.
set -eu
. bench/bar.sh
BUILD=${BUILD:-build}
while read -r source what; do
	us=$(sed -n 's/.*paced *\([0-9.]*\) us.*/\1/p' <<<"$what")
	case $source in
	all) figure 'all sources' "$us" 'us a sample' ;;
	files) figure 'the files alone' "$us" 'us a sample' ;;
	*) [ -z "$us" ] || figure "source $source" "$us" 'us a sample' ;;
	esac
done < <("$BUILD/bench/sources")
