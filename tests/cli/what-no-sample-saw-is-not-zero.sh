# SPDX-License-Identifier: Apache-2.0
# Processes of a storm that no sample saw have no name with the connector: their figures are absent, not those of a few of them.
. "$TOP/tests/lib.sh"
need jq
"$SONDE" doctor --json | json_says '.mechanisms[] | select(.name == "process.connector") | .state == "available"' >/dev/null ||
	skip "the proc connector is not permitted"
"$SONDE" run -q --process-events connector -i 500ms -o out -- "$PROGRAMS/spawner" 2000 /bin/true >spun
nameless='.commands[] | select(.name == "?")'
holds "processes without a name" "$("$SONDE" show --json out | jq "$nameless.processes") > 500"
equal "what they did" '[null,null,null,null]' \
	"$("$SONDE" show --json out | jq -c "$nameless | [.cpu_seconds, .peak_resident_bytes, .read_bytes, .written_bytes]")"
"$SONDE" show --all out >shown
grep -Eq '^  \(no sample saw them\) +[0-9]+ +- +- +- +-$' shown || fail "show does not say who was not seen: $(grep -A5 '^Commands' shown)"
