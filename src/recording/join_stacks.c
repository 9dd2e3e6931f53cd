/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_stacks.c - the code that ran, of all recordings: what is the same in several of them is once
 * in the run; and the samples of it, block by block again.
 *
 * Frames and nodes of a file may be said again, or refer to what comes later, until its end: they
 * are kept as they came and taken over then.
 */
#include "base/hash.h"
#include "recording/format.h"
#include "recording/join_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MODULES_MAX = 1 << 16,
	FRAMES_MAX = 1 << 20,
	STACKS_MAX = 1 << 22,
	INLINED_MAX = 64, /* functions inlined into one another at one address */
};

/* A frame as its file has it: ids are the file's. */
struct join_frame {
	struct run_frame row; /* module: the run's already */
	uint32_t run;         /* 0: not taken over yet */
	bool met;             /* on the way outwards from another one */
};

struct join_stack {
	uint32_t id, parent, frame;
};

/* ---- what is the same is once ---- */

typedef bool same_fn(const struct run *r, uint32_t id, const void *item);

static uint32_t *slot_of(const struct join_hash *h, uint32_t sum)
{
	return &h->slot[sum & (h->cap - 1)];
}

static int hash_grow(struct join_hash *h)
{
	struct join_hash bigger = { .n = h->n, .cap = h->cap ? h->cap * 2 : 256 };

	bigger.slot = bigger.cap ? calloc(bigger.cap, 2 * sizeof *bigger.slot) : NULL;
	if (!bigger.slot)
		return -ENOMEM;
	bigger.sum = bigger.slot + bigger.cap;
	for (uint32_t i = 0; i < h->cap; i++) {
		uint32_t at = h->sum[i] & (bigger.cap - 1);

		if (!h->slot[i])
			continue;
		while (bigger.slot[at])
			at = (at + 1) & (bigger.cap - 1);
		bigger.slot[at] = h->slot[i];
		bigger.sum[at] = h->sum[i];
	}
	free(h->slot);
	*h = bigger;
	return 0;
}

/* The place of an item: *slot is its id, or 0 where it is new; then next is put there. -ENOMEM. */
static int hash_find(struct join_hash *h, const struct run *r, const void *item, size_t size,
		     same_fn *same, uint32_t **slot)
{
	uint32_t sum = (uint32_t)hash_bytes(0, item, size), at;

	if (h->n >= h->cap / 2 && hash_grow(h))
		return -ENOMEM;
	at = (uint32_t)(slot_of(h, sum) - h->slot);
	while (h->slot[at] && (h->sum[at] != sum || !same(r, h->slot[at], item)))
		at = (at + 1) & (h->cap - 1);
	h->sum[at] = sum;
	*slot = &h->slot[at];
	return 0;
}

static bool module_same(const struct run *r, uint32_t id, const void *item)
{
	return !memcmp(&r->modules[id], item, sizeof r->modules[id]);
}

static bool frame_same(const struct run *r, uint32_t id, const void *item)
{
	return !memcmp(&r->frames[id], item, sizeof r->frames[id]);
}

static bool stack_same(const struct run *r, uint32_t id, const void *item)
{
	return !memcmp(&r->stacks[id], item, sizeof r->stacks[id]);
}

/* Texts are once in the run, so that a pointer is as good as a text. */
_Static_assert(sizeof(struct run_module) == 2 * sizeof(void *), "bytes are compared");
_Static_assert(sizeof(struct run_frame) == 24 + 2 * sizeof(void *), "bytes are compared");
_Static_assert(sizeof(struct run_stack) == 8, "bytes are compared");

/* The run's id of an item, added where it is new; 0 where the run has no room for more. A macro, as
 * each is an array of its own. */
