/* SPDX-License-Identifier: Apache-2.0 */
#include "core/phase/phase_rule.h"

#include "base/text/decimal.h"
#include "base/text/textfile.h"
#include "core/phase/mark.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- names and fields ---- */

static bool phase_pattern_matches(const char *pattern, const char *name, struct phase_star *star)
{
	const char *at = strchr(pattern, '*');
	size_t before = at ? (size_t)(at - pattern) : 0, behind = at ? strlen(at + 1) : 0;
	size_t n = strlen(name);

	*star = (struct phase_star){ name, 0 };
	if (!at)
		return strcmp(pattern, name) == 0;
	if (n < before + behind || strncmp(pattern, name, before) != 0 ||
	    strcmp(at + 1, name + n - behind) != 0)
		return false;
	*star = (struct phase_star){ name + before, n - before - behind };
	return true;
}

uint32_t phase_words_match(const struct phase_words *w, const char *name, struct phase_star *star)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (phase_pattern_matches(w->word[i], name, star))
			return i + 1;
	return 0;
}

/* A part between commas that has no = belongs to the value before it. */
static size_t value_length(const char *value)
{
	size_t n = strcspn(value, ",");

	while (value[n]) {
		size_t part = strcspn(value + n + 1, ",=");

		if (value[n + 1 + part] == '=')
			break;
		n += 1 + part;
	}
	return n;
}

static bool find_between_commas(const char *text, const char *key, char *out, size_t size)
{
	size_t want = strlen(key);

	while (*text) {
		size_t name = strcspn(text, "=,"), n;

		if (text[name] != '=') { /* before the first key */
			text += name + (text[name] == ',');
			continue;
		}
		n = value_length(text + name + 1);
		if (name == want && !strncmp(text, key, want) && n < size) {
			memcpy(out, text + name + 1, n);
			out[n] = '\0';
			return true;
		}
		text += name + 1 + n;
		text += *text == ',';
	}
	return false;
}

bool phase_field(enum phase_fields f, const char *text, const char *key, char *out, size_t size)
{
	return f == PHASE_COMMAS ? find_between_commas(text, key, out, size)
				 : mark_text_find(text, key, out, size);
}

/* How many bytes a unit is; 0: it is none. */
static double unit_bytes(const char *unit, size_t n, double step)
{
	static const char letters[] = "kmgtpe";
	const char *at;

	if (!n || (n == 1 && (*unit == 'B' || *unit == 'b')))
		return 1;
	at = strchr(letters, tolower((unsigned char)*unit));
	if (!at || !*at)
		return 0;
	if (n == 3 && !strncasecmp(unit + 1, "ib", 2))
		step = 1024;
	else if (n > 2 || (n == 2 && tolower((unsigned char)unit[1]) != 'b'))
		return 0;
	return pow(step, (double)(at - letters + 1));
}

bool phase_size(const char *text, double step, double *bytes)
{
	const char *end = text + strlen(text), *unit, *number;
	double times, value;
	char *behind;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	for (unit = end; unit > text && isalpha((unsigned char)unit[-1]);)
		unit--;
	for (number = unit; number > text && isspace((unsigned char)number[-1]);)
		number--;
	while (number > text && strchr("0123456789.", number[-1]))
		number--;
	if (number > text && !isspace((unsigned char)number[-1]))
		return false;
	times = unit_bytes(unit, (size_t)(end - unit), step);
	value = decimal_parse(number, &behind);
	if (behind == number || behind > unit || times == 0 || !isfinite(value * times))
		return false;
	while (behind < unit && isspace((unsigned char)*behind))
		behind++;
	if (behind != unit)
		return false;
	*bytes = value * times;
	return true;
}

/* ---- rules ---- */

#define RULE_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-"

struct parser {
	struct phase_rules *rules;
	struct phase_rule *rule; /* the block being read; NULL before the first */
	const char *file;
	unsigned rule_line;
	unsigned seen;                  /* bit i: keys[i] was given in this block */
	uint8_t fresh[PHASE_RULES_MAX]; /* rules of this text */
};

enum key_type { KEY_TEXT, KEY_WORD, KEY_WORDS, KEY_CHOICE };

