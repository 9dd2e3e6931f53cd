/* SPDX-License-Identifier: Apache-2.0 */
#include "job/said.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/root.h"
#include "base/text/escape.h"
#include "core/ring.h"
#include "job/leftover.h"
#include "job/message.h"
#include "job/secret/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool make_in(struct span_folder *f, const char *where)
{
	f->fd = leftover_folder(where, "sonde-spans", f->path, sizeof f->path);
	return f->fd >= 0;
}

static bool is_in_memory(const char *where)
{
	struct statfs fs;

	return !statfs(where, &fs) && fs.f_type == TMPFS_MAGIC;
}

/* The variable names it; there is no such variable where there is none. */
static void span_folder_export(const struct span_folder *f)
{
	if (f->path[0])
		setenv(RING_FOLDER_VARIABLE, f->path, 1);
	else
		unsetenv(RING_FOLDER_VARIABLE);
}

/* The job's own place first: whoever cleans up behind jobs knows it. */
static void span_folder_make(struct span_folder *f)
{
	const char *told = getenv("TMPDIR"), *where = told && told[0] == '/' ? told : "/tmp";

	if (!(is_in_memory(where) && make_in(f, where)) && !make_in(f, "/dev/shm") &&
	    !make_in(f, where)) {
		f->path[0] = '\0';
		f->fd = -1;
	}
	span_folder_export(f);
}

/* It stays where it is. */
static void span_folder_close(struct span_folder *f)
{
	file_close(&f->fd);
	f->path[0] = '\0';
	span_folder_export(f);
}

/* Nothing that is executed from then on is told of it. */
static void span_folder_remove(struct span_folder *f)
{
	if (f->path[0])
		leftover_remove(f->path);
	span_folder_close(f);
}

enum { PATIENCE_MS = 5000 }; /* on a node that hundreds of tasks crowd, a second is little */

/* What was made. Two packets of a byte follow, since each bears one descriptor. */
struct places {
	char marks[PATH_MAX];
	char spans[SPAN_FOLDER_SIZE];
};

static void tidy(const struct said *x)
{
	char folder[PATH_MAX];
	char *slash;

	snprintf(folder, sizeof folder, "%s", x->marks.path);
	slash = strrchr(folder, '/');
	if (slash) {
		*slash = '\0';
		leftover_tidy(folder);
	}
	leftover_tidy(x->spans.path);
}

/* Nobody waits for it any more when it cannot send: what it made goes. */
static void make_elsewhere(int fd)
{
	struct said x;
	struct places p;

	mark_file_make(&x.marks);
	span_folder_make(&x.spans);
	memcpy(p.marks, x.marks.path, sizeof p.marks);
	memcpy(p.spans, x.spans.path, sizeof p.spans);
	if (packet_send(fd, &p, sizeof p, x.marks.fd) || packet_send(fd, "", 1, x.marks.folder) ||
	    packet_send(fd, "", 1, x.spans.fd)) {
		mark_file_remove(&x.marks);
		span_folder_remove(&x.spans);
		return;
	}
	tidy(&x);
}

/* Their place may be one whose server is gone: whoever asks it may wait for ever. */
static bool is_elsewhere(void)
{
	const char *where = getenv("TMPDIR");

	return where && *where == '/';
}

void said_tidy(const struct said *x)
{
	if (!is_elsewhere()) /* else who made them does it */
		tidy(x);
}

static void remove_elsewhere(const struct said *x)
{
	if (x->marks.path[0])
		mark_file_unlink(x->marks.path);
	if (x->spans.path[0])
		leftover_remove(x->spans.path);
}

/* A process that makes them. Its socket, which it closes; -errno. */
static int elsewhere(pid_t *maker)
{
	int pair[2], forked;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	forked = orphan_fork();
	if (!forked) {
		make_elsewhere(pair[1]);
		_exit(0);
	}
	close(pair[1]);
	*maker = forked;
	if (forked > 0)
		return pair[0];
	close(pair[0]);
	return forked;
}

/* A packet of this size, in time. */
static bool hear(int fd, void *to, size_t n, int *passed)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	*passed = -1;
	return poll(&p, 1, PATIENCE_MS) > 0 && packet_take(fd, to, n, passed) == (ssize_t)n;
}

static bool hear_all(struct said *x, int fd)
{
	struct places p;
	char last;

	if (!hear(fd, &p, sizeof p, &x->marks.fd))
		return false;
	memcpy(x->marks.path, p.marks, sizeof p.marks);
	memcpy(x->spans.path, p.spans, sizeof p.spans);
	return hear(fd, &last, 1, &x->marks.folder) && hear(fd, &last, 1, &x->spans.fd);
}

