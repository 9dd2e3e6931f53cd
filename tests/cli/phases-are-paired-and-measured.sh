# SPDX-License-Identifier: Apache-2.0
# Spans and paired marks of a job are phases, with times, sizes and what was used meanwhile; a site's rules are taken; what
# did not end, crosses or is hostile is told and harms nothing; text, JSON and CSV say the same.
. "$TOP/tests/lib.sh"
cat >script.sh <<'END_OF_SCRIPT'
"$SONDE" begin work field=7
"$PROGRAMS/spin" 600000
"$SONDE" begin inner
sleep 0.2
"$SONDE" end inner
"$SONDE" end work size=1.5MB
"$SONDE" mark load-start img=a
"$SONDE" begin rest
sleep 0.6
"$SONDE" mark load-end img=a diff=12.5 'size=3 MB'
"$SONDE" begin crossing --track other
"$SONDE" end rest
sleep 0.2
"$SONDE" end crossing --track other
"$SONDE" begin 'never
ended' "$(printf 'x=\033[31m')"
"$SONDE" mark cascade:gr-done
"$SONDE" mark step n=1
"$SONDE" mark step n=2
END_OF_SCRIPT
"$SONDE" run --quiet -i 50ms -o out -- bash script.sh || fail "run: $?"

"$SONDE" phases --json --metrics 'job.*' out >phases.json || fail "phases --json"
"$PYTHON" - <<'END' || fail "not as docs/schema/phases.json says"
import json, os
import jsonschema
with open(os.environ["TOP"] + "/docs/schema/phases.json", encoding="utf-8") as f:
    schema = json.load(f)
with open("phases.json", encoding="utf-8") as f:
    document = json.load(f)
jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker()).validate(document)
def strict(s):
    if isinstance(s, dict):
        made = {k: strict(v) for k, v in s.items()}
        if "properties" in made:
            made["additionalProperties"] = False
        return made
    return [strict(v) for v in s] if isinstance(s, list) else s
jsonschema.Draft202012Validator(strict(schema)).validate(document)
END
says() { # WHAT JQ-FILTER
	json_says "$2" <phases.json >/dev/null || fail "$1: $(jq -c "[.phases[] | del(.metrics)], .unpaired" phases.json)"
}
of() { # NAME JQ-FILTER: of the only phase of that name
	json_says -r ".phases[] | select(.name == \"$1\") | $2" <phases.json
}
says "names" '[.phases[].name] | sort == ["crossing", "inner", "load", "never\nended", "rest", "work"]'
says "inner lies in work" '.phases[] | select(.name == "inner") | .depth == 1 and (.crosses | not)'
says "what crosses" '[.phases[] | select(.crosses) | .name] | sort == ["crossing", "load", "rest"]'
says "what its end says" '.phases[] | select(.name == "load") | .duration_seconds == 12.5 and .duration_from == "end" and .size_bytes == 3e6 and .bytes_per_second == 240000'
says "lines with a time" 'all(.phases[]; .uncertain_seconds == 0)'
says "no end, no duration" '.phases[] | select(.name == "never\nended") | .duration_seconds == null and .end_time == null'
says "an end without a start" '[.unpaired[] | [.name, .why]] == [["cascade:gr-done", "no start"]]'
says "a size" '.totals[] | select(.name == "work" and .node == null and .key == null) | .size_bytes == 1.5e6'
says "no figure of what did not end" '.phases[] | select(.name == "never\nended") | .metrics == {}'
# All of the spinning was in `work`, and the figure says so.
holds "CPU time of work" "$(of work '.metrics["job.cpu_cores"].total') > 0.45"
holds "known no longer than it took" "$(of work '.metrics["job.cpu_cores"].known_seconds') <= 1.001 * $(of work .duration_seconds)"
holds "rest uses little" "$(of rest '.metrics["job.cpu_cores"].total') < $(of work '.metrics["job.cpu_cores"].total')"

# The same as a table and as text; control characters come through nowhere.
"$SONDE" phases --csv --metrics job.cpu_cores out >phases.csv || fail "phases --csv"
"$SONDE" phases --csv=totals out >totals.csv || fail "phases --csv=totals"
"$PYTHON" - <<'END' || fail "CSV and JSON differ"
import csv, json
with open("phases.json", encoding="utf-8") as f:
    told = {p["name"]: p for p in json.load(f)["phases"]}
with open("phases.csv", encoding="utf-8", newline="") as f:
    rows = list(csv.DictReader(f))
assert {r["phase"] for r in rows} == set(told), rows
for r in rows:
    p = told[r["phase"]]
    assert (r["duration_seconds"] == "") == (p["duration_seconds"] is None), r
    if r["duration_seconds"]:
        assert float(r["duration_seconds"]) == p["duration_seconds"], r
        assert float(r["job.cpu_seconds.total"]) == p["metrics"]["job.cpu_cores"]["total"], r
END
"$SONDE" phases --all out >shown || fail "phases --all"
contains shown "did not end: 1"
contains shown "3 phases cross others"
contains shown "cascade:gr-done at"
! grep -q $'\x1b' shown phases.csv totals.csv phases.json || fail "an escape sequence came through"

# Rules of a site.
cat >site.phases <<'END'
rule: step
start: step
no-end: next

rule: spans
phase: my-w*
spans: w*
END
"$SONDE" phases --rules site.phases --json out >phases.json || fail "phases --rules"
says "steps, and one span" '[.phases[].name] | sort == ["load", "my-work", "step", "step"]'
mkdir rules
echo 'rule: step' >rules/a.phases
equal "a rule without a start" 2 "$(status_of "$SONDE" phases --rules rules out 2>said)"
one_sentence said
contains said "rules/a.phases:1:1: rule step has neither 'start:' nor 'spans:'"
equal "a name that no phase has" 0 "$(status_of "$SONDE" phases --phases 'nothing*' out 2>said)"
contains said "no phase in out matches 'nothing*'"
equal "a metric that is none" 2 "$(status_of "$SONDE" phases --metrics nonsense out 2>said)"
one_sentence said
status=0
"$SONDE" phases --json --csv out 2>said >error.json || status=$?
equal "two forms" 2 $status
one_sentence said

# The start-up events of a pool, as marks: how graph.py pairs them.
cat >pool.sh <<'END'
"$SONDE" mark nodeprep:start offer=ubuntu,sku=18.04
"$SONDE" mark nodeprep:end
"$SONDE" mark cascade:start mode=docker
"$SONDE" mark cascade:pull-start grtype=docker,img=a/b:1
"$SONDE" mark cascade:pull-start grtype=singularity,img=a/b:1
"$SONDE" mark cascade:pull-end 'grtype=docker,img=a/b:1,diff=3.5,size=1.2GB'
"$SONDE" mark cascade:pull-end grtype=singularity,img=a/b:1,diff=4,size=1000
"$SONDE" mark cascade:gr-done nglobalresources=1
"$SONDE" mark cascade:gr-done nglobalresources=1
END
"$SONDE" run --quiet -o pool -- bash pool.sh || fail "run: $?"
"$SONDE" phases --json pool >phases.json || fail "phases"
says "phases of a pool" '[.phases[].name] | sort == ["docker_install", "global_resources_loaded", "nodeprep", "pull", "pull"]'
says "images" '[.phases[] | select(.name == "pull") | [.key, .duration_seconds, .size_bytes]] == [["img=a/b:1 grtype=docker", 3.5, 1.2e9], ["img=a/b:1 grtype=singularity", 4, 1000]]'
says "the second one is told" '[.unpaired[] | [.name, .why]] == [["cascade:gr-done", "left out"]]'
