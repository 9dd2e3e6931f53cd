/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - reads rules: blocks of "key: value", one block a rule. */
#include "report/rules.h"

#include "base/bytes.h"
#include "base/textfile.h"
#include "report/assets.h"
#include "report/rule.h"
#include "report/variables.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = 256, RULES_BYTES_MAX = 1 << 20 };

struct parser {
	struct rules *rules;
	struct rule *rule;  /* the block being read; NULL before the first */
	const char *file;   /* what errors call the text */
	unsigned rule_line; /* where the block began */
	unsigned seen;      /* bit i: keys[i] was given in this block */
	struct bytes entry; /* the "key: value" being read, its lines joined */
	unsigned line;      /* where it began */
};

enum key_type { KEY_TEXT, KEY_EXPR, KEY_NEEDS, KEY_SEVERITY, KEY_SENTENCE };

static const struct key {
	const char *name;
	enum key_type type;
	bool required;
	size_t offset; /* in struct rule */
} keys[] = {
	{ "about", KEY_TEXT, true, offsetof(struct rule, about) },
	{ "needs", KEY_NEEDS, false, 0 },
	{ "enough", KEY_EXPR, false, offsetof(struct rule, enough) },
	{ "when", KEY_EXPR, true, offsetof(struct rule, when) },
	{ "severity", KEY_SEVERITY, true, 0 },
	{ "say", KEY_SENTENCE, true, offsetof(struct rule, say) },
	{ "cannot", KEY_SENTENCE, false, offsetof(struct rule, cannot) },
	{ "proof", KEY_TEXT, false, offsetof(struct rule, proof) },
	{ "threshold", KEY_EXPR, false, offsetof(struct rule, threshold) },
	{ "from", KEY_EXPR, false, offsetof(struct rule, from) },
	{ "to", KEY_EXPR, false, offsetof(struct rule, to) },
};
enum { KEYS = sizeof keys / sizeof keys[0] };

struct name_check {
	char wrong[SUMMARY_NAME]; /* first name that does not exist; "" = none */
};

static void check_name(void *ctx, const char *function, const char *name)
{
	struct name_check *c = ctx;

	if (*c->wrong)
		return;
	if (function ? !variable_function_find(function) : !variable_find(name))
		snprintf(c->wrong, sizeof c->wrong, "%s%s", function ? function : name,
			 function ? "()" : "");
}

int rule_expr_parse(struct expr **x, const char *text, struct err *e)
{
	struct name_check c = { "" };
	int rc = expr_parse(x, text, e);

	if (rc)
		return rc;
	expr_names(*x, check_name, &c);
	if (*c.wrong)
		return err_set(e, -EINVAL, "%s is neither a figure nor a function that rules know",
			       c.wrong);
	return 0;
}

/* Where a parsed key goes: the source beside the expression, so that documents show it. */
static int take_expr(struct rule_expr *to, const char *value, struct err *e)
{
	to->source = strdup(value);
	return to->source ? rule_expr_parse(&to->x, value, e) : -ENOMEM;
}

static int take_needs(struct rule *r, const char *value, struct err *e)
{
	while (*(value += strspn(value, " \t,"))) {
		size_t n = strcspn(value, " \t,");
		char *word;
		int rc;

		if (r->nneeds == RULE_NEEDS)
			return err_set(e, -EINVAL, "a rule needs at most %d things", RULE_NEEDS);
		word = strndup(value, n);
		if (!word)
			return -ENOMEM;
		rc = take_expr(&r->needs[r->nneeds++], word, e);
		free(word);
		if (rc)
			return rc;
		value += n;
	}
	return 0;
}

static int take_severity(struct rule *r, const char *value, struct err *e)
{
	for (enum severity v = SEVERITY_NOTE; v < SEVERITY_NUMBER_OF; v++) {
		if (strcmp(value, severity_name(v)) == 0) {
			r->severity = v;
			return 0;
		}
	}
	return err_set(e, -EINVAL, "it is one of note, good, warn, bad, cannot-tell, not '%s'",
		       value);
}

static int take_text(char **to, const char *value, struct err *e)
{
	if (strlen(value) >= SUMMARY_SENTENCE)
		return err_set(e, -EINVAL, "it is too long: %d characters are the most",
			       SUMMARY_SENTENCE - 1);
	*to = strdup(value);
	return *to ? 0 : -ENOMEM;
}

static int take(struct rule *r, const struct key *k, const char *value, struct err *e)
{
	void *to = (char *)r + k->offset;

	switch (k->type) {
	case KEY_TEXT:
		return take_text(to, value, e);
	case KEY_EXPR:
		return take_expr(to, value, e);
	case KEY_NEEDS:
		return take_needs(r, value, e);
	case KEY_SEVERITY:
		return take_severity(r, value, e);
	case KEY_SENTENCE:
		return sentence_parse(to, value, e);
	}
	return -EINVAL;
}

