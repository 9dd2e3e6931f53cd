/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - reads rules: blocks of "key: value", one block a rule. */
#include "report/judging/rules.h"

#include "base/bytes.h"
#include "base/entries.h"
#include "report/judging/rule.h"
#include "report/judging/variables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	{ "cannot", KEY_SENTENCE, false, offsetof(struct rule, cannot), NULL },
	{ "request", KEY_REQUEST, false, offsetof(struct rule, request), NULL },
	{ "margin", KEY_EXPR, false, offsetof(struct rule, margin), NULL },
	{ "cost", KEY_EXPR, false, offsetof(struct rule, cost), NULL },
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

	if (rule_error_key(en->key))
		return rule_error_entry(p->rules, en, e);
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

	if (len > RULES_BYTES_MAX || (len && memchr(text, '\0', len)))
		return err_set(e, -EINVAL, "%.200s: this is not text of at most %d bytes", name,
			       RULES_BYTES_MAX);
	rc = entries_read(name, text, len, entry, &p, e);
	if (!rc)
		rc = rule_finish(&p, e);
	if (!rc)
		rc = rule_errors_check(rules, name, e);
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
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->n; i++)
		rule_free(&rules->rule[i]);
	free(rules->rule);
	rule_errors_free(rules);
	free(rules);
}
