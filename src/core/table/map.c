/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - reads a map: "table NAME of DOMAIN", then a line KEY "HEADER" [/ UNIT] = EXPRESSION for
 * each key. */
#include "core/table/map.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES_MAX = 16, KEYS_MAX = 512, MAP_BYTES_MAX = 1 << 20, NAMES_MAX = 8 };

#define LETTERS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define KEY_TEXT LETTERS "-.*"

struct parser {
	struct map *map;
	const char *at; /* in the line being read, which ends in NUL */
};

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t");
}

/* A word that a line, or what follows, begins with: it is taken. */
static bool starts(struct parser *p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(p->at, word, n) != 0 || !strchr(" \t", p->at[n]))
		return false;
	p->at += n;
	skip_blanks(p);
	return true;
}

/* The characters of `set` that come next, and blanks; NULL when there are none. */
static char *take_word(struct parser *p, const char *set)
{
	size_t n = strspn(p->at, set);
	char *word = n ? pool_text(&p->map->pool, p->at, n) : NULL;

	p->at += n;
	skip_blanks(p);
	return word;
}

static char *take_quoted(struct parser *p)
{
	const char *end = *p->at == '"' ? strchr(p->at + 1, '"') : NULL;
	char *text = end && end > p->at + 1
			     ? pool_text(&p->map->pool, p->at + 1, (size_t)(end - p->at - 1))
			     : NULL;

	if (text)
		p->at = end + 1;
	skip_blanks(p);
	return text;
}

bool map_how(const char *function, enum map_how *out)
{
	static const char *const functions[] = { [MAP_COUNTER] = "counter", [MAP_RISE] = "rise" };

	if (!function) {
		*out = MAP_VALUE;
		return true;
	}
	for (int how = MAP_COUNTER; how <= MAP_RISE; how++)
		if (!strcmp(function, functions[how])) {
			*out = (enum map_how)how;
			return true;
		}
	return false;
}

const char *map_star(const char *text)
{
	return strchr(text, '*');
}

struct names {
	unsigned n;
	const char *first, *unknown; /* a function that is none */
	enum map_how how;
};

static void visit_name(void *ctx, const char *function, const char *name)
{
	struct names *names = ctx;
	enum map_how how;

	if (!map_how(function, &how))
		names->unknown = function;
	else if (!names->n++) {
		names->how = how;
		names->first = name;
	}
}

/* 1 for the name the key is about, wherever it stands; the others are unknown. */
static struct expr_value subject_is_one(void *ctx, const char *function, const char *name)
{
	const struct names *names = ctx;
	enum map_how how;

	if (!map_how(function, &how) || how != names->how || strcmp(name, names->first) != 0)
		return (struct expr_value){ false, 0 };
	return (struct expr_value){ true, 1 };
}

static int take_value(struct parser *p, struct map_key *k, struct err *e)
{
	struct names names = { 0 };
	struct expr_value v;
	int rc = expr_parse(&k->value, p->at, e);

	if (rc)
		return rc;
	expr_names(k->value, visit_name, &names);
	if (names.unknown)
		return err_set(e, -EINVAL,
			       "there is no function %s(); counter() and rise() are known",
			       names.unknown);
	if (!names.n || names.n > NAMES_MAX)
		return err_set(e, -EINVAL, "a value is made of one to %d names of metrics",
			       NAMES_MAX);
	k->metric = names.first;
	k->how = names.how;
	v = expr_eval(k->value, subject_is_one, &names);
	if (!v.known || v.v == 0)
		return err_set(e, -EINVAL,
			       "the value must follow from its first name, %s, alone; what it is "
			       "divided by otherwise goes into if(known(x), x, 1)",
			       names.first);
	k->factor = v.v;
	if (map_star(k->metric) && !map_star(k->key))
		return err_set(e, -EINVAL, "each metric that %s represents needs a * in its key",
			       k->metric);
	return 0;
}

static int take_divisor(struct parser *p, double *out, struct err *e)
{
	size_t n = strcspn(p->at, "=");
	struct expr *x = NULL;
	char *text = pool_text(&p->map->pool, p->at, n);
	struct names names = { .first = "" };
	struct expr_value v;
	int rc = text ? expr_parse(&x, text, e) : -ENOMEM;

	if (rc)
		return rc;
	v = expr_eval(x, subject_is_one, &names);
	expr_free(x);
	if (!v.known || !(v.v > 0))
		return err_set(e, -EINVAL, "a column's unit is a number above 0");
	*out = v.v;
	p->at += n;
	return 0;
}

static int check_key(const struct map_table *t, const struct map_key *k, struct err *e)
{
	const char *star = map_star(k->key);

	if (!star != !map_star(k->header))
		return err_set(e, -EINVAL,
			       "a * is in both the key and the column's name, or "
			       "in none");
	if (star && map_star(star + 1))
		return err_set(e, -EINVAL, "a key has one * at most");
	for (uint32_t i = 0; i + 1 < t->nkeys; i++)
		if (!strcmp(t->keys[i].key, k->key) || !strcmp(t->keys[i].header, k->header))
			return err_set(e, -EINVAL, "%s has this key or column already", t->name);
	return 0;
}

