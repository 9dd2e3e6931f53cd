#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording tells of the machine what other programs tell of it, and of the job's environment no secret.
. "$TOP/tests/lib.sh"
need jq

said() { # DIR KEY
	"$SONDE" show --json "$1" | json_says -r --arg key "$2" '.nodes[0].metadata[$key]' || fail "$1 does not tell $2"
}

hostile=$(printf '\033[2J<script>x()</script>')
mkdir "place <b>" && cd "place <b>" || exit 1
(ulimit -S -n 100 && ulimit -c 0 &&
	DB_PASSWORD=hush-1 SITE=https://me:hush-2@site.org/x MARK=$hostile "$SONDE" run -q -o ../out -- sh -c 'true --token=hush-3' hush) || fail run
cd .. || exit 1
equal kernel "$(uname -r)" "$(said out host.kernel_release)"
equal architecture "$(uname -m)" "$(said out host.architecture)"
equal CPUs "$(getconf _NPROCESSORS_ONLN)" "$(said out host.cpus_count)"
if command -v lscpu >/dev/null; then
	lscpu --json >lscpu.json
	field() { jq -r --arg name "$1:" '[.. | objects | select(.field == $name) | .data][0] // empty' lscpu.json; }
	equal model "$(field 'Model name')" "$(said out host.cpu_model)"
	equal sockets "$(field 'Socket(s)')" "$(said out host.sockets_count)"
	equal "NUMA nodes" "$(field 'NUMA node(s)')" "$(said out host.numa_nodes_count)"
	equal threads "$(field 'Thread(s) per core')" "$(said out host.threads_per_core)"
fi
equal directory "$PWD/place <b>" "$(said out job.working_directory)"
equal "open files" 100 "$(said out job.limit.open_files_count)"
equal "core files" 0 "$(said out job.limit.core_bytes)"
equal password '***' "$(said out job.environment.DB_PASSWORD)"
equal URL 'https://***@site.org/x' "$(said out job.environment.SITE)"
equal "a value is as it was" "$hostile" "$(said out job.environment.MARK)"
cat out/*.sonde >all
"$SONDE" show --json out >>all
! grep -aq 'hush-' all || fail "a secret is in the recording"

# Escaped for where it goes.
"$SONDE" report out 2>/dev/null || fail report
! grep -qF '<script>x()' out/report.html || fail "markup of the environment is in the page"
! "$SONDE" show --json out | grep -q $'\033' || fail "a control character is in the JSON"
contains out/report.html "Linux $(uname -r)"
"$SONDE" show --all out | grep -q '^machine  .*' || fail "show does not tell the machine"

"$SONDE" run -q --no-env -o bare -- true || fail "run --no-env"
equal "variables with --no-env" 0 "$("$SONDE" show --json bare | jq '[.nodes[0].metadata | keys[] | select(startswith("job.environment"))] | length')"
said bare job.working_directory >/dev/null

# Another machine's files say nothing of what is here.
"$SONDE" run -q -o other --procfs "$TOP/tests/fixtures/vm-small/proc" --sysfs "$TOP/tests/fixtures/vm-small/sys" -- true || fail "run --procfs"
equal "distribution of a fixture" null "$("$SONDE" show --json other | jq '.nodes[0].metadata["host.distribution"]')"

# What was off, and what helps, is in the recording.
"$SONDE" run -q -o old --procfs "$TOP/tests/fixtures/linux-2.6.32/proc" --sysfs "$TOP/tests/fixtures/vm-small/sys" -- true || fail "run --procfs"
finding='.findings[] | select(.kind == "source" and .name == "pressure")'
equal state unsupported "$("$SONDE" show --json old | jq -r "$finding | .state")"
"$SONDE" show --json old | json_says "$finding | .fix_admin | test(\"psi=1\")" >/dev/null || fail "the recording has nothing that helps"
"$SONDE" report old 2>/dev/null && contains old/report.html "An administrator can"