#define TAKE_OVER(join, array, count, hash, most, same, item, id)                                  \
	do {                                                                                       \
		uint32_t *slot_;                                                                   \
		void *moved_;                                                                      \
		if (hash_find(&(join)->hash, &(join)->run, &(item), sizeof(item), same, &slot_))   \
			return -ENOMEM;                                                            \
		if (!*slot_ && (join)->run.count < (most)) {                                       \
			moved_ = array_room((join)->run.array, (join)->run.count,                  \
					    &(join)->cap.array, sizeof(item));                     \
			if (!moved_)                                                               \
				return -ENOMEM;                                                    \
			(join)->run.array = moved_;                                                \
			(join)->run.array[(join)->run.count] = (item);                             \
			*slot_ = (join)->run.count++;                                              \
			(join)->hash.n++;                                                          \
		}                                                                                  \
		(id) = *slot_;                                                                     \
	} while (0)

/* Something of the tree of stacks cannot be used: it is counted, and said once a file. */
static void stray(struct join *j, const char *what)
{
	j->run.nstrays++;
	if (!j->stray_said)
		join_damage(j, j->file->path, 0, 0, what);
	j->stray_said = true;
}

/* ---- records ---- */

int join_take_module(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	struct run_module m = { join_text(j, e->name), join_text(j, e->text) };
	uint32_t id;

	if (!m.path || !m.build_id)
		return -ENOMEM;
	TAKE_OVER(j, modules, nmodules, module_hash, MODULES_MAX, module_same, m, id);
	if (!id)
		stray(j, "more programs and libraries than a run may have");
	return e->id && id ? idmap_put(&j->file_modules, e->id, id) : 0;
}

/* The place of a frame of the file: that of one with its id, or a new one. */
static int frame_place(struct join *j, uint32_t id, struct join_frame **place)
{
	uint32_t known = idmap_get(&j->file_frames, id);
	struct join_frame *moved;

	if (!known) {
		moved = array_room(j->frames, j->nframes, &j->cap.file_frames, sizeof *moved);
		if (!moved)
			return -ENOMEM;
		j->frames = moved;
		known = ++j->nframes;
		if (idmap_put(&j->file_frames, id, known))
			return -ENOMEM;
	}
	*place = &j->frames[known - 1];
	return 0;
}

int join_take_frame(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	struct join_frame *place;
	struct run_frame row = { .line = e->count,
				 .flags = e->flags,
				 .address = (uint64_t)e->value,
				 .function = join_text(j, e->name),
				 .file = join_text(j, e->text) };

	if (!row.function || !row.file)
		return -ENOMEM;
	if (!e->id)
		return 0;
	row.module = idmap_get(&j->file_modules, e->parent);
	if (e->parent && !row.module)
		stray(j, "code of a program or library that is declared nowhere before it");
	row.outer = e->mask <= UINT32_MAX ? (uint32_t)e->mask : 0;
	if (frame_place(j, e->id, &place))
		return -ENOMEM;
	*place = (struct join_frame){ .row = row };
	return 0;
}

int join_take_stacks(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;

	for (uint32_t i = 0; e->items && e->id && i < e->count && i < UINT32_MAX - e->id; i++) {
		struct join_stack *moved =
			array_room(j->stacks, j->nstacks, &j->cap.file_stacks, sizeof *moved);

		if (!moved)
			return -ENOMEM;
		j->stacks = moved;
		j->stacks[j->nstacks++] =
			(struct join_stack){ e->id + i, e->items[i].task, e->items[i].node };
	}
	return 0;
}

int join_take_samples(struct join *j, const struct record *r)
{
	if (r->event.items && r->event.flags < SAMPLE_KIND_NUMBER_OF) {
		j->run.nsample_sets++;
		j->run.nsample_sets_of[r->event.flags]++;
		j->block_samples++;
	}
	return 0;
}

/* ---- at the end of a file ---- */

static int frame_add(struct join *j, struct join_frame *f, uint32_t outer)
{
	f->row.outer = outer;
	TAKE_OVER(j, frames, nframes, frame_hash, FRAMES_MAX, frame_same, f->row, f->run);
	if (!f->run)
		stray(j, "more places in code than a run may have");
	return 0;
}

