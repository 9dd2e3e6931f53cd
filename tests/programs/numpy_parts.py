# SPDX-License-Identifier: Apache-2.0
"""numpy_parts.py INDEX TABLE TEXTS - so many megabytes are first touched in load_index (arrays of 10 MB, whose pages are huge ones where the kernel permits
it), load_table (one array, line by line) and read_texts (objects of Python), beside memory that is given back at once."""
import sys
import time

import numpy as np

MB = 1 << 20


def load_index(mb):
    index = []
    for _ in range(mb // 10):
        index.append(np.ones(10 * MB // 8))
        time.sleep(0.02)
    return index


def load_table(mb):
    table = np.empty((mb, MB), dtype=np.uint8)
    for row in range(mb):
        table[row] = row % 250
        if row % 20 == 0:
            time.sleep(0.04)
    return table


def read_texts(mb):
    texts = []
    for k in range(mb * MB // 4096):
        texts.append(b"%4040d" % k)
        if k % 1000 == 0:
            time.sleep(0.01)
    return texts


def churn(turns):
    for _ in range(turns):
        np.ones(2 * MB // 8).sum()
        time.sleep(0.005)


def main():
    index = load_index(int(sys.argv[1]))
    churn(100)
    table = load_table(int(sys.argv[2]))
    texts = read_texts(int(sys.argv[3]))
    time.sleep(1.5)
    return index, table, texts


main()
