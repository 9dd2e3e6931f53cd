/* SPDX-License-Identifier: Apache-2.0 */
/* scanner_thread.c - one thread as Scanner writes it: its keys, its intervals, its counters. Spans
 * are walked twice, since their number and names come first. */
#include "core/phase/scanner.h"
#include "sink/text.h"
#include "sink/trace/scanner_part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 256 };

struct keys {
	const char *name[KEYS_MAX]; /* by number, which is by first use */
	uint32_t n;
	uint64_t intervals;
};

/* The number of a name; KEYS_MAX: there are too many. Equal texts of a run have one address. */
static uint32_t key_number(struct keys *k, const char *name)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (k->name[i] == name)
			return i;
	if (k->n == KEYS_MAX)
		return KEYS_MAX;
	k->name[k->n] = name;
	return k->n++;
}

/* ---- walking over the spans of a track ---- */

struct walk {
	struct scanner_export *x;
	uint32_t node, instance;
	struct keys keys;
	FILE *out; /* NULL: they are counted */
	struct err *e;
};

static int take_span(struct walk *w, const struct run_span *s)
{
	struct scanner_export *x = w->x;
	uint32_t key;

	if (s->end_ns == INT64_MAX)
		return 0;
	key = key_number(&w->keys, s->name);
	if (key == KEYS_MAX)
		return err_set(w->e, -E2BIG,
			       "a track of %.100s has spans of more than %d names, and Scanner's "
			       "profiles have no numbers for them",
			       x->run->nodes[w->node].host, KEYS_MAX);
	if (!w->out) {
		w->keys.intervals++;
		return 0;
	}
	bytes_u8(&x->out, (uint8_t)key);
	bytes_u64(&x->out, (uint64_t)(run_utc_ns(x->run, w->node, s->begin_ns) - x->base_utc));
	bytes_u64(&x->out, (uint64_t)(run_utc_ns(x->run, w->node, s->end_ns) - x->base_utc));
	return x->out.len < TEXT_BLOCK ? 0 : text_flush(&x->out, w->out, TEXT_BLOCK, w->e);
}

static int walk(struct walk *w)
{
	struct run *r = w->x->run;
	uint32_t track = scanner_track(r, w->node, w->instance);
	const struct run_span *span;
	int rc = 0;

	for (uint32_t i = 1; i < r->nspans && !rc; i++)
		if (r->spans[i].node == w->node && r->spans[i].track == w->instance)
			rc = take_span(w, &r->spans[i]);
	for (uint32_t i = w->x->first_pack[track]; i < w->x->first_pack[track + 1] && !rc; i++) {
		int n = r->unpack(r, w->x->pack[i], &span, w->e);

		rc = n < 0 ? n : 0;
		for (int k = 0; k < n && !rc; k++)
			rc = take_span(w, &span[k]);
	}
	return rc;
}

/* ---- keys and counters, in order of their names ---- */

static void put_text(struct bytes *out, const char *text)
{
	bytes_put(out, text, strlen(text) + 1);
}

static int by_name(const void *a, const void *b, void *name)
{
	const char *const *of = name;

	return strcmp(of[*(const uint32_t *)a], of[*(const uint32_t *)b]);
}

static void put_keys(struct bytes *out, struct keys *k)
{
	uint32_t number[KEYS_MAX];

	for (uint32_t i = 0; i < k->n; i++)
		number[i] = i;
	qsort_r(number, k->n, sizeof *number, by_name, k->name);
	bytes_u64(out, k->n);
	for (uint32_t i = 0; i < k->n; i++) {
		put_text(out, k->name[number[i]]);
		bytes_u8(out, (uint8_t)number[i]);
	}
	bytes_u64(out, k->intervals);
}

struct counter {
	const char *name;
	int64_t value;
};

static int by_counter(const void *a, const void *b)
{
	return strcmp(((const struct counter *)a)->name, ((const struct counter *)b)->name);
}

static const char *counter_name(const struct metric *m)
{
	for (unsigned i = 0; i < SCANNER_METRICS; i++)
		if (!strcmp(scanner_metrics[i].name, m->name))
			return scanner_metrics[i].label;
	return NULL;
}

static int put_counters(struct scanner_export *x, uint32_t instance)
{
	const struct run *r = x->run;
	const struct run_instance *in = &r->instances[instance];
	struct counter *c = calloc(in->nfinals + in->nlabels + 1u, sizeof *c);
	uint32_t n = 0;

	if (!c)
		return -ENOMEM;
	for (uint32_t i = in->first_final; instance && i < in->first_final + in->nfinals; i++) {
		const char *name = counter_name(&r->metrics[r->finals[i].metric].row);

		if (name)
			c[n++] = (struct counter){ name, r->finals[i].value };
	}
	for (uint32_t i = in->first_label; instance && i < in->first_label + in->nlabels; i++)
		if (!strncmp(r->labels[i].key, SCANNER_COUNTER, strlen(SCANNER_COUNTER)))
			c[n++] = (struct counter){ r->labels[i].key + strlen(SCANNER_COUNTER),
						   strtoll(r->labels[i].value, NULL, 10) };
	if (n)
		qsort(c, n, sizeof *c, by_counter);
	bytes_u64(&x->out, n);
	for (uint32_t i = 0; i < n; i++) {
		put_text(&x->out, c[i].name);
		bytes_u64(&x->out, (uint64_t)c[i].value);
	}
	free(c);
	return 0;
}

int scanner_put_thread(struct scanner_export *x, uint32_t node, uint32_t instance,
		       const struct scanner_thread_head *h, FILE *out, struct err *e)
{
	struct walk w = { .x = x, .node = node, .instance = instance, .e = e };
	int rc = walk(&w);

	if (rc)
		return rc;
	bytes_u64(&x->out, (uint64_t)h->node);
	put_text(&x->out, h->kind);
	put_text(&x->out, h->tag);
	bytes_u64(&x->out, (uint64_t)h->number);
	put_keys(&x->out, &w.keys);
	w.out = out;
	rc = walk(&w);
	if (!rc && put_counters(x, instance))
		rc = err_set(e, -ENOMEM, "out of memory for counters");
	return rc ? rc : text_flush(&x->out, out, TEXT_BLOCK, e);
}