/* Take over a frame and, before it, what it is inlined into. */
static int frame_take_over(struct join *j, struct join_frame *f)
{
	struct join_frame *way[INLINED_MAX];
	uint32_t n = 0, outer = 0, at;

	for (;;) {
		at = idmap_get(&j->file_frames, f->row.outer);
		way[n++] = f;
		f->met = true;
		if (f->row.outer && (!at || j->frames[at - 1].met || n == INLINED_MAX)) {
			stray(j, "a function is inlined into one that is not there, or into "
				 "itself");
			break;
		}
		if (!f->row.outer)
			break;
		f = &j->frames[at - 1];
		if (f->run) {
			outer = f->run;
			break;
		}
	}
	while (n) {
		int rc = frame_add(j, way[--n], outer);

		way[n]->met = false;
		if (rc)
			return rc;
		outer = way[n]->run;
	}
	return 0;
}

static int frames_take_over(struct join *j)
{
	int rc = 0;

	for (uint32_t i = 0; i < j->nframes && !rc; i++)
		if (!j->frames[i].run)
			rc = frame_take_over(j, &j->frames[i]);
	return rc;
}

/* One whose parent is not there is left out: what was sampled of it is of an unknown stack. */
static int stack_take_over(struct join *j, const struct join_stack *s)
{
	uint32_t frame = idmap_get(&j->file_frames, s->frame), id;
	struct run_stack row = { idmap_get(&j->file->stacks, s->parent), 0 };

	if (idmap_get(&j->file->stacks, s->id))
		return 0;
	if ((s->parent && !row.parent) || s->parent == s->id) {
		stray(j, "a stack continues one that is not there before it");
		return 0;
	}
	if (!frame)
		stray(j, "a stack has a place in code that is declared nowhere");
	row.frame = frame ? j->frames[frame - 1].run : 0;
	TAKE_OVER(j, stacks, nstacks, stack_hash, STACKS_MAX, stack_same, row, id);
	if (!id) {
		stray(j, "more stacks than a run may have");
		return 0;
	}
	return idmap_put(&j->file->stacks, s->id, id);
}

int join_stacks_end(struct join *j)
{
	int rc = frames_take_over(j);

	for (uint32_t i = 0; i < j->nstacks && !rc; i++)
		rc = stack_take_over(j, &j->stacks[i]);
	if (j->file->samples) {
		j->file->instances = j->file_instances;
		j->file_instances = (struct idmap){ 0 };
	} else {
		idmap_free(&j->file->stacks);
	}
	return rc;
}

void join_stacks_begin(struct join *j)
{
	idmap_free(&j->file_modules);
	idmap_free(&j->file_frames);
	j->nframes = j->nstacks = j->block_samples = 0;
	j->stray_said = false;
}

void join_stacks_free(struct join *j)
{
	struct join_hash *const hashes[] = { &j->module_hash, &j->frame_hash, &j->stack_hash };

	join_stacks_begin(j);
	for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++)
		free(hashes[i]->slot);
	free(j->frames);
	free(j->stacks);
	free(j->sampled);
	free(j->items);
	bytes_free(&j->sampled_records);
	free(j->run.modules);
	free(j->run.frames);
	free(j->run.stacks);
}

int join_stacks_init(struct join *j)
{
	struct run *r = &j->run;

	r->modules = calloc(1, sizeof *r->modules);
	r->frames = calloc(1, sizeof *r->frames);
	r->stacks = calloc(1, sizeof *r->stacks);
	if (!r->modules || !r->frames || !r->stacks)
		return -ENOMEM;
	j->cap.modules = j->cap.frames = j->cap.stacks = 1;
	r->nmodules = r->nframes = r->nstacks = 1;
	r->modules[0].path = r->modules[0].build_id = "";
	r->frames[0].function = r->frames[0].file = "";
	return 0;
}

/* ---- samples, again ---- */

int join_sampled_block(struct join *j, const struct block *b, bool in_memory)
{
	struct join_sampled *moved;

	bool sampled = j->block_samples > 0 && (b->type == BLOCK_EVENTS || b->type == BLOCK_CODE);

	j->block_samples = 0;
	if (!sampled)
		return 0;
	moved = array_room(j->sampled, j->nsampled, &j->cap.sampled, sizeof *moved);
	if (!moved)
		return -ENOMEM;
	j->sampled = moved;
	j->sampled[j->nsampled++] =
		(struct join_sampled){ b->offset, in_memory ? b->payload : NULL,
				       b->length, (uint32_t)(j->file - j->files),
				       b->type,   false };
	j->file->samples = true;
	return 0;
}