static int fault(const struct parser *p, unsigned line, struct err *e, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int fault(const struct parser *p, unsigned line, struct err *e, const char *format, ...)
{
	char why[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof why, format, ap);
	va_end(ap);
	return err_set(e, -EINVAL, "%.100s:%u: %s", p->file, line, why);
}

/* The block has ended: is everything there? */
static int rule_finish(struct parser *p, struct err *e)
{
	if (!p->rule)
		return 0;
	for (size_t i = 0; i < KEYS; i++)
		if (keys[i].required && !(p->seen & 1u << i))
			return fault(p, p->rule_line, e, "rule %s has no '%s:'", p->rule->name,
				     keys[i].name);
	return 0;
}

static bool name_valid(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n > 0 && !name[n] && n < SUMMARY_NAME;
}

static int rule_begin(struct parser *p, unsigned line, const char *name, struct err *e)
{
	struct rules *rules = p->rules;
	int rc = rule_finish(p, e);

	if (rc)
		return rc;
	if (!name_valid(name))
		return fault(p, line, e, "a rule's name is made of a-z, 0-9 and '-', not '%.60s'",
			     name);
	for (size_t i = 0; i < rules->n; i++)
		if (strcmp(rules->rule[i].name, name) == 0)
			return fault(p, line, e, "there is a rule %s already", name);
	if (rules->n == RULES_MAX)
		return fault(p, line, e, "a file holds at most %d rules", RULES_MAX);
	if (!rules->rule)
		rules->rule = calloc(RULES_MAX, sizeof *rules->rule);
	if (!rules->rule)
		return -ENOMEM;
	p->rule = &rules->rule[rules->n];
	p->rule->name = strdup(name);
	if (!p->rule->name)
		return -ENOMEM;
	rules->n++;
	p->rule_line = line;
	p->seen = 0;
	return 0;
}

/* One "key: value", its continuation lines joined. */
static int entry(struct parser *p, unsigned line, char *text, struct err *e)
{
	char *value = strchr(text, ':');
	struct err why = { "out of memory" };

	if (!value)
		return fault(p, line, e, "'%.60s' is not 'key: value'", text);
	*value++ = '\0';
	value += strspn(value, " \t");
	if (strcmp(text, "rule") == 0)
		return rule_begin(p, line, value, e);
	for (size_t i = 0; i < KEYS; i++) {
		if (strcmp(keys[i].name, text) != 0)
			continue;
		if (!p->rule)
			return fault(p, line, e, "'%s:' stands before the first 'rule:'", text);
		if (p->seen & 1u << i)
			return fault(p, line, e, "'%s:' is given twice", text);
		p->seen |= 1u << i;
		if (!*value)
			return fault(p, line, e, "'%s:' is empty", text);
		return take(p->rule, &keys[i], value, &why)
			       ? fault(p, line, e, "%s: %.300s", text, why.text)
			       : 0;
	}
	return fault(p, line, e, "'%.60s' is not a key; see docs/verdicts.md", text);
}

/* The entry read so far is whole. */
static int entry_finish(struct parser *p, struct err *e)
{
	int rc;

	if (!p->entry.len)
		return 0;
	bytes_u8(&p->entry, 0);
	rc = p->entry.failed ? -ENOMEM : entry(p, p->line, (char *)p->entry.data, e);
	bytes_reset(&p->entry);
	return rc;
}

static int parse(struct parser *p, const char *at, const char *end, struct err *e)
{
	for (unsigned line = 1; at < end; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *from = at, *stop = newline ? newline : end;

		at = newline ? newline + 1 : end;
		while (stop > from && strchr(" \t\r", stop[-1]))
			stop--;
		if (from == stop || *from == '#')
			continue;
		if (*from == ' ' || *from == '\t') {
			if (!p->entry.len)
				return fault(p, line, e, "an indented line continues nothing");
			while (*from == ' ' || *from == '\t')
				from++;
			bytes_u8(&p->entry, ' ');
		} else {
			int rc = entry_finish(p, e);

			if (rc)
				return rc;
			p->line = line;
		}
		bytes_put(&p->entry, from, (size_t)(stop - from));
	}
	return 0;
}

int rules_parse(struct rules **rules, const char *name, const char *text, size_t len, struct err *e)
{
	struct parser p = { .file = name };
	int rc;

	*rules = NULL;
	if (len > RULES_BYTES_MAX || (len && memchr(text, '\0', len)))
		return err_set(e, -EINVAL, "%.200s: this is no text of at most %d bytes", name,
			       RULES_BYTES_MAX);
	p.rules = calloc(1, sizeof *p.rules);
	if (!p.rules)
		return err_set(e, -ENOMEM, "%.200s: out of memory", name);
	rc = len ? parse(&p, text, text + len, e) : 0;
	if (!rc)
		rc = entry_finish(&p, e);
	if (!rc)
		rc = rule_finish(&p, e);
	bytes_free(&p.entry);
	if (rc)
		rules_free(p.rules);
	else
		*rules = p.rules;
	return rc == -ENOMEM ? err_set(e, rc, "%.200s: out of memory", name) : rc;
}

int rules_builtin(struct rules **rules, struct err *e)
{
	return rules_parse(rules, "basic.rules", asset_rules,
			   (size_t)(asset_rules_end - asset_rules), e);
}

int rules_read(struct rules **rules, const char *path, struct err *e)
{
	struct bytes text = { 0 };
	int rc = textfile_read(path, "rules file", RULES_BYTES_MAX, &text, e);

	*rules = NULL;
	if (!rc)
		rc = rules_parse(rules, path, (const char *)text.data, text.len, e);
	bytes_free(&text);
	return rc;
}

static void rule_expr_free(struct rule_expr *x)
{
	free(x->source);
	expr_free(x->x);
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->n; i++) {
		struct rule *r = &rules->rule[i];

		free(r->name);
		free(r->about);
		free(r->proof);
		for (size_t k = 0; k < r->nneeds; k++)
			rule_expr_free(&r->needs[k]);
		rule_expr_free(&r->enough);
		rule_expr_free(&r->when);
		rule_expr_free(&r->threshold);
		rule_expr_free(&r->from);
		rule_expr_free(&r->to);
		sentence_free(&r->say);
		sentence_free(&r->cannot);
	}
	free(rules->rule);
	free(rules);
}
