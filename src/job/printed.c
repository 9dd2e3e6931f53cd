/* SPDX-License-Identifier: Apache-2.0 */
#include "job/printed.h"

#include "base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* A stack trace of Java has 1,024 lines, which a recursion without an end fills with one. */
enum { PATIENCE_MS = 1000, STACK_BYTES = 64 * 1024, END_BYTES = 96 * 1024, REPEATS_LEAST = 4 };

static const char refused[] = "--no-error-text was given";

/* A regular file, of this size: of what the kernel has at hand, since its server may be gone. */
static bool is_file(int fd, int64_t *size, const char **absent)
{
	struct statx x;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &x)) {
		*absent = errno == EBADF ? "standard error is closed"
					 : "standard error cannot be examined";
		return false;
	}
	*size = (int64_t)x.stx_size;
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
	if (is_file(STDERR_FILENO, &p->from, &p->absent)) {
		p->fd = STDERR_FILENO;
	} else if (is_file(STDOUT_FILENO, &p->from, &why)) {
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
		n = pread(fd, text, sizeof text, at);
		kept = squeeze_repeats(text, n > 0 ? (size_t)n : 0);
		out->n = (uint32_t)(kept < sizeof out->text ? kept : sizeof out->text);
		out->is_cut = at > from || kept > out->n;
		memcpy(out->text, text + kept - out->n, out->n);
	}
	if (n < 0)
		snprintf(out->absent, sizeof out->absent, "its file cannot be read");
	else if (!n)
		snprintf(out->absent, sizeof out->absent, "nothing was printed");
}

/* A thread that hangs still has it when nobody waits any more. */
struct reading {
	int fd, done; /* done: an eventfd */
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
	eventfd_write(r->done, 1);
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
	struct pollfd wait = { .events = POLLIN };
	const char *absent = p->absent;

	*out = (struct printed){ .version = MESSAGE_VERSION,
				 .kind = MESSAGE_PRINTED,
				 .is_output = p->is_output };
	if (p->fd >= 0) {
		absent = "it could not be read";
		r = (struct reading){ p->fd, eventfd(0, EFD_CLOEXEC), p->from, *out };
		wait.fd = r.done;
		if (r.done >= 0 && start_reading(&r)) {
			absent = "its file system does not answer";
			if (poll(&wait, 1, PATIENCE_MS) > 0) {
				*out = r.what;
				absent = out->absent;
			}
		}
	}
	memmove(out->absent, absent, strlen(absent) + 1);
}
