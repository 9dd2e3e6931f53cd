/* SPDX-License-Identifier: Apache-2.0 */
#include "job/marklog.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/root.h"
#include "core/phase/mark.h"
#include "job/leftover.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { LOG_TAIL_LINES = 10, LOG_TAIL_BYTES = 1200 };

enum {
	READ_BYTES = 64 * 1024,
	REST_MS = 20,  /* between two looks, so that who writes much is not listened to always */
	LOOK_MS = 250, /* for logs that come, or are another file */
	CPU_MS = 500,  /* the most for READ_BYTES */
	SHARE = 20,    /* one part in so many of a core */
	MEMORY_MB = 256,
};
static const off_t backlog_max = 4 << 20; /* more than that is left out */

struct log {
	int fd, watch;
	off_t at, from; /* from: what is before it is not the job's */
	dev_t device;
	ino_t inode;
	int64_t seen_ns;  /* monotonic: what was written until then was read */
	bool within;      /* in the midst of a line that was looked at, or left out */
	int64_t left_out; /* bytes */
};

struct follower {
	const struct mark_log *l;
	struct log log[MARK_LOGS_MAX];
	int inotify, marks;
	int64_t looked_ns; /* for files: what is new was written since */
	struct bytes text, line;
	char buffer[READ_BYTES + 1];
};

/* ---- the end of a log whose job failed ---- */

enum { LAST_MAX = 160, PATH_MAX_TOLD = 200 };

/* The bytes at the end, from the begin of a line on where one begins there. */
static size_t read_end(char *out, int fd, off_t from)
{
	struct stat st;
	off_t at;
	ssize_t n;
	char *begin;

	if (fstat(fd, &st))
		return 0;
	at = st.st_size > LOG_TAIL_BYTES ? st.st_size - LOG_TAIL_BYTES : 0;
	if (at < from && from <= st.st_size)
		at = from;
	n = pread(fd, out, LOG_TAIL_BYTES, at);
	if (n <= 0)
		return 0;
	begin = at > from ? memchr(out, '\n', (size_t)n - 1) : NULL;
	if (begin)
		memmove(out, begin + 1, (size_t)(n -= begin + 1 - out));
	return (size_t)n;
}

static void clean(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') ||
		    text[i] == 0x7f)
			text[i] = '?';
	while (n && strchr("\n\t ", text[n - 1]))
		n--;
	text[n] = '\0';
}

/* The last LOG_TAIL_LINES of them. */
static const char *last_lines(const char *text, unsigned *lines)
{
	const char *at = text + strlen(text);

	*lines = 1;
	while (at > text && (at[-1] != '\n' || (*lines)++ < LOG_TAIL_LINES))
		at--;
	return at;
}

static void put_word(struct bytes *out, const char *key, const char *value)
{
	char word[LOG_TAIL_BYTES + 16];

	snprintf(word, sizeof word, "%s=%s", key, value);
	bytes_u8(out, ' ');
	mark_word_write(out, word);
}

/* The line of the file of marks, of what is in fd from `from` on; nothing when nothing is. Control
 * characters become '?'. */
static void log_tail_mark(struct bytes *out, const char *path, int fd, off_t from)
{
	char text[LOG_TAIL_BYTES + 1], name[PATH_MAX_TOLD + 1], last[LAST_MAX + 1];
	const char *lines, *end;
	unsigned n;

	clean(text, read_end(text, fd, from));
	if (!*text)
		return;
	lines = last_lines(text, &n);
	end = strrchr(lines, '\n');
	snprintf(name, sizeof name, "%s", path);
	snprintf(last, sizeof last, "%s", end ? end + 1 : lines);
	clean(name, strlen(name));
	bytes_puts(out, "M sonde.log_end");
	put_word(out, "log", name);
	put_word(out, "last", last);
	put_word(out, "text", lines);
	bytes_u8(out, '\n');
}

/* ---- an expression that takes for ever ---- */

static int told_fd = -1; /* a handler is handed nothing */
static const char stopped[] = "M sonde.mark_rules_stopped reason=\"an expression took too long\"\n";

static void on_timer(int signal)
{
	(void)signal;
	(void)!write(told_fd, stopped, sizeof stopped - 1);
	_exit(0);
}

static void allow_cpu(int ms)
{
	const struct itimerval t = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	setitimer(ITIMER_VIRTUAL, &t, NULL);
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) ? 0 : t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* ---- lines ---- */

struct when {
	int64_t mono_ns, utc_ns;
	double within_s; /* it was written so long before, at most */
};

