/* SPDX-License-Identifier: Apache-2.0 */
#include "import/scanner.h"

#include <endian.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Where a thread's counters begin in a profile of Scanner's.
 *
 * The writer counts the intervals, then writes them while others are added, and there is nothing
 * between them and the counters. So the place is that from which all of what follows fits. */

enum { SCANNER_ROW = 17 };

/* What lies behind the counters. */
enum scanner_next {
	SCANNER_NEXT_THREAD,
	SCANNER_NEXT_LOADERS, /* their number, they, then the chains' */
	SCANNER_NEXT_CHAINS,
	SCANNER_NEXT_SAVERS,
	SCANNER_NEXT_END
};

enum { COUNTERS_MAX = 1024, NAME_MAX_BYTES = 256, NUMBER = 8 };

/* What is beyond the window, while the file goes on, is taken for right. */
struct view {
	const uint8_t *at, *end;
	bool whole;
};

static int64_t load(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof v);
	return (int64_t)le64toh(v);
}

static bool beyond(const struct view *v, size_t n)
{
	return (size_t)(v->end - v->at) < n;
}

/* Behind the text, which is a name; NULL: it is none. */
static const uint8_t *name_end(const struct view *v, size_t *n)
{
	size_t most = (size_t)(v->end - v->at);
	const uint8_t *end = memchr(v->at, 0, most < NAME_MAX_BYTES ? most : NAME_MAX_BYTES);

	if (!end)
		return NULL;
	*n = (size_t)(end - v->at);
	for (const uint8_t *c = v->at; c < end; c++)
		if (*c < 0x20 || *c == 0x7f)
			return NULL;
	return end + 1;
}

static bool is_one_of(const uint8_t *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp((const char *)text, words[i]))
			return true;
	return false;
}

/* A node, one of the types, one of the tags. */
static bool thread_fits(struct view v)
{
	static const char *const types[] = { "process_job", "load", "eval", "save" };
	static const char *const tags[] = { "", "pre", "eval", "post" };
	const uint8_t *behind;
	size_t n;

	if (beyond(&v, NUMBER + 1))
		return !v.whole;
	v.at += NUMBER;
	behind = name_end(&v, &n);
	if (!behind || !is_one_of(v.at, types, sizeof types / sizeof types[0]))
		return !behind && !v.whole && beyond(&v, NAME_MAX_BYTES);
	v.at = behind;
	behind = name_end(&v, &n);
	if (!behind)
		return !v.whole && beyond(&v, NAME_MAX_BYTES);
	return is_one_of(v.at, tags, sizeof tags / sizeof tags[0]);
}

static bool next_fits(struct view v, enum scanner_next next)
{
	unsigned n, stages;

	if (next == SCANNER_NEXT_THREAD)
		return thread_fits(v);
	if (next == SCANNER_NEXT_END)
		return v.whole && v.at == v.end;
	if (beyond(&v, 2))
		return !v.whole || (next == SCANNER_NEXT_SAVERS && v.at < v.end && !*v.at);
	n = *v.at++;
	if (next == SCANNER_NEXT_CHAINS) {
		stages = *v.at++;
		return n && stages ? thread_fits(v) : next_fits(v, SCANNER_NEXT_SAVERS);
	}
	if (n)
		return thread_fits(v);
	return next_fits(v, next == SCANNER_NEXT_LOADERS ? SCANNER_NEXT_CHAINS : SCANNER_NEXT_END);
}

/* v is behind them then. */
static bool counters_fit(struct view *v)
{
	int64_t n;

	if (beyond(v, NUMBER))
		return false;
	n = load(v->at);
	v->at += NUMBER;
	if (n < 0 || n > COUNTERS_MAX)
		return false;
	for (int64_t i = 0; i < n; i++) {
		size_t length;
		const uint8_t *behind = name_end(v, &length);

		if (!behind || !length || v->end - behind < NUMBER)
			return false;
		v->at = behind + NUMBER;
	}
	return true;
}

static bool fits(const uint8_t *data, size_t n, bool whole, enum scanner_next next)
{
	struct view v = { data, data + n, whole };

	return counters_fit(&v) && next_fits(v, next);
}

/* more: rows in front of the counters. whole: the file ends where data does. known[]: is not 0 for
 * numbers that have a key. False: they begin nowhere. */
static bool scanner_counters_find(const uint8_t *data, size_t n, bool whole, enum scanner_next next,
				  const size_t known[256], uint32_t *more)
{
	struct view first = { data, data + n, whole };

	for (size_t at = 0; n - at >= NUMBER; at += SCANNER_ROW) {
		if (fits(data + at, n - at, whole, next)) {
			*more = (uint32_t)(at / SCANNER_ROW);
			return true;
		}
		if (n - at < SCANNER_ROW || !known[data[at]])
			break;
	}
	/* Nothing fits: where they are counters as they stand, the fault lies behind them. */
	*more = 0;
	return counters_fit(&first);
}

