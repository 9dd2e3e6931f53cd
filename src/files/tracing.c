/* SPDX-License-Identifier: Apache-2.0 */
#include "files/tracing.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IN_NONE = 0xffff };

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

/* The one of a thread; a new one takes the place of the oldest. */
static struct entered *entered_of(struct tracing *g, pid_t tid, bool make)
{
	struct entered *set = g->entered[(uint32_t)tid % ENTERED_SETS], *oldest = set;

	for (int i = 0; i < ENTERED_WAYS; i++) {
		if (set[i].tid == tid)
			return &set[i];
		if (set[i].time_ns < oldest->time_ns)
			oldest = &set[i];
	}
	if (make)
		*oldest = (struct entered){ .tid = tid, .nr = IN_NONE };
	return make ? oldest : NULL;
}

static void enter(struct tracing *g, const struct traced *t)
{
	struct entered *in = entered_of(g, t->tid, true);

	in->nr = t->call->nr;
	in->time_ns = t->time_ns;
	memcpy(in->arg, t->arg, sizeof in->arg);
}

/* The entry of what returns: its time, and the arguments where the return has none. False: it was
 * lost. */
static bool leave(struct tracing *g, struct traced *t)
{
	struct entered *in = t->call->timed ? entered_of(g, t->tid, false) : NULL;
	bool matches = in && in->nr == t->call->nr;

	if (matches) {
		t->took_ns = t->time_ns - in->time_ns;
		in->nr = IN_NONE;
	}
	if (t->has_arguments)
		return true;
	if (matches)
		memcpy(t->arg, in->arg, sizeof t->arg);
	else if (in) /* else it was in this call before it was traced */
		g->unpaired++;
	return matches;
}

/* ---- reads and writes ---- */

struct moved {
	int fd;
	bool writes;
	int64_t offset; /* < 0: where the descriptor stands */
	int64_t ns;
};

/* As long as its name is a guess a descriptor keeps what it has counted: fstat may settle it. */
static void add(struct book_row *r, struct book_fd *f, enum files_counter which, int64_t by)
{
	r->value[which] += by;
	if (f->guessed && !f->early)
		f->early = calloc(FILE_FOLDED, sizeof *f->early);
	if (f->guessed && f->early)
		f->early[which] += by;
}

/* What was counted while the name was a guess goes to another row. */
static void change_row(struct tracing *g, struct book_fd *f, uint32_t row, int64_t now_ns)
{
	if (!row || row == f->row || f->row == FD_UNKNOWN || f->row == FD_NO_FILE)
		return;
	for (int i = 0; i < FILE_FOLDED && f->early; i++) {
		book_row(g->book, f->row)->value[i] -= f->early[i];
		book_row(g->book, row)->value[i] += f->early[i];
	}
	count(g, f->row, FILE_OPENS, f->opened ? -1 : 0, now_ns);
	count(g, row, FILE_OPENS, f->opened ? 1 : 0, now_ns);
	f->row = row;
}

/* A descriptor without a name is looked at again when it is used: where it leads to is believed
 * once something happens on it that is younger than the look. */
static void look_again(struct tracing *g, struct book_process *p, const struct traced *t, int fd)
{
	struct book_fd *f = book_fd(p, fd);
	char path[NAME_MOST];
	uint32_t row;

	if (!f || !f->guessed || f->row == FD_UNKNOWN || f->row == FD_NO_FILE)
		return;
	if (f->looked_ns) {
		if (t->time_ns > f->looked_ns)
			book_fd_settle(f);
		return;
	}
	if (*book_row(g->book, f->row)->path || name_of_fd(p->pid, fd, path) <= 0)
		return;
	f->looked_ns = clock_mono_ns();
	row = book_row_of(g->book, p, path, t->time_ns);
	f = book_fd(p, fd);
	change_row(g, f, row, t->time_ns);
}

/* It was looked for after this, so that it may be another file by now. */
static bool looked_after(const struct book_fd *f, const struct traced *t)
{
	return f->guessed && f->looked_ns > t->time_ns;
}

/* It was closed, or became another, before the look: that was at another file. */
static void look_failed(struct tracing *g, struct book_process *p, const struct traced *t, int fd)
{
	struct book_fd *f = book_fd(p, fd);

	if (f && looked_after(f, t))
		change_row(g, f, book_row_of(g->book, p, "", t->time_ns), t->time_ns);
}

