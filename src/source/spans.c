/* SPDX-License-Identifier: Apache-2.0 */
#include "source/spans.h"

#include "base/clock.h"
#include "base/number.h"
#include "source/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SOON_NS = 1000000000, /* later than now than this is not a time of a span */
};

static const struct metric metrics[] = {
	{
		.name = "program.counter",
		.domain = "counter",
		.label = "Counters of programs",
		.help = "What a program counts, by the name that it gave; in a unit of its own "
			"(sonde_counter of libsonde).",
		.unit = UNIT_ONE,
		.kind = KIND_GAUGE,
		.storage = STORE_REAL,
	},
};

const struct source source_spans = {
	.name = "spans",
	.what = "spans and counters of programs, by libsonde",
	SOURCE_METRICS(metrics),
	.declares_itself = true,
};

/* A thread's ring. */
struct reading {
	uint64_t taken, lost;
	uint32_t track; /* instance; 0: none yet */
	bool broken;    /* there was no sense in it */
};

struct counter {
	uint32_t instance, slot;
};

struct span_reader {
	int fd;
	pid_t pid;
	uint32_t about;
	uint64_t lost; /* of threads without a ring */
	uint32_t nthreads;
	struct reading thread[RING_THREADS_MAX];
	uint32_t word[RING_NAMES_MAX + 1]; /* of the recording; 0: not told yet */
	struct counter counter[RING_NAMES_MAX + 1];
};

static bool file_get(const struct span_reader *r, size_t at, void *out, size_t size)
{
	return pread(r->fd, out, size, (off_t)at) == (ssize_t)size;
}

/* ---- opening ---- */

static bool is_own_regular_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

static bool is_same_namespace(uint64_t pid_namespace)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && (uint64_t)st.st_ino == pid_namespace;
}

static bool head_read(struct span_reader *r)
{
	struct {
		uint32_t magic, version, pid, unused;
		uint64_t pid_namespace;
	} head;

	if (!file_get(r, 0, &head, sizeof head) || head.magic != RING_MAGIC ||
	    head.version != RING_VERSION || !head.pid || head.pid > INT32_MAX)
		return false;
	if (is_same_namespace(head.pid_namespace))
		r->pid = (pid_t)head.pid;
	return true;
}

struct span_reader *span_reader_open(int fd)
{
	struct span_reader *r = is_own_regular_file(fd) ? calloc(1, sizeof *r) : NULL;

	if (!r) {
		close(fd);
		return NULL;
	}
	r->fd = fd;
	if (head_read(r))
		return r;
	span_reader_close(r);
	return NULL;
}

void span_reader_close(struct span_reader *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r);
}

pid_t span_reader_pid(const struct span_reader *r)
{
	return r->pid;
}

void span_reader_about(struct span_reader *r, uint32_t instance)
{
	r->about = instance;
}

/* ---- names ---- */

static bool name_get(const struct span_reader *r, uint32_t name, char out[RING_NAME_SIZE])
{
	size_t at = offsetof(struct ring_head, name) + (size_t)name * RING_NAME_SIZE;

	if (!name || name > RING_NAMES_MAX || !file_get(r, at, out, RING_NAME_SIZE))
		return false;
	out[RING_NAME_SIZE - 1] = '\0';
	return *out;
}

static uint32_t word_of(struct span_reader *r, struct sample *s, uint32_t name)
{
	char text[RING_NAME_SIZE];

	if (name > RING_NAMES_MAX)
		return 0;
	if (!r->word[name] && name_get(r, name, text))
		r->word[name] = sample_word(s, text);
	return r->word[name];
}

/* ---- a ring ---- */

static bool ring_get(const struct span_reader *r, uint32_t thread, struct ring_thread *out)
{
	return file_get(r, ring_thread_at(thread), out, sizeof *out);
}

/* What is said to be written was written: a number that was read while it changed is larger than
 * one that is read again, or smaller than the truth. Else it is not looked at any more. */
static bool written_get(struct span_reader *r, uint32_t thread, uint64_t *written)
{
	struct reading *x = &r->thread[thread];
	size_t at = ring_thread_at(thread) + offsetof(struct ring_thread, written);
	uint64_t first, again;

	if (x->broken)
		return false;
	x->broken =
		!file_get(r, at, &first, sizeof first) || !file_get(r, at, &again, sizeof again);
	if (x->broken)
		return false;
	*written = first < again ? first : again;
	x->broken = *written - x->taken > RING_SLOTS;
	return !x->broken;
}

static void threads_find(struct span_reader *r)
{
	uint32_t n;

	if (!file_get(r, offsetof(struct ring_head, nthreads), &n, sizeof n))
		return;
	for (n = n > RING_THREADS_MAX ? RING_THREADS_MAX : n; r->nthreads < n; r->nthreads++) {
		struct reading *x = &r->thread[r->nthreads];
		size_t at = ring_thread_at(r->nthreads) + offsetof(struct ring_thread, taken);

		/* an earlier recorder has taken these */
		if (!file_get(r, at, &x->taken, sizeof x->taken))
			return;
	}
}

