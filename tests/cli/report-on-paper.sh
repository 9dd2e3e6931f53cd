# SPDX-License-Identifier: Apache-2.0
# report --only pdf: a private A4 document, job-report-JOB.pdf, whose text can be selected and whose fonts are in it; the
# same recording gives the same bytes; without the helper the rest is written, and one sentence says so.
. "$TOP/tests/lib.sh"
need pdftotext
[ -x "$LIBEXEC/sonde-draw" ] || skip "Sonde was built without cairo and pango"
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
export PBS_JOBID="47/11" PBS_JOBNAME='<b>&name' USER=nobody-else

narrow=$(printf 'it will still fit until the limit is hit %.0s' $(seq 8)) # letters whose widths are far from whole points
"$SONDE" run --quiet -i 50ms -o out -- sh -c '"$0" 400000; : "</script>"' "$PROGRAMS/spin" "$narrow" || fail run
unset PBS_JOBID PBS_JOBNAME
equal "the path" out/job-report-47_11.pdf "$("$SONDE" report --only pdf out 2>said)"
[ ! -s said ] || fail "talks when all is well: $(cat said)"
file=out/job-report-47_11.pdf
equal "the mode" 600 "$(stat -c %a $file)"
pdfinfo $file >info || fail pdfinfo
pages=$(sed -n 's/^Pages: *//p' info)
contains info '(A4)'
contains info "Job 47/11"
pdffonts $file | tail -n +3 | awk '{ n++; if ($(NF - 4) != "yes") bad = 1 } END { exit !n || bad }' || fail "a font is not embedded: $(pdffonts $file)"
pdftotext -layout -f 1 -l 1 $file first
for words in "Job 47/11" "1 node" "Succeeded (exit code 0)" "<b>&name" "What stands out" "Cores used, on average" "Peak memory" "CPU time" "page 1 of $pages"; do
	contains first "$words"
done
# The paper is 595 points wide, 42.5 of them margin.
pdftotext -bbox $file words
widest=$(sed -n 's/.*<word.* xMax="\([0-9.]*\)".*/\1/p' words | sort -n | tail -n 1)
holds "words end at the margin, at $widest" "$widest > 500 && $widest < 553"
pdftotext -layout -f "$pages" -l "$pages" $file last
contains last "page $pages of $pages"
contains last "Not in this recording: "
# A small job is three or four pages: two or three charts each, and none of what the machine does not have.
charts=$(pdftotext $file - | grep -c "^time since the start")
holds "pages of $charts charts: $pages" "$pages <= 1 + int(($charts + 1) / 3) && $pages <= 4 && $charts >= 4"
pdftotext $file text
sed -n 's/^Not in this recording: //p' last | sed 's/, /\n/g' | while read -r title; do
	[ -z "$title" ] || ! grep -qxF "$title" text || fail "$title is absent, and printed"
done
if pdftotext $file - | grep -q "^Roofline"; then fail "a roofline without its counters is printed"; fi
pdftotext $file - | grep -q "CPU of each core" || fail "no map of the cores"
for title in "Cores used" "Memory of the job" "CPU of each core"; do # the first ones are on the first page already
	equal "how often '$title' is drawn" 1 "$(pdftotext $file - | grep -cx "$title")"
done
cp $file first.pdf
"$SONDE" report --only pdf out >/dev/null || fail "report again"
cmp first.pdf $file || fail "the same recording gives another file"

# What to ask for next time stands below its verdict.
printf '%s\n' 'rule: asks' 'about: It asks.' 'when: processes_started > 0' 'severity: note' 'say: A finding.' 'request: memory 1073741824' 'margin: 10%' >asks.rules # rounding adds the rest
"$SONDE" report --rules asks.rules --only pdf,html -o asks out >/dev/null || fail "report --rules"
pdftotext -layout -f 1 -l 1 asks/job-report-47_11.pdf - | grep -q 'Next time: #PBS -l .*(12 % to spare)' || fail "no next line: $(pdftotext -layout -f 1 -l 1 asks/job-report-47_11.pdf -)"
grep -q 'Next time: <code>#PBS -l .*(12 % to spare)' asks/report.html || fail "no next line in the page"

# A few samples, or none at all, are a report, too.
"$SONDE" run --quiet -i 1h -o short -- true || fail short
"$SONDE" report --only pdf short >/dev/null || fail "report of a sample"
equal "pages of a job of one sample" 1 "$(pdfinfo short/report.pdf | sed -n 's/^Pages: *//p')"
pdftotext short/report.pdf - | grep -q "Succeeded (exit code 0)" || fail "short/report.pdf"
pdftotext short/report.pdf - | grep -q nobody-else || fail "whose it was"

# In the other formats. 18 cm at 200 dots an inch are 1417 pixels.
"$SONDE" report --only plots --format png -o png out >/dev/null || fail png
equal "the width of a PNG" 1417 "$(od -An -tu1 -j16 -N4 png/plots/cpu.png | awk '{ print $1 * 2^24 + $2 * 2^16 + $3 * 2^8 + $4 }')"
"$SONDE" report --only plots --format pdf -o pdf out >/dev/null || fail pdf
pdftotext pdf/plots/cpu.pdf - | grep -q "Cores used" || fail "pdf/plots/cpu.pdf"
"$SONDE" report --only plots --format svg-outlines -o outlines out >/dev/null || fail svg-outlines
grep -q "<text" outlines/plots/cpu.svg && fail "svg-outlines has text"
equal "status of an unknown format" 2 "$(status_of "$SONDE" report --format gif out 2>said)"
one_sentence said

# Without the helper.
mkdir empty
SONDE_LIBEXEC=$PWD/empty "$SONDE" report -o rest out >stdout 2>said || fail "report without the helper"
one_sentence said
contains said "$(remedy libcairo2-dev)"
equal "what was written" "rest/report.html rest/plots" "$(tr '\n' ' ' <stdout | sed 's/ $//')"
equal "what is there" "plots report.html" "$(ls -A rest | tr '\n' ' ' | sed 's/ $//')"
equal "status of --only pdf without it" 1 "$(SONDE_LIBEXEC=$PWD/empty status_of "$SONDE" report --only pdf -o none out 2>said)"
one_sentence said
printf 'not a drawing' | "$LIBEXEC/sonde-draw" 3<>taken >answer && [ "$(tail -c +5 answer)" = "what came is not a drawing of this version of Sonde" ] ||
	fail "the helper answers: $(cat answer)"
