/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/contract.h"

#include "base/text/escape.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Of the object itself: each is held against each. */
enum { KEYS_MAX = 4096 };

static void fault(struct contract *c, bool warning, uint64_t line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void fault(struct contract *c, bool warning, uint64_t line, const char *format, ...)
{
	struct contract_fault *f = &c->fault[c->nfaults];
	va_list ap;

	if (c->nfaults == CONTRACT_FAULTS) {
		c->nleft_out++;
		return;
	}
	c->nfaults++;
	*f = (struct contract_fault){ .warning = warning, .line = line };
	va_start(ap, format);
	vsnprintf(f->text, sizeof f->text, format, ap);
	va_end(ap);
}

void contract_fault_text(const struct contract_fault *f, char *out, size_t size)
{
	if (f->line)
		snprintf(out, size, "line %llu: %s", (unsigned long long)f->line, f->text);
	else
		snprintf(out, size, "%s", f->text);
}

/* ---- what stands beside parameters and result ---- */

bool contract_is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) || strlen(name) > CONTRACT_NAME)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_.-", *name))
			return false;
	return true;
}

/* A text that must be there, or NULL and it was said. */
static const char *text_of(struct contract *c, const char *key)
{
	const struct jsontree *v = jsontree_find(c->said, key);

	if (!v)
		fault(c, false, c->said->line, "the key \"%s\" is missing", key);
	else if (v->type != JSONDOC_STRING || !*v->text)
		fault(c, false, v->line, "%s: %s, expected a text", key,
		      v->type == JSONDOC_STRING ? "an empty text" : jsontree_kind(v));
	else
		return v->text;
	return NULL;
}

static void take_name(struct contract *c)
{
	c->name = text_of(c, "name");
	if (c->name && !contract_is_name(c->name))
		fault(c, false, jsontree_find(c->said, "name")->line,
		      "name: '%.60s' is none: a letter first, then letters, digits, _ . and -, at "
		      "most %d",
		      c->name, CONTRACT_NAME);
}

