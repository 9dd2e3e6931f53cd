/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/follow.h"

#include "recording/block.h"
#include "recording/follow_part.h"
#include "recording/format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A recording that has ended as it was at an instant. Its blocks are read up to there: a
 * generation's events stand before its chunk. Those that reach past the instant are taken up to it,
 * and again the next time; a record that comes twice changes nothing that stays.
 */

/* A process is read a moment after its row's time. Values of a chunk that ends so long before the
 * instant are of no use. */
#define BEHIND_NS INT64_C(100000000)
#define RECENT_NS INT64_C(60000000000)

struct visit {
	struct follow *f;
	struct follow_file *x;
	int64_t until_ns;
	bool pending; /* events were expanded, but not taken */
	bool held;    /* something of a block is left for later */
	bool over;    /* what follows is later */
};

/* Records of later samples stand behind one of a later time. */
static bool is_later(const struct visit *v, const struct event *e)
{
	return (e->kind == EVENT_INSTANCE || e->kind == EVENT_END || e->kind == EVENT_CLOCK ||
		e->kind == EVENT_STATE || e->kind == EVENT_MARK) &&
	       e->t0 > v->until_ns + BEHIND_NS;
}

/* Series end at no time that is known: partly read, they are kept. */
static int events_take(struct visit *v, bool partly)
{
	struct pool *pool = &v->f->record;
	struct scan in = { .at = v->f->events.data, .end = v->f->events.data + v->f->events.len };
	struct record r;
	int rc = 0;

	if (!v->pending)
		return 0;
	v->pending = false;
	while (!rc && (rc = record_get(&in, &r, pool)) > 0) {
		bool later = is_later(v, &r.event);

		v->held |= later;
		rc = later || (partly && r.event.kind == EVENT_SERIES_END)
			     ? 0
			     : follow_event(v->f, v->x, &r);
		pool_empty(pool);
		if (later)
			break;
	}
	pool_empty(pool);
	return rc;
}

static int events_expand(struct visit *v, const struct block *b)
{
	uint64_t generation;
	int rc = events_take(v, false);

	if (!rc)
		rc = file_events(b, &v->f->chunk.expander, &generation, &v->f->events);
	v->pending = !rc;
	return rc;
}

/* ---- values ---- */

static void reading_set(struct follow_series *s, int64_t value, int64_t mono_ns)
{
	if (mono_ns <= s->seen_ns)
		return;
	s->before = s->value;
	s->before_ns = s->seen_ns;
	s->value = value;
	s->seen_ns = mono_ns;
}

struct decoded {
	int64_t *value;
	uint8_t *present;
	uint32_t rows; /* up to the instant */
};

/* Its last two readings. */
static void column_show(struct follow_series *s, const struct chunk_reader *c,
			const struct decoded *d)
{
	uint32_t last = d->rows, before;

	while (last && !d->present[last - 1])
		last--;
	s->present = last == d->rows;
	if (!last)
		return;
	for (before = last - 1; before && !d->present[before - 1];)
		before--;
	if (before)
		reading_set(s, d->value[before - 1], c->mono[before - 1]);
	reading_set(s, d->value[last - 1], c->mono[last - 1]);
}

static int columns_show(struct visit *v, struct decoded *d)
{
	struct chunk_reader *c = &v->f->chunk;
	struct follow_node *n = &v->x->node;
	int rc = chunk_read_bodies(c);

	for (uint32_t i = 0; i < n->nseries; i++)
		n->series[i].present = false;
	for (uint32_t i = 0, k = 0; !rc && i < n->nseries; i++) {
		struct follow_series *s = &n->series[i];

		while (k < c->ncolumns && c->column[k].range.series < s->id)
			k++;
		if (k == c->ncolumns || c->column[k].range.series != s->id)
			continue;
		if (!chunk_read_column(c, k, d->value, d->present))
			return -EBADMSG;
		column_show(s, c, d);
	}
	return rc;
}

static int chunk_show(struct visit *v, uint32_t rows)
{
	struct chunk_reader *c = &v->f->chunk;
	struct decoded d = { calloc(c->nrows, sizeof *d.value), calloc(c->nrows, 1), rows };
	int rc = d.value && d.present ? 0 : -ENOMEM;

	if (v->x->moved)
		follow_places(v->x);
	if (!rc)
		rc = columns_show(v, &d);
	free(d.value);
	free(d.present);
	v->x->node.mono_ns = c->mono[rows - 1];
	v->x->node.utc_ns = c->utc[rows - 1];
	return rc;
}

static int64_t interval_of(const struct follow_node *n)
{
	const struct follow_meta *m = follow_meta(n, "run.interval_ns");

	return m && m->type == META_INT && m->value > 0 && m->value < MONO_MAX / 4 ? m->value : 0;
}

/* Longer before the instant than what is still shown. */
static bool is_past(const struct visit *v, int64_t mono_ns)
{
	int64_t age = v->until_ns - mono_ns;

	return age > RECENT_NS && age > 4 * interval_of(&v->x->node) &&
	       mono_ns != v->x->node.last_mono_ns;
}