enum {
	ROW = SCANNER_ROW, /* of an interval: its key's number, begin, end */
	WINDOW = SCANNER_BATCH * ROW + (64 << 10),
	WHAT = 160
};
/* Times outside are nobody's; sums of those inside cannot overflow. */
#define TIME_MAX (INT64_C(1) << 60)

struct reading {
	struct window w;
	const struct scanner_visitor *v;
	struct scanner_thread thread;
	char type[64], tag[64];
	char *text; /* of the keys */
	size_t text_len, text_cap;
	size_t key_at[SCANNER_KEYS];
	uint16_t key[SCANNER_BATCH];
	int64_t begin_ns[SCANNER_BATCH], end_ns[SCANNER_BATCH];
	uint64_t bad_rows, bad_at;
	bool over; /* what is behind cannot be told */
};

static void fault(struct reading *r, uint64_t offset, bool lost, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void fault(struct reading *r, uint64_t offset, bool lost, const char *format, ...)
{
	char what[WHAT];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof what, format, ap);
	va_end(ap);
	r->v->fault(r->v->ctx, offset, lost, what);
}

/* Nothing behind this can be read. */
static void stop(struct reading *r, const char *what)
{
	size_t left = window_fill(&r->w, 1);

	if (!r->over)
		fault(r, window_offset(&r->w), true, "%s; what is behind is left out",
		      left ? what : "the file is truncated here");
	r->over = true;
}

static int64_t take_number(struct reading *r, const char *what)
{
	int64_t v = 0;

	if (r->over)
		return 0;
	if (window_fill(&r->w, sizeof v) < sizeof v) {
		r->w.at = r->w.len;
		stop(r, what);
		return 0;
	}
	v = load(window_here(&r->w));
	r->w.at += sizeof v;
	return v;
}

static unsigned take_byte(struct reading *r, const char *what)
{
	if (r->over)
		return 0;
	if (!window_fill(&r->w, 1)) {
		stop(r, what);
		return 0;
	}
	return r->w.data[r->w.at++];
}

/* Borrowed until the window moves; NULL (and it is over) when it has no end. */
static const char *take_text(struct reading *r, const char *what, size_t *n)
{
	size_t there = r->over ? 0 : window_fill(&r->w, SCANNER_TEXT_MAX);
	const uint8_t *here = window_here(&r->w), *end;

	end = memchr(here, 0, there < SCANNER_TEXT_MAX ? there : SCANNER_TEXT_MAX);
	if (!end) {
		if (there < SCANNER_TEXT_MAX)
			r->w.at = r->w.len;
		stop(r, what);
		return NULL;
	}
	*n = (size_t)(end - here);
	r->w.at += *n + 1;
	return (const char *)here;
}

static void take_word(struct reading *r, char *out, size_t size, const char *what)
{
	size_t n;
	const char *text = take_text(r, what, &n);

	snprintf(out, size, "%s", text ? text : "");
}

/* ---- keys ---- */

static int keep_key(struct reading *r, unsigned number, const char *text, size_t n)
{
	if (r->text_len + n + 1 > r->text_cap) {
		size_t cap = 2 * (r->text_cap + n + 1);
		char *moved = realloc(r->text, cap);

		if (!moved)
			return -ENOMEM;
		r->text = moved;
		r->text_cap = cap;
	}
	r->key_at[number] = r->text_len + 1;
	memcpy(r->text + r->text_len, text, n);
	r->text_len += n;
	r->text[r->text_len++] = '\0';
	return 0;
}

static int take_keys(struct reading *r)
{
	uint64_t at = window_offset(&r->w);
	int64_t n = take_number(r, "the number of keys is truncated");
	uint64_t alias = 0;
	int rc = 0;

	r->text_len = 0;
	memset(r->key_at, 0, sizeof r->key_at);
	if (!r->over && (n < 0 || n > 65536)) {
		r->w.at -= sizeof n;
		stop(r, "no thread has that many keys");
	}
	for (int64_t i = 0; i < n && !r->over && !rc; i++) {
		size_t length = 0;
		const char *text = take_text(r, "a key has no end", &length);
		char copy[SCANNER_TEXT_MAX];
		unsigned number;

		if (!text)
			break;
		memcpy(copy, text, length);
		number = take_byte(r, "a key's number is truncated");
		alias += r->key_at[number] != 0;
		if (!r->over && !r->key_at[number])
			rc = keep_key(r, number, copy, length);
	}
	if (alias)
		fault(r, at, true,
		      "a thread has more keys than numbers for them: intervals of %llu keys have "
		      "another one's name",
		      (unsigned long long)alias);
	r->thread.nkeys = 0;
	for (unsigned i = 0; i < SCANNER_KEYS; i++) {
		r->thread.key[i] = r->key_at[i] ? r->text + r->key_at[i] - 1 : NULL;
		r->thread.nkeys += r->key_at[i] != 0;
	}
	return rc;
}

