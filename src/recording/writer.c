/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/writer.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/reserve.h"
#include "recording/block.h"
#include "recording/format.h"
#include "recording/record.h"
#include "recording/seal.h"
#include "recording/tail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	NODE = 1, /* a recorder's own */
	CHUNK_ROWS = 300,
	WRITER_VALUES_MAX = 512 << 10, /* rows x columns of a chunk: bounds the memory of sealing */
	DECLARED_MAX = 512,            /* sets that are remembered; others are declared each time */
	OUT_MAX = 16 << 20,
	OUT_LEAST = 2 << 20,
	NONE_OPEN = -1,
	END_ROOM = 8 << 10, /* for what the last sample says */
	LET_GO_S = 10,      /* to map the code again takes as long as a few samples */
};

struct declared {
	const struct metric *first;
	uint32_t count, id;
};

struct writer {
	struct writer_files files;
	struct rows rows; /* places are the sample's slots */
	struct sealer sealer;
	struct bytes image; /* what stands in the tail's slot */
	struct bytes row;   /* scratch: a row, with room for the largest */
	struct bytes out;   /* blocks on their way to the file */
	uint8_t *spans;     /* scratch of SPANS_RAW_MAX, or NULL */
	ssize_t commit;     /* where the open commit starts in image */
	size_t written;     /* bytes of image that are in the file */
	bool full, ending;  /* files may not grow any more; this is the last sample */
	bool closing;       /* no generation follows */
	bool ended;         /* what is closed is left: see writer_end */
	uint32_t generation, sequence;
	uint32_t nrows, ncolumns;         /* of this generation */
	uint32_t columns_max, values_max; /* of any */
	uint64_t rows_sealed;
	int64_t last_mono_ns, last_sync_ns, let_go_ns;
	struct writer_options options;
	struct declared declared[DECLARED_MAX];
	uint32_t ndeclared, next_metric;
	struct writer_figures figures;
};

static void writer_free(struct writer *w)
{
	files_close(&w->files);
	rows_free(&w->rows);
	sealer_free(&w->sealer);
	reserve_bytes_free(&w->image);
	reserve_bytes_free(&w->row);
	reserve_bytes_free(&w->out);
	reserve_free(w->spans, SPANS_RAW_MAX);
	free(w);
}

static int memory_take(struct writer *w)
{
	uint32_t parts = reserve_parts(), out_max = OUT_MAX / parts;

	w->columns_max = COLUMNS_MAX / parts;
	w->values_max = WRITER_VALUES_MAX / parts;
	if (rows_init(&w->rows, w->columns_max) ||
	    sealer_init(&w->sealer, w->files.slot, w->columns_max, w->values_max) ||
	    reserve_bytes(&w->image, w->files.slot) ||
	    reserve_bytes(&w->row, rows_size_max(w->columns_max)) ||
	    reserve_bytes(&w->out, out_max > OUT_LEAST ? out_max : OUT_LEAST))
		return -ENOMEM;
	return 0;
}

/* The heads of both files. */
static int heads_write(struct writer *w, const char *host)
{
	struct head h = { .utc_ns = clock_utc_ns(),
			  .mono_ns = clock_mono_ns(),
			  .program = SONDE_VERSION,
			  .draft = FORMAT_DRAFT };
	size_t start;
	int rc;

	if (!entropy_fill(h.id, sizeof h.id))
		return -EIO;
	snprintf(h.host, sizeof h.host, "%s", host);
	h.slot = w->files.slot;
	start = block_start(&w->out, BLOCK_TAIL, 0);
	head_put(&w->out, &h);
	block_finish(&w->out, start);
	rc = files_tail(&w->files, 0, w->out.data, w->out.len);
	if (rc)
		return rc;
	h.slot = 0;
	bytes_reset(&w->out);
	start = block_start(&w->out, BLOCK_HEAD, w->sequence++);
	head_put(&w->out, &h);
	block_finish(&w->out, start);
	return files_append(&w->files, &w->out);
}

int writer_open(struct writer **out, int dirfd, const char *host, const struct writer_options *o,
		struct err *e)
{
	struct writer *w = calloc(1, sizeof *w);
	int rc;

	*out = NULL;
	rc = w ? files_init(&w->files, e) : 0;
	if (!w || rc || memory_take(w)) {
		if (w)
			writer_free(w);
		return rc ? rc : err_set(e, -ENOMEM, "not enough memory to record");
	}
	w->commit = NONE_OPEN;
	w->generation = w->next_metric = 1;
	w->options = o ? *o : (struct writer_options){ .sync_ns = 10 * NS_PER_S };
	if (!w->options.chunk_rows || w->options.chunk_rows > ROWS_MAX)
		w->options.chunk_rows = CHUNK_ROWS;
	rc = files_make(&w->files, dirfd, host, e);
	if (!rc) {
		rc = heads_write(w, host);
		if (rc)
			files_error(&w->files, rc, e);
	}
	if (rc)
		writer_free(w);
	else
		*out = w;
	return rc;
}

