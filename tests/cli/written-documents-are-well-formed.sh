# SPDX-License-Identifier: Apache-2.0
# Man pages please mandoc, completions please their shells, and bash's offers what the tables hold.
. "$TOP/tests/lib.sh"

mkdir man completions
"$SONDE" docs man man || fail "docs man"
"$SONDE" docs completions completions || fail "docs completions"

for verb in $("$SONDE" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	[ -s "man/sonde-$verb.1" ] || fail "no man page of $verb"
	contains man/sonde.1 "sonde\\-$verb"
done
[ ! -e man/sonde-docs.1 ] || fail "a hidden command has a page"
if command -v mandoc >/dev/null; then
	mandoc -Tlint -W error man/*.1 || fail "mandoc finds errors"
	mandoc -Tutf8 man/sonde-run.1 | col -b | grep -qE '^ +-i, --interval TIME$' || fail "the page of run has no -i"
fi

bash -n completions/sonde.bash || fail "bash cannot read its completions"
! command -v zsh >/dev/null || zsh -n completions/_sonde || fail "zsh cannot read its completions"
! command -v fish >/dev/null || fish -n completions/sonde.fish || fail "fish cannot read its completions"
! command -v shellcheck >/dev/null || shellcheck -s bash completions/sonde.bash || fail "shellcheck"

# shellcheck source=/dev/null
. completions/sonde.bash
offers() { # WORD...: what is offered for the last word, one a line
	COMP_WORDS=(sonde "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_sonde
	printf '%s\n' "${COMPREPLY[@]}"
}

mkdir 'a folder' plain
touch file
equal "commands that begin with me" metrics "$(offers me)"
offers '' | grep -qx run || fail "run is not offered"
! offers '' | grep -qx docs || fail "a hidden command is offered"
equal "options" --interval "$(offers run --int)"
equal "nothing for a duration" "" "$(offers run -i '')"
equal "folders for -o, spaces and all" "a folder" "$(offers run -o a)"
! offers run -o '' | grep -qx file || fail "a file is offered where a folder is wanted"
offers run --summary '' | grep -qx file || fail "no file is offered where one is wanted"
offers run -q bas | grep -qx bash || fail "no command is offered to run"
offers show '' | grep -qx plain || fail "no folder is offered to show"
equal "a format" "parquet" "$(offers export --to par)"
equal "a table" "processes" "$(offers export --table pro)"
equal "a choice" "report" "$(offers push --artifacts r)"
offers push --to '' | grep -qx remote-write || fail "a service is not offered"
equal "what can be imported" lightgbm-perf "$(offers import li)"
equal "not what can be imported, but a file" file "$(offers import perfmon fil)"
for shell in sonde.bash _sonde sonde.fish; do
	contains completions/$shell "csv json openmetrics parquet feather orc pickle sqlite hdf5 perfmon scanner"
	contains completions/$shell "perfmon lightgbm-perf benchmon scanner cascade chrome-trace nsys otlp darshan pprof perf-script amun"
done
offers help sh | grep -qx show || fail "help offers no commands"