static int chunk_take(struct visit *v, const struct block *b)
{
	struct chunk_reader *c = &v->f->chunk;
	uint32_t rows = 0;
	int rc = chunk_read(c, b->payload, b->length);

	if (rc || c->node != 1 || !c->nrows)
		return rc;
	while (rows < c->nrows && c->mono[rows] <= v->until_ns)
		rows++;
	v->over = !rows;
	rc = events_take(v, rows < c->nrows);
	v->held |= rows < c->nrows;
	if (rc || !rows || c->mono[rows - 1] < v->x->node.mono_ns || is_past(v, c->mono[rows - 1]))
		return rc;
	return chunk_show(v, rows);
}

/* ---- the file ---- */

static int block_take(struct visit *v, const struct block *b)
{
	if (b->version > FORMAT_VERSION)
		return 0;
	if (b->type == BLOCK_EVENTS)
		return events_expand(v, b);
	return b->type == BLOCK_CHUNK ? chunk_take(v, b) : 0;
}

/* The next time begins with the block that was not taken whole, or with its events. */
static int blocks_take(struct visit *v, struct blocks *s)
{
	struct follow_file *x = v->x;
	struct block b;
	int rc = 0;

	s->at = x->at;
	while (!v->over && (rc = blocks_next(s, &b)) > 0) {
		rc = block_take(v, &b);
		if (!v->held && !v->pending) {
			x->node.damages += s->gap > 0;
			x->node.damages += rc == -EBADMSG;
			x->at = s->at;
		}
		if (rc == -ENOMEM)
			return rc;
	}
	rc = rc < 0 && rc != -EBADMSG ? rc : events_take(v, true);
	if (x->moved)
		follow_places(x);
	return rc == -ENOMEM ? rc : 0;
}

static void begin_anew(struct follow_file *x)
{
	const struct follow_file old = *x;

	follow_file_reset(x);
	x->head = old.head;
	x->have_head = old.have_head;
	x->node.made_utc_ns = old.node.made_utc_ns;
	x->node.first_utc_ns = old.node.first_utc_ns;
	x->node.first_mono_ns = old.node.first_mono_ns;
	x->node.last_mono_ns = old.node.last_mono_ns;
}

/* follow_at of one recording. 0 or -ENOMEM. */
static int follow_file_at(struct follow *f, struct follow_file *x, int64_t utc_ns)
{
	struct visit v = { .f = f, .x = x };
	struct blocks s;
	int fd, rc;

	if (!x->node.first_mono_ns || !x->node.last_mono_ns)
		return 0;
	v.until_ns = x->node.first_mono_ns + (utc_ns - x->node.first_utc_ns);
	if (!x->reached_ns || v.until_ns < x->reached_ns)
		begin_anew(x);
	x->reached_ns = v.until_ns;
	fd = openat(f->dir, x->sonde, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	rc = fd < 0 ? -errno : blocks_init(&s, fd);
	if (!rc) {
		rc = blocks_take(&v, &s);
		blocks_free(&s);
	}
	if (fd >= 0)
		close(fd);
	x->node.state = v.until_ns - x->node.last_mono_ns > 2 * interval_of(&x->node) ? FOLLOW_ENDED
										      : FOLLOW_OPEN;
	return rc == -ENOMEM ? rc : 0;
}

/* A directory is listed when its time changed; and now and then, since two changes may share one
 * tick of its file system's clock. */
enum { LIST_EVERY = 16, FILES_STEP = 64, FILES_MAX = 65536 };

static void file_free(struct follow_file *x)
{
	if (!x)
		return;
	follow_file_reset(x);
	rows_free(&x->rows);
	free(x->node.series);
	free(x->node.metas);
	free(x->instance);
	free(x->sonde);
	free(x->tail);
	free(x->path);
	free(x);
}

/* The recording <stem>.sonde. NULL when out of memory. */
static struct follow_file *file_new(const struct follow *f, const char *name, size_t stem)
{
	struct follow_file *x = calloc(1, sizeof *x);
	int made;

	if (!x)
		return NULL;
	made = asprintf(&x->path, "%s%s%s", f->path, f->single ? "" : "/", f->single ? "" : name);
	x->path = made < 0 ? NULL : x->path;
	x->sonde = strdup(name);
	made = asprintf(&x->tail, "%.*s.tail", (int)stem, name);
	x->tail = made < 0 ? NULL : x->tail;
	if (!x->sonde || !x->tail || !x->path || rows_init(&x->rows, COLUMNS_MAX)) {
		file_free(x);
		return NULL;
	}
	x->node.path = x->path;
	x->node.host = x->head.host;
	return x;
}

static int file_add(struct follow *f, const char *name, size_t stem)
{
	struct follow_file **moved, *x;

	if (f->nfiles == FILES_MAX)
		return 0;
	if (f->nfiles == f->cap) {
		moved = realloc(f->file, (f->cap + FILES_STEP) * sizeof(struct follow_file *));
		if (!moved)
			return -ENOMEM;
		f->file = moved;
		f->cap += FILES_STEP;
	}
	x = file_new(f, name, stem);
	if (!x)
		return -ENOMEM;
	x->listed = true;
	f->file[f->nfiles++] = x;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct follow_file *const *x = a, *const *y = b;

	return strcmp((*x)->sonde, (*y)->sonde);
}

static int to_file(const void *name, const void *file)
{
	const struct follow_file *const *x = file;

	return strcmp(name, (*x)->sonde);
}

/* ---- which files ---- */

static int names_read(struct follow *f, DIR *d)
{
	uint32_t known = f->nfiles;
	struct dirent *entry;
	int rc = 0;

	while (!rc && (entry = readdir(d))) {
		const char *name = entry->d_name, *dot = strrchr(name, '.');
		struct follow_file **x;

		if (strncmp(name, "node-", 5) || !dot || strcmp(dot, ".sonde"))
			continue;
		x = known ? bsearch(name, f->file, known, sizeof(struct follow_file *), to_file)
			  : NULL;
		if (x)
			(*x)->listed = true;
		else
			rc = file_add(f, name, (size_t)(dot - name));
	}
	return rc;
}

/* Those that are still there, in order of their names. */
static void files_keep(struct follow *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nfiles; i++) {
		if (f->file[i]->listed)
			f->file[n++] = f->file[i];
		else
			file_free(f->file[i]);
	}
	f->nfiles = n;
	if (n)
		qsort(f->file, n, sizeof(struct follow_file *), by_name);
}

