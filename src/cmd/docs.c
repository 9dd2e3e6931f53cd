/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/text/textfile.h"
#include "bench/model.h"
#include "console/command.h"
#include "console/completion.h"
#include "console/help.h"
#include "core/phase/phase_rule.h"
#include "core/pipeline.h"
#include "core/stacks/classes.h"
#include "core/table/map.h"
#include "report/judging/rules.h"
#include "report/summary/code.h"
#include "report/summary/pipeline.h"
#include "source/catalogue.h"
#include "source/perf/perf_table.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_BYTES_MAX = 1 << 20 };

/* What the files of a kind add to. */
struct checked {
	struct rules *rules;
	struct phase_rules phases;
	struct models models;
	struct classes classes;
	struct pipeline_tools pipelines;
};

static int check_rules(struct checked *c, const char *path, const char *text, size_t len,
		       struct err *e)
{
	return c->rules ? rules_add(c->rules, path, text, len, e)
			: rules_parse(&c->rules, path, text, len, e);
}

static int check_phases(struct checked *c, const char *path, const char *text, size_t len,
			struct err *e)
{
	return phase_rules_add(&c->phases, path, text, len, e);
}

/* Each alone, for all CPUs: a group of one file may have the name of another's. */
static int check_events(struct checked *c, const char *path, const char *text, size_t len,
			struct err *e)
{
	struct perf_table *t = malloc(sizeof *t);
	int rc;

	(void)c;
	if (!t)
		return err_set(e, -ENOMEM, "out of memory");
	perf_table_init(t, NULL, NULL);
	rc = perf_table_parse(t, path, text, len, e);
	perf_table_free(t);
	free(t);
	return rc;
}

static int check_map(struct checked *c, const char *path, const char *text, size_t len,
		     struct err *e)
{
	struct map m;
	int rc = map_parse(&m, path, text, len, e);

	(void)c;
	map_free(&m);
	return rc;
}

static int check_models(struct checked *c, const char *path, const char *text, size_t len,
			struct err *e)
{
	return models_parse(&c->models, path, text, len, e);
}

static int check_classes(struct checked *c, const char *path, const char *text, size_t len,
			 struct err *e)
{
	return classes_add(&c->classes, path, text, len, e);
}

static int check_pipelines(struct checked *c, const char *path, const char *text, size_t len,
			   struct err *e)
{
	return pipeline_tools_add(&c->pipelines, path, text, len, e);
}

static const struct data_kind {
	const char *ending;
	int (*check)(struct checked *c, const char *path, const char *text, size_t len,
		     struct err *e);
} kinds[] = {
	{ ".rules", check_rules },         { ".phases", check_phases },
	{ ".events", check_events },       { ".map", check_map },
	{ ".model", check_models },        { ".classes", check_classes },
	{ ".pipelines", check_pipelines },
};

static int check_file(struct checked *c, const char *path, struct err *e)
{
	const char *ending = strrchr(path, '.');
	struct bytes text = { 0 };
	size_t k = 0;
	int rc;

	while (k < sizeof kinds / sizeof kinds[0] && (!ending || strcmp(ending, kinds[k].ending)))
		k++;
	if (k == sizeof kinds / sizeof kinds[0])
		return err_set(e, -EINVAL,
			       "%.200s: its name ends in none of .rules, .phases, .events, .map, "
			       ".model, .classes, .pipelines",
			       path);
	rc = textfile_read(path, "data file", DATA_BYTES_MAX, &text, e);
	if (!rc)
		rc = kinds[k].check(c, path, text.len ? (const char *)text.data : "", text.len, e);
	bytes_free(&text);
	return rc;
}

/* The kind of a file is what its name ends in; names of rules are unique among all files given.
 * 0, or -errno with a sentence about the first fault. */
static int docs_check(char *const *paths, int n, struct err *e)
{
	struct checked c = { 0 };
	int rc = 0;

	for (int i = 0; i < n && !rc; i++)
		rc = check_file(&c, paths[i], e);
	rules_free(c.rules);
	phase_rules_free(&c.phases);
	models_free(&c.models);
	classes_free(&c.classes);
	pipeline_tools_free(&c.pipelines);
	return rc;
}

/* Writes what was collected to DIR/name and empties it. An exit code. */
static int save(struct bytes *b, const char *dir, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *out = n > 0 && (size_t)n < sizeof path ? fopen(path, "we") : NULL;
	bool failed = b->failed || !out || fwrite(b->data, 1, b->len, out) != b->len;

	if (out && fclose(out))
		failed = true;
	bytes_free(b);
	if (failed)
		say("docs: cannot write %s/%s: %s", dir, name, strerror(errno));
	return failed ? EXIT_FAILED : EXIT_OK;
}

