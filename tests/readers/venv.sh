#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the virtual environments with the readers of requirements*.txt, when they are not there or these have changed:
# $BUILD/venv, and $BUILD/venv-NAME of requirements-NAME.txt.
set -eu
cd "$(dirname "$0")/../.."
status=0
for wanted in tests/interop/requirements*.txt; do
	name=$(basename "$wanted" .txt)
	venv=${BUILD:-build}/venv${name#requirements}
	! cmp -s "$wanted" "$venv/requirements.txt" || continue
	rm -rf "$venv"
	if /usr/bin/python3 -m venv "$venv" &&
		"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"; then
		cp "$wanted" "$venv/requirements.txt"
	else
		status=1
	fi
done
exit $status
