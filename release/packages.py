# SPDX-License-Identifier: Apache-2.0
"""packages.py TREE OUT VERSION EPOCH ARCH: makes sonde_VERSION_*.deb and sonde-VERSION-1.ARCH.rpm in the folder OUT, of what release/tree.py made, by
dpkg-deb and rpmbuild. They need no other package. The bytes depend only on names, modes and contents."""
import os
import shutil
import subprocess
import sys
import tempfile

SUMMARY = "Records how a batch or ML job used its machines, and explains it"
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
CONTROL = """Package: sonde
Version: {version}
Architecture: {debian}
Maintainer: the authors of Sonde
Installed-Size: {kilobytes}
Section: utils
Priority: optional
Description: {summary}
 The programs bring what they need with them. Python has its own package, sonde-recorder.
"""
SPEC = """Name: sonde
Version: {version}
Release: 1
Summary: {summary}
License: Apache-2.0
AutoReqProv: no
%description
The programs bring what they need with them. Python has its own package, sonde-recorder.
%install
cp -a {stage}/. %{{buildroot}}
%files
%defattr(-,root,root)
{files}
"""
# rpm's macros: nothing of this machine or this hour, nothing stripped or compressed anew, and an archive that rpm 4.14 reads.
MACROS = {"_buildhost": "sonde", "use_source_date_epoch_as_buildtime": "1", "clamp_mtime_to_source_date_epoch": "1", "debug_package": "%{nil}",
          "_build_id_links": "none", "__os_install_post": "%{nil}", "_binary_payload": "w1.xzdio", "_rpmfilename": "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm"}


def staged(tree, stage, lib, epoch):
    """The tree below usr, its libraries in usr/LIB."""
    usr = f"{stage}/usr"
    shutil.copytree(tree, usr, symlinks=True)
    os.remove(f"{usr}/LICENSE") # share/doc/sonde has it
    os.symlink("LICENSE", f"{usr}/share/doc/sonde/copyright")
    if lib != "lib":
        os.rename(f"{usr}/lib", f"{usr}/{lib}")
        replace(f"{usr}/{lib}/pkgconfig/sonde.pc", "${prefix}/lib", f"${{prefix}}/{lib}")
    os.chmod(stage, 0o755) # it is the package's own root
    for folder, folders, files in os.walk(stage):
        for path in [folder] + [os.path.join(folder, name) for name in files + folders]:
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.access(path, os.X_OK) else 0o644)
            os.utime(path, (epoch, epoch), follow_symlinks=False)


def replace(path, old, new):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(old, new))


def owned(stage):
    """What the package has: its own folders, which are called sonde, and the files that lie in others."""
    for folder, folders, files in os.walk(stage):
        folders.sort()
        yield from sorted(f"{folder}/{name}".removeprefix(stage) for name in [d for d in folders if d == "sonde"] + files)
        folders[:] = [d for d in folders if d != "sonde"]


def deb(tree, out, version, epoch, arch, work):
    stage = f"{work}/deb"
    staged(tree, stage, "lib", epoch)
    kilobytes = sum(os.lstat(os.path.join(folder, name)).st_size // 1024 + 1 for folder, _, files in os.walk(stage) for name in files)
    os.mkdir(f"{stage}/DEBIAN", 0o755)
    with open(f"{stage}/DEBIAN/control", "w", encoding="utf-8") as f:
        f.write(CONTROL.format(version=version, debian=DEBIAN[arch], kilobytes=kilobytes, summary=SUMMARY))
    os.utime(f"{stage}/DEBIAN/control", (epoch, epoch))
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", stage, f"{out}/sonde_{version}_{DEBIAN[arch]}.deb"], check=True,
                   stdout=subprocess.DEVNULL)


def rpm(tree, out, version, epoch, arch, work):
    stage = f"{work}/rpm"
    staged(tree, stage, "lib64", epoch)
    with open(f"{work}/sonde.spec", "w", encoding="utf-8") as f:
        f.write(SPEC.format(version=version, summary=SUMMARY, stage=stage, files="\n".join(owned(stage))))
    macros = MACROS | {"_topdir": f"{work}/top", "_rpmdir": out, "_tmppath": work, "_dbpath": f"{work}/database"}
    command = ["rpmbuild", "-bb", "--quiet", "--target", f"{arch}-linux"]
    for name, value in macros.items():
        command += ["--define", f"{name} {value}"]
    ran = subprocess.run(command + [f"{work}/sonde.spec"], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode:
        raise SystemExit(f"release: rpmbuild: {ran.stdout}")


def main():
    tree, out, version, epoch, arch = sys.argv[1:]
    os.umask(0o022)
    os.environ["SOURCE_DATE_EPOCH"] = epoch
    with tempfile.TemporaryDirectory() as work:
        for make in (deb, rpm):
            make(os.path.abspath(tree), os.path.abspath(out), version, int(epoch), arch, work)


if __name__ == "__main__":
    main()
