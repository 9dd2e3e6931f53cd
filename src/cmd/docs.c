/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/catalogue.h"
#include "cmd/docs_check.h"
#include "console/command.h"
#include "console/completion.h"
#include "console/help.h"
#include "console/print.h"
#include "console/say.h"
#include "report/judging/rules.h"
#include "report/summary/code.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

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

static int print_classes(void)
{
	struct bytes b = { 0 };
	struct err e = { "" };

	if (!code_classes_markdown(&b, &e))
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
		return print_classes();
	if (noperands > 1 && !strcmp(operands[0], "check"))
		return check(operands + 1, noperands - 1);
	say("docs: takes one of: man DIR, completions DIR, metrics, metadata, verdicts, classes, check FILE...");
	return EXIT_USAGE;
}

static const struct example examples[] = {
	{ "docs metrics", "print docs/metrics.md" },
};

const struct command command_docs = {
	.name = "docs",
	.operands = "man|completions DIR | metrics|metadata|verdicts|classes | check FILE...",
	.what = "Write the documents that are made from the tables",
	.description =
		"Man pages and shell completions go into DIR, the catalogue of metrics, the keys of metadata, the rules of "
		"the verdicts and the classes of code to standard output. check reads files of rules, "
		"phases, classes, events, maps and models and reports the first fault with its line.",
	COMMAND_EXAMPLES(examples),
	.hidden = true,
	.exec = docs_exec,
};