static void forget(struct said *x)
{
	mark_file_close(&x->marks);
	span_folder_close(&x->spans);
}

int said_make(struct said *x, struct err *e)
{
	bool heard;
	pid_t maker = 0;
	int fd = is_elsewhere() ? elsewhere(&maker) : -ENOENT;

	*x = (struct said){ .marks = { .fd = -1, .folder = -1 }, .spans.fd = -1 };
	if (fd < 0) {
		mark_file_make(&x->marks);
		span_folder_make(&x->spans);
		return 0;
	}
	heard = hear_all(x, fd);
	close(fd);
	/* Process 1 is the parent of all; what it leaves would be seen as the job's. */
	waitpid(maker, NULL, heard ? 0 : WNOHANG);
	mark_file_export(&x->marks);
	span_folder_export(&x->spans);
	if (!heard)
		forget(x);
	return heard ? 0
		     : err_set(e, -ETIMEDOUT,
			       "%.300s (TMPDIR) does not answer: no marks and spans are recorded",
			       getenv("TMPDIR"));
}

void said_taken(struct said *x)
{
	file_close(&x->marks.fd);
}

/* What a thread of the launcher does must not be counted as input and output of the job: it posts a
 * semaphore, since a write to a pipe or an eventfd is counted. */
static bool done_within(sem_t *done, int ms)
{
	struct timespec until;
	int64_t ns;
	int rc;

	clock_gettime(CLOCK_REALTIME, &until);
	ns = until.tv_nsec + ms * NS_PER_MS;
	until.tv_sec += ns / NS_PER_S;
	until.tv_nsec = ns % NS_PER_S;
	while ((rc = sem_timedwait(done, &until)) && errno == EINTR)
		;
	return !rc;
}

struct removal {
	struct said what;
	sem_t done;
};

static void *remove_it(void *given)
{
	struct removal *r = given;

	remove_elsewhere(&r->what);
	sem_post(&r->done);
	return NULL;
}

/* In a thread, since a process might be seen as one of the job's. One that hangs ends with the
 * launcher. */
static bool remove_in_time(const struct said *x)
{
	static struct removal r; /* a thread that hangs still has it */
	pthread_t thread;

	r.what = *x;
	if (sem_init(&r.done, 0, 0) || pthread_create(&thread, NULL, remove_it, &r))
		return false;
	pthread_detach(thread);
	done_within(&r.done, PATIENCE_MS);
	return true;
}

void said_remove(struct said *x)
{
	bool any = x->marks.path[0] || x->spans.path[0];

	if (any && !(getenv("TMPDIR") && remove_in_time(x)))
		remove_elsewhere(x);
	forget(x);
}

/* A stack trace of Java has 1,024 lines, which a recursion without an end fills with one. */
enum { READ_MS = 1000, STACK_BYTES = 64 * 1024, END_BYTES = 96 * 1024, REPEATS_LEAST = 4 };

static const char refused[] = "--no-error-text was given", silent[] = "nothing was printed";

/* A regular file, of this size: of what the kernel has at hand, since its server may be gone. */
static bool is_file(int fd, struct printed_place *p, const char **absent)
{
	struct statx x;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &x)) {
		*absent = errno == EBADF ? "standard error is closed"
					 : "standard error cannot be examined";
		return false;
	}
	p->from = (int64_t)x.stx_size;
	p->at_hand = x.stx_dev_major;
	*absent = S_ISREG(x.stx_mode)    ? NULL
		  : isatty(fd)           ? "standard error is a terminal"
		  : S_ISFIFO(x.stx_mode) ? "standard error is a pipe"
		  : S_ISSOCK(x.stx_mode) ? "standard error is a socket"
					 : "standard error is not a file";
	return !*absent;
}

void printed_begin(struct printed_place *p, enum printed_wish wish)
{
	const char *why;

	*p = (struct printed_place){ .fd = -1, .absent = refused };
	if (wish != PRINTED_WANTED)
		return;
	if (is_file(STDERR_FILENO, p, &p->absent)) {
		p->fd = STDERR_FILENO;
	} else if (is_file(STDOUT_FILENO, p, &why)) {
		p->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		p->is_output = true;
	}
}

void printed_end(struct printed_place *p)
{
	if (p->is_output)
		file_close(&p->fd);
	p->fd = -1;
}

static size_t line_length(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return (size_t)((newline ? newline + 1 : end) - at);
}

