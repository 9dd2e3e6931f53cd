/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/program/spans_part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SOON_NS = 1000000000,  /* later than now than this is not a time of a span */
	DETAILED_AT_ONCE = 64, /* spans and marks with arguments: their texts are long */
};

bool span_file_get(const struct span_reader *r, size_t at, void *out, size_t size)
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

	if (!span_file_get(r, 0, &head, sizeof head) || head.magic != RING_MAGIC ||
	    head.version != RING_VERSION || !head.pid || head.pid > INT32_MAX)
		return false;
	r->inner_pid = (pid_t)head.pid;
	if (is_same_namespace(head.pid_namespace))
		r->pid = (pid_t)head.pid;
	return true;
}

static void rank_read(struct span_reader *r)
{
	uint32_t rank;

	if (span_file_get(r, offsetof(struct ring_head, rank), &rank, sizeof rank) && rank &&
	    rank < INT32_MAX)
		snprintf(r->rank, sizeof r->rank, "%u", rank - 1);
}

void span_label_put(const struct span_reader *r, struct sample *s, uint32_t instance)
{
	char text[24];

	snprintf(text, sizeof text, "%d", (int)r->inner_pid);
	sample_label(s, instance, "pid", text);
	if (*r->rank)
		sample_label(s, instance, "rank", r->rank);
}

struct span_reader *span_reader_open(int fd)
{
	struct span_reader *r = is_own_regular_file(fd) ? calloc(1, sizeof *r) : NULL;

	if (!r) {
		close(fd);
		return NULL;
	}
	r->fd = fd;
	if (head_read(r)) {
		rank_read(r);
		return r;
	}
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

static uint32_t word_of(struct span_reader *r, struct span_intake *in, struct sample *s,
			uint32_t name)
{
	char text[RING_TEXT_MAX + 1];

	if (name > SPAN_NUMBERS_MAX)
		return 0;
	if (!r->word[name] && span_name_get(r, in, name, text))
		r->word[name] = sample_word(s, text);
	return r->word[name];
}

/* ---- a ring ---- */

static bool ring_get(const struct span_reader *r, uint32_t thread, struct ring_thread *out)
{
	return span_file_get(r, ring_thread_at(thread), out, sizeof *out);
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
	x->broken = !span_file_get(r, at, &first, sizeof first) ||
		    !span_file_get(r, at, &again, sizeof again);
	if (x->broken)
		return false;
	*written = first < again ? first : again;
	x->broken = *written - x->taken > RING_SLOTS;
	return !x->broken;
}

static void threads_find(struct span_reader *r)
{
	uint32_t n;

	if (!span_file_get(r, offsetof(struct ring_head, nthreads), &n, sizeof n))
		return;
	for (n = n > RING_THREADS_MAX ? RING_THREADS_MAX : n; r->nthreads < n; r->nthreads++) {
		struct reading *x = &r->thread[r->nthreads];
		size_t at = ring_thread_at(r->nthreads) + offsetof(struct ring_thread, taken);

		/* an earlier recorder has taken these */
		if (!span_file_get(r, at, &x->taken, sizeof x->taken))
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
	char name[80], number[24];

	if (x->track)
		sample_end(s, x->track, at_ns);
	x->track = 0;
	if (in->tracks == SPAN_TRACKS_MAX || !ring_get(r, thread, &ring))
		return;
	x->id = id;
	snprintf(number, sizeof number, "%lld", (long long)id);
	snprintf(name, sizeof name, "%s%s%s%.*s %s", *r->rank ? "rank " : "", r->rank,
		 *r->rank ? " " : "", (int)strnlen(ring.called, sizeof ring.called), ring.called,
		 number);
	x->track = sample_instance(s, "track", name, r->about, at_ns, 0);
	sample_label(s, x->track, "tid", number);
	span_label_put(r, s, x->track);
	in->tracks += x->track != 0;
}

static uint32_t track_of(const struct span_reader *r, uint32_t thread)
{
	return r->thread[thread].track ? r->thread[thread].track : r->about;
}

/* The thread is called so from now on; its number stays. */
static void track_name(struct span_reader *r, struct span_intake *in, struct sample *s,
		       uint32_t thread, uint32_t number)
{
	struct reading *x = &r->thread[thread];
	char text[RING_TEXT_MAX + 1], name[RING_TEXT_MAX + 64];

	if (!x->track || !span_name_get(r, in, number, text))
		return;
	snprintf(name, sizeof name, "%s%s%s%s %lld", *r->rank ? "rank " : "", r->rank,
		 *r->rank ? " " : "", text, (long long)x->id);
	sample_name(s, x->track, name);
}

/* A lane of the process, from 0. */
static uint32_t lane_track(struct span_reader *r, struct span_intake *in, struct sample *s,
			   uint32_t lane, int64_t at_ns)
{
	char name[80], number[24];

	if (r->lane_track[lane] || in->tracks == SPAN_TRACKS_MAX)
		return r->lane_track[lane] ? r->lane_track[lane] : r->about;
	snprintf(number, sizeof number, "%u", lane + 1);
	snprintf(name, sizeof name, "%s%s%sasync %d.%s", *r->rank ? "rank " : "", r->rank,
		 *r->rank ? " " : "", (int)r->inner_pid, number);
	r->lane_track[lane] = sample_instance(s, "track", name, r->about, at_ns, 0);
	sample_label(s, r->lane_track[lane], "async", number);
	span_label_put(r, s, r->lane_track[lane]);
	in->tracks += r->lane_track[lane] != 0;
	return r->lane_track[lane] ? r->lane_track[lane] : r->about;
}

static void spans_put(struct span_intake *in, struct sample *s, uint32_t track, uint32_t n)
{
	if (n && !sample_spans(s, track, in->span, n))
		number_add(&in->lost, n);
}

/* Those of lanes, n of in->apart: of each lane together, in their order. */
static void lanes_put(struct span_reader *r, struct span_intake *in, struct sample *s, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t what = in->apart[i].what, k = 0;
		uint32_t lane = what >> RING_LANE_BIT & RING_LANE_MASK;
		int64_t first_ns = in->apart[i].from_ns;

		if ((what & RING_WHAT) != RING_LANE_SPAN)
			continue;
		for (uint32_t j = i; j < n; j++) {
			struct ring_slot *x = &in->apart[j];

			if (x->what != what)
				continue;
			in->span[k++] = (struct event_span){ x->from_ns, x->to_ns,
							     word_of(r, in, s, x->name) };
			x->what = 0;
		}
		spans_put(in, s, lane_track(r, in, s, lane, first_ns), k);
	}
}

/* A mark, and what goes with it. */
static void mark_put(struct span_reader *r, uint32_t thread, struct span_intake *in,
		     struct sample *s, const struct ring_slot *slot)
{
	char name[RING_TEXT_MAX + 1] = "";

