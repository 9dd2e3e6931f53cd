/* SPDX-License-Identifier: Apache-2.0 */
/* rules_kinds.c - kinds of errors that programs print, as blocks "error: NAME" of a file of rules.
 */
#include "core/expr/expr.h"
#include "report/judging/rule.h"
#include "report/summary/reason.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MOST = 100 };

bool rule_error_key(const char *key)
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

int rule_error_entry(struct rules *rules, const struct entry *en, struct err *e)
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

static void check_name(void *ctx, const char *function, const char *name)
{
	struct check *c = ctx;

	if (function && !strcmp(function, "error") && !find(c->rules, name) &&
	    strcmp(name, REASON_UNKNOWN) != 0)
		c->wrong = name;
}

int rule_errors_check(const struct rules *rules, const char *file, struct err *e)
{
	struct check c = { rules, NULL };

	for (size_t i = 0; i < rules->nerrors; i++)
		if (!rules->error[i].words || !rules->error[i].advice)
			return err_set(e, -EINVAL, "%.200s: error %s needs 'words:' and 'advice:'",
				       file, rules->error[i].name);
	for (size_t i = 0; i < rules->n && rules->nerrors && !c.wrong; i++)
		if (rules->rule[i].when.x)
			expr_names(rules->rule[i].when.x, check_name, &c);
	return c.wrong ? err_set(e, -EINVAL, "%.200s: there is no kind of errors '%.60s'", file,
				 c.wrong)
		       : 0;
}

void rule_errors_free(struct rules *rules)
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
