# SPDX-License-Identifier: Apache-2.0
# A name that the linker sees is that of one function or object: of two in an archive one would silently take the other's place. SONDE is built of these.
. "$TOP/tests/lib.sh"
nm --defined-only "$BUILD/libsonde-all.a" 2>/dev/null | awk '$2 ~ /^[TDBR]$/ { print $3 }' | sort | uniq -d >twice
[ -s "$BUILD/libsonde-all.a" ] || fail "libsonde-all.a was not built"
[ ! -s twice ] || fail "defined more than once: $(tr '\n' ' ' <twice)"

# The C library knows the processor; the compiler's own check would ask it at every start.
[ ! -e /usr/include/x86_64-linux-gnu/sys/platform/x86.h ] || ! nm "$BUILD/sonde" | grep -q ' __cpu_indicator_init$' ||
	fail "__builtin_cpu_supports() in the program: as in src/base/crc32c.c, the C library can be asked"

# The library of a release is linked with glibc as its version 2.17 was: what else it calls is in release/lacking.c.
case $(uname -m) in x86_64 | aarch64) ;; *) exit 0 ;; esac
"$PYTHON" "$TOP/release/oldlibc.py" "${CC:-cc}" oldlibc || fail "release/oldlibc.py"
"${CC:-cc}" -D_GNU_SOURCE -std=gnu17 -O2 -fPIC -I"$TOP/src" -include "$TOP/src/base/compat.h" -DSONDE_LACKING -fno-builtin -c -o lacking.o "$TOP/release/lacking.c" || fail "release/lacking.c"
"${CC:-cc}" -shared -Wl,-z,defs,--gc-sections,--exclude-libs,ALL -nodefaultlibs -Loldlibc -o library.so "$BUILD/libsonde.o" lacking.o \
	-l:libzstd.a -lm -lpthread -lc -l:libc_nonshared.a -Wl,--as-needed -lloader -lgcc >linked 2>&1 || fail "not in glibc 2.17 nor in release/lacking.c: $(grep -o 'undefined reference.*' linked | sort -u | head)"
