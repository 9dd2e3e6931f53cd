/* SPDX-License-Identifier: Apache-2.0 */
#include "import/timeline.h"

#include "base/clock.h"
#include "base/hash.h"
#include "recording/format.h"
#include "recording/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BATCH = 65536,
	SLOTS = 2 * BATCH,     /* of names; a power of two */
	NAMES_BYTES = 8 << 20, /* of a batch */
	EVENTS_MAX = 4096,
	EVENTS_FLUSH = 1024,
};

struct batch_span {
	int64_t begin_ns, end_ns;
	uint32_t track, name;
};

struct batch_point {
	int64_t at_ns;
	double value;
	uint32_t counter, order;
};

struct timeline_batch {
	struct batch_span span[BATCH];
	struct batch_point point[BATCH];
	uint32_t nspans, npoints, nnames;
	size_t name_bytes;
	struct pool text;
	const char *name[BATCH + 1]; /* from 1 */
	uint32_t slot[SLOTS];
	/* What a block takes. */
	int64_t begin_ns[SPANS_MAX], end_ns[SPANS_MAX];
	uint16_t which[SPANS_MAX];
	const char *names[SPAN_NAMES_MAX];
	uint32_t number[BATCH + 1]; /* of a name in names[], plus 1 */
};

/* ---- events ---- */

static int flush_events(struct timeline *t)
{
	return t->sample.nevents ? writer_events(t->w, &t->sample, t->e) : 0;
}

/* Room for what one call says. */
static int events_room(struct timeline *t)
{
	const struct sample *s = &t->sample;

	return s->nevents > EVENTS_FLUSH || s->text_len > s->text_cap / 2 ? flush_events(t) : 0;
}

static void reaches(struct timeline *t, int64_t at_ns)
{
	if (at_ns != TIMELINE_NO_END && at_ns > t->end_ns)
		t->end_ns = at_ns;
}

/* ---- names of a batch ---- */

static uint32_t name_put(struct timeline_batch *b, const char *name)
{
	uint32_t at = (uint32_t)hash_text(0, name) & (SLOTS - 1);
	size_t n = strlen(name);
	const char *copy;

	for (; b->slot[at]; at = (at + 1) & (SLOTS - 1))
		if (!strcmp(b->name[b->slot[at]], name))
			return b->slot[at];
	copy = pool_text(&b->text, name, n);
	if (!copy)
		return 0;
	b->name_bytes += n + 1;
	b->name[++b->nnames] = copy;
	b->slot[at] = b->nnames;
	return b->nnames;
}

static void names_empty(struct timeline_batch *b)
{
	pool_empty(&b->text);
	memset(b->slot, 0, sizeof b->slot);
	b->nnames = 0;
	b->name_bytes = 0;
}

/* ---- a batch ---- */