static const struct key {
	const char *name;
	enum key_type type;
	size_t offset;             /* in struct phase_rule */
	const char *const *choice; /* KEY_CHOICE: in the order of its enum */
} keys[] = {
#define KEY(key, type, member)                                                                     \
	{                                                                                          \
		key, type, offsetof(struct phase_rule, member), NULL                               \
	}
#define CHOICE(key, member, ...)                                                                   \
	{                                                                                          \
		key, KEY_CHOICE, offsetof(struct phase_rule, member), (const char *const[])        \
		{                                                                                  \
			__VA_ARGS__, NULL                                                          \
		}                                                                                  \
	}
	KEY("about", KEY_TEXT, about),
	KEY("phase", KEY_WORD, phase),
	KEY("spans", KEY_WORDS, spans),
	KEY("start", KEY_WORDS, start),
	KEY("end", KEY_WORDS, end),
	KEY("key", KEY_WORDS, key),
	KEY("duration", KEY_WORD, duration),
	KEY("size", KEY_WORD, size),
	CHOICE("several", several, "newest", "oldest", "first"),
	CHOICE("no-end", no_end, "open", "untold", "next"),
	CHOICE("no-start", no_start, "told", "untold"),
	CHOICE("within", within, "track", "node"),
	CHOICE("fields", fields, "blanks", "commas"),
#undef CHOICE
#undef KEY
};
enum { KEYS = sizeof keys / sizeof keys[0] };
_Static_assert(KEYS <= 32, "parser.seen has a bit for each");

/* ---- values ---- */

static int take_words(struct phase_words *w, const char *value, size_t *at, struct err *e)
{
	char *p = w->text = strdup(value);

	if (!p)
		return err_set(e, -ENOMEM, "out of memory");
	while (*(p += strspn(p, " \t,"))) {
		size_t n = strcspn(p, " \t,");

		*at = (size_t)(p - w->text);
		if (w->n == PHASE_WORDS)
			return err_set(e, -EINVAL, "these are more than %d", PHASE_WORDS);
		if (n >= PHASE_NAME_MAX)
			return err_set(e, -EINVAL, "a name has at most %d characters",
				       PHASE_NAME_MAX - 1);
		if (memchr(p, '*', n) &&
		    memchr(strchr(p, '*') + 1, '*', n - (size_t)(strchr(p, '*') + 1 - p)))
			return err_set(e, -EINVAL, "a name has one * at most");
		w->word[w->n++] = p;
		p += n;
		if (*p)
			*p++ = '\0';
	}
	return 0;
}

