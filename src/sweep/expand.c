/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expand.c - stacks of a specification whose Python requirements are ranges, or a Pipfile, become
 * concrete ones in its document.
 *
 * The stack's own pip finds the versions and resolves them (sweep/expand.py). What came of it is
 * kept beside the virtual environments, so that a sweep that goes on has the same stacks, whatever
 * was published meanwhile.
 */
#include "sweep/sweeping.h"

#include "base/clock.h"
#include "base/text/textfile.h"
#include "bench/sweep/sweepspec.h"
#include "console/command.h"
#include "output/outfile.h"
#include "sweep/known.h"
#include "trial/scripted.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE (3600 * NS_PER_S)
enum { KEPT_BYTES = 16 << 20, NEWEST = 3, NEWEST_MOST = 100, STACKS = 100, STACKS_MOST = 1000 };

extern const char asset_expand_py[];

struct expanding {
	struct sweeping *x;
	struct spec_reading read;
	const struct jsontree *document;
};

/* What is asked for; newest 0: the stack is none of ranges. */
struct expand_wish {
	int64_t newest, count;
	struct sweep_words vary;
};

static bool is_pipfile(const struct jsontree *v)
{
	return v && (v->type == JSONDOC_OBJECT ||
		     (v->type == JSONDOC_STRING &&
		      (v->text[strspn(v->text, " \t\n")] == '{' || strstr(v->text, "[packages]"))));
}

static bool is_concrete(const struct jsontree *python)
{
	const struct jsontree *expand = jsontree_find(python, "expand");

	return (!expand || expand->type == JSONDOC_NULL) &&
	       !is_pipfile(jsontree_find(python, "requirements")) &&
	       !is_pipfile(jsontree_find(python, "requirements_locked"));
}

static int newest_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	return spec_read_count(r, v, 1, NEWEST_MOST, out);
}

static int count_field(const struct spec_reading *r, struct jsontree *v, void *out)
{
	return spec_read_count(r, v, 1, STACKS_MOST, out);
}

static int read_wish(const struct expanding *g, const struct jsontree *python,
		     struct expand_wish *w)
{
	struct jsontree *expand = (struct jsontree *)jsontree_find(python, "expand");
	const struct jsontree *wanted = jsontree_find(python, "requirements");
	const struct spec_field fields[] = { { "newest", newest_field, &w->newest },
					     { "count", count_field, &w->count },
					     { "vary", spec_words, &w->vary },
					     { 0 } };

	*w = (struct expand_wish){ 0 };
	if (!expand || expand->type == JSONDOC_NULL)
		return 0;
	if (!wanted || (wanted->type != JSONDOC_STRING && wanted->type != JSONDOC_OBJECT))
		return spec_fault(&g->read, expand, "expand: which requirements?");
	w->newest = NEWEST;
	w->count = STACKS;
	return spec_read_object(&g->read, expand, fields);
}

/* Of the stack, or of all of them. */
static const struct jsontree *common(const struct expanding *g, const struct jsontree *python,
				     const char *key)
{
	const struct jsontree *own = jsontree_find(python, key);

	return own ? own : jsontree_find(jsontree_find(g->document, "python"), key);
}

static void put_wish(const struct expanding *g, struct bytes *b, const struct jsontree *stack,
		     const struct expand_wish *w)
{
	const struct jsontree *pip = common(g, jsontree_find(stack, "python"), "pip");
	struct json j = { .out = b };

	json_object(&j);
	json_key(&j, "stack");
	jsontree_write(&j, stack);
	json_key(&j, "pip");
	if (pip)
		jsontree_write(&j, pip);
	else
		json_text(&j, NULL);
	json_put_int(&j, "newest", w->newest);
	json_put_int(&j, "count", w->count);
	json_key(&j, "vary");
	json_array(&j);
	for (uint32_t i = 0; i < w->vary.n; i++)
		json_text(&j, w->vary.word[i]);
	json_array_end(&j);
	json_object_end(&j);
}

