/* SPDX-License-Identifier: Apache-2.0 */
#include "console/command.h"
#include "output/outfile.h"
#include "recording/join.h"
#include "report/comparison/comparison.h"
#include "report/comparison/comparison_page.h"
#include "session/compared.h"
#include "session/find.h"
#include "trial/timingprint.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_INCONCLUSIVE = 3 };
enum { FORM_TEXT, FORM_JSON, FORM_MARKDOWN };

struct compare_options {
	struct option_list first, second, fail_if, floor, history;
	const char *margin, *html, *store;
	bool json, markdown, all, independent;
	struct timing_options timing;
};

static const struct option rows[] = {
	{ .name = "fail-if",
	  .type = ARG_LIST,
	  .value = "CONDITION",
	  .help = "Fail on this condition, such as 'wall_seconds>+5%'. Repeatable. Default: the "
		  "margin on wall_seconds, cpu_seconds and peak_memory_bytes.",
	  OPTION_OFFSET(struct compare_options, fail_if) },
	{ .name = "margin",
	  .type = ARG_TEXT,
	  .value = "PERCENT",
	  .fallback = "5%",
	  .help = "Treat smaller differences as equal.",
	  OPTION_OFFSET(struct compare_options, margin) },
	{ .name = "floor",
	  .type = ARG_LIST,
	  .value = "NAME=NUMBER",
	  .help = "Treat differences below this as equal, in the figure's unit: "
		  "peak_memory_bytes=10Mi. Repeatable. Default: 10 ms, 1 MiB, 1 J.",
	  OPTION_OFFSET(struct compare_options, floor) },
	{ .name = "baseline",
	  .letter = 'a',
	  .type = ARG_LIST,
	  .value = "DIR",
	  .help = "Add a run to group A, instead of the operand. Repeatable.",
	  OPTION_OFFSET(struct compare_options, first) },
	{ .name = "changed",
	  .letter = 'b',
	  .type = ARG_LIST,
	  .value = "DIR",
	  .help = "Add a run to group B. Repeatable.",
	  OPTION_OFFSET(struct compare_options, second) },
	{ .name = "history",
	  .type = ARG_LIST,
	  .value = "DIR",
	  .help = "Look here for similar runs, to estimate how much single runs vary. Default: "
		  "the directory of A, then the history of `sonde ls --history`.",
	  OPTION_OFFSET(struct compare_options, history) },
	{ .name = "store",
	  .type = ARG_TEXT,
	  .value = "WHERE",
	  .help = "Look up bench:ID in this store. " PLACE_DEFAULT,
	  OPTION_OFFSET(struct compare_options, store) },
	{ .name = "independent",
	  .help = "Assume that runs do not depend on their neighbours in time and do not drift. "
		  "Narrows the intervals, which are wrong if the assumption is.",
	  OPTION_OFFSET(struct compare_options, independent) },
	{ .name = "all",
	  .help = "Show every figure and every difference between the machines.",
	  OPTION_OFFSET(struct compare_options, all) },
	{ .name = "json",
	  .help = "Print the comparison as JSON, schema sonde/compare/1.",
	  OPTION_OFFSET(struct compare_options, json) },
	{ .name = "markdown",
	  .help = "Print the comparison as Markdown, for a pull request.",
	  OPTION_OFFSET(struct compare_options, markdown) },
	{ .name = "html",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "Also write an offline page that overlays both.",
	  OPTION_OFFSET(struct compare_options, html) },
	TIMING_ROWS(struct compare_options),
};

static const struct example examples[] = {
	{ "compare old new", "two runs" },
	{ "compare old1,old2,old3 new1,new2,new3", "two groups of runs" },
	{ "compare --fail-if 'wall_seconds>+5%' --fail-if 'cpu_seconds>+9%' old new",
	  "a gate: exit code 1 if it got worse" },
	{ "compare --fail-if 'time(deflate)>+5%' old1,old2,old3 new1,new2,new3",
	  "a gate on the CPU time of a function" },
	{ "compare --markdown --html diff.html main branch", "for a pull request" },
	{ "compare bench:3 bench:4", "the trials of two batches of sonde bench" },
	{ "compare -n 10 -- 'sleep 0.1' 'sleep 0.2'", "which command is faster, and by how much" },
	{ "compare --until 2% -P n 1 4 -- 'seq {n}00000'",
	  "each number of a range, until the answer is certain enough" },
};

struct comparing {
	const struct compare_options *o;
	struct wanted wanted;
	struct comparison result;
	struct comparison_page page;
};

/* ---- conditions ---- */

static int add_conditions(struct comparing *c, struct err *e)
{
	const struct compare_options *o = c->o;
	struct comparison *x = &c->result;
	bool relative;
	int rc = 0;

	if (!comparison_number(o->margin, &x->margin, &relative))
		return err_set(e, -EINVAL, "option --margin takes a share such as 5%%, not '%.80s'",
			       o->margin);
	if (!relative)
		x->margin /= 100;
	for (uint32_t i = 0; i < o->floor.n && !rc; i++)
		rc = comparison_add_floor(x, o->floor.text[i], e);
	for (uint32_t i = 0; i < o->fail_if.n && !rc; i++)
		rc = comparison_add_condition(x, o->fail_if.text[i], e);
	if (!rc && !o->fail_if.n && !x->any_name)
		rc = compared_usual_conditions(x, e);
	return rc;
}

