# SPDX-License-Identifier: Apache-2.0
# The lines of README.md and docs/compare.md that compare runs do so.
. "$TOP/tests/lib.sh"
"$SONDE" run -q -o old -- true
for name in new old1 old2 old3 new1 new2 new3 baseline change; do
	cp -r old $name
done
for program in a.sh b.sh work; do
	printf '#!/bin/sh\nsleep 0.02\n' >$program
	chmod +x $program
done
grep -h '^    sonde compare' "$TOP/README.md" "$TOP/docs/compare.md" | sed 's/ #.*//' >lines
[ "$(wc -l <lines)" -ge 5 ] || fail "$(cat lines)"
while read -r line; do
	status=0
	bash -c "$line" >told 2>said </dev/null || status=$?
	sed -i '/ rounds take about /d' said # of commands, on the way
	case $status in
	0 | 1 | 3) [ -s told ] && [ ! -s said ] || fail "$line: $(cat said)" ;;
	*) fail "$line: exit code $status: $(cat said)" ;;
	esac
done <lines
