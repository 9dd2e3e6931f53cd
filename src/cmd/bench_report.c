/* SPDX-License-Identifier: Apache-2.0 */
/* bench_report.c - trials of an indicator as a page of HTML. */
#include "bench/campaign/campaign_page.h"
#include "console/command.h"
#include "output/outfile.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct report_options {
	struct benchask ask;
	const char *output;
};

static const struct option rows[] = {
	BENCHASK_ROWS(struct report_options),
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "Write the page to FILE. Default: INDICATOR.html, or sweep_NAME.html.",
	  OPTION_OFFSET(struct report_options, output) },
};

static const struct example examples[] = {
	{ "bench report PiMatmul -o matmul.html", "all trials of an indicator" },
	{ "bench report sweep:nightly", "the results of a sweep" },
	{ "bench report PiMatmul -c elapsed -w 'batch>=3' -o new.html", "only newer trials" },
};

static int report(struct campaign *c, const struct report_options *o, int noperands,
		  char **operands, struct err *e)
{
	struct campaign_groups groups = { 0 };
	const struct bench_figure *f;
	struct bytes page = { 0 };
	char file[PATH_MAX];
	int rc = benchask_read(c, &f, &o->ask, "bench report", noperands == 1 ? operands[0] : NULL,
			       e);

	if (!rc)
		rc = campaign_group(&groups, c,
				    CAMPAIGN_PARAMETERS | CAMPAIGN_HARDWARE | CAMPAIGN_SOFTWARE, e);
	if (!rc && !groups.n)
		rc = err_set(e, -ENOENT, "no matching trial: nothing to show");
	if (!rc)
		rc = campaign_page_make(&page, c, &groups, f, e);
	if (!rc) {
		if (o->output)
			snprintf(file, sizeof file, "%s", o->output);
		else
			snprintf(file, sizeof file, "%s%s.html", c->sweep ? "sweep_" : "",
				 c->sweep ? c->sweep : c->g.indicator);
		rc = drawfile_save_path(file, &page, e);
	}
	if (!rc)
		say("bench report: %s", file);
	bytes_free(&page);
	campaign_groups_free(&groups);
	return rc;
}

static int report_exec(const void *options, int noperands, char **operands)
{
	struct campaign c = { 0 };
	struct err e = { "" };
	int rc = report(&c, options, noperands, operands, &e);

	if (rc)
		say("bench report: %s", e.text);
	campaign_free(&c);
	return !rc ? EXIT_OK : rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

const struct command command_bench_report = {
	.name = "bench report",
	.operands = "INDICATOR|sweep:NAME|bench:ID",
	.what = "Write a page about all tried combinations of an indicator",
	.description =
		"Writes one offline HTML file: a chart for each parameter that varies, time "
		"against energy and against peak memory with the Pareto front, and a table of "
		"each combination of parameters, machine and software that you can sort and "
		"filter. Unknown values are shown as unknown, never 0.\n\n"
		"sweep:NAME selects the trials of a sweep, by its name or identifier (then the "
		"newest). The page then groups by what the matrix varies, and lists what was "
		"skipped and why.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct report_options),
	COMMAND_EXAMPLES(examples),
	.exec = report_exec,
};
