/* SPDX-License-Identifier: Apache-2.0 */
#include "output/collection.h"

#include "base/clock.h"
#include "base/text/args.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 20, POLL_NS = 20000000 };

static int fail(const struct collection *c, int code, const char *what, struct err *e)
{
	return err_set(e, -code, "cannot %s %s: %s", what, c->path, strerror(code));
}

/* Whether the file that is open is the one of that name: who held the lock may have put another
 * there, or taken it away. */
static bool is_current(const struct collection *c)
{
	struct stat here, there;

	return !fstat(c->lock, &here) && !stat(c->path, &there) && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

/* 1 with the lock on the file of that name, which is created if missing; 0 when somebody
 * else has it; -errno. */
static int try_lock(struct collection *c, struct err *e)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int code = 0;

	c->lock = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (c->lock < 0)
		return fail(c, errno, "open", e);
	if (fcntl(c->lock, F_OFD_SETLK, &whole))
		code = errno;
	else if (is_current(c))
		return 1;
	close(c->lock);
	c->lock = -1;
	return !code || code == EAGAIN || code == EACCES ? 0 : fail(c, code, "lock", e);
}

static int wait_for_lock(struct collection *c, int64_t wait_ns, void (*tell)(const char *, int64_t),
			 struct err *e)
{
	int64_t begin = clock_mono_ns();
	bool told = false;
	char text[32];
	int rc;

	while (!(rc = try_lock(c, e))) {
		int64_t waited = clock_mono_ns() - begin;

		if (waited >= wait_ns) {
			args_duration_text(wait_ns, text, sizeof(text));
			return err_set(
				e, -EAGAIN,
				"another export still writes %s after %s; try again, or wait "
				"longer with --wait",
				c->path, text);
		}
		if (!told && waited >= NS_PER_S) {
			tell(c->path, wait_ns);
			told = true;
		}
		nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
	}
	return rc < 0 ? rc : 0;
}

static int copy(struct collection *c, struct err *e)
{
	char *block = malloc(COPY_BYTES);
	ssize_t n = 1;
	int rc = block ? 0 : err_set(e, -ENOMEM, "out of memory");

	while (!rc && n) {
		n = read(c->lock, block, COPY_BYTES);
		if (n < 0 && errno != EINTR)
			rc = err_set(e, -errno, "cannot read the old one: %s", strerror(errno));
		else if (n > 0 && fwrite(block, 1, (size_t)n, c->out.file) != (size_t)n)
			rc = err_set(e, -errno, "%s", strerror(errno));
	}
	if (!rc && fflush(c->out.file))
		rc = err_set(e, -errno, "%s", strerror(errno));
	free(block);
	return rc;
}

static int open_copy(struct collection *c, struct err *e)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(c->path, '/');
	int n = snprintf(directory, sizeof(directory), "%.*s",
			 slash ? (int)(slash - c->path) + (slash == c->path) : 1,
			 slash ? c->path : ".");

	if (n < 0 || (size_t)n >= sizeof(directory))
		return fail(c, ENAMETOOLONG, "write", e);
	return outfile_open(&c->out, directory, slash ? slash + 1 : c->path, e);
}

int collection_open(struct collection *c, const char *path, int64_t wait_ns,
		    void (*tell)(const char *path, int64_t wait_ns), struct err *e)
{
	struct stat st;
	int rc;

	*c = (struct collection){ .path = path, .lock = -1 };
	rc = wait_for_lock(c, wait_ns, tell, e);
	if (rc)
		return rc;
	c->made = !fstat(c->lock, &st) && !st.st_size;
	rc = open_copy(c, e);
	c->out.held_empty = !rc && c->made;
	if (!rc && !c->made && fchmod(fileno(c->out.file), st.st_mode & 0777))
		rc = err_set(e, -errno, "%s", strerror(errno));
	if (!rc)
		rc = copy(c, e);
	return rc ? collection_close(c, rc, e) : 0;
}

/* The lock is let go last, when the name is that of the new file, or of none. */
int collection_close(struct collection *c, int failed, struct err *e)
{
	int rc = c->out.file ? outfile_close(&c->out, failed, e) : failed;

	if (rc && c->made)
		unlink(c->path);
	close(c->lock);
	return rc;
}
