/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/join.h"
#include "base/hash.h"
#include "recording/format.h"
#include "recording/join_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void join_damage(struct join *j, const char *file, uint64_t offset, uint64_t length,
		 const char *what)
{
	struct run *r = &j->run;
	struct run_damage *moved =
		array_room(r->damages, r->ndamages, &j->cap.damages, sizeof *moved);

	if (!moved)
		return; /* those before it say enough */
	r->damages = moved;
	r->damages[r->ndamages++] = (struct run_damage){ file, offset, length, what };
}

/* ---- what is in them ---- */

static int visit_head(void *ctx, const struct head *h)
{
	struct join *j = ctx;

	j->file->head = *h;
	return join_node(j, 1) ? 0 : -ENOMEM;
}

static int visit_event(void *ctx, const struct record *r)
{
	struct join *j = ctx;
	int rc = join_event(j, r);

	pool_empty(&j->record);
	return rc;
}

static void visit_damage(void *ctx, bool in_tail, uint64_t offset, uint64_t length,
			 const char *what)
{
	struct join *j = ctx;

	join_damage(j, in_tail ? j->file->tail_path : j->file->path, offset, length, what);
}

static int visit_chunk(void *ctx, const struct file_chunk *c)
{
	struct join *j = ctx;
	uint32_t node = join_node(j, c->node);
	struct join_chunk *moved = array_room(j->chunks, j->nchunks, &j->cap.chunks, sizeof *moved);
	struct run_node *n;

	if (!node || !moved) {
		j->chunks = moved ? moved : j->chunks;
		return -ENOMEM;
	}
	j->chunks = moved;
	j->file->spoken = true;
	n = &j->run.nodes[node];
	if (n->rows && c->first_mono_ns < n->last_ns) {
		join_damage(j, j->file->path, c->offset, 0,
			    "rows that are older than those before them");
		return 0;
	}
	if (!n->rows) {
		n->first_ns = c->first_mono_ns;
		if (!n->clock_known) {
			n->utc0_ns = c->first_utc_ns;
			n->mono0_ns = c->first_mono_ns;
		}
	}
	n->rows += c->nrows;
	n->last_ns = c->last_mono_ns;
	j->chunks[j->nchunks++] = (struct join_chunk){ .offset = c->offset,
						       .memory = c->memory,
						       .length = c->length,
						       .file = (uint32_t)(j->file - j->files),
						       .node = node,
						       .values = c->nrows * c->ncolumns };
	return 0;
}

/* After its events. What is sealed from the tail comes behind all that is in the file. */
static int visit_block(void *ctx, const struct block *b)
{
	struct join *j = ctx;

	return join_sampled_block(j, b, j->found->sealed.len > 0);
}

static int visit_spans(void *ctx, const struct block *b)
{
	return join_pack(ctx, b);
}

/* Which Sonde wrote it, as far as it says so. */
static const char *writer_of(const struct join *j, const struct join_file *f)
{
	const char *said = run_find_text(&j->run, idmap_get(&f->nodes, 1), "sonde.version");

	return *f->head.program ? f->head.program : said ? said : "of an unknown version";
}

/* It was written by another Sonde, which means something else by what it wrote. */
static const char *version_say(struct join *j, const struct join_file *f,
			       const struct file_found *found)
{
	const char *said;
	char text[256], draft[32] = "an earlier draft";

	if (found->future) {
		snprintf(
			text, sizeof text,
			"was written by a later version of Sonde, in version %u of the format; this one, "
			"Sonde " SONDE_VERSION ", reads version %d: update it",
			found->version, FORMAT_VERSION);
	} else {
		if (f->head.draft)
			snprintf(draft, sizeof draft, "draft %u", f->head.draft);
		snprintf(
			text, sizeof text,
			"was written by Sonde %s in %s of version 0 of the format; this one, Sonde " SONDE_VERSION
			", reads version %d: read it with the Sonde that wrote it",
			writer_of(j, f), draft, FORMAT_VERSION);
	}
	said = pool_text(&j->pool, text, strlen(text));
	return said ? said : "was written by another version of Sonde";
}

static int recording_read(struct join *j, struct join_file *f, struct file_scan *scan)
{
	const struct file_visitor v = { .ctx = j,
					.head = visit_head,
					.event = visit_event,
					.chunk = visit_chunk,
					.spans = visit_spans,
					.damage = visit_damage,
					.pool = &j->record,
					.reader = &j->load.read,
					.scan = scan,
					.block = visit_block };
	uint32_t first_node = j->run.nnodes, first_pack = j->run.npacks;
	struct file_found found;
	int rc;

	j->file = f;
	idmap_free(&j->metrics_before);
	j->metrics_before = j->file_metrics;
	j->file_metrics = (struct idmap){ 0 };
	idmap_free(&j->file_instances);
	idmap_free(&j->file_words);
	join_stacks_begin(j);
	j->nbegun = 0;
	j->found = &found;
	rc = file_read(j->dir, f->sonde, f->tail, &v, &found);
	f->sealed = found.sealed;
	join_pack_tracks(j, first_pack);
	if (join_stacks_end(j))
		return -ENOMEM;
	if (rc == -EPROTO || found.future)
		f->version = version_say(j, f, &found);
	if (rc)
		return rc;
	if (found.future)
		join_damage(j, f->path, 0, 0, f->version);
	for (uint32_t i = first_node; i < j->run.nnodes; i++)
		j->run.nodes[i].complete = found.closed;
	return 0;
}

