/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/sweepspec.h"

#include "base/text/args.h"
#include "base/text/decimal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *suffix;
	double factor;
} units[] = {
	{ "", 1 },
	{ "n", 1e-9 },
	{ "u", 1e-6 },
	{ "m", 1e-3 },
	{ "k", 1e3 },
	{ "K", 1e3 },
	{ "M", 1e6 },
	{ "G", 1e9 },
	{ "T", 1e12 },
	{ "P", 1e15 },
	{ "E", 1e18 },
	{ "Ki", 1024.0 },
	{ "Mi", 1048576.0 },
	{ "Gi", 1073741824.0 },
	{ "Ti", 1099511627776.0 },
	{ "Pi", 1125899906842624.0 },
	{ "Ei", 1152921504606846976.0 },
};

/* Behind the digits; an e or E is an exponent only when digits follow it. */
static const char *end_of_number(const char *text)
{
	const char *p = text + strspn(text, "0123456789."), *digits;

	if (*p != 'e' && *p != 'E')
		return p;
	digits = p + 1 + (p[1] == '+' || p[1] == '-');
	return *digits >= '0' && *digits <= '9' ? digits + strspn(digits, "0123456789") : p;
}

bool quantity_read(const char *text, double *out)
{
	const char *suffix = end_of_number(text);
	char number[64];
	size_t n = (size_t)(suffix - text);
	double v;

	if (!n || n >= sizeof number)
		return false;
	memcpy(number, text, n);
	number[n] = '\0';
	v = decimal_of(number);
	if (!isfinite(v))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (!strcmp(suffix, units[i].suffix)) {
			*out = v * units[i].factor;
			return isfinite(*out);
		}
	return false;
}

enum { NAME_MAX_BYTES = 128, VALUES_MAX = 1000 };

/* Where there is no room for a sentence, it is counted. */
static void keep_fault(const struct spec_reading *r, const char *text)
{
	struct sweep_faults *f = r->faults;
	const char *kept = f->n < SWEEP_FAULTS ? pool_text(r->pool, text, strlen(text)) : NULL;

	if (kept)
		f->text[f->n++] = kept;
	else
		f->left_out++;
}

int spec_fault(const struct spec_reading *r, const struct jsontree *at, const char *format, ...)
{
	char text[384];
	struct err said;
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	err_set(&said, -EBADMSG, "%.100s:%" PRIu64 ":%u: %s", r->name, at->line, at->column, text);
	if (r->faults)
		keep_fault(r, said.text);
	return !r->faults || r->faults->n + r->faults->left_out == 1
		       ? err_set(r->e, -EBADMSG, "%s", said.text)
		       : -EBADMSG;
}

bool spec_stops(int *rc, int one)
{
	if (one && (!*rc || one == -ENOMEM))
		*rc = one;
	return *rc == -ENOMEM;
}

void *spec_room(const struct spec_reading *r, size_t n, size_t size, int *rc)
{
	void *p = pool_take(r->pool, (n ? n : 1) * size);

	if (p)
		memset(p, 0, n * size);
	else
		*rc = err_set(r->e, -ENOMEM, "out of memory for %.200s", r->name);
	return p;
}

uint32_t spec_length(const struct jsontree *v)
{
	uint32_t n = 0;

	for (const struct jsontree *i = v->first; i; i = i->next)
		n++;
	return n;
}

/* ---- the kinds of values ---- */

int spec_want(const struct spec_reading *r, const struct jsontree *v, enum jsondoc_token type,
	      const char *what)
{
	return v->type == type ? 0
			       : spec_fault(r, v, "%s: %s, expected %s", v->key ? v->key : "this",
					    jsontree_kind(v), what);
}

/* Numbers and truth values stand for texts as well. */
int spec_read_text(const struct spec_reading *r, struct jsontree *v, const char **out)
{
	if (v->type == JSONDOC_NUMBER && v->text)
		v->type = JSONDOC_STRING;
	if (v->type == JSONDOC_TRUE || v->type == JSONDOC_FALSE) {
		v->text = v->type == JSONDOC_TRUE ? "true" : "false";
		v->type = JSONDOC_STRING;
	}
	*out = v->text;
	return spec_want(r, v, JSONDOC_STRING, "a text");
}

/* A list of texts, or one alone. */
int spec_read_words(const struct spec_reading *r, struct jsontree *v, struct sweep_words *out)
{
	bool is_list = v->type == JSONDOC_ARRAY;
	uint32_t n = is_list ? spec_length(v) : 1;
	int rc = 0;

	if (n > VALUES_MAX)
		return spec_fault(r, v, "%s: more than %d", v->key, VALUES_MAX);
	out->word = spec_room(r, n, sizeof *out->word, &rc);
	out->n = 0;
	for (struct jsontree *i = is_list ? v->first : v; i && !rc; i = is_list ? i->next : NULL)
		rc = spec_read_text(r, i, &out->word[out->n++]);
	return rc;
}

