# SPDX-License-Identifier: Apache-2.0
# Bare mpirun and mpiexec, outside of a batch job and without -o: the copies of a launch agree on one directory and one recorder, only one
# prints, and the next launch has a directory of its own.
. "$TOP/tests/lib.sh"
need mpirun.openmpi
need mpiexec.mpich
unset OMPI_MCA_orte_precondition_transports
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

launches() { # LAUNCHER MPIRUN...
	local launcher=$1 dir
	shift
	for _ in 1 2; do
		"$@" -n 3 "$SONDE" run -- "$PROGRAMS/spin" 100000 2>>"said.$launcher" || fail "$launcher: $?"
	done
	equal "directories of $launcher" 2 "$(find . -maxdepth 1 -name "sonde_${launcher}_*" | wc -l)"
	for dir in sonde_"$launcher"_*; do
		equal "recordings in $dir" 1 "$(find "$dir" -name 'node-*.sonde' | wc -l)"
		equal "tasks of $dir" 3 "$(figure "$dir" '.nodes[0].metadata["job.tasks"]')"
		equal "launch of $dir" "${dir#sonde_}" "$(figure "$dir" '.nodes[0].metadata["job.launch"]')"
		holds "CPU seconds of $dir" "$(figure "$dir" .job.cpu_seconds) >= 0.3"
	done
	equal "lines of $launcher" 2 "$(grep -c '^sonde: 3 tasks on ' "said.$launcher")"
	equal "other lines of sonde" "" "$(grep '^sonde: ' "said.$launcher" | grep -v '^sonde: 3 tasks on ')"
}

launches openmpi mpirun.openmpi --oversubscribe
launches mpich mpiexec.mpich
equal "directories" 4 "$(find . -maxdepth 1 -name 'sonde_*' | wc -l)"

# Another launch is refused there, one of the same is not.
first=$(echo sonde_mpich_*)
first=${first%% *}
mpiexec.mpich -n 2 "$SONDE" run -q -o "$first" -- true 2>refused || fail "refused: $?"
contains refused "holds the recording of another job"
