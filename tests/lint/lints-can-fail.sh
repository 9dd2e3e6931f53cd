# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016
# Each lint passes on a small tree, a part of this one, and fails on one with a single fault of its kind. What is typed
# in documents is held against $SONDE.
# limit: 300
. "$TOP/tests/lib.sh"
parts=".ci .clang-format .gitignore CHANGELOG.md LICENSE Makefile README.md dev docs rules site include examples tests/README.md tests/fixtures/README.md tests/fixtures/*/README.md
	tests/lib.sh tests/source.py
	tests/lint tests/programs/spin.c tests/stubs/fake_blas.c src/commands.def src/main.c src/base/err.c src/base/*.h src/base/text/*.h src/core/statistics/stats.c
	src/core/*.h src/core/*/*.h src/source/cpu.c src/source/storage/disk.c src/source/memory.c src/source/process.c src/sink/text.c src/serve/main.c src/cmd/show.c
	src/report/page/web"
mkdir -p copy/src/new copy/bench
# shellcheck disable=SC2086 # patterns
(cd "$TOP" && tar -c --exclude=node_modules $parts) | tar -C copy -x
git -C copy init -q
cp "$TOP/bench/stale.py" copy/bench/
WHOLE=$TOP
export TOP=$PWD/copy

lint() { # NAME
	case $1 in
	*.py) "$PYTHON" "copy/tests/lint/$1" ;;
	*) bash "copy/tests/lint/$1" ;;
	esac >lint.out 2>&1
}

for one in layers.py headers.sh sizes.py banned.py counters.py names.py text.py format.sh commands.py metrics.sh words.py; do
	lint $one || {
		cat lint.out
		fail "$one fails on the tree as it is"
	}
done

declare -A faults=() # of a lint, those that it finds without any of these
notices() { # LINT FILE TEXT: TEXT, put at the end of FILE, is a fault
	if [ -e "copy/$2" ]; then cp "copy/$2" saved; else rm -f saved; fi
	printf '%b\n' "$3" >>"copy/$2"
	! lint "$1" || fail "$1 does not notice in $2: $3"
	[ -z "${faults[$1]:-}" ] || sort lint.out | comm -13 "${faults[$1]}" - | grep -q . || fail "$1 does not notice in $2: $3"
	rm "copy/$2"
	[ ! -e saved ] || mv saved "copy/$2"
}

