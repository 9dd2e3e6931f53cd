#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks promtool, prometheus and victoria-metrics from Debian's packages into $BUILD/servers, without installing them: that would make
# services of them.
set -eu
out=${BUILD:-build}/servers
mkdir -p "$out"
cd "$out"
for wanted in prometheus/promtool prometheus/prometheus victoria-metrics/victoria-metrics; do
	package=${wanted%/*} program=${wanted#*/}
	[ ! -x "$program" ] || continue
	if [ ! -e "$package.deb" ]; then
		apt-get download -q "$package" || { [ "$(id -u)" = 0 ] && apt-get update -q && apt-get download -q "$package"; }
		mv "$package"_*.deb "$package.deb"
	fi
	dpkg-deb --fsys-tarfile "$package.deb" | tar -xO "./usr/bin/$program" >unpacked
	chmod 755 unpacked
	mv unpacked "$program"
done
rm -f ./*.deb