static int by_track_and_begin(const void *a, const void *b)
{
	const struct batch_span *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

/* A block: so many spans of one track as it holds, from the first on. Their number, or -errno. */
static int block_write(struct timeline *t, const struct batch_span *first, uint32_t most)
{
	struct timeline_batch *b = t->batch;
	struct spans s = { .track = first->track,
			   .names = b->names,
			   .name = b->which,
			   .begin_ns = b->begin_ns,
			   .end_ns = b->end_ns };
	int rc;

	for (; s.n < most && s.n < SPANS_MAX && first[s.n].track == first->track; s.n++) {
		const struct batch_span *x = &first[s.n];

		if (!b->number[x->name] && s.nnames == SPAN_NAMES_MAX)
			break;
		if (!b->number[x->name]) {
			b->names[s.nnames] = b->name[x->name];
			b->number[x->name] = ++s.nnames;
		}
		b->which[s.n] = (uint16_t)(b->number[x->name] - 1);
		b->begin_ns[s.n] = x->begin_ns;
		b->end_ns[s.n] = x->end_ns;
	}
	for (uint32_t i = 0; i < s.n; i++)
		b->number[first[i].name] = 0;
	rc = writer_spans(t->w, &s, t->e);
	return rc ? rc : (int)s.n;
}

static int flush_spans(struct timeline *t)
{
	struct timeline_batch *b = t->batch;
	int n = flush_events(t); /* which declare the tracks */

	qsort(b->span, b->nspans, sizeof *b->span, by_track_and_begin);
	for (uint32_t i = 0; i < b->nspans && n >= 0; i += (uint32_t)n)
		n = block_write(t, &b->span[i], b->nspans - i);
	b->nspans = 0;
	names_empty(b);
	return n < 0 ? n : 0;
}

static int by_counter_and_time(const void *a, const void *b)
{
	const struct batch_point *x = a, *y = b;

	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int flush_points(struct timeline *t)
{
	struct event_point set[EVENT_SPANS_MAX];
	struct timeline_batch *b = t->batch;
	int rc = 0;

	qsort(b->point, b->npoints, sizeof *b->point, by_counter_and_time);
	for (uint32_t i = 0, n; i < b->npoints && !rc; i += n) {
		for (n = 0; n < EVENT_SPANS_MAX && i + n < b->npoints &&
			    b->point[i + n].counter == b->point[i].counter;
		     n++)
			set[n] = (struct event_point){ b->point[i + n].at_ns,
						       b->point[i + n].value };
		rc = events_room(t);
		if (!rc && !sample_points(&t->sample, b->point[i].counter, set, n))
			rc = err_set(t->e, -ENOMEM, "out of memory for counters");
	}
	b->npoints = 0;
	return rc ? rc : flush_events(t);
}

/* ---- what is on it ---- */

void timeline_label(struct timeline *t, uint32_t id, const char *key, const char *value)
{
	if (id && value && *value)
		sample_label(&t->sample, id, key, value);
}

/* A track, or a counter, with the labels that all have. 0: none. */
static uint32_t thing_put(struct timeline *t, const char *domain, const char *name, const char *pid)
{
	char whole[TIMELINE_NAME_MAX + 64];
	uint32_t id;

	if (events_room(t))
		return 0;
	snprintf(whole, sizeof whole, "%s%s%s%s", t->rank ? "rank " : "", t->rank ? t->rank : "",
		 t->rank ? " " : "", name);
	id = sample_instance(&t->sample, domain, whole, 0, 0, 0);
	timeline_label(t, id, "pid", pid);
	timeline_label(t, id, "rank", t->rank);
	return id;
}

static uint32_t track_put(struct timeline *t, const char *name, const char *pid,
			  const char *process)
{
	uint32_t id = t->ntracks < TIMELINE_TRACKS_MAX ? thing_put(t, "track", name, pid) : 0;

	t->ntracks += id != 0;
	t->tracks_left += !id;
	timeline_label(t, id, "process", process);
	return id;
}

uint32_t timeline_track(struct timeline *t, const char *name, const char *pid, const char *tid,
			const char *process)
{
	uint32_t id = track_put(t, name, pid, process);

	timeline_label(t, id, "tid", tid);
	return id;
}

uint32_t timeline_lane(struct timeline *t, const char *name, const char *pid, uint32_t lane,
		       const char *process)
{
	uint32_t id = track_put(t, name, pid, process);
	char number[16];

	snprintf(number, sizeof number, "%u", lane);
	timeline_label(t, id, "async", number);
	return id;
}

uint32_t timeline_counter(struct timeline *t, const char *name, const char *pid)
{
	uint32_t id = t->ncounters < TIMELINE_COUNTERS_MAX ? thing_put(t, "counter", name, pid) : 0;

	t->ncounters += id != 0;
	t->counters_left += !id;
	return id;
}

int timeline_span(struct timeline *t, uint32_t track, int64_t begin_ns, int64_t end_ns,
		  const char *name, const char *detail)
{
	struct timeline_batch *b = t->batch;
	bool apart = end_ns == TIMELINE_NO_END || (detail && *detail);
	uint32_t number;
	int rc;

	t->spans++;
	reaches(t, begin_ns);
	reaches(t, end_ns);
	begin_ns += t->base_mono;
	end_ns += end_ns == TIMELINE_NO_END ? 0 : t->base_mono;
	if (apart && t->details < TIMELINE_DETAILS_MAX) {
		t->details++;
		rc = events_room(t);
		sample_span(&t->sample, track, begin_ns, end_ns, name, detail ? detail : "");
		return rc;
	}
	t->details_left += apart;
	end_ns = end_ns == TIMELINE_NO_END ? begin_ns : end_ns;
	rc = b->nspans == BATCH || b->name_bytes > NAMES_BYTES ? flush_spans(t) : 0;
	number = rc ? 0 : name_put(b, name);
	if (!number)
		return rc ? rc : err_set(t->e, -ENOMEM, "out of memory for the names of spans");
	b->span[b->nspans++] = (struct batch_span){ begin_ns, end_ns, track, number };
	return 0;
}

int timeline_mark(struct timeline *t, uint32_t track, int64_t at_ns, const char *name,
		  const char *message)
{
	int rc;

	if (t->marks == TIMELINE_MARKS_MAX) {
		t->marks_left++;
		return 0;
	}
	t->marks++;
	reaches(t, at_ns);
	rc = events_room(t);
	sample_mark(&t->sample, track, t->base_mono + at_ns, name, message ? message : "");
	return rc;
}

int timeline_value(struct timeline *t, uint32_t counter, int64_t at_ns, double value)
{
	struct timeline_batch *b = t->batch;
	int rc = b->npoints == BATCH ? flush_points(t) : 0;

	if (!counter || t->points == TIMELINE_POINTS_MAX) {
		t->points_left++;
		return rc;
	}
	t->points++;
	reaches(t, at_ns);
	b->point[b->npoints] =
		(struct batch_point){ t->base_mono + at_ns, value, counter, b->npoints };
	b->npoints++;
	return rc;
}

/* ---- begin and end ---- */

static int row_put(struct timeline *t, int64_t at_ns)
{
	sample_begin(&t->sample, t->base_utc + at_ns, at_ns);
	return writer_sample(t->w, &t->sample, t->e);
}

/* The writer makes the name of its file from this: those of one node sort behind it. */
static void called(const struct timeline *t, char *out, size_t size)
{
	size_t n = t->of ? strlen(t->of) : 0;

	if (n > 11 && !strncmp(t->of, "node-", 5))
		snprintf(out, size, "%.*s.timeline", (int)n - 11, t->of + 5); /* no ".sonde" */
	else
		snprintf(out, size, "%s", t->host);
}

/* e outlives it. 0 or -errno. */
static int timeline_open(struct timeline *t, int dirfd, struct err *e)
{
	const struct writer_options o = { .sync_ns = 0 };
	struct writer_figures figures;
	char host[300];
	int rc = sample_init(&t->sample, 16, EVENTS_MAX);

	t->e = e;
	t->dirfd = dirfd;
	t->batch = calloc(1, sizeof *t->batch);
	if (rc || !t->batch)
		return err_set(e, -ENOMEM, "out of memory for a recording");
	called(t, host, sizeof host);
	rc = writer_open(&t->w, dirfd, host, &o, e);
	if (rc)
		return rc;
	writer_figures(t->w, &figures);
	snprintf(t->name, sizeof t->name, "%s", figures.name);
	if (t->of) {
		sample_meta_text(&t->sample, FORMAT_TIMELINE_OF, t->of);
		sample_meta_text(&t->sample, "timeline.from", t->from);
		rc = flush_events(t);
		return rc ? rc : writer_seal(t->w, e); /* before the first block of spans */
	}
	sample_clock(&t->sample, 0, t->base_utc, -1, false);
	sample_meta_text(&t->sample, "import.from", t->from);
	sample_meta_text(&t->sample, "node.host", t->host);
	return row_put(t, 0);
}

static void take_away(struct timeline *t)
{
	size_t stem = strlen(t->name);
	char tail[sizeof t->name + 8];

	stem -= stem > 6 ? 6 : stem; /* ".sonde" */
	snprintf(tail, sizeof tail, "%.*s.tail", (int)stem, t->name);
	unlinkat(t->dirfd, t->name, 0);
	unlinkat(t->dirfd, tail, 0);
	t->name[0] = '\0';
}

int timeline_close(struct timeline *t, int rc)
{
	int closed;

	if (t->w) {
		rc = rc ? rc : flush_spans(t);
		rc = rc ? rc : flush_points(t);
		rc = rc || t->of ? rc : row_put(t, t->end_ns);
		closed = writer_close(t->w, rc ? NULL : t->e);
		rc = rc ? rc : closed;
		if (rc)
			take_away(t);
	}
	if (t->batch)
		pool_free(&t->batch->text);
	free(t->batch);
	sample_free(&t->sample);
	t->batch = NULL;
	t->w = NULL;
	return rc;
}

/* Sums of times of hostile files. False: it is beyond what there is. */
static bool sum(int64_t a, int64_t b, int64_t *out)
{
	return !__builtin_add_overflow(a, b, out);
}

/* Whether a clock with that 0 has something in common with the node's recording. */
static bool overlaps(const struct timeline_times *t, const struct import_place *p, int64_t zero)
{
	int64_t first, last;

	return sum(t->first_ns, zero, &first) && sum(t->last_ns, zero, &last) &&
	       first <= p->last_utc && last >= p->first_utc;
}

static bool is_usable(const struct timeline_times *t, int64_t zero)
{
	int64_t first, last;

	return sum(t->first_ns, zero, &first) && sum(t->last_ns, zero, &last) && first >= 0 &&
	       last < INT64_MAX / 2;
}

static int by_mark(const struct timeline_times *t, const struct import *x, int64_t *zero,
		   struct err *e)
{
	const struct import_place *p = &x->place;

	if (!t->align_found)
		return err_set(e, -ENOENT,
			       "%.200s has no event named %.100s; choose another one for --align",
			       x->path, p->align);
	if (__builtin_sub_overflow(p->align_utc, t->align_ns, zero) || !is_usable(t, *zero))
		return err_set(e, -ERANGE, "%.200s: the times are out of range", x->path);
	store_note(
		x->store,
		"%.200s: aligned by %.100s; how exactly is not known: both are taken to be at the "
		"same instant",
		x->path, p->align);
	return 0;
}

static int not_of_it(const struct timeline_times *t, const struct import *x, struct err *e)
{
	char of[40], there[40];

	clock_iso(t->first_ns + t->zero_utc, of, sizeof of);
	clock_iso(x->place.first_utc, there, sizeof there);
	return err_set(e, -ERANGE,
		       "%.200s is of another time than the recording: it begins at %s, the "
		       "recording at %s; import it without --into, or align it with --align",
		       x->path, of, there);
}

static int unknown(const struct timeline_times *t, const struct import *x, int64_t *zero,
		   struct err *e)
{
	int64_t at = x->place.into ? x->place.first_utc : t->changed_utc;
	int64_t same = x->place.into ? t->first_ns : t->last_ns;

	if (__builtin_sub_overflow(at, same, zero) || !is_usable(t, *zero))
		*zero = -t->first_ns;
	store_note(x->store,
		   x->place.into ? "%.200s does not say when it was: it is not aligned, and begins "
				   "with the recording; --align aligns it by a mark"
				 : "%.200s does not say when it was: it is taken to end when the "
				   "file was last changed",
		   x->path);
	return is_usable(t, *zero)
		       ? 0
		       : err_set(e, -ERANGE, "%.200s: the times are out of range", x->path);
}

/* UTC of the clock's 0 to *zero_utc, and a note of how well it is known. 0, or -errno with a
 * sentence: it is not of that recording. */
static int timeline_clock(const struct timeline_times *t, const struct import *x, int64_t *zero_utc,
			  struct err *e)
{
	const struct import_place *p = &x->place;

	if (p->align)
		return by_mark(t, x, zero_utc, e);
	if (t->stated && is_usable(t, t->zero_utc)) {
		*zero_utc = t->zero_utc;
		if (p->into && !overlaps(t, p, *zero_utc))
			return not_of_it(t, x, e);
		store_note(
			x->store,
			"%.200s: its times are UTC by %s; how far the clock was off is not known",
			x->path, t->statement);
		return 0;
	}
	if (p->into && overlaps(t, p, p->utc_of_mono)) {
		*zero_utc = p->utc_of_mono;
		store_note(x->store,
			   "%.200s: its times are taken to count from the machine's boot, like the "
			   "recording's",
			   x->path);
		return 0;
	}
	return unknown(t, x, zero_utc, e);
}

/* Of a file "rank0.pt.trace.json.gz": rank0. */
static void host_of(const struct import *x, char *out, size_t size)
{
	const char *slash = strrchr(x->path, '/'), *name = slash ? slash + 1 : x->path;
	size_t n = strcspn(name, ".");

	if (x->place.host)
		snprintf(out, size, "%s", x->place.host);
	else
		snprintf(out, size, "%.*s", n ? (int)(n < size ? n : size - 1) : 5,
			 n ? name : "trace");
}

int timeline_begin(struct timeline *line, const struct timeline_times *t, const struct import *x,
		   const char *format, const char *rank, struct err *e)
{
	int64_t zero_utc = 0;
	int rc = timeline_clock(t, x, &zero_utc, e);

	if (rc)
		return rc;
	rank = x->place.rank ? x->place.rank : rank;
	*line = (struct timeline){ .host = line->host_text,
				   .from = line->from_text,
				   .rank = rank && *rank ? rank : NULL,
				   .of = x->place.of,
				   .base_utc = zero_utc + t->first_ns };
	host_of(x, line->host_text, sizeof line->host_text);
	snprintf(line->from_text, sizeof line->from_text, "%s %.500s", format, x->path);
	if (line->of)
		line->base_mono = line->base_utc - x->place.utc_of_mono;
	rc = timeline_open(line, x->dirfd, e);
	return rc ? timeline_close(line, rc) : 0;
}