int spec_read_count(const struct spec_reading *r, const struct jsontree *v, int64_t least,
		    int64_t most, int64_t *out)
{
	*out = v->integer;
	if (v->type != JSONDOC_NUMBER || !v->whole || *out < least || *out > most)
		return spec_fault(r, v, "%s: expected a whole number from %" PRId64 " to %" PRId64,
				  v->key, least, most);
	return 0;
}

bool spec_is_variable(const char *name)
{
	return *name && strlen(name) <= NAME_MAX_BYTES && !strpbrk(name, "= \t\n") &&
	       !(*name >= '0' && *name <= '9');
}

static int read_variable(const struct spec_reading *r, struct jsontree *name_at, const char *name,
			 struct jsontree *value, struct sweep_variable *out)
{
	if (!spec_is_variable(name))
		return spec_fault(r, name_at, "'%.60s' cannot be the name of a variable", name);
	out->name = name;
	return spec_read_text(r, value, &out->text);
}

/* As Amun: [{name: N, value: V}], or {N: V}. */
static int read_variables(const struct spec_reading *r, struct jsontree *v,
			  struct sweep_variables *out)
{
	bool is_list = v->type == JSONDOC_ARRAY;
	int rc = is_list ? 0
			 : spec_want(r, v, JSONDOC_OBJECT, "an object or a list of name and value");

	if (!rc && spec_length(v) > SWEEP_VARIABLES)
		rc = spec_fault(r, v, "%s: more than %d variables", v->key, SWEEP_VARIABLES);
	if (!rc)
		out->v = spec_room(r, spec_length(v), sizeof *out->v, &rc);
	out->n = 0;
	for (struct jsontree *i = v->first; i && !rc; i = i->next) {
		struct jsontree *value = is_list ? (struct jsontree *)jsontree_find(i, "value") : i;
		const char *name = is_list ? jsontree_text(i, "name") : i->key;

		if (!value || !name)
			rc = spec_fault(r, i, "expected an object with name and value");
		else
			rc = read_variable(r, i, name, value, &out->v[out->n++]);
	}
	return rc;
}

/* ---- objects with known keys ---- */

static const struct spec_field *field_of(const struct spec_field *f, const char *key)
{
	while (f->key && strcmp(f->key, key) != 0)
		f++;
	return f->key ? f : NULL;
}

static const char *nearest(const struct spec_field *f, const char *key)
{
	const char *found = NULL;
	unsigned best = 1000;

	for (; f->key; f++) {
		unsigned distance = args_distance(key, f->key);

		if (distance < best && args_near(key, distance)) {
			best = distance;
			found = f->key;
		}
	}
	return found;
}

static int read_member(const struct spec_reading *r, const struct jsontree *v, struct jsontree *i,
		       const struct spec_field *fields)
{
	const struct spec_field *f = field_of(fields, i->key);
	const char *near = f ? NULL : nearest(fields, i->key);

	if (!f)
		return spec_fault(r, i, "there is no key '%.60s' here%s%s%s", i->key,
				  near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	if (jsontree_find(v, i->key) != i)
		return spec_fault(r, i, "the key '%s' is given twice", i->key);
	return f->read && i->type != JSONDOC_NULL ? f->read(r, i, f->out) : 0;
}

/* The last row of fields has no key. A key with null is as one that is not there. */
int spec_read_object(const struct spec_reading *r, struct jsontree *v,
		     const struct spec_field *fields)
{
	int rc = spec_want(r, v, JSONDOC_OBJECT, "an object");

	for (struct jsontree *i = rc ? NULL : v->first; i; i = i->next)
		if (spec_stops(&rc, read_member(r, v, i, fields)))
			break;
	return rc;
}

int spec_text(const struct spec_reading *r, struct jsontree *v, void *out)
{
	return spec_read_text(r, v, out);
}

/* Of a command: all of them have to find room in it. */
int spec_words(const struct spec_reading *r, struct jsontree *v, void *out)
{
	struct sweep_words *w = out;
	int rc = spec_read_words(r, v, w);

	return rc || w->n <= SWEEP_WORDS
		       ? rc
		       : spec_fault(r, v, "%s: more than %d words", v->key, SWEEP_WORDS);
}

int spec_variables(const struct spec_reading *r, struct jsontree *v, void *out)
{
	return read_variables(r, v, out);
}

int spec_quantity(const struct spec_reading *r, struct jsontree *v, void *out)
{
	const char *text;
	int rc = spec_read_text(r, v, &text);

	if (!rc && !quantity_read(text, out))
		rc = spec_fault(r, v, "%s: '%.40s' is not a quantity; 500m, 2, 256Mi, 1.5G are",
				v->key, text);
	return rc;
}
