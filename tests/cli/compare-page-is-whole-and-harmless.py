# SPDX-License-Identifier: Apache-2.0
"""compare --html: one private file, no script, nothing from elsewhere, hostile names as text; both groups drawn."""
import html.parser
import os
import re
import stat
import subprocess
import sys

SONDE = os.environ["SONDE"]
HOSTILE = '<script>alert(1)</script> "\'&| `x` [a](http://b) @c'
VOID = {"meta", "link", "br"}
OPTIONAL = {"tr", "td", "th", "thead", "tbody"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in VOID | OPTIONAL:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in OPTIONAL:
            assert self.open.pop() == tag, (tag, self.open)


def record(name):
    subprocess.run([SONDE, "run", "-q", "-i", "20ms", "-o", name, "--", "sh", "-c", "sleep 0.2", HOSTILE], check=True)


for name in ("a1", "a2", "b1", "b2"):
    record(name)
made = subprocess.run([SONDE, "compare", "--markdown", "--html", "sub/page.html", "a1,a2", "b1,b2"], capture_output=True,
                      text=True, check=False)
assert made.returncode in (0, 1, 3), made
assert "<script" not in made.stdout and "](" not in made.stdout and "`x`" not in made.stdout, made.stdout
assert stat.S_IMODE(os.stat("sub/page.html").st_mode) == 0o600
with open("sub/page.html", encoding="utf-8") as f:
    text = f.read()
page = Page()
page.feed(text)
assert not page.open, page.open
tags = [tag for tag, _ in page.seen]
assert "script" not in tags and tags.count("style") == 1, tags
policy = [a["content"] for tag, a in page.seen if tag == "meta" and a.get("http-equiv")]
assert len(policy) == 1 and policy[0].startswith("default-src 'none'"), policy
assert not re.search(r"(?:src|href)=\"(?!data:,)", text)
drawn = [a.get("class") for tag, a in page.seen if tag in ("path", "circle")]
assert drawn.count("a") > 4 and drawn.count("b") > 4, drawn
sys.exit(0)
