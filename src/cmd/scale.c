/* SPDX-License-Identifier: Apache-2.0 */
/* scale.c - runs of one job with more and more cores: how well it scales, and what to ask for. */
#include "base/text/columns.h"
#include "console/command.h"
#include "output/outfile.h"
#include "recording/join.h"
#include "report/scaling/scaling.h"
#include "session/find.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DPI = 150, WIDTH = 420, HEIGHT = 300 };

struct scale_options {
	const char *by, *output;
	int64_t efficiency;
	bool weak, json;
};

static const struct option rows[] = {
	{ .name = "by",
	  .type = ARG_TEXT,
	  .value = "cores|nodes|ranks|VARIABLE",
	  .help = "Compare the runs by this number, or by the one in this environment variable, "
		  "such as OMP_NUM_THREADS. Default: what they differ in, cores first.",
	  OPTION_OFFSET(struct scale_options, by) },
	{ .name = "weak",
	  .help = "The problem grew with the number (weak scaling): the same time is ideal.",
	  OPTION_OFFSET(struct scale_options, weak) },
	{ .name = "efficiency",
	  .type = ARG_COUNT,
	  .value = "PERCENT",
	  .fallback = "70",
	  .min = 1,
	  .max = 100,
	  .help = "Suggest the most cores, nodes or ranks that have at least this efficiency.",
	  OPTION_OFFSET(struct scale_options, efficiency) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "Also draw the speed-up: FILE ends with .svg, .png or .pdf.",
	  OPTION_OFFSET(struct scale_options, output) },
	{ .name = "json",
	  .help = "Print the result as JSON, schema sonde/scale/1.",
	  OPTION_OFFSET(struct scale_options, json) },
};

static const struct example examples[] = {
	{ "scale run1 run2 run4 run8", "strong scaling, by what the runs differ in" },
	{ "scale --by OMP_NUM_THREADS runs/", "all recordings of a directory, by threads" },
	{ "scale 1=one 2=two,two-again 4=four", "numbers given by hand" },
	{ "scale --weak --by nodes -o weak.svg runs/", "weak scaling, with a chart" },
};

struct scaled {
	const struct scale_options *o;
	struct scaling x;
	struct wanted wanted;
	double given[WANTED_MAX];
	uint32_t left_out;
};

/* "4=run,run", or a run. */
static int find_runs(struct scaled *c, int noperands, char **operands, struct err *e)
{
	int rc = 0;

	for (int i = 0; i < noperands && !rc; i++) {
		char *rest = NULL;
		double amount = strtod(operands[i], &rest);
		bool has = rest > operands[i] && *rest == '=' && amount > 0 && isfinite(amount);
		uint32_t before = c->wanted.n;

		rc = wanted_list(&c->wanted, has ? rest + 1 : operands[i], GROUP_A, e);
		for (uint32_t j = before; j < c->wanted.n; j++)
			c->given[j] = has ? amount : NAN;
	}
	if (!rc && c->wanted.n < 2)
		rc = err_set(e, -EINVAL, "give two runs or more, with different numbers of cores");
	return rc;
}

static bool is_variable(const char *by)
{
	return by && strcmp(by, "cores") != 0 && strcmp(by, "nodes") != 0 &&
	       strcmp(by, "ranks") != 0;
}

/* NAN: the job's environment does not have it, or it is no number. */
static double variable_of(const struct run *r, const char *name)
{
	char key[160], *rest;
	const char *text;
	double v;

	snprintf(key, sizeof key, "job.environment.%.100s", name);
	text = run_find_text(r, 0, key);
	v = text ? strtod(text, &rest) : NAN;
	return text && rest > text && (!*rest || *rest == ',') ? v : NAN;
}

static bool failed(const struct summary *s)
{
	return s->exit_code > 0 || s->signal > 0 || !s->complete;
}

static int read_run(struct scaled *c, uint32_t i, struct err *e)
{
	const char *path = c->wanted.run[i].path;
	struct run *r = NULL;
	struct summary s = { 0 };
	double amount = c->given[i];
	int rc = run_open(&r, path, e);

	if (rc)
		return rc;
	rc = summary_make(&s, r, e);
	if (!rc && isnan(amount) && is_variable(c->o->by))
		amount = variable_of(r, c->o->by);
	if (!rc && failed(&s)) {
		say("scale: leaving out %s: the job failed, or the recording is not complete",
		    path);
		c->left_out++;
	} else if (!rc) {
		scaling_add(&c->x, &s, amount);
	}
	summary_free(&s);
	run_close(r);
	return rc;
}

