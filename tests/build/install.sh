# SPDX-License-Identifier: Apache-2.0
# limit: 240
# make install puts everything below DESTDIR; the example compiles against what was installed and reads a recording. Each function of the
# library has a page of the manual.
. "$TOP/tests/lib.sh"
make -s -C "$TOP" BUILD="$BUILD" PREFIX=/opt/sonde DESTDIR="$PWD/destdir" install || fail "make install"
for file in bin/sonde lib/libsonde.a lib/libsonde.so lib/libsonde.so.0 lib/pkgconfig/sonde.pc include/sonde.h \
	include/sonde_sampler.h include/sonde_span.h include/sonde_span.hpp include/sonde_span.f90 include/sonde_stub.h \
	share/man/man1/sonde-run.1 share/bash-completion/completions/sonde share/zsh/site-functions/_sonde \
	share/fish/vendor_completions.d/sonde.fish bin/perfmon share/man/man1/perfmon.1 \
	share/bash-completion/completions/perfmon share/fish/vendor_completions.d/perfmon.fish; do
	[ -s "destdir/opt/sonde/$file" ] || fail "$file is not there, or empty"
done
equal "what lies outside of the prefix" 0 "$(find destdir -type f -not -path 'destdir/opt/sonde/*' | wc -l)"

export PKG_CONFIG_PATH=$PWD/destdir/opt/sonde/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/destdir
destdir/opt/sonde/bin/sonde run --quiet -o out -- true || fail "the installed sonde"
for example in "$TOP"/examples/*.c; do
	# shellcheck disable=SC2046 # one word a flag
	gcc -Wall -Wextra -o shared "$example" $(pkg-config --cflags --libs sonde) || fail "$example: shared"
	LD_LIBRARY_PATH=destdir/opt/sonde/lib ./shared out >shared.txt || fail "$example, shared, on a recording"
	# shellcheck disable=SC2046
	gcc -Wall -Wextra -static -o static "$example" $(pkg-config --static --cflags --libs sonde) || fail "$example: static"
	./static out >static.txt || fail "$example, static, on a recording"
	[ -s shared.txt ] || fail "$example printed nothing"
	case $example in
	*/sample_*) sed -i 's/ .*//' shared.txt static.txt ;; # what it samples differs from one run to the next
	esac
	cmp shared.txt static.txt || fail "$example: the two libraries differ"
done

# Only what the headers declare is visible.
nm -D --defined-only destdir/opt/sonde/lib/libsonde.so.0 | awk '$2 ~ /[TDBRV]/ { print $3 }' | sort >visible
[ -s visible ] || fail "the library exports nothing"
while read -r name; do
	grep -qw "$name" "$TOP"/include/*.h || fail "$name is visible and in no header"
	page=destdir/opt/sonde/share/man/man3/$name.3
	[ -s "$page" ] || fail "$name has no page in the manual"
	if [[ $(<"$page") == .so* ]]; then page=destdir/opt/sonde/share/man/$(cut -d ' ' -f 2 "$page"); fi
	grep -q "^[^.].*[ *]${name}[(;]" "$page" || fail "$page does not show $name"
	grep -A 1 'SH NAME' "$page" | grep -qw "$name" || fail "$page does not name $name"
done <visible
if command -v mandoc >/dev/null; then
	(cd destdir/opt/sonde/share/man && mandoc -Tlint -W error man3/*.3) || fail "mandoc finds errors"
fi
