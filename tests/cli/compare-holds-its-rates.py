# SPDX-License-Identifier: Apache-2.0
"""How often sonde compare is right, on made measurements with a fixed seed: docs/compare.md has the table of --long."""
import os
import subprocess

PAIRS = "1000" if os.environ["LONG"] else "200"
CHANCE = 0 if os.environ["LONG"] else 2.5  # percent, of few pairs
made = subprocess.run([os.environ["PROGRAMS"] + "/compare_rates", PAIRS], capture_output=True, text=True, check=True).stdout
rows = [line.split("\t") for line in made.splitlines()]
assert len(rows) == 3 * 8 * 4 * 2, len(rows)
for order, noise, repeats, sd, worse, same, _, found in rows:
    row = (order, noise, repeats, sd, worse, same, found)
    # Whatever the noise and the order, nothing is called worse than its like more often than this.
    assert float(worse) <= 6.5 + CHANCE, row
    if (noise, repeats, sd) == ("gaussian", "10", "2"):
        assert float(same) >= 80 - CHANCE, row
        assert float(found) >= 95 - CHANCE or order == "one after the other", row
print(made)
