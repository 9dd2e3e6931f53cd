#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `run --annotations` costs a program: a range of NVTX (push and pop), and a call of MPI. About a minute; QUICK=1: 10 s.
#
# NVTX: a million ranges of each kind, by the pointers of its header. Batches of 100 with the tool alternate with batches without one in one thread; the
# medians are over the batches, and the median round counts. MPI: a rank calls MPI_Iprobe, which asks for nothing and finds nothing; its CPU time for
# a million calls, in turns with and without the tool, in each MPI that is here.
set -eu
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5} PAIRS=1000000 CALLS=1000000
[ -z "${QUICK:-}" ] || ROUNDS=2 PAIRS=200000 CALLS=200000
# shellcheck source=bench/bar.sh
. bench/bar.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 SONDE_HISTORY=off
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for _ in $(seq "$ROUNDS"); do
	rm -rf "$scratch/rec"
	"$BUILD/sonde" run --quiet -o "$scratch/rec" --annotations nvtx -- "$BUILD/bench/annotations" "$PAIRS" >>"$scratch/nvtx"
done
figure 'NVTX without a tool: a range' "$(cut -d ' ' -f 3 "$scratch/nvtx" | median)" ns
bar 'NVTX: a range with a registered message, over that' "$(awk '{ print $1 - $3 }' "$scratch/nvtx" | median)" ns '<=' 60
bar 'NVTX: a range with a text, over that' "$(awk '{ print $2 - $3 }' "$scratch/nvtx" | median)" ns '<=' 60
figure 'NVTX: spans lost' "$("$BUILD/sonde" show --json "$scratch/rec" | jq '.nodes[0].metadata["spans.left_out"] // 0')" count

cat >"$scratch/probe.c" <<-'C'
	#include <mpi.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <time.h>
	static double cpu(void)
	{
		struct timespec t;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		return t.tv_sec * 1e9 + t.tv_nsec;
	}
	int main(int argc, char **argv)
	{
		int flag, calls = atoi(argv[1]);
		double from;

		MPI_Init(&argc, &argv);
		from = cpu();
		for (int i = 0; i < calls; i++)
			MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		printf("%.2f\n", (cpu() - from) / calls);
		MPI_Finalize();
	}
C
for mpi in openmpi mpich; do
	if ! command -v "mpicc.$mpi" >/dev/null || ! "mpicc.$mpi" -O2 -o "$scratch/probe.$mpi" "$scratch/probe.c"; then
		echo "  $mpi is not installed"
		continue
	fi
	for _ in $(seq "$ROUNDS"); do
		rm -rf "$scratch/rec"
		bare=$("$BUILD/sonde" run --quiet -o "$scratch/rec" -- "mpirun.$mpi" -n 1 "$scratch/probe.$mpi" "$CALLS")
		rm -rf "$scratch/rec"
		counted=$("$BUILD/sonde" run --quiet -o "$scratch/rec" --annotations mpi -- "mpirun.$mpi" -n 1 "$scratch/probe.$mpi" "$CALLS")
		echo "$bare $counted"
	done >"$scratch/mpi"
	figure "$mpi: MPI_Iprobe without the tool" "$(cut -d ' ' -f 1 "$scratch/mpi" | median)" ns
	bar "$mpi: a call with it, over that" "$(awk '{ print $2 - $1 }' "$scratch/mpi" | median)" ns '<=' 200
	figure "$mpi: calls counted" "$("$BUILD/sonde" show --mpi --json "$scratch/rec" | jq '[.calls[] | select(.function == "MPI_Iprobe") | .calls] | add')" count
done
exit "${missed:-0}"
