# SPDX-License-Identifier: Apache-2.0
"""Behind --, sonde bench run takes any command: what it prints need not be a result, and it fails only by how it ends; a result is kept all the same."""
import json

from trials import check, database, end, script, sonde

WORDS = ("bench", "run", "-q", "--interval", "100ms")
hello = script("hello", "#!/bin/sh\necho hello\n")
sonde(*WORDS, "-n", "3", "-o", "a", "--", hello, "-x")
rows = database("SELECT state, exit_code, stdout, indicator_id, duration_seconds FROM trials ORDER BY number")
check("kept", [tuple(r)[:4] for r in rows] == [("ok", 0, "hello\n", None)] * 3 and all(r["duration_seconds"] > 0 for r in rows), rows)
stats = json.loads(sonde("bench", "stats", "--json", "bench:1").stdout)["batches"][0]
check("statistics", stats["figures"]["duration_seconds"]["n"] == 3 and stats["failed"] == [], stats)
sonde(*WORDS, "-n", "1", "-o", "b", "--", script("fails", "#!/bin/sh\nexit 3\n"), code=1)
check("it fails by how it ends", database("SELECT reason FROM trials WHERE batch_id = 2")[0][0] == "it ended with exit code 3")
sonde(*WORDS, "-n", "1", "-o", "c", hello, code=1)
check("without --, no result is a failure", "JSON" in database("SELECT reason FROM trials WHERE batch_id = 3")[0][0], database("SELECT reason FROM trials WHERE batch_id = 3")[0][0])
says = script("says", """#!/bin/sh
printf '{"name": "PiSays", "component": "sh", "@parameters": {}, "@result": {"answer": 42}}'
""")
sonde(*WORDS, "-n", "1", "-o", "d", "--", says)
check("a result is taken", [tuple(r) for r in database("SELECT answer FROM trials_pi_says")] == [(42,)])
# A "--" behind the script is the script's.
sonde(*WORDS, "-n", "1", "-o", "e", hello, "--", code=1)
check("not ours", database("SELECT state FROM trials WHERE batch_id = 5")[0][0] == "failed")
end()
