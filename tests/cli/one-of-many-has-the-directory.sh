# SPDX-License-Identifier: Apache-2.0
# Of jobs that begin at once with one -o one is recorded there; the others say so, run, and are not mixed in: on one machine without a batch
# system, and as elements of a job array, which may begin on several nodes.
. "$TOP/tests/lib.sh"
many=10

begin() { # NAME NUMBER
	"$SONDE" run --quiet -o "out$1" -- sh -c "echo ran >>ran$1" 2>"said$1.$2" &
}

one_has_it() { # NAME
	wait
	equal "jobs that ran" $many "$(wc -l <"ran$1")"
	equal "recordings" 1 "$(find "out$1" -name 'node-*.sonde' | wc -l)"
	equal "jobs that said so" $((many - 1)) "$(grep -l "holds the recording of another job" said"$1".* | wc -l)"
	"$SONDE" show "out$1" >/dev/null || fail "it is not whole"
	equal "claims left" "" "$(find "out$1" -type l)"
}

for round in 1 2 3; do
	for i in $(seq $many); do begin "$round" "$i"; done
	one_has_it "$round"
	for i in $(seq $many); do
		SLURM_JOB_ID=$((100 + i)) SLURM_ARRAY_JOB_ID=100 SLURM_ARRAY_TASK_ID=$i begin "array$round" "$i"
	done
	one_has_it "array$round"
done

# A claim of a job that was lost with its node: while it is fresh it counts, then it is taken away.
mkdir lost
ln -s another lost/.sonde-claim
SLURM_JOB_ID=9 "$SONDE" run --quiet -o lost -- true 2>said || fail "the job"
contains said "holds the recording of another job"
touch -h -d '2 minutes ago' lost/.sonde-claim
SLURM_JOB_ID=10 "$SONDE" run --quiet -o lost -- true || fail "the job"
equal "recordings" 1 "$(find lost -name 'node-*.sonde' | wc -l)"
equal "claims left" "" "$(find lost -type l)"