int join_rewind_samples(struct run *r)
{
	struct join *j = r->reader;

	j->sampled_at = 0;
	j->sampled_in = (struct scan){ 0 };
	return 0;
}

/* Expand the records of a block. 0, -EBADMSG when it is no longer what it was, or -ENOMEM. */
static int sampled_load(struct join *j, const struct join_sampled *s)
{
	struct block b = { .type = s->type, .payload = s->memory, .length = s->length };
	uint64_t generation;
	int rc = s->memory ? 1 : join_file_open(j, s->file);

	if (!rc)
		rc = blocks_at(&j->open.blocks, s->offset, &b);
	if (rc <= 0)
		return rc == -ENOMEM ? rc : -EBADMSG;
	if (b.type != s->type)
		return -EBADMSG;
	rc = file_events(&b, &j->load.read.expander, &generation, &j->sampled_records);
	if (!rc)
		j->sampled_in =
			(struct scan){ .at = j->sampled_records.data,
				       .end = j->sampled_records.data + j->sampled_records.len };
	return rc;
}

/* What a record says of samples, in the run's ids. 1; 0: it has none; -ENOMEM. */
static int sampled_take(struct join *j, const struct join_sampled *s, const struct record *rec,
			struct run_samples *out)
{
	struct join_file *f = &j->files[s->file];
	const struct event *e = &rec->event;

	if (e->kind != EVENT_SAMPLES || !e->items || e->flags >= SAMPLE_KIND_NUMBER_OF ||
	    e->count > EVENT_ITEMS_MAX)
		return 0;
	if (!j->items)
		j->items = calloc(EVENT_ITEMS_MAX, sizeof *j->items);
	if (!j->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->count; i++) {
		j->items[i] = e->items[i];
		j->items[i].node = idmap_get(&f->stacks, e->items[i].node);
	}
	*out = (struct run_samples){ .node = idmap_get(&f->nodes, e->node),
				     .instance = idmap_get(&f->instances, e->parent),
				     .kind = (enum sample_kind)e->flags,
				     .command = join_text(j, e->name),
				     .unit = e->value < 0 ? 0 : e->value,
				     .t0_ns = join_bounded(e->t0),
				     .t1_ns = join_bounded(e->t1),
				     .n = e->count,
				     .items = j->items };
	if (out->t1_ns < out->t0_ns)
		out->t1_ns = out->t0_ns;
	return !out->command ? -ENOMEM : out->node != 0;
}

/* The next samples of the block that is loaded. 1, 0 at its end, -EBADMSG or -ENOMEM. */
static int sampled_next(struct join *j, const struct join_sampled *s, struct run_samples *out)
{
	struct record rec;
	int rc;

	while ((rc = record_get(&j->sampled_in, &rec, &j->record)) > 0) {
		rc = sampled_take(j, s, &rec, out);
		pool_empty(&j->record);
		if (rc)
			break;
	}
	return rc;
}

int join_next_samples(struct run *r, struct run_samples *out, struct err *e)
{
	struct join *j = r->reader;

	while (j->sampled_at < j->nsampled || j->sampled_in.at) {
		struct join_sampled *s;
		int rc = 0;

		if (!j->sampled_in.at)
			rc = sampled_load(j, &j->sampled[j->sampled_at++]);
		s = &j->sampled[j->sampled_at - 1];
		if (!rc)
			rc = sampled_next(j, s, out);
		if (rc > 0)
			return rc;
		j->sampled_in = (struct scan){ 0 };
		if (rc == -ENOMEM)
			return err_set(e, rc, "not enough memory to read %s", r->path);
		if (rc && !s->damaged) {
			join_damage(j, j->files[s->file].path, s->offset, 0,
				    "samples of code could no longer be read");
			s->damaged = true;
		}
	}
	join_progress(j, j->nfiles);
	return 0;
}
