# SPDX-License-Identifier: Apache-2.0
# What experiment trackers take of a job agrees with the summary: totals are the job's and not since boot, samples have the keys of a
# sampler that they know.
. "$TOP/tests/lib.sh"

"$SONDE" run --quiet -i 50ms -o job -- sh -c 'dd if=/dev/zero of=file bs=64k count=300 2>/dev/null; sleep 0.3' || fail "run"
"$SONDE" show --tracker job >figures || fail "show --tracker"
of() { jq -e ".nodes[0].metrics.$1" figures || fail "no figure $1: $(cat figures)"; }

jq -e '.schema == "sonde/tracker/1" and (.nodes | length) == 1 and .nodes[0].step == 0' figures >/dev/null || fail "$(cat figures)"
equal host "$(uname -n)" "$(jq -r '.nodes[0].host' figures)"
wall=$(figure job .job.wall_seconds) cores=$(nproc --all)
holds "node's hours" "$(of node_cpu_hours) > 0.8 * $wall * $cores / 3600 && $(of node_cpu_hours) < 1.5 * ($wall + 1) * $cores / 3600"
holds "unused hours" "$(of node_unused_cpu_hours) >= 0 && $(of node_unused_cpu_hours) <= $(of node_cpu_hours)"
holds "core-hours" "($(of job_core_hours) * 3600 - $(figure job .job.cpu_seconds)) ^ 2 < 1e-6"
holds "peak memory" "($(of job_peak_memory_mb) * 1048576 - $(figure job .job.peak_memory_bytes)) ^ 2 < 1"
holds "shares" "$(of cpu_avg_utilization_over20_pct) >= $(of cpu_avg_utilization_over80_pct)"

"$SONDE" show --tracker=samples job >samples || fail "show --tracker=samples"
jq -e 'keys == ["0"] and (.["0"] | length) > 3' samples >/dev/null || fail "$(head -n 30 samples)"
keys='["cpu_pct_per_cpu_avg","cpu_pct_per_cpu_max","cpu_pct_per_cpu_min","disk_io_read_mb","disk_io_write_mb","disk_usage_percent"'
keys=$keys',"mem_percent","net_io_ext_recv_mb","net_io_ext_sent_mb","net_io_lo_recv_mb","net_io_lo_sent_mb","timestamp"]'
jq -e --argjson keys "$keys" '.["0"] | all(. as $s | $keys | all(. as $k | $s | has($k)))' samples >/dev/null || fail "keys"
jq -e '.["0"] | [.[].timestamp] == ([.[].timestamp] | sort)' samples >/dev/null || fail "times"
# As the readers of such samples sum up: the largest value of a counter is the total.
sum=$(jq '.["0"] | [.[].net_io_lo_sent_mb] | max' samples)
equal "total from samples" "$(of total_net_io_lo_sent_mb)" "$sum"

equal "status of a wrong word" 2 "$(status_of "$SONDE" show --tracker=all job 2>err)"
one_sentence err
contains err figures
