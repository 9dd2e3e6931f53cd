/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/marks.h"

#include "base/clock.h"
#include "core/phase/mark.h"
#include "job/secret/secret.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	READ_BYTES = 64 * 1024,
	LAST_READS = 256, /* of all files together */
	TEXT_MAX = 1024,
	LAST_BYTES = 64,
	TICK_NS = 10000000, /* at most, of the clock that tells when a file was changed */
};

struct file {
	int fd;
	uint32_t instance;
	int64_t seen_ns;       /* monotonic: what was written until then was read */
	int64_t told_ns;       /* the latest time that a line of it has said */
	bool too_long;         /* in the midst of such a line */
	uint32_t nlast;        /* of last */
	char last[LAST_BYTES]; /* that were read: where the file is cut and written again, others
				  are there */
};

/* A span that has begun. */
struct begun {
	uint32_t file; /* 0: free */
	uint32_t track;
	int64_t at_ns;
	bool told; /* the recording has its begin */
	char name[MARK_NAME_MAX], text[TEXT_MAX];
};

struct track {
	uint32_t file, instance;
	bool lane; /* for one command of `sonde span` after the other: free without a name */
	char name[MARK_NAME_MAX];
};

struct marks {
	const struct secret_list *secrets;
	int watch;    /* inotify; -1: none */
	bool written; /* something may be there to be read */
	uint32_t nfiles, nbegun, ntracks;
	int reads;                            /* that are left of this time's */
	struct file file[MARK_FILES_MAX + 1]; /* from 1 on */
	struct begun begun[MARK_SPANS_MAX];   /* in order of coming */
	struct track track[MARK_TRACKS_MAX];
	int64_t cut;              /* times that a file was cut */
	int64_t taken, bad, lost; /* lines: recorded; that are none; that there was no room for */
	char buffer[READ_BYTES + 1];
};

/* When lines are read, on both clocks; when the file was changed last, and whether the last of
 * these lines was that change. */
struct when {
	int64_t mono_ns, utc_ns, changed_ns;
	bool exact;
	const char *next; /* the next line that says when it was; NULL: it is not looked for yet */
	int64_t next_ns;  /* what it says; INT64_MAX: there is none */
};

struct marks *marks_open(const struct secret_list *secrets)
{
	struct marks *m = calloc(1, sizeof *m);

	if (!m)
		return NULL;
	m->secrets = secrets;
	m->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return m;
}

/* What watches the file is left to the end of the process: closing an inotify descriptor waits 15
 * to 25 ms for the kernel (Linux 6.1, synchronize_srcu), and so would the job. */
void marks_close(struct marks *m)
{
	if (!m)
		return;
	for (uint32_t i = 1; i <= m->nfiles; i++)
		close(m->file[i].fd);
	free(m);
}

int marks_fd(const struct marks *m)
{
	return m ? m->watch : -1;
}

static void watch(struct marks *m, int fd)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (m->watch < 0 || inotify_add_watch(m->watch, path, IN_MODIFY) >= 0)
		return;
	close(m->watch);
	m->watch = -1;
}

