/* SPDX-License-Identifier: Apache-2.0 */
#include "import/importer.h"

#include "core/phase/mark.h"
#include "import/timeline.h"
#include "recording/join.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A byte of it was seen; true: it was its last. */
static bool step(struct documents *d, uint8_t c)
{
	if (d->in_text) {
		if (d->escaped)
			d->escaped = false;
		else if (c == '\\')
			d->escaped = true;
		else if (c == '"')
			d->in_text = false;
		return false;
	}
	if (c == '"') {
		d->in_text = true;
	} else if (c == '{' || c == '[') {
		d->depth++;
		d->begun = true;
	} else if (c == '}' || c == ']') {
		d->depth -= d->depth > 0;
		return d->begun && !d->depth;
	}
	return false;
}

static ssize_t fill(struct documents *d)
{
	ssize_t got = d->over ? 0 : packed_read(d->file, d->data, sizeof d->data);

	d->at = 0;
	d->end = got > 0 ? (size_t)got : 0;
	d->over |= got <= 0;
	return got;
}

ssize_t documents_read(void *ctx, void *data, size_t n)
{
	struct documents *d = ctx;
	uint8_t *out = data;
	size_t put = 0;

	if (d->done)
		return 0;
	if (d->at == d->end) {
		ssize_t got = fill(d);

		if (got <= 0)
			return got;
	}
	while (put < n && d->at < d->end && !d->done) {
		d->done = step(d, d->data[d->at]);
		out[put++] = d->data[d->at++];
	}
	return (ssize_t)put;
}

bool documents_next(struct documents *d)
{
	d->depth = 0;
	d->in_text = d->escaped = d->begun = d->done = false;
	for (;;) {
		if (d->at == d->end && fill(d) <= 0)
			return false;
		if (!strchr(" \t\r\n,", d->data[d->at]) || !d->data[d->at])
			return true;
		d->at++;
	}
}

#define IMPORTER(x, name) extern const struct importer importer_##x;
#include "import.def"
#undef IMPORTER

#define IMPORTER(x, name) &importer_##x,
const struct importer *const importers[] = {
#include "import.def"
};
#undef IMPORTER

const size_t nimporters = sizeof(importers) / sizeof(importers[0]);

const struct importer *importer_find(const char *name)
{
	for (size_t i = 0; i < nimporters; i++)
		if (!strcmp(importers[i]->name, name))
			return importers[i];
	return NULL;
}

int lines_begin(struct lines *l, struct packed *file, struct err *e)
{
	l->at = l->end = 0;
	l->cut = 0;
	return packed_rewind(file, e);
}

bool lines_next(struct lines *l, struct packed *file)
{
	size_t n = 0;
	bool any = false;

	for (;;) {
		const uint8_t *from, *to;
		size_t take, room = LINES_MOST - n;

		if (l->at == l->end) {
			ssize_t got = packed_read(file, l->ahead, sizeof l->ahead);

			l->failed |= got < 0;
			l->at = 0;
			l->end = got > 0 ? (size_t)got : 0;
		}
		if (l->at == l->end)
			break;
		any = true;
		from = l->ahead + l->at;
		to = memchr(from, '\n', l->end - l->at);
		take = to ? (size_t)(to - from) : l->end - l->at;
		l->cut += take > room;
		memcpy(l->text + n, from, take < room ? take : room);
		n += take < room ? take : room;
		l->at += take + (to != NULL);
		if (to)
			break;
	}
	while (n && l->text[n - 1] == '\r')
		n--;
	l->text[n] = '\0';
	return any;
}

/* The node of the instance that has this rank; 0: none has it. */
static uint32_t node_of_rank(const struct run *r, const char *rank)
{
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const char *label = run_label(r, i, "rank");

		if (label && !strcmp(label, rank))
			return r->instances[i].node;
	}
	return 0;
}

/* A recording that was imported has no clock of its own to compare with: the first one is meant. */
static uint32_t node_of_host(const struct run *r, const char *host)
{
	for (uint32_t i = 1; i < r->nnodes; i++)
		if (!strcmp(r->nodes[i].host, host))
			return i;
	return 0;
}

/* All nodes are of one host. */
static bool is_of_one_host(const struct run *r)
{
	for (uint32_t i = 2; i < r->nnodes; i++)
		if (strcmp(r->nodes[i].host, r->nodes[1].host) != 0)
			return false;
	return r->nnodes > 1;
}

