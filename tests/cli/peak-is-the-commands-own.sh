# SPDX-License-Identifier: Apache-2.0
# What the caller waited for before it became sonde is not the command's memory.
. "$TOP/tests/lib.sh"
sh -c "$PROGRAMS/mem private 200 50 >/dev/null; exec '$SONDE' run --quiet -o out -- true" || fail "run"
holds "peak of true, if it is known" "$("$SONDE" show --json out | jq '.job.peak_memory_bytes // 0') < 4 * 1024 * 1024"
# Tables of processes have the peak that no sample saw: of the only process, and, of several, beside them.
mkfifo nothing
"$SONDE" run --quiet -i 10s -o alone -- bash -c "read -rt 11 <>nothing; exec $PROGRAMS/mem private 300 1" &
"$SONDE" run --quiet -i 10s -o several -- sh -c "sleep 11; $PROGRAMS/mem private 300 1; sleep 0.1" || fail "several"
wait $! || fail "alone"
peak=$(figure alone '.processes.by_memory[0].peak_resident_bytes')
holds "of the only one" "$peak >= 300 * 1024 * 1024"
holds "as of the job" "$peak >= $(figure alone .job.peak_memory_bytes)"
"$SONDE" show --all several >shown
holds "of several" "$(figure several .job.peak_memory_bytes) >= 300 * 1024 * 1024"
contains shown "  one process had 30"
"$SONDE" report --only html several >/dev/null || fail "report"
contains several/report.html ">One process had 30"
