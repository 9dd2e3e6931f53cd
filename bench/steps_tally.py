# SPDX-License-Identifier: Apache-2.0
"""What the families of real programs of bench/steps.sh have in common: print the tally, and a folder for the recordings."""
import os
import sys
import tempfile


def print_tally(judged):
    """Columns of (what, whether it was right): what and percent."""
    tally = {}
    for what, good in judged:
        tally.setdefault(what, []).append(good)
    for what, all_of in tally.items():
        print(f"{what}\t{100 * sum(all_of) / len(all_of):.1f}")


def main(run):
    """run(FAMILY, folder) with the words of the command line, FAMILY [FOLDER]."""
    if sys.argv[2:]:
        run(sys.argv[1], os.path.abspath(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            run(sys.argv[1], temporary)