	if (in->marks == SPAN_MARKS_MAX) {
		in->lost++;
		return;
	}
	in->marks++;
	span_name_get(r, in, slot->name, name);
	span_args_text(r, in, slot + 1, span_args_slots(slot));
	sample_mark(s, track_of(r, thread), slot->from_ns, name, in->detail);
}

/* A span with arguments is told by itself. False: no more of these are kept. */
static bool detailed_put(struct span_reader *r, uint32_t thread, struct span_intake *in,
			 struct sample *s, const struct ring_slot *slot)
{
	char name[RING_TEXT_MAX + 1] = "";
	uint32_t n = span_args_slots(slot), lane = slot->what >> RING_LANE_BIT & RING_LANE_MASK;

	if (!n)
		return false;
	if (in->details == SPAN_DETAILS_MAX) {
		number_add(&in->args_left, 1);
		return false;
	}
	in->details++;
	span_name_get(r, in, slot->name, name);
	span_args_text(r, in, slot + 1, n);
	sample_span(s,
		    (slot->what & RING_WHAT) == RING_SPAN
			    ? track_of(r, thread)
			    : lane_track(r, in, s, lane, slot->from_ns),
		    slot->from_ns, slot->to_ns, name, in->detail);
	return true;
}

/* Spans of the thread before it is another's. */
static void thread_spans_put(struct span_reader *r, uint32_t thread, struct span_intake *in,
			     struct sample *s, uint32_t *n)
{
	spans_put(in, s, track_of(r, thread), *n);
	*n = 0;
}

static bool is_span(const struct ring_slot *x, int64_t soon_ns)
{
	uint32_t kind = x->what & RING_WHAT;
	bool lane = kind == RING_LANE_SPAN &&
		    (x->what >> RING_LANE_BIT & RING_LANE_MASK) < RING_LANES_MAX;

	return (kind == RING_SPAN || lane) && x->to_ns >= x->from_ns && x->to_ns <= soon_ns;
}

/* n slots of a thread, read into in->slot. */
static void slots_put(struct span_reader *r, uint32_t thread, struct span_intake *in,
		      struct sample *s, uint32_t n)
{
	int64_t soon_ns = clock_mono_ns() + SOON_NS;
	uint32_t nspans = 0, napart = 0;

