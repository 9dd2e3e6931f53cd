# SPDX-License-Identifier: Apache-2.0
# limit: 240
# Batches of trials are compared by what their scripts measured, with the gate; list, show and stats tell of them, and of what is not there.
. "$TOP/tests/lib.sh"
[ -e "$(dirname "$(realpath "$SONDE")")/libexec/sonde/sonde-database" ] || skip "sonde-database was not built: libsqlite3-dev is not installed"
export SONDE_STORE=$PWD/s.sqlite

script() { # NAME BASE RATE
	cat >"$1" <<END
#!/bin/sh
count=\$(cat $1.count 2>/dev/null || echo 0)
echo \$((count + 1)) >$1.count
printf '{"name": "PiMatmul", "framework": "t", "@parameters": {"device": "cpu", "dtype": "$3", "matrix_size": 8},
"@result": {"elapsed": %s.%s, "rate": 5.0}}\n' $2 \$((count * 3 % 8))
END
	chmod +x "$1"
	"$SONDE" bench run -q -n 8 -o "d_$1" "./$1" >"$1.stats" || fail "bench run of $1"
}

script slow 20 float32
script same 20 float32
script fast 10 float64
printf '#!/bin/sh\nexit 1\n' >broken
chmod +x broken
equal "status of a broken one" 1 "$(status_of "$SONDE" bench run -q -o d_broken ./broken 2>/dev/null | tail -n 1)"

compared() { # EXIT-CODE ARGUMENTS...
	local wanted=$1 status=0
	shift
	"$SONDE" compare "$@" >told 2>said || status=$?
	[ "$wanted" = "$status" ] || cat told said >&2
	equal "exit code of compare $*" "$wanted" "$status"
}

compared 0 --independent --fail-if 'elapsed>+5%' bench:1 bench:2
compared 1 --independent bench:3 bench:1
contains told elapsed
contains told parameter.dtype
contains told '"float64"'
compared 0 --independent bench:1 bench:3
compared 1 --independent --fail-if 'rate<-5%' --fail-if 'elapsed>+5%' bench:3 bench:1
compared 0 --independent --fail-if 'rate<-5%' bench:1,bench:2 bench:3
"$SONDE" compare --json --independent bench:3 bench:1 >json || true
json_says '.verdict == "worse" and ([.figures[] | select(.name == "elapsed")][0].finding == "worse")' >/dev/null <json || fail "compare --json"
compared 2 bench:1 bench:99
contains said "there is no bench:99"
compared 2 bench:1 bench:x
contains said "is not a batch"
compared 2 --html x.html bench:1 bench:2
compared 3 bench:1 bench:4

"$SONDE" bench list >told
equal "lines of the list" 5 "$(wc -l <told)"
contains told "bench:4"
"$SONDE" bench list --name 'PiMat*' | grep -c bench: | grep -qx 3 || fail "bench list --name"
"$SONDE" bench show bench:3/2 >told
contains told float64
contains told ru_nivcsw
contains told host.kernel
"$SONDE" bench show >told
contains told "failed: it ended with exit code 1"
"$SONDE" bench show --json bench:1 | json_says '.schema == "sonde/bench-show/1" and (.trials | length == 8) and .trials[7].trial == 8' >/dev/null || fail "show --json"
"$SONDE" bench show --json bench:1/8 | json_says '.trial.state == "ok" and (.environment | length > 10)' >/dev/null || fail "show --json of a trial"
"$SONDE" bench stats bench:1 | cmp - slow.stats || fail "stats of a batch are those that its run printed"
equal "statistics" "20.35 20.35" "$("$SONDE" bench stats --json bench:1 | jq -r '.batches[0].figures.elapsed | "\(.mean * 1e6 | round / 1e6) \(.median)"')"
for words in "show bench:9" "stats bench:9" "show bench:1/9" "show x" "stats x"; do
	"$SONDE" bench $words >told 2>said && fail "bench $words"
	one_sentence said
	[ ! -s told ] || fail "bench $words wrote to standard output"
done
# What a script calls as Sonde calls what it measures stays the script's, wherever it is told.
printf '%s\n' '#!/bin/sh' 'echo "{\"name\": \"PiOwn\", \"component\": \"x\", \"@parameters\": {}, \"@result\": {\"cpu_seconds\": 70, \"wall_seconds\": 80, \"ru_utime\": 90}}"' >own
chmod +x own
"$SONDE" bench run -q --json -n 2 -o d_own ./own >told || fail "bench run of own"
equal "figures of that name" 1 "$(grep -c '"ru_utime"' told)"
equal "figure of that name" 90 "$(jq .batches[0].figures.ru_utime.mean told)"
"$SONDE" bench run -q -n 2 -o d_own2 ./own >/dev/null || fail "bench run of own"
"$SONDE" compare --json --independent bench:5 bench:6 >json || true
equal "figures of that name, compared" "70 80 90" "$(jq -r '[.figures[] | select(.name == ("cpu_seconds", "wall_seconds", "ru_utime")) | .a] | sort | join(" ")' json)"
SONDE_STORE=$PWD/none.sqlite "$SONDE" bench list 2>said
contains said "no such batch"

# Each is as its schema says, and has no member that it does not know.
"$SONDE" bench list --json >list.json && "$SONDE" bench stats --json bench:1 bench:4 >stats.json && "$SONDE" bench show --json bench:4 >show.json || fail "list, stats, show"
"$SONDE" bench show --json bench:1/2 >trial.json && "$SONDE" bench schema --format json >schema.json || fail "a trial, the schema"
"$SONDE" bench check --json ./own >check.json || fail "bench check --json"
"$SONDE" bench check --json ./broken >broken.json && fail "bench check of a broken one"
"$PYTHON" - <<'END' || fail "not as docs/schema/bench-*.json say"
import json, os
import jsonschema, schemas
for name, of in {"list": "list", "stats": "stats", "show": "show", "trial": "show", "schema": "schema", "check": "check", "broken": "check"}.items():
    with open(f"{os.environ['TOP']}/docs/schema/bench-{of}.json", encoding="utf-8") as f:
        schema = json.load(f)
    with open(name + ".json", encoding="utf-8") as f:
        document = json.load(f)
    jsonschema.Draft202012Validator(schemas.strict(schema), format_checker=jsonschema.FormatChecker()).validate(document)
END
