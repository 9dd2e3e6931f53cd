# SPDX-License-Identifier: Apache-2.0
# What the tests of perfmon's job scripts share: the programs that these call, and what is there when one has ended.
perf_hosts='[]'
! "$SONDE" doctor | grep -q 'available *process.exit_records' || perf_hosts='["n1","n2"]'
mkdir bin
PATH=$PWD/bin:$PATH
export SONDE OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
# Else the first of two steps that run beside each other has all the CPUs of the job, and the second waits.
export SLURM_OVERLAP=1

# A short interval for a short job, unless the script gives one.
# shellcheck disable=SC2016
printf '#!/bin/bash\nexec -a perfmon "$SONDE" -i 500ms "$@"\n' >bin/perfmon
printf '#!/bin/sh\nexec mpirun.openmpi "$@"\n' >bin/mpirun
# The first node is the one that the script runs on.
printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/ssh
printf '%s\n' 'import time' 'time.sleep(1000)' | tee bin/dask-scheduler >bin/dask-worker
mpicc.openmpi -O2 -o ring "$TOP/tests/programs/mpi/ring.c" || fail "mpicc"
printf '#!/bin/sh\nexec %s/ring 2000000 1\n' "$PWD" >matmul
chmod 755 bin/* matmul

is_monitored() { # DIR JOB PROGRAM: the results of a job on n1 and n2, in which PROGRAM ran
	local recording=$1/sonde_$2 file
	equal "nodes of $recording" "n1 n2" "$(hosts_of "$recording")"
	equal "complete $recording" true "$(figure "$recording" '.job.complete | tostring')"
	equal "rows of $3" 1 "$(figure "$recording" "[.commands[] | select(.name == \"$3\")] | length")"
	equal "Sonde's own" 0 "$(figure "$recording" '[.commands[] | select(.name | test("sonde|perfmon"))] | length')"
	for file in meta_data cpu_metrics; do
		equal "hosts of $file.json" '["n1","n2"]' "$(jq -c .host_names "$1/metrics/$file.json")"
	done
	# Events of the kernel's own are there without counters, where they are permitted.
	equal "hosts of perf_metrics.json" "$perf_hosts" "$(jq -c .host_names "$1/metrics/perf_metrics.json")"
	! grep -E 'WARNING|ERROR' "$1"/ska_sdp_monitoring_metrics*.log || fail "the log of $2 warns"
}