double span_reader_filled(struct span_reader *r)
{
	uint64_t most = 0;

	threads_find(r);
	for (uint32_t i = 0; i < r->nthreads; i++) {
		uint64_t written;

		if (written_get(r, i, &written) && written - r->thread[i].taken > most)
			most = written - r->thread[i].taken;
	}
	return (double)most / RING_SLOTS;
}

/* A thread that is named as it was when it came. Without a number of its own beyond so many. */
static void track_begin(struct span_reader *r, uint32_t thread, struct span_intake *in,
			struct sample *s, int64_t id, int64_t at_ns)
{
	struct reading *x = &r->thread[thread];
	struct ring_thread ring;
	char name[48], number[24];

	if (x->track)
		sample_end(s, x->track, at_ns);
	x->track = 0;
	if (in->tracks == SPAN_TRACKS_MAX || !ring_get(r, thread, &ring))
		return;
	snprintf(number, sizeof number, "%lld", (long long)id);
	snprintf(name, sizeof name, "%.*s %s", (int)strnlen(ring.called, sizeof ring.called),
		 ring.called, number);
	x->track = sample_instance(s, "track", name, r->about, at_ns, 0);
	sample_label(s, x->track, "tid", number);
	in->tracks += x->track != 0;
}

static uint32_t track_of(const struct span_reader *r, uint32_t thread)
{
	return r->thread[thread].track ? r->thread[thread].track : r->about;
}

static void spans_put(struct span_reader *r, uint32_t thread, struct span_intake *in,
		      struct sample *s, uint32_t n)
{
	if (n && !sample_spans(s, track_of(r, thread), in->span, n))
		number_add(&in->lost, n);
}

static void mark_put(struct span_reader *r, uint32_t thread, struct span_intake *in,
		     struct sample *s, const struct ring_slot *slot)
{
	char name[RING_NAME_SIZE] = "";

	if (in->marks == SPAN_MARKS_MAX) {
		in->lost++;
		return;
	}
	in->marks++;
	name_get(r, slot->name, name);
	sample_mark(s, track_of(r, thread), slot->from_ns, name, "");
}

/* n slots of a thread, read into in->slot. */
static void slots_put(struct span_reader *r, uint32_t thread, struct span_intake *in,
		      struct sample *s, uint32_t n)
{
	int64_t soon_ns = clock_mono_ns() + SOON_NS;
	uint32_t nspans = 0;

	for (const struct ring_slot *x = in->slot; x < in->slot + n; x++) {
		bool timed = x->from_ns >= 0 && x->from_ns <= soon_ns;

		if (timed && x->what == RING_SPAN && x->to_ns >= x->from_ns &&
		    x->to_ns <= soon_ns) {
			in->span[nspans++] =
				(struct event_span){ x->from_ns, x->to_ns, word_of(r, s, x->name) };
		} else if (timed && x->what == RING_MARK) {
			mark_put(r, thread, in, s, x);
		} else if (timed && x->what == RING_THREAD) {
			spans_put(r, thread, in, s, nspans);
			nspans = 0;
			track_begin(r, thread, in, s, x->to_ns, x->from_ns);
		} else {
			in->unclear++;
		}
	}
	spans_put(r, thread, in, s, nspans);
}

/* Each slot is at most three events and their texts. */
static bool has_room(const struct sample *s)
{
	return s->event_cap - s->nevents > s->event_cap / 4 + 3 * EVENT_SPANS_MAX &&
	       s->text_cap - s->text_len > s->text_cap / 2;
}

/* Some of what a thread has written; 1: there may be more; 0: that was all; -1: no room. */
static int thread_take(struct span_reader *r, uint32_t thread, struct span_intake *in,
		       struct sample *s)
{
	struct reading *x = &r->thread[thread];
	uint64_t written, left, first = x->taken % RING_SLOTS;
	uint32_t n;

	if (x->broken)
		return 0;
	if (!written_get(r, thread, &written)) {
		in->unclear++;
		return 0;
	}
	left = written - x->taken;
	if (!left || !has_room(s))
		return left ? -1 : 0;
	n = left < EVENT_SPANS_MAX ? (uint32_t)left : EVENT_SPANS_MAX;
	n = n < RING_SLOTS - first ? n : (uint32_t)(RING_SLOTS - first);
	if (!file_get(r, ring_thread_at(thread) + RING_PAGE + first * sizeof *in->slot, in->slot,
		      n * sizeof *in->slot))
		return 0;
	slots_put(r, thread, in, s, n);
	x->taken += n;
	if (pwrite(r->fd, &x->taken, sizeof x->taken,
		   (off_t)(ring_thread_at(thread) + offsetof(struct ring_thread, taken))) < 0)
		return 0;
	return n < left;
}

