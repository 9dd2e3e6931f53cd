# SPDX-License-Identifier: Apache-2.0
# report --only plots writes a private SVG file for each plot, well-formed, the same each time, without a helper.
. "$TOP/tests/lib.sh"

"$SONDE" run --quiet -i 50ms -o out -- "$PROGRAMS/spin" 400000 || fail run
mkdir empty
SONDE_LIBEXEC=$PWD/empty "$SONDE" report --only plots out >stdout 2>said || fail report
equal "the path" out/plots "$(cat stdout)"
[ ! -s said ] || fail "talks when all is well: $(cat said)"
[ ! -e out/report.html ] || fail "--only plots writes the page, too"
for name in cpu memory cores roofline; do
	[ -s "out/plots/$name.svg" ] || fail "no plots/$name.svg: $(ls out/plots)"
done
equal "files that are not private" '' "$(find out/plots -type f ! -perm 600)"
$PYTHON - out/plots/*.svg <<'END' || fail "not well-formed"
import sys
import xml.etree.ElementTree as tree
for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg", path
    assert not any(tag in path for tag in ("script", "image")), path
    for element in root.iter():
        assert element.tag.split("}")[1] in ("svg", "title", "rect", "text", "polyline", "polygon", "g", "path"), element.tag
        assert not any(key.startswith("on") or "href" in key for key in element.attrib), element.attrib
END
cp -r out/plots first
"$SONDE" report --only plots out >/dev/null || fail "report again"
diff -r first out/plots || fail "the same recording gives other plots"

# Without --only: the page and the plots, and JSON names each file.
"$SONDE" report --json out | json_says '.files | any(endswith("report.html")) and any(endswith("plots/cpu.svg"))' >/dev/null ||
	fail "--json"

# What was counted is drawn, what was not is said.
contains out/plots/roofline.svg "not counted"
