/* SPDX-License-Identifier: Apache-2.0 */
#include "files/tracing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES_MOST = 20000 };

/* ---- rows ---- */

static void touch(struct book_row *r, int64_t now_ns)
{
	r->last_ns = now_ns;
	r->dirty = true;
}

static void count(struct tracing *g, uint32_t row, enum files_counter which, int64_t by,
		  int64_t now_ns)
{
	struct book_row *r = book_row(g->book, row);

	r->value[which] += by;
	touch(r, now_ns);
}

static enum files_counter size_class(int64_t bytes)
{
	return bytes < 4 << 10    ? FILE_CALLS_4K
	       : bytes < 64 << 10 ? FILE_CALLS_64K
	       : bytes < 1 << 20  ? FILE_CALLS_1M
				  : FILE_CALLS_ABOVE;
}

/* How long the call took; 0: not known. */
static int64_t duration(struct tracing *g, const struct traced *t)
{
	uint32_t at = (uint32_t)t->tid % ENTERED;
	int64_t ns = 0;

	if (g->entered[at].tid == t->tid && g->entered[at].nr == t->call->nr)
		ns = t->time_ns - g->entered[at].time_ns;
	g->entered[at].tid = 0;
	return ns;
}

/* ---- reads and writes ---- */

struct moved {
	int fd;
	bool writes;
	int64_t offset; /* < 0: where the descriptor stands */
	int64_t ns;
};

static void move(struct tracing *g, struct book_process *p, const struct traced *t, struct moved m)
{
	uint32_t row = name_row_of_fd(g->book, p, m.fd, t->time_ns);
	struct book_fd *f = book_fd(p, m.fd);
	struct book_row *r;
	bool sequential;

	if (!row || !f)
		return;
	r = book_row(g->book, row);
	r->value[m.writes ? FILE_WRITES : FILE_READS]++;
	r->value[m.writes ? FILE_WRITE_NS : FILE_READ_NS] += m.ns;
	touch(r, t->time_ns);
	if (t->result < 0)
		return;
	r->value[size_class(t->result)]++;
	sequential = m.offset < 0 ? !f->jumped : m.offset == f->at;
	f->at = (m.offset < 0 ? f->at : m.offset) + t->result;
	f->jumped = false;
	r->value[m.writes ? FILE_WRITTEN_BYTES : FILE_READ_BYTES] += t->result;
	r->value[FILE_SEQUENTIAL_BYTES] += sequential ? t->result : 0;
}

static void move_both(struct tracing *g, struct book_process *p, const struct traced *t, int in,
		      int out)
{
	move(g, p, t, (struct moved){ .fd = in, .offset = -1 });
	move(g, p, t, (struct moved){ .fd = out, .writes = true, .offset = -1 });
}

/* ---- opens and stats ---- */

/* Memory that was freed has anything in it; names of files have no control characters, mostly. */
static bool is_plain(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ')
			return false;
	return *name != '\0';
}

/* Absolute, without links; false: it is not known. */
static bool path_of(struct tracing *g, struct book_process *p, const struct traced *t, size_t later,
		    char out[NAME_MOST])
{
	bool at = t->call->kind == CALL_OPEN_AT || t->call->kind == CALL_STAT_AT;
	char path[NAME_MOST], real[PATH_MAX];
	struct stat st;
	const char *link = t->link && !traced_link_spoiled(t, later) ? t->link : NULL;
	bool absolute =
		t->name && name_absolute(g->book, p, at ? (int)t->arg[0] : AT_FDCWD, t->name, path);
	bool named = absolute && !traced_name_spoiled(t, later);

	/* What is not there now may be what was in freed memory. */
	if (named && t->from_memory && t->result >= 0 && lstat(path, &st))
		named = false;
	if (named && t->from_memory && t->result < 0 && !is_plain(t->name))
		named = false;
	if (link)
		named = strlen(link) < NAME_MOST && memccpy(out, link, 0, NAME_MOST);
	else if (absolute) /* if only for its directory */
		memccpy(out, named && t->result >= 0 && realpath(path, real) ? real : path, 0,
			NAME_MOST);
	return named;
}

/* What is not there is counted at its directory. */
static void not_found(struct tracing *g, struct book_process *p, const struct traced *t,
		      char path[NAME_MOST])
{
	char *slash = strrchr(path, '/');
	uint32_t row;

	if (!slash)
		return;
	slash[1] = '\0';
	if (t->from_memory && access(path, F_OK))
		*path = '\0'; /* it may be what was in freed memory */
	row = book_row_of(g->book, p, path, t->time_ns);
	if (row)
		count(g, row, FILE_NOT_FOUND, 1, t->time_ns);
}