static int refuse(int rc, const struct join_file *f, struct err *e)
{
	switch (rc) {
	case -EPROTO:
		return err_set(e, rc, "%.300s %s", f->path, f->version);
	case -ENODATA:
	case -EINVAL:
		return err_set(e, -ENODATA,
			       "%.300s is not a recording, or nothing in it can be read", f->path);
	case -ENOMEM:
		return err_set(e, rc, "not enough memory to read %.300s", f->path);
	default:
		return err_set(e, rc, "cannot read %.300s: %s", f->path, strerror(-rc));
	}
}

static int recordings_read(struct join *j, struct err *e)
{
	struct scanner *scanner = scanner_start(j);
	int first = 0;
	uint32_t good = 0;

	for (uint32_t i = 0; i < j->nfiles; i++) {
		struct join_file *f = &j->files[i];
		int rc;

		join_progress(j, i);
		rc = recording_read(j, f, scanner_next(scanner));
		scanner_done(scanner);
		if (rc == -ENOMEM) {
			first = refuse(rc, f, e);
			good = 0;
			break;
		}
		if (rc && j->nfiles > 1)
			join_damage(j, f->path, 0, 0,
				    rc == -EPROTO ? f->version : "nothing in it can be read");
		if (rc && !first)
			first = refuse(rc, f, e);
		good += !rc;
	}
	scanner_stop(scanner);
	join_progress(j, j->nfiles);
	return good ? 0 : first;
}

/* Second 0 of the run: the earliest row; without rows, when the first recording was made. */
static void zero_set(struct run *r)
{
	int64_t rows = INT64_MAX, heads = INT64_MAX;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];
		int64_t utc = run_utc_ns(r, i, n->first_ns);

		if (n->rows && utc < rows)
			rows = utc;
		if (n->utc0_ns < heads)
			heads = n->utc0_ns;
	}
	r->t0_utc_ns = rows != INT64_MAX ? rows : heads != INT64_MAX ? heads : 0;
}

/* Index 0 of every array stands for none. */
static int none_set(struct join *j)
{
	struct run *r = &j->run;

	r->nodes = calloc(1, sizeof *r->nodes);
	r->metrics = calloc(1, sizeof *r->metrics);
	r->instances = calloc(1, sizeof *r->instances);
	r->series = calloc(1, sizeof *r->series);
	r->refusals = calloc(1, sizeof *r->refusals);
	r->marks = calloc(1, sizeof *r->marks);
	r->spans = calloc(1, sizeof *r->spans);
	r->metas = calloc(1, sizeof *r->metas);
	if (!r->nodes || !r->metrics || !r->instances || !r->series || !r->refusals || !r->marks ||
	    !r->spans || !r->metas)
		return -ENOMEM;
	j->cap.nodes = j->cap.metrics = j->cap.instances = j->cap.series = 1;
	j->cap.refusals = j->cap.marks = j->cap.spans = j->cap.metas = 1;
	r->nnodes = r->nmetrics = r->ninstances = r->nseries = r->nrefusals = r->nmarks =
		r->nspans = r->nmetas = 1;
	r->nodes[0].host = r->nodes[0].file = "";
	r->metrics[0].row = (struct metric){ .name = "", .label = "", .help = "" };
	r->instances[0].domain = r->instances[0].name = "";
	r->marks[0].name = r->marks[0].message = "";
	r->spans[0].name = r->spans[0].detail = "";
	r->metas[0].key = r->metas[0].text = "";
	return join_stacks_init(j);
}

static int open_path(struct join *j, const char *path, const struct join_attempts *a, struct err *e)
{
	struct stat st;
	int rc;

	if (stat(path, &st) < 0)
		return err_set(e, -errno, "cannot open %.300s: %s", path, strerror(errno));
	j->run.path = pool_text(&j->pool, path, strlen(path));
	if (!j->run.path || none_set(j) || chunk_reader_init(&j->load.read))
		return err_set(e, -ENOMEM, "not enough memory to read %.300s", path);
	rc = join_list(j, S_ISDIR(st.st_mode), e);
	if (!rc && a->nkeep)
		join_attempts_leave(j, a);
	if (!rc)
		rc = recordings_read(j, e);
	if (!rc &&
	    (join_attempts_report(j, a) || join_sort(j) || run_index_keys(&j->metas_of, &j->run)))
		rc = err_set(e, -ENOMEM, "not enough memory to read %.300s", path);
	if (!rc)
		join_cut_spans(j);
	return rc;
}

