# SPDX-License-Identifier: Apache-2.0
"""Which of Sonde's helpers a test needs."""
import os
import sys


def need(*helpers):
    """Ends the test as skipped if one of (name, package that it is built with) is not there."""
    place = os.path.join(os.path.dirname(os.path.realpath(os.environ["SONDE"])), "libexec/sonde")
    for helper, package in helpers:
        if not os.path.exists(f"{place}/sonde-{helper}"):
            print(f"sonde-{helper} was not built: {package} is not installed")
            sys.exit(77)
