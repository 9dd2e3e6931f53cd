/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/trace/scanner.h"

#include "base/bytes.h"
#include "core/phase/mark.h"
#include "sink/protobuf.h"
#include "sink/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct scanner_export {
	struct run *run;
	int64_t base_utc;     /* intervals count from there */
	uint32_t *first_pack; /* of each track, in pack; [tracks + 1] */
	uint32_t *placed;     /* of each track: packs, and spans that are events */
	uint32_t *pack;       /* of run.packs, by track */
	struct bytes out;
};

/* Tracks are numbered: instances, then the nodes themselves. */
static uint32_t scanner_track(const struct run *r, uint32_t node, uint32_t instance)
{
	return instance ? instance : r->ninstances + node;
}

struct scanner_thread_head {
	int64_t node;
	const char *kind, *tag;
	int64_t number;
};

/* ---- one thread: its keys, its intervals, its counters ----
 *
 * Spans are walked twice, since their number and names come first. */

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

/* One thread: the spans of the instance, or, 0, of the node itself. 0 or -errno. */
static int scanner_put_thread(struct scanner_export *x, uint32_t node, uint32_t instance,
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

/* ---- profiles of nodes ---- */

enum { NONE = INT32_MIN };

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for profiles");
}

static int64_t meta_int(const struct run *r, uint32_t node, const char *key, int64_t otherwise)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_INT && m->node == node ? m->value : otherwise;
}

static bool scanner_is_master(const struct scanner_export *x, uint32_t node)
{
	return meta_int(x->run, node, SCANNER_NODE, NONE) == SCANNER_MASTER_NODE;
}

static int64_t number_of(const struct scanner_export *x, uint32_t node)
{
	int64_t n = meta_int(x->run, node, SCANNER_NODE, NONE);

	return n == NONE ? (int64_t)node - 1 : n;
}

/* Of packs, which belong to one track lie side by side. */
static int index_packs(struct scanner_export *x)
{
	const struct run *r = x->run;

	x->first_pack = calloc(r->ninstances + r->nnodes + 2u, sizeof *x->first_pack);
	x->pack = calloc(r->npacks + 1u, sizeof *x->pack);
	if (!x->first_pack || !x->pack)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->npacks; i++)
		x->first_pack[scanner_track(r, r->packs[i].node, r->packs[i].track) + 1]++;
	for (uint32_t i = 0; i <= r->ninstances + r->nnodes; i++)
		x->first_pack[i + 1] += x->first_pack[i];
	for (uint32_t i = 0; i < r->npacks; i++) {
		uint32_t track = scanner_track(r, r->packs[i].node, r->packs[i].track);

		x->pack[x->first_pack[track] + x->placed[track]++] = i;
	}
	for (uint32_t i = 1; i < r->nspans; i++)
		x->placed[r->spans[i].track]++;
	return 0;
}

/* Times count from when the job began; of what is no job of Scanner's, when the run did. */
static int64_t find_base(const struct run *r)
{
	for (uint32_t i = 1; i < r->nnodes; i++)
		if (meta_int(r, i, SCANNER_NODE, NONE) != NONE)
			return run_utc_ns(r, i, 0);
	return r->t0_utc_ns;
}

int scanner_export_open(struct scanner_export **out, struct run *r, struct err *e)
{
	struct scanner_export *x = calloc(1, sizeof *x);

	*out = x;
	if (!x)
		return no_memory(e);
	x->run = r;
	x->base_utc = find_base(r);
	x->placed = calloc(r->ninstances + r->nnodes + 1u, sizeof *x->placed);
	return !x->placed || index_packs(x) ? no_memory(e) : 0;
}

void scanner_export_close(struct scanner_export *x)
{
	if (!x)
		return;
	free(x->first_pack);
	free(x->placed);
	free(x->pack);
	bytes_free(&x->out);
	free(x);
}

uint64_t scanner_export_job(const struct scanner_export *x)
{
	const struct run_meta *m = run_find_meta(x->run, 0, SCANNER_JOB);

	return m && m->type == META_TEXT ? strtoull(m->text, NULL, 10) : 0;
}

void scanner_export_name(const struct scanner_export *x, uint32_t node, char *out, size_t size)
{
	if (scanner_is_master(x, node))
		snprintf(out, size, "profile_master.bin");
	else
		snprintf(out, size, "profile_%" PRId64 ".bin", number_of(x, node));
}

/* ---- threads ---- */

/* Whether a track's spans are of this place: those of Scanner say so, others are readers. */
static bool is_at(const struct run *r, uint32_t instance, const char *kind)
{
	const char *own = !strcmp(r->instances[instance].domain, SCANNER_DOMAIN)
				  ? run_label(r, instance, SCANNER_KIND)
				  : NULL;

	return !strcmp(own ? own : "load", kind);
}

static bool has_spans(const struct scanner_export *x, uint32_t instance)
{
	return x->placed[instance] || !strcmp(x->run->instances[instance].domain, SCANNER_DOMAIN);
}

/* The next thread of that kind on the node, behind `after`; 0: there is none. */
static uint32_t next_thread(const struct scanner_export *x, uint32_t node, const char *kind,
			    uint32_t after)
{
	for (uint32_t i = after + 1; i < x->run->ninstances; i++)
		if (x->run->instances[i].node == node && is_at(x->run, i, kind) && has_spans(x, i))
			return i;
	return 0;
}

