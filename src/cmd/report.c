/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/choose.h"
#include "cmd/command.h"
#include "cmd/reportfile.h"
#include "cmd/say.h"
#include "cmd/written.h"
#include "recording/join.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct report_options {
	const char *output, *only;
	bool json;
};

static const struct option rows[] = {
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .help = "Directory to write to, made when it is not there; without it the recording's "
		  "own.",
	  OPTION_OFFSET(struct report_options, output) },
	{ .name = "only",
	  .type = ARG_TEXT,
	  .value = "KIND",
	  .fallback = "html",
	  .help = "What to write: html.",
	  OPTION_OFFSET(struct report_options, only) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Say which files were written as JSON.",
	  OPTION_OFFSET(struct report_options, json) },
};

static const struct example examples[] = {
	{ "report", "report.html of the newest recording here" },
	{ "report sonde_1234 -o public", "write it elsewhere" },
};

static int report(const char *recording, const struct report_options *o, struct run *r,
		  struct err *e)
{
	char own[PATH_MAX];
	struct written w = { .verb = "report", .recording = recording, .json = o->json };
	const char *directory =
		o->output ? o->output : outfile_directory(recording, own, sizeof own);
	struct outfile out;
	int rc = reportfile_write(&out, r, directory, e);

	if (!rc && !w.json)
		puts(out.path);
	if (!rc)
		written_add(&w, out.path);
	if (written_end(&w, r->ndamages) && !rc)
		rc = err_set(e, -EIO, "standard output did not take the names of the files");
	return rc;
}

static int report_exec(const void *options, int noperands, char **operands)
{
	const struct report_options *o = options;
	struct choice c;
	struct err e = { "" };
	int rc, code;

	if (strcmp(o->only, "html") != 0) {
		say("report: --only %s: there is only html", o->only);
		return EXIT_USAGE;
	}
	code = choose_recording(&c, "report", "reporting", noperands, operands);
	if (code)
		return code;
	rc = report(c.path, o, c.run, &e);
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
	.what = "Write a recording's report: one HTML file that needs no network",
	.description =
		"Writes report.html: how the job ended, its figures, the verdicts with their "
		"proof, charts that share one zoom and one cursor, its processes and commands, "
		"what watching cost and what could not be measured. The file holds everything "
		"it needs and opens from a disk without a network; without a script it still "
		"has all but the charts. Only its owner may read it, as with the recording. Its "
		"path is printed.\n\n"
		"DIR is a directory that sonde made, or one file of it; without it the newest "
		"sonde_* directory here is taken. Exit code 1 also means that the recording is "
		"damaged and something was left out.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct report_options),
	COMMAND_EXAMPLES(examples),
	.exec = report_exec,
};
