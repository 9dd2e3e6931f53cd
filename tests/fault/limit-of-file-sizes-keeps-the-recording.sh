# SPDX-License-Identifier: Apache-2.0
# Under a limit of the size of files that the job was given (ulimit -f) a recording is kept, with the job's end and its
# totals, however small the limit; where nothing can be recorded that is said, and the job runs all the same.
. "$TOP/tests/lib.sh"
(
	ulimit -f 100
	"$SONDE" run --quiet -o short -- sh -c 'exit 3'
) 2>said
equal "exit status" 3 $?
equal "what was said" "" "$(cat said)"
equal "exit code recorded" 3 "$(figure short .job.exit_code)"

(
	ulimit -f 100
	"$SONDE" run -i 5ms -o full -- sh -c 'for i in $(seq 3000); do /bin/true; done; exit 4'
) 2>said
equal "exit status of a job that fills it" 4 $?
contains said "ulimit -f limits its size"
contains said "Failed: exit code 4"
"$SONDE" show --all full >shown || fail "show"
contains shown "samples could not be written"
equal "exit code recorded at the limit" 4 "$(figure full .job.exit_code)"
# Where the recorder waits long for a core, records of starts are lost, which is said.
equal "all processes counted, unless some are said to be lost" 3002 \
	"$(figure full 'if .job.mechanisms | contains("some of which were lost") then [.job.processes_started_at_most, 3002] | min else .job.processes_started end')"
equal "damage" 0 "$(figure full .damages)"
[ "$(stat -c %s full/*.sonde)" -le 102400 ] || fail "the recording is larger than the limit"

(
	ulimit -f 8
	"$SONDE" run --quiet -o none -- sh -c 'exit 5'
) 2>said
equal "exit status without room" 5 $?
contains said "too few for a recording"