static int take_key(struct parser *p, struct err *e)
{
	struct map *m = p->map;
	struct map_table *t = m->ntables ? &m->tables[m->ntables - 1] : NULL;
	struct map_key *k;
	int rc = 0;

	if (!t || !t->keys)
		return err_set(e, -EINVAL, "before the first key comes a line: table NAME");
	if (t->nkeys == KEYS_MAX)
		return err_set(e, -EINVAL, "a table has %d keys at most", KEYS_MAX);
	k = &t->keys[t->nkeys++];
	*k = (struct map_key){ .header_divisor = 1 };
	k->key = take_word(p, KEY_TEXT);
	if (k->key && *p->at == '?') {
		k->optional = true;
		p->at++;
		skip_blanks(p);
	}
	k->header = k->key ? take_quoted(p) : NULL;
	if (k->header && *p->at == '/') {
		p->at++;
		rc = take_divisor(p, &k->header_divisor, e);
	}
	if (rc)
		return rc;
	if (!k->header || *p->at != '=')
		return err_set(e, -EINVAL, "a line is KEY \"COLUMN\" = EXPRESSION, or table NAME");
	p->at++;
	rc = check_key(t, k, e);
	return rc ? rc : take_value(p, k, e);
}

/* "table NAME" or "table NAME of DOMAIN", behind the word table. */
static int take_table(struct parser *p, struct err *e)
{
	struct map *m = p->map;
	struct map_table *t = &m->tables[m->ntables];

	if (m->ntables == TABLES_MAX)
		return err_set(e, -EINVAL, "a map has %d tables at most", TABLES_MAX);
	*t = (struct map_table){ .name = take_word(p, LETTERS) };
	if (t->name && starts(p, "of")) {
		t->domain = take_word(p, LETTERS);
		if (!t->domain)
			return err_set(e, -EINVAL, "of what it is of is missing");
	}
	if (!t->name || *p->at)
		return err_set(e, -EINVAL,
			       "a table's line is: table NAME, or table NAME of DOMAIN");
	if (map_table(m, t->name))
		return err_set(e, -EINVAL, "there is a table %s already", t->name);
	t->keys = calloc(KEYS_MAX, sizeof *t->keys);
	if (!t->keys)
		return -ENOMEM;
	m->ntables++;
	return 0;
}

/* The rest of a line, once in a map. */
static int take_rest(struct parser *p, const char **to, struct err *e)
{
	skip_blanks(p);
	if (*to || !*p->at)
		return err_set(e, -EINVAL, "a map has it once, followed by a value");
	*to = pool_text(&p->map->pool, p->at, strlen(p->at));
	return *to ? 0 : -ENOMEM;
}

static int take_line(struct parser *p, struct err *e)
{
	skip_blanks(p);
	if (!*p->at || *p->at == '#')
		return 0;
	if (starts(p, "table"))
		return take_table(p, e);
	if (starts(p, "machine"))
		return take_rest(p, &p->map->machine, e);
	if (starts(p, "interval"))
		return take_rest(p, &p->map->interval, e);
	return take_key(p, e);
}

static int parse_lines(struct parser *p, const char *name, char *text, struct err *e)
{
	unsigned line = 0;
	int rc = 0;

	for (char *end; text && !rc; text = end) {
		struct err why = { "out of memory" };

		end = strchr(text, '\n');
		if (end)
			*end++ = '\0';
		line++;
		p->at = text;
		rc = take_line(p, &why);
		if (rc)
			rc = err_set(e, rc, "%.100s:%u: %.350s", name, line, why.text);
	}
	return rc;
}

int map_parse(struct map *m, const char *name, const char *text, size_t len, struct err *e)
{
	struct parser p = { .map = m };
	char *copy;
	int rc;

	*m = (struct map){ 0 };
	if (len > MAP_BYTES_MAX || memchr(text, '\0', len))
		return err_set(e, -EINVAL, "%.100s: a map is text of 1 MiB at most", name);
	m->tables = calloc(TABLES_MAX, sizeof *m->tables);
	copy = strndup(text, len);
	rc = m->tables && copy ? parse_lines(&p, name, copy, e)
			       : err_set(e, -ENOMEM, "out of memory");
	free(copy);
	if (!rc && !m->ntables)
		rc = err_set(e, -EINVAL, "%.100s: it has no table", name);
	return rc;
}

void map_free(struct map *m)
{
	for (uint32_t t = 0; t < m->ntables; t++) {
		for (uint32_t k = 0; k < m->tables[t].nkeys; k++)
			expr_free(m->tables[t].keys[k].value);
		free(m->tables[t].keys);
	}
	free(m->tables);
	pool_free(&m->pool);
	*m = (struct map){ 0 };
}

const struct map_table *map_table(const struct map *m, const char *name)
{
	for (uint32_t t = 0; t < m->ntables; t++)
		if (!strcmp(m->tables[t].name, name))
			return &m->tables[t];
	return NULL;
}
