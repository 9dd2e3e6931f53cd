/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/filelocks.h"

#include "base/reserve.h"
#include "base/text/number.h"
#include "source/procfile.h"
#include "source/storage/mountinfo.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LOCKS_BYTES = 1 << 18,
	MOUNTS_BYTES = 1 << 18,
	FDINFO_BYTES = 2048,
	FILES_MOST = 64, /* of a process that are looked at */
	ANCESTORS_MOST = 16,
};

/* Of SQLite's file format: bytes that may be behind the end of the file (PENDING_BYTE and what
 * follows it). */
enum { DATABASE_FIRST = 0x40000000, DATABASE_BYTES = 512 };
/* Of a database with a log (WAL) the file beside it whose name ends so has the locks: this byte
 * that of who writes; everybody who has the database open shares one behind it. */
static const char database_index[] = "-shm";
enum { DATABASE_WRITER = 120 };

struct lock {
	uint64_t number, major, minor, inode, from, to; /* to: 0: its end */
	int64_t pid;
	bool waits, alone; /* alone: it lets in nobody else */
};

static const char *skip_word(const char *p)
{
	p = number_skip_blanks(p);
	p += strcspn(p, " \t\n");
	return number_skip_blanks(p);
}

/* "08:01:345 0 EOF": two numbers in base 16, one in base 10, and the bytes. */
static bool file_of(const char *p, struct lock *l)
{
	char *end;

	l->major = strtoull(p, &end, 16);
	if (end == p || *end != ':')
		return false;
	p = end + 1;
	l->minor = strtoull(p, &end, 16);
	if (end == p || *end != ':')
		return false;
	p = end + 1;
	if (!number_u64(&p, &l->inode) || (*p && !strchr(" \t\n", *p)))
		return false;
	p = number_skip_blanks(p);
	l->to = number_u64(&p, &l->from) ? strtoull(p, NULL, 10) : 0;
	return true;
}

static bool parse(const char *line, struct lock *l)
{
	const char *p = line;

	if (!number_u64(&p, &l->number) || *p != ':')
		return false;
	p = number_skip_blanks(p + 1);
	l->waits = !strncmp(p, "->", 2);
	if (l->waits)
		p = number_skip_blanks(p + 2);
	p = skip_word(skip_word(p)); /* FLOCK ADVISORY */
	l->alone = !strncmp(p, "WRITE", 5);
	p = skip_word(p);
	if (!number_i64(&p, &l->pid) || l->pid > INT_MAX)
		return false;
	return file_of(number_skip_blanks(p), l);
}

size_t filelocks_holders(const char *locks, pid_t waiter, uint64_t inode, pid_t *pids, size_t most)
{
	struct lock l, held = { 0 };
	bool known = false;
	size_t n = 0;

	for (const char *p = locks; *p; p = number_next_line(p)) {
		if (!parse(p, &l))
			continue;
		if (!l.waits) {
			held = l;
			known = true;
			continue;
		}
		if (!known || l.number != held.number || (inode && l.inode != inode) ||
		    (l.pid != waiter && l.pid > 0) || (l.pid <= 0 && !inode))
			continue;
		for (size_t i = 0; i < n; i++)
			if (pids[i] == (pid_t)held.pid)
				l.waits = false;
		if (l.waits && n < most)
			pids[n++] = (pid_t)held.pid;
	}
	return n;
}

/* ---- open files ---- */

/* A recorder looks often: what it reserves takes no call of the kernel. */
static char *text_of(const struct root *proc, const char *path, size_t size)
{
	char *text = reserve(size);

	if (text && root_read(proc, path, text, size) > 0)
		return text;
	reserve_free(text, size);
	return NULL;
}

static bool read_fdinfo(const struct root *proc, pid_t pid, uint64_t fd, char out[FDINFO_BYTES])
{
	char path[48];

	snprintf(path, sizeof path, "%d/fdinfo/%llu", (int)pid, (unsigned long long)fd);
	return root_read(proc, path, out, FDINFO_BYTES) > 0;
}

static uint64_t inode_of(const char *fdinfo)
{
	const char *at = number_find_line(fdinfo, "ino:");
	uint64_t inode = 0;

	at = at ? number_skip_blanks(at) : NULL;
	return at && number_u64(&at, &inode) ? inode : 0;
}

