/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/tail.h"

#include "base/hash.h"
#include "base/reserve.h"
#include "recording/block.h"
#include "recording/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	LOST_BUDGET = 4 << 20, /* bytes summed at most in search of commits behind a damaged one */
	LOOKS = 2,             /* more, at one that may be being written */
	FRESH_S = 60,
};

static uint32_t commit_crc(const uint8_t *head, uint32_t length)
{
	return crc32c(crc32c(0, head, 8), head + COMMIT_HEADER, length);
}

size_t commit_start(struct bytes *slot)
{
	size_t start = slot->len;

	bytes_put(slot, (uint8_t[COMMIT_HEADER]){ 0 }, COMMIT_HEADER);
	return start;
}

void commit_finish(struct bytes *slot, size_t start, uint32_t generation)
{
	size_t end = slot->len;
	uint32_t length = (uint32_t)(end - start - COMMIT_HEADER);

	slot->len = start;
	bytes_u32(slot, length);
	bytes_u32(slot, generation);
	bytes_u32(slot, commit_crc(slot->data + start, length));
	slot->len = end;
}

void commit_end(struct bytes *slot, uint32_t generation)
{
	if (slot->cap - slot->len >= COMMIT_HEADER)
		commit_finish(slot, commit_start(slot), generation);
}

uint64_t tail_slot_at(uint32_t slot_size, uint32_t generation)
{
	return TAIL_SLOTS_AT + (uint64_t)(generation % TAIL_SLOTS) * slot_size;
}

/* The commit at in; 0 when there is none. Its size with the header, and its generation. */
static size_t commit_at(struct scan in, uint32_t *generation)
{
	const uint8_t *head = in.at;
	uint32_t length = scan_u32(&in), crc;

	*generation = scan_u32(&in);
	crc = scan_u32(&in);
	if (in.bad || !length || length > (size_t)(in.end - in.at) ||
	    commit_crc(head, length) != crc)
		return 0;
	return COMMIT_HEADER + (size_t)length;
}

/* Whether a commit of this generation stands anywhere behind the first that cannot be read. */
static bool more_behind(struct scan in, uint32_t generation)
{
	const uint8_t *at = in.at + 4; /* a commit's generation lies behind its length */
	uint64_t budget = LOST_BUDGET;

	while (in.end - at >= COMMIT_HEADER &&
	       (at = memchr(at, (uint8_t)generation, (size_t)(in.end - at)))) {
		struct scan head = { .at = at - 4, .end = in.end };
		uint32_t length = scan_u32(&head), found = scan_u32(&head);

		at++;
		if (found != generation || length > budget)
			continue;
		if (commit_at((struct scan){ .at = at - 5, .end = in.end }, &found))
			return true;
		budget -= length;
	}
	return false;
}

/* Nothing was ever written here. */
static bool is_blank(struct scan in)
{
	return !*in.at && !memcmp(in.at, in.at + 1, (size_t)(in.end - in.at) - 1);
}

static bool is_end(struct scan in, uint32_t generation)
{
	const uint8_t *head = in.at;

	return !scan_u32(&in) && scan_u32(&in) == generation &&
	       scan_u32(&in) == commit_crc(head, 0);
}

/* The mark before the slots; 0: there is none, as writers of before left it. */
static uint32_t begun_read(const struct bytes *data)
{
	struct scan in = { .at = data->data + TAIL_BEGUN_AT, .end = data->data + TAIL_SLOTS_AT };
	struct scan head = in;
	uint32_t generation;

	if (data->len < TAIL_SLOTS_AT)
		return 0;
	scan_u32(&head);
	generation = scan_u32(&head);
	return generation && is_end(in, generation) ? generation : 0;
}

/* marked: its last commit is followed by the mark of the end. */
static void slot_read(struct tail_slot *s, struct scan in, uint64_t offset, bool marked)
{
	const uint8_t *start = in.at;
	uint32_t generation;
	size_t size;

	*s = (struct tail_slot){ .data = start };
	while ((size = commit_at(in, &generation)) && generation &&
	       (!s->generation || generation == s->generation)) {
		s->generation = generation;
		s->len += size;
		in.at += size;
	}
	if (in.end - in.at < COMMIT_HEADER ||
	    (s->generation ? is_end(in, s->generation) : is_blank(in)))
		return;
	s->torn = s->generation && !more_behind(in, s->generation);
	if (marked || !s->torn)
		s->lost_at = offset + (uint64_t)(in.at - start);
}

/* fresh: its clock says that it was changed just now. */
static int file_read(struct bytes *data, bool *fresh, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	size_t max = TAIL_SLOTS_AT + (size_t)TAIL_SLOTS * TAIL_SLOT_MAX;
	struct stat st;
	ssize_t got = 1;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > max) {
		close(fd);
		return -EBADMSG;
	}
	*fresh = llabs((long long)(st.st_mtim.tv_sec - time(NULL))) < FRESH_S;
	if (!bytes_room(data, (size_t)st.st_size + 1))
		got = 0;
	while (got > 0 && data->len < (size_t)st.st_size) {
		got = read(fd, data->data + data->len, (size_t)st.st_size - data->len);
		data->len += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return data->failed ? -ENOMEM : 0;
}

static int tail_read_once(struct tail *t, int dirfd, const char *name)
{
	struct block b;
	struct scan in;
	int rc;

	*t = (struct tail){ 0 };
	rc = file_read(&t->data, &t->fresh, dirfd, name);
	if (rc)
		return rc;
	if (!t->data.len)
		return -ENODATA;
	if (!block_parse(&b, t->data.data, t->data.len) || b.type != BLOCK_TAIL)
		return -EBADMSG;
	t->version = b.version;
	if (b.version > FORMAT_VERSION)
		return -EPROTO;
	in = (struct scan){ .at = b.payload, .end = b.payload + b.length };
	if (!head_get(in, &t->head) || t->head.slot > TAIL_SLOT_MAX)
		return -EBADMSG;
	t->begun = begun_read(&t->data);
	t->cut = t->data.len < TAIL_SLOTS_AT + TAIL_SLOTS * (uint64_t)t->head.slot;
	for (uint32_t i = 0; i < TAIL_SLOTS; i++) {
		uint64_t at = tail_slot_at(t->head.slot, i), end = at + t->head.slot;

		if (at >= t->data.len)
			break;
		end = end < t->data.len ? end : t->data.len;
		slot_read(&t->slot[i],
			  (struct scan){ .at = t->data.data + at, .end = t->data.data + end }, at,
			  t->head.draft >= DRAFT_ENDS);
	}
	if (t->slot[0].generation > t->slot[1].generation) {
		struct tail_slot newer = t->slot[0];

		t->slot[0] = t->slot[1];
		t->slot[1] = newer;
	}
	return 0;
}

/* Its first commit or its last one cannot be read. */
static bool may_come(const struct tail_slot *s)
{
	return s->lost_at && (!s->generation || s->torn);
}

/* What is being written now is whole a moment later. */
int tail_read(struct tail *t, int dirfd, const char *name)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int rc = tail_read_once(t, dirfd, name);

	for (int i = 0; !rc && i < LOOKS; i++) {
		if (!t->fresh || (!may_come(&t->slot[0]) && !may_come(&t->slot[1])))
			break;
		nanosleep(&moment, NULL);
		tail_free(t);
		rc = tail_read_once(t, dirfd, name);
	}
	return rc;
}

void tail_free(struct tail *t)
{
	bytes_free(&t->data);
	*t = (struct tail){ 0 };
}

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
