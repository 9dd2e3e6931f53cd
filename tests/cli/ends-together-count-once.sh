# SPDX-License-Identifier: Apache-2.0
# attach without records of births: a process and its parent that end between two samples are counted once, though
# the parent's parent waited for both.
. "$TOP/tests/lib.sh"

# The grandparent begins when it is told to and lives on; what spins and its parent end at once.
mkfifo go
# shellcheck disable=SC2016
sh -c '
	read -r _ <go
	for i in 1 2 3; do
		sh -c "\"$PROGRAMS/spin\" 400000; :"
	done
	exec "$PROGRAMS/tree" 1
' >ready &
root=$!
"$SONDE" attach -p $root --process-events polling -i 150ms --quiet -o out 2>said &
attached=$!
trap 'kill $root $attached 2>/dev/null' EXIT

has_begun() {
	find out -name 'node-*.sonde' -size +0 | grep -q .
}
wait_for 30 has_begun
echo >go
wait_for 60 grep -q ready ready
sleep 0.4
kill $attached
wait $attached || fail "attach: $(cat said)"
seen=$(figure out '[.commands[] | select(.name == "spin") | .cpu_seconds] | add')
holds "they were seen while they ran" "$seen > 0.3"
used=$(awk '{ printf "%.2f", ($14 + $15 + $16 + $17) / 100 }' "/proc/$root/stat")
holds "CPU time of the job, of which the kernel says $used s" \
	"$(figure out .job.cpu_seconds) < $used + 0.15 && $(figure out .job.cpu_seconds) > $used - 0.3"
