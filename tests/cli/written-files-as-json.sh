# SPDX-License-Identifier: Apache-2.0
# What export and report wrote can be read by a program: --json names each file.
. "$TOP/tests/lib.sh"

"$SONDE" run -q -o job -- true
for verb in export report; do
	"$SONDE" "$verb" --json job >said.json 2>said.err
	jq -r '.schema + " " + .recording' said.json >first
	[ "$(cat first)" = "sonde/$verb/1 job" ] || fail "$verb says $(cat first)"
	[ "$(jq '.damages' said.json)" = 0 ] || fail "$verb reports damage"
	jq -r '.files[]' said.json >files
	[ -s files ] || fail "$verb names no file"
	while read -r file; do
		[ -s "$file" ] || fail "$verb names $file, which is not there"
	done <files
done
[ "$(jq '[.files[] | select(test("/plots/"))] | length' said.json)" = "$(find job/plots -type f | wc -l)" ] || fail "not every plot is named"
equal "files of the page alone" job/report.html "$("$SONDE" report --only html --json job | jq -r '.files[]')"
status=0
"$SONDE" export -o - --json job 2>err >error.json || status=$?
equal "status of --json with -o -" 2 $status
one_sentence err
