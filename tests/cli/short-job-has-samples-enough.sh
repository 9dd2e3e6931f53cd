# SPDX-License-Identifier: Apache-2.0
# Without -i the first seconds are sampled more often; an interval that is given is kept from the first sample on.
. "$TOP/tests/lib.sh"

"$SONDE" run -q --max-overhead off -o quick -- sleep 2.5 || fail "run"
"$SONDE" run -q --max-overhead off -i 1s -o asked -- sleep 2.5 || fail "run -i 1s"
holds "samples" "$(figure quick '.nodes[0].samples') >= 12"
holds "samples of -i 1s" "$(figure asked '.nodes[0].samples') <= 6"
equal "the interval that it slows down to" 1 "$(figure quick .monitor.interval_seconds)"
"$SONDE" export -o - --wide --metrics monitor.interval_seconds quick >intervals.csv
tr -d '\r' <intervals.csv | sed 1d | awk -F, '{ print $NF }' | sort -n | uniq >intervals
grep -qx 0.05 intervals || fail "it does not begin at 50 ms: $(cat intervals.csv)"

# So that what a short job did is known, and a job that is over at once gets no lecture.
equal "what is not known of it" 0 "$(figure quick '.where_time_went.parts[] | select(.part == "unknown").seconds')"
"$SONDE" run -o over -- true 2>said || fail "run -- true"
! grep -q "^unsure" said || fail "$(cat said)"