/* ---- commits ---- */

static void commit_open(struct writer *w)
{
	bool first = !w->image.len;

	if (w->commit != NONE_OPEN)
		return;
	w->commit = (ssize_t)commit_start(&w->image);
	bytes_u8(&w->image, first ? COMMIT_LIST : 0);
	if (first)
		rows_list_put(&w->image, &w->rows);
}

/* With the row in w->row when asked. */
static void commit_close(struct writer *w, bool row)
{
	if (w->commit == NONE_OPEN)
		return;
	bytes_u8(&w->image, 0);
	if (row) {
		bytes_put(&w->image, w->row.data, w->row.len);
		w->image.data[w->commit + COMMIT_HEADER] |= COMMIT_ROW;
	}
	commit_finish(&w->image, (size_t)w->commit, w->generation);
	w->commit = NONE_OPEN;
}

/* ---- sealing ---- */

/* Where files may not grow large, what the last sample says of the job needs room, too. */
static bool has_room(const struct writer *w)
{
	uint64_t kept = w->ending ? 0 : w->files.slot + END_ROOM;

	return w->files.end + w->out.len + kept <= w->files.most;
}

/* The first sealing is that of the end: there is little to seal, and what was let go of would be
 * mapped again at once, while the command waits. */
static bool ends_short(const struct writer *w)
{
	return w->ending && !w->let_go_ns;
}

/* Sealing takes the most memory, and none of the code that sampling does; sampling does not need
 * that memory. So one makes room for the other. */
static int seal_in_turn(struct writer *w, const struct image *image, uint32_t *sequence)
{
	bool let_go = w->last_mono_ns - w->let_go_ns >= LET_GO_S * NS_PER_S && !ends_short(w);
	int rc;

	if (let_go)
		code_let_go();
	bytes_reset(&w->out);
	rc = seal(&w->sealer, image, SEAL_CODE | SEAL_EVENTS | SEAL_CHUNK, sequence, &w->out);
	w->full = !rc && !has_room(w);
	if (w->full)
		rc = -EFBIG;
	if (!rc)
		rc = files_append(&w->files, &w->out);
	if (!let_go)
		return rc;
	sealer_let_go(&w->sealer);
	reserve_let_go(w->out.data, w->out.len);
	w->let_go_ns = w->last_mono_ns;
	return rc;
}

/* Append the generation's blocks and start the next one in the other slot. */
static int generation_seal(struct writer *w)
{
	struct image image = { w->image.data, w->image.len, NODE, w->generation };
	uint32_t sequence = w->sequence;
	int rc = 0;

	if (!w->image.len)
		return 0;
	if (w->full && !w->ending)
		return -EFBIG;
	/* The next generation overwrites the slot of the one before this, whose blocks must be
	 * safe. */
	if (w->options.sync_ns && !w->closing && w->generation > 1)
		rc = files_sync(&w->files, false);
	if (rc)
		return rc;
	rc = seal_in_turn(w, &image, &sequence);
	if (rc)
		return rc;
	w->figures.blocks += sequence - w->sequence;
	w->sequence = sequence;
	w->generation++;
	w->rows_sealed += w->nrows;
	w->image.len = w->written = 0;
	w->nrows = 0;
	w->ncolumns = w->rows.n;
	rows_restart(&w->rows);
	return 0;
}

/* In place of what could be written of a commit; before the slots, of the generation that began. */
static void tail_mark(struct writer *w, uint64_t at)
{
	uint8_t room[COMMIT_HEADER];
	struct bytes mark = { .data = room, .cap = sizeof room, .fixed = true };

	commit_end(&mark, w->generation);
	(void)files_tail(&w->files, at, mark.data, mark.len);
}

/* With the mark of its end, which the next commit overwrites. */
static int tail_flush(struct writer *w)
{
	uint64_t at = tail_slot_at(w->files.slot, w->generation) + w->written;
	size_t end = w->image.len;
	int rc;

	commit_end(&w->image, w->generation);
	rc = files_tail(&w->files, at, w->image.data + w->written, w->image.len - w->written);
	w->image.len = end;
	if (!rc && !w->written)
		tail_mark(w, TAIL_BEGUN_AT);
	if (!rc)
		w->written = w->image.len;
	else if (w->written)
		tail_mark(w, at);
	return rc;
}

/* ---- events ---- */

