/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - reads rules of pipelines: blocks of "key: value", one block a tool. */
#include "core/pipeline.h"

#include "base/text/textfile.h"
#include "core/glob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOOL_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define RULE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-:"
enum { NAME_BYTES = 64, PATTERN_BYTES = 256, TEXT_BYTES = 512, TRIES = 32 };

enum { KEY_LABEL = PIPELINE_LISTS, KEY_ABOUT, KEY_FILE, KEY_BESIDE, KEY_RECORDS, KEYS };

static const char *const keys[KEYS] = {
	[PIPELINE_DRIVER] = "driver",
	[PIPELINE_TASK] = "task",
	[PIPELINE_RULE] = "rule",
	[PIPELINE_SKIP] = "skip",
	[PIPELINE_SKIP_SHORT] = "skip-short",
	[PIPELINE_LINE] = "line",
	[PIPELINE_OUTPUT] = "output",
	[PIPELINE_BUILDS] = "builds",
	[PIPELINE_PASTE] = "paste",
	[KEY_LABEL] = "label",
	[KEY_ABOUT] = "about",
	[KEY_FILE] = "file",
	[KEY_BESIDE] = "beside",
	[KEY_RECORDS] = "records",
	[PIPELINE_PASTE_ALL] = "paste-all",
};

struct parser {
	struct pipeline_tools *tools;
	struct pipeline_tool *tool; /* the block being read; NULL before the first */
	const char *file;
	unsigned line, seen;
	uint32_t before; /* tools of texts before this one */
	uint64_t fresh;  /* of these, replaced by this one */
};

/* ---- matching ---- */

static bool matches(const char *pattern, const char *text, size_t n)
{
	char copy[TEXT_BYTES];

	if (n >= sizeof copy)
		n = sizeof copy - 1;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return !*pattern ? !n : glob_match(pattern, copy);
}

/* {rule} is as short as it can be; before * or the end, all letters that a name may have. */
static bool match_rule(const char *head, const char *tail, const char *text, char *rule)
{
	size_t len = strlen(text);
	unsigned tries = 0;

	for (size_t i = 0; i < len && tries < TRIES; i++) {
		size_t most = strspn(text + i, RULE_LETTERS);

		if (!most || !matches(head, text, i))
			continue;
		tries++;
		most = most < PIPELINE_RULE_MAX ? most : PIPELINE_RULE_MAX - 1;
		for (size_t n = !*tail || *tail == '*' ? most : 1; n <= most; n++) {
			if (!matches(tail, text + i + n, len - i - n))
				continue;
			memcpy(rule, text + i, n);
			rule[n] = '\0';
			return true;
		}
	}
	return false;
}

bool pipeline_match(const struct pipeline_words *w, const char *text, char *rule)
{
	char head[PATTERN_BYTES], spare[PIPELINE_RULE_MAX];

	for (uint32_t i = 0; i < w->n; i++) {
		const char *at = strstr(w->word[i], "{rule}");

		if (rule)
			*rule = '\0';
		if (!at && matches(w->word[i], text, strlen(text)))
			return true;
		if (!at)
			continue;
		memcpy(head, w->word[i], (size_t)(at - w->word[i]));
		head[at - w->word[i]] = '\0';
		if (match_rule(head, at + strlen("{rule}"), text, rule ? rule : spare))
			return true;
	}
	return false;
}

bool pipeline_is_plain(const char *rule)
{
	return *rule && !rule[strspn(rule, RULE_LETTERS)];
}

/* ---- values ---- */

/* Spaces before a line to paste are kept behind a |. */
static int add_word(struct pipeline_tool *tool, int list, const struct entry *en, const char *at,
		    size_t n, struct err *e)
{
	struct pipeline_words *w = &tool->list[list];
	bool paste = list == PIPELINE_PASTE || list == PIPELINE_PASTE_ALL;

	if (w->n == PIPELINE_WORDS_MAX)
		return entry_fault(en, 0, "there may be at most 64", e);
	if (!n || n >= PATTERN_BYTES)
		return entry_fault(en, 0, "it has 1 to 255 characters", e);
	if (paste && *at != '|')
		return entry_fault(en, 0, "a line to paste begins with |", e);
	if (!paste && memchr(at, ',', n))
		return entry_fault(en, 0, "a pattern has no comma", e);
	w->word[w->n] = strndup(at + paste, n - paste);
	return w->word[w->n++] ? 0 : -ENOMEM;
}

static int take_text(char **to, const char *value)
{
	free(*to);
	*to = strdup(value);
	return *to ? 0 : -ENOMEM;
}

static int take(struct pipeline_tool *tool, int key, const struct entry *en, struct err *e)
{
	static const char *const records[] = { "none", "snakemake", NULL };
	struct err why = { "" };
	unsigned choice = 0;
	const char *p = en->value;
	int rc = 0;

	switch (key) {
	case KEY_LABEL:
		return take_text(&tool->label, p);
	case KEY_ABOUT:
		return take_text(&tool->about, p);
	case KEY_FILE:
		return take_text(&tool->file, p);
	case KEY_BESIDE:
		return take_text(&tool->beside, p);
	case KEY_RECORDS:
		if (entry_choice(&choice, records, p, &why))
			return entry_fault(en, 0, why.text, e);
		tool->snakemake = choice == 1;
		return 0;
	case PIPELINE_SKIP:
	case PIPELINE_SKIP_SHORT:
	case PIPELINE_OUTPUT:
	case PIPELINE_BUILDS:
		while (!rc && *(p += strspn(p, " \t"))) {
			size_t n = strcspn(p, " \t");

			rc = add_word(tool, key, en, p, n, e);
			p += n;
		}
		return rc;
	default:
		return add_word(tool, key, en, p, strlen(p), e);
	}
}

