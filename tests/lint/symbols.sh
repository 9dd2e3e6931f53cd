# SPDX-License-Identifier: Apache-2.0
# A name that the linker sees is that of one function or object: of two in an archive one would silently take the other's place. SONDE is built of these.
. "$TOP/tests/lib.sh"
nm --defined-only "$BUILD/libsonde-all.a" 2>/dev/null | awk '$2 ~ /^[TDBR]$/ { print $3 }' | sort | uniq -d >twice
[ -s "$BUILD/libsonde-all.a" ] || fail "libsonde-all.a was not built"
[ ! -s twice ] || fail "defined more than once: $(tr '\n' ' ' <twice)"
