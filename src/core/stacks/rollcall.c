/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stacks/rollcall.h"

#include "base/array.h"
#include "base/text/jsontree.h"
#include "base/text/number.h"

#include <stdlib.h>
#include <string.h>

enum { SPANS_SHOWN = 6, GROUPS_SHOWN = 4, GROUPS_LAST = 2 };

static const char *const keys[ROLLCALL_TEXTS] = {
	[ROLLCALL_PROCESS] = "process", [ROLLCALL_FUNCTIONS] = "functions", [ROLLCALL_IN] = "in",
	[ROLLCALL_KIND] = "kind",       [ROLLCALL_WAIT] = "waits",
};

void rollcall_free(struct rollcall *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		free(r->group[i].rank);
	free(r->group);
	pool_free(&r->pool);
	*r = (struct rollcall){ 0 };
}

/* ---- which ranks ---- */

static bool add_rank(struct rollcall_group *g, uint32_t rank)
{
	uint32_t *grown = array_room(g->rank, g->n, &g->cap, sizeof *grown);

	if (!grown)
		return false;
	g->rank = grown;
	grown[g->n++] = rank;
	return true;
}

static int by_rank(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Two launches of a job may each have a rank 0. */
static void sort_ranks(struct rollcall_group *g)
{
	uint32_t n = 0;

	if (g->n)
		qsort(g->rank, g->n, sizeof *g->rank, by_rank);
	for (uint32_t i = 0; i < g->n; i++)
		if (!n || g->rank[n - 1] != g->rank[i])
			g->rank[n++] = g->rank[i];
	g->n = n;
}

/* "0-16, 18-63 and 3 more" */
static void put_ranks(struct bytes *out, const uint32_t *rank, uint32_t n, uint32_t spans)
{
	uint32_t shown = 0, i = 0;

	while (i < n && shown++ < spans) {
		uint32_t last = i;

		while (last + 1 < n && rank[last + 1] == rank[last] + 1)
			last++;
		bytes_printf(out, "%s%u", i ? ", " : "", rank[i]);
		if (last > i)
			bytes_printf(out, "%s%u", last > i + 1 ? "-" : ", ", rank[last]);
		i = last + 1;
	}
	if (i < n)
		bytes_printf(out, " and %u more", n - i);
}

/* As put_ranks writes them all. */
static bool take_ranks(struct rollcall_group *g, const char *text)
{
	uint64_t first, last;
	bool ok = text && *text;

	while (ok && *text) {
		ok = number_u64(&text, &first);
		last = first;
		if (ok && *text == '-') {
			text++;
			ok = number_u64(&text, &last);
		}
		ok = ok && last < ROLLCALL_RANKS && first <= last &&
		     g->n + (last - first) < ROLLCALL_RANKS;
		for (uint64_t rank = first; ok && rank <= last; rank++)
			ok = add_rank(g, (uint32_t)rank);
		ok = ok && (!*text || *text == ',');
		text += ok ? strspn(text, ", ") : 0;
	}
	return ok;
}

/* ---- groups ---- */

static struct rollcall_group *add_group(struct rollcall *r, const char *const *text)
{
	struct rollcall_group *g, *grown = array_room(r->group, r->n, &r->cap, sizeof *grown);

	if (!grown)
		return NULL;
	r->group = grown;
	g = &grown[r->n];
	*g = (struct rollcall_group){ 0 };
	for (int i = 0; i < ROLLCALL_TEXTS; i++) {
		g->text[i] = pool_text(&r->pool, text[i], strlen(text[i]));
		if (!g->text[i])
			return NULL;
	}
	r->n++;
	return g;
}

bool rollcall_add(struct rollcall *r, uint32_t rank, const char *const text[ROLLCALL_TEXTS])
{
	struct rollcall_group *g = rank < ROLLCALL_RANKS ? add_group(r, text) : NULL;

	return g && add_rank(g, rank);
}

/* What its members have in common. */
static int compare(const struct rollcall_group *x, const struct rollcall_group *y)
{
	static const enum rollcall_text same[] = { ROLLCALL_PROCESS, ROLLCALL_FUNCTIONS,
						   ROLLCALL_KIND };
	int order = 0;

	for (size_t i = 0; !order && i < sizeof same / sizeof same[0]; i++)
		order = strcmp(x->text[same[i]], y->text[same[i]]);
	return order;
}

static int by_place(const void *a, const void *b)
{
	const struct rollcall_group *x = a, *y = b;
	int order = compare(x, y);

	return order ? order : by_rank(x->rank, y->rank);
}

static int by_size(const void *a, const void *b)
{
	const struct rollcall_group *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return by_rank(x->rank, y->rank);
}

/* What is not the same of all is not said. */
static bool join(struct rollcall_group *into, struct rollcall_group *g)
{
	bool ok = true;

	if (strcmp(into->text[ROLLCALL_IN], g->text[ROLLCALL_IN]) != 0)
		into->text[ROLLCALL_IN] = into->text[ROLLCALL_FUNCTIONS];
	if (strcmp(into->text[ROLLCALL_WAIT], g->text[ROLLCALL_WAIT]) != 0)
		into->text[ROLLCALL_WAIT] = into->text[ROLLCALL_KIND];
	for (uint32_t i = 0; ok && i < g->n; i++)
		ok = add_rank(into, g->rank[i]);
	free(g->rank);
	return ok;
}

bool rollcall_fold(struct rollcall *r)
{
	uint32_t n = 0;
	bool ok = true;

	if (!r->n)
		return true;
	qsort(r->group, r->n, sizeof *r->group, by_place);
	for (uint32_t i = 0; i < r->n; i++)
		if (n && !compare(&r->group[n - 1], &r->group[i]))
			ok &= join(&r->group[n - 1], &r->group[i]);
		else
			r->group[n++] = r->group[i];
	r->n = n;
	for (uint32_t i = 0; i < n; i++)
		sort_ranks(&r->group[i]);
	qsort(r->group, n, sizeof *r->group, by_size);
	return ok;
}

uint32_t rollcall_answered(const struct rollcall *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		n += r->group[i].n;
	return n;
}

const struct rollcall_group *rollcall_find(const struct rollcall *r, uint32_t rank)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct rollcall_group *g = &r->group[i];

		if (g->n && bsearch(&rank, g->rank, g->n, sizeof rank, by_rank))
			return g;
	}
	return NULL;
}