bool span_reader_take(struct span_reader *r, struct span_intake *in, struct sample *s)
{
	bool all = true;

	threads_find(r);
	for (uint32_t i = 0; i < r->nthreads; i++) {
		int more = 1;

		/* one that writes as fast as this reads is not listened to for ever */
		for (uint32_t turn = 0; more > 0 && turn < 2 * RING_SLOTS / EVENT_SPANS_MAX; turn++)
			more = thread_take(r, i, in, s);
		all &= more >= 0;
	}
	return all;
}

/* ---- with a sample ---- */

static void lost_take(uint64_t now, uint64_t *before, struct span_intake *in)
{
	uint64_t more = now - *before;

	if (now > *before && more < (uint64_t)INT64_MAX / 2 - (uint64_t)in->lost)
		number_add(&in->lost, (int64_t)more);
	*before = now > *before ? now : *before;
}

static void losses_take(struct span_reader *r, struct span_intake *in)
{
	uint64_t lost;

	if (file_get(r, offsetof(struct ring_head, lost), &lost, sizeof lost))
		lost_take(lost, &r->lost, in);
	for (uint32_t i = 0; i < r->nthreads; i++)
		if (file_get(r, ring_thread_at(i) + offsetof(struct ring_thread, lost), &lost,
			     sizeof lost))
			lost_take(lost, &r->thread[i].lost, in);
}

static void counter_begin(struct span_reader *r, uint32_t name, struct span_intake *in,
			  struct sample *s)
{
	struct counter *c = &r->counter[name];
	char text[RING_NAME_SIZE];

	if (in->counters == SPAN_COUNTERS_MAX || !name_get(r, name, text))
		return;
	c->instance = sample_instance(s, metrics[0].domain, text, r->about, s->mono_ns, 0);
	if (c->instance)
		c->slot = sample_series(s, metrics, 1, c->instance);
	in->counters += c->instance != 0;
}

void span_reader_values(struct span_reader *r, struct span_intake *in, struct sample *s)
{
	losses_take(r, in);
	if (!file_get(r, offsetof(struct ring_head, value), &in->counters_now,
		      offsetof(struct ring_head, valued) - offsetof(struct ring_head, value) +
			      sizeof in->counters_now.valued))
		return;
	for (uint32_t i = 1; i <= RING_NAMES_MAX; i++) {
		double value;

		if (!in->counters_now.valued[i])
			continue;
		memcpy(&value, &in->counters_now.value[i], sizeof value);
		if (!r->counter[i].instance)
			counter_begin(r, i, in, s);
		if (isfinite(value))
			sample_put(s, r->counter[i].slot, (int64_t)in->counters_now.value[i]);
	}
}

bool span_reader_counts(const struct span_reader *r)
{
	uint8_t valued[RING_NAMES_MAX + 1];

	return file_get(r, offsetof(struct ring_head, valued), valued, sizeof valued) &&
	       memchr(valued, 1, sizeof valued);
}

static void open_tell(struct span_reader *r, uint32_t thread, struct sample *s)
{
	int64_t now_ns = clock_mono_ns();
	char name[RING_NAME_SIZE];
	struct ring_thread ring;

	if (!ring_get(r, thread, &ring))
		return;
	for (uint32_t i = 0; i < ring.depth && i < RING_OPEN_MAX; i++) {
		const struct ring_open *o = &ring.open[i];

		name[0] = '\0';
		name_get(r, o->name, name);
		if (o->from_ns >= 0 && o->from_ns <= now_ns)
			sample_span(s, track_of(r, thread), o->from_ns, INT64_MAX, name, "");
	}
}

void span_reader_end(struct span_reader *r, struct span_intake *in, struct sample *s)
{
	int64_t end_ns = s->last ? s->mono_ns : clock_mono_ns(); /* it may be between two samples */

	losses_take(r, in);
	for (uint32_t i = 0; i < r->nthreads; i++) {
		uint64_t written;

		if (written_get(r, i, &written))
			number_add(&in->lost, (int64_t)(written - r->thread[i].taken));
		open_tell(r, i, s);
		sample_end(s, r->thread[i].track, end_ns);
	}
	for (uint32_t i = 1; i <= RING_NAMES_MAX && !s->last; i++) {
		sample_series_end(s, r->counter[i].slot, 1);
		sample_end(s, r->counter[i].instance, s->mono_ns);
	}
}

void span_intake_report(struct span_intake *in, struct sample *s)
{
	if (in->lost != in->lost_told)
		sample_meta_int(s, "spans.left_out", in->lost);
	in->lost_told = in->lost;
	if (s->last && in->unclear)
		sample_meta_int(s, "spans.unclear", in->unclear);
}
