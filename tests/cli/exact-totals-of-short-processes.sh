# SPDX-License-Identifier: Apache-2.0
# limit: 180
# quiet
# 2,000 processes of 5 ms, sampled once a second: no CPU time is lost, none is counted twice, all of it has a name.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 1s -o out -- "$PROGRAMS/spawner" 2000 "$PROGRAMS/spin" 5000 >spun || fail "run"
read -r _ children _ self <spun
kernel=$(calc "$children + $self")
total=$(figure out .job.cpu_seconds)
echo "kernel: $kernel s, recorded: $total s, attributed: $(figure out .job.attributed_ratio)"
holds "they spun what they should" "$children >= 2000 * 0.005"
holds "total within 1 %" "$total / $kernel > 0.99 && $total / $kernel < 1.01"
perf_permitted || skip "perf events are not permitted: the total is within 1 %, the names were not checked"
holds "attributed to named processes" "$(figure out .job.attributed_ratio) >= 0.95"