uint32_t marks_add(struct marks *m, int fd)
{
	struct stat st;

	if (fd < 0)
		return 0;
	if (!m || m->nfiles == MARK_FILES_MAX || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	watch(m, fd);
	m->written = true;
	m->file[++m->nfiles] = (struct file){ .fd = fd, .seen_ns = clock_mono_ns() };
	return m->nfiles;
}

void marks_about(struct marks *m, uint32_t file, uint32_t instance)
{
	if (m && file)
		m->file[file].instance = instance;
}

/* ---- a line ---- */

static struct track *track_find(struct marks *m, uint32_t file, bool lane, const char *name)
{
	struct track *t = m->track;

	while (t < m->track + m->ntracks &&
	       (t->file != file || t->lane != lane || strcmp(t->name, name) != 0))
		t++;
	return t < m->track + m->ntracks ? t : NULL;
}

/* Commands of `sonde span` share as many tracks as run at a time. */
static uint32_t track_of(struct marks *m, struct sample *s, uint32_t file, const char *text,
			 int64_t at_ns)
{
	char name[MARK_NAME_MAX], called[32];
	struct track *t;
	uint32_t lanes = 1;
	bool lane;

	if (!mark_text_find(text, "track", name, sizeof name))
		return m->file[file].instance;
	lane = !strncmp(name, MARK_COMMAND, sizeof MARK_COMMAND - 1);
	t = track_find(m, file, lane, name);
	if (!t && lane)
		t = track_find(m, file, true, "");
	if (!t && m->ntracks == MARK_TRACKS_MAX)
		return m->file[file].instance;
	if (!t) {
		for (t = m->track; t < m->track + m->ntracks; t++)
			lanes += t->lane && t->file == file;
		snprintf(called, sizeof called, "span %u", lanes);
		*t = (struct track){ .file = file, .lane = lane };
		t->instance = sample_instance(s, "track", lane ? called : name,
					      m->file[file].instance, at_ns, 0);
		m->ntracks += t->instance != 0;
	}
	memcpy(t->name, name, sizeof t->name);
	return t->instance;
}

/* The next command may have it. */
static void lane_free(struct marks *m, uint32_t file, uint32_t instance)
{
	for (struct track *t = m->track; t < m->track + m->ntracks; t++)
		if (t->file == file && t->instance == instance && t->lane)
			t->name[0] = '\0';
}

static void begin(struct marks *m, uint32_t file, uint32_t track, int64_t at_ns,
		  const struct mark_line *l)
{
	struct begun *b = &m->begun[m->nbegun];

	if (m->nbegun == MARK_SPANS_MAX) {
		m->lost++;
		return;
	}
	m->nbegun++;
	*b = (struct begun){ .file = file, .track = track, .at_ns = at_ns };
	memcpy(b->name, l->name, sizeof b->name);
	snprintf(b->text, sizeof b->text, "%s", l->text);
}

static void end(struct marks *m, struct sample *s, uint32_t file, uint32_t track, int64_t at_ns,
		const struct mark_line *l)
{
	char text[TEXT_MAX + MARK_LINE_MAX + 2];
	uint32_t i = m->nbegun;
	struct begun *b;
	size_t said;

	while (i && (m->begun[i - 1].file != file || m->begun[i - 1].track != track ||
		     strcmp(m->begun[i - 1].name, l->name) != 0))
		i--;
	if (!i) {
		snprintf(text, sizeof text, "ends without a begin%s%s", *l->text ? ": " : "",
			 l->text);
		sample_mark(s, track, at_ns, l->name, text);
		return;
	}
	b = &m->begun[i - 1];
	said = strlen(b->text);
	if (!strncmp(l->text, b->text, said) && strchr(" ", l->text[said]))
		said = 0; /* the end says it again */
	snprintf(text, sizeof text, "%.*s%s%s", (int)said, b->text, said && *l->text ? " " : "",
		 l->text);
	sample_span(s, track, b->at_ns, at_ns < b->at_ns ? b->at_ns : at_ns, b->name, text);
	m->nbegun--;
	memmove(b, b + 1, (m->nbegun - (i - 1)) * sizeof *b);
}

/* A time in another time namespace, or of a clock that went astray, is not a time in this one. */
static int64_t time_of(const struct mark_line *l, const struct when *w)
{
	int64_t at_ns;

	if (l->mono_ns <= w->mono_ns)
		return l->mono_ns;
	at_ns = w->mono_ns - (w->utc_ns - l->utc_ns);
	return at_ns < 0 || at_ns > w->mono_ns ? w->mono_ns : at_ns;
}

/* What one script writes is in its order: a line without a time lies between those around it that
 * have one, as far as it is not known when it was written. The clock of files is behind by up to a
 * tick, and people set it: the line was not there when the file was read before. */
static int64_t time_of_bare(const struct file *f, const struct when *w)
{
	int64_t at_ns = w->changed_ns > f->seen_ns ? w->changed_ns : f->seen_ns;

	if (w->next_ns < at_ns && w->next_ns >= f->seen_ns - TICK_NS)
		at_ns = w->next_ns;
	return at_ns < f->told_ns ? f->told_ns : at_ns;
}

/* What no longer fits with its secrets masked is masked whole. */
static const char *without_secrets(const struct secret_list *l, const char *text, char *room,
				   size_t size)
{
	struct bytes b = { .data = (uint8_t *)room, .cap = size, .fixed = true };

	secret_text(l, &b, text);
	bytes_u8(&b, 0);
	return b.failed ? SECRET_MASK : room;
}

static void take_line(struct marks *m, struct sample *s, uint32_t file, const char *line, size_t n,
		      const struct when *w)
{
	struct mark_line l;
	char text[MARK_LINE_MAX + 48], masked[MARK_LINE_MAX], name[MARK_NAME_MAX];
	int64_t at_ns, within_ns;
	uint32_t track;

	if (!n)
		return;
	if (!mark_line_parse(&l, line, n)) {
		m->bad++;
		return;
	}
	if (m->taken == MARKS_MAX) {
		m->lost++;
		return;
	}
	m->taken++;
	at_ns = l.timed ? time_of(&l, w) : time_of_bare(&m->file[file], w);
	if (l.timed && l.mono_ns == at_ns && at_ns > m->file[file].told_ns)
		m->file[file].told_ns = at_ns;
	snprintf(l.name, sizeof l.name, "%s",
		 without_secrets(m->secrets, l.name, name, sizeof name));
	l.text = without_secrets(m->secrets, l.text, masked, sizeof masked);
	track = track_of(m, s, file, l.text, at_ns);
	if (!l.timed) {
		within_ns = at_ns - m->file[file].seen_ns;
		if (w->exact || within_ns < TICK_NS)
			within_ns = TICK_NS;
		snprintf(text, sizeof text, "%s%sseen_within=%.3f", l.text, *l.text ? " " : "",
			 (double)within_ns / NS_PER_S);
		l.text = text;
	}
	if (l.kind == MARK_BEGIN) {
		begin(m, file, track, at_ns, &l);
	} else if (l.kind == MARK_END) {
		end(m, s, file, track, at_ns, &l);
		lane_free(m, file, track);
	} else {
		sample_mark(s, track, at_ns, l.name, l.text);
	}
}

/* ---- a file ---- */

static void find_next(struct when *w, char *at, char *end)
{
	char *newline;

	w->next = end;
	w->next_ns = INT64_MAX;
	while (w->next == end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		struct mark_line l;

		*newline = '\0';
		if (mark_line_parse(&l, at, (size_t)(newline - at)) && l.timed) {
			w->next = at;
			w->next_ns = l.mono_ns;
		}
		*newline = '\n';
		at = newline + 1;
	}
}

/* Whole lines among n bytes, and a last one without its end when no more will come. Returns how
 * many bytes are done with. */
static size_t take_lines(struct marks *m, struct sample *s, uint32_t file, size_t n, bool last,
			 struct when *w)
{
	struct file *f = &m->file[file];
	char *at = m->buffer, *end = m->buffer + n;
	bool exact = w->exact;

	while (at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);

		if (!newline && !last && length <= MARK_LINE_MAX && !f->too_long)
			break;
		at[length] = '\0';
		if (newline && (!w->next || at >= w->next))
			find_next(w, newline + 1, end);
		w->exact = exact && at + length + 1 >= end;
		if (!f->too_long)
			take_line(m, s, file, at, length, w);
		f->too_long = !newline;
		at += length + (newline != NULL);
	}
	return (size_t)(at - m->buffer);
}