static bool has_upper(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

/* Old scripts say which framework, newer ones which component they measure. */
static void take_component(struct contract *c)
{
	const struct jsontree *framework = jsontree_find(c->said, "framework");
	const struct jsontree *component = jsontree_find(c->said, "component");

	if (!framework && !component) {
		fault(c, false, c->said->line,
		      "the key \"framework\" is missing, or \"component\" in its place");
		return;
	}
	c->component = text_of(c, framework ? "framework" : "component");
	if (c->component && has_upper(c->component))
		fault(c, true, (framework ? framework : component)->line,
		      "%s: '%.60s' has capital letters; it is to be the package's name, in lower "
		      "case",
		      framework ? "framework" : "component", c->component);
}

static bool is_absent(const struct jsontree *v)
{
	return !v || (v->type == JSONDOC_NULL && !v->no_number);
}

static void take_optional(struct contract *c)
{
	const struct jsontree *score = jsontree_find(c->said, "overall_score");
	const struct jsontree *version = jsontree_find(c->said, "version");

	c->overall_score = NAN;
	if (!is_absent(score) && (score->type != JSONDOC_NUMBER || !isfinite(score->number)))
		fault(c, false, score->line, "overall_score: %s, expected a number",
		      score->type == JSONDOC_NUMBER ? "one that is too large"
						    : jsontree_kind(score));
	else if (!is_absent(score))
		c->overall_score = score->number;
	if (!is_absent(version) && version->type != JSONDOC_STRING)
		fault(c, false, version->line, "version: %s, expected a text",
		      jsontree_kind(version));
	else if (!is_absent(version))
		c->version = version->text;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* tensorflow_aicoe_buildinfo, pytorch_buildinfo, ...; and nothing may be said twice. */
static void check_keys(struct contract *c)
{
	unsigned n = 0;

	for (const struct jsontree *v = c->said->first; v; v = v->next)
		if (n++ == KEYS_MAX) {
			fault(c, false, v->line,
			      "more than %d keys; what there is much of is a list", KEYS_MAX);
			return;
		}
	for (const struct jsontree *v = c->said->first; v; v = v->next) {
		if (jsontree_find(c->said, v->key) != v)
			fault(c, false, v->line, "the key \"%.60s\" is there twice", v->key);
		if (ends_in(v->key, "_buildinfo") && v->type != JSONDOC_OBJECT && !is_absent(v))
			fault(c, false, v->line, "%.60s: %s, expected an object or null", v->key,
			      jsontree_kind(v));
	}
}

/* ---- parameters and result ---- */

static bool is_key(const char *key)
{
	size_t n = strlen(key);

	for (const char *p = key; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return n && n <= CONTRACT_KEY && escape_is_utf8(key) && strcasecmp(key, "trial_id") != 0;
}

/* The first number that is none, in a value or in what it holds. */
static const struct jsontree *no_number(const struct jsontree *v)
{
	const struct jsontree *found = NULL;

	if ((v->type == JSONDOC_NULL && v->no_number) ||
	    (v->type == JSONDOC_NUMBER && !isfinite(v->number)))
		return v;
	if (v->type == JSONDOC_OBJECT || v->type == JSONDOC_ARRAY)
		for (v = v->first; v && !found; v = v->next)
			found = no_number(v); /* jsondoc bounds the depth */
	return found;
}

static void check_value(struct contract *c, const struct jsontree *v, const char *part)
{
	const struct jsontree *bad = no_number(v);

	if (!is_key(v->key))
		fault(c, false, v->line,
		      "%s: '%.60s' cannot be a column's name: 1 to %d bytes of UTF-8, none of them "
		      "a control character, and not trial_id",
		      part, v->key, CONTRACT_KEY);
	if (bad)
		fault(c, false, bad->line, "%s.%.60s: %s; JSON and databases have no such thing",
		      part, v->key,
		      bad->type == JSONDOC_NULL ? jsontree_kind(bad)
						: "a number that is too large");
}

static void take_part(struct contract *c, const char *part, bool is_result)
{
	const struct jsontree *object = jsontree_find(c->said, part);

	if (!object)
		fault(c, false, c->said->line, "the key \"%s\" is missing", part);
	else if (object->type != JSONDOC_OBJECT)
		fault(c, false, object->line, "%s: %s, expected an object", part,
		      jsontree_kind(object));
	else
		for (const struct jsontree *v = object->first; v; v = v->next) {
			if (c->nvalues == CONTRACT_VALUES) {
				fault(c, false, v->line, "more than %d parameters and results",
				      CONTRACT_VALUES);
				return;
			}
			check_value(c, v, part);
			c->value[c->nvalues++] = (struct contract_value){ v, is_result };
		}
}

/* They become columns of one table, whose names are equal whatever their case. */
static void check_disjoint(struct contract *c)
{
	for (uint32_t i = 1; i < c->nvalues; i++)
		for (uint32_t j = 0; j < i; j++) {
			const struct contract_value *a = &c->value[j], *b = &c->value[i];

			if (strcasecmp(a->v->key, b->v->key) != 0)
				continue;
			fault(c, false, b->v->line,
			      "the key \"%.60s\" is %s; every value is a column of one table",
			      b->v->key,
			      strcmp(a->v->key, b->v->key) ? "there in capital and in small letters"
			      : a->is_result != b->is_result ? "in @parameters and in @result"
							     : "there twice");
			break;
		}
}

/* ---- the whole ---- */

/* Amun stores what a script printed under stdout, beside how it ended; older layouts have a
 * script's own keys there, or all of it within "result". */
static const struct jsontree *unwrap(struct contract *c, const struct jsontree *v)
{
	const struct jsontree *inner = jsontree_find(v, "result");

	if (!jsontree_find(v, "@result") && !jsontree_find(v, "stdout") && inner &&
	    inner->type == JSONDOC_OBJECT)
		v = inner;
	if (!jsontree_find(v, "stdout") &&
	    (!jsontree_find(v, "exit_code") || !jsontree_find(v, "usage")))
		return v;
	c->wrapped = v;
	return jsontree_find(v, "@result") ? v : jsontree_find(v, "stdout");
}

static int judge(const struct contract *c, struct err *e)
{
	char text[256];

	for (uint32_t i = 0; i < c->nfaults; i++)
		if (!c->fault[i].warning) {
			contract_fault_text(&c->fault[i], text, sizeof text);
			return err_set(e, -EBADMSG, "%s", text);
		}
	return 0;
}

int contract_take(struct contract *c, const struct jsontree *document, struct err *e)
{
	c->overall_score = NAN;
	c->said = unwrap(c, document);
	c->value = pool_take(&c->pool, CONTRACT_VALUES * sizeof *c->value);
	if (!c->value)
		return err_set(e, -ENOMEM, "out of memory for a result");
	if (!c->said || c->said->type != JSONDOC_OBJECT) {
		fault(c, false, c->said ? c->said->line : 0,
		      "%s was printed, expected one JSON object",
		      c->said ? jsontree_kind(c->said) : "nothing");
		return judge(c, e);
	}
	take_name(c);
	take_component(c);
	take_part(c, "@parameters", false);
	take_part(c, "@result", true);
	check_disjoint(c);
	take_optional(c);
	check_keys(c);
	return judge(c, e);
}

static bool is_blank(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isspace((unsigned char)text[i]))
			return false;
	return true;
}

static bool is_utf8(struct contract *c, const void *text, size_t n)
{
	const char *copy = pool_text(&c->pool, text, n);

	return copy && escape_is_utf8(copy);
}

int contract_read(struct contract *c, const void *text, size_t n, struct err *e)
{
	const struct jsontree *document;
	struct err why = { "" };

	*c = (struct contract){ 0 };
	if (n > CONTRACT_DOCUMENT) {
		fault(c, false, 0, "more than %d MiB were printed, expected one JSON object",
		      CONTRACT_DOCUMENT >> 20);
		return judge(c, e);
	}
	if (is_blank(text, n)) {
		fault(c, false, 0, "nothing was printed, expected one JSON object");
		return judge(c, e);
	}
	if (!is_utf8(c, text, n)) {
		fault(c, false, 0, "standard output is not UTF-8, which JSON is written in");
		return judge(c, e);
	}
	document = jsontree_read(&c->pool, text, n, &why);
	if (!document) {
		fault(c, false, 0, "standard output is not one JSON object: %.140s", why.text);
		return judge(c, e);
	}
	return contract_take(c, document, e);
}

void contract_free(struct contract *c)
{
	pool_free(&c->pool);
	*c = (struct contract){ 0 };
}