static void put_mark(struct follower *f, const struct when *w, struct mark_line *m)
{
	struct bytes b = { 0 };

	bytes_printf(&b, "%s%sseen_within=%.3f", m->text, *m->text ? " " : "", w->within_s);
	bytes_u8(&b, 0);
	m->timed = true;
	m->mono_ns = w->mono_ns;
	m->utc_ns = w->utc_ns;
	m->text = (const char *)b.data;
	bytes_reset(&f->line);
	if (!b.failed)
		mark_line_write(&f->line, m);
	if (!b.failed && !f->line.failed)
		(void)!write(f->marks, f->line.data, f->line.len);
	bytes_free(&b);
}

/* Each rule may make a mark of it. */
static void take_line(struct follower *f, char *line, size_t n, const struct when *w)
{
	struct mark_line m;

	if (n && line[n - 1] == '\r')
		n--;
	if (n > MARK_LOG_LINE_MAX)
		n = MARK_LOG_LINE_MAX;
	line[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (!line[i])
			line[i] = '?';
	for (uint32_t i = 0; i < f->l->nrules; i++)
		if (mark_rule_apply(&f->l->rule[i], line, &m, &f->text))
			put_mark(f, w, &m);
}

/* Whole lines among n bytes, the begin of one that is too long, and, last, the rest. How many bytes
 * are done with. */
static size_t take_lines(struct follower *f, struct log *g, size_t n, bool last,
			 const struct when *w)
{
	char *at = f->buffer, *end = f->buffer + n;

	while (at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);

		if (!newline && !last && length <= MARK_LOG_LINE_MAX && !g->within)
			break;
		if (!g->within)
			take_line(f, at, length, w);
		g->within = !newline;
		at += length + (newline != NULL);
	}
	return (size_t)(at - f->buffer);
}

/* ---- files ---- */

/* The time of the last change, where that makes sense. */
static struct when when_of(const struct log *g, const struct stat *st)
{
	struct when w = { .mono_ns = clock_mono_ns(), .utc_ns = clock_utc_ns() };
	int64_t changed = w.utc_ns - (st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec);

	if (changed > 0 && w.mono_ns - changed >= g->seen_ns) {
		w.mono_ns -= changed;
		w.utc_ns -= changed;
	}
	w.within_s = (double)(w.mono_ns - g->seen_ns) / NS_PER_S;
	return w;
}

/* Some of what was written since. Whether there is more. */
static bool take_some(struct follower *f, struct log *g, bool last)
{
	struct when w;
	struct stat st;
	int64_t now;
	ssize_t n;

	if (g->fd < 0 || fstat(g->fd, &st))
		return false;
	if (st.st_size < g->at) { /* emptied */
		g->at = g->from = 0;
		g->within = false;
	}
	if (st.st_size - g->at > backlog_max) {
		g->left_out += st.st_size - READ_BYTES - g->at;
		g->at = st.st_size - READ_BYTES;
		g->within = true;
	}
	w = when_of(g, &st);
	now = clock_mono_ns();
	n = pread(g->fd, f->buffer, READ_BYTES, g->at);
	if (n > 0) {
		allow_cpu(CPU_MS);
		g->at += (off_t)take_lines(f, g, (size_t)n, last && n < READ_BYTES, &w);
		allow_cpu(0);
	}
	if (n < READ_BYTES)
		g->seen_ns = now;
	return n == READ_BYTES;
}

/* A regular file by this name that is not the one that is open. */
static void open_log(struct follower *f, struct log *g, const char *path, bool from_end)
{
	struct stat st;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode) ||
	    (g->fd >= 0 && st.st_ino == g->inode && st.st_dev == g->device))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (take_some(f, g, true)) /* what the one before got last */
		;
	if (g->fd >= 0)
		close(g->fd);
	if (g->watch >= 0)
		inotify_rm_watch(f->inotify, g->watch);
	*g = (struct log){ .fd = fd,
			   .watch = inotify_add_watch(f->inotify, path, IN_MODIFY),
			   .at = from_end ? st.st_size : 0,
			   .from = from_end ? st.st_size : 0,
			   .device = st.st_dev,
			   .inode = st.st_ino,
			   .seen_ns = from_end ? clock_mono_ns() : f->looked_ns,
			   .left_out = g->left_out };
}

static void open_logs(struct follower *f, bool from_end)
{
	int64_t now = clock_mono_ns();

	for (uint32_t i = 0; i < f->l->npaths; i++)
		open_log(f, &f->log[i], f->l->path[i], from_end);
	f->looked_ns = now;
}

/* ---- all ---- */

/* Until something was written, it is time to look for files, or the end. True: the end. */
static bool wait_for(struct follower *f, int ms)
{
	struct pollfd p[] = { { .fd = f->l->ended, .events = POLLIN },
			      { .fd = ms > REST_MS ? f->inotify : -1, .events = POLLIN } };
	char events[4096];

	poll(p, 2, ms);
	while (f->inotify >= 0 && read(f->inotify, events, sizeof events) > 0)
		;
	return p[0].revents;
}

