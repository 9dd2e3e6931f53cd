/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - reads rules and kinds of errors: blocks of "key: value", one block a rule or kind. */
#include "report/judging/rules.h"
#include "base/bytes.h"
#include "base/packed.h"
#include "base/text/textfile.h"
#include "core/expr/expr.h"
#include "report/assets.h"
#include "report/judging/rule.h"
#include "report/judging/variables.h"
#include "report/summary/reason.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds of errors that programs print: blocks error: NAME ---- */

enum { WORD_MOST = 100 };

/* "error: NAME" begins one; the others are its entries. key: "error", "words" or "advice". */
static bool is_key_of_kind(const char *key)
{
	return !strcmp(key, "error") || !strcmp(key, "words") || !strcmp(key, "advice");
}

static const struct rule_error *find(const struct rules *rules, const char *name)
{
	for (size_t i = 0; i < rules->nerrors; i++)
		if (!strcmp(rules->error[i].name, name))
			return &rules->error[i];
	return NULL;
}

static int begin(struct rules *rules, const struct entry *en, struct err *e)
{
	size_t n = strspn(en->value, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (!n || en->value[n] || n >= sizeof((struct summary_reason *)0)->kind)
		return entry_fault(en, 0, "a kind's name is made of a-z, 0-9 and '_'", e);
	if (find(rules, en->value))
		return entry_fault(en, 0, "a kind of this name came before", e);
	if (rules->nerrors == RULE_ERRORS_MAX)
		return entry_fault(en, 0, "there are too many kinds", e);
	if (!rules->error)
		rules->error = calloc(RULE_ERRORS_MAX, sizeof *rules->error);
	if (!rules->error)
		return -ENOMEM;
	rules->error[rules->nerrors].name = strdup(en->value);
	return rules->error[rules->nerrors++].name ? 0 : -ENOMEM;
}

static int take_kind(struct rules *rules, const struct entry *en, struct err *e)
{
	struct rule_error *last = rules->nerrors ? &rules->error[rules->nerrors - 1] : NULL;
	char **to;

	if (!strcmp(en->key, "error"))
		return begin(rules, en, e);
	if (!last)
		return entry_fault(en, 0, "it stands before the first 'error:'", e);
	to = !strcmp(en->key, "words") ? &last->words : &last->advice;
	if (*to || !*en->value)
		return entry_fault(en, 0, *to ? "it was given before" : "it is empty", e);
	if (to == &last->advice && strlen(en->value) >= sizeof((struct summary_reason *)0)->advice)
		return entry_fault(en, 0, "it is too long", e);
	*to = strdup(en->value);
	return *to ? 0 : -ENOMEM;
}

struct check {
	const struct rules *rules;
	const char *wrong;
};

static void check_kind(void *ctx, const char *function, const char *name)
{
	struct check *c = ctx;

	if (function && !strcmp(function, "error") && !find(c->rules, name) &&
	    strcmp(name, REASON_UNKNOWN) != 0)
		c->wrong = name;
}

/* Each has its words and its advice, and each error(NAME) of a rule is one of them, where there are
 * any. */
static int check_kinds(const struct rules *rules, const char *file, struct err *e)
{
	struct check c = { rules, NULL };

	for (size_t i = 0; i < rules->nerrors; i++)
		if (!rules->error[i].words || !rules->error[i].advice)
			return err_set(e, -EINVAL, "%.200s: error %s needs 'words:' and 'advice:'",
				       file, rules->error[i].name);
	for (size_t i = 0; i < rules->n && rules->nerrors && !c.wrong; i++)
		if (rules->rule[i].when.x)
			expr_names(rules->rule[i].when.x, check_kind, &c);
	return c.wrong ? err_set(e, -EINVAL, "%.200s: there is no kind of errors '%.60s'", file,
				 c.wrong)
		       : 0;
}

static void free_kinds(struct rules *rules)
{
	for (size_t i = 0; i < rules->nerrors; i++) {
		free(rules->error[i].name);
		free(rules->error[i].words);
		free(rules->error[i].advice);
	}
	free(rules->error);
}

/* With a capital letter exactly, else in any case. */
static bool has(const char *line, const char *word, size_t n)
{
	char copy[WORD_MOST + 1];
	bool exact = false;

	if (!n || n > WORD_MOST)
		return false;
	memcpy(copy, word, n);
	copy[n] = '\0';
	for (size_t i = 0; i < n; i++)
		exact |= isupper((unsigned char)copy[i]) != 0;
	return exact ? strstr(line, copy) != NULL : strcasestr(line, copy) != NULL;
}

static bool is_known_by(const char *line, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, "|"), blank = strspn(words, " "), word = n;

		while (word > blank && words[word - 1] == ' ')
			word--;
		if (word > blank && has(line, words + blank, word - blank))
			return true;
		words += n + (words[n] == '|');
	}
	return false;
}

