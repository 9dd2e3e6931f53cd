# SPDX-License-Identifier: Apache-2.0
# Processes that the kernel kills when the first one of their pid namespace ends, as in containers, are waited for by
# nobody: without exit records, what samples saw of them is a lower bound that says so. Where that first one waits for
# its children, the total is whole.
. "$TOP/tests/lib.sh"
need jq
unshare -rpf true 2>/dev/null || skip "no pid namespace may be made here"

for births in connector polling; do
	rm -rf killed waited
	"$SONDE" run --quiet --process-events $births -o killed -- unshare -rpf sh -c '(while :; do :; done) & sleep 1' || fail "run killed"
	equal "killed, by $births: CPU is a lower bound" true "$(figure killed '.job.cpu_is_lower_bound | tostring')"
	equal "killed, by $births: so is I/O" true "$(figure killed '.job.io_is_lower_bound | tostring')"
	equal "killed, by $births: no share is known by process" null "$(figure killed '.job.attributed_ratio | tostring')"

	"$SONDE" run --quiet --process-events $births -o waited -- unshare -rpf sh -c '"$0" 300000; true' "$PROGRAMS/spin" || fail "run waited"
	equal "waited for, by $births: CPU is whole" false "$(figure waited '.job.cpu_is_lower_bound | tostring')"
done
