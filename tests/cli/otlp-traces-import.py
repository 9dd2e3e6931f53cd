# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""import otlp takes each span of OpenTelemetry with its exact time, from JSON and protobuf alike, on rows where no two cross; what is bad is counted and costs nothing else."""
import collections
import gzip
import json
import os
import random
import shutil
import struct
import subprocess

from timelines import importer, ns, put, rows, sonde, spans

imported = importer("otlp")
rng = random.Random(1707)
BASE = 1_700_000_000_123_456_789


# ---- a document, written as JSON and as protobuf ----

def attributes(of):
    return [{"key": k, "value": v} for k, v in of.items()]


def varint(n):
    out = bytearray()
    n &= 2**64 - 1
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def data(field, d):
    d = d.encode() if isinstance(d, str) else d
    return varint(field << 3 | 2) + varint(len(d)) + d


def fixed(field, n):
    return varint(field << 3 | 1) + struct.pack("<Q", n)


def value(v):
    kind, of = next(iter(v.items()))
    return {"stringValue": lambda: data(1, of), "boolValue": lambda: number(2, of), "intValue": lambda: number(3, int(of)),
            "doubleValue": lambda: varint(4 << 3 | 1) + struct.pack("<d", of), "arrayValue": lambda: data(5, b"")}[kind]()


def pairs(field, items):
    return b"".join(data(field, data(1, a["key"]) + data(2, value(a["value"]))) for a in items)


def span_bytes(s):
    out = data(1, bytes(16)) + data(2, bytes(8)) + data(5, s["name"]) + number(6, s.get("kind", 1))
    out += fixed(7, int(s["startTimeUnixNano"])) + (fixed(8, int(s["endTimeUnixNano"])) if "endTimeUnixNano" in s else b"") + pairs(9, s.get("attributes", []))
    for ev in s.get("events", []):
        out += data(11, fixed(1, int(ev["timeUnixNano"])) + data(2, ev["name"]) + pairs(3, ev.get("attributes", [])))
    out += b"".join(data(13, data(1, bytes(16))) for _ in s.get("links", []))
    if "status" in s:
        out += data(15, data(2, s["status"].get("message", "")) + number(3, s["status"]["code"]))
    return out


def protobuf(doc, resource_last=False):
    out = b""
    for part in doc["resourceSpans"]:
        resource = data(1, pairs(1, part["resource"]["attributes"]))
        scopes = b"".join(data(2, data(1, data(1, "scope")) + b"".join(data(2, span_bytes(s)) for s in scope["spans"])) for scope in part["scopeSpans"])
        out += data(1, scopes + resource if resource_last else resource + scopes)
    return out


def span(name, begin, end, **more):
    return {"traceId": "0" * 32, "spanId": "0" * 16, "name": name, "startTimeUnixNano": str(BASE + begin), **({"endTimeUnixNano": str(BASE + end)} if end is not None else {}), **more}


def part(found, **resource):
    names = {"service": "service.name", "host": "host.name", "pid": "process.pid"}
    values = {names[k]: {"intValue": str(v)} if k == "pid" else {"stringValue": v} for k, v in resource.items()}
    return {"resource": {"attributes": attributes(values)}, "scopeSpans": [{"scope": {"name": "scope"}, "spans": found}]}


DOC = {"resourceSpans": [
    part([span("inner", 100, 200, kind=3, status={"code": 2, "message": "it broke"}),
          span("outer", 0, 1000, attributes=attributes({"a": {"intValue": "-7"}, "b": {"stringValue": "zwei ü"}, "c": {"doubleValue": 2.5}, "d": {"boolValue": True}, "e": {"arrayValue": {}}}),
               events=[{"timeUnixNano": str(BASE + 500), "name": "half", "attributes": attributes({"why": {"stringValue": "so"}})}]),
          span("crosses", 900, 1100), span("in a thread", 50, 60, attributes=attributes({"thread.id": {"intValue": "9"}, "thread.name": {"stringValue": "worker"}}))],
         service="web", pid=4711),
    part([span("query", 300, 400, links=[{}])], service="store", pid=9)]}
WANTED = sorted([("web 4711", "inner", 100, 200, "kind=client \"status=it broke\""), ("web 4711", "outer", 0, 1000, "a=-7 \"b=zwei ü\" c=2.5 d=true e=[]"),
                 ("web 4711, lane 2", "crosses", 900, 1100, ""), ("worker 9 (web 4711)", "in a thread", 50, 60, ""), ("store 9", "query", 300, 400, "")], key=lambda s: (s[2], s[1]))
WANTED = [(t, n, BASE + b, BASE + e, d) for t, n, b, e, d in WANTED]

