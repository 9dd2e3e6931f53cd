# SPDX-License-Identifier: Apache-2.0
"""What a release holds that was not written here: the Debian packages of its libraries, their licences, and the bill of materials."""
import glob
import json
import os
import re
import shutil
import subprocess
import time

# What is linked into static programs, besides the libraries that are copied.
LINKED = ["libc6-dev", "libzstd-dev", "libsqlite3-dev", "libyaml-dev", "libhdf5-dev", "libaec-dev", "zlib1g-dev", "libdeflate-dev", "libbpf-dev",
          "libelf-dev", "libstdc++6"]
SYSROOT = os.environ.get("SYSROOT", "") # of another processor
DATABASE = f"--admindir={SYSROOT}/var/lib/dpkg"
COMMON = "/usr/share/common-licenses"


def query(package):
    form = "${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Homepage}\n"
    line = subprocess.run(["dpkg-query", DATABASE, "-W", "-f", form, package], stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")[0]
    return dict(zip(("name", "version", "source", "source_version", "homepage"), line.split("\t")))


def owner(path):
    """The package of a file, which dpkg may know by its name before /lib became /usr/lib."""
    path = os.path.realpath(path).removeprefix(SYSROOT)
    for name in (path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", DATABASE, "-S", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        if found:
            return found.split(":")[0]
    raise SystemExit(f"release: no Debian package has {path}, so its licence is not known")


def packages(copied):
    return [query(name) for name in sorted({owner(path) for path in copied} | set(LINKED))]


def licences(parts, folder, uplot):
    """Each source's copyright file, and each licence that these only name."""
    os.makedirs(folder)
    named = set()
    for part in parts:
        with open(f"{SYSROOT}/usr/share/doc/{part['name']}/copyright", encoding="utf-8", errors="replace") as f:
            text = f.read()
        named |= set(re.findall(COMMON + r"/([A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9])", text))
        with open(f"{folder}/{part['source']}", "w", encoding="utf-8") as f:
            f.write(text)
    for name in named:
        for path in glob.glob(f"{COMMON}/{name}"):
            shutil.copyfile(path, f"{folder}/{name}")
    shutil.copyfile(f"{uplot}/LICENSE", f"{folder}/uplot")


def spdx_package(name, version, licence, homepage, locator=None):
    package = {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
               "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence,
               "copyrightText": "NOASSERTION"}
    if homepage:
        package["homepage"] = homepage
    if locator:
        package["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]
    return package


def bill(parts, version, uplot, arch, epoch):
    """The SPDX 2.3 document."""
    own = spdx_package("sonde", version, "Apache-2.0", "")
    with open(f"{uplot}/package.json", encoding="utf-8") as f:
        chart = json.load(f)
    inside = [spdx_package("uplot", chart["version"], chart["license"], chart.get("homepage", ""), "pkg:npm/uplot@" + chart["version"])]
    for part in parts:
        locator = f"pkg:deb/debian/{part['name']}@{part['version']}?arch={arch}"
        inside.append(spdx_package(part["name"], part["version"], "NOASSERTION", part["homepage"], locator.replace("+", "%2B")))
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])] + [(own["SPDXID"], "CONTAINS", p["SPDXID"]) for p in inside]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"sonde-{version}-linux-{arch}",
            "documentNamespace": f"urn:sonde:sbom:{version}:{arch}:{epoch}",
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)), "creators": ["Tool: sonde-release"]},
            "packages": [own] + inside,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}