static void move(struct tracing *g, struct book_process *p, const struct traced *t, struct moved m)
{
	uint32_t row;
	struct book_fd *f;
	struct book_row *r;
	bool sequential;

	look_again(g, p, t, m.fd);
	row = name_row_of_fd(g->book, p, m.fd, t->time_ns);
	f = book_fd(p, m.fd);
	if (!row || !f)
		return;
	r = book_row(g->book, row);
	add(r, f, m.writes ? FILE_WRITES : FILE_READS, 1);
	add(r, f, m.writes ? FILE_WRITE_NS : FILE_READ_NS, m.ns);
	touch(r, t->time_ns);
	if (t->result < 0)
		return;
	add(r, f, size_class(t->result), 1);
	sequential = m.offset < 0 ? !f->jumped : m.offset == f->at;
	f->at = (m.offset < 0 ? f->at : m.offset) + t->result;
	f->jumped = false;
	add(r, f, m.writes ? FILE_WRITTEN_BYTES : FILE_READ_BYTES, t->result);
	add(r, f, FILE_SEQUENTIAL_BYTES, sequential ? t->result : 0);
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
	bool at = call_is_at(t->call);
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

/* What fstat said settles which file a guessed name is of. Where no name of the inode is known
 * yet, the row is of the inode. */
static void settle(struct tracing *g, struct book_process *p, const struct traced *t)
{
	struct book_fd *f = book_fd(p, (int)t->arg[0]);
	char path[NAME_MOST], was[NAME_MOST];
	uint32_t row;

	if (!f || f->row == FD_UNKNOWN || f->row == FD_NO_FILE)
		return;
	snprintf(was, sizeof was, "%s", book_row(g->book, f->row)->path);
	if (!f->guessed || inode_is(was, t->device, t->inode)) {
		inodes_learn(g->inodes, t->device, t->inode, was);
		book_fd_settle(f);
		return;
	}
	if (!inodes_known(g->inodes, t->device, t->inode, path, sizeof path) &&
	    !inode_beside(*was ? was : p->near, t->device, t->inode, path, sizeof path))
		book_path_of_inode(t->device, t->inode, path);
	row = book_row_of(g->book, p, path, t->time_ns);
	change_row(g, f, row, t->time_ns);
	book_fd_settle(f);
}

static void open_or_stat(struct tracing *g, struct book_process *p, const struct traced *t,
			 size_t later)
{
	bool opens = call_opens(t->call);
	uint64_t flags = t->call->kind == CALL_OPEN_AT2  ? 0
			 : t->call->kind == CALL_OPEN_AT ? t->arg[2]
							 : t->arg[1];
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
	if (t->inode && (t->call->kind == CALL_STAT_FD || !t->name || !*t->name))
		settle(g, p, t);
	else if (t->inode && known && !t->result)
		inodes_learn(g->inodes, t->device, t->inode, path);
	if (opens && (known || (*path && !lstat(path, &st)))) {
		snprintf(p->near, sizeof p->near, "%s", path);
		inodes_near(g->inodes, path);
	}
	if (!opens && (t->call->kind == CALL_STAT_FD || (t->name && !*t->name)))
		row = name_row_of_fd(g->book, p, (int)t->arg[0], t->time_ns);
	else
		row = book_row_of(g->book, p, known ? path : "", t->time_ns);
	if (!row)
		return;
	count(g, row, opens ? FILE_OPENS : FILE_STATS, 1, t->time_ns);
	count(g, row, FILE_OTHER_NS, t->took_ns, t->time_ns);
	f = opens ? book_fd(p, (int)t->result) : NULL;
	if (f)
		book_fd_set(f, (struct book_fd){
				       .row = row,
				       .opened = true,
				       .cloexec = flags & O_CLOEXEC,
				       .guessed = !known ||
						  (t->from_memory &&
						   (!t->link || traced_link_spoiled(t, later))) });
}

static bool closes_on_exec(const struct traced *t)
{
	return t->call->kind == CALL_FCNTL
		       ? t->arg[1] == F_DUPFD_CLOEXEC
		       : t->arg[2] & O_CLOEXEC && !strcmp(t->call->name, "dup3");
}

static void duplicate(struct tracing *g, struct book_process *p, const struct traced *t,
		      size_t later)
{
	struct book_fd *to, *from;

	if (t->result < 0)
		return;
	look_failed(g, p, t, (int)t->result);
	(void)book_fd(p, (int)t->result); /* so that they do not move any more */
	from = book_fd(p, (int)t->arg[0]);
	to = book_fd(p, (int)t->result);
	if (to && from && to != from && looked_after(from, t)) {
		book_fd_set(to, (struct book_fd){ .row = FD_UNKNOWN });
	} else if (to && from && to != from) {
		book_fd_set(to, *from);
		from->early = NULL;
		from->opened = false;
	}
	if (!to)
		return;
	to->cloexec = closes_on_exec(t);
	if (to->guessed && t->link && !traced_link_spoiled(t, later)) {
		change_row(g, to, book_row_of(g->book, p, t->link, t->time_ns), t->time_ns);
		book_fd_settle(to);
	}
}

static void control(struct tracing *g, struct book_process *p, const struct traced *t, size_t later)
{
	struct book_fd *f = book_fd(p, (int)t->arg[0]);

	if (t->result < 0 || !f)
		return;
	if (t->arg[1] == F_DUPFD || t->arg[1] == F_DUPFD_CLOEXEC)
		duplicate(g, p, t, later);
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
		move(g, p, t, (struct moved){ fd, writes, -1, t->took_ns });
		break;
	case CALL_READ_AT:
	case CALL_WRITE_AT:
		move(g, p, t, (struct moved){ fd, writes, (int64_t)t->arg[3], t->took_ns });
		break;
	case CALL_COPY:
		move_both(g, p, t, (int)t->arg[1], fd);
		break;
	case CALL_COPY_RANGE:
		move_both(g, p, t, fd, (int)t->arg[2]);
		break;
	case CALL_OPEN:
	case CALL_OPEN_AT:
	case CALL_OPEN_AT2:
	case CALL_STAT:
	case CALL_STAT_AT:
	case CALL_STAT_FD:
		open_or_stat(g, p, t, later);
		break;
	case CALL_CLOSE:
		look_failed(g, p, t, fd);
		f = t->result != -EBADF ? book_fd(p, fd) : NULL;
		if (f)
			book_fd_set(f, (struct book_fd){ .row = FD_UNKNOWN });
		break;
	case CALL_DUP:
		duplicate(g, p, t, later);
		break;
	case CALL_FCNTL:
		control(g, p, t, later);
		break;
	case CALL_SEEK:
		seek(p, t);
		break;
	case CALL_IO_URING:
		g->io_urings += t->result >= 0;
		break;
	case CALL_SYNC:
		row = name_row_of_fd(g->book, p, fd, t->time_ns);
		if (!row)
			break;
		count(g, row, FILE_SYNCS, 1, t->time_ns);
		count(g, row, FILE_OTHER_NS, t->took_ns, t->time_ns);
		break;
	}
}

