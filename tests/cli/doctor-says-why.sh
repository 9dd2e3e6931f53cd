#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Doctor names each source and metric that is not there, with the reason and what helps; 1 = something failed.
. "$TOP/tests/lib.sh"
need jq

doctor() { # FIXTURE ARGS...
	local machine=$1
	shift
	"$SONDE" doctor --procfs "$TOP/tests/fixtures/$machine/proc" --sysfs "$TOP/tests/fixtures/vm-small/sys" "$@"
}

doctor vm-small >small.txt || fail "doctor failed on a machine where nothing failed"
grep -q 'available .* cpu: ' small.txt || fail "cpu is not available"
! grep -q failed small.txt || fail "something is said to have failed"

doctor linux-2.6.32 --json >old.json || fail "what is unsupported is no failure"
equal schema sonde/doctor/1 "$(jq -r .schema old.json)"
pressure='.sources[] | select(.name == "pressure")'
equal state unsupported "$(jq -r "$pressure | .state" old.json)"
json_says "$pressure | .reason | test(\"does not account for pressure\")" <old.json >/dev/null || fail "no reason"
json_says "$pressure | .fix_admin | test(\"psi=1\")" <old.json >/dev/null || fail "nothing that helps"
equal MemAvailable unsupported \
	"$(jq -r '.metrics[] | select(.name == "node.memory_available_bytes") | .state' old.json)"
equal "each metric once" "$(jq '.metrics | length' old.json)" "$(jq '[.metrics[] | .name + .reason] | unique | length' old.json)"

# Every metric is told of: of a source that is off as the source is, a derived one as what it is computed from.
"$SONDE" metrics --json | jq -r '.metrics[].name' | sort >wanted.txt
jq -r '.metrics[].name' old.json | sort -u >told.txt
diff wanted.txt told.txt || fail "doctor does not tell of every metric"
metric() { # NAME FILTER
	jq -r --arg name "$1" ".metrics[] | select(.name == \$name) | $2" old.json
}
equal "a metric of a source that is off" unsupported "$(metric node.pressure_cpu_some_seconds .state)"
equal "its reason" "$(jq -r "$pressure | .reason" old.json)" "$(metric node.pressure_cpu_some_seconds .reason)"
equal "a derived metric" "unsupported it is computed from node.memory_available_bytes" \
	"$(metric node.memory_used_bytes '.state + " " + .reason')"
equal "what is there" "available null" "$(metric node.load_1min '.state + " " + (.reason | tostring)')"
# What the sampler fills by a mechanism is not there without it.
equal "PSS without smaps_rollup" unsupported "$(metric process.pss_bytes .state)"
equal "its reason" "$(jq -r '.mechanisms[] | select(.name == "process.pss") | .reason' old.json)" "$(metric process.pss_bytes .reason)"
equal "RSS" available "$(metric process.resident_bytes .state)"
# GPUs are none where no driver of one is loaded, and what helps fits the reason.
small() { doctor vm-small --json | jq -r "$1"; }
equal "GPUs without a GPU" unsupported "$(small '[.metrics[] | select(.name | startswith("gpu.")) | .state] | unique | join(" ")')"
equal "what helps where no Lustre is mounted" "null null" "$(small '.sources[] | select(.name == "lustre") | "\(.fix_user) \(.fix_admin)"')"
# What is missing for one reason is one line of names.
equal "reasons, each once" "" "$(sed '1,/^Unavailable metrics/d' small.txt | grep 'why:' | sort | uniq -d)"
doctor vm-small --metrics >all.txt || fail "doctor --metrics"
equal "lines of --metrics" "$(wc -l <wanted.txt)" "$(sed '1,/^Metrics/d' all.txt | grep -c '^  [a-z]')"

doctor broken >broken.txt
equal "exit code when something failed" 1 $?
contains broken.txt 'failed       cpu'
contains broken.txt 'it has no line "cpu"'

"$SONDE" doctor --procfs /nowhere 2>said.txt >out.txt
equal "exit code of a missing directory" 1 $?
one_sentence said.txt
contains said.txt /nowhere
[ ! -s out.txt ] || fail "findings about nothing"
"$SONDE" doctor here 2>said.txt
equal "exit code of an operand" 2 $?
