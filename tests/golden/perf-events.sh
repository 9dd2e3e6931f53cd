#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The codes of events/*.events, in perf-events.txt, and its CPUs, in docs/events.md; --refresh writes both anew.
set -eu
LC_ALL=C
export LC_ALL
top=${TOP:-.}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

awk '
	function number(name, i) {
		for (i = 5; i <= NF; i++)
			if (index($i, name "=") == 1)
				return substr($i, length(name) + 2)
		return "0x0"
	}
	BEGIN { type["hardware"] = 0; type["software"] = 1; type["cpu"] = 4 }
	$1 == "arch" { arch = $2 }
	$1 == "group" { group = $2 }
	$1 == "event" {
		print arch, group, $2, $4 in type ? type[$4] : $4, number("config"), number("config1")
		for (i = 5; i <= NF; i++)
			if ($i ~ /^(cpu|apple|armv8)_[a-z0-9_]*=/)
				print arch, group, $2 "@" substr($i, 1, index($i, "=") - 1), type[$4], substr($i, index($i, "=") + 1), "0x0"
	}
' "$top"/events/*.events >"$made/perf-events.txt"

awk '
	function row() {
		if (arch != "" && arch != "any")
			print "| `" arch "` | " what " | " groups " | " codes " |"
	}
	FNR == 1 { row(); arch = groups = codes = "" }
	/^# Codes: / { codes = substr($0, 10); sub(/\.$/, "", codes) }
	$1 == "arch" { arch = $2; what = substr($0, length($1 $2) + 3) }
	$1 == "group" { groups = groups (groups == "" ? "" : ", ") $2 }
	END { row() }
' "$top"/events/*.events >"$made/rows"

awk -v rows="$made/rows" '
	/^\| `[a-z0-9_]+` \|/ && inside { next }
	{ print }
	/^\| file \| CPU \|/ { inside = 1 }
	inside && /^\|---/ { while ((getline line < rows) > 0) print line }
	!/^\|/ { inside = 0 }
' "$top/docs/events.md" >"$made/events.md"

if [ "${1:-}" = --refresh ]; then
	cp "$made/perf-events.txt" tests/golden/perf-events.txt
	cp "$made/events.md" docs/events.md
	exit
fi
for pair in "perf-events.txt tests/golden/perf-events.txt" "events.md docs/events.md"; do
	diff -u "$top/${pair#* }" "$made/${pair% *}" || {
		echo "${pair#* } is not what events/*.events give; ./dev golden writes it"
		exit 1
	}
done
