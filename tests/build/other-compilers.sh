#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# limit: 1800
# Sonde's own warnings are errors only where WERROR=1 asks for it. What nothing can be built without is named in one sentence before anything is
# compiled. With --long, each other compiler that is installed finds nothing to warn of, musl's and the one for aarch64 among them.
. "$TOP/tests/lib.sh"
make -n -B -C "$TOP" BUILD="$PWD/build" all >plain 2>/dev/null
make -n -B -C "$TOP" BUILD="$PWD/build" WERROR=1 all >strict 2>/dev/null
! grep -q -- -Werror plain || fail "a user's warning is an error"
grep -q -- -Werror strict || fail "WERROR=1 changes nothing"

missing() { # SENTENCE MAKE-ARGUMENTS...
	local sentence=$1 status=0
	shift
	make -s -C "$TOP" BUILD="$PWD/build" "$@" >said 2>&1 || status=$?
	equal "make $*" 2 "$status"
	equal "lines of make $*" 1 "$(grep -vc 'Entering\|Leaving' said)"
	contains said "$sentence"
	[ ! -e build ] || fail "make $* has built something"
}
missing "no-such-compiler is missing (Debian:" CC=no-such-compiler
mkdir without
echo '#error "no such header"' >without/zstd.h
CPPFLAGS="-I$PWD/without" missing "libzstd is missing (Debian:"

[ -n "$LONG" ] || exit 0
mkdir headers
for name in zstd.h zstd_errors.h linux asm-generic; do ln -s "/usr/include/$name" headers/; done
mkdir headers-musl && cp -P headers/* headers-musl/ && ln -s "/usr/include/$(gcc -print-multiarch)/asm" headers-musl/
tried=
says_nothing() { # CC MAKE-ARGUMENTS...
	local compiler=$1
	shift
	command -v "$compiler" >/dev/null || return 0
	make -s -C "$TOP" BUILD="$PWD/build" CC="$compiler" WERROR=1 JOBS="$JOBS" syntax "$@" >"$compiler.log" 2>&1 || {
		grep -m 10 -E 'error|warning' "$compiler.log" >&2
		fail "$compiler warns"
	}
	tried="$tried $compiler"
}
for version in 8 9 10 11 13 14 15; do says_nothing "gcc-$version"; done
for version in 13 15 16 17 18 19; do says_nothing "clang-$version"; done
says_nothing gcc OPT='-O3 -D_FORTIFY_SOURCE=3' SYNTAX='-S -o /dev/null'
CPPFLAGS="-isystem $PWD/headers" says_nothing aarch64-linux-gnu-gcc
# Its own macros and its ioctl convert signs.
CPPFLAGS="-isystem $PWD/headers-musl" says_nothing musl-gcc WARN='-Wall -Wextra -Wno-sign-compare -Wno-overflow -Werror'
echo "without a warning:$tried"
