/* SPDX-License-Identifier: Apache-2.0 */
/* bench_check.c - does a script keep the contract? */
#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/textfile.h"
#include "bench/contract.h"
#include "console/command.h"
#include "trial/benchprint.h"
#include "trial/scripted.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct check_options {
	struct option_list environment, models;
	int64_t limit_ns;
	bool json;
};

static const struct option rows[] = {
	BENCH_ENVIRONMENT(struct check_options),
	{ .name = "timeout",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "10m",
	  .max = INT64_C(604800) * NS_PER_S,
	  .help = "Stop the script after this time; 0: never.",
	  OPTION_OFFSET(struct check_options, limit_ns) },
	BENCH_MODELS(struct check_options),
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the result as JSON, schema sonde/bench-check/1.",
	  OPTION_OFFSET(struct check_options, json) },
};

static const struct example examples[] = {
	{ "bench check ./matmul.py", "run it once and check its output" },
	{ "bench check result.json", "check a document" },
};

struct checked {
	struct contract said;
	char ended[512];  /* "": well */
	char unfit[512];  /* "": it fits its model */
	const char *name; /* of what is checked */
};

static unsigned count(const struct contract *c, bool warnings)
{
	unsigned n = warnings ? 0 : c->nleft_out;

	for (uint32_t i = 0; i < c->nfaults; i++)
		n += c->fault[i].warning == warnings;
	return n;
}

static bool is_good(const struct checked *x)
{
	return !*x->ended && !*x->unfit && !count(&x->said, false);
}

static void line(struct bytes *b, const char *what, const char *text)
{
	bytes_printf(b, "%s: ", what);
	escape_terminal(b, text);
	bytes_u8(b, '\n');
}

static void print_text(struct bytes *b, const struct checked *x)
{
	const struct contract *c = &x->said;
	unsigned results = 0;
	char text[256];

	for (uint32_t i = 0; i < c->nfaults; i++) {
		contract_fault_text(&c->fault[i], text, sizeof text);
		line(b, c->fault[i].warning ? "warning" : "wrong", text);
	}
	if (c->nleft_out)
		bytes_printf(b, "wrong: and %u more\n", c->nleft_out);
	if (*x->unfit)
		line(b, "wrong", x->unfit);
	if (*x->ended)
		line(b, "wrong", x->ended);
	for (uint32_t i = 0; i < c->nvalues; i++)
		results += c->value[i].is_result;
	if (is_good(x))
		bytes_printf(b, "%s (%s) meets the contract: %u parameter%s, %u result%s\n",
			     c->name, escape_terminal_into(text, sizeof text, c->component),
			     c->nvalues - results, c->nvalues - results == 1 ? "" : "s", results,
			     results == 1 ? "" : "s");
}

static void fault_json(struct json *j, bool warning, uint64_t at, const char *text)
{
	json_object(j);
	json_key(j, "severity");
	json_text(j, warning ? "warning" : "wrong");
	json_key(j, "line");
	if (at)
		json_int(j, (int64_t)at);
	else
		json_null(j);
	json_key(j, "text");
	json_text(j, text);
	json_object_end(j);
}

static void print_json(struct bytes *b, const struct checked *x)
{
	struct json j = { .out = b, .indent = true };
	const struct contract *c = &x->said;

	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/bench-check/1");
	json_key(&j, "checked");
	json_text(&j, x->name);
	json_put_bool(&j, "keeps_contract", is_good(x));
	json_key(&j, "name");
	json_text(&j, c->name);
	json_key(&j, "component");
	json_text(&j, c->component);
	json_key(&j, "overall_score");
	json_real(&j, c->overall_score);
	for (int part = 0; part < 2; part++) {
		json_key(&j, part ? "result" : "parameters");
		json_object(&j);
		for (uint32_t i = 0; i < c->nvalues; i++)
			if (c->value[i].is_result == (part == 1)) {
				json_key(&j, c->value[i].v->key);
				jsontree_write(&j, c->value[i].v);
			}
		json_object_end(&j);
	}
	json_key(&j, "faults");
	json_array(&j);
	for (uint32_t i = 0; i < c->nfaults; i++)
		fault_json(&j, c->fault[i].warning, c->fault[i].line, c->fault[i].text);
	if (*x->unfit)
		fault_json(&j, false, 0, x->unfit);
	if (*x->ended)
		fault_json(&j, false, 0, x->ended);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

/* What the script prints, or what the document holds. 0 or -errno; output is freed by the caller.
 */
static int obtain(struct checked *x, const struct check_options *o, char **operands,
		  struct bytes *output, struct err *e)
{
	struct stat st;
	struct chosen_script script = { .argv = NULL };
	struct scripted_wish w = { .environment = &o->environment, .limit_ns = o->limit_ns };
	struct scripted r;
	int rc;

	if (!stat(operands[0], &st) && S_ISREG(st.st_mode) && access(operands[0], X_OK))
		return textfile_read(operands[0], "result", CONTRACT_DOCUMENT, output, e);
	rc = chosen_script_find(&script, operands, e);
	if (rc)
		return rc;
	w.argv = script.argv;
	rc = scripted_run(&r, &w, e);
	chosen_script_free(&script);
	if (!rc && scripted_failed(&r, x->ended, sizeof x->ended))
		scripted_last_words(&r, x->ended, sizeof x->ended);
	*output = r.out;
	output->len -= output->len > 0; /* the NUL */
	bytes_free(&r.err);
	return rc;
}

static int check(const struct check_options *o, char **operands)
{
	struct checked x = { .name = operands[0] };
	struct models models = { 0 };
	struct bytes output = { 0 }, b = { 0 };
	struct err e = { "" };
	int rc = benchmodels_read(&models, &o->models, &e), code = EXIT_USAGE;

	if (!rc)
		rc = obtain(&x, o, operands, &output, &e);
	if (!rc) {
		const struct model *m = NULL;

		rc = contract_read(&x.said, output.data, output.len, &e);
		if (!rc)
			m = models_find(&models, x.said.name);
		if (m && model_check(m, &x.said, &e))
			snprintf(x.unfit, sizeof x.unfit, "%s", e.text);
		rc = rc == -EBADMSG ? 0 : rc;
	}
	if (rc) {
		say("bench check: %s", e.text);
	} else {
		if (o->json)
			print_json(&b, &x);
		else
			print_text(&b, &x);
		code = print_bytes(&b);
		code = code == EXIT_OK && !is_good(&x) ? EXIT_FAILED : code;
	}
	contract_free(&x.said);
	models_free(&models);
	bytes_free(&output);
	return code;
}

static int check_exec(const void *options, int noperands, char **operands)
{
	if (!noperands) {
		say("bench check: no script given: sonde bench check SCRIPT [ARGS...]");
		return EXIT_USAGE;
	}
	builtin_help(operands);
	return check(options, operands);
}

const struct command command_bench_check = {
	.name = "bench check",
	.operands = "SCRIPT [ARGS...]",
	.what = "Check whether a script meets the contract",
	.description = BUILTIN_RULE
	"\n\n"
	"Runs SCRIPT once without storing anything, and checks its output. If the file is not "
	"executable, it checks its contents: a result as a script prints it or as Amun stores "
	"it.\n\n"
	"It prints one line per fault, with the line of the output. Warnings do not prevent a "
	"result from being stored.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct check_options),
	COMMAND_EXAMPLES(examples),
	.stop_at_operand = true,
	.exec = check_exec,
};