/* Id of a metric that was declared with the count - 1 behind it; 0 when it was not. */
static uint32_t metric_id(const struct writer *w, const struct metric *m, uint32_t count)
{
	for (uint32_t i = 0; i < w->ndeclared; i++) {
		const struct declared *d = &w->declared[i];

		if (m >= d->first && m + count <= d->first + d->count)
			return d->id + (uint32_t)(m - d->first);
	}
	return 0;
}

static void declare(struct writer *w, const struct event *e)
{
	const struct event catalogue = {
		.kind = EVENT_CATALOGUE, .node = NODE, .count = e->count, .metric = e->metric
	};

	record_put(&w->image, &catalogue, w->next_metric);
	if (w->image.failed)
		return;
	if (w->ndeclared < DECLARED_MAX)
		w->declared[w->ndeclared++] =
			(struct declared){ e->metric, e->count, w->next_metric };
	w->next_metric += e->count;
}

static void event_put(struct writer *w, const struct event *e)
{
	uint32_t id = e->metric ? metric_id(w, e->metric, e->count) : 0;

	if (e->metric && !id) {
		id = w->next_metric;
		declare(w, e);
	}
	if (e->kind != EVENT_CATALOGUE)
		record_put(&w->image, e, id);
}

/* Whether a chunk may have so many columns when it has one more row. */
static bool columns_fit(const struct writer *w, uint32_t more)
{
	uint64_t columns = (uint64_t)w->ncolumns + more;

	return columns <= w->columns_max && columns * (w->nrows + 1) <= w->values_max;
}

enum fit { FIT_NO = 0, FIT_YES, FIT_NEVER };

/* Put the event into the open commit, or leave everything as it was. */
static enum fit event_fit(struct writer *w, const struct event *e)
{
	bool fresh = w->commit == NONE_OPEN;
	struct declared *known = &w->declared[w->ndeclared];
	uint32_t next_metric = w->next_metric;
	size_t mark = w->image.len;
	uint32_t more = e->kind == EVENT_SERIES ? e->count : 0;

	if (more && !columns_fit(w, more))
		return w->image.len ? FIT_NO : FIT_NEVER;
	commit_open(w);
	event_put(w, e);
	if (w->image.failed || w->image.len == w->image.cap) {
		w->image.failed = false;
		w->image.len = mark;
		w->ndeclared = (uint32_t)(known - w->declared);
		w->next_metric = next_metric;
		if (fresh)
			w->commit = NONE_OPEN;
		return mark ? FIT_NO : FIT_NEVER;
	}
	if (more)
		rows_open(&w->rows, e->id, e->count, record_real_mask(e), (uint32_t)e->value);
	if (e->kind == EVENT_SERIES_END)
		rows_close(&w->rows, e->id, e->count);
	w->ncolumns += more;
	return FIT_YES;
}

/* Record the events in order. What cannot be recorded now stays in the sample; what never can be,
 * since the file may not grow, is dropped. */
static int events_write(struct writer *w, struct sample *s)
{
	uint32_t done = 0;
	int rc = 0, full = 0;

	while (done < s->nevents && !rc) {
		enum fit fit = event_fit(w, &s->event[done]);

		if (fit == FIT_NO) {
			commit_close(w, false);
			rc = generation_seal(w);
			if (!w->full)
				continue;
			full = rc;
			rc = 0;
		}
		w->figures.dropped += fit != FIT_YES;
		done++;
	}
	if (done == s->nevents) {
		sample_clear_events(s);
	} else {
		s->nevents -= done;
		memmove(s->event, s->event + done, s->nevents * sizeof *s->event);
	}
	return rc ? rc : full;
}

/* ---- rows ---- */

static bool row_fit(struct writer *w, const struct sample *s, const struct row_times *now)
{
	size_t mark = w->image.len;
	bool fresh = w->commit == NONE_OPEN;

	if (w->nrows == ROWS_MAX || !columns_fit(w, 0))
		return false;
	commit_open(w);
	/* One byte ends the list of records in front of it. */
	if (w->image.failed || w->image.len == w->image.cap ||
	    !rows_fit(&w->rows, now, s->value, s->state, w->image.cap - w->image.len - 1)) {
		w->image.failed = false;
		w->image.len = mark;
		if (fresh)
			w->commit = NONE_OPEN;
		return false;
	}
	bytes_reset(&w->row);
	rows_put(&w->row, &w->rows, now, s->value, s->state);
	commit_close(w, true);
	w->last_mono_ns = s->mono_ns;
	w->nrows++;
	return true;
}

static int row_write(struct writer *w, const struct sample *s)
{
	struct row_times now = row_times_at(&w->rows.times, s->utc_ns, s->mono_ns);
	int rc;

	if (s->mono_ns < w->last_mono_ns || s->mono_ns < 0 || s->mono_ns > MONO_MAX ||
	    s->utc_ns < 0 || s->utc_ns > UTC_MAX) {
		w->figures.dropped++;
		return 0;
	}
	if (row_fit(w, s, &now))
		return 0;
	commit_close(w, false);
	rc = generation_seal(w);
	now = row_times_at(&w->rows.times, s->utc_ns, s->mono_ns);
	if (rc || !row_fit(w, s, &now))
		w->figures.dropped++;
	return rc;
}

