/* SPDX-License-Identifier: Apache-2.0 */
/* scanner.c - which node and thread is what in Scanner's files, and the descriptors. */
#include "sink/trace/scanner.h"

#include "core/phase/scanner.h"
#include "sink/protobuf.h"
#include "sink/text.h"
#include "sink/trace/scanner_part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

bool scanner_is_master(const struct scanner_export *x, uint32_t node)
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
