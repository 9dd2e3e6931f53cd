# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""An indicator's columns are derived from its first result and then checked, or declared and changed with their declaration, version by
version; nothing that is stored is lost. `sonde bench schema` prints them as SQL that SQLite takes, as a graph's schema, and as JSON."""
import json
import sqlite3

from trials import check, database, end, script, sonde

runs = 0


def result(parameters, measured, *words, code=0, name="PiSome"):
    """Runs a script that says so; the reason of its trial."""
    global runs
    runs += 1
    text = json.dumps({"name": name, "component": "x", "@parameters": parameters, "@result": measured})
    sonde("bench", "run", "-q", "-o", f"d{runs}", *words, script("script", f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n"), code=code)
    return database("SELECT reason FROM trials ORDER BY id DESC LIMIT 1")[0][0]


def columns(table="trials_pi_some"):
    return {name: kind for _, name, kind, *_ in database(f"PRAGMA table_info({table})")}


def version(name="PiSome"):
    return database("SELECT version FROM indicators WHERE name = ?", name)[0][0]


# Derived.
result({"n": 1, "mode": "fast", "deep": True, "list": [1]}, {"elapsed": 3, "none": None, "select": "x", 'a"b': 1.5})
check("derived", columns() == {"trial_id": "INTEGER", "n": "BIGINT", "mode": "TEXT", "deep": "INTEGER", "list": "TEXT", "elapsed": "DOUBLE PRECISION",
                               "select": "TEXT", 'a"b': "DOUBLE PRECISION"}, columns())
check("first version", version() == 1)
indexed = {row[0] for row in database("SELECT name FROM indicator_columns WHERE is_indexed = 1")}
check("indexed", indexed == {"n", "mode", "deep"} and len(database("PRAGMA index_list(trials_pi_some)")) == 3, indexed)
result({"n": 2, "mode": "fast", "deep": False, "list": {"x": 2}}, {"elapsed": 3.5, "none": None})
check("the same columns", version() == 1 and database("SELECT n, list, elapsed FROM trials_pi_some ORDER BY n") == [(1, "[1]", 3.0), (2, '{"x":2}', 3.5)])
result({"n": 0.5, "mode": "slow"}, {"elapsed": 4, "none": 7})
check("a wider one and a new one", version() == 2 and columns()["n"] == "DOUBLE PRECISION" and columns()["none"] == "DOUBLE PRECISION", columns())
check("values stay", database("SELECT n FROM trials_pi_some ORDER BY trial_id") == [(1.0,), (2.0,), (0.5,)])
check("since", dict(database("SELECT name, since FROM indicator_columns")) == {**{c: 1 for c in columns() if c not in ("trial_id", "n", "none")}, "n": 2, "none": 2},
      database("SELECT name, since FROM indicator_columns"))
reason = result({"n": 1, "mode": 3}, {"elapsed": 1}, code=1)
check("another type", reason == "line 1: @parameters.mode: a number, and as a column of PiSome it is text", reason)
reason = result({"n": 1}, {"elapsed": 1, "mode": "x"}, code=1)
check("another part", reason == "line 1: @result.mode is declared as a parameter of PiSome", reason)
check("nothing changed", version() == 2 and len(database("SELECT * FROM trials_pi_some")) == 3)


# Declared.
def declare(text):
    with open("site.model", "w") as f:
        f.write(text)
    return "--model", "site.model"


first = declare("""# of this site
indicator PiSite
  parameter size int index required   # elements
  parameter padding any
  result elapsed real unit=ms required
  result *_average real unit=us
  score elapsed 100 0
""")
result({"size": 8, "padding": "SAME"}, {"elapsed": 25, "x_average": 1}, *first, name="PiSite")
result({"size": 8, "padding": 1}, {"elapsed": 200.5}, *first, name="PiSite")
check("declared", columns("trials_pi_site") == {"trial_id": "INTEGER", "size": "BIGINT", "padding": "TEXT", "elapsed": "DOUBLE PRECISION",
                                               "x_average": "DOUBLE PRECISION"}, columns("trials_pi_site"))
check("texts and numbers", database("SELECT padding FROM trials_pi_site") == [("SAME",), ("1",)])
check("score", [r[0] for r in database("SELECT score FROM trials ORDER BY id DESC LIMIT 2")] == [-1, 0.5])
for parameters, measured, words in (({"size": 8.5}, {"elapsed": 1}, "size: a number, and as a column of PiSite it is int"),
                                    ({"size": 8}, {}, "@result.elapsed is missing, and PiSite requires it"),
                                    ({"size": 8}, {"elapsed": None}, "@result.elapsed is missing, and PiSite requires it"),
                                    ({"size": 8, "more": 1}, {"elapsed": 1}, "more is none of the columns that are declared of PiSite")):
    reason = result(parameters, measured, *first, code=1, name="PiSite")
    check(f"reason of {parameters}", words in reason, reason)
# Without its file the store knows it all the same.
reason = result({"size": 8, "more": 1}, {"elapsed": 1}, code=1, name="PiSite")
check("known in the store", "more is none of the columns" in reason, reason)
second = declare("""indicator PiSite
  parameter size real index required
  parameter padding any index
  parameter more int
  result elapsed real unit=ms required
  result *_average real unit=us
  score elapsed 100 0
""")
result({"size": 8.5, "more": 1}, {"elapsed": 1}, *second, name="PiSite")
check("changed", version("PiSite") == 2 and columns("trials_pi_site")["size"] == "DOUBLE PRECISION" and
      database("SELECT size, elapsed FROM trials_pi_site ORDER BY trial_id") == [(8.0, 25.0), (8.0, 200.5), (8.5, 1.0)],
      (version("PiSite"), database("SELECT * FROM trials_pi_site")))
check("unit", database("SELECT unit FROM indicator_columns WHERE name = 'elapsed' AND indicator_id = 2")[0][0] == "ms")
n = database("SELECT COUNT(*) FROM trials")[0][0]
third = declare("indicator PiSite\n parameter size int\n result elapsed real\n")
with open("script", "w") as f:
    f.write('#!/bin/sh\necho \'{"name": "PiSite", "component": "x", "@parameters": {"size": 1}, "@result": {"elapsed": 1}}\'\n')
p = sonde("bench", "run", "-q", "-o", "narrow", *third, "./script", code=1)
check("narrower is refused", "PiSite.size was real, whose values do not all fit int" in p.stderr and database("SELECT COUNT(*) FROM trials")[0][0] == n, p.stderr)

# What is no model says where and why.
for text, words in (("parameter x int", "site.model:1:1: a model begins with indicator NAME"),
                    ("indicator PiX\n\nparameter x whole", "site.model:3:13: a type is int, real, text, bool, any or json, and not 'whole'"),
                    ("indicator PiX\nparameter x int sorted", "not 'sorted'"), ("indicator PiX\nparameter x int\nresult X int", "exists already: 'X'"),
                    ("indicator", "an indicator has one name"), ("indicator a;b", "an indicator has one name"), ("indicator PiX\nscore x 1 2", "a score is a column of numbers"),
                    ("indicator PiX\nresult x int\nscore x 1 1", "two numbers that differ"), ("indicator PiX\nresult * int required", "cannot be required"),
                    ("indicator PiX\ntable Other", "a table has one name"), ("frobnicate", "not with 'frobnicate'"), ("a\0b", "this is not text"),
                    ("indicator PiX\nparameter x int " + "y " * 80, "unexpected: "), ("x" * 1000, "a line is too long")):
    declare(text)
    p = sonde("bench", "schema", "--model", "site.model", code=2)
    check(f"sentence for {text!r}", words in p.stderr and p.stderr.count("\n") == 1, p.stderr)

# Named queries: columns, conditions, an order, a limit; what is wrong with one says where.
QUERIES = """indicator PiQuery
  parameter size int index
  parameter mode text
  parameter deep bool
  result elapsed real unit=ms required
  result *_average real
  result note text
  result fine bool
  result list json
  query fast       # of the deep ones
    show size mode deep elapsed
    show x_average peak_memory_bytes host.cpu_model batch
    where size>=2
    where host.cpu_model=*   # a fact
    where mode=a *
    order elapsed
    order size desc
    limit 2
  query all
  query noted
    show note fine
    where note=x*
    order fine desc
"""
words = declare(QUERIES)
for size, mode, elapsed, more in ((1, "a b", 1, {}), (2, "a b", 5, {"x_average": 0.5}), (4, "a b", 5, {}), (8, "a c", 4, {}), (8, "b", 3, {"note": "x", "fine": False}),
                                  (9, "b", 3, {"note": "xy", "fine": True})):
    result({"size": size, "mode": mode, "deep": size > 2}, {"elapsed": elapsed, **more}, *words, name="PiQuery")
result({"size": 16, "mode": "a d", "deep": True}, {"elapsed": 1}, *words, name="PiQuery")
with open("script", "a") as f:
    f.write("exit 1\n")
sonde("bench", "run", "-q", "-o", "queried", *words, "./script", code=1)
p = sonde("bench", "query", *words, "PiQuery", "fast", "-w", "size<16", "--json")
said = json.loads(p.stdout)
check("columns of a query", [(c["name"], c["unit"]) for c in said["columns"]] == [("size", None), ("mode", None), ("deep", None), ("elapsed", "ms"), ("x_average", None),
      ("peak_memory_bytes", "B" if said["columns"][5]["unit"] else None), ("host.cpu_model", None), ("batch", None)], said["columns"])
check("its order and limit", said["found"] == 3 and [t["values"][:5] for t in said["trials"]] == [[8, "a c", True, 4, None], [4, "a b", True, 5, None]], said)
check("batch and fact", all(t["values"][7] == t["batch"] and t["values"][6] for t in said["trials"]), said)
p = sonde("bench", "query", *words, "PiQuery", "fast", "-w", "size<16")
check("as text", [line.split()[1:4] for line in p.stdout.splitlines()] == [["size", "mode", "deep"], ["8", "a", "c"], ["4", "a", "b"]] and
      "the first 2 of 3 trials" in p.stderr, (p.stdout, p.stderr))
said = json.loads(sonde("bench", "query", *words, "PiQuery", "all", "-w", "size<4", "--json").stdout)
check("all columns", {c["name"] for c in said["columns"]} == {"size", "mode", "deep", "elapsed", "x_average", "note", "fine"} and len(said["trials"]) == 2, said)
said = json.loads(sonde("bench", "query", *words, "PiQuery", "noted", "--json").stdout)
check("results that are texts", [t["values"] for t in said["trials"]] == [["xy", True], ["x", False]], said)
check("of them with other words", [line.split()[1:] for line in sonde("bench", "query", *words, "PiQuery", "noted", "-w", "fine=true").stdout.splitlines()] ==
      [["note", "fine"], ["xy", "true"]])
check("failed ones", "1 trial that failed is left out" in sonde("bench", "query", *words, "PiQuery", "all").stderr)
check("none like that", "no matching trial" in sonde("bench", "query", *words, "PiQuery", "all", "-w", "size>99").stderr)
for operands, text in (((), "no indicator or query given"), (("PiQuery",), "has fast, all, noted"), (("PiQuery", "slow"), "has fast, all, noted"), (("PiNone", "x"), "no model declares 'PiNone'")):
    p = sonde("bench", "query", *words, *operands, code=2)
    check(f"sentence for query {operands}", text in p.stderr and p.stderr.count("\n") == 1, p.stderr)
check("without trials", "no trial of 'PiMatmul' is kept" in sonde("bench", "query", "PiMatmul", "best", code=1).stderr)
declared = next(i for i in json.loads(sonde("bench", "schema", "--format", "json", *words).stdout)["indicators"] if i["name"] == "PiQuery")["queries"]
check("declared queries", declared[0]["where"] == ["size>=2", "host.cpu_model=*", "mode=a *"] and declared[0]["limit"] == 2 and
      declared[0]["order"] == [{"name": "elapsed", "descending": False}, {"name": "size", "descending": True}] and declared[1]["show"] == [], declared)
for line, at, text in (("query", 3, "a query has one name"), ("query a;b", 3, "a query has one name"), ("query fast", 9, "exists already: 'fast'"),
                       ("show", 3, "show takes names"), ("show size sise", 13, "not a declared parameter or result"), ("show *_average", 8, "each column by itself"),
                       ("show list", 8, "no lists and objects"), ("where sise=1", 9, "not a declared parameter or result"), ("where size", 9, "is not a condition"),
                       ("where size<x", 9, "'x' is not a number"), ("where", 3, "where takes a condition"), ("order Size", 9, "not a declared parameter or result"),
                       ("order size up", 14, "asc or desc, not 'up'"), ("order", 3, "one column"), ("limit 0", 9, "a whole number"), ("limit 9x", 9, "a whole number"),
                       ("limit 1", 9, "a second limit"), ("select 1", 3, "not with 'select'")):
    declare(QUERIES[:QUERIES.index("  query all")] + "  " + line + "\n")
    p = sonde("bench", "query", *words, "PiQuery", "fast", code=2)
    check(f"sentence for {line!r}", f"site.model:19:{at}: " in p.stderr and text in p.stderr and p.stderr.count("\n") == 1, p.stderr)
declare("indicator PiX\n  show x\n")
check("a query's line alone", "site.model:2:3: a query begins with query NAME" in sonde("bench", "schema", "--model", "site.model", code=2).stderr)

# The schema of the document's example, as a graph's and as SQL.
words = declare("""indicator PiModel
  parameter dtype text index
  parameter device text index
  parameter reps int index
  parameter matrix_size int index
""")
rdf = sonde("bench", "schema", "--format", "rdf", *words).stdout
for line in ("<dtype>: string @index(exact) .", "<device>: string @index(exact) .", "<reps>: int @index(int) .", "<matrix_size>: int @index(int) .",
             "<overall_score>: float .", "<ru_utime>: float .", "<ru_nvcsw>: int .", "<origin>: string @index(exact) .", "<padding>: string @index(exact) ."):
    check(f"predicate {line}", rdf.splitlines().count(line) == 1, rdf)
predicates = [line.split(":")[0] for line in rdf.splitlines() if line.endswith(" .")]
check("each predicate once", len(predicates) == len(set(predicates)), predicates)
check("its type", "type PiModel {" in rdf and all(f"  <{name}>" in rdf.split("type PiModel {")[1] for name in ("dtype", "device", "reps", "matrix_size")), rdf)
sql = sonde("bench", "schema", *words).stdout
with sqlite3.connect(":memory:") as db:
    db.executescript(sql)
    check("SQL", {"trials_pi_model", "pi_matmul", "trials"} <= {r[0] for r in db.execute("SELECT name FROM sqlite_master")})
check("PostgreSQL's", "GENERATED BY DEFAULT AS IDENTITY" in sonde("bench", "schema", "--database", "postgres").stdout)
said = json.loads(sonde("bench", "schema", "--format", "json", *words).stdout)
check("JSON", {i["name"] for i in said["indicators"]} >= {"PiModel", "PiMatmul", "PiConv1D", "PiConv2D", "PiPyBench"}, said)

# Where the store has no room, or not the name, a trial has failed, and no batch has ended.
reason = result({}, {f"x{i}": i for i in range(1000)}, name="PiWide")
check("many columns", reason is None and len(columns("trials_pi_wide")) == 1001, reason)
check("their statistics", "x999 " in sonde("bench", "stats").stdout)
reason = result({}, {f"y{i}": i for i in range(1000)}, code=1, name="PiWide")
check("too many columns", reason == "PiWide has 1000 columns, and this brings 1000 more, where a table has room for 1400; "
      "what differs from trial to trial is a value, and no name", reason)
result({}, {"x": 1}, name="Pi.Same")
reason = result({}, {"x": 1}, code=1, name="Pi-Same")
check("another's table", reason == "the table trials_pi_same is that of Pi.Same; give Pi-Same another name", reason)
# Which of two values is better follows from the unit, where it tells: what is per second is a rate, a time per step is none.
units = declare("indicator PiUnits\n" + "".join(f"  result r{i} real unit={unit}\n" for i, unit in enumerate(("GB/s", "ms/step", "ms", "steps"))))
result({}, {f"r{i}": 1 for i in range(4)}, *units, name="PiUnits")
better = [json.loads(sonde("bench", "history", "PiUnits", "-c", f"r{i}", "--json").stdout)["better"] for i in range(4)]
check("better", better == ["more", None, "less", None], better)
end()