/* ---- the calls ---- */

/* Due at the sample that is nearest to the time; gap_ns ago was the one before. */
static int sync_if_due(struct writer *w, int64_t mono_ns, int64_t gap_ns)
{
	if (!w->last_sync_ns)
		w->last_sync_ns = mono_ns;
	if (!w->options.sync_ns || mono_ns - w->last_sync_ns < w->options.sync_ns - gap_ns / 2)
		return 0;
	w->last_sync_ns = mono_ns;
	return files_sync(&w->files, true);
}

/* Sealing waits until the blocks before are on the disk. Seen to half way, that and sealing itself
 * do not delay the same sample. */
static int sync_ahead(struct writer *w)
{
	if (!w->options.sync_ns || w->nrows != w->options.chunk_rows / 2)
		return 0;
	return files_sync(&w->files, false);
}

int writer_sample(struct writer *w, struct sample *s, struct err *e)
{
	int64_t gap_ns = w->last_mono_ns ? s->mono_ns - w->last_mono_ns : 0;
	int rc, failed;

	w->ending = s->last;
	rc = events_write(w, s);
	w->figures.samples++;
	if (rc)
		w->figures.dropped++;
	else
		rc = row_write(w, s);
	commit_close(w, false);
	if (w->written < w->image.len) {
		failed = tail_flush(w);
		rc = rc ? rc : failed;
	}
	if (!rc && w->nrows >= w->options.chunk_rows)
		rc = generation_seal(w);
	failed = sync_ahead(w);
	rc = rc ? rc : failed;
	failed = sync_if_due(w, s->mono_ns, gap_ns);
	rc = rc ? rc : failed;
	return rc ? files_error(&w->files, rc, e) : 0;
}

int writer_spans(struct writer *w, const struct spans *s, struct err *e)
{
	size_t start;
	int rc;

	if (!w->spans)
		w->spans = reserve(SPANS_RAW_MAX);
	if (!w->spans)
		return err_set(e, -ENOMEM, "not enough memory to record spans");
	bytes_reset(&w->out);
	start = block_start(&w->out, BLOCK_SPANS, w->sequence);
	spans_put(&w->out, &w->sealer.compressor, w->spans, NODE, s);
	block_finish(&w->out, start);
	rc = w->out.failed ? -ENOBUFS : files_append(&w->files, &w->out);
	if (rc)
		return files_error(&w->files, rc, e);
	w->sequence++;
	w->figures.blocks++;
	return 0;
}

int writer_events(struct writer *w, struct sample *s, struct err *e)
{
	int rc = events_write(w, s);

	if (rc)
		w->figures.dropped++;
	commit_close(w, false);
	if (!rc && w->written < w->image.len)
		rc = tail_flush(w);
	return rc ? files_error(&w->files, rc, e) : 0;
}

static int end_write(struct writer *w)
{
	size_t start;

	bytes_reset(&w->out);
	start = block_start(&w->out, BLOCK_END, w->sequence);
	bytes_u8(&w->out, 1);
	bytes_varint(&w->out, w->generation - 1);
	bytes_varint(&w->out, w->rows_sealed);
	block_finish(&w->out, start);
	return files_append(&w->files, &w->out);
}

static int settle(struct writer *w)
{
	int rc = w->options.sync_ns ? files_sync(&w->files, false) : 0;

	if (!rc && ftruncate(w->files.tail, 0) < 0)
		rc = -errno; /* all of it is in the blocks now */
	return rc;
}

int writer_seal(struct writer *w, struct err *e)
{
	int rc = generation_seal(w);

	return rc ? files_error(&w->files, rc, e) : 0;
}

int writer_end(struct writer *w, struct err *e)
{
	int rc;

	w->closing = true;
	rc = generation_seal(w);
	if (!rc)
		rc = end_write(w);
	w->ended = !rc;
	return rc ? files_error(&w->files, rc, e) : 0;
}

int writer_close(struct writer *w, struct err *e)
{
	int rc = w->ended ? 0 : writer_end(w, e), unsettled;

	unsettled = rc ? 0 : settle(w);
	if (unsettled)
		rc = files_error(&w->files, unsettled, e);
	writer_free(w);
	return rc;
}

void writer_abandon(struct writer *w)
{
	writer_free(w);
}

void writer_figures(const struct writer *w, struct writer_figures *out)
{
	*out = w->figures;
	out->bytes = w->files.bytes;
	out->syncs = w->files.syncs;
	out->name = w->files.name;
}
