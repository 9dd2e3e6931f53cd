# SPDX-License-Identifier: Apache-2.0
# limit: 200
"""OpenTelemetry's own SDK writes what import otlp reads, and its own protocol's messages read what push --to otlp sends: each span, value and record of a log once, with
their attributes, the job in the trace that TRACEPARENT names."""
import collections
import csv
import gzip
import http.server
import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

from patience import patience

sys.path.insert(0, os.environ["TOP"] + "/tests")
from readers import enter

enter("venv-timelines")

from google.protobuf import json_format
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

SONDE = os.environ["SONDE"]


def sonde(*words, code=0, **more):
    p = subprocess.run([SONDE, *words], capture_output=True, text=True, check=False, timeout=patience(120), env={**os.environ, **more})
    assert p.returncode == code, (words, p)
    return p


def table(what, rec):
    shutil.rmtree("csv", ignore_errors=True)
    sonde("export", rec, "--to", "csv", "-o", "csv")
    with open(f"csv/{what}.csv", encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


class Receiver(http.server.BaseHTTPRequestHandler):
    """Of OTLP over HTTP, as a Collector is one: bodies that are no such message are refused."""
    spans, values, headers_seen, raw, others, refuse, partial = [], [], [], [], [], 0, False

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
        kind = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest, "/v1/logs": ExportLogsServiceRequest}.get(self.path)
        status, answer = 200, b"{}"
        cls = type(self)
        if not kind:
            status = 404
        elif cls.refuse:
            cls.refuse -= 1
            status = 503
        elif self.headers["Content-Type"] == "application/json":
            self.take(json.loads(body), kind())
            if cls.partial:
                answer = b'{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}'
        else:
            kind().ParseFromString(body)
            (cls.raw if kind is ExportTraceServiceRequest else cls.others).append((kind, body) if kind is not ExportTraceServiceRequest else body)
        cls.headers_seen.append(dict(self.headers))
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def take(self, document, message):
        for part in document.get("resourceSpans", []):
            for scope in part["scopeSpans"]:
                for s in scope["spans"]:  # OTLP's JSON has ids in hexadecimal, which protobuf's reader takes as base64
                    assert len(bytes.fromhex(s["traceId"])) == 16 and len(bytes.fromhex(s["spanId"])) == 8, s
        json_format.ParseDict(document, message)  # refuses what is not in the schema
        if isinstance(message, ExportTraceServiceRequest):
            for part, raw in zip(message.resource_spans, document["resourceSpans"]):
                found, names = part.scope_spans[0].spans, raw["scopeSpans"][0]["spans"]
                type(self).spans += [(s, n["traceId"], n["spanId"], n.get("parentSpanId"), part.resource) for s, n in zip(found, names)]
        else:
            for part in message.resource_metrics:
                host = {a.key: a.value.string_value for a in part.resource.attributes}
                for m in part.scope_metrics[0].metrics:
                    type(self).values += [(m.name, m.unit, host["host.name"], tuple((a.key, a.value.string_value) for a in p.attributes), p.time_unix_nano, p.as_double) for p in m.gauge.data_points]

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"

# In: what the SDK makes, as the bytes that it sends.
kept = []


class Keep(OTLPSpanExporter):
    def export(self, spans):
        kept.extend(spans)
        return super().export(spans)


provider = TracerProvider(resource=Resource.create({"service.name": "trainer", "process.pid": 4711}))
provider.add_span_processor(SimpleSpanProcessor(Keep(endpoint=URL + "/v1/traces")))
tracer = provider.get_tracer("test")
with tracer.start_as_current_span("outer", attributes={"a": 1, "b": "zwei", "c": 2.5, "d": True}) as outer:
    outer.add_event("half", {"why": "so"})
    for i in range(20):
        with tracer.start_as_current_span(f"step {i % 3}", kind=trace.SpanKind.CLIENT):
            time.sleep(0.001)
both = [tracer.start_span(f"overlap {i}") for i in range(3)]
time.sleep(0.002)
for s in both:
    s.end()