static int choose_node(const struct place_options *x, const struct run *r, uint32_t *node,
		       struct err *e)
{
	if (x->node)
		*node = node_of_host(r, x->node);
	else
		*node = x->rank >= 0 ? node_of_rank(r, x->rank_text) : 0;
	if (!*node && !x->node && is_of_one_host(r))
		*node = 1;
	if (*node)
		return 0;
	if (x->node)
		return err_set(e, -ENOENT,
			       "%.200s has no node %.100s; `sonde show` lists its nodes", x->into,
			       x->node);
	return err_set(e, -EINVAL, "%.200s has several nodes; name the timeline's with --node",
		       x->into);
}

static bool align_on(const struct place_options *x, const struct run *r, uint32_t node,
		     int64_t *utc)
{
	bool found = false;
	int64_t at = 0;

	for (uint32_t i = 1; i < r->nmarks; i++)
		if (r->marks[i].node == node && !strcmp(r->marks[i].name, x->align) &&
		    (!found || r->marks[i].at_ns < at)) {
			found = true;
			at = r->marks[i].at_ns;
		}
	for (uint32_t i = 1; i < r->nspans && !found; i++)
		if (r->spans[i].node == node && !strcmp(r->spans[i].name, x->align)) {
			found = true;
			at = r->spans[i].begin_ns;
		}
	*utc = found ? run_utc_ns(r, node, at) : 0;
	return found;
}

static int take_node(struct place_options *x, const struct run *r, struct import_place *p,
		     struct err *e)
{
	const struct run_node *n;
	const char *slash;
	uint32_t node = 0;
	int rc = choose_node(x, r, &node, e);

	if (rc)
		return rc;
	n = &r->nodes[node];
	slash = strrchr(n->file, '/');
	snprintf(x->host, sizeof x->host, "%s", n->host);
	snprintf(x->of, sizeof x->of, "%s", slash ? slash + 1 : n->file);
	p->host = x->host;
	p->of = x->of;
	p->first_utc = run_utc_ns(r, node, n->first_ns);
	p->last_utc = run_utc_ns(r, node, n->last_ns);
	p->utc_of_mono = run_utc_ns(r, node, 0);
	if (x->align && !align_on(x, r, node, &p->align_utc))
		return err_set(e, -ENOENT,
			       "node %.100s of %.200s has no mark named %.100s; choose another one "
			       "for --align",
			       n->host, x->into, x->align);
	return 0;
}

int import_place_find(struct place_options *x, struct import_place *p, struct err *e)
{
	struct run *r = NULL;
	int rc;

	snprintf(x->rank_text, sizeof x->rank_text, "%" PRId64, x->rank);
	*p = (struct import_place){ .host = x->node,
				    .rank = x->rank >= 0 ? x->rank_text : NULL,
				    .into = x->into,
				    .align = x->align };
	if (!x->into)
		return 0;
	rc = run_open(&r, x->into, e);
	if (!rc)
		rc = take_node(x, r, p, e);
	run_close(r);
	return rc;
}

/* What goes with spans and marks of imports: KEY=VALUE, one after the other. */

/* n bytes of a text or less: no character is cut in two. */
static size_t whole(const char *text, size_t n)
{
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* n bytes of the value, and "..."; false: there is no room. */
static bool put_some(char detail[TIMELINE_TEXT_MAX + 1], size_t before, const char *key,
		     const char *value, size_t n)
{
	char some[TIMELINE_TEXT_MAX + 4];
	size_t length = whole(value, n);

	memcpy(some, value, length);
	memcpy(some + length, "...", 4);
	return mark_pair_write(detail, TIMELINE_TEXT_MAX + 1, &before, key, some);
}

/* As much of it as there is room for. */
static void put_shortened(char detail[TIMELINE_TEXT_MAX + 1], size_t before, const char *key,
			  const char *value)
{
	size_t least = 0, most = strnlen(value, TIMELINE_TEXT_MAX);

	while (least < most) {
		size_t middle = (least + most + 1) / 2;

		if (put_some(detail, before, key, value, middle))
			least = middle;
		else
			most = middle - 1;
	}
	if (least)
		put_some(detail, before, key, value, least);
}

static bool is_shortened(const char *detail, size_t n)
{
	return (n >= 3 && !strcmp(detail + n - 3, "...")) ||
	       (n >= 4 && !strcmp(detail + n - 4, "...\""));
}

void timeline_word(char detail[TIMELINE_TEXT_MAX + 1], const char *key, const char *value)
{
	size_t n = strlen(detail), at = n;

	if (!mark_pair_write(detail, TIMELINE_TEXT_MAX + 1, &at, key, value) &&
	    !is_shortened(detail, n))
		put_shortened(detail, n, key, value);
}

void timeline_words_left(char detail[TIMELINE_TEXT_MAX + 1])
{
	size_t n = strlen(detail);

	if (n && !is_shortened(detail, n) && n + 4 <= TIMELINE_TEXT_MAX)
		memcpy(detail + n, " ...", 5);
}