static int keep(const struct expanding *g, const char *name, const struct bytes *b)
{
	struct outfile f;
	int rc = outfile_open(&f, g->x->cache, name, g->read.e);

	if (rc)
		return rc;
	if (fwrite(b->data, 1, b->len, f.file) != b->len)
		rc = err_set(g->read.e, -EIO, "cannot write %.300s: %s", f.path, strerror(errno));
	return outfile_close(&f, rc, g->read.e);
}

/* The last line that it wrote is the sentence. */
static const char *last_line(struct bytes *b, const char *otherwise)
{
	char *text = (char *)b->data, *line;
	size_t n = text ? strlen(text) : 0;

	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	line = n ? strrchr(text, '\n') : NULL;
	return !n ? otherwise : line ? line + 1 : text;
}

static int run_python(const struct expanding *g, const struct jsontree *python, char *wish,
		      struct bytes *out)
{
	static char option[] = "-c", usual[] = "python3";
	const struct jsontree *own = common(g, python, "interpreter");
	bool said = own && own->type == JSONDOC_STRING;
	char *argv[] = { said ? (char *)own->text : usual, option, (char *)asset_expand_py, wish,
			 NULL };
	const struct scripted_wish w = { .argv = argv, .limit_ns = PATIENCE };
	struct scripted s;
	char why[600];
	int rc = scripted_run(&s, &w, g->read.e);

	if (!rc && scripted_failed(&s, why, sizeof why))
		rc = spec_fault(&g->read, python, "%.300s", last_line(&s.err, why));
	if (!rc)
		bytes_put(out, s.out.data, s.out.len - 1);
	scripted_free(&s);
	return rc;
}

/* What it said the first time is what it says. */
static int ask(const struct expanding *g, const struct jsontree *stack, struct bytes *wish,
	       struct bytes *out)
{
	const struct jsontree *python = jsontree_find(stack, "python");
	struct bytes key = { 0 };
	char digest[SHA256_HEX], name[40], part[64], path[PATH_MAX];
	int rc = sweepstack_cache(g->x->o->stacks, g->x->cache, g->read.e);

	if (rc)
		return rc;
	bytes_put(&key, wish->data, wish->len);
	bytes_text(&key, jsontree_text(python, "interpreter"));
	bytes_text(&key, jsontree_text(g->document, "identifier"));
	if (wish->failed || key.failed) {
		bytes_free(&key);
		return err_set(g->read.e, -ENOMEM, "out of memory for stacks");
	}
	sha256_hex(digest, key.data, key.len);
	bytes_free(&key);
	snprintf(name, sizeof name, "expanded_%.16s", digest);
	snprintf(path, sizeof path, "%.4000s/%s", g->x->cache, name);
	if (!access(path, F_OK))
		return textfile_read(path, "list of stacks", KEPT_BYTES, out, g->read.e);
	snprintf(part, sizeof part, "%s.asked_%d", name, (int)getpid());
	snprintf(path, sizeof path, "%.4000s/%s", g->x->cache, part);
	rc = keep(g, part, wish);
	if (!rc)
		rc = run_python(g, python, path, out);
	unlink(path);
	return rc ? rc : keep(g, name, out);
}

/* Of a stack every value is a text: 1.20 stays 1.20. */
static void keep_numbers(struct jsontree *v)
{
	if (v->type == JSONDOC_NUMBER && v->text)
		v->type = JSONDOC_STRING;
	for (v = v->first; v; v = v->next)
		keep_numbers(v);
}

/* What is wrong with it is said of the place that it came from. */
static void place(struct jsontree *v, const struct jsontree *at)
{
	v->line = at->line;
	v->column = at->column;
	for (v = v->first; v; v = v->next)
		place(v, at);
}

