# SPDX-License-Identifier: Apache-2.0
# In a batch job the recording is named after it, says what its environment tells, and is joined by the same job only.
. "$TOP/tests/lib.sh"
need jq

in_job() { # FIXTURE CMD...: with the environment that was recorded in a job
	local variables
	mapfile -t variables < <(sed "s|=@|=$TOP/tests/fixtures/jobs/|" "$TOP/tests/fixtures/jobs/$1.env")
	shift
	env "${variables[@]}" "$@"
}
said() { # DIR KEY WANTED: of the last node
	equal "$1: $2" "$3" "$("$SONDE" show --json "$1" | jq -r --arg key "$2" '.nodes[-1].metadata[$key] // "absent"')"
}

in_job slurm-asked "$SONDE" run --quiet -- true || fail "run in a Slurm job"
[ -d sonde_4 ] || fail "no directory named after the job"
while read -r key wanted; do
	said sonde_4 "$key" "$wanted"
done <<'EOF'
job.id 4
job.scheduler slurm
job.step batch
job.part script
job.nodes n[1-3]
job.nodes_count 3
job.node n1
job.node_index 0
job.cores_asked 2
job.memory_asked_bytes 4294967296
job.gpus_asked 3
job.time_limit_seconds 3600
job.queue main
job.account physics
job.name envtest
job.user alice
job.cluster ci
job.submit_directory /users/alice/work
job.restarts_count 2
job.array_id absent
job.unread absent
EOF
in_job slurm-array "$SONDE" run --quiet -- true || fail "run in an element of an array"
said sonde_3_4 job.array_id 3
said sonde_3_4 job.raw_id 5
said sonde_3_4 job.memory_asked_bytes absent
in_job pbs-array "$SONDE" run --quiet -- true || fail "run in a PBS job"
said sonde_12_3_.phead job.id '12[3].phead'
said sonde_12_3_.phead job.nodes 'p[2,1]'

# A submit directory, a name: text of the user's, which may hold a secret.
in_job slurm-asked env SLURM_JOB_NAME=https://me:hush@host/ "$SONDE" run --quiet -o masked -- true
said masked job.name 'https://***@host/'

# Steps and restarts of the job add to its directory; another job, cluster or system does not.
recordings() {
	find "$1" -name 'node-*.sonde' | wc -l
}
in_job slurm-srun "$SONDE" run --quiet -- true || fail "a step of the same job"
equal "recordings of the job" 2 "$(recordings sonde_4)"
refused() { # CMD...: says so, and the command runs
	equal "exit status" 7 "$(status_of "$@" "$SONDE" run --quiet -o sonde_4 -- sh -c 'exit 7' 2>refused)"
	contains refused "sonde: recording: sonde_4 holds the recording of another job"
	equal "recordings of the job" 2 "$(recordings sonde_4)"
}
refused in_job slurm-array
refused in_job slurm-srun env SLURM_CLUSTER_NAME=other
refused env OAR_JOB_ID=4
refused env

# Another node of the same job may have made its file a moment ago, with nothing in it yet.
mkdir beginning
: >beginning/node-n3.sonde
in_job slurm-srun "$SONDE" run --quiet -o beginning -- true 2>begun || fail "run beside an empty recording"
[ ! -s begun ] || fail "a directory that nobody is known to own was refused: $(cat begun)"
equal "recordings there" 2 "$(recordings beginning)"

# A list that cannot be read is said, and does no harm.
equal "exit status" 3 "$(status_of in_job slurm-broken-list "$SONDE" run --quiet -o broken -- sh -c 'exit 3' 2>broken.said)"
one_sentence broken.said
contains broken.said "SLURM_JOB_NODELIST: byte 6"
said broken job.nodes absent
said broken job.nodes_count 3
said broken job.unread "SLURM_JOB_NODELIST: byte 6 of the list of nodes: a ']' is missing"

# Doctor names the system and what told of it; without one it says that too.
in_job oar-batch "$SONDE" doctor >doctor.txt
contains doctor.txt "OAR, found by OAR_JOB_ID: job 1"
in_job slurm-srun "$SONDE" doctor --json >doctor.json
equal "doctor" "available Slurm, found by SLURM_JOB_ID: job 4, step 1, node n2 (2 of 3), rank 3" \
	"$(jq -r '.batch[0] | .state + " " + .note' doctor.json)"
in_job plain "$SONDE" doctor --json >doctor.json
equal "doctor on a plain machine" absent "$(jq -r '.batch[0].state' doctor.json)"
in_job plain "$SONDE" run --quiet -o plain -- true || fail "run on a plain machine"
said plain job.scheduler absent
