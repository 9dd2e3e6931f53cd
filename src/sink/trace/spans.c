/* SPDX-License-Identifier: Apache-2.0 */
/* spans.c - spans on their tracks: those that are events, and those stored in packs, merged
 * by their begin. Of packs so many are held as overlap each other in time. */
#include "core/phase/mark.h"
#include "sink/trace/trace_part.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The spans of one track that are on their way. */
struct feed {
	struct run_span *span;
	size_t at, n, cap;
};

static struct run_span *feed_room(struct feed *f, size_t more)
{
	if (f->at) {
		memmove(f->span, f->span + f->at, (f->n - f->at) * sizeof *f->span);
		f->n -= f->at;
		f->at = 0;
	}
	if (f->n + more > f->cap) {
		size_t cap = f->n + more + f->n / 2;
		struct run_span *moved = reallocarray(f->span, cap, sizeof *moved);

		if (!moved)
			return NULL;
		f->span = moved;
		f->cap = cap;
	}
	return f->span + f->n;
}

static bool comes_before(const struct run_span *x, const struct run_span *y)
{
	return x->begin_ns != y->begin_ns ? x->begin_ns < y->begin_ns : x->end_ns > y->end_ns;
}

static int by_begin(const void *a, const void *b)
{
	return comes_before(b, a) - comes_before(a, b);
}

/* What a thread did is nearly in order: a span comes behind those that it holds. */
static void feed_sort(struct feed *f, size_t from)
{
	size_t moves = 8 * (f->n - f->at);

	for (size_t i = from > f->at ? from : f->at + 1; i < f->n; i++) {
		struct run_span s = f->span[i];
		size_t k = i;

		for (; k > f->at && moves && comes_before(&s, &f->span[k - 1]); k--, moves--)
			f->span[k] = f->span[k - 1];
		f->span[k] = s;
		if (!moves) {
			qsort(f->span + f->at, f->n - f->at, sizeof s, by_begin);
			return;
		}
	}
}

/* In which order tracks come: by their rank, those without one last, and as they came. */
struct places {
	const struct run *r;
	uint32_t *of; /* [ninstances] */
};

struct spans {
	struct trace *t;
	const uint32_t *place;
	const char *kind; /* of the track at work, see kind_of */
	struct lane lane;
	struct feed feed;
	uint32_t *event, nevents; /* of run.spans, by track */
	uint32_t *pack, npacks;   /* of run.packs, by track and begin */
	uint32_t *bare, nbare;    /* threads of Scanner without any, by their place */
	struct err *e;
};

/* What kind of thread of Scanner's a track is; NULL: none. */
static const char *kind_of(const struct run *r, uint32_t track)
{
	return track < r->ninstances && r->instances[track].domain &&
			       !strcmp(r->instances[track].domain, SCANNER_DOMAIN)
		       ? run_label(r, track, SCANNER_KIND)
		       : NULL;
}

/* As Scanner's own traces have it. */
static bool is_wait(const char *name)
{
	return *name == 'W' &&
	       (!strcmp(name, "Wait on Input Queue") || !strcmp(name, "Wait on Output Queue"));
}

static int put_span(struct spans *x, const struct run_span *s)
{
	struct trace *t = x->t;
	struct notes notes;
	struct words words;
	struct trace_slice slice = { .group = trace_group(t, s->node, s->track),
				     .begin_ns = trace_time(t, s->node, s->begin_ns),
				     .category = x->kind ? x->kind : "span",
				     .name = s->name ? s->name : "" };

	if (x->kind && is_wait(slice.name))
		slice.colour = "grey";

	notes.n = 0;
	notes_words(&notes, &words, &slice, "detail", s->detail);
	slice.end_ns = trace_end_of(t, s->node, s->end_ns, &notes);
	return lane_put(&x->lane, t, &slice, &notes, x->e);
}

/* Those that nothing to come can stand in front of. */
static int put_before(struct spans *x, int64_t horizon_ns)
{
	struct feed *f = &x->feed;
	int rc = 0;

	while (f->at < f->n && f->span[f->at].begin_ns < horizon_ns && !rc)
		rc = put_span(x, &f->span[f->at++]);
	return rc;
}

static int take_pack(struct spans *x, uint32_t pack)
{
	const struct run_span *span;
	int n = x->t->run->unpack(x->t->run, pack, &span, x->e);
	struct run_span *to;
	size_t from;

	if (n <= 0)
		return n;
	to = feed_room(&x->feed, (size_t)n);
	if (!to)
		return trace_no_memory(x->e);
	memcpy(to, span, (size_t)n * sizeof *to);
	from = x->feed.n;
	x->feed.n += (size_t)n;
	feed_sort(&x->feed, from);
	return 0;
}

/* Whether nothing of it is in the window. */
static bool is_outside(const struct trace *t, const struct run_pack *p)
{
	return trace_time(t, p->node, p->first_ns) >= t->until_ns ||
	       trace_time(t, p->node, p->last_ns) < t->from_ns;
}

