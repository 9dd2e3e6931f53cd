/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/choose.h"
#include "cmd/command.h"
#include "cmd/reportfile.h"
#include "cmd/say.h"
#include "cmd/written.h"
#include "recording/join.h"
#include "report/page.h"
#include "report/page_series.h"
#include "report/rules.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct report_options {
	const char *output, *only, *format, *rules;
	bool json;
};

static const struct option rows[] = {
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Directory to write to, created if missing; without it the recording's "
		  "own.",
	  OPTION_OFFSET(struct report_options, output) },
	{ .name = "only",
	  .type = ARG_TEXT,
	  .value = "KINDS",
	  .help = "What to write, separated by commas: html, pdf, plots; without it all, but the "
		  "PDF only where the helper is installed that makes it.",
	  OPTION_OFFSET(struct report_options, only) },
	{ .name = "format",
	  .type = ARG_TEXT,
	  .value = "FORMAT",
	  .fallback = "svg",
	  .help = "What the plots are: svg; or, by the helper, png (200 dots an inch), pdf or "
		  "svg-outlines, whose texts need no font.",
	  OPTION_OFFSET(struct report_options, format) },
	{ .name = "rules",
	  .value = "FILE|DIR",
	  .type = ARG_TEXT,
	  .help = "Judge by the rules in FILE, or in all files *.rules of DIR, too; a rule there "
		  "replaces the built-in one of its name.",
	  OPTION_OFFSET(struct report_options, rules) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Say which files were written as JSON.",
	  OPTION_OFFSET(struct report_options, json) },
};

static const struct example examples[] = {
	{ "report", "page, PDF and plots of the newest recording here" },
	{ "report sonde_1234 --only html", "the page alone" },
	{ "report sonde_1234 --only plots --format png -o talk", "plots for slides, elsewhere" },
};

enum report_kind { KIND_HTML = 0, KIND_PDF, KIND_PLOTS, KIND_NUMBER };

static const char *const kinds[] = {
	[KIND_HTML] = "html", [KIND_PDF] = "pdf", [KIND_PLOTS] = "plots"
};
_Static_assert(sizeof kinds / sizeof kinds[0] == KIND_NUMBER, "a name for every kind");

struct making {
	const struct report_options *o;
	unsigned wanted; /* bit k: kinds[k] */
	const char *directory;
	struct plots_place place;
	struct written written;
};

/* False when it has said what is wrong. */
static bool find_kinds(unsigned *wanted, const char *only)
{
	for (const char *at = only; *at;) {
		size_t n = strcspn(at, ","), k = 0;

		while (k < KIND_NUMBER && (strlen(kinds[k]) != n || memcmp(kinds[k], at, n)))
			k++;
		if (k == KIND_NUMBER) {
			say("report: --only %.*s: there are html, pdf and plots", (int)n, at);
			return false;
		}
		*wanted |= 1U << k;
		at += n + (at[n] == ',');
	}
	if (!*wanted)
		say("report: --only wants html, pdf or plots");
	return *wanted != 0;
}

static void tell(struct making *m, const char *path)
{
	if (!m->o->json)
		puts(path);
}

static int make_page(struct making *m, struct run *r, const struct summary *s,
		     const struct traces *t, struct err *e)
{
	struct outfile out;
	int rc = reportfile_page(&out, r, s, t, m->directory, e);

	if (rc)
		return rc;
	tell(m, out.path);
	written_add(&m->written, out.path);
	return 0;
}

/* Who did not ask for the PDF gets the rest without the helper, and is told. */
static int make_pdf(struct making *m, const struct plots *p, struct err *e)
{
	struct outfile out;
	int rc = reportfile_pdf(&out, p, p->summary->job_id, m->directory, e);

	if (rc == -ENOENT && !m->o->only) {
		say("report: no PDF: %s", e->text);
		return 0;
	}
	if (rc)
		return rc;
	tell(m, out.path);
	written_add(&m->written, out.path);
	return 0;
}

static int make_plots(struct making *m, const struct plots *p, struct err *e)
{
	int rc = reportfile_plots(p, m->directory, &m->place, &m->written, e);

	if (!rc)
		tell(m, m->place.path);
	return rc;
}

