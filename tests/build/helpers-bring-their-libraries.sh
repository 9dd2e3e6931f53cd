# SPDX-License-Identifier: Apache-2.0
# limit: 240
# The program that starts a release's helper: with the loader and the libraries beside it, wherever that lies, whatever LD_LIBRARY_PATH and
# LD_PRELOAD say; its arguments, its streams and its status are the helper's own.
. "$TOP/tests/lib.sh"
make -s -C "$TOP" BUILD="$BUILD" "$BUILD/start" >made 2>&1 || fail "make start: $(cat made)"

release() { # FOLDER: of helpers that need libraries, and of a sonde to call them
	local home=$1/libexec/sonde library name
	mkdir -p "$1/bin" "$home/lib"
	cp "$SONDE" "$1/bin/sonde"
	cp "$BUILD/start" "$home/sonde-start"
	for name in $helper database indicator yaml; do
		ln -s sonde-start "$home/sonde-$name"
		cp "$BUILD/libexec/sonde/sonde-$name" "$home/lib/" || fail "sonde-$name was not built"
		ldd "$home/lib/sonde-$name"
	done | grep -o '/[^ ]*' | sort -u >libraries
	while read -r library; do
		cp -L "$library" "$home/lib/"
	done <libraries
	mv "$home"/lib/ld-linux* "$home/lib/ld.so"
}

helper=sqlite
[ -x "$BUILD/libexec/sonde/sonde-$helper" ] || skip "sonde-$helper was not built"
release one
"$SONDE" run --quiet -o rec -- true || fail "a recording"
sonde_export() { # FOLDER
	"$1/bin/sonde" export --to sqlite --table marks rec >out 2>err
}
sonde_export one || fail "with its libraries: $(cat err)"

# A benchmark of its own is called by its whole path.
cat >matmul.yaml <<-'END'
	identifier: own
	script: matmul
	arguments: [--blas, none, --size, 8, --repeats, 1, --seconds, 1ms, --threads, 1]
END
one/bin/sonde bench sweep -q --json -o swept matmul.yaml >swept.json 2>err || fail "a sweep of a built-in benchmark: $(cat err swept.json)"
equal "its failures" 0 "$(jq '[.responses[].failed] | add' swept.json)"

# It is these that were loaded.
mv one/libexec/sonde/lib/libsqlite3.so.0 kept
mkdir foreign
printf 'no library\n' >foreign/libsqlite3.so.0
equal "another's library in its place" 1 "$(LD_LIBRARY_PATH=$PWD/foreign status_of sonde_export one)"
mv kept one/libexec/sonde/lib/libsqlite3.so.0
cp foreign/libsqlite3.so.0 foreign/libc.so.6
one/libexec/sonde/sonde-$helper </dev/null >answer 2>err || true
LD_LIBRARY_PATH=$PWD/foreign one/libexec/sonde/sonde-$helper </dev/null >foreign_answer 2>foreign_err || fail "with foreign libraries: $(cat foreign_err)"
cmp answer foreign_answer || fail "foreign libraries change what it answers"
LD_PRELOAD=$PWD/foreign/libc.so.6 one/libexec/sonde/sonde-$helper </dev/null >foreign_answer 2>foreign_err
! grep -q foreign foreign_err || fail "LD_PRELOAD reaches the helper"

# It is moved.
mv one 'another place'
sonde_export 'another place' || fail "after it was moved: $(cat err)"

# What is missing is said, and the rest goes on.
rm 'another place/libexec/sonde/lib/ld.so'
equal "without the loader" 1 "$(status_of sonde_export 'another place')"
one_sentence err
contains err "sonde-$helper cannot start"
"another place/bin/sonde" show rec >out || fail "the rest"
