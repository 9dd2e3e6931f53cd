#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the virtual environments with the readers of requirements*.txt, when they are not there or these have changed:
# $BUILD/venv, and $BUILD/venv-NAME of requirements-NAME.txt. One pip, in $BUILD/pip, fills them all, and compiles nothing: few of these modules
# are ever imported, and what a test imports Python compiles then and keeps, though tests say that nothing is to be kept.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
status=0
for wanted in tests/interop/requirements*.txt; do
	name=$(basename "$wanted" .txt)
	venv=$build/venv${name#requirements}
	! cmp -s "$wanted" "$venv/requirements.txt" || continue
	rm -rf "$venv"
	if { [ -x "$build/pip/bin/pip" ] || /usr/bin/python3 -m venv "$build/pip"; } &&
		/usr/bin/python3 -m venv --without-pip "$venv" &&
		"$build/pip/bin/pip" --python "$venv/bin/python" install --quiet --disable-pip-version-check --no-compile -r "$wanted"; then
		echo 'import sys; sys.dont_write_bytecode = False' >"$(echo "$venv"/lib/python*/site-packages)/keep_compiled.pth"
		cp "$wanted" "$venv/requirements.txt"
	else
		status=1
	fi
done
exit $status
