/* SPDX-License-Identifier: Apache-2.0 */
#include "import/sampled.h"

#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MODULES_MAX = 65536,
	FRAMES_MAX = 1 << 20,
	STACKS_MAX = 1 << 22,
	PROCESSES_MAX = 4096,
	EVENTS = 2048,
	EVENTS_FULL = 1024
};

struct sampled_id {
	uint64_t key;
	uint32_t id; /* 0: free */
};

/* ---- ids ---- */

static struct sampled_id *place_of(const struct sampled_ids *m, uint64_t key)
{
	uint32_t at = (uint32_t)((key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (at &= m->cap - 1; m->id[at].id && m->id[at].key != key;)
		at = (at + 1) & (m->cap - 1);
	return &m->id[at];
}

uint32_t sampled_ids_get(const struct sampled_ids *m, uint64_t key)
{
	return m->cap ? place_of(m, key)->id : 0;
}

static int ids_grow(struct sampled_ids *m)
{
	struct sampled_ids more = { .cap = m->cap ? m->cap * 2 : 256 };

	more.id = calloc(more.cap, sizeof *more.id);
	if (!more.id)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->cap; i++)
		if (m->id[i].id)
			*place_of(&more, m->id[i].key) = m->id[i];
	more.n = m->n;
	free(m->id);
	*m = more;
	return 0;
}

int sampled_ids_put(struct sampled_ids *m, uint64_t key, uint32_t id)
{
	struct sampled_id *at;

	if (m->n >= m->cap / 2 && ids_grow(m))
		return -ENOMEM;
	at = place_of(m, key);
	m->n += !at->id;
	*at = (struct sampled_id){ key, id };
	return 0;
}

void sampled_ids_free(struct sampled_ids *m)
{
	free(m->id);
	*m = (struct sampled_ids){ 0 };
}

/* A new id of it, or 0: there is no room. */
static uint32_t id_new(struct sampled *s, struct sampled_ids *m, uint64_t key, uint32_t most)
{
	uint32_t id = m->n + 1;

	if (m->n < most && !sampled_ids_put(m, key, id))
		return id;
	s->beyond++;
	return 0;
}

/* ---- writing ---- */

static int write_events(struct sampled *s)
{
	return s->sample.nevents ? writer_events(s->w, &s->sample, s->e) : 0;
}

/* Before something is put: what was put goes to the file once it is much. */
static void make_room(struct sampled *s)
{
	if (s->sample.nevents >= EVENTS_FULL)
		write_events(s);
}

uint32_t sampled_module(struct sampled *s, const char *path, const char *build_id)
{
	uint64_t key = hash_text(hash_text(1, path), build_id);
	uint32_t id = sampled_ids_get(&s->modules, key);

	if (id || !*path)
		return id;
	id = id_new(s, &s->modules, key, MODULES_MAX);
	make_room(s);
	if (id && !sample_module(&s->sample, id, path, build_id)) {
		write_events(s);
		sample_module(&s->sample, id, path, build_id);
	}
	return id;
}

uint32_t sampled_frame(struct sampled *s, const struct frame_row *row)
{
	const uint64_t parts[] = { row->module, row->outer, row->line, row->flags, row->address };
	struct frame_row own = *row;
	uint64_t key = hash_bytes(1, parts, sizeof parts);
	uint32_t id;

	key = hash_text(hash_bytes(hash_text(key, row->function), "", 1), row->file);
	id = sampled_ids_get(&s->frames, key);
	if (id)
		return id;
	id = own.id = id_new(s, &s->frames, key, FRAMES_MAX);
	make_room(s);
	if (id && !sample_frame(&s->sample, &own)) {
		write_events(s);
		sample_frame(&s->sample, &own);
	}
	return id;
}

uint32_t sampled_stack(struct sampled *s, uint32_t parent, uint32_t frame)
{
	const struct event_item item = { parent, frame, 0 };
	uint64_t key = (uint64_t)parent << 32 | frame;
	uint32_t id = sampled_ids_get(&s->stacks, key);

	if (id || !frame)
		return id;
	id = id_new(s, &s->stacks, key, STACKS_MAX);
	make_room(s);
	if (id && !sample_stacks(&s->sample, id, &item, 1)) {
		write_events(s);
		sample_stacks(&s->sample, id, &item, 1);
	}
	return id;
}

uint32_t sampled_process(struct sampled *s, uint32_t pid, const char *command, int64_t at_ns)
{
	uint64_t key = (uint64_t)pid + 1;
	uint32_t id = sampled_ids_get(&s->processes, key);
	char text[16];

	if (id)
		return id;
	if (s->processes.n >= PROCESSES_MAX) {
		s->beyond++;
		return 0;
	}
	make_room(s);
	id = sample_instance(&s->sample, "process", command, 0, at_ns, 0);
	snprintf(text, sizeof text, "%u", pid);
	if (id && pid)
		sample_label(&s->sample, id, "pid", text);
	if (id && s->rank)
		sample_label(&s->sample, id, "rank", s->rank);
	if (id)
		sampled_ids_put(&s->processes, key, id);
	return id;
}

static int put_batch(struct sampled *s)
{
	int rc = 0;

	if (!s->n)
		return 0;
	make_room(s);
	if (!sample_samples(&s->sample, &s->head, s->item, s->n)) {
		rc = write_events(s);
		if (!rc && !sample_samples(&s->sample, &s->head, s->item, s->n))
			rc = err_set(s->e, -ENOMEM, "no room for samples");
	}
	s->n = 0;
	return rc;
}

int sampled_add(struct sampled *s, const struct sampled_one *one)
{
	static const int64_t longest_ns = INT64_C(1000000000);
	struct samples_head *h = &s->head;
	int rc = 0;

	if (s->n == SAMPLED_BATCH || h->instance != one->instance || h->unit != one->unit ||
	    strncmp(s->command, one->command, sizeof s->command - 1) != 0 ||
	    one->at_ns < h->t0_ns || one->at_ns - h->t0_ns > longest_ns)
		rc = put_batch(s);
	if (!s->n) {
		snprintf(s->command, sizeof s->command, "%s", one->command);
		*h = (struct samples_head){ .instance = one->instance,
					    .kind = SAMPLE_CPU,
					    .command = s->command,
					    .unit = one->unit,
					    .t0_ns = one->at_ns,
					    .t1_ns = one->at_ns };
	}
	h->t1_ns = s->whole_ns > 0 ? s->whole_ns : one->at_ns > h->t1_ns ? one->at_ns : h->t1_ns;
	s->last_ns = one->at_ns > s->last_ns ? one->at_ns : s->last_ns;
	s->item[s->n++] = (struct event_item){ one->tid, one->stack, one->weight };
	s->samples += one->weight;
	return rc;
}

/* ---- */

static void host_of(const struct import *x, char *out, size_t size)
{
	const char *slash = strrchr(x->path, '/'), *name = slash ? slash + 1 : x->path;
	int n = (int)strcspn(name, ".");

	if (x->place.host) {
		snprintf(out, size, "%s", x->place.host);
		return;
	}
	snprintf(out, size, "%.*s", n ? n : 7, n ? name : "profile");
}

int sampled_open(struct sampled *s, const struct import *x, const char *format, int64_t begin_utc,
		 struct err *e)
{
	char from[600], host[256];
	int rc = sample_init(&s->sample, 64, EVENTS);

