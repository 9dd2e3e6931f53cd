# SPDX-License-Identifier: Apache-2.0
"""A server of PostgreSQL for a test: Debian's, started as an ordinary user, with a password, on loopback and a socket of its own. It ends
with the test, however that ends, and leaves nothing."""
import atexit
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from patience import patience

PASSWORD = "Gehe1m"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        helper = os.path.join(os.path.dirname(os.path.realpath(os.environ["SONDE"])), "libexec/sonde/sonde-database")
        if not found or not os.path.exists(helper):
            print("PostgreSQL is not installed" if not found else "sonde-database was not built: libsqlite3-dev is not installed")
            sys.exit(77)
        self.bin = os.path.dirname(found[-1])
        # The test's own folder is closed to others, and root may not run a server.
        self.folder = tempfile.mkdtemp(prefix="sonde-pg-", dir="/tmp")
        self.process = None
        atexit.register(self.stop)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        self.user = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self.data, self.port = os.path.join(self.folder, "data"), free_port()
        password = os.path.join(self.folder, "password")
        with open(password, "w") as f:
            f.write(PASSWORD + "\n")
        os.chmod(password, 0o644)
        self.log = open(os.path.join(self.folder, "log"), "w")
        subprocess.run([f"{self.bin}/initdb", "-D", self.data, "-U", "anna", "-A", "scram-sha-256", "--pwfile", password, "-E", "UTF8",
                        "--no-sync", "--locale=C"], check=True, stdout=self.log, stderr=self.log, cwd=self.folder, **self.user)
        self.start()
        self.sql("CREATE DATABASE jobs", database="postgres")
        self.url = f"postgres://anna@127.0.0.1:{self.port}/jobs"

    def start(self):
        self.process = subprocess.Popen([f"{self.bin}/postgres", "-D", self.data, "-k", self.folder, "-p", str(self.port),
                                         "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "shared_buffers=16MB"],
                                        stdout=self.log, stderr=self.log, cwd=self.folder, **self.user)
        end = time.monotonic() + patience(60)
        while subprocess.run([f"{self.bin}/pg_isready", "-q", "-h", self.folder, "-p", str(self.port)], check=False).returncode:
            if time.monotonic() > end or self.process.poll() is not None:
                sys.exit("PostgreSQL does not come up: " + open(self.log.name).read()[-2000:])
            time.sleep(0.05)

    def halt(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # who is connected is let go
            try:
                self.process.wait(patience(20))
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGQUIT)
                self.process.wait(patience(20))

    def stop(self):
        self.halt()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def environment(self):
        return {**os.environ, "PGPASSWORD": PASSWORD}

    def sql(self, text, database="jobs"):
        """Rows of texts, None for null."""
        done = subprocess.run([f"{self.bin}/psql", "-X", "-q", "-A", "-t", "-F", "\x1f", "-R", "\x1e", "-P", "null=\x1d", "-v", "ON_ERROR_STOP=1",
                               "-h", self.folder, "-p", str(self.port), "-U", "anna", "-d", database, "-c", text],
                              capture_output=True, text=True, env={**self.environment, "PGOPTIONS": "-c search_path=sonde"}, check=False)
        if done.returncode:
            sys.exit(f"psql: {done.stderr} of {text}")
        text = done.stdout.removesuffix("\n")
        return [[None if c == "\x1d" else c for c in row.split("\x1f")] for row in text.split("\x1e")] if text else []