static int take_text(char **to, const char *value, bool word, struct err *e)
{
	if (word && value[strcspn(value, " \t,")])
		return err_set(e, -EINVAL, "it is one word, not '%.60s'", value);
	if (word && strlen(value) >= PHASE_NAME_MAX)
		return err_set(e, -EINVAL, "a name has at most %d characters", PHASE_NAME_MAX - 1);
	*to = strdup(value);
	return *to ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static int take(struct phase_rule *r, const struct key *k, const char *value, size_t *at,
		struct err *e)
{
	void *to = (char *)r + k->offset;

	switch (k->type) {
	case KEY_TEXT:
	case KEY_WORD:
		return take_text(to, value, k->type == KEY_WORD, e);
	case KEY_WORDS:
		return take_words(to, value, at, e);
	case KEY_CHOICE:
		return entry_choice(to, k->choice, value, e);
	}
	return -EINVAL;
}

/* ---- blocks ---- */

static void rule_free(struct phase_rule *r)
{
	free(r->name);
	for (size_t i = 0; i < KEYS; i++) {
		char *at = (char *)r + keys[i].offset;

		if (keys[i].type == KEY_WORDS)
			free(((struct phase_words *)(void *)at)->text);
		else if (keys[i].type != KEY_CHOICE)
			free(*(char **)(void *)at);
	}
	*r = (struct phase_rule){ 0 };
}

/* How many of the patterns have a *. */
static uint32_t stars(const struct phase_words *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		n += strchr(w->word[i], '*') != NULL;
	return n;
}

/* Why a rule that was read makes no sense; NULL: it does. */
static const char *rule_fault(const struct phase_rule *r)
{
	const struct phase_words *from = r->spans.n ? &r->spans : &r->start;
	bool starred = stars(from);

	if (!r->spans.n && !r->start.n)
		return "has neither 'start:' nor 'spans:'";
	if (r->spans.n && (r->start.n || r->end.n || r->key.n))
		return "has 'spans:', which have their starts, ends and keys themselves";
	if (r->start.n && !r->end.n && r->no_end != PHASE_NEXT)
		return "has no 'end:', and its phases do not end where the next one starts "
		       "('no-end: next')";
	if (starred && (stars(from) < from->n || (r->end.n && stars(&r->end) < r->end.n)))
		return "has a * in some of its names and not in others";
	if (!starred && stars(&r->end))
		return "has a * in its ends and not in its starts";
	if (strchr(r->phase, '*') && !starred)
		return "has a * in 'phase:', which represents nothing";
	return NULL;
}

static int rule_finish(struct parser *p, struct err *e)
{
	struct phase_rule *r = p->rule;
	const char *why;

	if (!r)
		return 0;
	if (!r->phase)
		r->phase = strdup(r->name);
	if (!r->phase)
		return -ENOMEM;
	why = rule_fault(r);
	return why ? entries_fault(p->file, p->rule_line, 1, e, "rule %s %s", r->name, why) : 0;
}

/* The place of a rule of this name: that of one from another text, which goes, or a new one. */
static int rule_place(struct parser *p, unsigned line, const char *name, uint32_t *place,
		      struct err *e)
{
	struct phase_rules *rules = p->rules;

	for (uint32_t i = 0; i < rules->n; i++) {
		if (strcmp(rules->rule[i].name, name) != 0)
			continue;
		if (p->fresh[i])
			return entries_fault(p->file, line, 1, e, "there is a rule %s already",
					     name);
		rule_free(&rules->rule[i]);
		*place = i;
		return 0;
	}
	if (rules->n == PHASE_RULES_MAX)
		return entries_fault(p->file, line, 1, e, "there may be at most %d rules",
				     PHASE_RULES_MAX);
	*place = rules->n++;
	return 0;
}

static int rule_begin(struct parser *p, unsigned line, const char *name, struct err *e)
{
	size_t n = strspn(name, RULE_LETTERS);
	uint32_t place = 0;
	int rc = rule_finish(p, e);

	if (rc)
		return rc;
	if (!n || name[n] || n >= PHASE_NAME_MAX)
		return entries_fault(p->file, line, 1, e,
				     "a rule's name is made of a-z, 0-9 and '-', not '%.60s'",
				     name);
	if (!p->rules->rule)
		p->rules->rule = calloc(PHASE_RULES_MAX, sizeof *p->rules->rule);
	if (!p->rules->rule)
		return -ENOMEM;
	rc = rule_place(p, line, name, &place, e);
	if (rc)
		return rc;
	p->fresh[place] = 1;
	p->rule = &p->rules->rule[place];
	p->rule_line = line;
	p->seen = 0;
	p->rule->name = strdup(name);
	return p->rule->name ? 0 : -ENOMEM;
}

/* -1: none is called so. */
static int key_find(const char *name)
{
	int i = KEYS - 1;

	while (i >= 0 && strcmp(keys[i].name, name) != 0)
		i--;
	return i;
}

static int take_entry(void *ctx, const struct entry *en, struct err *e)
{
	struct parser *p = ctx;
	int key = key_find(en->key), rc;
	struct err why = { "" };
	size_t at = 0;

	if (strcmp(en->key, "rule") == 0)
		return rule_begin(p, en->line, en->value, e);
	rc = entry_of_block(en, key, p->rule, &p->seen, "docs/phases.md", e);
	if (rc)
		return rc;
	return take(p->rule, &keys[key], en->value, &at, &why) ? entry_fault(en, at, why.text, e)
							       : 0;
}

int phase_rules_add(struct phase_rules *rules, const char *name, const char *text, size_t len,
		    struct err *e)
{
	struct parser p = { .rules = rules, .file = name };
	int rc;

	rc = entries_read(name, text, len, take_entry, &p, e);
	if (!rc)
		rc = rule_finish(&p, e);
	return rc == -ENOMEM ? err_set(e, rc, "%.200s: out of memory", name) : rc;
}

static int add(void *rules, const char *path, const char *text, size_t len, struct err *e)
{
	return phase_rules_add(rules, path, text, len, e);
}

int phase_rules_read(struct phase_rules *rules, const char *path, struct err *e)
{
	const struct textfiles files = { .what = "rules",
					 .ending = ".phases",
					 .most = ENTRIES_BYTES_MAX,
					 .take = add,
					 .ctx = rules };

	return textfiles_read(&files, path, e);
}

void phase_rules_free(struct phase_rules *rules)
{
	for (uint32_t i = 0; i < rules->n; i++)
		rule_free(&rules->rule[i]);
	free(rules->rule);
	*rules = (struct phase_rules){ 0 };
}