long=$(printf 'int f(void)\\n{\\n'; printf ';\\n%.0s' $(seq 60); printf '}')
notices layers.py src/core/statistics/stats.c '#include "sink/sink.h"'
notices layers.py src/base/err.c '#include "core/statistics/stats.h"'
notices layers.py src/cmd/show.c '#include "cmd/export.h"'
notices layers.py src/new/room.c '#include "base/err.h"'
notices layers.py docs/layers.svg '<!-- another -->'
notices headers.sh src/core/statistics/stats.h 'struct unknown_type f(enum nothing n, time_t t);'
notices headers.sh include/sonde.h 'int class(int new);'
notices sizes.py src/base/err.c "$(printf '\\n%.0s' $(seq 600))"
notices sizes.py src/base/err.c "$long"
notices sizes.py src/base/err.c 'int f(int a, int b, int c, int d, int e, int f, int g)\n{\n\treturn a;\n}'
mkdir copy/src/many
touch copy/src/many/file{1..60}
lint sizes.py || fail "sizes.py does not allow a folder of 60 files"
notices sizes.py src/many/another 'x'
rm -r copy/src/many
notices sizes.py tests/lint/sizes.allow 'src/base/err.c file 599'
notices sizes.py tests/lint/sizes.allow 'src/base/gone.c file 700'
notices banned.py src/base/err.c 'int f(char *a) { return atoi(a); }'
notices banned.py tests/programs/spin.c 'char *f(char *a, char *b) { return strcpy(a, b); }'
notices banned.py src/core/statistics/stats.c 'void f(void) { printf("x"); }'
notices banned.py src/core/statistics/stats.c 'void f(void) { exit(1); }'
notices banned.py src/core/statistics/stats.c 'void print_message(const char *f);'
notices banned.py tests/source.py 'job.wait(timeout=20)'
notices banned.py tests/lib.sh 'time''out 20 "$SONDE" show'
notices counters.py src/source/storage/disk.c 'void f(int64_t *a, int64_t b)\n{\n\t*a += b;\n}'
notices counters.py src/source/storage/disk.c 'int64_t f(int64_t a, int64_t b)\n{\n\ta = (a < 0 ? 0 : a) + b;\n\treturn a;\n}'
notices names.py src/sink/text.c 'const char *f(void) { return "process.cpu_user_seconds"; }'
notices text.py src/base/err.c '/* TO''DO: later */'
notices text.py src/base/err.c '/* see /home''/me/notes */'
notices text.py src/base/new.c 'int x;'
notices text.py CHANGELOG.md '<<''<<<<< HEAD'
notices text.py metrics.log 'what a test left'
notices text.py src/report/page/web/package-lock.json '"resolved": "https://registry.example.org/x.tgz"'
notices format.sh src/base/err.c 'int   x;'
notices format.sh tests/lib.sh 'for f in $(ls *.c); do rm $f/*; cd x; done'
notices commands.py README.md '    sonde nonsense x'
notices commands.py README.md '    sonde run --nonsense'
notices commands.py README.md '    ./dev nonsense'
notices commands.py README.md '[there](docs/nonsense.md)'
notices commands.py README.md "    WHERE metric = 'node.nonsense'"
notices metrics.sh docs/metrics.md 'one more line'
notices words.py README.md 'Processes that were born meanwhile.'
notices words.py src/cmd/show.c 'const char *f(void) { return "one argument is too much"; }'
notices words.py src/cmd/show.c 'const char *f(void) { return "one argument is "\n\t"too much"; }'
notices words.py src/report/page/web/page.js 'const x = "What watching cost";'
notices words.py src/report/page/web/page.html '<h2>What watching cost</h2>'
notices words.py rules/90-monitor.rules 'say: the directory is made when it is not there'

# A section of docs/performance.md is older than what it measures when more than a tenth of that has changed.
commit() {
	git -C copy add -A && git -C copy -c user.name=x -c user.email=x -c commit.gpgsign=false commit -qm "$1"
}
commit one
printf 'Measured on 2026-01-01 at commit %s, on x, with a load average of 1.00 when it began. Again: `./dev bench sources`.\n' \
	"$(git -C copy rev-parse --short HEAD)" >copy/docs/performance.md
lint performance.sh || fail "performance.sh fails on what was measured just now"
seq 1000 >copy/src/source/more.c
commit two
! lint performance.sh || fail "performance.sh does not notice that a section is stale"
(cd copy && "$PYTHON" bench/stale.py mark docs/performance.md) | grep -q "stale: sources" || fail "it is not marked"
lint performance.sh || fail "performance.sh fails on a section that says that it is stale"
rm copy/src/source/more.c
commit three
! lint performance.sh || fail "performance.sh does not notice that a section is said to be stale and is not"

# What names and what is named are all over the tree: in a part of it some is missing, and each fault adds to that.
cp "$WHOLE/src/metas.def" copy/src/
cp "$WHOLE/tests/run.sh" copy/tests/
for one in keys.py text.py; do
	lint $one || true
	! grep -q Traceback lint.out || fail "$one: $(cat lint.out)"
	sort lint.out >"known.$one"
	faults[$one]=known.$one
done
notices text.py docs/adding.md 'see `src/core/gone.c`'
notices text.py src/core/glob.c '/* As core/gone.h says. */'
notices text.py tests/fixtures/README.md '| `gone` | from nowhere |'
mkdir copy/tests/fixtures/another
notices text.py tests/fixtures/another/file 'x'
notices keys.py docs/metadata-keys.md 'one more line'
notices keys.py docs/metrics.md 'and `job.nothing_bytes`'
notices keys.py src/cmd/show.c 'const char *f(void) { return "gpu.warmth_celsius"; }'
notices keys.py src/source/cpu.c 'void f(void) { sample_meta_text(0, 0, "host.nothing", 0); }'
notices keys.py src/metas.def 'KEYS("host.nothing", "what nothing stores")'
