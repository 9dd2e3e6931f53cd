/* SPDX-License-Identifier: Apache-2.0 */
#include "push/journal.h"

#include "base/hash.h"
#include "base/text/number.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 64 << 20, LINE_MAX_BYTES = 4096, DIGITS = 20 };

static int fail(const struct journal *j, int code, struct err *e)
{
	return err_set(e, code,
		       "cannot keep in %.300s what was pushed: %s; --state names another directory",
		       j->path, strerror(-code));
}

static int read_all(struct journal *j)
{
	struct stat st;
	ssize_t n = 0;

	if (fstat(j->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > TEXT_MAX)
		return -EFBIG;
	if (!bytes_room(&j->text, (size_t)st.st_size + 1))
		return -ENOMEM;
	while (j->text.len < (size_t)st.st_size) {
		n = pread(j->fd, j->text.data + j->text.len, (size_t)st.st_size - j->text.len,
			  (off_t)j->text.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		j->text.len += (size_t)n;
	}
	return n < 0 ? -errno : 0;
}

static int lock(const struct journal *j)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (!fcntl(j->fd, F_OFD_SETLK, &all))
		return 0;
	return errno == EACCES ? -EAGAIN : -errno;
}

/* What was cut off goes, so that the next line begins a line. */
static int mend(struct journal *j)
{
	size_t n = j->text.len;

	while (n && j->text.data[n - 1] != '\n')
		n--;
	if (n < j->text.len && ftruncate(j->fd, (off_t)n))
		return -errno;
	j->text.len = n;
	return 0;
}

static int check_head(struct journal *j, const char *service, const char *target, struct err *e)
{
	char head[LINE_MAX_BYTES];
	size_t n = (size_t)snprintf(head, sizeof head, "sonde-push %s 1 %s", service, target);
	const char *space = strchr(head, ' ');

	if (n >= sizeof head || strchr(head, '\n'))
		return err_set(e, -EINVAL, "the name of what to push to is too long");
	if (!j->text.len)
		return journal_add(j, "sonde-push", space + 1, e);
	if (j->text.len > n && !memcmp(j->text.data, head, n) && j->text.data[n] == '\n')
		return 0;
	return err_set(e, -EBADMSG,
		       "%.300s is not a journal of pushes to this server by this version of Sonde; "
		       "remove it to push everything again",
		       j->path);
}

int journal_open(struct journal *j, const char *directory, const char *service, const char *target,
		 struct err *e)
{
	int rc, n = snprintf(j->path, sizeof j->path, "%s/.push-%s-%08" PRIx32, directory, service,
			     crc32c(0, target, strlen(target)));

	j->text = (struct bytes){ 0 };
	j->fd = n < 0 || (size_t)n >= sizeof j->path
			? -1
			: open(j->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->fd < 0)
		return fail(j, -errno, e);
	rc = lock(j);
	if (rc == -EAGAIN)
		return err_set(e, rc,
			       "another push of this recording to the same place is at work");
	if (!rc)
		rc = read_all(j);
	if (!rc)
		rc = mend(j);
	return rc ? fail(j, rc, e) : check_head(j, service, target, e);
}

void journal_close(struct journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	bytes_free(&j->text);
	j->fd = -1;
}

/* The next line, with what follows its key; NULL at the end. */
static const char *next_line(const struct journal *j, const char **at, const char *key, size_t *n)
{
	const char *end = (const char *)j->text.data + j->text.len;
	size_t k = strlen(key);

	while (*at && *at < end) {
		const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));

		*at = stop ? stop + 1 : end;
		if (!stop || (size_t)(stop - line) <= k || memcmp(line, key, k) || line[k] != ' ')
			continue;
		*n = (size_t)(stop - line) - k - 1;
		return line + k + 1;
	}
	return NULL;
}

bool journal_find(const struct journal *j, const char *key, char *out, size_t size)
{
	const char *at = (const char *)j->text.data, *value;
	bool found = false;
	size_t n;

	while ((value = next_line(j, &at, key, &n))) {
		found = n < size && !memchr(value, 0, n);
		if (!found)
			continue;
		memcpy(out, value, n);
		out[n] = '\0';
	}
	return found;
}

uint64_t journal_number(const struct journal *j, const char *key)
{
	const char *p;
	char text[24];
	uint64_t v;

	if (!journal_find(j, key, text, sizeof text))
		return 0;
	p = text;
	return number_u64(&p, &v) && !*p ? v : 0;
}

bool journal_has(const struct journal *j, const char *key, const char *value)
{
	const char *at = (const char *)j->text.data, *line;
	size_t n;

	while ((line = next_line(j, &at, key, &n)))
		if (n == strlen(value) && !memcmp(line, value, n))
			return true;
	return false;
}

int journal_add(struct journal *j, const char *key, const char *value, struct err *e)
{
	size_t from = j->text.len;
	ssize_t n;

	bytes_printf(&j->text, "%s %s\n", key, value);
	if (j->text.failed)
		return err_set(e, -ENOMEM, "out of memory");
	n = pwrite(j->fd, j->text.data + from, j->text.len - from, (off_t)from);
	if (n == (ssize_t)(j->text.len - from))
		return 0;
	j->text.len = from;
	return fail(j, n < 0 ? -errno : -ENOSPC, e);
}

int journal_add_number(struct journal *j, const char *key, uint64_t value, struct err *e)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, value);
	return journal_add(j, key, text, e);
}

int journal_set_number(struct journal *j, const char *key, uint64_t value, struct err *e)
{
	const char *at = (const char *)j->text.data, *line, *last = NULL;
	char text[DIGITS + 1];
	size_t n, offset;
	ssize_t done;

	snprintf(text, sizeof text, "%0*" PRIu64, DIGITS, value);
	while ((line = next_line(j, &at, key, &n)))
		last = n == DIGITS ? line : NULL;
	if (!last)
		return journal_add(j, key, text, e);
	offset = (size_t)(last - (const char *)j->text.data);
	done = pwrite(j->fd, text, DIGITS, (off_t)offset);
	if (done != DIGITS)
		return fail(j, done < 0 ? -errno : -ENOSPC, e);
	memcpy(j->text.data + offset, text, DIGITS);
	return 0;
}
