# SPDX-License-Identifier: Apache-2.0
# A job that begins with little stack (ulimit -s, in kB) is recorded as any other, and so is one that is attached to.
. "$TOP/tests/lib.sh"
small() { # CMD...
	sh -c 'ulimit -s 72; exec "$@"' sh "$@"
}

small "$SONDE" run -i 100ms -o out -- sh -c 'for i in 1 2 3; do sleep 0.1; done; ulimit -s >stack' >said 2>&1 ||
	fail "run: $(cat said)"
equal "the job's own stack" 72 "$(cat stack)"
contains said "next: sonde show --all"
holds "it was recorded" "$(figure out '.nodes[0].samples') >= 3 && $(figure out .job.exit_code) == 0"
equal "the job's limit" 73728 "$(figure out '.nodes[0].metadata["job.limit.stack_bytes"]')"

# Less than Sonde itself needs, if the job can do with it: both limits are lowered, so none can be raised. Its environment lies on that stack, too.
for kib in 16 32; do
	env -i PATH=/usr/bin:/bin sh -c "ulimit -s $kib; exec sh -c 'ulimit -s >plain'" 2>/dev/null || continue
	rm -rf least stack
	env -i PATH=/usr/bin:/bin XDG_DATA_HOME="$XDG_DATA_HOME" sh -c "ulimit -s $kib; exec \"\$@\"" sh "$SONDE" run -i 50ms -o least -- \
		sh -c 'sleep 0.3; ulimit -s >stack; exit 3' >said 2>&1
	equal "the end of a job with $kib kB" 3 $?
	equal "its stack" "$(cat plain)" "$(cat stack)"
	contains said "exit code 3"
	holds "samples with $kib kB" "$(figure least '.nodes[0].samples') >= 3"
done

# Births that nobody tells of are looked for in a list.
small "$SONDE" run --quiet --process-events polling -i 100ms -o polled -- sh -c 'for i in 1 2 3; do sleep 0.1; done' ||
	fail "run --process-events polling"
holds "it was polled" "$(figure polled '.nodes[0].samples') >= 3 && $(figure polled .job.exit_code) == 0"

"$PROGRAMS/tree" 3 >ready &
tree=$!
trap 'kill $tree 2>/dev/null' EXIT
wait_for 30 grep -q ready ready
small "$SONDE" attach -p $tree --process-events polling -i 100ms --duration 500ms --quiet -o attached || fail "attach"
equal "processes attached to" 3 "$(figure attached '[.commands[].processes] | add')"
small "$SONDE" attach --job -i 100ms --duration 500ms --quiet -o job 2>/dev/null || fail "attach --job"
small "$SONDE" show --all out >shown || fail "show"
small "$SONDE" doctor >diagnosis || fail "doctor"

# The helper that names functions has no more, and lives, also where it reads Python, which needs 100 kB itself.
if grep -q 'available *stacks:' diagnosis; then
	small "$SONDE" run --quiet --stacks --waits --memory -o code -- "$PROGRAMS/spin" 1500000 || fail "run --stacks"
	sh -c 'ulimit -s 100; exec "$@"' sh "$SONDE" run --quiet --stacks --waits -o python -- "$PYTHON" -c "
import time
while time.process_time() < 1.5: pass" || fail "run --stacks of Python"
	for dir in code python; do
		equal "helpers that crashed" null "$(figure $dir '.nodes[0].metadata."stacks.helper_restarts"')"
	done
	"$SONDE" show --code code >shown || fail "show --code"
	contains shown spin.c:
	"$SONDE" show --code python >shown || fail "show --code"
	contains shown "<module>"
fi