	s->e = e;
	s->begin_utc = begin_utc;
	s->rank = x->place.rank;
	host_of(x, host, sizeof host);
	snprintf(from, sizeof from, "%s %.500s", format, x->path);
	rc = rc ? err_set(e, rc, "out of memory for %.300s", x->path)
		: writer_open(&s->w, x->dirfd, host, NULL, e);
	if (rc) {
		sample_free(&s->sample);
		return rc;
	}
	sample_meta_text(&s->sample, "import.from", from);
	sample_meta_text(&s->sample, "sonde.version", SONDE_VERSION);
	sample_meta_text(&s->sample, "node.host", host);
	sample_begin(&s->sample, begin_utc, 0);
	sample_clock(&s->sample, 0, begin_utc, -1, false);
	return writer_sample(s->w, &s->sample, e);
}

static void take_away(const struct import *x, const char *name)
{
	char tail[512];

	snprintf(tail, sizeof tail, "%.*s.tail", (int)(strlen(name) - strlen(".sonde")), name);
	unlinkat(x->dirfd, name, 0);
	unlinkat(x->dirfd, tail, 0);
}

int sampled_close(struct sampled *s, const struct import *x, int64_t end_ns, int rc)
{
	struct writer_figures figures;

	if (s->w) {
		int closed;

		rc = rc ? rc : put_batch(s);
		rc = rc ? rc : write_events(s);
		end_ns = end_ns > s->last_ns ? end_ns : s->last_ns + 1;
		sample_begin(&s->sample, s->begin_utc + end_ns, end_ns);
		rc = rc ? rc : writer_sample(s->w, &s->sample, s->e);
		writer_figures(s->w, &figures);
		s->name = store_text(x->store, figures.name);
		closed = writer_close(s->w, rc ? NULL : s->e);
		rc = rc ? rc : closed;
		if (rc && s->name)
			take_away(x, s->name);
		sample_free(&s->sample);
	}
	s->w = NULL;
	sampled_ids_free(&s->modules);
	sampled_ids_free(&s->frames);
	sampled_ids_free(&s->stacks);
	sampled_ids_free(&s->processes);
	return rc;
}
