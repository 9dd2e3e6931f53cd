# SPDX-License-Identifier: Apache-2.0
# How a job ended is said in the same words at the head of the summary, the page and the PDF.
. "$TOP/tests/lib.sh"
need pdftotext
[ -x "$LIBEXEC/sonde-draw" ] || skip "Sonde was built without cairo and pango"
heads() { # WORDS SCRIPT
	rm -rf job
	"$SONDE" run -q -o job -- bash -c "$2" 2>/dev/null || true
	"$SONDE" show job | head -1 >summary
	contains summary "sonde       $1 after "
	"$SONDE" report --only html job >/dev/null
	"$SONDE" report --only pdf job >/dev/null
	grep -o 'class="badge.*</li>' job/report.html >badge || fail "the page has no badge"
	contains badge "</svg>$1</li>"
	pdftotext job/report.pdf text
	contains text "$1 after "
}
heads "Succeeded (exit code 0)" "exit 0"
heads "Failed (exit code 3)" "exit 3"
heads "Failed (exit code 143, as after SIGTERM)" "exit 143"
heads "Failed (exit code 127, command not found)" "exit 127"
heads "Killed by SIGKILL (signal 9)" 'kill -9 $$'