	for (const struct ring_slot *x = in->slot; x < in->slot + n; x += 1 + span_args_slots(x)) {
		bool timed = x->from_ns >= 0 && x->from_ns <= soon_ns;
		bool span = timed && is_span(x, soon_ns);
		uint32_t kind = x->what & RING_WHAT;

		if (span && detailed_put(r, thread, in, s, x)) {
			continue;
		} else if (span && kind == RING_SPAN) {
			in->span[nspans++] = (struct event_span){ x->from_ns, x->to_ns,
								  word_of(r, in, s, x->name) };
		} else if (span || (timed && x->what == RING_VALUE)) {
			in->apart[napart] = *x;
			in->apart[napart++].what &= ~(~0u << RING_MORE_BIT);
		} else if (timed && kind == RING_MARK) {
			mark_put(r, thread, in, s, x);
		} else if (timed && x->what == RING_CALLED) {
			track_name(r, in, s, thread, x->name);
		} else if (timed && x->what == RING_THREAD) {
			thread_spans_put(r, thread, in, s, &nspans);
			track_begin(r, thread, in, s, x->to_ns, x->from_ns);
		} else {
			in->unclear++;
		}
	}
	thread_spans_put(r, thread, in, s, &nspans);
	lanes_put(r, in, s, napart);
	span_counters_put(r, in, s, napart);
}

/* Of n slots, those that are whole with what follows them, and not more of these than there is room
 * for. What claims to be longer than anything is, is passed over: 0. */
static uint32_t whole_slots(const struct ring_slot *slot, uint32_t n)
{
	uint32_t i = 0, detailed = 0;

	while (i < n) {
		uint32_t more = span_args_slots(&slot[i]);

		if (more > RING_MORE_MAX || i + 1 + more > n || detailed == DETAILED_AT_ONCE)
			break;
		detailed += more > 0;
		i += 1 + more;
	}
	return i;
}

/* n slots from the first on, which may be behind the ring's end. */
static bool slots_get(const struct span_reader *r, uint32_t thread, struct span_intake *in,
		      uint64_t first, uint32_t n)
{
	size_t at = ring_thread_at(thread) + RING_PAGE, size = sizeof *in->slot;
	uint32_t k = n < RING_SLOTS - first ? n : (uint32_t)(RING_SLOTS - first);

	return span_file_get(r, at + first * size, in->slot, k * size) &&
	       (k == n || span_file_get(r, at, in->slot + k, (n - k) * size));
}

/* Each slot is at most five events and their texts. */
static bool has_room(const struct sample *s)
{
	return s->event_cap - s->nevents > s->event_cap / 4 + 5 * EVENT_SPANS_MAX &&
	       s->text_cap - s->text_len > s->text_cap / 2;
}

/* Some of what a thread has written; 1: there may be more; 0: that was all; -1: no room. */
static int thread_take(struct span_reader *r, uint32_t thread, struct span_intake *in,
		       struct sample *s)
{
	struct reading *x = &r->thread[thread];
	uint64_t written, left, first = x->taken % RING_SLOTS;
	uint32_t n, whole;

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
	if (!slots_get(r, thread, in, first, n))
		return 0;
	whole = whole_slots(in->slot, n);
	if (whole)
		slots_put(r, thread, in, s, whole);
	else
		in->unclear++;
	n = whole ? whole : n;
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
		uint64_t until = r->thread[i].taken + 2 * RING_SLOTS;
		int more = 1;

		/* one that writes as fast as this reads is not listened to for ever */
		while (more > 0 && r->thread[i].taken < until)
			more = thread_take(r, i, in, s);
		all &= more >= 0;
	}
	return all;
}

/* ---- with a sample ---- */

