# SPDX-License-Identifier: Apache-2.0
# Of jobs that begin at once with one -o one is recorded there; the others say so before they run, and each is recorded in a directory of its own: on one machine without a batch
# system, and as elements of a job array, which may begin on several nodes.
. "$TOP/tests/lib.sh"
many=50

begin() { # NAME NUMBER
	"$SONDE" run --quiet -o "out$1" -- sh -c "echo ran >>ran$1; cat said$1.$2 >>before$1; exit $2" 2>"said$1.$2" &
}

one_has_it() { # NAME
	wait
	equal "jobs that ran" $many "$(wc -l <"ran$1")"
	equal "recordings" 1 "$(find "out$1" -name 'node-*.sonde' | wc -l)"
	equal "jobs that said so" $((many - 1)) "$(grep -l "holds the recording of another job; this one is in" said"$1".* | wc -l)"
	equal "those that said so before they ran" $((many - 1)) "$(wc -l <"before$1")"
	equal "directories" $((many - 1)) "$(find . -maxdepth 1 -name "out$1_*" | wc -l)"
	for dir in "out$1" "out$1"_*; do
		figure "$dir" .job.exit_code
	done | sort -n >codes
	seq $many | cmp -s - codes || fail "jobs that were recorded: $(tr '\n' ' ' <codes)"
	for said in said"$1".*; do
		into=$(sed -n 's/.* this one is in //p' "$said")
		[ -z "$into" ] || equal "job in $into" "${said##*.}" "$(figure "$into" .job.exit_code)"
	done
	"$SONDE" show "out$1" >/dev/null || fail "it is not whole"
	equal "claims left" "" "$(find "out$1" -type l)"
}

for i in $(seq $many); do begin 1 "$i"; done
one_has_it 1
for i in $(seq $many); do
	SLURM_JOB_ID=$((100 + i)) SLURM_ARRAY_JOB_ID=100 SLURM_ARRAY_TASK_ID=$i begin array "$i"
done
one_has_it array

# A claim of a job that was lost with its node: while it is fresh it counts, then it is taken away.
mkdir lost
ln -s another lost/.sonde-claim
SLURM_JOB_ID=9 "$SONDE" run --quiet -o lost -- true 2>said || fail "the job"
contains said "lost holds the recording of another job; this one is in $PWD/lost_9"
equal "recordings of the other" 1 "$(find lost_9 -name 'node-*.sonde' | wc -l)"
touch -h -d '2 minutes ago' lost/.sonde-claim
SLURM_JOB_ID=10 "$SONDE" run --quiet -o lost -- true || fail "the job"
equal "recordings" 1 "$(find lost -name 'node-*.sonde' | wc -l)"
equal "claims left" "" "$(find lost -type l)"