/* ---- reading ---- */

static int add_to_page(void *ctx, enum comparison_group group, struct run *r, struct summary *s,
		       struct err *e)
{
	return comparison_page_add(ctx, group, r, s, e);
}

static int read_all(struct comparing *c, struct err *e)
{
	return compared_read(&(struct compared_reading){ .verb = "compare",
							 .result = &c->result,
							 .wanted = &c->wanted,
							 .also = c->o->html ? add_to_page : NULL,
							 .ctx = &c->page },
			     e);
}

/* Different jobs may be compared, but not without a word. */
static void warn(const struct comparison *x)
{
	const char *command[GROUP_NUMBER_OF] = { NULL };

	for (uint32_t i = 0; i < x->nruns; i++)
		if (!command[x->run[i].group])
			command[x->run[i].group] = x->run[i].command;
	if (command[GROUP_A] && command[GROUP_B] && strcmp(command[GROUP_A], command[GROUP_B]) != 0)
		say("compare: A and B ran different commands: %.200s and %.200s", command[GROUP_A],
		    command[GROUP_B]);
	if (x->figures_left_out)
		say("compare: there are more than %d figures; the others are left out",
		    COMPARISON_FIGURES_MAX);
}

/* ---- telling ---- */

static int write_page(struct comparing *c, struct err *e)
{
	struct bytes page = { 0 };
	struct outfile out;
	char directory[PATH_MAX];
	const char *slash = strrchr(c->o->html, '/'), *name = slash ? slash + 1 : c->o->html;
	int rc = comparison_page_make(&page, &c->page, &c->result, e);

	snprintf(directory, sizeof directory, "%.*s",
		 slash ? (int)(slash - c->o->html) + (slash == c->o->html) : 1,
		 slash ? c->o->html : ".");
	if (!rc)
		rc = outfile_open(&out, directory, name, e);
	if (!rc) {
		if (fwrite(page.data, 1, page.len, out.file) != page.len)
			rc = err_set(e, -errno, "%s", strerror(errno));
		rc = outfile_close(&out, rc, e);
	}
	bytes_free(&page);
	return rc;
}

static int tell(struct comparing *c)
{
	static const int codes[] = { [GATE_PASSED] = EXIT_OK,
				     [GATE_FAILED] = EXIT_FAILED,
				     [GATE_INCONCLUSIVE] = EXIT_INCONCLUSIVE };
	struct bytes b = { 0 };
	struct err e = { "" };

	if (c->o->html && write_page(c, &e)) {
		say("compare: %s", e.text);
		return EXIT_USAGE;
	}
	if (c->o->json)
		comparison_json(&b, &c->result);
	else if (c->o->markdown)
		comparison_markdown(&b, &c->result);
	else
		comparison_text(&b, &c->result, c->o->all);
	return print_bytes(&b) ? EXIT_USAGE : codes[c->result.verdict];
}

static int find_runs(struct comparing *c, int noperands, char **operands, struct err *e)
{
	const struct option_list *lists[] = { &c->o->first, &c->o->second };
	int rc = 0, next = 0;

	for (enum comparison_group g = GROUP_A; g <= GROUP_B && !rc; g++) {
		if (!lists[g]->n && next == noperands)
			return err_set(
				e, -EINVAL,
				"no runs given: sonde compare A[,A2...] B[,B2...] takes two, or "
				"two groups");
		if (!lists[g]->n)
			rc = wanted_list(&c->wanted, operands[next++], g, e);
		for (uint32_t i = 0; i < lists[g]->n && !rc; i++)
			rc = wanted_list(&c->wanted, lists[g]->text[i], g, e);
		if (!rc && !wanted_count(&c->wanted, g))
			rc = err_set(e, -EINVAL, "there is no run in %.300s",
				     lists[g]->n ? lists[g]->text[0] : operands[next - 1]);
	}
	if (!rc && next < noperands)
		rc = err_set(
			e, -EINVAL,
			"unexpected argument '%.200s': give two groups of runs; runs of a group "
			"are separated by commas",
			operands[next]);
	return rc;
}

/* Batches of trials, and no recordings? */
static bool is_batch(const char *operand)
{
	return !strncmp(operand, "bench:", 6) || !strncmp(operand, "tag:", 4);
}

static bool is_bench(int noperands, char **operands)
{
	return noperands == 2 && is_batch(operands[0]) && is_batch(operands[1]);
}