static uint32_t count_threads(const struct scanner_export *x, uint32_t node, const char *kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; (i = next_thread(x, node, kind, i));)
		n++;
	return n;
}

static int put_threads(struct scanner_export *x, uint32_t node, const char *kind, FILE *out,
		       struct err *e)
{
	int64_t number = 0;
	int rc = 0;

	for (uint32_t i = 0; (i = next_thread(x, node, kind, i)) && !rc;) {
		const char *own = run_label(x->run, i, SCANNER_NUMBER);
		const char *tag = run_label(x->run, i, SCANNER_TAG);
		struct scanner_thread_head h = { number_of(x, node), kind, tag ? tag : "",
						 own ? strtoll(own, NULL, 10) : number };

		number++;
		rc = scanner_put_thread(x, node, i, &h, out, e);
	}
	return rc;
}

/* How many there are, in a byte. */
static int put_count(struct scanner_export *x, uint32_t node, const char *kind, uint32_t most,
		     uint32_t *n, struct err *e)
{
	*n = count_threads(x, node, kind);
	if (*n > most)
		return err_set(e, -E2BIG,
			       "%.100s has %" PRIu32 " tracks of kind %s, and Scanner's profiles "
			       "have room for %" PRIu32,
			       x->run->nodes[node].host, *n, kind, most);
	return 0;
}

static int put_workers(struct scanner_export *x, uint32_t node, FILE *out, struct err *e)
{
	int64_t stages = meta_int(x->run, node, SCANNER_STAGES, 0);
	uint32_t n;
	int rc = put_count(x, node, "load", 255, &n, e);

	if (rc)
		return rc;
	bytes_u8(&x->out, (uint8_t)n);
	rc = put_threads(x, node, "load", out, e);
	if (!rc)
		rc = put_count(x, node, "eval", 255u * (stages ? (uint32_t)stages : 1), &n, e);
	if (rc)
		return rc;
	bytes_u8(&x->out, (uint8_t)(stages ? n / (uint32_t)stages : 0));
	bytes_u8(&x->out, (uint8_t)stages);
	rc = stages ? put_threads(x, node, "eval", out, e) : 0;
	if (!rc)
		rc = put_count(x, node, "save", 255, &n, e);
	if (rc)
		return rc;
	bytes_u8(&x->out, (uint8_t)n);
	return put_threads(x, node, "save", out, e);
}

int scanner_export_profile(struct scanner_export *x, uint32_t node, FILE *out, struct err *e)
{
	const struct run_node *n = &x->run->nodes[node];
	bool master = scanner_is_master(x, node);
	const char *kind = master ? "master" : "process_job";
	uint32_t loop = next_thread(x, node, kind, 0);
	const char *own = loop ? run_label(x->run, loop, SCANNER_NUMBER) : NULL;
	const struct scanner_thread_head h = { master ? 0 : number_of(x, node), kind,
					       master ? "master" : "",
					       own ? strtoll(own, NULL, 10) : 0 };
	int rc;

	bytes_reset(&x->out);
	bytes_u64(&x->out, (uint64_t)meta_int(x->run, node, SCANNER_BEGIN,
					      run_utc_ns(x->run, node, n->first_ns)));
	bytes_u64(&x->out, (uint64_t)meta_int(x->run, node, SCANNER_END,
					      run_utc_ns(x->run, node, n->last_ns)));
	rc = scanner_put_thread(x, node, loop, &h, out, e);
	if (!rc && !master)
		rc = put_workers(x, node, out, e);
	return rc ? rc : text_flush(&x->out, out, 0, e);
}

/* ---- descriptors ---- */

enum { JOB_ID = 1, JOB_NAME = 2, JOB_NODES = 5, DATABASE_NEXT = 1, DATABASE_JOB = 3 };
enum { IN_DATABASE_COMMITTED = 3 };

static void put_job(struct scanner_export *x, struct bytes *out)
{
	const struct run_meta *name = run_find_meta(x->run, 0, SCANNER_NAME);

	protobuf_number(out, JOB_ID, scanner_export_job(x));
	if (name && name->type == META_TEXT)
		protobuf_binary(out, JOB_NAME, name->text, strlen(name->text));
}

int scanner_export_descriptor(struct scanner_export *x, FILE *out, struct err *e)
{
	int64_t nodes = 0;

	for (uint32_t i = 1; i < x->run->nnodes; i++)
		if (number_of(x, i) >= nodes)
			nodes = number_of(x, i) + 1;
	bytes_reset(&x->out);
	put_job(x, &x->out);
	protobuf_number(&x->out, JOB_NODES, (uint64_t)nodes);
	return text_flush(&x->out, out, 0, e);
}

int scanner_export_database(struct scanner_export *x, FILE *out, struct err *e)
{
	struct bytes job = { 0 };

	bytes_reset(&x->out);
	put_job(x, &job);
	protobuf_number(&job, IN_DATABASE_COMMITTED, 1);
	protobuf_number(&x->out, DATABASE_NEXT, scanner_export_job(x) + 1);
	protobuf_message(&x->out, DATABASE_JOB, &job);
	x->out.failed |= job.failed;
	bytes_free(&job);
	return text_flush(&x->out, out, 0, e);
}
