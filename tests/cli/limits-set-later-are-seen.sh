# SPDX-License-Identifier: Apache-2.0
# A limit that a program sets itself while it runs is the one that the verdict names.
. "$TOP/tests/lib.sh"
need python3
need jq
cat >limits.py <<'P'
import resource, time
time.sleep(1)
resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
kept = []
while len(kept) < 40:
    kept.append(open("/dev/null"))
until = time.monotonic() + 5
while time.monotonic() < until:
    pass
while True:
    kept.append(open("/dev/null"))
P
"$SONDE" run --quiet --no-error-text -i 100ms -o out -- python3 limits.py 2>said && fail "it did not fail"
contains said "Too many open files"
"$SONDE" show --json out | jq -r '.verdicts[0] | .rule + ": " + .sentence' >first
contains first "limit-open-files: Likely too many open files: "
contains first " of 50 open (ulimit -n) when the job failed."
