/* SPDX-License-Identifier: Apache-2.0 */
#include "files/names.h"

#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- a name in memory ---- */

/* Up to the end of its page, then on. */
static bool read_memory(pid_t pid, uint64_t address, char *out)
{
	size_t n = 0;

	while (n < NAME_MOST - 1) {
		size_t want = 4096 - (size_t)(address + n) % 4096;
		struct iovec to = { out + n, 0 }, from = { NULL, 0 };
		uintptr_t at = (uintptr_t)(address + n);
		ssize_t got;

		if (want > NAME_MOST - 1 - n)
			want = NAME_MOST - 1 - n;
		memcpy(&from.iov_base, &at, sizeof at);
		to.iov_len = from.iov_len = want;
		got = process_vm_readv(pid, &to, 1, &from, 1, 0);
		if (got <= 0)
			return false;
		if (memchr(out + n, 0, (size_t)got))
			return true;
		n += (size_t)got;
	}
	return false;
}

bool name_read(const struct name_at *at, char out[NAME_MOST])
{
	uint64_t in = at->address - at->stack_at;
	const char *end;

	if (at->address >= at->stack_at && in < at->stack_bytes) {
		size_t left = at->stack_bytes - (size_t)in;

		end = memchr(at->stack + in, 0, left);
		if (end && end - (at->stack + in) < NAME_MOST) {
			memcpy(out, at->stack + in, (size_t)(end - (at->stack + in)) + 1);
			return true;
		}
	}
	return read_memory(at->pid, at->address, out);
}

/* ---- a name in the file system ---- */

int name_of_fd(pid_t pid, int fd, char out[NAME_MOST])
{
	static const char gone[] = " (deleted)";
	char link[64];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)pid, fd);
	n = readlink(link, out, NAME_MOST - 1);
	if (n < 0)
		return -1;
	out[n] = '\0';
	if (n > (ssize_t)sizeof gone && !strcmp(out + n - (sizeof gone - 1), gone))
		out[n - (ssize_t)(sizeof gone - 1)] = '\0';
	return *out == '/';
}

static bool working_directory(struct book_process *p)
{
	char link[48];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/%d/cwd", (int)p->pid);
	n = readlink(link, p->cwd, sizeof p->cwd - 1);
	if (n > 0)
		p->cwd[n] = '\0';
	return p->cwd[0] == '/'; /* one that has ended: as it was */
}

/* "/a/./b//c/../d" as "/a/b/d", of what begins with "/". What is behind ".." is not asked of the
 * file system. */
static void normalise(char *path)
{
	char *to = path;
	const char *at = path;

	while (*at) {
		size_t n;

		at += strspn(at, "/");
		n = strcspn(at, "/");
		if (n == 2 && at[0] == '.' && at[1] == '.') {
			while (to > path && *--to != '/')
				;
		} else if (n && !(n == 1 && at[0] == '.')) {
			*to++ = '/';
			memmove(to, at, n);
			to += n;
		}
		at += n;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

static bool join(const char *directory, const char *name, char out[NAME_MOST])
{
	int n = snprintf(out, NAME_MOST, "%s/%s", directory, name);

	if (n < 0 || n >= NAME_MOST)
		return false;
	normalise(out);
	return true;
}

bool name_absolute(struct book *b, struct book_process *p, int dirfd, const char *name,
		   char out[NAME_MOST])
{
	uint32_t row;

	if (name[0] == '/')
		return join("", name, out);
	if (dirfd == AT_FDCWD)
		return working_directory(p) && join(p->cwd, name, out);
	row = name_row_of_fd(b, p, dirfd, 0);
	return row && *book_row(b, row)->path == '/' && join(book_row(b, row)->path, name, out);
}

uint32_t name_row_of_fd(struct book *b, struct book_process *p, int fd, int64_t now_ns)
{
	struct book_fd *f = book_fd(p, fd);
	char path[NAME_MOST];
	int is;

	if (!f || f->row == FD_NO_FILE)
		return 0;
	if (f->row == FD_UNKNOWN) {
		is = name_of_fd(p->pid, fd, path);
		if (is <= 0) {
			f->row = is ? FD_UNKNOWN : FD_NO_FILE;
			return 0;
		}
		/* A call that was made before it was looked for may have been on another file. */
		f->looked_ns = clock_mono_ns();
		f->guessed = true;
		f->row = book_row_of(b, p, path, now_ns);
	}
	if (f->row)
		f->row = book_row_for(b, p, f->row, now_ns);
	return f->row;
}
