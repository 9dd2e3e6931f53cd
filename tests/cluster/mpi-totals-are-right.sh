# SPDX-License-Identifier: Apache-2.0
# limit: 300
# Ranks of Open MPI and MPICH on three machines, started by srun, mpirun and mpiexec, each prefixed: the CPU time they say they spend, the
# bytes they say they send, and the names of the machines, whatever the launcher makes of the environment.
. "$TOP/tests/cluster/harness/namespaces.sh"
need mpirun.openmpi
need mpiexec.mpich
machines_start 9000
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0
for mpi in openmpi mpich; do
	mpicc.$mpi -O2 -o ring.$mpi "$TOP/tests/programs/mpi/ring.c" || fail "mpicc.$mpi"
done

transmitted() { # DIR: bytes that went out of all eth0 between the first and the last sample
	"$SONDE" export "$1" --to csv -o "$1-tables" >/dev/null
	awk -F, '$3 != "eth0" { next }
		$2 == "network.transmitted_bytes_per_second" { sum += $6 * ($5 - last[$1]) }
		$2 == "network.speed_bytes_per_second" { last[$1] = $5 }
		END { printf "%.0f\n", sum }' "$1-tables/series.csv"
}

right() { # DIR RANKS SAID
	contains "$3" "$2 ranks"
	cpu_within "$1" "$2"
	equal "machines of $1" "n1 n2 n3" "$(hosts_of "$1")"
	equal "exit code of $1" 0 "$(figure "$1" .job.exit_code)"
	equal "complete $1" true "$(figure "$1" '.job.complete | tostring')"
	equal "processes of $1" "$2" "$(figure "$1" .job.processes_started)"
}

batch() { # SAID RANKS-A-NODE LINE
	printf '#!/bin/sh\nexec %s\n' "$3" >job
	id=$(submit -N3 --ntasks-per-node="$2" job)
	wait_for 60 job_gone "$id"
	mv "job-$id.out" "$1"
}

# A rank that Open MPI says has died of a signal before one has printed anything: in UCX's and PMIx's start some 1 of 300 launches does.
died_at_start() { # SAID...
	grep -q '\*\*\* Process received signal \*\*\*' "$@" && ! grep -q ' ranks$' "$@"
}

launched() { # DIR SAID COMMAND...: a launch that died at its start is tried again, at most twice, and reported
	local dir=$1 said=$2 try status
	shift 2
	for try in 1 2 3; do
		rm -rf "$dir"
		status=0
		"$@" >"$said" 2>"$said.errors" || status=$?
		cat "$said.errors" >&2
		[ "$try" -lt 3 ] && died_at_start "$said" "$said.errors" || return $status
		echo "Open MPI died at its start; launch $((try + 1)) of $dir"
	done
}

record="$SONDE run -q -i 200ms -o"

launched srun-openmpi said timeout "$(patience 120)" srun -N3 -n3 --mpi=pmix $record srun-openmpi -- ./ring.openmpi 1000000 64 || fail "srun, Open MPI"
right srun-openmpi 3 said
bytes=$(transmitted srun-openmpi)
holds "bytes sent: $bytes" "$bytes >= 3 * 64 * 1048576 && $bytes <= 3 * 64 * 1048576 * 1.01"

timeout "$(patience 120)" srun -N3 -n3 --mpi=pmi2 $record srun-mpich -- ./ring.mpich 1000000 64 leave >said || fail "srun, MPICH"
right srun-mpich 3 said
bytes=$(transmitted srun-mpich)
holds "bytes sent: $bytes" "$bytes >= 3 * 64 * 1048576 && $bytes <= 3 * 64 * 1048576 * 1.01"

launched mpirun said batch said 2 "mpirun.openmpi $record mpirun -- ./ring.openmpi 1000000 1"
right mpirun 6 said
# One launch, though the ranks of the first node are the batch script's and those of the others a step's of Slurm.
equal "tasks of each launch" 6 "$(figure mpirun '[.steps[].tasks | tostring] | join(" ")')"

batch said 1 "mpiexec.mpich $record mpiexec -- ./ring.mpich 1000000 1 leave"
right mpiexec 3 said
