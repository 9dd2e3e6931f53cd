# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone; the public ones also as C++ and as C11 without extensions.
. "$TOP/tests/lib.sh"
status=0
# What helpers are made with.
libraries=$(pkg-config --cflags hdf5 sqlite3 libdeflate pangocairo cairo-pdf cairo-svg)
cd "$TOP" || exit 1
while read -r header; do
	# Twice: it must guard itself. -Wno-unused: a header's inline functions have no caller here.
	# shellcheck disable=SC2086 # a word each
	printf '#include "%s"\n#include "%s"\n' "${header#src/}" "${header#src/}" |
		gcc -std=gnu17 -D_GNU_SOURCE -Isrc -Iinclude -Itests -I. $libraries -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
			-Werror -fsyntax-only -x c - || status=1
done < <(find src include tests -name '*.h' -not -path '*/node_modules/*')
for header in include/*.h; do
	gcc -std=c11 -Iinclude -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$header" || status=1
done
for header in include/*.h include/*.hpp; do
	clang++ -std=c++11 -Iinclude -Wall -Wextra -Wpedantic -Wno-pragma-once-outside-header -Wno-unused -Werror -fsyntax-only -x c++ "$header" || status=1
done
exit $status