/* ---- intervals ---- */

/* A batch of rows, of which those that can be are kept; stops at the first that cannot when the
 * rows may be something else. */
static uint32_t take_rows(struct reading *r, uint32_t n, bool sure, uint32_t *kept)
{
	const uint8_t *row = window_here(&r->w);
	uint32_t i, k = 0;

	for (i = 0; i < n; i++, row += ROW) {
		int64_t begin = load(row + 1), end = load(row + 9);

		r->key[k] = row[0];
		r->begin_ns[k] = begin;
		r->end_ns[k] = end;
		if (r->key_at[row[0]] && begin >= -TIME_MAX && end <= TIME_MAX && begin <= end) {
			k++;
			continue;
		}
		if (!sure)
			break;
		if (!r->bad_rows++)
			r->bad_at = window_offset(&r->w) + (uint64_t)(row - window_here(&r->w));
	}
	*kept = k;
	return i;
}

static int give_rows(struct reading *r, uint64_t n, bool sure, uint64_t *taken)
{
	int rc = 0;

	*taken = 0;
	while (n && !rc) {
		size_t most = n < SCANNER_BATCH ? (size_t)n : SCANNER_BATCH;
		size_t there = window_fill(&r->w, most * ROW) / ROW;
		struct scanner_intervals batch = { 0, r->key, r->begin_ns, r->end_ns };
		uint32_t want = (uint32_t)(there < most ? there : most), got;

		got = take_rows(r, want, sure, &batch.n);
		if (batch.n)
			rc = r->v->intervals(r->v->ctx, &batch);
		r->w.at += (size_t)got * ROW;
		*taken += got;
		n -= got;
		if (got < most)
			break;
	}
	return rc;
}

static int take_intervals(struct reading *r, uint64_t left)
{
	int64_t n = take_number(r, "the number of intervals is truncated");
	uint64_t at = window_offset(&r->w), taken;
	bool sure = n >= 0 && (uint64_t)n <= left / ROW;
	int rc;

	if (r->over)
		return 0;
	if (n < 0) {
		r->w.at -= sizeof n;
		stop(r, "no thread has that many intervals");
		return 0;
	}
	r->bad_rows = 0;
	rc = give_rows(r, (uint64_t)n, sure, &taken);
	if (r->bad_rows)
		fault(r, r->bad_at, true,
		      "intervals that have no key, or end before they begin, or are of no time "
		      "were left out: %llu, the first one here",
		      (unsigned long long)r->bad_rows);
	if (!rc && taken < (uint64_t)n) {
		if (window_fill(&r->w, ROW) < ROW)
			r->w.at = r->w.len;
		fault(r, at, true,
		      "there should be %lld intervals and are %llu; what is behind is left out",
		      (long long)n, (unsigned long long)taken);
		r->over = true;
	}
	return rc;
}

/* ---- counters ---- */

/* The thread goes on while its profile is written: more intervals than were counted lie in front of
 * the counters. */
static int take_more_rows(struct reading *r, uint32_t more)
{
	uint64_t at = window_offset(&r->w), taken;
	int rc;

	if (!more)
		return 0;
	rc = give_rows(r, more, true, &taken);
	fault(r, at, false,
	      "the number of counters is corrupt, since %u more intervals than counted precede it; "
	      "they were imported",
	      more);
	return rc;
}

static int take_counters(struct reading *r, enum scanner_next next)
{
	size_t there = window_fill(&r->w, WINDOW);
	uint32_t more, n;
	int rc;

	if (r->over)
		return 0;
	if (!scanner_counters_find(window_here(&r->w), there, r->w.ended, next, r->key_at, &more)) {
		stop(r, "the number of counters is corrupt, and what follows is not a thread");
		return 0;
	}
	rc = take_more_rows(r, more);
	n = (uint32_t)take_number(r, "");
	for (uint32_t i = 0; i < n && !rc && !r->over; i++) {
		size_t length = 0;
		const char *text = take_text(r, "a counter has no end", &length);
		char name[SCANNER_TEXT_MAX];

		if (!text)
			break;
		memcpy(name, text, length + 1);
		r->v->counter(r->v->ctx, name, take_number(r, "a counter is truncated"));
	}
	return rc;
}

