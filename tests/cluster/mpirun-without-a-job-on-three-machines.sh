# SPDX-License-Identifier: Apache-2.0
# limit: 240
# Bare mpirun of Open MPI and mpiexec of MPICH over three machines, outside of any batch job and without -o: what starts a daemon on each
# machine is a remote shell, and all ranks agree on one directory, with a recording of each machine; the next launch has another.
. "$TOP/tests/cluster/harness/namespaces.sh"
need mpirun.openmpi
need mpiexec.mpich
machines_start
for variable in ${!SLURM_*}; do
	[ "$variable" = SLURM_CONF ] || unset "$variable"
done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

for i in 1 2 3; do
	# The first process of its namespaces is the child of unshare.
	first=$(cat "/proc/${machine_pid[$i]}/task/${machine_pid[$i]}/children")
	echo "${first% }" >"first.n$i"
done
cat >rsh <<END
#!/bin/bash
# rsh [OPTIONS] HOST WORDS...: of a user's environment nothing goes along.
while [[ \$1 = -* ]]; do shift; done
host=\$1
shift
exec nsenter --target "\$(cat "$PWD/first.\$host")" --uts --mount --net --pid --ipc --wd="$PWD" -- env -i PATH="\$PATH" HOME="\$HOME" \\
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 bash -c "\$*"
END
chmod 755 rsh

launches() { # LAUNCHER MPIRUN...
	local launcher=$1 dir
	shift
	for _ in 1 2; do
		timeout "$(patience 100)" "$@" "$SONDE" run -i 200ms -- "$PROGRAMS/spin" 400000 2>>"said.$launcher" || fail "$launcher: $(cat "said.$launcher")"
	done
	equal "directories of $launcher" 2 "$(find . -maxdepth 1 -name "sonde_${launcher}_*" | wc -l)"
	for dir in sonde_"$launcher"_*; do
		equal "machines of $dir" "n1 n2 n3" "$(hosts_of "$dir")"
		equal "recordings in $dir" 3 "$(find "$dir" -name 'node-*.sonde' | wc -l)"
		equal "ranks of $dir" "0 1 2 3 4 5" "$(figure "$dir" '[.tasks[].rank] | sort | map(tostring) | join(" ")')"
		cpu_within "$dir" 2.4 6
	done
	equal "lines of $launcher" 2 "$(grep -c '^sonde: 2 tasks on ' "said.$launcher")"
}

launches openmpi mpirun.openmpi --mca plm rsh --mca ras ^slurm --mca plm_rsh_agent "$PWD/rsh" --host n1:2,n2:2,n3:2 -n 6
launches mpich mpiexec.mpich -launcher rsh -launcher-exec "$PWD/rsh" -hosts n1:2,n2:2,n3:2 -n 6
equal "directories" 4 "$(find . -maxdepth 1 -name 'sonde_*' | wc -l)"
