/* SPDX-License-Identifier: Apache-2.0 */
#include "console/command.h"
#include "output/outfile.h"
#include "recording/join.h"
#include "report/judging/rules.h"
#include "report/page/page.h"
#include "report/page/page_series.h"
#include "session/find.h"

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
	  .help = "Write to DIR, created if missing. Default: the recording's directory.",
	  OPTION_OFFSET(struct report_options, output) },
	{ .name = "only",
	  .type = ARG_TEXT,
	  .value = "KINDS",
	  .help = "Write only these, separated by commas: html, pdf, plots. Default: all, the PDF "
		  "only where its helper is installed.",
	  OPTION_OFFSET(struct report_options, only) },
	{ .name = "format",
	  .type = ARG_TEXT,
	  .value = "FORMAT",
	  .fallback = "svg",
	  .help = "Format of the plots: svg; or, with the helper, png (200 dpi), pdf or "
		  "svg-outlines, whose text needs no font.",
	  OPTION_OFFSET(struct report_options, format) },
	{ .name = "rules",
	  .value = "FILE|DIR",
	  .type = ARG_TEXT,
	  .help = "Add the rules in FILE, or in all *.rules files of DIR. They replace built-in "
		  "rules of the same name.",
	  OPTION_OFFSET(struct report_options, rules) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the names of the written files as JSON.",
	  OPTION_OFFSET(struct report_options, json) },
};

static const struct example examples[] = {
	{ "report", "page, PDF and plots of the newest recording here" },
	{ "report sonde_1234 --only html", "only the page" },
	{ "report sonde_1234 --only plots --format png -o talk", "plots for slides, in another "
								 "directory" },
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
	struct outputs written;
};

/* False when it has said what is wrong. */
static bool find_kinds(unsigned *wanted, const char *only)
{
	for (const char *at = only; *at;) {
		size_t n = strcspn(at, ","), k = 0;

		while (k < KIND_NUMBER && (strlen(kinds[k]) != n || memcmp(kinds[k], at, n)))
			k++;
		if (k == KIND_NUMBER) {
			say("report: --only %.*s: expected html, pdf or plots", (int)n, at);
			return false;
		}
		*wanted |= 1U << k;
		at += n + (at[n] == ',');
	}
	if (!*wanted)
		say("report: --only: expected html, pdf or plots");
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
	outputs_add(&m->written, out.path);
	return 0;
}

/* Who did not ask for the PDF gets the rest without the helper, and is told. */
static int make_pdf(struct making *m, const struct plots *p, struct err *e)
{
	struct outfile out;
	int rc = reportfile_pdf(&out, p, p->summary->job_id, m->directory, e);

	if ((rc == -ENOENT || rc == -ESTALE) && !m->o->only) {
		say("report: no PDF: %s", e->text);
		return 0;
	}
	if (rc)
		return rc;
	tell(m, out.path);
	outputs_add(&m->written, out.path);
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
		(struct outputs){ .verb = "report", .recording = recording, .json = m->o->json };
	m->directory = m->o->output ? m->o->output : outfile_directory(recording, own, sizeof own);
	if (!rc)
		rc = make_all(m, r, &s, e);
	summary_free(&s);
	if (outputs_end(&m->written, r->ndamages) && !rc)
		rc = err_set(e, -EIO, "cannot write the names of the files to standard output");
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
		say("report: --format %s: expected svg, png, pdf or svg-outlines", m.o->format);
		return EXIT_USAGE;
	}
	code = choose_recording(&c, "report", "reporting", noperands, operands);
	if (code)
		return code;
	rc = report(c.path, &m, c.run, &e);
	if (rc)
		say("report: %s", e.text);
	else if (c.run->ndamages)
		say("report: %s is damaged; the report covers the undamaged part", c.path);
	code = rc || c.run->ndamages ? EXIT_FAILED : EXIT_OK;
	run_close(c.run);
	return code;
}

const struct command command_report = {
	.name = "report",
	.operands = "[DIR]",
	.what = "Write the report of a recording: an offline page, a PDF, plots",
	.description =
		"Writes report.html: how the job ended, its figures, the verdicts with their "
		"evidence, charts with a common zoom and cursor, processes and commands, Sonde's "
		"overhead, and what could not be measured. The file is self-contained and opens "
		"without a network. Without JavaScript it has everything except the charts.\n\n"
		"Writes job-report-JOB.pdf, or report.pdf outside of a batch job: one page that "
		"stands alone, then the plots. The helper sonde-draw makes the PDF and all plots "
		"that are not plain SVG. Without it, the rest is written.\n\n"
		"Writes plots/, one SVG file per plot: cores, memory, disks, network and pressure "
		"over time, each core, each GPU, power, the roofline and, for several nodes, each "
		"node. A missing value is a gap. A plot without any value is not written; the "
		"roofline reports what it needs.\n\n"
		"The files are readable by their owner only, like the recording. Their paths are "
		"printed.\n\n"
		"DIR is a directory that Sonde wrote, or one of its files. Default: the newest "
		"recording here. Exit code 1 also means that the recording is damaged and some "
		"data was skipped.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct report_options),
	COMMAND_EXAMPLES(examples),
	.exec = report_exec,
};