/* A line that is there again and again is kept once, with a line that says how often it came.
 * Returns how long the text is then. */
static size_t squeeze_repeats(char *text, size_t n)
{
	char *to = text, said[64];
	const char *at = text, *end = text + n;

	while (at < end) {
		size_t length = line_length(at, end), again = 0, m = 0;
		const char *line = at;

		for (at += length; at + length <= end && !memcmp(at, line, length); at += length)
			again++;
		if (again >= REPEATS_LEAST)
			m = (size_t)snprintf(said, sizeof said, "[the line above %zu more times]\n",
					     again);
		if (!m || m > again * length) { /* no shorter so */
			length = (size_t)(at - line);
			m = 0;
		}
		memmove(to, line, length);
		memcpy(to + length, said, m);
		to += length + m;
	}
	return (size_t)(to - text);
}

/* The last bytes of fd, of those from `from` on; of a file that was emptied, of all. */
static void read_end(int fd, int64_t from, struct printed *out)
{
	static char text[END_BYTES];
	struct stat st;
	int64_t at;
	ssize_t n = -1;
	size_t kept = 0;

	if (!fstat(fd, &st)) {
		from = st.st_size < from ? 0 : from;
		at = st.st_size - END_BYTES;
		at = at < from ? from : at;
		n = st.st_size > at ? memory_of_file(fd, text, (size_t)(st.st_size - at), at) : 0;
		kept = squeeze_repeats(text, n > 0 ? (size_t)n : 0);
		out->n = (uint32_t)(kept < sizeof out->text ? kept : sizeof out->text);
		out->is_cut = at > from || kept > out->n;
		memcpy(out->text, text + kept - out->n, out->n);
	}
	if (n < 0)
		snprintf(out->absent, sizeof out->absent, "its file cannot be read");
	else if (!n)
		snprintf(out->absent, sizeof out->absent, "%s", silent);
}

/* A thread that hangs still has it when nobody waits any more. */
struct reading {
	int fd;
	sem_t done;
	int64_t from;
	struct printed what;
};

static void *read_it(void *given)
{
	struct reading *r = given;
	char path[32];
	int fd;

	snprintf(path, sizeof path, "/proc/self/fd/%d", r->fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		snprintf(r->what.absent, sizeof r->what.absent, "its file cannot be opened");
	else
		read_end(fd, r->from, &r->what);
	if (fd >= 0)
		close(fd);
	sem_post(&r->done);
	return NULL;
}

/* In a thread, since a process might be seen as one of the job's. */
static bool start_reading(struct reading *r)
{
	pthread_attr_t a;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&a))
		return false;
	pthread_attr_setstacksize(&a, STACK_BYTES);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	started = !pthread_create(&thread, &a, read_it, r);
	pthread_attr_destroy(&a);
	return started;
}

void printed_read(const struct printed_place *p, struct printed *out)
{
	static struct reading r;
	const char *absent = p->absent, *why;
	struct printed_place now = *p;

	*out = (struct printed){ .version = MESSAGE_VERSION,
				 .kind = MESSAGE_PRINTED,
				 .is_output = p->is_output };
	if (p->fd >= 0 && is_file(p->fd, &now, &why) && now.at_hand && now.from == p->from) {
		absent = silent;
	} else if (p->fd >= 0) {
		absent = "it could not be read";
		r.fd = p->fd;
		r.from = p->from;
		r.what = *out;
		if (!sem_init(&r.done, 0, 0) && start_reading(&r)) {
			absent = "its file system does not answer";
			if (done_within(&r.done, READ_MS)) {
				*out = r.what;
				absent = out->absent;
			}
		}
	}
	memmove(out->absent, absent, strlen(absent) + 1);
}

/* ---- as metadata ---- */

enum { ESCAPE = 0x1b, BELL = 7, UTF8_MOST = 3 * ERROR_TEXT_BYTES, MASKED_MOST = 32 * 1024 };

/* Bytes of the escape sequence that begins here (ECMA-48): a control sequence, a string up to its
 * end, or one character behind ESC. */
static size_t escape_length(const char *at, const char *end)
{
	const char *p = at + 1;

	if (p < end && *p == '[') {
		for (p++; p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x40; p++)
			;
	} else if (p < end && *p && strchr("]PX^_", *p)) {
		while (p < end && *p != BELL && *p != '\n' && !(*p == ESCAPE && p != at))
			p++;
		p += p < end && *p == ESCAPE && p + 1 < end && p[1] == '\\';
	}
	return (size_t)(p - at) + (p < end && *p != '\n');
}

