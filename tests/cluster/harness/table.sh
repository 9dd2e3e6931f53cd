# SPDX-License-Identifier: Apache-2.0
# Writes the table of docs/batch.md in which sacct and Sonde tell of the same jobs; takes minutes. Not a test: `make accounts`.
export ACCOUNTS=1 PROCTRACK=cgroup TASKS=cgroup MEMORY=1500
. "$TOP/tests/cluster/harness/slurm.sh"
need_accounts
need_cgroups freezer memory
cluster_start
sed -i 's/^SlurmdTimeout=.*/SlurmdTimeout=10/' "$SLURM_CONF"
scontrol reconfigure
. "$TOP/tests/cluster/harness/rows.sh"
for row in plain array het overlap failure memory cancelled signal requeue time node; do
	case $row in
	array) row_array 50 6 ;;
	memory) COMPARED=cpu row_memory ;; # sacct looks once a second, and memory grows until the kernel kills: its own peak is beside
	node) COMPARED=${COMPARED:-} row_node ;; # nobody tells sacct what was used where the node was lost
	*) row_$row ;;
	esac
	tail -n 1 rows >&2
done
"$PYTHON" - "$TOP/docs/batch.md" rows <<'END'
import sys
begin, end = "<!-- made by: make accounts -->\n", "<!-- end of what make accounts made -->\n"
with open(sys.argv[1], encoding="utf-8") as f:
    text = f.read()
with open(sys.argv[2], encoding="utf-8") as f:
    rows = f.read()
head, rest = text.split(begin)
tail = rest.split(end)[1]
table = "| job | sacct: state, exit code | Sonde | CPU time: sacct, Sonde | largest task: sacct, Sonde | the job's own shells, kernel |\n|---|---|---|---|---|---|\n"
with open(sys.argv[1], "w", encoding="utf-8") as f:
    f.write(head + begin + table + rows + end + tail)
END
[ $wrong = 0 ] || fail "some figures differ by more than 2 %"
