# SPDX-License-Identifier: Apache-2.0
"""A push over TLS goes to a server whose certificate an authority that is named has signed, for its address, and to no other."""
import os
import shutil
import ssl
import subprocess
import sys

import mlflow_server
from patience import patience

SONDE = os.environ["SONDE"]
if not os.path.exists(os.path.join(os.path.dirname(os.path.realpath(SONDE)), "libexec/sonde/sonde-http")):
    print("sonde-http was not built: libcurl4-openssl-dev is not installed")
    sys.exit(77)
if not shutil.which("openssl"):
    print("openssl is not installed")
    sys.exit(77)


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def authority(name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.pem")


def server(name, signer, address):
    """As much of MLflow as a push asks for, with a certificate for that address."""
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key",
            "-out", f"{name}.csr")
    with open(f"{name}.ext", "w") as f:
        f.write(f"subjectAltName={address}\n")
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{signer}.pem", "-CAkey", f"{signer}.key", "-CAcreateserial", "-days", "2",
            "-extfile", f"{name}.ext", "-out", f"{name}.pem")
    fake = mlflow_server.Fake()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{name}.pem", f"{name}.key")
    fake.server.socket = context.wrap_socket(fake.server.socket, server_side=True)
    fake.uri = fake.uri.replace("http:", "https:")
    return fake


tried = 0


def push(to, fake, code, **variables):
    global tried
    tried += 1
    state, before = f"state{tried}", len(fake.seen)
    os.mkdir(state)
    where = {"MLFLOW_TRACKING_URI": fake.uri} if to == "mlflow" else {"SONDE_REMOTE_WRITE_URL": fake.uri + "/write"}
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MLFLOW", "SSL_", "CURL_"))}
    p = subprocess.run([SONDE, "push", "job", "--to", to, "--state", state, "--patience", "0", *(["--artifacts", "none"] if to == "mlflow" else [])],
                       capture_output=True, text=True, timeout=patience(60), env={**clean, **where, **variables})
    asked = len(fake.seen) > before
    assert p.returncode == code and p.stderr.count("\n") == 1, (to, variables, p)
    if code:
        assert "cannot reach" in p.stderr and "certificate" in p.stderr and not asked, (to, variables, p.stderr, asked)
    else:
        assert asked, (to, variables)


subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "-o", "job", "--", "sleep", "0.3"], check=True)
authority("ours")
authority("theirs")
good, elsewhere = server("good", "ours", "IP:127.0.0.1"), server("elsewhere", "ours", "DNS:example.org")
good.answer = (lambda answer: lambda path, body: answer(path, body) if path else (200, {}))(good.answer)  # remote write's address is no path of MLflow
for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE"):
    for to in ("mlflow", "remote-write"):
        push(to, good, 0, **{name: "ours.pem"})
        push(to, good, 1, **{name: "theirs.pem"})
        push(to, elsewhere, 1, **{name: "ours.pem"})
push("mlflow", good, 1)
push("remote-write", good, 1)
# MLflow's own variables come first.
push("mlflow", good, 0, MLFLOW_TRACKING_SERVER_CERT_PATH="ours.pem", SSL_CERT_FILE="theirs.pem")
push("mlflow", good, 1, MLFLOW_TRACKING_SERVER_CERT_PATH="theirs.pem", SSL_CERT_FILE="ours.pem")
push("mlflow", elsewhere, 0, MLFLOW_TRACKING_INSECURE_TLS="true")