static int directory_list(struct follow *f)
{
	int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	for (uint32_t i = 0; i < f->nfiles; i++)
		f->file[i]->listed = false;
	rc = names_read(f, d);
	closedir(d);
	for (uint32_t i = 0; rc && i < f->nfiles; i++)
		f->file[i]->listed = true; /* not all names were seen */
	files_keep(f);
	return rc;
}

/* The directory may have been removed, and one of its name made. */
static int directory_open(struct follow *f)
{
	struct stat now, held;

	if (stat(f->path, &now) < 0)
		return -errno;
	if (f->dir >= 0 && !fstat(f->dir, &held) && held.st_ino == now.st_ino &&
	    held.st_dev == now.st_dev) {
		if (f->polls++ % LIST_EVERY && !memcmp(&f->listed, &now.st_mtim, sizeof f->listed))
			return 0;
	} else {
		if (f->dir >= 0)
			close(f->dir);
		f->dir = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (f->dir < 0)
			return -errno;
		f->polls = 1;
	}
	f->listed = now.st_mtim;
	return directory_list(f);
}

/* ---- the calls ---- */

/* One recording: its directory is opened once. */
static int single_open(struct follow *f)
{
	const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
	size_t n = strlen(name), end = strlen(".sonde");
	char *dir;

	if (n > end && !strcmp(name + n - end, ".sonde"))
		n -= end;
	dir = strndup(f->path, (size_t)(name - f->path));
	if (!dir)
		return -ENOMEM;
	f->dir = open(*dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	return f->dir < 0 ? -errno : file_add(f, name, n);
}

int follow_open(struct follow **out, const char *path, struct err *e)
{
	struct follow *f = calloc(1, sizeof *f);
	struct stat st;
	int rc = f ? 0 : -ENOMEM;

	*out = NULL;
	if (f)
		f->dir = -1;
	if (!rc && stat(path, &st) < 0)
		rc = -errno;
	if (!rc && chunk_reader_init(&f->chunk))
		rc = -ENOMEM;
	if (!rc && !(f->path = strdup(path)))
		rc = -ENOMEM;
	if (!rc && !S_ISDIR(st.st_mode)) {
		f->single = true;
		rc = single_open(f);
	}
	if (rc) {
		follow_close(f);
		return err_set(e, rc, "cannot follow %.300s: %s", path, strerror(-rc));
	}
	*out = f;
	return 0;
}

int follow_poll(struct follow *f, struct err *e)
{
	int rc = f->single ? 0 : directory_open(f);

	for (uint32_t i = 0; !rc && i < f->nfiles; i++)
		rc = follow_file_poll(f, f->file[i]);
	return rc ? err_set(e, rc, "cannot follow %.300s: %s", f->path, strerror(-rc)) : 0;
}

int follow_at(struct follow *f, int64_t utc_ns, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < f->nfiles; i++)
		rc = follow_file_at(f, f->file[i], utc_ns);
	return rc ? err_set(e, rc, "cannot replay %.300s: %s", f->path, strerror(-rc)) : 0;
}

void follow_close(struct follow *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->nfiles; i++)
		file_free(f->file[i]);
	free(f->file);
	if (f->dir >= 0)
		close(f->dir);
	chunk_reader_free(&f->chunk);
	bytes_free(&f->data);
	bytes_free(&f->events);
	pool_free(&f->record);
	pool_free(&f->catalogue.pool);
	free(f->catalogue.metric);
	idmap_free(&f->catalogue.names);
	free(f->path);
	free(f);
}

uint32_t follow_count(const struct follow *f)
{
	return f->nfiles;
}

const struct follow_node *follow_node(const struct follow *f, uint32_t i)
{
	return &f->file[i]->node;
}