/* The name of an inode in the directory of a path. */
static bool neighbour_of(const char *path, const struct traced *t, char out[NAME_MOST])
{
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) + 1 : 0, left = ENTRIES_MOST;
	char directory[NAME_MOST];
	struct dirent *entry = NULL;
	struct stat st = { .st_ino = 0 };
	DIR *dir;

	snprintf(directory, sizeof directory, "%.*s", n, path);
	dir = n ? opendir(directory) : NULL;
	while (dir && left-- && (entry = readdir(dir)) && entry->d_ino != t->inode)
		;
	if (left <= 0 || !entry || n + (int)strlen(entry->d_name) >= NAME_MOST)
		n = 0;
	else
		snprintf(out, NAME_MOST, "%.*s%s", n, path, entry->d_name);
	if (dir)
		closedir(dir);
	return n && !lstat(out, &st) && st.st_ino == t->inode && st.st_dev == t->device;
}

/* What fstat said settles which file a guessed name is of. */
static void settle(struct tracing *g, struct book_process *p, const struct traced *t)
{
	struct book_fd *f = book_fd(p, (int)t->arg[0]);
	char path[NAME_MOST] = "", was[NAME_MOST];
	struct stat st;
	uint32_t row;

	if (!f || !f->guessed || !t->inode || f->row == FD_UNKNOWN || f->row == FD_NO_FILE)
		return;
	f->guessed = false;
	snprintf(was, sizeof was, "%s", book_row(g->book, f->row)->path);
	if (*was && !stat(was, &st) && st.st_ino == t->inode && st.st_dev == t->device)
		return;
	if (!neighbour_of(*was ? was : p->near, t, path) && !neighbour_of(p->near, t, path))
		path[0] = '\0';
	row = book_row_of(g->book, p, path, t->time_ns);
	if (!row || row == f->row)
		return;
	count(g, f->row, FILE_OPENS, -1, t->time_ns);
	count(g, row, FILE_OPENS, 1, t->time_ns);
	f->row = row;
}

static void open_or_stat(struct tracing *g, struct book_process *p, const struct traced *t,
			 size_t later)
{
	bool opens = t->call->kind == CALL_OPEN || t->call->kind == CALL_OPEN_AT;
	uint64_t flags = t->arg[t->call->kind == CALL_OPEN_AT ? 2 : 1];
	int64_t ns = duration(g, t);
	char path[NAME_MOST] = "";
	struct stat st;
	bool known = path_of(g, p, t, later, path);
	struct book_fd *f;
	uint32_t row;

	if (t->result < 0) {
		if (t->result == -ENOENT && known)
			not_found(g, p, t, path);
		return;
	}
	if (t->inode)
		settle(g, p, t);
	if (opens && (known || (*path && !lstat(path, &st))))
		snprintf(p->near, sizeof p->near, "%s", path);
	if (!opens && (t->call->kind == CALL_STAT_FD || (t->name && !*t->name)))
		row = name_row_of_fd(g->book, p, (int)t->arg[0], t->time_ns);
	else
		row = book_row_of(g->book, p, known ? path : "", t->time_ns);
	if (!row)
		return;
	count(g, row, opens ? FILE_OPENS : FILE_STATS, 1, t->time_ns);
	count(g, row, FILE_OTHER_NS, ns, t->time_ns);
	f = opens ? book_fd(p, (int)t->result) : NULL;
	if (f)
		*f = (struct book_fd){ .row = row,
				       .cloexec = flags & O_CLOEXEC,
				       .guessed = !known ||
						  (t->from_memory &&
						   (!t->link || traced_link_spoiled(t, later))) };
}

static void duplicate(struct book_process *p, const struct traced *t, bool cloexec)
{
	struct book_fd *to, *from;

	if (t->result < 0)
		return;
	(void)book_fd(p, (int)t->result); /* so that they do not move any more */
	from = book_fd(p, (int)t->arg[0]);
	to = book_fd(p, (int)t->result);
	if (to && from)
		*to = *from;
	if (to)
		to->cloexec = cloexec;
}