text = json.dumps(DOC)
late = {"resourceSpans": [dict(reversed(p.items())) for p in DOC["resourceSpans"]]}
one = [json.dumps({"resourceSpans": [p]}) for p in DOC["resourceSpans"]]
messages = [protobuf({"resourceSpans": [p]}) for p in DOC["resourceSpans"]]
ways = {"json": text, "pretty": "\n" + json.dumps(DOC, indent=1), "lines": "\n".join(one) + "\n", "late": json.dumps(late), "json gzip": gzip.compress(text.encode()),
        "protobuf": protobuf(DOC), "protobuf late": protobuf(DOC, True), "joined": b"".join(messages), "protobuf gzip": gzip.compress(protobuf(DOC)),
        "lengths": b"".join(struct.pack(">I", len(m)) + m for m in messages)}
for way, document in ways.items():
    said = imported(put("doc", document))
    assert "OTLP (to 1 ns)" in said and "links between spans, which a recording does not keep: 1" in said and said.count("\n") == 3, (way, said)
    assert spans() == WANTED, (way, spans())
    assert [(m["name"], ns(m["time"]), m["message"], m["instance"]) for m in rows("marks")] == [("half", BASE + 500, "why=so", "web 4711")], way
if shutil.which("zstd"):
    put("doc", text)
    subprocess.run(["zstd", "-q", "-f", "doc", "-o", "doc.zst"], check=True)
    imported("doc.zst")
    assert spans() == WANTED

# Metrics become counters, records of logs marks, attributes of resources a mark; lists are texts.
METRICS = [{"name": "queue.size", "unit": "{item}", "gauge": {"dataPoints": [
               {"timeUnixNano": str(BASE + 10), "asDouble": 2.5, "attributes": attributes({"of": {"stringValue": "a b"}})}, {"timeUnixNano": str(BASE + 20), "asInt": "-3"}]}},
           {"name": "served", "sum": {"isMonotonic": True, "dataPoints": [{"timeUnixNano": str(BASE + 30), "asInt": "9007199254740993"}]}},
           {"name": "took", "unit": "s", "histogram": {"dataPoints": [{"timeUnixNano": str(BASE + 40), "count": "4", "sum": 1.25, "bucketCounts": ["4"]}]}},
           {"name": "bad", "gauge": {"dataPoints": [{"asInt": "1"}, {"timeUnixNano": str(BASE + 1)}]}}]
LOGS = [{"timeUnixNano": str(BASE + 50), "severityText": "WARN", "body": {"stringValue": "it is \"late\""}, "attributes": attributes({"n": {"intValue": "7"}})},
        {"timeUnixNano": "0", "observedTimeUnixNano": str(BASE + 60), "body": {"stringValue": "x"}}, {"body": {}}]
more = part([span("one", 0, 100, attributes=attributes({"list": {"arrayValue": {"values": [{"stringValue": "a b"}, {"intValue": "2"}, {"arrayValue": {}}]}}}))], service="web", pid=7)
more["resource"]["attributes"] += attributes({"deployment.environment": {"stringValue": "a test"}, "telemetry.sdk.name": {"stringValue": "x"}})
said = imported(put("more", json.dumps({"resourceSpans": [more], "resourceMetrics": [{"resource": more["resource"], "scopeMetrics": [{"metrics": METRICS}]}],
                                         "resourceLogs": [{"resource": more["resource"], "scopeLogs": [{"logRecords": LOGS}]}]})), code=1)
assert "without a valid time: 2" in said and "without a number or a name: 1" in said, said
COUNTED = [('queue.size ({item}) {"of=a b"}', BASE + 10, 2.5), ("queue.size ({item})", BASE + 20, -3), ("served", BASE + 30, 9007199254740992), ("took count", BASE + 40, 4), ("took sum (s)", BASE + 40, 1.25)]
found = [(c["name"], ns(c["time"]), float(c["value"])) for c in rows("counters")]
assert sorted(found) == sorted(COUNTED), found
assert [(m["name"], ns(m["time"]), m["message"], m["instance"]) for m in rows("marks")] == [
    ("resource", BASE, '"deployment.environment=a test"', "web 7"), ("WARN", BASE + 50, '"body=it is \\"late\\"" n=7', "web 7"), ("log", BASE + 60, "body=x", "web 7")], rows("marks")
assert spans()[0][4] == '"list=[a b,2,...]"', spans()

# Many, in any order: each is there once, and none crosses another of its row.
many = []
for i in range(20_000):
    begin = rng.randrange(10**9)
    many.append(span(f"n{i % 50}", begin, begin + rng.randrange(10**5)))