/* ---- tasks ---- */

static void take_exec(struct tracing *g, const struct traced *t)
{
	struct book_process *p = book_process(g->book, t->pid);

	for (uint32_t i = 0; p && i < p->nfds; i++)
		if (p->fd[i].cloexec)
			book_fd_set(&p->fd[i], (struct book_fd){ .row = FD_UNKNOWN });
	if (p)
		memcpy(p->comm, t->comm, sizeof p->comm);
}

static void take_fork(struct tracing *g, const struct traced *t)
{
	struct book_process *p;

	if (t->pid == t->parent) {
		p = book_process(g->book, t->pid);
		if (p)
			p->threads++;
		return;
	}
	book_fork(g->book, t->parent, t->pid);
	p = book_find(g->book, t->pid);
	for (uint32_t i = 0; p && i < p->nfds; i++)
		if (looked_after(&p->fd[i], t))
			p->fd[i] = (struct book_fd){ .row = FD_UNKNOWN };
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

static void take_map(struct tracing *g, const struct traced *t)
{
	struct book_process *p = t->name && t->result > 0 ? book_process(g->book, t->pid) : NULL;
	uint32_t row;

	inodes_learn(g->inodes, t->device, t->inode, t->name ? t->name : "");
	if (!p)
		return;
	row = book_row_of(g->book, p, t->name, t->time_ns);
	count(g, row, FILE_MAPPED_BYTES, t->result, t->time_ns);
	count(g, row, FILE_MAPPED_WRITABLE_BYTES, t->writable ? t->result : 0, t->time_ns);
}

void tracing_take(void *of, struct traced *t, size_t later)
{
	struct tracing *g = of;
	struct book_process *p;

	if (t->kind == TRACED_FORK) {
		take_fork(g, t);
		return;
	}
	if (is_launcher(g, t->pid))
		return;
	if (t->kind == TRACED_MAP) {
		take_map(g, t);
	} else if (t->kind == TRACED_EXEC) {
		take_exec(g, t);
	} else if (t->kind == TRACED_END) {
		take_end(g, t);
	} else if (t->kind == TRACED_ENTER) {
		enter(g, t);
	} else if (leave(g, t)) {
		p = book_process(g->book, t->pid);
		if (p)
			take_exit(g, p, t, later);
	}
}
