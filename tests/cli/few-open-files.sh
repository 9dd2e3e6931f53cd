# SPDX-License-Identifier: Apache-2.0
# A job that may have few files open (ulimit -n) is recorded: the sources leave some for the recording itself.
. "$TOP/tests/lib.sh"
for files in 32 40 60; do
	rm -rf out
	sh -c "ulimit -n $files; exec \"\$@\"" sh "$SONDE" run -i 50ms -o out -- sh -c 'sleep 0.3; ulimit -n >limit' >said 2>&1 ||
		fail "with $files files: $(cat said)"
	equal "the job's own limit" $files "$(cat limit)"
	contains said "next: sonde show --all"
	holds "samples with $files files" "$(figure out '.nodes[0].samples') >= 3 && $(figure out .job.exit_code) == 0"
done