uint64_t filelocks_inode(const struct root *proc, pid_t pid, uint64_t fd)
{
	char fdinfo[FDINFO_BYTES];

	return read_fdinfo(proc, pid, fd, fdinfo) ? inode_of(fdinfo) : 0;
}

/* Of the descriptors of a process, one by one, until one is taken. False: none was. */
static bool each_file(const struct root *proc, pid_t pid,
		      bool (*take)(void *ctx, uint64_t fd, const char *fdinfo), void *ctx)
{
	char path[32], fdinfo[FDINFO_BYTES], buf[1024] __attribute__((aligned(8)));
	bool taken = false;
	ssize_t got = 0;
	int fd, n = 0;

	snprintf(path, sizeof path, "%d/fdinfo", (int)pid);
	fd = root_file(proc, path);
	while (fd >= 0 && !taken && n < FILES_MOST && (got = getdents64(fd, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < got && !taken && n < FILES_MOST;) {
			const struct dirent64 *entry = (const void *)(buf + at);
			uint64_t number = strtoull(entry->d_name, NULL, 10);

			at += entry->d_reclen;
			if (entry->d_name[0] == '.')
				continue;
			n++;
			taken = read_fdinfo(proc, pid, number, fdinfo) && take(ctx, number, fdinfo);
		}
	if (fd >= 0)
		close(fd);
	return taken;
}

/* ---- who has a lock ---- */

/* "lock:	1: FLOCK  ADVISORY  WRITE 12 08:01:345 0 EOF" */
static bool has_lock(void *ctx, uint64_t fd, const char *fdinfo)
{
	const uint64_t *inode = ctx;
	const char *at = number_find_line(fdinfo, "lock:");
	struct lock l;

	(void)fd;
	return at && parse(number_skip_blanks(at), &l) && l.inode == *inode;
}

pid_t filelocks_heir(const struct root *proc, uint64_t inode, pid_t taker)
{
	struct dirent *entry;
	pid_t found = 0;
	int fd = openat(proc->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !dir)
		close(fd);
	while (dir && inode && !found && (entry = readdir(dir))) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid < INT_MAX && pid != taker &&
		    each_file(proc, (pid_t)pid, has_lock, &inode))
			found = (pid_t)pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* "python3 (pid 12)"; false: there is no such process. */
static bool say_process(const struct root *proc, pid_t pid, char out[FILELOCKS_TEXT])
{
	char path[32], text[32];
	ssize_t n;

	snprintf(path, sizeof path, "%d/comm", (int)pid);
	n = root_read(proc, path, text, sizeof text);
	text[n > 0 ? n : 0] = '\0';
	snprintf(out, FILELOCKS_TEXT, "%.*s (pid %d)", (int)strcspn(text, "\n"), text, (int)pid);
	return n > 0;
}

static const char *read_once(struct filelocks *l, const struct root *proc)
{
	if (!l->read)
		l->text = text_of(proc, "locks", LOCKS_BYTES);
	l->read = true;
	return l->text;
}

void filelocks_forget(struct filelocks *l)
{
	reserve_free(l->text, LOCKS_BYTES);
	*l = (struct filelocks){ 0 };
}

void filelocks_say_holder(const struct root *proc, struct filelocks *all, pid_t waiter, uint64_t fd,
			  bool may_search, char out[FILELOCKS_TEXT])
{
	const char *locks = read_once(all, proc);
	uint64_t inode = filelocks_inode(proc, waiter, fd);
	char who[FILELOCKS_TEXT];
	pid_t pid = 0;

	out[0] = '\0';
	if (locks)
		filelocks_holders(locks, waiter, inode, &pid, 1);
	if (pid > 0 && !say_process(proc, pid, who))
		pid = may_search ? filelocks_heir(proc, inode, pid) : 0;
	if (pid > 0 && say_process(proc, pid, who))
		snprintf(out, FILELOCKS_TEXT, ", held by %.50s", who);
}

/* ---- locks that somebody asks for again and again ---- */

struct beside {
	const char *locks;
	const struct root *proc;
	pid_t pid;
	bool database;
	uint64_t fd;
	struct lock found;
};

static bool is_of_writer(const struct lock *l)
{
	return l->from <= DATABASE_WRITER && l->to >= DATABASE_WRITER;
}

static bool is_of_database(const struct lock *l)
{
	return l->from >= DATABASE_FIRST && l->to >= l->from &&
	       l->to < DATABASE_FIRST + DATABASE_BYTES;
}

/* Nobody else gets it while that process has it. */
static bool is_anothers(const struct beside *b, const struct lock *l)
{
	return !l->waits && l->alone && l->pid > 0 && l->pid != b->pid &&
	       (!b->database || is_of_database(l) || is_of_writer(l));
}

/* Are the lock and the open file of one file system? */
static bool is_there(const struct beside *b, const struct lock *l, const char *fdinfo)
{
	char path[32];
	uint64_t id, major = 0, minor = 0;
	char *mounts;

	snprintf(path, sizeof path, "%d/mountinfo", (int)b->pid);
	if (!mountinfo_id_of(fdinfo, &id) || !(mounts = text_of(b->proc, path, MOUNTS_BYTES)))
		return false;
	mountinfo_device(mounts, id, &major, &minor);
	reserve_free(mounts, MOUNTS_BYTES);
	return major == l->major && minor == l->minor;
}

static bool is_index(const struct beside *b, uint64_t fd)
{
	char path[48], link[512];
	ssize_t n, ending = (ssize_t)strlen(database_index);

	snprintf(path, sizeof path, "%d/fd/%llu", (int)b->pid, (unsigned long long)fd);
	n = readlinkat(b->proc->fd, path, link, sizeof link);
	return n > ending && !memcmp(link + n - ending, database_index, (size_t)ending);
}

/* Of a database the lock of that file: of the index the writer's, of the database itself those far
 * behind its end. */
static bool is_its(const struct beside *b, const struct lock *l, uint64_t fd)
{
	return !b->database || (is_of_writer(l) ? is_index(b, fd) : is_of_database(l));
}

static bool is_locked(void *ctx, uint64_t fd, const char *fdinfo)
{
	struct beside *b = ctx;
	uint64_t inode = inode_of(fdinfo);
	struct lock *l = &b->found;
	bool has_one = number_find_line(fdinfo, "lock:") != NULL;

	if (!inode || (has_one && !b->database))
		return false;
	for (const char *p = b->locks; *p; p = number_next_line(p))
		if (parse(p, l) && is_anothers(b, l) && l->inode == inode &&
		    (!has_one || is_of_writer(l)) && is_its(b, l, fd) && is_there(b, l, fdinfo)) {
			b->fd = fd;
			return true;
		}
	return false;
}

/* Files that it got from there were opened for another reason than to ask for the lock. */
static bool descends_from(const struct root *proc, pid_t pid, pid_t from)
{
	char path[32], text[512];
	struct proc_stat st = { .ppid = pid };

	for (int i = 0; i < ANCESTORS_MOST && st.ppid > 1 && st.ppid != from; i++) {
		snprintf(path, sizeof path, "%d/stat", (int)st.ppid);
		if (root_read(proc, path, text, sizeof text) <= 0 || proc_stat_parse(text, &st))
			return true;
	}
	return st.ppid == from;
}

/* Is there any lock that could be the one? Mostly there is none, and no file need be looked at. */
static bool any_beside(const struct beside *b)
{
	struct lock l;

	for (const char *p = b->locks; *p; p = number_next_line(p))
		if (parse(p, &l) && is_anothers(b, &l))
			return true;
	return false;
}

static bool find_beside(struct beside *b, uint64_t *fd, char out[FILELOCKS_TEXT])
{
	bool found = b->locks && any_beside(b) && each_file(b->proc, b->pid, is_locked, b) &&
		     (b->database || !descends_from(b->proc, b->pid, (pid_t)b->found.pid)) &&
		     say_process(b->proc, (pid_t)b->found.pid, out);

	*fd = b->fd;
	return found;
}

bool filelocks_beside(const struct root *proc, struct filelocks *all, pid_t pid, uint64_t *fd,
		      char out[FILELOCKS_TEXT])
{
	struct beside b = { .locks = read_once(all, proc), .proc = proc, .pid = pid };

	return find_beside(&b, fd, out);
}

bool filelocks_database(const struct root *proc, struct filelocks *all, pid_t pid, uint64_t *fd,
			char out[FILELOCKS_TEXT])
{
	struct beside b = {
		.locks = read_once(all, proc), .proc = proc, .pid = pid, .database = true
	};

	return find_beside(&b, fd, out);
}