/* C1, as UTF-8 has them, too: terminals take them for escape sequences. */
static bool is_control(const char *at, const char *end)
{
	unsigned char c = (unsigned char)*at;

	return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f ||
	       (c == 0xc2 && at + 1 < end && (unsigned char)at[1] >= 0x80 &&
		(unsigned char)at[1] < 0xa0);
}

/* What a terminal would show: a carriage return begins its line anew. out has room for n + 1. */
static void strip(const char *text, size_t n, char *out)
{
	const char *at = text, *end = text + n;
	size_t to = 0, line = 0;

	while (at < end) {
		size_t skip = 0;

		if (*at == ESCAPE)
			skip = escape_length(at, end);
		else if (is_control(at, end))
			skip = (unsigned char)*at == 0xc2 ? 2 : 1;
		if (*at == '\r' && at + 1 < end && at[1] != '\n' && at[1] != '\r')
			to = line;
		if (!skip)
			out[to++] = *at;
		if (*at == '\n')
			line = to;
		at += skip ? skip : 1;
	}
	out[to] = '\0';
}

/* Of what begins within a line the first whole one. */
static const char *first_whole_line(const struct printed *p)
{
	const char *newline = memchr(p->text, '\n', p->n);

	return !p->is_cut ? p->text : newline ? newline + 1 : NULL;
}

/* The last lines that are not empty at the end, and no more bytes than are kept. */
static char *last_lines(char *text)
{
	size_t n = strlen(text), lines = 1;
	char *at;

	while (n && strchr("\n\t ", text[n - 1]))
		n--;
	text[n] = '\0';
	for (at = text + n; at > text; at--)
		if (at[-1] == '\n' && lines++ == ERROR_TEXT_LINES)
			break;
	if (text + n - at <= ERROR_TEXT_BYTES)
		return at;
	at = strchr(text + n - ERROR_TEXT_BYTES, '\n');
	return at ? at + 1 : text + n;
}

/* A key may have been cut off at its begin. */
static bool is_end_of_key(const char *text)
{
	return strstr(text, "-----END ") && !strstr(text, "-----BEGIN ");
}

/* In `masked`, without secrets; NULL: there is not one whole line. */
static char *clean(const struct printed *p, const struct secret_list *l, struct bytes *masked)
{
	const char *from = first_whole_line(p);
	char plain[ERROR_TEXT_BYTES + 1];
	uint8_t valid[UTF8_MOST + 1];
	struct bytes utf8 = { .data = valid, .cap = sizeof valid, .fixed = true };

	_Static_assert((int)ERROR_TEXT_BYTES == (int)MESSAGE_PRINTED_BYTES, "room for all of it");
	if (!from)
		return NULL;
	strip(from, (size_t)(p->text + p->n - from), plain);
	escape_utf8(&utf8, plain);
	bytes_u8(&utf8, '\0');
	if (utf8.failed)
		return NULL;
	if (is_end_of_key((const char *)valid))
		bytes_puts(masked, SECRET_MASK);
	else
		secret_text(l, masked, (const char *)valid);
	bytes_u8(masked, '\0');
	return masked->failed ? NULL : last_lines((char *)masked->data);
}

static void say(struct sample *s, uint32_t instance, const char *key, const char *text)
{
	if (instance)
		sample_label(s, instance, key + strlen("job."), text);
	else
		sample_meta_text(s, key, text);
}

void error_text_say_hidden(struct sample *s, const struct secret_list *l, const struct printed *p)
{
	uint8_t room[MASKED_MOST];
	struct bytes masked = { .data = room, .cap = sizeof room, .fixed = true };
	const char *text = *p->absent || p->is_output ? NULL : clean(p, l, &masked);

	if (text && *text)
		sample_meta_text(s, "job.error_text_hidden", text);
}

void error_text_say(struct sample *s, uint32_t instance, const struct secret_list *l,
		    const struct printed *p)
{
	uint8_t room[MASKED_MOST];
	struct bytes masked = { .data = room, .cap = sizeof room, .fixed = true };
	const char *text = *p->absent ? "" : clean(p, l, &masked);
	const char *absent = *p->absent ? p->absent
			     : !text    ? "its last line is longer than 4096 bytes"
			     : !*text   ? silent
					: NULL;

	if (absent) {
		say(s, instance, "job.error_text_absent", absent);
		return;
	}
	say(s, instance, "job.error_text", text);
	if (p->is_output)
		say(s, instance, "job.error_text_from", "standard output");
}