static int put_packs(struct spans *x, const uint32_t *pack, uint32_t n)
{
	const struct run_pack *packs = x->t->run->packs;
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		rc = put_before(x, packs[pack[i]].first_ns);
		if (!rc && !is_outside(x->t, &packs[pack[i]]))
			rc = take_pack(x, pack[i]);
	}
	return rc;
}

static bool same_track(uint32_t node, uint32_t track, uint32_t of_node, uint32_t of_track)
{
	return node == of_node && track == of_track;
}

/* All of one track, which is that of the next event or pack, whichever comes first. */
static int put_track(struct spans *x, uint32_t node, uint32_t track)
{
	struct run *r = x->t->run;
	char title[TITLE_MAX];
	uint32_t n = 0;
	int rc;

	lane_begin(&x->lane, track && track < r->ninstances
				     ? trace_title(x->t, track, title, sizeof title)
				     : "spans");
	x->kind = track ? kind_of(r, track) : NULL;
	x->feed.at = x->feed.n = 0;
	for (; x->nevents; x->event++, x->nevents--) {
		const struct run_span *s = &r->spans[*x->event];
		struct run_span *to;

		if (!same_track(s->node, s->track, node, track))
			break;
		to = feed_room(&x->feed, 1);
		if (!to)
			return trace_no_memory(x->e);
		*to = *s;
		x->feed.n++;
	}
	while (n < x->npacks &&
	       same_track(r->packs[x->pack[n]].node, r->packs[x->pack[n]].track, node, track))
		n++;
	rc = put_packs(x, x->pack, n);
	x->pack += n;
	x->npacks -= n;
	return rc ? rc : put_before(x, INT64_MAX);
}

static bool is_before(const struct spans *x, uint32_t node, uint32_t track, uint32_t of_node,
		      uint32_t of_track)
{
	return node != of_node ? node < of_node : x->place[track] <= x->place[of_track];
}

/* Rows without spans: those in front of a track, or, where there is none, all. */
static void put_bare(struct spans *x, bool all, uint32_t node, uint32_t track)
{
	struct trace *t = x->t;
	char title[TITLE_MAX];

	for (; x->nbare; x->bare++, x->nbare--) {
		uint32_t of = t->run->instances[*x->bare].node;

		if (!all && !is_before(x, of, *x->bare, node, track))
			return;
		trace_add_row(t, trace_group(t, of, *x->bare),
			      trace_title(t, *x->bare, title, sizeof title));
	}
}

static bool is_event_next(const struct spans *x)
{
	const struct run *r = x->t->run;
	const struct run_span *s;
	const struct run_pack *p;

	if (!x->nevents || !x->npacks)
		return x->nevents;
	s = &r->spans[*x->event];
	p = &r->packs[*x->pack];
	return is_before(x, s->node, s->track, p->node, p->track);
}

static int put_tracks(struct spans *x)
{
	const struct run *r = x->t->run;
	int rc = 0;

	while ((x->nevents || x->npacks) && !rc) {
		bool event = is_event_next(x);
		uint32_t node = event ? r->spans[*x->event].node : r->packs[*x->pack].node;
		uint32_t track = event ? r->spans[*x->event].track : r->packs[*x->pack].track;

		put_bare(x, false, node, track);
		rc = put_track(x, node, track);
	}
	put_bare(x, true, 0, 0);
	return rc;
}

static int events_by_track(const void *a, const void *b, void *ctx)
{
	const struct places *p = ctx;
	const struct run_span *x = p->r->spans + *(const uint32_t *)a;
	const struct run_span *y = p->r->spans + *(const uint32_t *)b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->track != y->track)
		return p->of[x->track] < p->of[y->track] ? -1 : 1;
	return by_begin(x, y);
}

static int packs_by_track(const void *a, const void *b, void *ctx)
{
	const struct places *p = ctx;
	const struct run_pack *x = p->r->packs + *(const uint32_t *)a;
	const struct run_pack *y = p->r->packs + *(const uint32_t *)b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->track != y->track)
		return p->of[x->track] < p->of[y->track] ? -1 : 1;
	return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

static unsigned long rank_of(const struct run *r, uint32_t track)
{
	const char *rank = track ? run_label(r, track, "rank") : NULL;

	return rank ? strtoul(rank, NULL, 10) : ULONG_MAX;
}

static int by_rank(const void *a, const void *b, void *run)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	unsigned long m = rank_of(run, x), n = rank_of(run, y);

	if (m != n)
		return m < n ? -1 : 1;
	return (x > y) - (x < y);
}

/* first .. first + n - 1, sorted; most recordings have them in order. NULL: out of memory. */
static uint32_t *sorted(uint32_t first, uint32_t n,
			int (*compare)(const void *, const void *, void *), void *ctx)
{
	uint32_t *id = calloc(n + 1u, sizeof *id);
	bool ordered = true;

	for (uint32_t i = 0; id && i < n; i++) {
		id[i] = first + i;
		ordered &= !i || compare(&id[i - 1], &id[i], ctx) <= 0;
	}
	if (id && !ordered)
		qsort_r(id, n, sizeof *id, compare, ctx);
	return id;
}

