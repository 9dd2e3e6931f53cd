# SPDX-License-Identifier: Apache-2.0
# limit: 240
# quiet
# Six processes that have 600 MiB together, in a shared mapping or since they were forked, and 20 MiB each, are 720 MiB
# and not 3.6 GiB, though a walk of their page tables is too long to be made often: an estimate that says so.
. "$TOP/tests/lib.sh"
need jq
[ "$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)" -gt 2000 ] || skip "less than 2000 MiB of memory are free"

for how in map fork; do
	rm -rf out
	"$SONDE" run --quiet --pss budget -o out -- "$PROGRAMS/share" $how 6 600 20 8000 || fail "run"
	peak=$(figure out .job.peak_memory_bytes) kind=$(figure out .job.peak_memory_kind)
	error=$(figure out '.job.peak_memory_error_bytes // 0')
	echo "$how: $((peak >> 20)) MiB by $kind, +- ${error%.*} B; at most $(figure out '.job.peak_memory_at_most_bytes | tostring')"
	if [ "$kind" = cgroup ]; then
		holds "$how: the group's own peak" "$peak >= 720 * 1048576 && $peak < 1440 * 1048576"
		continue
	fi
	holds "$how: memory" "$peak > 0.9 * 720 * 1048576 && $peak < 1.1 * 720 * 1048576"
	[ "$kind" = pages ] || continue
	holds "$how: its error" "$error > 0 && $error < 100 * 1048576"
	"$SONDE" show --all out | tr -s ' \n' ' ' >all.txt
	contains all.txt "estimated from some pages), +- "
done

# Of some hundred MiB, and in a job of seconds, too: an estimate, or an interval, or a lower bound, and never a sum of
# resident sets that is called the peak. Pages that workers have copied meanwhile are in it.
holds_true() { # NAME MIB: what out says is true of a job that had so much
	local job=.job.peak_memory
	echo "$1: $(figure out ".job | [.peak_memory_kind, .peak_memory_bytes / 1048576, .peak_memory_error_bytes, .peak_memory_at_most_bytes, .peak_memory_is_lower_bound] | tostring")"
	[ "$(figure out ${job}_kind)" != cgroup ] || return 0
	if [ "$(figure out "${job}_is_lower_bound | tostring")" = true ]; then
		holds "$1: a lower bound" "$(figure out ${job}_bytes) < 1.1 * $2 * 1048576"
	elif [ "$(figure out "${job}_at_most_bytes | tostring")" != null ]; then
		holds "$1: an upper bound" "$(figure out ${job}_at_most_bytes) > 0.95 * $2 * 1048576"
		holds "$1: what is above it says so" "$(figure out ${job}_bytes) < 1.1 * $2 * 1048576 || $(figure out ${job}_bytes) == $(figure out ${job}_at_most_bytes)"
	else
		holds "$1: memory" "$(figure out ${job}_bytes) > 0.9 * $2 * 1048576 && $(figure out ${job}_bytes) < 1.1 * $2 * 1048576"
	fi
}

ends() { # NAME HOW COUNT MIB OWN TRUTH
	rm -rf out
	"$SONDE" run --quiet -o out -- "$PROGRAMS/share" "$2" "$3" "$4" "$5" 2500 || fail "run $1"
	holds_true "$1" "$6"
}
ends "a mapping of 100 MiB" map 6 100 30 280
ends "a mapping of 250 MiB" map 10 250 1 260
ends "forked, 200 MiB" fork 5 200 1 205
ends "half of it copied" copy 5 200 1 605
for turn in 1 2 3; do # what children give back goes over to the others
	ends "huge pages, half of them new, $turn" huge 5 400 1 1205
done
# They are one memory, whatever resident sets and page tables say.
ends "the same memory" vm 5 100 10 150
[ "$(figure out .job.peak_memory_kind)" = cgroup ] || holds "the same memory counts once" "$(figure out .job.peak_memory_bytes) < 1.1 * 150 * 1048576"

# However slowly a child takes part in 64 MiB, they are not counted twice.
cat >slowly.py <<'END'
import mmap, os, time
SIZE = 64 << 20
memory = mmap.mmap(-1, SIZE)
for i in range(0, SIZE, 4096):
    memory[i] = 1
if os.fork() == 0:
    for i in range(0, SIZE, 4096):
        memory[i] = 2
        if i % (1 << 20) == 0:
            time.sleep(0.06)
    time.sleep(1.5)
    os._exit(0)
os.wait()
END
rm -rf out
"$SONDE" run --quiet --process-events polling -o out -- "$PYTHON" slowly.py || fail "a child that is slow"
[ "$(figure out .job.peak_memory_kind)" != pss ] || holds "a child that is slow" "$(figure out .job.peak_memory_bytes) > 66 * 1048576 && $(figure out .job.peak_memory_bytes) < 97 * 1048576"