static int make_drawings(struct making *m, struct run *r, const struct summary *s,
			 const struct traces *t, struct err *e)
{
	struct plots p;
	int rc = plots_make(&p, r, s, &plots_of_sonde, t, e);

	if (!rc && m->wanted >> KIND_PDF & 1)
		rc = make_pdf(m, &p, e);
	if (!rc && m->wanted >> KIND_PLOTS & 1)
		rc = make_plots(m, &p, e);
	plots_free(&p);
	return rc;
}

/* The run is read once for all that shows it over time. */
static int make_all(struct making *m, struct run *r, const struct summary *s, struct err *e)
{
	bool page = m->wanted >> KIND_HTML & 1, drawings = m->wanted & ~(1U << KIND_HTML);
	struct traces t = { 0 };
	int rc;

	if (page)
		page_series_wish(&t, r, s);
	if (drawings)
		plots_wish(&t, &plots_of_sonde);
	rc = traces_read(&t, r, e);
	if (!rc && page)
		rc = make_page(m, r, s, &t, e);
	if (!rc && drawings)
		rc = make_drawings(m, r, s, &t, e);
	traces_free(&t);
	return rc;
}

static int report(const char *recording, struct making *m, struct run *r, struct err *e)
{
	char own[PATH_MAX];
	struct rules *site = NULL;
	struct summary s = { 0 };
	int rc = m->o->rules ? rules_read(&site, m->o->rules, e) : 0;

	if (!rc)
		rc = summary_make_as(
			&s, r, &(struct summary_wish){ .all = page_wants_all(r), .site = site }, e);
	rules_free(site);
	m->written =
		(struct written){ .verb = "report", .recording = recording, .json = m->o->json };
	m->directory = m->o->output ? m->o->output : outfile_directory(recording, own, sizeof own);
	if (!rc)
		rc = make_all(m, r, &s, e);
	summary_free(&s);
	if (written_end(&m->written, r->ndamages) && !rc)
		rc = err_set(e, -EIO, "standard output did not take the names of the files");
	return rc;
}

static int report_exec(const void *options, int noperands, char **operands)
{
	struct making m = { .o = options };
	struct choice c;
	struct err e = { "" };
	int rc, code;

	if (!find_kinds(&m.wanted, m.o->only ? m.o->only : "html,pdf,plots"))
		return EXIT_USAGE;
	if (!reportfile_format(m.o->format, &m.place.format)) {
		say("report: --format %s: there are svg, png, pdf and svg-outlines", m.o->format);
		return EXIT_USAGE;
	}
	code = choose_recording(&c, "report", "reporting", noperands, operands);
	if (code)
		return code;
	rc = report(c.path, &m, c.run, &e);
	if (rc)
		say("report: %s", e.text);
	else if (c.run->ndamages)
		say("report: %s is damaged; the report is of what is undamaged", c.path);
	code = rc || c.run->ndamages ? EXIT_FAILED : EXIT_OK;
	run_close(c.run);
	return code;
}

const struct command command_report = {
	.name = "report",
	.operands = "[DIR]",
	.what = "Write a recording's report: a page that needs no network, a PDF, plots",
	.description =
		"Writes report.html: how the job ended, its figures, the verdicts with their "
		"proof, charts that share one zoom and one cursor, its processes and commands, "
		"Sonde's overhead and what could not be measured. The file holds everything it "
		"needs and opens from a disk without a network; without a script it still has all "
		"but the charts.\n\n"
		"Writes job-report-JOB.pdf, or report.pdf of what was no batch job: a first page "
		"that can be read alone, then the plots. The helper sonde-draw makes it, as all "
		"plots that are not plain SVG; without it the rest is written.\n\n"
		"Writes plots/, an SVG file each: cores, memory, disks, network and pressure over "
		"time, each core, each GPU, power, the roofline, and of several nodes each node. A "
		"value that is absent is a gap. What the recording has no values of has no plot, "
		"but the roofline says what it lacks.\n\n"
		"Only their owner may read them, as with the recording. The paths are printed.\n\n"
		"DIR is a directory that sonde made, or one file of it; without it the newest "
		"recording here is taken. Exit code 1 also means that the recording is damaged and "
		"something was left out.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct report_options),
	COMMAND_EXAMPLES(examples),
	.exec = report_exec,
};
