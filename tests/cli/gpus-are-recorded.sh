# SPDX-License-Identifier: Apache-2.0
# What NVIDIA's library tells of each GPU is in the recording, beside what the helper costs; doctor says that it is there.
. "$TOP/tests/lib.sh"
need jq
export SONDE_NVML=$BUILD/stubs/fake_nvml.so

"$SONDE" run --quiet -i 200ms -o out -- sleep 2.5 || fail "the job failed"
equal "processes of the job" 1 "$(figure out .job.processes_started)"
"$SONDE" export out --to csv >/dev/null 2>&1 || fail "export"
for i in 0 1 2 3 4 5 6 7; do
	grep -q "^[^,]*,gpu\.utilization_ratio,gpu$i,[^,]*,[^,]*,0\.$((i + 1)),ratio" out/series.csv ||
		fail "gpu$i is not $((i + 1))0 % in use"
done
grep -q ',gpu\.energy_watts,gpu0,' out/series.csv || fail "energy has no rate"
grep -q ',monitor\.nvml_resident_bytes,,[^,]*,[^,]*,[1-9]' out/series.csv || fail "the helper's memory is not told"
grep -q ',gpu\.nvlink_recoveries,gpu0,[^,]*,[^,]*,unsupported,' out/states.csv || fail "what is not told is not said to be"

"$SONDE" doctor --json >doctor.json
nvidia='.sources[] | select(.name == "nvidia")'
equal "doctor's word" available "$(jq -r "$nvidia | .state" doctor.json)"

# Each way in which it is not there has its word and its reason.
said() { # STATE REASON
	"$SONDE" doctor --json >doctor.json
	equal "state: $2" "$1" "$(jq -r "$nvidia | .state" doctor.json)"
	json_says "$nvidia | .reason | test(\"$2\")" <doctor.json >/dev/null || fail "no '$2' in $(jq "$nvidia" doctor.json)"
}
FAKE_NVML_FAIL=Init=9 said unsupported "driver is not loaded"
FAKE_NVML_FAIL=Init=18 said failed "different versions"
FAKE_NVML_FAIL=Init=4 said forbidden "not permit"
SONDE_NVML=/nowhere/lib.so said unsupported "cannot be loaded"
SONDE_LIBEXEC=/nowhere said unsupported "sonde-nvml is not installed"
SONDE_NVML_PATIENCE=1 FAKE_NVML_HANG=Init said failed "does not answer: nvmlInit_v2"
