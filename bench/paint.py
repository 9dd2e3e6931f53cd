# SPDX-License-Identifier: Apache-2.0
"""paint.py PAGE: prints after how many ms headless Chromium first paints something of a page, and how many files it asked for besides."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
from chromium import Chromium  # noqa: E402

browser = Chromium()
browser.open("file://" + os.path.abspath(sys.argv[1]))
first = browser.wait_for("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
asked = browser.evaluate("performance.getEntriesByType('resource').length")
browser.close()
print(round(first), asked)