/* ---- as JSON ---- */

void rollcall_put(struct json *j, const struct rollcall *r)
{
	json_object(j);
	json_key(j, "ranks");
	if (r->ranks)
		json_int(j, r->ranks);
	else
		json_null(j);
	json_key(j, "groups");
	json_array(j);
	for (uint32_t i = 0; i < r->n; i++) {
		struct bytes list = { 0 };

		put_ranks(&list, r->group[i].rank, r->group[i].n, UINT32_MAX);
		bytes_u8(&list, 0);
		json_object(j);
		json_put_text(j, "ranks", list.failed ? NULL : (const char *)list.data);
		for (int k = 0; k < ROLLCALL_TEXTS; k++)
			json_put_text(j, keys[k], r->group[i].text[k]);
		json_object_end(j);
		bytes_free(&list);
	}
	json_array_end(j);
	json_object_end(j);
}

static bool take_group(struct rollcall *r, const struct jsontree *object)
{
	const char *text[ROLLCALL_TEXTS];
	struct rollcall_group *g;

	for (int i = 0; i < ROLLCALL_TEXTS; i++) {
		text[i] = jsontree_text(object, keys[i]);
		if (!text[i])
			return false;
	}
	g = add_group(r, text);
	if (!g)
		return false;
	if (take_ranks(g, jsontree_text(object, "ranks")))
		return true;
	free(g->rank);
	r->n--;
	return false;
}