/* What pip printed becomes the line of it that says why. */
static int shorten(const struct expanding *g, struct jsontree *stack)
{
	struct jsontree *why = (struct jsontree *)jsontree_find(stack, "unresolved");
	char line[300];

	if (!why || why->type != JSONDOC_STRING)
		return 0;
	pipwords_reason(why->text, line, sizeof line);
	why->text = pool_text(&g->x->pool, line, strlen(line));
	return why->text ? 0 : err_set(g->read.e, -ENOMEM, "out of memory for stacks");
}

/* The first of the stacks that this one becomes; NULL: *rc says why not. */
static struct jsontree *expand(const struct expanding *g, struct jsontree *stack, int *rc)
{
	struct bytes wish = { 0 }, out = { 0 };
	struct expand_wish w;
	struct jsontree *answer = NULL;
	const struct jsontree *python = jsontree_find(stack, "python"), *stacks;
	struct jsontree *made;
	uint32_t n = 0;

	*rc = read_wish(g, python, &w);
	keep_numbers(stack);
	if (!*rc)
		put_wish(g, &wish, stack, &w);
	if (!*rc)
		*rc = ask(g, stack, &wish, &out);
	if (!*rc) {
		answer = jsontree_read(&g->x->pool, out.data, out.len, g->read.e);
		*rc = answer ? 0 : -EBADMSG;
	}
	stacks = jsontree_find(answer, "stacks");
	made = stacks ? stacks->first : NULL;
	if (!*rc && !made)
		*rc = spec_fault(&g->read, python, "no stack came of these requirements");
	for (struct jsontree *v = made; v && !*rc; v = v->next, n++) {
		place(v, python);
		*rc = shorten(g, v);
	}
	if (!*rc && jsontree_number(answer, "possible") > n)
		say("bench sweep: %.100s:%" PRIu64 ":%u: %u of %.0f stacks are taken; expand: "
		    "{count: N} takes more",
		    g->read.name, python->line, python->column, n,
		    jsontree_number(answer, "possible"));
	bytes_free(&wish);
	bytes_free(&out);
	return made;
}

/* The specification's own Python, which has to be one stack. */
static int expand_common(const struct expanding *g)
{
	struct jsontree *python = (struct jsontree *)jsontree_find(g->document, "python"), alone,
			stack = { .type = JSONDOC_OBJECT, .first = &alone };
	const struct jsontree *concrete;
	int rc;

	if (!python || is_concrete(python))
		return 0;
	if (jsontree_find(python, "expand"))
		return spec_fault(&g->read, python, "expand is for the stacks of a matrix");
	alone = *python;
	alone.next = NULL;
	concrete = jsontree_find(expand(g, &stack, &rc), "python");
	if (!rc && concrete)
		python->first = concrete->first;
	else
		python->type = JSONDOC_NULL; /* what is wrong with it is said */
	return rc;
}

int sweepexpand(struct sweeping *x, struct jsontree *document, const char *name, struct err *e)
{
	const struct expanding g = { x, { &x->pool, name, e, &x->faults }, document };
	struct jsontree *stacks = (struct jsontree *)jsontree_find(
				jsontree_find(document, "matrix"), "stacks"),
			**at, *last;
	int rc = expand_common(&g);

	at = stacks && stacks->type == JSONDOC_ARRAY ? &stacks->first : NULL;
	for (; rc != -ENOMEM && at && *at; at = &last->next) {
		struct jsontree *stack = *at, *made;
		int one;

		last = stack;
		if (is_concrete(jsontree_find(stack, "python")))
			continue;
		made = expand(&g, stack, &one);
		if (spec_stops(&rc, one))
			break;
		if (one || !made) {
			((struct jsontree *)jsontree_find(stack, "python"))->type = JSONDOC_NULL;
			continue;
		}
		/* They stand in its place. */
		*at = made;
		for (last = made; last->next;)
			last = last->next;
		last->next = stack->next;
	}
	return rc;
}
