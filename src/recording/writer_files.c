/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/writer_files.h"

#include "base/reserve.h"
#include "recording/format.h"
#include "recording/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	NAMES_MAX = 10000,     /* recordings of one host in a directory */
	NAME_HOST = 200,       /* bytes of a host's name in a file name */
	FILE_LEAST = 96 << 10, /* what a short recording needs, and somewhat more */
	SLOT_UNIT = 4096,
	SLOT_PARTS = 4, /* to seal one takes a multiple of it in address space */
};

/* Characters with a meaning in paths, patterns or terminals have no place in a file name. */
static void host_in_name(char out[NAME_HOST + 1], const char *host)
{
	size_t n = strnlen(host, NAME_HOST);

	for (size_t i = 0; i < n; i++) {
		char c = host[i];
		bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			     (c >= 'a' && c <= 'z') || c == '-' || c == '_' || (c == '.' && i > 0);

		out[i] = plain ? c : '_';
	}
	out[n] = '\0';
	if (!n)
		snprintf(out, NAME_HOST + 1, "unknown");
}

static int create(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* Both files under the first number that neither has taken. */
static int create_both(struct writer_files *f, int dirfd, const char *host)
{
	char plain[NAME_HOST + 1], number[16] = "", tail[sizeof f->name];
	int rc = -EEXIST;

	host_in_name(plain, host);
	for (int n = 1; n < NAMES_MAX && rc == -EEXIST; n++) {
		if (n > 1)
			snprintf(number, sizeof number, ".%d", n);
		snprintf(f->name, sizeof f->name, "node-%s%s.sonde", plain, number);
		snprintf(tail, sizeof tail, "node-%s%s.tail", plain, number);
		rc = f->sonde = create(dirfd, f->name);
		if (rc < 0)
			continue;
		rc = f->tail = create(dirfd, tail);
		if (rc < 0) {
			close(f->sonde);
			unlinkat(dirfd, f->name, 0);
		}
	}
	return rc < 0 ? rc : 0;
}

static void path_find(struct writer_files *f, int dirfd)
{
	char link[64], dir[4096];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
	n = dirfd == AT_FDCWD ? -1 : readlink(link, dir, sizeof dir - 1);
	dir[n < 0 ? 0 : n] = '\0';
	snprintf(f->path, sizeof f->path, "%s%s%s", dir, n < 0 ? "" : "/", f->name);
}

/* Take the disk's room now, so that a disk that fills up later cannot stop the tail. */
static int tail_allocate(struct writer_files *f)
{
	static const uint8_t zeros[4096];
	off_t size = TAIL_SLOTS_AT + (off_t)TAIL_SLOTS * f->slot;

	if (!fallocate(f->tail, 0, 0, size))
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	for (off_t at = 0; at < size; at += (off_t)sizeof zeros) {
		int rc = files_tail(f, (uint64_t)at, zeros, sizeof zeros);

		if (rc)
			return rc;
	}
	return 0;
}

int files_init(struct writer_files *f, struct err *e)
{
	struct rlimit l;
	uint32_t parts = reserve_parts();
	uint64_t slot, most = TAIL_SLOT / (parts < SLOT_PARTS ? parts : SLOT_PARTS);

	*f = (struct writer_files){
		.sonde = -1, .tail = -1, .most = UINT64_MAX, .slot = (uint32_t)most
	};
	if (getrlimit(RLIMIT_FSIZE, &l) || l.rlim_cur == RLIM_INFINITY)
		return 0;
	f->most = l.rlim_cur;
	if (f->most < FILE_LEAST)
		return err_set(e, -EFBIG,
			       "files may have %llu bytes here (ulimit -f), which is too few for a "
			       "recording: it needs %d",
			       (unsigned long long)f->most, FILE_LEAST);
	slot = (f->most - TAIL_SLOTS_AT) / TAIL_SLOTS / SLOT_UNIT * SLOT_UNIT;
	f->slot = (uint32_t)(slot < most ? slot : most);
	return 0;
}

int files_make(struct writer_files *f, int dirfd, const char *host, struct err *e)
{
	int rc = create_both(f, dirfd, host);

	path_find(f, dirfd);
	if (rc) {
		f->sonde = f->tail = -1;
		return err_set(e, rc, "cannot make %s: %s", f->path, strerror(-rc));
	}
	rc = tail_allocate(f);
	if (rc) {
		files_close(f);
		unlinkat(dirfd, f->name, 0);
		memcpy(f->name + strlen(f->name) - strlen(".sonde"), ".tail", sizeof ".tail");
		unlinkat(dirfd, f->name, 0);
		return files_error(f, rc, e);
	}
	return 0;
}

static int write_at(int fd, uint64_t at, const uint8_t *data, size_t n)
{
	while (n) {
		ssize_t done = pwrite(fd, data, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (!done)
			return -ENOSPC;
		at += (size_t)done;
		data += done;
		n -= (size_t)done;
	}
	return 0;
}

int files_append(struct writer_files *f, const struct bytes *blocks)
{
	int rc = write_at(f->sonde, f->end, blocks->data, blocks->len);

	if (rc) {
		/* What there is of it would be overwritten by the next; until then it looks like
		 * damage. */
		(void)!ftruncate(f->sonde, (off_t)f->end);
		return rc;
	}
	f->end += blocks->len;
	f->bytes += blocks->len;
	f->unsynced = true;
	return 0;
}

int files_tail(struct writer_files *f, uint64_t at, const uint8_t *data, size_t n)
{
	int rc = write_at(f->tail, at, data, n);

	if (!rc)
		f->bytes += n;
	return rc;
}

int files_sync(struct writer_files *f, bool tail)
{
	int rc = 0;

	if (f->unsynced && fdatasync(f->sonde) < 0)
		rc = -errno;
	if (tail && fdatasync(f->tail) < 0)
		rc = -errno;
	f->syncs += (uint64_t)f->unsynced + tail;
	f->unsynced = f->unsynced && rc;
	return rc;
}

void files_close(struct writer_files *f)
{
	if (f->sonde >= 0)
		close(f->sonde);
	if (f->tail >= 0)
		close(f->tail);
	f->sonde = f->tail = -1;
}

int files_error(const struct writer_files *f, int code, struct err *e)
{
	const char *advice =
		code == -ENOSPC || code == -EDQUOT ? "; free some space or choose another directory"
		: code == -EFBIG
			? "; ulimit -f limits its size, and of what follows only the end is recorded"
			: "";

	return err_set(e, code, "cannot write %.300s: %s%s", f->path, strerror(-code), advice);
}
