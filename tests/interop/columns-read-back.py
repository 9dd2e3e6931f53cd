# SPDX-License-Identifier: Apache-2.0
# limit: 600
"""What is put into Parquet, Feather, ORC and a pickle comes out again in every reader there is, value by value: tables from seeds, with absent cells,
extremes, NaN, infinities, texts of all kinds, no row, one row, and many row groups; with LONG of more seeds."""
import os
import subprocess
import sys

TOP, BUILD = os.environ["TOP"], os.environ["BUILD"]
READERS = {
    "parquet": ["pyarrow", "duckdb", "polars", "chdb", "pandas"],
    "feather": ["pyarrow", "polars", "chdb", "pandas"],
    "orc": ["pyarrow", "chdb", "pandas"],
    "pickle": ["pandas"],
}
EXTENSIONS = {"pickle": "pkl"}
VENVS = {"venv": None, "venv-pandas1": ["pandas", "pyarrow"], "venv-pandas2": ["pandas"]}
SEEDS = {0: range(1, 7), 1: range(10, 30), 997: range(30, 90), 70001: range(100, 110), 1100000: (427, 445, 498)}
FEWER = {997: 30, 70001: 4, 1100000: 1}  # without LONG
TABLES = [(seed, rows) for rows, seeds in SEEDS.items() for seed in (seeds if os.environ["LONG"] else seeds[:FEWER.get(rows, 30)])]


def make(seed, rows):
    """The files of a table, by format, and the folder of what is wanted."""
    folder = f"{seed}.{rows}"
    os.mkdir(folder)
    files = {name: f"{folder}/table.{EXTENSIONS.get(name, name)}" for name in READERS}
    subprocess.run([f"{os.environ['PROGRAMS']}/random_table", str(seed), str(rows), folder,
                    *(f"{name}={path}" for name, path in files.items())], check=True)
    return files, folder


def arms():
    """(Python, reader, formats)"""
    for venv, only in VENVS.items():
        names = sorted({r for readers in READERS.values() for r in readers if not only or r in only})
        for reader in names:
            yield f"{BUILD}/{venv}", reader, [f for f, readers in READERS.items() if reader in readers]


def main():
    missing = [venv for venv in VENVS if not os.path.exists(f"{BUILD}/{venv}/requirements.txt")]
    made = [make(seed, rows) for seed, rows in TABLES]
    bad = 0
    for venv, reader, formats in arms():
        if os.path.basename(venv) in missing:
            continue
        pairs = [word for files, folder in made for f in formats for word in (files[f], folder)]
        run = subprocess.run([f"{venv}/bin/python", f"{TOP}/tests/columns.py", reader, *pairs], check=False,
                             capture_output=True, text=True, errors="replace")
        print(f"{os.path.basename(venv)}: {run.stdout}{run.stderr[-2000:] if run.returncode else ''}", flush=True)
        bad += run.returncode != 0
    if not bad and missing:
        print(f"not all readers were asked: {', '.join(missing)} is not there (tests/readers/venv.sh makes it with what PyPI has)")
        sys.exit(77)
    sys.exit(1 if bad else 0)


main()