const struct rule_error *rule_error_of(const struct rules *rules, const char *line)
{
	for (size_t i = 0; rules && i < rules->nerrors; i++)
		if (is_known_by(line, rules->error[i].words))
			return &rules->error[i];
	return NULL;
}

/* ---- rules ---- */

struct parser {
	struct rules *rules;
	struct rule *rule;  /* the block being read; NULL before the first */
	const char *file;   /* what errors call the text */
	unsigned rule_line; /* where the block began */
	unsigned seen;      /* bit i: keys[i] was given in this block */
	char *theme;        /* of the rules that follow; NULL: none */
};

enum key_type { KEY_TEXT, KEY_EXPR, KEY_NEEDS, KEY_NAMES, KEY_WORD, KEY_REQUEST, KEY_SENTENCE };

static const char *const where_names[] = { "all", "most", "least", NULL };
static const char *const during_names[] = { "all", "above", "below", NULL };
static const char *const part_names[] = { "own", "run", NULL };

static const struct key {
	const char *name;
	enum key_type type;
	bool required;
	size_t offset; /* in struct rule */
	const char *const *words;
} keys[] = {
	{ "about", KEY_TEXT, true, offsetof(struct rule, about), NULL },
	{ "needs", KEY_NEEDS, false, 0, NULL },
	{ "enough", KEY_EXPR, false, offsetof(struct rule, enough), NULL },
	{ "when", KEY_EXPR, true, offsetof(struct rule, when), NULL },
	{ "severity", KEY_WORD, true, offsetof(struct rule, severity), severity_names },
	{ "confidence", KEY_WORD, false, offsetof(struct rule, confidence), confidence_names },
	{ "say", KEY_SENTENCE, true, offsetof(struct rule, say), NULL },
	{ "briefly", KEY_SENTENCE, false, offsetof(struct rule, briefly), NULL },
	{ "cannot", KEY_SENTENCE, false, offsetof(struct rule, cannot), NULL },
	{ "request", KEY_REQUEST, false, offsetof(struct rule, request), NULL },
	{ "margin", KEY_EXPR, false, offsetof(struct rule, margin), NULL },
	{ "cost", KEY_EXPR, false, offsetof(struct rule, cost), NULL },
	{ "weight", KEY_EXPR, false, offsetof(struct rule, weight), NULL },
	{ "part-of", KEY_WORD, false, offsetof(struct rule, part_of), part_names },
	{ "excludes", KEY_NAMES, false, offsetof(struct rule, excludes), NULL },
	{ "yields", KEY_NAMES, false, offsetof(struct rule, yields), NULL },
	{ "proof", KEY_TEXT, false, offsetof(struct rule, proof), NULL },
	{ "threshold", KEY_EXPR, false, offsetof(struct rule, threshold), NULL },
	{ "where", KEY_WORD, false, offsetof(struct rule, where), where_names },
	{ "during", KEY_WORD, false, offsetof(struct rule, during), during_names },
	{ "from", KEY_EXPR, false, offsetof(struct rule, from), NULL },
	{ "to", KEY_EXPR, false, offsetof(struct rule, to), NULL },
};
enum { KEYS = sizeof keys / sizeof keys[0] };
_Static_assert(KEYS <= 32, "parser.seen has a bit for each");

struct name_check {
	char wrong[SUMMARY_NAME]; /* first name that does not exist; "" = none */
};

static void check_name(void *ctx, const char *function, const char *name)
{
	const struct variable_function *f = function ? variable_function_find(function) : NULL;
	struct name_check *c = ctx;

	if (*c->wrong)
		return;
	if (f && f->knows && !f->knows(name))
		snprintf(c->wrong, sizeof c->wrong, "%s", name);
	else if (function ? !f : !variable_find(name))
		snprintf(c->wrong, sizeof c->wrong, "%s%s", function ? function : name,
			 function ? "()" : "");
}

/* Where a name stands in an expression. */
static size_t place_of(const char *text, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
	size_t n = strcspn(name, "(");

	for (const char *at = text; *at;) {
		size_t word = strspn(at, letters);

		if (word == n && strncmp(at, name, n) == 0)
			return (size_t)(at - text);
		at += word ? word : 1;
	}
	return 0;
}

int rule_expr_parse(struct expr **x, const char *text, size_t *at, struct err *e)
{
	struct name_check c = { "" };
	int rc = expr_parse_at(x, text, at, e);

	if (rc)
		return rc;
	expr_names(*x, check_name, &c);
	*at = place_of(text, c.wrong);
	if (*c.wrong)
		return err_set(e, -EINVAL, "%s is neither a figure nor a function that rules know",
			       c.wrong);
	return 0;
}

