/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/pages.h"

#include "base/clock.h"
#include "base/random.h"
#include "recording/join.h"
#include "report/judging/rules.h"
#include "report/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STREAMS_MAX = 128, TURN_MS = 250, BEAT_S = 15, PERIOD_MS = 1000, COST_FACTOR = 10 };
enum page_part { PAGE_WHOLE = 0, PAGE_DATA, PAGE_PARTS };

/* What was made last of one part. */
struct made {
	struct MHD_Response *response; /* NULL: nothing, or it could not be */
	int64_t at_ns, cost_ns;        /* at_ns 0: never tried */
	bool wanted;
};

struct watched {
	const char *path;
	const struct rules *builtin; /* NULL: there was no memory for them */
	struct made made[PAGE_PARTS];
	uint64_t version; /* of its data; 0: none yet */
	bool ended;
	char error[400];
	unsigned streams;
};

struct stream {
	struct pages *pages;
	struct watched *run;
	struct MHD_Connection *connection;
	struct stream *next;
	uint64_t sent;
	unsigned beat;
	bool suspended;
};

struct pages {
	struct rules *builtin;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t turn;
	pthread_t thread;
	struct watched *run;
	size_t n;
	struct stream *streams;
	unsigned nstreams, beat;
	struct MHD_Connection *waiting[CROWD_MAX];
	unsigned nwaiting;
	uint32_t boot; /* ids of another server's events are not ours */
	bool stopping;
};

/* ---- making ---- */

static int make(struct watched *w, enum page_part part, struct bytes *out, bool *ended,
		struct err *e)
{
	struct summary_wish wish = { .builtin = w->builtin };
	struct summary s;
	struct run *r;
	int rc = run_open(&r, w->path, e);

	if (rc)
		return rc;
	wish.all = page_wants_all(r);
	rc = summary_make_as(&s, r, &wish, e);
	if (!rc) {
		*ended = s.complete;
		rc = part == PAGE_DATA ? page_update_json(out, r, &s, e)
				       : page_make_live(out, r, &s, e);
		summary_free(&s);
	}
	run_close(r);
	return rc;
}

void pages_headers(struct MHD_Response *r, const char *type)
{
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "X-Frame-Options", "DENY");
	MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
}

/* The response has the bytes, or nobody has. */
static struct MHD_Response *response_of(struct bytes *b, enum page_part part)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(b->len, b->data, MHD_RESPMEM_MUST_FREE);

	if (r)
		pages_headers(r,
			      part == PAGE_DATA ? "application/json" : "text/html; charset=utf-8");
	else
		bytes_free(b);
	return r;
}

static int64_t due_ns(const struct made *m)
{
	int64_t period = m->cost_ns * COST_FACTOR;

	return m->at_ns ? m->at_ns +
				  (period > PERIOD_MS * NS_PER_MS ? period : PERIOD_MS * NS_PER_MS)
			: 0;
}

/* The next that is wanted and due; NULL: none now. */
static struct watched *next_of(struct pages *p, enum page_part *part)
{
	int64_t now = clock_mono_ns();

	for (size_t i = 0; i < p->n; i++)
		for (*part = 0; *part < PAGE_PARTS; ++*part) {
			struct watched *w = &p->run[i];
			struct made *m = &w->made[*part];
			bool followed = *part == PAGE_DATA && w->streams && !w->ended;

			if ((m->wanted || followed) && now >= due_ns(m))
				return w;
		}
	return NULL;
}

static void wake(struct pages *p)
{
	for (unsigned i = 0; i < p->nwaiting; i++)
		MHD_resume_connection(p->waiting[i]);
	p->nwaiting = 0;
	for (struct stream *s = p->streams; s; s = s->next) {
		if (s->suspended)
			MHD_resume_connection(s->connection);
		s->suspended = false;
	}
}

/* The lock is held, but not while reading. */
static void make_one(struct pages *p, struct watched *w, enum page_part part)
{
	struct made *m = &w->made[part];
	struct bytes out = { 0 };
	struct err e = { "" };
	int64_t begin = clock_mono_ns();
	bool ended = false;
	int rc;

	m->wanted = false;
	pthread_mutex_unlock(&p->lock);
	rc = make(w, part, &out, &ended, &e);
	pthread_mutex_lock(&p->lock);
	if (m->response)
		MHD_destroy_response(m->response);
	m->response = NULL;
	if (rc)
		bytes_free(&out);
	else
		m->response = response_of(&out, part);
	snprintf(w->error, sizeof w->error, "%s", rc ? e.text : "out of memory");
	m->at_ns = clock_mono_ns();
	m->cost_ns = m->at_ns - begin;
	if (part == PAGE_DATA && m->response) {
		w->ended = ended;
		w->version++;
	}
	wake(p);
}

static void wait_a_turn(struct pages *p)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += TURN_MS * NS_PER_MS;
	until.tv_sec += until.tv_nsec / NS_PER_S;
	until.tv_nsec %= NS_PER_S;
	pthread_cond_timedwait(&p->turn, &p->lock, &until);
}

static void *work(void *pages)
{
	struct pages *p = pages;
	int64_t beat_ns = clock_mono_ns();

	pthread_mutex_lock(&p->lock);
	while (!p->stopping) {
		enum page_part part;
		struct watched *w = next_of(p, &part);

		if (w)
			make_one(p, w, part);
		else
			wait_a_turn(p);
		/* Who went away is noticed when something is sent. */
		if (clock_mono_ns() - beat_ns > BEAT_S * NS_PER_S) {
			beat_ns = clock_mono_ns();
			p->beat++;
			wake(p);
		}
	}
	wake(p);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- asking ---- */

static enum MHD_Result refuse(struct MHD_Connection *c, const char *why)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		strlen(why), (void *)(uintptr_t)why, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	pages_headers(r, "text/plain; charset=utf-8");
	rc = MHD_queue_response(c, MHD_HTTP_SERVICE_UNAVAILABLE, r);
	MHD_destroy_response(r);
	return rc;
}

