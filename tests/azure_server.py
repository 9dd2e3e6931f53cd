# SPDX-License-Identifier: Apache-2.0
"""A small server of Azure Table storage for tests: one table on loopback, which checks signatures, gives pages and can fail."""
import base64
import hashlib
import hmac
import http.server
import json
import re
import threading
import urllib.parse

ACCOUNT = "devstoreaccount1"
KEY = base64.b64encode(bytes(range(64))).decode()
SAS = "sv=2019-02-02&sig=abc%2Bdef%3D"
TABLE = "shipyardperf"


class Server:
    """entities: {(partition, row): entity}. fail(n) says of the n-th request None, or (status, Retry-After). endless: so many pages follow one another in a ring."""

    def __init__(self, entities=(), page=1000, empty_every=0, fail=lambda n: None, endless=0):
        self.entities = {(e["PartitionKey"], e["RowKey"]): e for e in entities}
        self.page, self.empty_every, self.fail, self.endless = page, empty_every, fail, endless
        self.seen = []  # (method, path with its query, headers)
        self.schemes = set()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize, disable_nagle_algorithm = 65536, True  # an answer is one packet

            def log_message(self, *_):
                pass

            def answer(self, status, body=b"", **headers):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def signed(self, method):
                path, _, query = self.path.partition("?")
                if urllib.parse.parse_qs(query).get("sig") == ["abc+def="]:
                    owner.schemes.add("SAS")
                    return "Authorization" not in self.headers
                scheme, _, said = self.headers.get("Authorization", " ").partition(" ")
                date, content = self.headers.get("x-ms-date", ""), self.headers.get("Content-Type", "")
                text = f"{date}\n/{ACCOUNT}{path}"
                if scheme == "SharedKey":
                    text = f"{method}\n\n{content}\n{text}"
                owner.schemes.add(scheme)
                want = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)).decode()
                return scheme in ("SharedKey", "SharedKeyLite") and said == f"{ACCOUNT}:{want}" and self.headers.get("x-ms-version")

            def begin(self, method):
                length = int(self.headers.get("Content-Length") or 0)
                self.body = self.rfile.read(length)
                owner.seen.append((method, self.path, dict(self.headers)))
                failed = owner.fail(len(owner.seen))
                if failed:
                    self.answer(failed[0], b"later", **({"Retry_After": str(failed[1])} if failed[1] is not None else {}))
                    return False
                if not self.signed(method):
                    self.answer(403, b'{"odata.error":{"code":"AuthenticationFailed"}}', x_ms_error_code="AuthenticationFailed")
                    return False
                if not re.match(rf"/{ACCOUNT}/{TABLE}([(?]|$)", self.path):
                    self.answer(404, b'{"odata.error":{"code":"TableNotFound"}}', x_ms_error_code="TableNotFound")
                    return False
                return True

            def do_GET(self):
                if not self.begin("GET"):
                    return
                path, _, query = self.path.partition("?")
                one = re.fullmatch(rf"/{ACCOUNT}/{TABLE}\(PartitionKey='(.*)',RowKey='(.*)'\)", urllib.parse.unquote(path))
                if one:
                    found = owner.entities.get(tuple(k.replace("''", "'") for k in one.groups()))
                    self.answer(200 if found else 404, json.dumps(found).encode() if found else b"{}")
                    return
                asked = urllib.parse.parse_qs(query)
                rows = sorted(owner.entities)
                if "$filter" in asked:
                    wanted = re.fullmatch("PartitionKey eq '(.*)'", asked["$filter"][0])[1].replace("''", "'")
                    rows = [r for r in rows if r[0] == wanted]
                begin = int(asked.get("NextRowKey", ["1!0"])[0][2:])
                assert ("NextPartitionKey" in asked) == (begin > 0), self.path
                pages = len(owner.seen)
                empty = owner.empty_every and pages % owner.empty_every == 0
                end = begin if empty else begin + owner.page
                more = {"x_ms_continuation_nextpartitionkey": "1!a=b&c", "x_ms_continuation_NextRowKey": f"1!{end}"}
                if owner.endless:
                    more["x_ms_continuation_NextRowKey"] = f"1!{7 + pages % owner.endless}"
                value = [owner.entities[r] for r in rows[begin:end]]
                self.answer(200, json.dumps({"value": value}).encode(), **(more if end < len(rows) or owner.endless else {}))

            def do_POST(self):
                if not self.begin("POST"):
                    return
                entity = json.loads(self.body)
                key = entity["PartitionKey"], entity["RowKey"]
                there = key in owner.entities
                owner.entities.setdefault(key, entity)
                if there:
                    self.answer(409, b'{"odata.error":{"code":"EntityAlreadyExists"}}', x_ms_error_code="EntityAlreadyExists")
                else:
                    self.answer(204)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.endpoint = f"http://127.0.0.1:{self.server.server_address[1]}/{ACCOUNT}"
        self.url = f"{self.endpoint}/{TABLE}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
