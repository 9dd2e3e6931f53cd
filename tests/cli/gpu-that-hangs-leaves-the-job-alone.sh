# SPDX-License-Identifier: Apache-2.0
# NVIDIA's library hangs at its start, on one GPU, or crashes: the job ends as it does, the recording goes on, no helper stays.
. "$TOP/tests/lib.sh"
need jq
export SONDE_NVML=$BUILD/stubs/fake_nvml.so SONDE_NVML_PATIENCE=1 FAKE_NVML_GPUS=2 MARK=$PWD/mark

helpers() { # pids of this test's helpers
	local comm
	while read -r comm; do
		! grep -qzsxF "MARK=$MARK" "${comm%/comm}/environ" || echo "$comm"
	done < <(grep -lsx sonde-nvml /proc/[0-9]*/comm)
}

record() { # DIR
	# shellcheck disable=SC2016 # for the job to expand
	equal "exit code in $1" 5 "$(status_of "$SONDE" run --quiet -i 100ms -o "$1" -- sh -c 'sleep 3; exit 5')"
	holds "samples in $1" "$(figure "$1" .monitor.samples) > 25"
	"$SONDE" export "$1" --to csv >/dev/null 2>&1 || fail "export $1"
	"$SONDE" report "$1" --only html >/dev/null 2>&1 || "$SONDE" report "$1" >/dev/null 2>&1 || fail "report $1"
	equal "helpers that stay after $1" "" "$(helpers)"
}

FAKE_NVML_HANG=Init record init
contains init/report.html "did not answer in 1 s: nvmlInit_v2"
! grep -q ',gpu\.' init/series.csv || fail "GPUs that did not answer have values"

FAKE_NVML_HANG=DeviceGetPowerUsage@1 record call
grep -q ',gpu\.power_watts,gpu0,[^,]*,[^,]*,100,watts' call/series.csv || fail "the other GPU has no values"
grep -q ',gpu\.power_watts,gpu1,[^,]*,[^,]*,failed,' call/states.csv || fail "the GPU that hangs is not said to"

FAKE_NVML_CRASH=DeviceGetHandleByIndex@0 record crash
grep -q ',gpu\.power_watts,gpu1,[^,]*,[^,]*,100.001,watts' crash/series.csv || fail "a crash took the other GPU along"

# A helper that hangs goes with its recorder.
none() { [ -z "$(helpers)" ]; }
FAKE_NVML_HANG=Init SONDE_NVML_PATIENCE=60 "$SONDE" run --quiet -o killed -- sleep 3 2>/dev/null &
sonde=$!
wait_for 10 recorder_of killed >/dev/null
wait_for 10 eval '! none'
kill -9 "$(recorder_of killed)"
wait_for 10 none
wait $sonde || fail "the job failed when its recorder was killed"
