# SPDX-License-Identifier: Apache-2.0
# Of jobs that begin at once with one -o one is recorded there; the others say so, run, and are not mixed in.
. "$TOP/tests/lib.sh"
many=10
for round in 1 2 3; do
	for i in $(seq $many); do
		"$SONDE" run --quiet -o "out$round" -- sh -c "echo ran >>ran$round" 2>"said$round.$i" &
	done
	wait
	equal "jobs that ran" $many "$(wc -l <"ran$round")"
	equal "recordings" 1 "$(find "out$round" -name 'node-*.sonde' | wc -l)"
	equal "jobs that said so" $((many - 1)) "$(grep -l "holds the recording of another job" said"$round".* | wc -l)"
	"$SONDE" show "out$round" >/dev/null || fail "it is not whole"
done