static void control(struct book_process *p, const struct traced *t)
{
	struct book_fd *f = book_fd(p, (int)t->arg[0]);

	if (t->result < 0 || !f)
		return;
	if (t->arg[1] == F_DUPFD || t->arg[1] == F_DUPFD_CLOEXEC)
		duplicate(p, t, t->arg[1] == F_DUPFD_CLOEXEC);
	else if (t->arg[1] == F_SETFD)
		f->cloexec = t->arg[2] & FD_CLOEXEC;
}

static void seek(struct book_process *p, const struct traced *t)
{
	struct book_fd *f = book_fd(p, (int)t->arg[0]);

	if (!f || t->result < 0)
		return;
	f->jumped |= t->result != f->at;
	f->at = t->result;
}

static void take_exit(struct tracing *g, struct book_process *p, const struct traced *t,
		      size_t later)
{
	int fd = (int)t->arg[0];
	bool writes = t->call->kind == CALL_WRITE || t->call->kind == CALL_WRITE_AT;
	struct book_fd *f;
	uint32_t row;

	switch ((enum calls_kind)t->call->kind) {
	case CALL_READ:
	case CALL_WRITE:
		move(g, p, t, (struct moved){ fd, writes, -1, duration(g, t) });
		break;
	case CALL_READ_AT:
	case CALL_WRITE_AT:
		move(g, p, t, (struct moved){ fd, writes, (int64_t)t->arg[3], duration(g, t) });
		break;
	case CALL_COPY:
		move_both(g, p, t, (int)t->arg[1], fd);
		break;
	case CALL_COPY_RANGE:
		move_both(g, p, t, fd, (int)t->arg[2]);
		break;
	case CALL_OPEN:
	case CALL_OPEN_AT:
	case CALL_STAT:
	case CALL_STAT_AT:
	case CALL_STAT_FD:
		open_or_stat(g, p, t, later);
		break;
	case CALL_CLOSE:
		f = t->result != -EBADF ? book_fd(p, fd) : NULL;
		if (f)
			*f = (struct book_fd){ .row = FD_UNKNOWN };
		break;
	case CALL_DUP:
		duplicate(p, t, t->arg[2] & O_CLOEXEC && !strcmp(t->call->name, "dup3"));
		break;
	case CALL_FCNTL:
		control(p, t);
		break;
	case CALL_SEEK:
		seek(p, t);
		break;
	case CALL_SYNC:
		row = name_row_of_fd(g->book, p, fd, t->time_ns);
		if (!row)
			break;
		count(g, row, FILE_SYNCS, 1, t->time_ns);
		count(g, row, FILE_OTHER_NS, duration(g, t), t->time_ns);
		break;
	}
}

/* ---- tasks ---- */

static void take_exec(struct tracing *g, const struct traced *t)
{
	struct book_process *p = book_process(g->book, t->pid);

	for (uint32_t i = 0; p && i < p->nfds; i++)
		if (p->fd[i].cloexec)
			p->fd[i] = (struct book_fd){ .row = FD_UNKNOWN };
	if (p)
		memcpy(p->comm, t->comm, sizeof p->comm);
}

static void take_fork(struct tracing *g, const struct traced *t)
{
	struct book_process *p;

	if (t->pid != t->parent) {
		book_fork(g->book, t->parent, t->pid);
		return;
	}
	p = book_process(g->book, t->pid);
	if (p)
		p->threads++;
}

static void take_end(struct tracing *g, const struct traced *t)
{
	struct book_process *p = book_find(g->book, t->pid);

	if (p && (p->threads <= 1 || !--p->threads))
		book_end(g->book, p);
}

static bool is_launcher(const struct tracing *g, pid_t pid)
{
	for (uint32_t i = 0; i < g->nlaunchers; i++)
		if (g->launcher[i] == pid)
			return true;
	return false;
}

void tracing_take(void *of, const struct traced *t, size_t later)
{
	struct tracing *g = of;
	struct book_process *p;

	if (t->kind == TRACED_FORK) {
		take_fork(g, t);
		return;
	}
	if (is_launcher(g, t->pid))
		return;
	if (t->kind == TRACED_EXEC) {
		take_exec(g, t);
	} else if (t->kind == TRACED_END) {
		take_end(g, t);
	} else if (t->kind == TRACED_ENTER) {
		uint32_t at = (uint32_t)t->tid % ENTERED;

		g->entered[at].tid = t->tid;
		g->entered[at].nr = t->call->nr;
		g->entered[at].time_ns = t->time_ns;
	} else {
		p = book_process(g->book, t->pid);
		if (p)
			take_exit(g, p, t, later);
	}
}
