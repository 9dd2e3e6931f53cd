# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that is asked over a pipe, by its DevTools protocol: no port, no further program."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from patience import patience

PATIENCE = patience(60)
FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --remote-debugging-pipe""".split()


class Chromium:
    def __init__(self, width=1280, flags=()):
        self.profile = tempfile.mkdtemp(dir=".")
        self.sockets = tempfile.mkdtemp(dir="/tmp")  # their path is to have less than 108 letters
        to_read, self.write = os.pipe()
        self.read, to_write = os.pipe()

        def pipes():
            kept = [os.dup(to_read), os.dup(to_write)]
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(["chromium", *FLAGS, *flags, f"--window-size={width},900", f"--user-data-dir={self.profile}"],
                                        env=os.environ | {"TMPDIR": self.sockets}, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, preexec_fn=pipes, close_fds=False)
        os.close(to_read)
        os.close(to_write)
        self.said, self.number, self.session = b"", 0, None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Inspector.enable")

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.said:
                if not select.select([self.read], [], [], PATIENCE)[0]:
                    raise TimeoutError(f"chromium does not answer to {method}")
                part = os.read(self.read, 1 << 16)
                if not part:
                    raise EOFError("chromium has ended")
                self.said += part
            text, self.said = self.said.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("method") == "Inspector.targetCrashed":
                raise EOFError("the page has crashed")  # else all that is asked of it is waited for
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, expression):
        """The value of an expression in the page; None while there is none."""
        try:
            return self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)["result"].get("value")
        except RuntimeError:
            return None  # the page is being replaced

    def open(self, url):
        error = self.ask("Page.navigate", url=url).get("errorText")
        if error:
            raise RuntimeError(f"{url}: {error}")

    def wait_for(self, expression):
        """Its first value that is true; None when there was none in time."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = self.evaluate(expression)
            if value:
                return value
            time.sleep(0.1)
        return None

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.write)
        os.close(self.read)
        shutil.rmtree(self.profile, ignore_errors=True)
        shutil.rmtree(self.sockets, ignore_errors=True)