/* ---- threads ---- */

/* Whether the thread is what has its place there. */
static bool type_fits(const struct reading *r, enum scanner_place place)
{
	static const char *const type[] = { [SCANNER_EVENT_LOOP] = "process_job",
					    [SCANNER_LOAD] = "load",
					    [SCANNER_EVAL] = "eval",
					    [SCANNER_SAVE] = "save",
					    [SCANNER_MASTER] = "master" };

	return !strcmp(r->type, type[place]);
}

static int take_thread(struct reading *r, enum scanner_place place, int group,
		       enum scanner_next next, uint64_t size)
{
	struct scanner_thread *t = &r->thread;
	uint64_t at = window_offset(&r->w);
	int rc;

	t->place = place;
	t->group = group;
	t->node = take_number(r, "a thread is truncated");
	take_word(r, r->type, sizeof r->type, "a thread's type has no end");
	take_word(r, r->tag, sizeof r->tag, "a thread's tag has no end");
	t->number = take_number(r, "a thread is truncated");
	t->type = r->type;
	t->tag = r->tag;
	if (!r->over && !type_fits(r, place)) {
		fault(r, at, true, "there should be a thread; what is behind is left out");
		r->over = true;
	}
	rc = take_keys(r);
	if (rc || r->over)
		return rc;
	rc = r->v->thread(r->v->ctx, t);
	if (!rc)
		rc = take_intervals(r, size - window_offset(&r->w));
	if (!rc)
		rc = take_counters(r, next);
	return rc ? rc : r->v->thread_end(r->v->ctx);
}

static int take_threads(struct reading *r, enum scanner_place place, enum scanner_next behind,
			uint64_t size)
{
	unsigned n = take_byte(r, "the number of threads is truncated");
	int rc = 0;

	for (unsigned i = 0; i < n && !rc && !r->over; i++)
		rc = take_thread(r, place, -1, i + 1 < n ? SCANNER_NEXT_THREAD : behind, size);
	return rc;
}

static int take_chains(struct reading *r, uint64_t size)
{
	unsigned pipelines = take_byte(r, "the number of pipelines is truncated");
	unsigned stages = take_byte(r, "the number of stages is truncated");
	int rc = 0;

	if (!r->over)
		r->v->chains(r->v->ctx, pipelines, stages);
	for (unsigned i = 0; i < pipelines * stages && !rc && !r->over; i++) {
		unsigned stage = i % stages;

		rc = take_thread(r, SCANNER_EVAL, stage && stage + 1 < stages ? (int)stage - 1 : -1,
				 i + 1 < pipelines * stages ? SCANNER_NEXT_THREAD
							    : SCANNER_NEXT_SAVERS,
				 size);
	}
	return rc;
}

static int take_file(struct reading *r, bool master, uint64_t size)
{
	int64_t begin = take_number(r, "there are no times");
	int64_t end = take_number(r, "there are no times");
	int rc;

	if (r->over)
		return 0;
	r->v->times(r->v->ctx, begin, end);
	rc = take_thread(r, master ? SCANNER_MASTER : SCANNER_EVENT_LOOP, -1,
			 master ? SCANNER_NEXT_END : SCANNER_NEXT_LOADERS, size);
	if (!rc && !master && !r->over)
		rc = take_threads(r, SCANNER_LOAD, SCANNER_NEXT_CHAINS, size);
	if (!rc && !master && !r->over)
		rc = take_chains(r, size);
	if (!rc && !master && !r->over)
		rc = take_threads(r, SCANNER_SAVE, SCANNER_NEXT_END, size);
	if (!rc && !r->over && window_fill(&r->w, 1))
		fault(r, window_offset(&r->w), true, "bytes behind the end: %llu",
		      (unsigned long long)(size - window_offset(&r->w)));
	return rc;
}

int scanner_profile_read(int fd, bool master, const struct scanner_visitor *v)
{
	off_t size = lseek(fd, 0, SEEK_END);
	struct reading *r = size < 0 || lseek(fd, 0, SEEK_SET) ? NULL : calloc(1, sizeof *r);
	int rc = size < 0 ? -errno : -ENOMEM;

	if (!r)
		return rc;
	r->v = v;
	rc = window_open(&r->w, fd, WINDOW);
	if (!rc)
		rc = take_file(r, master, (uint64_t)size);
	if (!rc)
		rc = r->w.failed;
	window_close(&r->w);
	free(r->text);
	free(r);
	return rc;
}