/* When the file was changed, unless that makes no sense: then it is seen now. */
static struct when when_of(const struct file *f, const struct stat *st)
{
	struct when w = { .mono_ns = clock_mono_ns(), .utc_ns = clock_utc_ns() };
	int64_t utc_ns = st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec;

	w.changed_ns = w.mono_ns - (w.utc_ns - utc_ns);
	w.exact = w.changed_ns >= f->seen_ns - TICK_NS && w.changed_ns <= w.mono_ns;
	if (!w.exact)
		w.changed_ns = w.mono_ns;
	return w;
}

/* The end of a line is 0 once it was looked at. */
static void copy_as_read(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] == '\n' ? '\0' : from[i];
}

/* What lies before the place is still what was read there. */
static bool is_as_read(const struct file *f, off_t at)
{
	char now[LAST_BYTES];

	if (pread(f->fd, now, f->nlast, at - f->nlast) != (ssize_t)f->nlast)
		return false;
	copy_as_read(now, now, f->nlast);
	return !memcmp(now, f->last, f->nlast);
}

static void remember(struct file *f, const char *read, size_t n)
{
	if (!n)
		return;
	f->nlast = n < LAST_BYTES ? (uint32_t)n : LAST_BYTES;
	copy_as_read(f->last, read + n - f->nlast, f->nlast);
}