/* Where a parsed key goes: the source beside the expression, so that documents show it. */
static int take_expr(struct rule_expr *to, const char *value, size_t *at, struct err *e)
{
	to->source = strdup(value);
	return to->source ? rule_expr_parse(&to->x, value, at, e) : -ENOMEM;
}

static int take_needs(struct rule *r, const char *value, size_t *at, struct err *e)
{
	const char *begin = value;

	while (*(value += strspn(value, " \t,"))) {
		size_t n = strcspn(value, " \t,"), within = 0;
		char *word;
		int rc;

		*at = (size_t)(value - begin);
		if (r->nneeds == RULE_NEEDS)
			return err_set(e, -EINVAL, "a rule needs at most %d things", RULE_NEEDS);
		word = strndup(value, n);
		if (!word)
			return -ENOMEM;
		rc = take_expr(&r->needs[r->nneeds++], word, &within, e);
		free(word);
		*at += within;
		if (rc)
			return rc;
		value += n;
	}
	return 0;
}

/* "memory 1.2 * peak_memory_bytes" */
static int take_request(struct rule *r, const char *value, size_t *at, struct err *e)
{
	size_t n = strcspn(value, " \t"), rest = n + strspn(value + n, " \t");
	int rc;

	for (enum resource i = RESOURCE_CORES; i < RESOURCE_NUMBER_OF; i++) {
		if (strlen(resource_names[i]) != n || strncmp(value, resource_names[i], n) != 0)
			continue;
		r->resource = i;
		rc = take_expr(&r->request, value + rest, at, e);
		*at += rest;
		return rc;
	}
	return err_set(e, -EINVAL, "it begins with one of cores, memory, gpus, time");
}

static int take_text(char **to, const char *value, struct err *e)
{
	if (strlen(value) >= VERDICT_SENTENCE)
		return err_set(e, -EINVAL, "it is too long: %d characters are the most",
			       VERDICT_SENTENCE - 1);
	*to = strdup(value);
	return *to ? 0 : -ENOMEM;
}

static bool name_valid(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n > 0 && !name[n] && n < SUMMARY_NAME;
}

/* "single-core cores-used" becomes " single-core cores-used ". */
static int take_names(char **to, const char *value, size_t *at, struct err *e)
{
	const char *begin = value;
	struct bytes b = { 0 };

	while (*(value += strspn(value, " \t,"))) {
		size_t n = strcspn(value, " \t,");
		char name[SUMMARY_NAME];

		*at = (size_t)(value - begin);
		snprintf(name, sizeof name, "%.*s", (int)n, value);
		if (n >= sizeof name || !name_valid(name)) {
			bytes_free(&b);
			return err_set(e, -EINVAL, "'%.60s' is not the name of a rule", name);
		}
		bytes_printf(&b, "%s%s ", b.len ? "" : " ", name);
		value += n;
	}
	bytes_u8(&b, 0);
	if (b.failed) {
		bytes_free(&b);
		return -ENOMEM;
	}
	*to = (char *)b.data;
	return 0;
}

/* *at: where in value the fault is. */
static int take(struct rule *r, const struct key *k, const char *value, size_t *at, struct err *e)
{
	void *to = (char *)r + k->offset;

	switch (k->type) {
	case KEY_TEXT:
		return take_text(to, value, e);
	case KEY_EXPR:
		return take_expr(to, value, at, e);
	case KEY_NEEDS:
		return take_needs(r, value, at, e);
	case KEY_NAMES:
		return take_names(to, value, at, e);
	case KEY_WORD:
		return entry_choice(to, k->words, value, e);
	case KEY_REQUEST:
		return take_request(r, value, at, e);
	case KEY_SENTENCE:
		return sentence_parse(to, value, at, e);
	}
	return -EINVAL;
}

/* The block has ended: is everything there? */
static int rule_finish(struct parser *p, struct err *e)
{
	if (!p->rule)
		return 0;
	for (size_t i = 0; i < KEYS; i++)
		if (keys[i].required && !(p->seen & 1u << i))
			return entries_fault(p->file, p->rule_line, 1, e, "rule %s has no '%s:'",
					     p->rule->name, keys[i].name);
	return 0;
}

static int rule_begin(struct parser *p, unsigned line, const char *name, struct err *e)
{
	struct rules *rules = p->rules;
	int rc = rule_finish(p, e);

	if (rc)
		return rc;
	if (!name_valid(name))
		return entries_fault(p->file, line, 1, e,
				     "a rule's name is made of a-z, 0-9 and '-', not '%.60s'",
				     name);
	for (size_t i = 0; i < rules->n; i++)
		if (strcmp(rules->rule[i].name, name) == 0)
			return entries_fault(p->file, line, 1, e, "there is a rule %s already",
					     name);
	if (rules->n == RULES_MAX)
		return entries_fault(p->file, line, 1, e, "there may be at most %d rules",
				     RULES_MAX);
	if (!rules->rule)
		rules->rule = calloc(RULES_MAX, sizeof *rules->rule);
	if (!rules->rule)
		return -ENOMEM;
	p->rule = &rules->rule[rules->n];
	p->rule->confidence = CONFIDENCE_MEDIUM;
	p->rule->name = strdup(name);
	p->rule->theme = p->theme ? strdup(p->theme) : NULL;
	rules->n++;
	if (!p->rule->name || (p->theme && !p->rule->theme))
		return -ENOMEM;
	p->rule_line = line;
	p->seen = 0;
	return 0;
}

