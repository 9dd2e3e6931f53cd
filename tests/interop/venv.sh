#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes $BUILD/venv, the virtual environment with the readers of requirements.txt, when it is not there or these have changed.
set -eu
wanted=$(dirname "$0")/requirements.txt
venv=${BUILD:-build}/venv
! cmp -s "$wanted" "$venv/requirements.txt" || exit 0
rm -rf "$venv"
/usr/bin/python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"
cp "$wanted" "$venv/requirements.txt"