static int compare(struct comparing *c, int noperands, char **operands, struct err *e)
{
	int rc;

	if (c->o->json && c->o->markdown)
		return err_set(e, -EINVAL, "use either --json or --markdown");
	if (c->o->html && (!*c->o->html || c->o->html[strlen(c->o->html) - 1] == '/'))
		return err_set(e, -EINVAL, "option --html takes the name of a file, not '%.200s'",
			       c->o->html);
	comparison_init(&c->result);
	c->result.independent = c->o->independent;
	c->result.any_name = is_bench(noperands, operands);
	rc = add_conditions(c, e);
	if (!rc && c->result.any_name)
		return c->o->html || c->o->first.n || c->o->second.n || c->o->history.n
			       ? err_set(e, -EINVAL,
					 "batches of trials: give two operands, without --html "
					 "and --history")
			       : batchgroups_read(&c->result, c->o->store, operands, e);
	if (!rc)
		rc = find_runs(c, noperands, operands, e);
	if (!rc)
		rc = wanted_like(&c->wanted, &c->o->history, e);
	if (!rc)
		rc = read_all(c, e);
	return rc;
}

/* ---- commands ---- */

static int time_commands(const struct compare_options *o, int noperands, char **operands)
{
	bool relative = true;
	struct timing t = { 0 };
	struct bytes b = { 0 };
	struct err e = { "" };
	double margin = 0;
	int rc = 0, code;

	if (!comparison_number(o->margin, &margin, &relative))
		rc = err_set(&e, -EINVAL, "option --margin takes a share such as 5%%, not '%.80s'",
			     o->margin);
	if (!rc)
		rc = timing_read(&t, &o->timing, relative ? margin : margin / 100, noperands,
				 operands, &e);
	if (!rc)
		rc = timing_run(&t, &e);
	if (!rc)
		rc = timingprint_files(&t, &e);
	if (rc) {
		say("compare: %s", e.text);
		code = rc == -ECANCELED ? EXIT_FAILED : EXIT_USAGE;
	} else {
		if (o->json)
			timingprint_json(&b, &t);
		else if (o->markdown)
			timingprint_markdown(&b, &t);
		else
			timingprint_text(&b, &t);
		code = print_bytes(&b);
	}
	timing_free(&t);
	return code;
}

static int compare_exec(const void *options, int noperands, char **operands)
{
	struct comparing c = { .o = options };
	struct err e = { "" };
	int code = EXIT_USAGE;

	if (timing_is_asked(&c.o->timing))
		return time_commands(c.o, noperands, operands);
	if (compare(&c, noperands, operands, &e)) {
		say("compare: %s", e.text);
	} else {
		warn(&c.result);
		code = tell(&c);
	}
	wanted_free(&c.wanted);
	comparison_page_free(&c.page);
	comparison_free(&c.result);
	return code;
}

const struct command command_compare = {
	.name = "compare",
	.operands = "A[,A2...] B[,B2...] | -n N -- CMD [CMD...]",
	.what = "Compare two runs, or two groups of runs, with a gate",
	.description =
		"Lists what differs in the hardware, software and settings of two groups of runs. "
		"Then it prints every figure of the summary with its difference, a 95 % "
		"confidence interval and a result: worse or better (more or less for figures "
		"where neither is better); same (the difference is shown to be smaller than the "
		"margin); or inconclusive (neither is shown). A and B are directories that Sonde "
		"wrote, or directories that contain several of them.\n\n"
		"If the runs of both have stacks (`sonde run --stacks`), it also says which "
		"functions, kinds of code and commands account for the difference in CPU time, in points "
		"of the CPU time of A. The parts add up to the whole difference; a part is "
		"blamed if its interval, corrected for the number of parts, is on one side of 0. "
		"If they have waits (`sonde run --waits`), it says the same of the time of their "
		"threads and of what they waited for.\n\n"
		"A condition of --fail-if is a figure as `sonde show --json` names it, an "
		"expression of figures, or mean(METRIC), max(METRIC), min(METRIC), last(METRIC), "
		"total(METRIC), or time(CODE), the CPU time of a class of code or of a function; "
		"then > or <; then a share of A, such as +5%, or a number in the "
		"figure's unit, such as +1Gi. It fails if the runs show a difference in that "
		"direction and do not show that it is below the threshold. p-values are corrected "
		"for the number of conditions.\n\n"
		"A single run has no spread. Sonde estimates it from five or more similar runs "
		"(same command, same number of nodes, successful) next to A, in the history or in "
		"--history. Otherwise it prints how many repeats are needed. Alternate A and B "
		"when you record them: then a drift of the machine affects both.\n\n"
		"bench:ID is a batch of trials of sonde bench, bench:INDICATOR all batches of an "
		"indicator, tag:NAME all with a tag: the figures are its results, "
		"wall_seconds, cpu_seconds and other usage of each trial. Failed trials are "
		"skipped. Without --fail-if, the condition is the margin on every result for "
		"which the better direction is known.\n\n"
		"With --runs or --until, the operands are commands, which Sonde runs in rounds: "
		"each once, in an order that is shuffled in each round. It prints the time of "
		"each, less the start of the shell, and how many times faster the "
		"fastest one is, with a 95 % interval. Options that hyperfine also has mean the same, except -n. Nothing is recorded or stored. Exit code 1: a command "
		"failed.\n\n"
		"Exit code 0: not worse. 1: worse. 2: usage error, or data could not be read. 3: "
		"inconclusive.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct compare_options),
	COMMAND_EXAMPLES(examples),
	.exec = compare_exec,
};
