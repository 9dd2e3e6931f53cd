# SPDX-License-Identifier: Apache-2.0
# What the tests of a shared recorder have in common: a batch job that is made up.

run_options=()

batch_job() { # JOB-ID TASKS: of this node, from here on
	export SLURM_JOB_ID=$1 SLURM_STEP_ID=0
	SLURM_GTIDS=$(seq -s, 0 $(($2 - 1)))
	export SLURM_GTIDS
}

copy() { # RANK COMMAND...: one copy of sonde run of this job; its standard error goes to said
	local rank=$1
	shift
	SLURM_PROCID=$rank "$SONDE" run "${run_options[@]}" -- "$@" 2>>said
}

recordings() { # DIR: how many there are
	find "$1" -name 'node-*.sonde' | wc -l
}
