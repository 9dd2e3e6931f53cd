#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks promtool and prometheus from Debian's package into $BUILD/promtool, without installing it: that would start a server.
set -eu
out=${BUILD:-build}/promtool
[ ! -x "$out/prometheus" ] || exit 0
mkdir -p "$out"
cd "$out"
apt-get download -q prometheus
dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x --strip-components=3 ./usr/bin/promtool ./usr/bin/prometheus
rm prometheus_*.deb