both = []
for document in (json.dumps({"resourceSpans": [part(many, service="s")]}), protobuf({"resourceSpans": [part(many, service="s")]})):
    imported(put("many", document))
    both.append(spans())
    assert collections.Counter((s[1], s[2] - BASE, s[3] - BASE) for s in both[-1]) == collections.Counter(
        (s["name"], int(s["startTimeUnixNano"]) - BASE, int(s["endTimeUnixNano"]) - BASE) for s in many)
assert both[0] == both[1]
on = collections.defaultdict(list)
for s in both[0]:
    on[s[0]].append((s[2], -s[3]))
assert len(on) < 40, len(on)
for track in on.values():
    open_ends = []
    for begin, end in sorted(track):
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        assert not open_ends or -end <= open_ends[-1], (begin, end, open_ends)
        open_ends.append(-end)

# What is wrong is counted, and the rest comes.
bad = [span("no begin", 0, 5), span("back", 10, 9), span("open", 11, None), span("years", 12, 13)]
del bad[0]["startTimeUnixNano"]
bad[3]["startTimeUnixNano"] = "soon"
document = {"resourceSpans": [part(bad + [span("good", 1, 2)], service="s"), 7], "more": {"a": [1]}}
said = imported(put("bad", json.dumps(document)), code=1)
for words in ("without a valid time: 2", "end before they begin: 1", "spans without an end: 1"):
    assert words in said, (words, said)
assert [(s[1], s[3] is None) for s in spans()] == [("good", False), ("open", True)]

# Truncated anywhere.
for document in (text.encode(), protobuf(DOC), ways["lengths"]):
    for at in [rng.randrange(1, len(document)) for _ in range(25)]:
        shutil.rmtree("rec", ignore_errors=True)
        ended = sonde("import", "otlp", put("cut", document[:at]), "-o", "rec")
        assert ended.returncode in (0, 1) and os.path.exists("rec") == ("imported" in ended.stderr), (at, ended)
        assert ended.returncode == 1 or all(s in WANTED for s in spans()), at

# Into a recording: what is of its node, at its time; another time is refused.
shutil.rmtree("job", ignore_errors=True)
ran = sonde("run", "-q", "-o", "job", "--", "python3", "-c", "import time; print(time.time_ns()); time.sleep(0.3)")
assert ran.returncode == 0, ran
utc, host = int(ran.stdout), json.loads(sonde("show", "--json", "job").stdout)["nodes"][0]["host"]
here = dict(span("here", 0, 1), startTimeUnixNano=str(utc), endTimeUnixNano=str(utc + 1000))
put("into", json.dumps({"resourceSpans": [part([here], service="a", host=host), part([dict(here, name="there")], service="a", host="elsewhere")]}))
said = imported("into", "--into", "job", "--rank", "3", to=None)
assert "spans of other nodes, which are skipped: 1" in said, said
assert [(s[1], s[0].startswith("rank 3 a")) for s in spans("job")] == [("here", True)] and abs(spans("job")[0][2] - utc) <= 1000, spans("job")
assert "of another time" in imported(put("old", text), "--into", "job", to=None, code=1)

# Of several nodes, show says nothing of clocks that the file's times do not depend on, nor of who began first, and names what shows spans.
os.mkdir("two")
for node, begin in (("a", 0), ("b", 90 * 10**9)):
    imported(put("node", json.dumps({"resourceSpans": [part([span("work", begin, 100 * 10**9)], service="s")]})), "--node", node)
    shutil.copy(f"rec/node-{node}.sonde", "two/")
shown = sonde("show", "two").stdout
assert "synchronised" not in shown and "started late" not in shown and "sonde show --spans two, sonde trace two" in shown, shown

for document, words in (("", "holds no span"), ("{}", "holds no span"), ("[]", "holds no span"), ("17", "holds no span"), ("\x7fELF\x00", "holds no span"), (json.dumps({"traceEvents": []}), "holds no span")):
    assert words in imported(put("none", document), code=1) and not os.path.exists("rec"), document
said = imported(put("deep", '{"resourceSpans":[' + json.dumps(part([span("a", 1, 2)])) + ',{"x":' + "[" * 100_000), code=1)
assert "more than 64 levels" in said and [s[1] for s in spans()] == ["a"], said
said = imported(put("long", json.dumps({"resourceSpans": [part([span("ü" * 10**5, 1, 2, attributes=attributes({str(i): {"stringValue": "ü" * 900} for i in range(30)}))])]})))
assert "shortened name: 1" in said and len(spans()[0][1].encode()) <= 1000 and len(spans()[0][4].encode()) <= 500 and spans()[0][4].endswith("..."), said
