# SPDX-License-Identifier: Apache-2.0
# What perf events say of the whole run is a line of the summary, in JSON and on the page, and nothing where none were counted.
. "$TOP/tests/lib.sh"
need jq
perf_permitted || skip "perf events are not permitted"

# The kernel's own events stand in for those of the CPU, so that no CPU needs to have counters.
cat >stand.events <<'END'
group hardware
event cycles cycles software config=0x1
event instructions instructions software config=0x2
metric instructions_per_cycle = instructions/cycles
group flops
event flops flops software config=0x2
metric flops_per_second = 1000000*flops
END
"$SONDE" run -i 100ms --perf hardware,flops --events stand.events -o out -- \
	"$PYTHON" -c 'import time; time.sleep(0.5); bytearray(64 << 20); time.sleep(0.3)' 2>said || fail "run"
"$SONDE" show --all out >said || fail "show"
contains said "counters    "
contains said " instructions per cycle, "
grep -q '[MGT]FLOP/s of all precisions' said || fail "no operations per second"

# Over the whole run: not the mean of what each interval had, many of which had nothing.
"$SONDE" export out --raw --to csv -o raw 2>/dev/null
last() { # METRIC: what was counted in the end
	awk -F, -v metric="$1" '$2 == metric && $6 > top { top = $6 } END { print top + 0 }' raw/series.csv
}
ipc=$(figure out '.counters.figures[] | select(.metric == "perf.hardware.instructions_per_cycle") | .value')
wanted=$(calc "$(last perf.hardware.instructions) / $(last perf.hardware.cycles)")
holds "instructions per cycle" "$ipc > 0 && ($ipc - $wanted) < $wanted / 1e6 && ($wanted - $ipc) < $wanted / 1e6"
flops=$(figure out '.counters.figures[] | select(.metric == "perf.flops.flops_per_second") | .value')
holds "operations per second" "$flops > 16384 * 1e6 / 60"
equal "all of the time" 1 "$(figure out '.counters.figures[0].counted_ratio')"
equal "tasks" 0 "$(figure out '.counters.tasks_not_counted')"
"$SONDE" report out -o page >/dev/null 2>&1 || fail "report"
grep -rq '<ul class="facts counters">' page || fail "the page has no counters"

"$SONDE" run --perf off -o none -- true 2>said || fail "run --perf off"
"$SONDE" show --all none >said || fail "show"
! grep -q '^counters' said || fail "counters of nothing"
equal "figures of nothing" 0 "$(figure none '.counters.figures | length')"
"$SONDE" report none -o nothing >/dev/null 2>&1 || fail "report of nothing"
! grep -rq 'facts counters' nothing || fail "the page has counters of nothing"

# What was asked for and is not there is said; what nobody asked for is not.
printf 'group absent\nevent a A no_such_device config=0x1\n' >absent.events
"$SONDE" run --perf absent,software --events absent.events -o absent -- true 2>said || fail "run --perf absent"
"$SONDE" show --all absent >said || fail "show"
contains said "counters    unavailable: absent.a: "
contains said no_such_device
figure absent '.counters.refused' | grep -q no_such_device || fail "JSON has no reason"
"$SONDE" run --perf absent --events absent.events -o all_absent -- true 2>said || fail "run --perf absent alone"
"$SONDE" show --all all_absent >said || fail "show"
contains said "counters    unavailable: "
"$SONDE" run -o unasked -- true 2>said || fail "run"
"$SONDE" show --all unasked >said || fail "show"
! grep -q '^counters.*unavailable' said || fail "what nobody asked for is missed"
