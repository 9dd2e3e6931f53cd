/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/format.h"
#include "recording/join_part.h"
#include "recording/spans.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void join_open_free(struct join_open *o)
{
	if (o->fd >= 0) {
		blocks_free(&o->blocks);
		close(o->fd);
	}
	o->fd = -1;
}

void join_load_free(struct join_load *l)
{
	chunk_reader_free(&l->read);
	free(l->id);
	free(l->columns);
	free(l->values);
	free(l->present);
	*l = (struct join_load){ 0 };
}

void join_cursor_free(struct join *j)
{
	ahead_stop(j);
	join_open_free(&j->open);
	join_load_free(&j->load);
	free(j->ranges);
}

int join_rewind_nodes(struct run *r, uint32_t from, uint32_t to)
{
	struct join *j = r->reader;

	ahead_stop(j);
	j->at = 0;
	j->from_node = from;
	j->to_node = to;
	return 0;
}

int join_rewind(struct run *r)
{
	return join_rewind_nodes(r, 0, UINT32_MAX);
}

/* The same as o, of whoever; a file that is none any longer is closed. */
static int join_open_file(const struct join *j, struct join_open *o, uint32_t file)
{
	int rc;

	if (o->fd >= 0 && o->file == file)
		return 0;
	join_open_free(o);
	o->fd = openat(j->dir, j->files[file].sonde, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (o->fd < 0)
		return -errno;
	rc = blocks_init(&o->blocks, o->fd);
	if (rc) {
		close(o->fd);
		o->fd = -1;
	}
	o->file = file;
	return rc;
}

int join_file_open(struct join *j, uint32_t file)
{
	if (j->open.fd < 0 || j->open.file != file)
		join_progress(j, file);
	return join_open_file(j, &j->open, file);
}

/* ---- a chunk ---- */

/* Room for n items of a size, grown to the largest chunk. */
static void *room(void *array, size_t n, size_t *cap, size_t size)
{
	void *moved;

	if (n <= *cap)
		return array;
	moved = realloc(array, n * size);
	if (moved)
		*cap = n;
	return moved;
}

/* The run's series of its columns. */
static int find_series(const struct join *j, const struct join_chunk *chunk, struct join_load *l)
{
	uint32_t *moved = room(l->id, (size_t)l->read.ncolumns + 1, &l->ids_cap, sizeof *l->id);

	if (!moved)
		return -ENOMEM;
	l->id = moved;
	for (uint32_t i = 0; i < l->read.ncolumns; i++) {
		uint32_t id = join_series(&j->files[chunk->file], l->read.column[i].range.series);

		if (j->run.series[id].node != chunk->node)
			id = 0;
		l->undeclared |= !id;
		l->id[i] = id;
	}
	return 0;
}

/* -EBADMSG when it is no longer what it was at open. */
static int read_ranges(const struct join *j, struct join_open *o, struct join_load *l)
{
	const struct join_chunk *c = &j->chunks[l->chunk];
	struct block b = { .type = BLOCK_CHUNK, .payload = c->memory, .length = c->length };
	int rc = c->memory ? 1 : join_open_file(j, o, c->file);

	if (!rc)
		rc = blocks_at(&o->blocks, c->offset, &b);
	if (rc <= 0)
		return rc == -ENOMEM ? rc : -EBADMSG;
	rc = b.type == BLOCK_CHUNK ? chunk_read(&l->read, b.payload, b.length) : -EBADMSG;
	return rc ? rc : find_series(j, c, l);
}

void join_load_ranges(const struct join *j, struct join_open *o, struct join_load *l,
		      uint32_t chunk)
{
	l->chunk = chunk;
	l->undeclared = false;
	l->rc = read_ranges(j, o, l);
}

static int by_column(const void *a, const void *b)
{
	uint32_t x = ((const struct chunk_column *)a)->series,
		 y = ((const struct chunk_column *)b)->series;

	return x < y ? -1 : x > y;
}

static bool is_wanted(const struct join *j, const uint8_t *wanted, uint32_t id)
{
	return id && id < j->run.nseries && (!wanted || wanted[id]);
}

/* Room for n columns of the loaded chunk. */
static int values_room(struct join_load *l, size_t n)
{
	size_t places = n * l->read.nrows + 1, cap = l->values_cap;
	void *moved = room(l->columns, n + 1, &l->columns_cap, sizeof *l->columns);

	if (!moved)
		return -ENOMEM;
	l->columns = moved;
	moved = room(l->values, places, &cap, sizeof *l->values);
	if (!moved)
		return -ENOMEM;
	l->values = moved;
	moved = room(l->present, places, &l->values_cap, 1);
	if (!moved)
		return -ENOMEM;
	l->present = moved;
	return 0;
}

static int values_decode(const struct join *j, struct join_load *l, const uint8_t *wanted)
{
	struct chunk *c = &l->decoded;
	bool sorted = true;

	for (uint32_t i = 0; i < l->read.ncolumns; i++) {
		int64_t *value = l->values + (size_t)c->ncolumns * c->nrows;
		uint8_t *present = l->present + (size_t)c->ncolumns * c->nrows;

		if (!is_wanted(j, wanted, l->id[i]))
			continue;
		if (!chunk_read_column(&l->read, i, value, present))
			return -EBADMSG;
		sorted &= !c->ncolumns || l->columns[c->ncolumns - 1].series < l->id[i];
		l->columns[c->ncolumns++] = (struct chunk_column){ l->id[i], value, present };
	}
	if (!sorted)
		qsort(l->columns, c->ncolumns, sizeof *l->columns, by_column);
	return 0;
}

static int read_values(const struct join *j, struct join_load *l, const uint8_t *wanted)
{
	bool has_bodies = false; /* they are expanded only when a wanted column has one */
	size_t n = 0;
	int rc;

	for (uint32_t i = 0; i < l->read.ncolumns; i++) {
		l->read.column[i].unwanted = !is_wanted(j, wanted, l->id[i]);
		if (l->read.column[i].unwanted)
			continue;
		has_bodies |= l->read.column[i].body > 0;
		n++;
	}
	rc = values_room(l, n);
	if (!rc && has_bodies)
		rc = chunk_read_bodies(&l->read);
	l->decoded = (struct chunk){ .node = j->chunks[l->chunk].node,
				     .nrows = l->read.nrows,
				     .utc_ns = l->read.utc,
				     .mono_ns = l->read.mono,
				     .column = l->columns };
	return rc ? rc : values_decode(j, l, wanted);
}

void join_load_values(const struct join *j, struct join_load *l, const uint8_t *wanted)
{
	l->values_rc = read_values(j, l, wanted);
}

/* ---- one after the other ---- */

static void chunk_damage(struct join *j, struct join_chunk *c, const char *what)
{
	if (!c->damaged)
		join_damage(j, j->files[c->file].path, c->offset, 0, what);
	c->damaged = true;
}

static void say_undeclared(struct join *j, const struct join_chunk *c)
{
	struct join_file *f = &j->files[c->file];

	if (!f->undeclared_said)
		join_damage(j, f->path, c->offset, 0, "values of series that are declared nowhere");
	f->undeclared_said = true;
}

bool join_is_chosen(const struct join *j, uint32_t chunk)
{
	return j->chunks[chunk].node >= j->from_node && j->chunks[chunk].node < j->to_node;
}

/* The chunk at j->at, by this thread. */
static struct join_load *load_here(struct join *j)
{
	const struct join_chunk *c = &j->chunks[j->at];

	if (!c->memory)
		join_file_open(j, c->file); /* what fails here does so there */
	join_load_ranges(j, &j->open, &j->load, j->at);
	return &j->load;
}

/* Load the next chunk that can be, as j->now; those that cannot are damage. 1, 0 at the end,
 * -ENOMEM. */
static int next_load(struct join *j)
{
	for (; j->at < j->nchunks; j->at++) {
		struct join_chunk *c = &j->chunks[j->at];

		if (!join_is_chosen(j, j->at))
			continue;
		j->now = j->ahead ? ahead_next(j->ahead) : load_here(j);
		if (j->now->undeclared)
			say_undeclared(j, c);
		if (!j->now->rc) {
			j->at++;
			return 1;
		}
		if (j->now->rc != -EBADMSG)
			return j->now->rc;
		chunk_damage(j, c, "rows could no longer be read");
	}
	ahead_stop(j);
	if (j->to_node >= j->run.nnodes)
		join_progress(j, j->nfiles);
	return 0;
}

static int by_series(const void *a, const void *b)
{
	uint32_t x = ((const struct range *)a)->series, y = ((const struct range *)b)->series;

	return x < y ? -1 : x > y;
}

int join_next_ranges(struct run *r, const struct range **ranges, uint32_t *n, struct err *e)
{
	struct join *j = r->reader;
	const struct chunk_reader *read;
	bool sorted = true;
	int rc = next_load(j);
	void *moved;

	*n = 0;
	if (rc <= 0)
		return rc ? err_set(e, rc, "not enough memory to read %s", r->path) : 0;
	read = &j->now->read;
	moved = room(j->ranges, (size_t)read->ncolumns + 1, &j->ranges_cap, sizeof *j->ranges);
	if (!moved)
		return err_set(e, -ENOMEM, "not enough memory to read %s", r->path);
	j->ranges = moved;
	for (uint32_t i = 0; i < read->ncolumns; i++) {
		uint32_t id = j->now->id[i];

		if (!id)
			continue;
		sorted &= !*n || j->ranges[*n - 1].series < id;
		j->ranges[*n] = read->column[i].range;
		j->ranges[(*n)++].series = id;
	}
	if (!sorted)
		qsort(j->ranges, *n, sizeof *j->ranges, by_series);
	*ranges = j->ranges;
	return 1;
}

int join_values(struct run *r, const uint8_t *wanted, struct chunk *c, struct err *e)
{
	struct join *j = r->reader;
	int rc;

	if (!j->ahead)
		join_load_values(j, j->now, wanted);
	rc = j->now->values_rc;
	*c = j->now->decoded;
	if (rc == -EBADMSG) {
		chunk_damage(j, &j->chunks[j->now->chunk], "values are malformed");
		return 0;
	}
	return rc ? err_set(e, rc, "not enough memory to read %s", r->path) : 1;
}

int join_next_chunk(struct run *r, const uint8_t *wanted, struct chunk *c, struct err *e)
{
	struct join *j = r->reader;
	int rc;

	while ((rc = next_load(j)) > 0) {
		rc = join_values(r, wanted, c, e);
		if (rc)
			return rc;
	}
	return rc ? err_set(e, rc, "not enough memory to read %s", r->path) : 0;
}

/*
 * Spans that were stored in bulk: where their blocks lie, and what is in one.
 */

static int room_for_pack(struct join *j)
{
	struct run *r = &j->run;
	struct join_pack *place = array_room(j->packs, r->npacks, &j->cap.packs, sizeof *place);
	struct run_pack *pack;

	if (!place)
		return -ENOMEM;
	j->packs = place;
	pack = array_room(r->packs, r->npacks, &j->cap.run_packs, sizeof *pack);
	if (!pack)
		return -ENOMEM;
	r->packs = pack;
	return 0;
}

int join_pack(struct join *j, const struct block *b)
{
	struct run *r = &j->run;
	struct spans_head h;
	uint32_t node;

	if (room_for_pack(j))
		return -ENOMEM;
	if (spans_head_get(&h, b->payload, b->length))
		return -EBADMSG;
	j->file->spoken = true;
	node = join_node(j, h.node);
	if (!node)
		return -ENOMEM;
	j->packs[r->npacks] = (struct join_pack){ .offset = b->offset,
						  .file = (uint32_t)(j->file - j->files),
						  .track = h.track };
	r->packs[r->npacks++] = (struct run_pack){ node, 0, h.n, h.first_ns, h.last_ns };
	r->npacked += h.n;
	return 0;
}

int join_hold(struct join *j, const struct event *e)
{
	struct run_pack pack = { .node = join_node(j, e->node),
				 .nspans = e->spans ? e->count : 0,
				 .first_ns = INT64_MAX,
				 .last_ns = INT64_MIN };
	const size_t offset = j->held.len;
	int64_t before_ns = 0;

	if (!pack.nspans)
		return 0;
	if (room_for_pack(j))
		return -ENOMEM;
	for (uint32_t i = 0; i < pack.nspans; i++) {
		int64_t begin_ns = join_bounded(e->spans[i].begin_ns),
			end_ns = join_bounded(e->spans[i].end_ns);

		end_ns = end_ns < begin_ns ? begin_ns : end_ns;
		bytes_varint(&j->held, idmap_get(&j->file_words, e->spans[i].word));
		bytes_zigzag(&j->held, begin_ns - before_ns);
		bytes_varint(&j->held, (uint64_t)(end_ns - begin_ns));
		before_ns = end_ns;
		pack.first_ns = begin_ns < pack.first_ns ? begin_ns : pack.first_ns;
		pack.last_ns = end_ns > pack.last_ns ? end_ns : pack.last_ns;
	}
	if (j->held.failed)
		return -ENOMEM;
	j->packs[j->run.npacks] =
		(struct join_pack){ .offset = offset, .track = e->parent, .held = true };
	j->run.packs[j->run.npacks++] = pack;
	j->run.npacked += pack.nspans;
	return 0;
}

/* An instance may be declared behind its spans, in the tail. */
void join_pack_tracks(struct join *j, uint32_t first)
{
	for (uint32_t i = first; i < j->run.npacks; i++)
		j->run.packs[i].track = idmap_get(&j->file_instances, j->packs[i].track);
}

static void decode_held(struct join *j, const struct join_pack *place, const struct run_pack *pack)
{
	struct scan at = { j->held.data + place->offset, j->held.data + j->held.len, false };
	int64_t before_ns = 0;

	for (uint32_t i = 0; i < pack->nspans; i++) {
		uint64_t word = scan_varint(&at);
		int64_t begin_ns = before_ns + scan_zigzag(&at);

		before_ns = begin_ns + (int64_t)scan_varint(&at);
		j->unpacked[i] = (struct run_span){ pack->node,
						    pack->track,
						    begin_ns,
						    before_ns,
						    word ? j->words[word - 1] : "",
						    "" };
	}
}

static int decode(struct join *j, const struct join_pack *place, const struct run_pack *pack)
{
	const char *name[SPAN_NAMES_MAX];
	struct spans_head h;
	struct block b;
	int rc = join_file_open(j, place->file);

	if (!rc)
		rc = blocks_at(&j->open.blocks, place->offset, &b);
	if (rc <= 0 || b.type != BLOCK_SPANS)
		return rc == -ENOMEM ? rc : -EBADMSG;
	if (spans_head_get(&h, b.payload, b.length) || h.n != pack->nspans)
		return -EBADMSG;
	for (uint32_t i = 0; i < h.nnames; i++) {
		size_t n;
		const char *text = spans_name_get(&h, &n);
		const char *copy = pool_text(&j->record, text, n);

		name[i] = copy ? join_text(j, copy) : NULL;
		pool_empty(&j->record);
		if (!name[i])
			return -ENOMEM;
	}
	rc = spans_body_get(&h, &j->load.read.expander, &j->load.read.body, name, j->unpacked);
	for (uint32_t i = 0; i < h.n && !rc; i++) {
		j->unpacked[i].node = pack->node;
		j->unpacked[i].track = pack->track;
		j->unpacked[i].detail = "";
	}
	return rc;
}

int join_unpack(const struct run *r, uint32_t pack, const struct run_span **spans, struct err *e)
{
	struct join *j = r->reader;
	struct join_pack *place = &j->packs[pack];
	int rc = 0;

	if (!j->unpacked)
		j->unpacked = calloc(SPANS_MAX, sizeof *j->unpacked);
	if (!j->unpacked)
		rc = -ENOMEM;
	if (!rc && place->held)
		decode_held(j, place, &r->packs[pack]);
	else if (!rc)
		rc = decode(j, place, &r->packs[pack]);
	*spans = j->unpacked;
	if (rc == -EBADMSG && !place->damaged) {
		join_damage(j, j->files[place->file].path, place->offset, 0, "spans are malformed");
		place->damaged = true;
	}
	if (rc == -EBADMSG)
		return 0;
	return rc ? err_set(e, rc, "not enough memory to read %s", r->path)
		  : (int)r->packs[pack].nspans;
}

/* When the process of a track ended, INT64_MAX: it did not, as far as is known. A track that ends
 * with the recording is no sign of it. */
static int64_t process_end(const struct run *r, uint32_t track)
{
	const struct run_instance *in = &r->instances[track], *of = &r->instances[in->parent];
	bool of_process = in->parent && of->domain && !strcmp(of->domain, "process");

	if (!in->domain || strcmp(in->domain, "track") != 0)
		return !in->domain || strcmp(in->domain, "process") != 0 ? INT64_MAX : in->end_ns;
	if (!run_label(r, track, "tid") && !run_label(r, track, "async"))
		return INT64_MAX;
	if (of_process && of->end_ns != INT64_MAX)
		return of->end_ns;
	return in->end_ns < r->nodes[in->node].last_ns ? in->end_ns : INT64_MAX;
}

void join_cut_spans(struct join *j)
{
	struct run *r = &j->run;

	for (uint32_t i = 1; i < r->nspans; i++) {
		struct run_span *s = &r->spans[i];

		if (s->end_ns != INT64_MAX || !s->track || *s->detail)
			continue;
		s->end_ns = process_end(r, s->track);
		if (s->end_ns == INT64_MAX)
			continue;
		s->end_ns = s->end_ns < s->begin_ns ? s->begin_ns : s->end_ns;
		s->detail = "cut: its process ended";
	}
}
