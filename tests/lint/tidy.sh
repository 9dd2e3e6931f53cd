# SPDX-License-Identifier: Apache-2.0
# limit: 1200
# clang-tidy finds nothing to say about src. Its analyzer takes nine tenths of the time, most of it in few functions: it follows up to
# 50,000 states of a function here, and its own 225,000 with LONG.
. "$TOP/tests/lib.sh"
need clang-tidy
libraries=$(pkg-config --cflags hdf5 sqlite3 libdeflate libcurl pangocairo cairo-pdf cairo-svg yaml-0.1) # of what helpers are made with
states=50000
[ -z "$LONG" ] || states=225000
# shellcheck disable=SC2086 # a word each
exec "$PYTHON" "$TOP/tests/tidy.py" -std=gnu17 -D_GNU_SOURCE -Isrc -Iinclude $libraries \
	'-DSONDE_VERSION="0"' '-DSONDE_LIBEXEC="/usr/libexec/sonde"' -Xclang -analyzer-config -Xclang max-nodes=$states