provider.shutdown()
assert len(kept) == 24 and len(Receiver.raw) == 24, (len(kept), len(Receiver.raw))
for name, data in (("sent.pb", b"".join(Receiver.raw)), ("once.pb", encode_spans(kept).SerializeToString()),
                   ("sent.json", "\n".join(json_format.MessageToJson(ExportTraceServiceRequest.FromString(r), indent=None) for r in Receiver.raw).encode())):
    pathlib.Path(name).write_bytes(data)
    shutil.rmtree("rec", ignore_errors=True)
    sonde("import", "otlp", name, "-o", "rec")
    found = table("spans", "rec")
    assert collections.Counter((s["name"], round(float(s["duration_seconds"]) * 1e9)) for s in found) == collections.Counter((s.name, s.end_time - s.start_time) for s in kept), name
    assert {s["track"] for s in found} == {"trainer 4711", "trainer 4711, lane 2", "trainer 4711, lane 3"}
    assert [s["detail"] for s in found if s["name"] == "outer"] == ["a=1 b=zwei c=2.5 d=true"]
    assert [(m["name"], m["message"]) for m in table("marks", "rec") if m["name"] != "resource"] == [("half", "why=so")]

# Metrics and logs of the SDK, in protobuf and in JSON: each value and record once, with its attributes.
of = Resource.create({"service.name": "trainer", "process.pid": 4711, "deployment.environment": "a test"})
meters = MeterProvider(resource=of, metric_readers=[PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=URL + "/v1/metrics"), export_interval_millis=3_600_000)])
meter = meters.get_meter("test")
steps, took, size = meter.create_counter("steps", unit="1"), meter.create_histogram("took", unit="s"), meter.create_gauge("queue.size", unit="{item}")
for i in range(5):
    steps.add(1, {"phase": "train" if i % 2 else "a b"})
    took.record(0.25)
    size.set(7 - i)
meters.force_flush()
logs = LoggerProvider(resource=of)
logs.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter(endpoint=URL + "/v1/logs")))
logger = logging.getLogger("of the test")
logger.propagate = False
logger.addHandler(LoggingHandler(logger_provider=logs))
logger.warning("it is late", extra={"n": 7})
meters.shutdown()
logs.shutdown()
values = [(k, b) for k, b in Receiver.others if k is ExportMetricsServiceRequest][:1]
records = [(k, b) for k, b in Receiver.others if k is ExportLogsServiceRequest]
assert len(values) == 1 and len(records) == 1, Receiver.others
for name, data in (("more.pb", b"".join(b for _, b in values + records)), ("more.json", "\n".join(json_format.MessageToJson(k.FromString(b), indent=None) for k, b in values + records).encode())):
    pathlib.Path(name).write_bytes(data)
    shutil.rmtree("rec", ignore_errors=True)
    sonde("import", "otlp", name, "-o", "rec")
    found = sorted((c["name"], float(c["value"])) for c in table("counters", "rec"))
    assert found == [("queue.size ({item})", 3), ('steps {"phase=a b"}', 3), ("steps {phase=train}", 2), ("took count", 5), ("took sum (s)", 1.25)], (name, found)
    marks = {m["name"]: m["message"] for m in table("marks", "rec")}
    assert '"body=it is late"' in marks["WARN"] and "n=7" in marks["WARN"] and '"deployment.environment=a test"' in marks["resource"], (name, marks)
Receiver.headers_seen.clear()

# Out: the job, its spans and its samples.
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
shutil.rmtree("job", ignore_errors=True)
program = """
import sonde, time
for i in range(5):
    with sonde.span("step", category="training", n=i, file="a b", rate=0.5):
        time.sleep(0.05)
    sonde.counter("loss", 5 - i)
sonde.mark("here", why="so")
time.sleep(1.2)
"""
sonde("run", "-q", "-i", "200ms", "-o", "job", "--", "/usr/bin/python3", "-c", program, TRACEPARENT=f"00-{TRACE}-{PARENT}-01", PYTHONPATH=os.environ["TOP"] + "/python", SONDE_LIBRARY=os.environ["BUILD"] + "/libsonde.so.0")
Receiver.refuse = 2  # as one that is busy
pushed = sonde("push", "job", "--to", "otlp", "--url", URL, "--labels", "cluster=blue", OTEL_EXPORTER_OTLP_HEADERS="api-key=secret,other=x", OTEL_SERVICE_NAME="my app",
               OTEL_RESOURCE_ATTRIBUTES="team=green")