int run_open(struct run **r, const char *path, struct err *e)
{
	return run_open_showing(r, path, &(struct run_progress){ 0 }, e);
}

static int join_open(struct join **out, const char *path, const struct join_attempts *a,
		     const struct run_progress *t, struct err *e)
{
	struct join *j = calloc(1, sizeof *j);
	int rc;

	*out = NULL;
	if (!j)
		return err_set(e, -ENOMEM, "not enough memory to read %.300s", path);
	j->dir = j->open.fd = -1;
	j->telling = *t;
	rc = open_path(j, path, a, e);
	if (rc)
		run_close(&j->run);
	else
		*out = j;
	return rc;
}

/* Of a job that began again, the recordings of its last attempt. */
static int join_open_last(struct join **out, const char *path, const struct run_progress *t,
			  struct err *e)
{
	struct join_attempts a = { 0 };
	int rc = join_open(out, path, &a, t, e), several;

	if (rc)
		return rc;
	several = join_attempts_find(&a, &(*out)->run);
	if (several) {
		run_close(&(*out)->run);
		*out = NULL;
		rc = several < 0 ? err_set(e, several, "not enough memory to read %.300s", path)
				 : join_open(out, path, &a, t, e);
	}
	join_attempts_free(&a);
	return rc;
}

int run_open_showing(struct run **r, const char *path, const struct run_progress *t, struct err *e)
{
	struct join *j;
	int rc = join_open_last(&j, path, t, e);

	*r = NULL;
	if (rc || !j)
		return rc;
	idmap_free(&j->file_metrics);
	idmap_free(&j->metrics_before);
	idmap_free(&j->file_instances);
	idmap_free(&j->file_words);
	zero_set(&j->run);
	j->run.metas_of = &j->metas_of;
	j->run.reader = j;
	j->run.rewind = join_rewind;
	j->run.rewind_nodes = join_rewind_nodes;
	j->to_node = UINT32_MAX;
	j->run.next_chunk = join_next_chunk;
	j->run.next_ranges = join_next_ranges;
	j->run.values = join_values;
	j->run.read_ahead = ahead_start;
	j->run.unpack = join_unpack;
	j->run.rewind_samples = join_rewind_samples;
	j->run.next_samples = join_next_samples;
	*r = &j->run;
	return 0;
}

void run_close(struct run *r)
{
	struct join *j = (struct join *)r;

	if (!j)
		return;
	join_cursor_free(j);
	join_stacks_free(j);
	for (uint32_t i = 0; i < j->nfiles; i++) {
		idmap_free(&j->files[i].nodes);
		idmap_free(&j->files[i].stacks);
		idmap_free(&j->files[i].instances);
		free(j->files[i].spans);
		bytes_free(&j->files[i].sealed);
	}
	free(j->files);
	free(j->chunks);
	free(j->packs);
	free(j->unpacked);
	bytes_free(&j->held);
	free(r->packs);
	free(j->labels);
	free(j->finals);
	free(j->words);
	idmap_free(&j->metric_names);
	idmap_free(&j->file_metrics);
	idmap_free(&j->metrics_before);
	idmap_free(&j->file_instances);
	idmap_free(&j->file_words);
	free(r->nodes);
	free(r->metrics);
	free(r->instances);
	free(r->series);
	free(r->refusals);
	free(r->labels);
	free(r->finals);
	free(r->marks);
	free(r->spans);
	free(r->points);
	free(r->metas);
	run_index_free(&j->metas_of);
	free(r->damages);
	if (j->dir >= 0)
		close(j->dir);
	free(j->texts.text);
	pool_free(&j->record);
	pool_free(&j->pool);
	free(j);
}

/*
 * Each text of a run once: the nodes of a job say much the same.
 */

static const char **find(const struct join_texts *t, const char *text)
{
	uint32_t i = (uint32_t)hash_text(0, text) & (t->cap - 1);

	while (t->text[i] && strcmp(t->text[i], text) != 0)
		i = (i + 1) & (t->cap - 1);
	return &t->text[i];
}

static bool grow(struct join_texts *t)
{
	struct join_texts bigger = { .n = t->n, .cap = t->cap ? t->cap * 2 : 256 };

	bigger.text = bigger.cap ? calloc(bigger.cap, sizeof *bigger.text) : NULL;
	if (!bigger.text)
		return false;
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->text[i])
			*find(&bigger, t->text[i]) = t->text[i];
	free(t->text);
	*t = bigger;
	return true;
}

const char *join_text(struct join *j, const char *text)
{
	struct join_texts *t = &j->texts;
	const char **at;

	if (t->n >= t->cap / 2 && !grow(t))
		return NULL;
	at = find(t, text);
	if (!*at) {
		*at = pool_text(&j->pool, text, strlen(text));
		t->n += *at != NULL;
	}
	return *at;
}