enum MHD_Result pages_answer(struct pages *p, struct MHD_Connection *c, size_t run, bool data,
			     void **asked)
{
	enum MHD_Result rc = MHD_YES;
	struct made *m;

	pthread_mutex_lock(&p->lock);
	m = &p->run[run].made[data ? PAGE_DATA : PAGE_WHOLE];
	if (!*asked && !p->stopping && p->nwaiting < CROWD_MAX && clock_mono_ns() >= due_ns(m)) {
		*asked = m;
		m->wanted = true;
		p->waiting[p->nwaiting++] = c;
		MHD_suspend_connection(c);
		pthread_cond_signal(&p->turn);
	} else if (*asked && m->wanted && !p->stopping && p->nwaiting < CROWD_MAX) {
		p->waiting[p->nwaiting++] = c; /* another's was made, not this one */
		MHD_suspend_connection(c);
	} else if (m->response) {
		rc = MHD_queue_response(c, MHD_HTTP_OK, m->response);
	} else {
		rc = refuse(c, p->run[run].error);
	}
	pthread_mutex_unlock(&p->lock);
	return rc;
}

static int event_text(const struct stream *s, char *out, size_t size)
{
	return snprintf(
		out, size,
		"id: %08x-%llu\nevent: version\ndata: {\"version\": %llu, \"ended\": %s}\n\n",
		s->pages->boot, (unsigned long long)s->run->version,
		(unsigned long long)s->run->version, s->run->ended ? "true" : "false");
}

static ssize_t stream_read(void *stream, uint64_t pos, char *out, size_t size)
{
	struct stream *s = stream;
	ssize_t n = 0;

	(void)pos;
	pthread_mutex_lock(&s->pages->lock);
	if (s->pages->stopping) {
		n = MHD_CONTENT_READER_END_OF_STREAM;
	} else if (s->run->version && s->sent != s->run->version) {
		s->sent = s->run->version;
		n = event_text(s, out, size);
	} else if (s->beat != s->pages->beat) {
		s->beat = s->pages->beat;
		n = snprintf(out, size, ": still here\n\n");
	} else {
		s->suspended = true;
		MHD_suspend_connection(s->connection);
	}
	pthread_mutex_unlock(&s->pages->lock);
	return n;
}

static void stream_free(void *stream)
{
	struct stream *s = stream, **at;

	pthread_mutex_lock(&s->pages->lock);
	for (at = &s->pages->streams; *at && *at != s;)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
	s->pages->nstreams--;
	s->run->streams--;
	pthread_mutex_unlock(&s->pages->lock);
	free(s);
}

static struct stream *stream_new(struct pages *p, struct MHD_Connection *c, size_t run,
				 const char *last_id)
{
	struct stream *s = calloc(1, sizeof *s);
	char id[64];

	if (!s)
		return NULL;
	*s = (struct stream){ .pages = p, .run = &p->run[run], .connection = c };
	pthread_mutex_lock(&p->lock);
	snprintf(id, sizeof id, "%08x-%llu", p->boot, (unsigned long long)s->run->version);
	if (last_id && !strcmp(last_id, id))
		s->sent = s->run->version;
	s->beat = p->beat;
	s->next = p->streams;
	p->streams = s;
	p->nstreams++;
	s->run->streams++;
	pthread_cond_signal(&p->turn);
	pthread_mutex_unlock(&p->lock);
	return s;
}

enum MHD_Result pages_stream(struct pages *p, struct MHD_Connection *c, size_t run,
			     const char *last_id)
{
	struct MHD_Response *r;
	struct stream *s;
	enum MHD_Result rc;
	bool full;

	pthread_mutex_lock(&p->lock);
	full = p->nstreams >= STREAMS_MAX;
	pthread_mutex_unlock(&p->lock);
	s = full ? NULL : stream_new(p, c, run, last_id);
	if (!s)
		return refuse(c, "too many look at this server already");
	r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 512, stream_read, s, stream_free);
	if (!r) {
		stream_free(s);
		return MHD_NO;
	}
	pages_headers(r, "text/event-stream");
	rc = MHD_queue_response(c, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return rc;
}

/* ---- beginning and end ---- */

struct pages *pages_start(char **paths, size_t n)
{
	struct pages *p = calloc(1, sizeof *p);
	pthread_condattr_t monotonic;

	if (!p)
		return NULL;
	p->n = n;
	p->run = calloc(n + 1, sizeof *p->run);
	if (rules_builtin(&p->builtin, NULL))
		p->builtin = NULL;
	for (size_t i = 0; p->run && i < n; i++)
		p->run[i] = (struct watched){ .path = paths[i], .builtin = p->builtin };
	if (!entropy_fill(&p->boot, sizeof p->boot))
		p->boot = (uint32_t)clock_utc_ns();
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&p->turn, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (p->run && !pthread_create(&p->thread, NULL, work, p))
		return p;
	rules_free(p->builtin);
	free(p->run);
	free(p);
	return NULL;
}

void pages_stop(struct pages *p)
{
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_signal(&p->turn);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
}

void pages_free(struct pages *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (enum page_part k = 0; k < PAGE_PARTS; k++)
			if (p->run[i].made[k].response)
				MHD_destroy_response(p->run[i].made[k].response);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->turn);
	rules_free(p->builtin);
	free(p->run);
	free(p);
}