assert "secret" not in pushed.stderr and Receiver.headers_seen[-1]["api-key"] == "secret" and Receiver.headers_seen[-1]["other"] == "x"
spans = {s.name: (s, t, i, p, r) for s, t, i, p, r in Receiver.spans}
jobs = [x for x in Receiver.spans if x[3] == PARENT]
assert len(jobs) == 1 and {t for _, t, *_ in Receiver.spans} == {TRACE}, Receiver.spans
job = jobs[0]
steps = [x for x in Receiver.spans if x[0].name == "step"]
assert len(Receiver.spans) == 6 and len(steps) == 5 and {x[3] for x in steps} == {job[2]} and len({x[2] for x in Receiver.spans}) == 6, Receiver.spans
assert all(job[0].start_time_unix_nano <= s.start_time_unix_nano and s.end_time_unix_nano <= job[0].end_time_unix_nano for s, *_ in steps)
assert [e.name for e in job[0].events] == ["here"] and {a.key: a.value.string_value for a in job[4].attributes}["cluster"] == "blue"
resource = {a.key: a.value.string_value for a in job[4].attributes}
assert resource["service.name"] == "my app" and resource["team"] == "green", resource
assert {a.key: a.value.string_value for e in job[0].events for a in e.attributes}["why"] == "so"
for n, (s, *_) in enumerate(sorted(steps, key=lambda x: x[0].start_time_unix_nano)):
    said = {a.key: a.value for a in s.attributes}
    assert said["n"].int_value == n and said["file"].string_value == "a b" and said["rate"].double_value == 0.5 and said["category"].string_value == "training", s
assert [v[5] for v in Receiver.values if v[0] == "loss"] == [5, 4, 3, 2, 1], [v for v in Receiver.values if v[0] == "loss"]
mine = sorted(round(float(s["duration_seconds"]) * 1e9) for s in table("spans", "job"))
assert sorted(s.end_time_unix_nano - s.start_time_unix_nano for s, *_ in steps) == mine, mine
# Each value once, as the export has it.
values = Receiver.values
assert len(values) == len({v[:2] + v[2:5] for v in values}) > 500, len(values)
assert len({v[0] for v in values}) > 20 and all(v[5] == v[5] for v in values)
exported = collections.Counter((r["metric"], round(float(r["value"]))) for r in table("series", "job") if r["metric"].startswith("filesystem."))
assert exported and exported == collections.Counter((v[0], round(v[5])) for v in values if v[0].startswith("filesystem.")), exported
# Again: nothing; another receiver: all.
count = len(Receiver.spans), len(Receiver.values)
assert "already" in sonde("push", "job", "--to", "otlp", "--url", URL, "--labels", "cluster=blue").stderr and count == (len(Receiver.spans), len(Receiver.values))
sonde("push", "job", "--to", "otlp", "--url", URL)
assert (len(Receiver.spans), len(Receiver.values)) == (2 * count[0], 2 * count[1])
assert {x[2] for x in Receiver.spans[count[0]:]} == {x[2] for x in Receiver.spans[:count[0]]}

# What comes back in is what went out.
pathlib.Path("back.json").write_text(json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [json_format.MessageToDict(s) for s, *_ in Receiver.spans[:count[0]]]}]}]}), encoding="utf-8")
shutil.rmtree("rec", ignore_errors=True)
sonde("import", "otlp", "back.json", "-o", "rec")
assert sorted(round(float(s["duration_seconds"]) * 1e9) for s in table("spans", "rec") if s["name"] == "step") == mine

# Killed in between, it goes on; refused parts are told; a wrong address is told.
Receiver.spans, Receiver.values = [], []
for _ in range(4):
    p = subprocess.Popen([SONDE, "push", "job", "--to", "otlp", "--url", URL, "--labels", "killed=yes"], stderr=subprocess.DEVNULL)
    time.sleep(0.02)
    p.kill()
    p.wait(patience(30))
sonde("push", "job", "--to", "otlp", "--url", URL, "--labels", "killed=yes")
assert {v[:5] for v in Receiver.values} == {v[:5] for v in values} and len({x[2] for x in Receiver.spans}) == 6
Receiver.partial = True
assert "has not taken all: too old" in sonde("push", "job", "--to", "otlp", "--url", URL, "--labels", "p=1", code=1).stderr
assert "status 404" in sonde("push", "job", "--to", "otlp", "--url", URL + "/elsewhere", code=1).stderr
assert "OTEL_EXPORTER_OTLP_ENDPOINT" in sonde("push", "job", "--to", "otlp", code=2).stderr
assert "NAME=VALUE" in sonde("push", "job", "--to", "otlp", "--url", URL, "--labels", "x", code=2).stderr
