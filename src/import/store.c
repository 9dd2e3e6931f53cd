/* SPDX-License-Identifier: Apache-2.0 */
#include "import/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_SIZE = 400 };

int store_open(struct store *s, const char *directory)
{
	*s = (struct store){ 0 };
	return spool_open(&s->spool, directory);
}

void store_close(struct store *s)
{
	spool_close(&s->spool);
	free(s->node);
	pool_free(&s->pool);
	*s = (struct store){ 0 };
}

const char *store_text(struct store *s, const char *text)
{
	return pool_text(&s->pool, text, strlen(text));
}

static void add_note(struct store *s, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));

static void add_note(struct store *s, const char *format, va_list ap)
{
	char text[NOTE_SIZE];

	vsnprintf(text, sizeof text, format, ap);
	for (uint32_t i = 0; i < s->nnotes; i++)
		if (!strcmp(s->note[i], text))
			return;
	if (s->nnotes < STORE_NOTES_MAX && (s->note[s->nnotes] = store_text(s, text)))
		s->nnotes++;
}

void store_note(struct store *s, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_note(s, format, ap);
	va_end(ap);
}

void store_leave_out(struct store *s, const char *format, ...)
{
	va_list ap;

	s->left_out++;
	va_start(ap, format);
	add_note(s, format, ap);
	va_end(ap);
}

static int64_t add_node(struct store *s, const char *host)
{
	struct store_node *n;

	if (s->nnodes == STORE_NODES_MAX)
		return -1;
	if (s->nnodes == s->cap) {
		uint32_t cap = s->cap ? s->cap * 2 : 16;

		n = reallocarray(s->node, cap, sizeof *n);
		if (!n)
			return -1;
		s->node = n;
		s->cap = cap;
	}
	n = &s->node[s->nnodes];
	*n = (struct store_node){ .host = store_text(s, host) };
	return n->host ? (int64_t)s->nnodes++ : -1;
}

/* The same host's parts come one after the other. */
int64_t store_node(struct store *s, const char *host)
{
	for (uint32_t i = s->nnodes; i-- > 0;)
		if (!strcmp(s->node[i].host, host))
			return i;
	return add_node(s, host);
}

struct store_group *store_group(struct store *s, uint32_t node)
{
	struct store_node *n = &s->node[node];
	struct store_group *g = NULL, **last;

	if (n->ngroups < STORE_GROUPS_MAX)
		g = pool_take(&s->pool, sizeof *g);

	if (!g)
		return NULL;
	*g = (struct store_group){ .node = node };
	for (last = &n->group; *last; last = &(*last)->next)
		;
	*last = g;
	n->ngroups++;
	return g;
}

struct store_series *store_series(struct store *s, struct store_group *g)
{
	struct store_series *x = NULL;

	if (s->nseries < STORE_SERIES_MAX && g->nseries < STORE_GROUP_SERIES_MAX &&
	    s->node[g->node].nseries < STORE_NODE_SERIES_MAX)
		x = pool_take(&s->pool, sizeof *x);
	if (!x)
		return NULL;
	*x = (struct store_series){ .factor = 1 };
	*(g->last ? &g->last->next : &g->series) = x;
	g->last = x;
	g->nseries++;
	s->node[g->node].nseries++;
	s->nseries++;
	return x;
}

static struct store_meta *add_meta(struct store *s, uint32_t node, const char *key)
{
	struct store_node *n = &s->node[node];
	struct store_meta *m = n->nmetas < STORE_METAS_MAX ? pool_take(&s->pool, sizeof *m) : NULL;

	if (!m) {
		store_leave_out(s,
				"%.100s: too many keys describe the machine; the rest is left out",
				n->host);
		return NULL;
	}
	*m = (struct store_meta){ .key = store_text(s, key), .next = n->meta };
	if (!m->key)
		return NULL;
	n->meta = m;
	n->nmetas++;
	return m;
}

void store_meta_text(struct store *s, uint32_t node, const char *key, const char *text)
{
	struct store_meta *m = add_meta(s, node, key);

	if (m)
		m->text = pool_text(&s->pool, text, strnlen(text, STORE_META_TEXT_MAX));
}

void store_meta_number(struct store *s, uint32_t node, const char *key, double v, bool whole)
{
	struct store_meta *m = add_meta(s, node, key);

	if (m) {
		m->number = v;
		m->whole = whole;
	}
}

void store_event(struct store *s, uint32_t node, enum store_event_kind kind, double at_s,
		 const char *name, const char *text)
{
	struct store_node *n = &s->node[node];
	struct store_event *x =
		n->nevents < STORE_EVENTS_MAX ? pool_take(&s->pool, sizeof *x) : NULL;

	if (x)
		*x = (struct store_event){ .kind = kind,
					   .at_s = at_s,
					   .name = store_text(s, name),
					   .text = store_text(s, text) };
	if (!x || !x->name || !x->text) {
		store_leave_out(s, "%.100s: too many events; those behind are left out", n->host);
		return;
	}
	*(n->last_event ? &n->last_event->next : &n->event) = x;
	n->last_event = x;
	n->nevents++;
}