bool rollcall_take(struct rollcall *r, const char *text)
{
	struct pool pool = { 0 };
	struct err e;
	const struct jsontree *doc = jsontree_read(&pool, text, strlen(text), &e);
	const struct jsontree *ranks = jsontree_find(doc, "ranks");
	const struct jsontree *groups = jsontree_find(doc, "groups");
	bool ok = groups && groups->type == JSONDOC_ARRAY;

	if (ranks && ranks->type == JSONDOC_NUMBER && ranks->whole && ranks->integer > r->ranks &&
	    ranks->integer <= ROLLCALL_RANKS)
		r->ranks = (uint32_t)ranks->integer;
	for (const struct jsontree *g = ok ? groups->first : NULL; ok && g; g = g->next)
		ok = take_group(r, g);
	pool_free(&pool);
	return ok;
}

/* ---- in words ---- */

uint32_t rollcall_ranks(const struct rollcall *r)
{
	uint32_t answered = rollcall_answered(r);

	return r->ranks > answered ? r->ranks : answered;
}

static void put_group(struct bytes *out, const struct rollcall *r, const struct rollcall_group *g)
{
	uint32_t all = rollcall_ranks(r);

	if (g->n == 1) {
		bytes_printf(out, "rank %u", g->rank[0]);
	} else {
		bytes_printf(out, "%u of %u ranks", g->n, all);
		if (g->n < all) {
			bytes_puts(out, " (");
			put_ranks(out, g->rank, g->n, SPANS_SHOWN);
			bytes_puts(out, ")");
		}
	}
	if (g->text[ROLLCALL_IN][0])
		bytes_printf(out, " in %s", g->text[ROLLCALL_IN]);
	if (g->text[ROLLCALL_WAIT][0])
		bytes_printf(out, "%s %s", g->text[ROLLCALL_IN][0] ? ":" : "",
			     g->text[ROLLCALL_WAIT]);
}

/* Those that nobody saw, where it is told how many there are. False: there are none. */
static bool put_missing(struct bytes *out, const struct rollcall *r, const char *before)
{
	struct rollcall_group missing = { 0 };
	uint8_t *seen = r->ranks ? calloc(r->ranks, 1) : NULL;

	for (uint32_t i = 0; seen && i < r->n; i++)
		for (uint32_t k = 0; k < r->group[i].n; k++)
			if (r->group[i].rank[k] < r->ranks)
				seen[r->group[i].rank[k]] = 1;
	for (uint32_t i = 0; seen && i < r->ranks; i++)
		if (!seen[i] && !add_rank(&missing, i))
			break;
	if (missing.n) {
		bytes_printf(out, "%sno process was seen of rank%s ", before,
			     missing.n == 1 ? "" : "s");
		put_ranks(out, missing.rank, missing.n, SPANS_SHOWN);
	}
	free(missing.rank);
	free(seen);
	return missing.n > 0;
}

void rollcall_say(struct bytes *out, const struct rollcall *r)
{
	uint32_t left_out = r->n > GROUPS_SHOWN ? r->n - GROUPS_SHOWN : 0;
	uint32_t from = left_out ? GROUPS_SHOWN - GROUPS_LAST : r->n, others = 0;

	if (rollcall_ranks(r) < 2)
		return;
	for (uint32_t i = 0; i < r->n; i++) {
		if (i >= from && i < from + left_out) {
			others += r->group[i].n;
			continue;
		}
		if (others)
			bytes_printf(out, "; %u ranks in %u other places", others, left_out);
		others = 0;
		bytes_puts(out, i ? "; " : "");
		put_group(out, r, &r->group[i]);
	}
	put_missing(out, r, r->n ? "; " : "");
}

void rollcall_list(struct bytes *out, const struct rollcall *r)
{
	if (rollcall_ranks(r) < 2)
		return;
	for (uint32_t i = 0; i < r->n; i++) {
		size_t line = out->len;

		put_group(out, r, &r->group[i]);
		for (size_t k = line; !out->failed && k < out->len; k++)
			if (out->data[k] == '\n' || out->data[k] == '\r')
				out->data[k] = '?';
		bytes_puts(out, "\n");
	}
	if (put_missing(out, r, ""))
		bytes_puts(out, "\n");
}