static void choose_by(struct scaled *c)
{
	static const char *const names[] = { "", "cores", "nodes", "ranks" };

	c->x.by_name = "N";
	for (enum scaling_by by = SCALING_CORES; by <= SCALING_RANKS; by++)
		if (c->o->by && !strcmp(c->o->by, names[by]))
			c->x.by = by;
	if (is_variable(c->o->by)) {
		c->x.by = SCALING_OTHER;
		c->x.by_name = c->o->by;
	}
}

static int make(struct scaled *c, int noperands, char **operands, struct err *e)
{
	int rc = find_runs(c, noperands, operands, e);

	choose_by(c);
	c->x.weak = c->o->weak;
	c->x.wanted = (double)c->o->efficiency / 100;
	c->x.level = 0.95;
	for (uint32_t i = 0; i < c->wanted.n && !rc; i++)
		rc = read_run(c, i, e);
	if (!rc && c->x.nruns < 2 && c->left_out)
		rc = err_set(e, -EINVAL, "fewer than two runs are left to compare");
	return rc ? rc : scaling_judge(&c->x, e);
}

static int draw(const struct scaled *c, struct err *e)
{
	const char *path = c->o->output, *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path, *ending = strrchr(name, '.');
	struct document d = { .dpi = DPI, .title = "Speed-up" };
	struct bytes drawing = { 0 };
	struct outfile out;
	char directory[PATH_MAX];
	int rc = 0;

	snprintf(directory, sizeof directory, "%.*s",
		 slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
	d.format = ending && !strcmp(ending, ".pdf") ? DOCUMENT_PDF : DOCUMENT_PNG;
	scaling_draw(&drawing, &c->x, WIDTH, HEIGHT);
	if (ending && !strcmp(ending, ".svg"))
		rc = drawfile_svg(&out, directory, name, d.title, &drawing, e);
	else if (ending && (!strcmp(ending, ".png") || !strcmp(ending, ".pdf")))
		rc = drawfile_paint(&out, directory, name, &d, &drawing, e);
	else
		rc = err_set(e, -EINVAL,
			     "option --output takes a file that ends with .svg, .png or "
			     ".pdf, not '%.200s'",
			     path);
	bytes_free(&drawing);
	return rc;
}

static int scale_exec(const void *options, int noperands, char **operands)
{
	struct scaled c = { .o = options };
	struct bytes b = { 0 };
	struct err e = { "" };
	int code = EXIT_OK, rc = make(&c, noperands, operands, &e);

	if (!rc && c.o->output)
		rc = draw(&c, &e);
	if (rc) {
		say("scale: %s", e.text);
		code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		if (c.o->json)
			scaling_json(&b, &c.x);
		else
			scaling_text(&b, &c.x, columns_of_terminal());
		code = print_bytes(&b);
	}
	wanted_free(&c.wanted);
	scaling_free(&c.x);
	return code;
}

const struct command command_scale = {
	.name = "scale",
	.operands = "[N=]RUN[,RUN...] [N=]RUN...",
	.what = "Show how well a job scales, and how many cores to request",
	.description =
		"Reads recordings of one job with different numbers of cores, nodes or ranks, and "
		"prints time, speed-up and efficiency of each number, compared with the smallest, "
		"with 95 % intervals where a number has two runs or more. An operand is a "
		"recording, several separated by commas, or a directory of recordings; N= gives "
		"its number. Runs that failed are left out.\n\n"
		"A table shows what the cores' time was lost to: idle cores, waiting, the kernel, "
		"or more computing for the same work; and, if all runs have stacks, which kinds of "
		"code. The parts add up to what is lost. Runs of MPI with --annotations mpi also "
		"have their efficiencies as POP defines them.\n\n"
		"Amdahl's law is fitted to the runs: the serial part, with its interval, and the "
		"largest speed-up it allows. If four numbers or more show that it slows down again, "
		"the universal scalability law takes its place. --weak fits what each doubling "
		"costs. docs/scale.md has the formulas.\n\n"
		"Exit code 0; 1: a recording could not be read; 2: usage error, or runs that cannot "
		"be compared.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct scale_options),
	COMMAND_EXAMPLES(examples),
	.exec = scale_exec,
};
