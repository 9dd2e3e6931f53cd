# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Sourced by the benches that compare Sonde with bench/floor.c, with BUILD and a folder for scratch set.

# The files of the control group that Sonde reads in each sample.
group_files() { # INTERVAL-MS SAMPLES
	strace -f -y -e trace=pread64 -o "$scratch/calls" "$BUILD/sonde" attach -q -p $$ -i "$1ms" \
		--duration $(($1 * $2))ms --pss off -o "$scratch/out" 2>/dev/null
	sed -n 's/.*pread64([0-9]*<\(\/sys\/fs\/cgroup\/[^>]*\)>.*/\1/p' "$scratch/calls" | sort | uniq -c |
		awk -v n=$(($2 / 2)) '$1 > n { print $2 }'
	rm -rf "$scratch/out"
}
