# SPDX-License-Identifier: Apache-2.0
# What a copy within a batch job reports of its task and what the recorder sees of it are the same CPU time, counted once, also when the
# task is over before the first interval is.
. "$TOP/tests/lib.sh"
for ms in 50 200 800 1400; do
	SLURM_JOB_ID=$ms SLURM_JOB_NODELIST=$(hostname) "$SONDE" run -q -- "$PROGRAMS/spin" ${ms}000
	got=$(figure sonde_$ms .job.cpu_seconds)
	holds "CPU seconds: $got of 0.001 * $ms" "$got >= 0.00099 * $ms && $got <= 0.00101 * $ms + 0.01"
done