/* sonde-run.1, sonde-bench-run.1 */
static int write_pages(const char *dir, const struct command *const *c, size_t n)
{
	struct bytes b = { 0 };
	int code = EXIT_OK;

	for (size_t i = 0; i < n && code == EXIT_OK; i++) {
		char name[64];

		if (c[i]->hidden)
			continue;
		snprintf(name, sizeof name, "sonde-%s.1", c[i]->name);
		for (char *space = strchr(name, ' '); space; space = strchr(space, ' '))
			*space = '-';
		man_command(&b, c[i]);
		code = save(&b, dir, name);
		if (code == EXIT_OK)
			code = write_pages(dir, c[i]->verbs, c[i]->nverbs);
	}
	return code;
}

static int write_man(const char *dir)
{
	struct bytes b = { 0 };
	int code;

	man_overview(&b);
	code = save(&b, dir, "sonde.1");
	return code == EXIT_OK ? write_pages(dir, commands, ncommands) : code;
}

static int write_completions(const char *dir)
{
	static const struct {
		const char *file;
		void (*make)(struct bytes *b);
	} shells[] = {
		{ "sonde.bash", completion_bash },
		{ "_sonde", completion_zsh },
		{ "sonde.fish", completion_fish },
	};
	int code = EXIT_OK;

	for (size_t i = 0; i < sizeof shells / sizeof shells[0] && code == EXIT_OK; i++) {
		struct bytes b = { 0 };

		shells[i].make(&b);
		code = save(&b, dir, shells[i].file);
	}
	return code;
}

static int print_metrics(void)
{
	struct bytes b = { 0 };

	catalogue_markdown(&b);
	return print_bytes(&b);
}

static void cell(struct bytes *b, const char *keys)
{
	for (const char *end; *keys; keys = end + (*end == ' ')) {
		end = keys + strcspn(keys, " ");
		bytes_printf(b, "`%.*s`%s", (int)(end - keys), keys, *end ? ", " : "");
	}
}

static void keys_section(struct bytes *b, const char *heading, const char *sentence)
{
	bytes_printf(b, "\n## %s\n\n", heading);
	if (*sentence)
		bytes_printf(b, "%s\n\n", sentence);
	bytes_printf(b, "| key | value |\n|---|---|\n");
}

static int print_metadata(void)
{
	struct bytes b = { 0 };

	bytes_printf(
		&b,
		"# Keys of metadata\n\nPrinted from `src/metas.def`. [metadata.md](metadata.md) "
		"explains what they are. N is a number, NAME a text.\n");
#define SECTION(heading, sentence) keys_section(&b, heading, sentence);
#define KEYS(keys, what)                                                                           \
	bytes_printf(&b, "| ");                                                                    \
	cell(&b, keys);                                                                            \
	bytes_printf(&b, " | %s |\n", what);
#include "metas.def"
#undef KEYS
#undef SECTION
	return print_bytes(&b);
}

static int print_verdicts(void)
{
	struct err e = { "" };

	if (!rules_markdown(stdout, &e))
		return EXIT_OK;
	say("docs: %s", e.text);
	return EXIT_FAILED;
}

static int print_made(int (*make)(struct bytes *out, struct err *e))
{
	struct bytes b = { 0 };
	struct err e = { "" };

	if (!make(&b, &e))
		return print_bytes(&b);
	bytes_free(&b);
	say("docs: %s", e.text);
	return EXIT_FAILED;
}

static int check(char *const *paths, int n)
{
	struct err e = { "out of memory" };

	if (!docs_check(paths, n, &e))
		return EXIT_OK;
	say("%s", e.text);
	return EXIT_FAILED;
}

static int docs_exec(const void *options, int noperands, char **operands)
{
	(void)options;
	if (noperands == 2 && !strcmp(operands[0], "man"))
		return write_man(operands[1]);
	if (noperands == 2 && !strcmp(operands[0], "completions"))
		return write_completions(operands[1]);
	if (noperands == 1 && !strcmp(operands[0], "metrics"))
		return print_metrics();
	if (noperands == 1 && !strcmp(operands[0], "metadata"))
		return print_metadata();
	if (noperands == 1 && !strcmp(operands[0], "verdicts"))
		return print_verdicts();
	if (noperands == 1 && !strcmp(operands[0], "classes"))
		return print_made(code_classes_markdown);
	if (noperands == 1 && !strcmp(operands[0], "pipelines"))
		return print_made(pipelines_manual);
	if (noperands > 1 && !strcmp(operands[0], "check"))
		return check(operands + 1, noperands - 1);
	say("docs: takes one of: man DIR, completions DIR, metrics, metadata, verdicts, classes, pipelines, check FILE...");
	return EXIT_USAGE;
}

static const struct example examples[] = {
	{ "docs metrics", "print docs/metrics.md" },
};

const struct command command_docs = {
	.name = "docs",
	.operands = "man|completions DIR | check FILE... | TABLE",
	.what = "Write the documents that are made from the tables",
	.description =
		"Man pages and shell completions go into DIR. TABLE (metrics, metadata, verdicts, "
		"classes or pipelines) prints the catalogue of metrics, the keys of metadata, the "
		"rules of the verdicts, the classes of code or the workflow tools. check reads files "
		"of rules, phases, classes, pipelines, events, maps and models and reports the first "
		"fault with its line.",
	COMMAND_EXAMPLES(examples),
	.hidden = true,
	.exec = docs_exec,
};