static bool places_find(struct places *p, struct run *r)
{
	uint32_t *id = sorted(0, r->ninstances, by_rank, r);

	p->r = r;
	p->of = id ? calloc(r->ninstances + 1u, sizeof *p->of) : NULL;
	for (uint32_t i = 0; p->of && i < r->ninstances; i++)
		p->of[id[i]] = i;
	free(id);
	return p->of != NULL;
}

static int bare_by_place(const void *a, const void *b, void *ctx)
{
	const struct places *p = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t m = p->r->instances[x].node, n = p->r->instances[y].node;

	if (m != n)
		return m < n ? -1 : 1;
	return p->of[x] < p->of[y] ? -1 : 1;
}

/* Threads of Scanner have a row also where they did nothing. NULL: out of memory. */
static uint32_t *find_bare(struct places *p, uint32_t *n)
{
	const struct run *r = p->r;
	uint8_t *used = calloc(r->ninstances + 1u, 1);
	uint32_t *bare = used ? calloc(r->ninstances + 1u, sizeof *bare) : NULL;

	*n = 0;
	for (uint32_t i = 1; bare && i < r->nspans; i++)
		used[r->spans[i].track] = 1;
	for (uint32_t i = 0; bare && i < r->npacks; i++)
		used[r->packs[i].track] = 1;
	for (uint32_t i = 1; bare && i < r->ninstances; i++)
		if (!used[i] && kind_of(r, i))
			bare[(*n)++] = i;
	if (*n)
		qsort_r(bare, *n, sizeof *bare, bare_by_place, p);
	free(used);
	return bare;
}

int trace_spans(struct trace *t, struct err *e)
{
	struct run *r = t->run;
	uint32_t nevents = r->nspans ? r->nspans - 1 : 0;
	struct places places;
	bool placed = places_find(&places, r);
	uint32_t *event = placed ? sorted(1, nevents, events_by_track, &places) : NULL;
	uint32_t *pack = placed ? sorted(0, r->npacks, packs_by_track, &places) : NULL;
	uint32_t nbare = 0, *bare = placed ? find_bare(&places, &nbare) : NULL;
	struct spans x = { .t = t,
			   .place = places.of,
			   .lane = { .nested = true },
			   .event = event,
			   .nevents = nevents,
			   .pack = pack,
			   .npacks = r->npacks,
			   .bare = bare,
			   .nbare = nbare,
			   .e = e };
	int rc = event && pack && bare ? put_tracks(&x) : trace_no_memory(e);

	lane_free(&x.lane);
	free(x.feed.span);
	free(event);
	free(pack);
	free(bare);
	free(places.of);
	return rc;
}

/*
 * The text of a span or a mark, KEY=VALUE ..., as notes of a slice. "category" is its
 * category, and "flow_out" and "flow_in" are the ends of arrows, with their numbers in hexadecimal.
 */

/* A number as programs write it: "0x10", "nan" and " 5" are texts. */
static bool number_read(const char *text, double *v)
{
	char *end;

	if (!isdigit((unsigned char)text[*text == '-']) || strpbrk(text, "xXpP"))
		return false;
	*v = strtod(text, &end);
	return !*end && isfinite(*v);
}

static bool flow_read(struct words *w, const char *key, const char *value)
{
	bool in = !strcmp(key, "flow_in");
	char *end;
	uint64_t id;

	if ((!in && strcmp(key, "flow_out") != 0) || w->nflows == FLOWS_MAX || !*value ||
	    !isxdigit((unsigned char)*value))
		return false;
	errno = 0;
	id = strtoull(value, &end, 16);
	if (*end || errno)
		return false;
	w->flow[w->nflows++] = (struct trace_flow){ id, in };
	return true;
}

/* False: it is no KEY=VALUE. */
static bool word_note(struct notes *x, struct words *w, struct trace_slice *s, char *word)
{
	char *value = strchr(word, '=');
	double v;

	if (!value || value == word)
		return false;
	*value++ = '\0';
	if (!strcmp(word, "category") && *value)
		s->category = value;
	else if (flow_read(w, word, value))
		return true;
	else if (number_read(value, &v))
		notes_number(x, word, v);
	else
		notes_text(x, word, value);
	return true;
}

void notes_words(struct notes *x, struct words *w, struct trace_slice *s, const char *key,
		 const char *text)
{
	const char *at = text;
	bool all = true;

	w->used = 0;
	w->nflows = 0;
	while (at && w->used < sizeof w->text) {
		char *word = w->text + w->used;

		if (!mark_word_read(&at, word, sizeof w->text - w->used)) {
			all &= !*at;
			break;
		}
		w->used += strlen(word) + 1;
		all &= word_note(x, w, s, word);
	}
	if (!all)
		notes_text(x, key, text);
	s->flow = w->flow;
	s->nflows = w->nflows;
}
