# SPDX-License-Identifier: Apache-2.0
"""What tests of stacks and waits begin with: the helper must be there, and jobs are an ordinary user's, in a folder where that user may look."""
import os
import tempfile

import built

USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"] if os.getuid() == 0 else []


def need_unwind():
    """Ends the test as skipped where the helper was not built."""
    built.need(("unwind", "libdw-dev"))


def enter_room():
    """Goes into a new folder of that user; it is deleted when what is returned is."""
    room = tempfile.TemporaryDirectory(dir="/tmp")  # pylint: disable=consider-using-with
    os.chdir(room.name)
    os.chmod(".", 0o755)
    os.chown(".", 65534 if USER else -1, -1)
    return room