/* Some of what was written since; whether there is more. */
static bool take_some(struct marks *m, struct sample *s, uint32_t file, bool last)
{
	struct file *f = &m->file[file];
	off_t from = lseek(f->fd, 0, SEEK_CUR);
	struct when w;
	struct stat st;
	ssize_t n;
	size_t done;

	if (from < 0 || fstat(f->fd, &st))
		return false;
	if (st.st_size < from || !is_as_read(f, from)) {
		m->cut++;
		from = 0;
		f->nlast = 0;
		f->too_long = false;
		lseek(f->fd, 0, SEEK_SET);
	}
	w = when_of(f, &st);
	n = pread(f->fd, m->buffer, READ_BYTES, from);
	if (n > 0) {
		w.exact &= from + n == st.st_size;
		done = take_lines(m, s, file, (size_t)n, last && n < READ_BYTES, &w);
		remember(f, m->buffer, done);
		lseek(f->fd, from + (off_t)done, SEEK_SET);
	}
	if (n < READ_BYTES)
		f->seen_ns = w.mono_ns;
	return n == READ_BYTES;
}

/* Marks leave room for what else happens between two samples. */
static bool may_read(struct marks *m, const struct sample *s)
{
	return s->nevents < s->event_cap / 4 && m->reads-- > 0;
}

static void take_files(struct marks *m, struct sample *s, bool last)
{
	bool more = false;

	m->reads = last ? LAST_READS : (int)m->nfiles;
	for (uint32_t i = 1; i <= m->nfiles; i++) {
		bool here = true;

		while (here && may_read(m, s)) {
			here = take_some(m, s, i, last);
			if (!last)
				break;
		}
		more |= here;
	}
	m->written = more;
}

/* ---- all ---- */

/* So that who was killed within a span has it in its recording. */
static void tell_begun(struct marks *m, struct sample *s)
{
	for (uint32_t i = 0; i < m->nbegun; i++) {
		struct begun *b = &m->begun[i];

		if (!b->told)
			sample_span(s, b->track, b->at_ns, INT64_MAX, b->name, b->text);
		b->told = true;
	}
}

static int64_t unread(const struct marks *m)
{
	int64_t bytes = 0;

	for (uint32_t i = 1; i <= m->nfiles; i++) {
		off_t at = lseek(m->file[i].fd, 0, SEEK_CUR);
		struct stat st;

		if (at >= 0 && !fstat(m->file[i].fd, &st) && st.st_size > at)
			bytes += st.st_size - at;
	}
	return bytes;
}

static void say_left_out(const struct marks *m, struct sample *s)
{
	const struct {
		const char *key;
		int64_t number;
	} all[] = { { "marks.unclear_lines", m->bad },
		    { "marks.left_out_lines", m->lost },
		    { "marks.unread_bytes", unread(m) },
		    { "marks.cut_files", m->cut } };

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (all[i].number)
			sample_meta_int(s, all[i].key, all[i].number);
}

void marks_act(struct marks *m, struct sample *s)
{
	char events[4096];

	while (read(m->watch, events, sizeof events) > 0)
		;
	take_files(m, s, false);
}

void marks_take(struct marks *m, struct sample *s, bool last)
{
	if (!m)
		return;
	if (m->watch < 0 || m->written || last)
		take_files(m, s, last);
	tell_begun(m, s);
	if (last)
		say_left_out(m, s);
}