static int theme_begin(struct parser *p, const char *theme, struct err *e)
{
	int rc = rule_finish(p, e);

	if (rc)
		return rc;
	free(p->theme);
	p->theme = strdup(theme);
	p->rule = NULL;
	return p->theme ? 0 : -ENOMEM;
}

/* -1: none is called so. */
static int key_find(const char *name)
{
	int i = KEYS - 1;

	while (i >= 0 && strcmp(keys[i].name, name) != 0)
		i--;
	return i;
}

/* One "key: value". */
static int entry(void *ctx, const struct entry *en, struct err *e)
{
	struct parser *p = ctx;
	int key = key_find(en->key), rc;
	struct err why = { "out of memory" };
	size_t at = 0;

	if (is_key_of_kind(en->key))
		return take_kind(p->rules, en, e);
	if (strcmp(en->key, "rule") == 0)
		return rule_begin(p, en->line, en->value, e);
	if (strcmp(en->key, "theme") == 0)
		return *en->value ? theme_begin(p, en->value, e)
				  : entries_fault(p->file, en->line, 1, e, "'theme:' is empty");
	rc = entry_of_block(en, key, p->rule, &p->seen, "docs/verdicts.md", e);
	if (rc)
		return rc;
	return take(p->rule, &keys[key], en->value, &at, &why) ? entry_fault(en, at, why.text, e)
							       : 0;
}

int rules_add(struct rules *rules, const char *name, const char *text, size_t len, struct err *e)
{
	struct parser p = { .rules = rules, .file = name };
	int rc;

	rc = entries_read(name, text, len, entry, &p, e);
	if (!rc)
		rc = rule_finish(&p, e);
	if (!rc)
		rc = check_kinds(rules, name, e);
	free(p.theme);
	return rc == -ENOMEM ? err_set(e, rc, "%.200s: out of memory", name) : rc;
}

static void rule_expr_free(struct rule_expr *x)
{
	free(x->source);
	expr_free(x->x);
}

static void rule_free(struct rule *r)
{
	free(r->name);
	free(r->about);
	free(r->theme);
	free(r->proof);
	free(r->excludes);
	free(r->yields);
	for (size_t k = 0; k < r->nneeds; k++)
		rule_expr_free(&r->needs[k]);
	for (size_t k = 0; k < KEYS; k++)
		if (keys[k].type == KEY_EXPR || keys[k].type == KEY_REQUEST)
			rule_expr_free((struct rule_expr *)((char *)r + keys[k].offset));
	sentence_free(&r->say);
	sentence_free(&r->cannot);
	sentence_free(&r->briefly);
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->n; i++)
		rule_free(&rules->rule[i]);
	free(rules->rule);
	free_kinds(rules);
	free(rules);
}

/* ---- where they come from: a file, the files of a directory, the program itself ---- */

int rules_parse(struct rules **rules, const char *name, const char *text, size_t len, struct err *e)
{
	int rc;

	*rules = calloc(1, sizeof **rules);
	if (!*rules)
		return err_set(e, -ENOMEM, "%.200s: out of memory", name);
	rc = rules_add(*rules, name, text, len, e);
	if (rc) {
		rules_free(*rules);
		*rules = NULL;
	}
	return rc;
}

int rules_builtin(struct rules **rules, struct err *e)
{
	struct bytes text = { 0 };
	int rc = packed_text(&text, asset_rules, asset_rules_end, "rules", e);

	if (!rc)
		rc = rules_parse(rules, "rules", (const char *)text.data, text.len, e);
	bytes_free(&text);
	return rc;
}

static int take_file(void *rules, const char *path, const char *text, size_t len, struct err *e)
{
	return rules_add(rules, path, text, len, e);
}

int rules_read(struct rules **rules, const char *path, struct err *e)
{
	struct textfiles files = {
		.what = "rules", .ending = ".rules", .most = ENTRIES_BYTES_MAX, .take = take_file
	};
	int rc;

	*rules = files.ctx = calloc(1, sizeof **rules);
	if (!*rules)
		return err_set(e, -ENOMEM, "%.200s: out of memory", path);
	rc = textfiles_read(&files, path, e);
	if (rc) {
		rules_free(*rules);
		*rules = NULL;
	}
	return rc;
}
