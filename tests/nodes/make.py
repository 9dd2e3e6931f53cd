# SPDX-License-Identifier: Apache-2.0
"""make.py DIR [MACHINE...]: writes the machines of this folder to DIR/MACHINE/{proc,sys}. The build does it; look at them there."""
import os
import shutil
import sys

import broken
import eight_gpus
import fabrics
import grace
import groups
import hybrid_intel
import sandbox
import two_socket
import unusual
import zen4
from tree import Tree

MACHINES = {
    "two-socket": two_socket.make,
    "hybrid-intel": hybrid_intel.make,
    "zen4": zen4.make,
    "grace-superchip": grace.make,
    "infiniband-two-ports": fabrics.infiniband_two_ports,
    "omni-path-node": fabrics.omni_path,
    "slingshot-ex": fabrics.cray_ex,
    "eight-gpus": eight_gpus.make,
    "batch-cgroup-v1": groups.cgroup_v1,
    "batch-cgroup-v2": groups.cgroup_v2,
    "batch-cgroup-hybrid": groups.cgroup_hybrid,
    "hidepid-2": groups.hidepid_2,
    "broken-sysfs": broken.broken_sysfs,
    "largest-counters": broken.largest_counters,
    "vast": broken.vast,
    "power9": unusual.power9,
    "a64fx": unusual.a64fx,
    "cray-xc": unusual.cray_xc,
    "cloud-efa": unusual.cloud,
    "oar-one-hierarchy": unusual.oar,
    "gvisor": sandbox.gvisor,
}


def main():
    for name in sys.argv[2:] or MACHINES:
        where = os.path.join(sys.argv[1], name)
        tree = Tree(name)
        MACHINES[name](tree)
        shutil.rmtree(where, ignore_errors=True)
        tree.write(where)


main()
