# SPDX-License-Identifier: Apache-2.0
# limit: 1800
# clang-tidy finds nothing to say about src.
. "$TOP/tests/lib.sh"
need clang-tidy
libraries=$(pkg-config --cflags hdf5 sqlite3 libdeflate libcurl pangocairo cairo-pdf cairo-svg yaml-0.1) # of what helpers are made with
export libraries
cd "$TOP" || exit 1
find src -name '*.c' -not -path '*/node_modules/*' -print0 |
	xargs -0 -r -n 4 -P 2 sh -c 'clang-tidy --quiet "$@" -- -std=gnu17 -D_GNU_SOURCE -Isrc -Iinclude $libraries \
		-DSONDE_VERSION=\"0\" -DSONDE_LIBEXEC=\"/usr/libexec/sonde\" 2>/dev/null' sh >"$OLDPWD/found"
status=$?
grep 'error:' "$OLDPWD/found"
exit $status
