/* SPDX-License-Identifier: Apache-2.0 */
#include "report/explain/explain.h"
#include "console/command.h"
#include "recording/join.h"
#include "report/comparison/comparison.h"
#include "report/summary/mpi.h"
#include "report/summary/summary.h"
#include "session/compared.h"
#include "session/find.h"

#include <errno.h>
#include <stdio.h>

struct explain_options {
	int64_t ask;
	bool json;
	struct option_list history;
};

static const struct option rows[] = {
	{ .name = "ask",
	  .type = ARG_CHOICE,
	  .value = "all|where|memory|io|wait|next|diff",
	  .fallback = "all",
	  .help = "Answer this only: where the time went, memory, input and output, waits, what "
		  "to do next, or what differs between two runs.",
	  OPTION_OFFSET(struct explain_options, ask) },
	{ .name = "history",
	  .type = ARG_LIST,
	  .value = "DIR",
	  .help = "Of two recordings: look here for similar runs, as sonde compare does. "
		  "Default: the directory of the first, then the history of `sonde ls "
		  "--history`.",
	  OPTION_OFFSET(struct explain_options, history) },
	{ .name = "json",
	  .help = "Print the findings as JSON in one line of at most 8,000 bytes, schema "
		  "sonde/explain/1.",
	  OPTION_OFFSET(struct explain_options, json) },
};

static const struct example examples[] = {
	{ "explain", "the newest recording here" },
	{ "explain --ask next sonde_1234", "what to change, and what to request" },
	{ "explain old new", "what changed between two runs, and which code changed it" },
	{ "explain --json sonde_1234", "for a program or an assistant" },
};

static int print_it(const struct explain_options *o, const struct explain *x)
{
	struct bytes b = { 0 };

	if (o->json) {
		explain_json(&b, x);
		return print_bytes(&b);
	}
	explain_print(stdout, x);
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_OK;
	say("explain: cannot write to standard output");
	return EXIT_FAILED;
}

/* ---- one run ---- */

static int explain_one(const struct explain_options *o, int noperands, char **operands)
{
	struct summary s = { 0 };
	struct explain x = { 0 };
	struct choice c;
	struct err e = { "" };
	int rc, code = choose_recording(&c, "explain", "explaining", noperands, operands);

	if (code)
		return code;
	rc = summary_make_as(&s, c.run, &(struct summary_wish){ .all = false }, &e);
	if (!rc && s.mpi) /* for whom ranks waited; where it cannot be read there is less to say */
		mpi_phases_make(s.mpi, c.run, &(struct err){ "" });
	if (!rc && explain_run(&x, &s, c.run, (enum explain_topic)o->ask))
		rc = err_set(&e, -ENOMEM, "out of memory for the findings of %.300s", c.path);
	code = rc ? EXIT_FAILED : print_it(o, &x);
	if (rc)
		say("explain: %s", e.text);
	else if (c.run->ndamages)
		say("explain: %s is damaged; what is undamaged was read", c.path);
	if (c.run->ndamages)
		code = EXIT_FAILED;
	explain_free(&x);
	summary_free(&s);
	run_close(c.run);
	return code;
}

/* ---- two ---- */

static int read_both(struct comparison *x, struct wanted *w, const struct option_list *history,
		     char **operands, struct err *e)
{
	int rc;

	comparison_init(x);
	rc = compared_usual_conditions(x, e);
	for (int i = 0; i < 2 && !rc; i++) {
		rc = wanted_list(w, operands[i], i ? GROUP_B : GROUP_A, e);
		if (!rc && !wanted_count(w, i ? GROUP_B : GROUP_A))
			rc = err_set(e, -EINVAL, "there is no run in %.300s", operands[i]);
	}
	if (!rc)
		rc = wanted_like(w, history, e);
	if (!rc)
		rc = compared_read(
			&(struct compared_reading){ .verb = "explain", .result = x, .wanted = w },
			e);
	return rc;
}

static int explain_two(const struct explain_options *o, char **operands)
{
	struct comparison compared = { 0 };
	struct wanted wanted = { 0 };
	struct explain x = { 0 };
	struct err e = { "" };
	int rc = read_both(&compared, &wanted, &o->history, operands, &e), code;

	if (!rc &&
	    explain_pair(&x, &compared, operands[0], operands[1], (enum explain_topic)o->ask))
		rc = err_set(&e, -ENOMEM, "out of memory for the findings");
	code = rc ? EXIT_FAILED : print_it(o, &x);
	if (rc)
		say("explain: %s", e.text);
	explain_free(&x);
	wanted_free(&wanted);
	comparison_free(&compared);
	return code;
}

static int explain_exec(const void *options, int noperands, char **operands)
{
	const struct explain_options *o = options;

	if (noperands > 2) {
		say("explain: unexpected argument '%.200s': give one recording or two",
		    operands[2]);
		return EXIT_USAGE;
	}
	if (noperands == 2)
		return explain_two(o, operands);
	if (o->ask == EXPLAIN_DIFF) {
		say("explain: --ask diff takes two recordings");
		return EXIT_USAGE;
	}
	return explain_one(o, noperands, operands);
}

const struct command command_explain = {
	.name = "explain",
	.operands = "[DIR | DIR DIR]",
	.what = "Explain a run, or what changed between two: ranked findings",
	.description =
		"Prints the most important findings first. Each has its numbers with units and, "
		"where one is known, their 95 % interval, how sure it is, what proves it, the "
		"cause, what to do next, and the command that settles the doubt. The findings "
		"are the verdicts of `sonde show`, where the time went, stacks, waits, memory "
		"and input and output; of two runs, what `sonde compare` finds.\n\n"
		"With --json, each number has its place (at) in `sonde show --json`, `sonde show --waits --json` or `sonde compare --json`. The document is at most 2,000 "
		"tokens long, at four bytes per token; the least important findings are "
		"left out and counted. The same recordings give the same bytes. Nothing is sent "
		"anywhere.\n\n"
		"DIR is a directory that Sonde wrote, or one of its files. Default: the newest "
		"recording here. Two are compared: A, then B. Exit code 1 also means that the "
		"recording is damaged and some data was skipped.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct explain_options),
	COMMAND_EXAMPLES(examples),
	.exec = explain_exec,
};