/* Who ends it says so before. */
static bool failed(const struct follower *f)
{
	char word;

	return recv(f->l->ended, &word, 1, MSG_DONTWAIT) == 1;
}

static void put_ends(struct follower *f)
{
	for (uint32_t i = 0; i < f->l->npaths; i++) {
		bytes_reset(&f->line);
		if (f->log[i].fd >= 0)
			log_tail_mark(&f->line, f->l->path[i], f->log[i].fd, f->log[i].from);
		if (f->line.len && !f->line.failed)
			(void)!write(f->marks, f->line.data, f->line.len);
	}
}

static void finish(struct follower *f)
{
	int64_t left_out = 0;

	open_logs(f, false);
	for (uint32_t i = 0; i < f->l->npaths; i++) {
		while (take_some(f, &f->log[i], true))
			;
		left_out += f->log[i].left_out;
	}
	if (left_out)
		dprintf(f->marks, "M sonde.mark_log_left_out bytes=%lld\n", (long long)left_out);
	if (failed(f))
		put_ends(f);
}

static void follow(struct follower *f)
{
	bool more = false;

	open_logs(f, true);
	while (!wait_for(f, more ? REST_MS : LOOK_MS)) {
		int64_t before = cpu_ns(), used;

		if (poll(&(struct pollfd){ .fd = f->l->ended, .events = POLLIN }, 1, REST_MS) > 0)
			break;
		open_logs(f, false);
		more = false;
		for (uint32_t i = 0; i < f->l->npaths; i++)
			more |= take_some(f, &f->log[i], false);
		used = cpu_ns() - before;
		if (used * SHARE > REST_MS * NS_PER_MS &&
		    poll(&(struct pollfd){ .fd = f->l->ended, .events = POLLIN }, 1,
			 (int)(used * SHARE / NS_PER_MS)) > 0)
			break;
	}
	finish(f);
}

void mark_log_follow(const struct mark_log *l)
{
	const struct rlimit memory = { (rlim_t)MEMORY_MB << 20, (rlim_t)MEMORY_MB << 20 };
	const struct sigaction act = { .sa_handler = on_timer };
	struct follower *f = calloc(1, sizeof *f);
	sigset_t timer;

	if (!f)
		return;
	f->l = l;
	for (uint32_t i = 0; i < MARK_LOGS_MAX; i++)
		f->log[i].fd = f->log[i].watch = -1;
	f->marks = told_fd = open(l->marks, O_WRONLY | O_APPEND | O_CLOEXEC);
	f->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	setpriority(PRIO_PROCESS, 0, 19);
	setrlimit(RLIMIT_DATA, &memory);
	sigemptyset(&timer);
	sigaddset(&timer, SIGVTALRM);
	sigprocmask(SIG_UNBLOCK, &timer, NULL);
	sigaction(SIGVTALRM, &act, NULL);
	if (f->marks >= 0)
		follow(f);
	bytes_free(&f->text);
	bytes_free(&f->line);
	free(f);
}

static const char nowhere[] = "/dev/null", name[] = "/marks";

static bool make(struct mark_file *f)
{
	const char *told = getenv("TMPDIR"), *where = told && told[0] == '/' ? told : "/tmp";
	int fd;

	f->folder = leftover_folder(where, "sonde-marks", f->path, sizeof f->path - sizeof name);
	if (f->folder < 0) {
		f->path[0] = '\0';
		return false;
	}
	memcpy(f->path + strlen(f->path), name, sizeof name);
	fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	f->fd = fd < 0 ? -1 : open(f->path, O_RDONLY | O_CLOEXEC);
	return f->fd >= 0;
}

void mark_file_make(struct mark_file *f)
{
	f->fd = f->folder = -1;
	if (!make(f))
		mark_file_remove(f);
	mark_file_export(f);
}

void mark_file_export(const struct mark_file *f)
{
	setenv(MARK_FILE_VARIABLE, f->path[0] ? f->path : nowhere, 1);
}

void mark_file_close(struct mark_file *f)
{
	file_close(&f->fd);
	file_close(&f->folder);
	f->path[0] = '\0';
	mark_file_export(f);
}

void mark_file_remove(struct mark_file *f)
{
	if (f->path[0])
		mark_file_unlink(f->path);
	mark_file_close(f);
}

void mark_file_unlink(const char *path)
{
	char directory[PATH_MAX];
	const char *end = strrchr(path, '/');

	unlink(path);
	if (end && end > path && (size_t)(end - path) < sizeof directory) {
		snprintf(directory, sizeof directory, "%.*s", (int)(end - path), path);
		rmdir(directory);
	}
}