static void count_take(struct span_reader *r, size_t at, uint64_t *before, int64_t *in)
{
	uint64_t now, more;

	if (!span_file_get(r, at, &now, sizeof now))
		return;
	more = now - *before;
	if (now > *before && more < (uint64_t)INT64_MAX / 2 - (uint64_t)*in)
		number_add(in, (int64_t)more);
	*before = now > *before ? now : *before;
}

void span_losses_take(struct span_reader *r, struct span_intake *in)
{
	count_take(r, offsetof(struct ring_head, lost), &r->lost, &in->lost);
	count_take(r, offsetof(struct ring_head, wrong_order), &r->wrong_order, &in->wrong_order);
	count_take(r, offsetof(struct ring_head, nameless), &r->nameless, &in->nameless);
	count_take(r, offsetof(struct ring_head, args_left), &r->args_left, &in->args_left);
	for (uint32_t i = 0; i < r->nthreads; i++)
		count_take(r, ring_thread_at(i) + offsetof(struct ring_thread, lost),
			   &r->thread[i].lost, &in->lost);
}

/* One that is open. */
static void open_put(struct span_reader *r, struct span_intake *in, struct sample *s,
		     uint32_t track, const struct ring_open *o)
{
	char name[RING_TEXT_MAX + 1] = "";

	span_name_get(r, in, o->name, name);
	if (o->from_ns >= 0 && o->from_ns <= clock_mono_ns())
		sample_span(s, track, o->from_ns, INT64_MAX, name, "");
}

static void thread_open_put(struct span_reader *r, uint32_t thread, struct span_intake *in,
			    struct sample *s)
{
	struct ring_thread ring;

	if (!ring_get(r, thread, &ring))
		return;
	for (uint32_t i = 0; i < ring.depth && i < RING_OPEN_MAX; i++)
		open_put(r, in, s, track_of(r, thread), &ring.open[i]);
}

static void lanes_open_put(struct span_reader *r, struct span_intake *in, struct sample *s)
{
	uint32_t n = 0;

	span_file_get(r, offsetof(struct ring_head, nlane_chunks), &n, sizeof n);
	n = n > RING_LANES_MAX / RING_LANES_CHUNK ? RING_LANES_MAX / RING_LANES_CHUNK : n;
	for (uint32_t i = 0; i < n * RING_LANES_CHUNK && has_room(s); i++) {
		struct ring_lane lane;
		size_t at = ring_lanes_at(0) + i * sizeof lane;
		struct ring_open o;

		if (!span_file_get(r, at, &lane, sizeof lane))
			i |= RING_LANES_CHUNK - 1; /* not mapped */
		else if (lane.lane && lane.lane <= RING_LANES_MAX) {
			o = (struct ring_open){ .from_ns = lane.from_ns, .name = lane.name };
			open_put(r, in, s, lane_track(r, in, s, lane.lane - 1, o.from_ns), &o);
		}
	}
}

void span_reader_end(struct span_reader *r, struct span_intake *in, struct sample *s)
{
	int64_t end_ns = s->last ? s->mono_ns : clock_mono_ns(); /* it may be between two samples */

	span_losses_take(r, in);
	span_counters_flush(r, in, s);
	for (uint32_t i = 0; i < r->nthreads; i++) {
		uint64_t written;

		if (written_get(r, i, &written))
			number_add(&in->lost, (int64_t)(written - r->thread[i].taken));
		thread_open_put(r, i, in, s);
		sample_end(s, r->thread[i].track, end_ns);
	}
	lanes_open_put(r, in, s);
	for (uint32_t i = 0; i < RING_LANES_MAX; i++)
		sample_end(s, r->lane_track[i], end_ns);
	if (!s->last) {
		span_counters_end(r, s);
		span_mpi_end(r, s, end_ns);
	}
}

static void report(struct sample *s, const char *key, int64_t now, int64_t *told)
{
	if (now != *told)
		sample_meta_int(s, key, now);
	*told = now;
}

void span_intake_report(struct span_intake *in, struct sample *s)
{
	report(s, "spans.left_out", in->lost, &in->told.lost);
	report(s, "spans.wrong_order", in->wrong_order, &in->told.wrong_order);
	report(s, "spans.nameless", in->nameless, &in->told.nameless);
	report(s, "spans.arguments_left_out", in->args_left, &in->told.args_left);
	report(s, "counters.values_left_out", in->thinned, &in->told.thinned);
	if (s->last && in->unclear)
		sample_meta_int(s, "spans.unclear", in->unclear);
}