/* ---- blocks ---- */

static void tool_free(struct pipeline_tool *tool)
{
	for (int k = 0; k < PIPELINE_LISTS; k++)
		for (uint32_t i = 0; i < tool->list[k].n; i++)
			free(tool->list[k].word[i]);
	free(tool->name);
	free(tool->label);
	free(tool->about);
	free(tool->file);
	free(tool->beside);
	*tool = (struct pipeline_tool){ 0 };
}

static int tool_finish(struct parser *p, struct err *e)
{
	const struct pipeline_tool *t = p->tool;
	const char *why = NULL;

	if (!t)
		return 0;
	if (!t->label)
		why = "has no 'label:'";
	else if (!t->list[PIPELINE_DRIVER].n && !t->list[PIPELINE_TASK].n)
		why = "has neither 'driver:' nor 'task:'";
	else if (!t->file != !t->list[PIPELINE_LINE].n || !t->file != !t->beside)
		why = "has some of 'file:', 'beside:' and 'line:' without the others";
	else if (t->beside && strchr(t->beside, '/'))
		why = "has a '/' in 'beside:', which is a name in the folder of 'file:'";
	return why ? entries_fault(p->file, p->line, 1, e, "tool %s %s", t->name, why) : 0;
}

static int tool_place(struct parser *p, unsigned line, const char *name, struct err *e)
{
	struct pipeline_tools *t = p->tools;
	struct pipeline_tool *moved;

	for (uint32_t i = 0; i < t->n; i++) {
		if (strcmp(t->tool[i].name, name) != 0)
			continue;
		if (i >= p->before || p->fresh >> i & 1)
			return entries_fault(p->file, line, 1, e, "there is a tool %s already",
					     name);
		tool_free(&t->tool[i]);
		p->fresh |= UINT64_C(1) << i;
		p->tool = &t->tool[i];
		return 0;
	}
	if (t->n == PIPELINE_TOOLS_MAX)
		return entries_fault(p->file, line, 1, e, "there may be at most %d tools",
				     PIPELINE_TOOLS_MAX);
	moved = realloc(t->tool, (t->n + 1) * sizeof *moved);
	if (!moved)
		return -ENOMEM;
	t->tool = moved;
	p->tool = &moved[t->n++];
	*p->tool = (struct pipeline_tool){ 0 };
	return 0;
}

static int tool_begin(struct parser *p, unsigned line, const char *name, struct err *e)
{
	size_t n = strspn(name, TOOL_LETTERS);
	int rc = tool_finish(p, e);

	if (rc)
		return rc;
	p->tool = NULL;
	if (!n || name[n] || n >= NAME_BYTES)
		return entries_fault(p->file, line, 1, e,
				     "a tool's name is made of a-z, 0-9 and '-', not '%.60s'",
				     name);
	rc = tool_place(p, line, name, e);
	if (rc)
		return rc;
	p->line = line;
	p->seen = 0;
	p->tool->name = strdup(name);
	return p->tool->name ? 0 : -ENOMEM;
}

static int take_entry(void *ctx, const struct entry *en, struct err *e)
{
	struct parser *p = ctx;
	int key = KEYS - 1, rc;

	if (strcmp(en->key, "tool") == 0)
		return tool_begin(p, en->line, en->value, e);
	while (key >= 0 && strcmp(keys[key], en->key) != 0)
		key--;
	if (key >= 0 && key < PIPELINE_LISTS) /* these may come several times */
		p->seen &= ~(1U << key);
	rc = entry_of_block(en, key, p->tool, &p->seen, "docs/pipelines.md", e);
	return rc ? rc : take(p->tool, key, en, e);
}

int pipeline_tools_add(struct pipeline_tools *t, const char *name, const char *text, size_t len,
		       struct err *e)
{
	struct parser p = { .tools = t, .file = name, .before = t->n };
	int rc;

	rc = entries_read(name, text, len, take_entry, &p, e);
	if (!rc)
		rc = tool_finish(&p, e);
	return rc == -ENOMEM ? err_set(e, rc, "%.200s: out of memory", name) : rc;
}

static int add(void *tools, const char *path, const char *text, size_t len, struct err *e)
{
	return pipeline_tools_add(tools, path, text, len, e);
}

int pipeline_tools_read(struct pipeline_tools *t, const char *path, struct err *e)
{
	const struct textfiles files = { .what = "pipelines",
					 .ending = ".pipelines",
					 .most = ENTRIES_BYTES_MAX,
					 .take = add,
					 .ctx = t };

	return textfiles_read(&files, path, e);
}

void pipeline_tools_free(struct pipeline_tools *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		tool_free(&t->tool[i]);
	free(t->tool);
	*t = (struct pipeline_tools){ 0 };
}
