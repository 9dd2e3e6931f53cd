/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/object.h"

#include "base/process.h"
#include "base/text/number.h"
#include "source/program/filelocks.h"
#include "source/program/waiting.h"
#include "source/storage/mountinfo.h"
#include "waits/ends.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOCKS_BYTES = 1 << 20, MOUNTS_BYTES = 1 << 18, FDINFO_BYTES = 4096, POLLED_NAMED = 3 };

enum how { BY_KIND, TO_READ, TO_WRITE, BY_FUTEX, BY_POLL, BY_CHILD, BY_LOCK, BY_OPEN, BY_SLEEP };

static const struct {
	long number;
	enum how how;
	enum wait_kind kind; /* when nothing better is known */
} calls[] = {
	{ SYS_futex, BY_FUTEX, WAIT_THREAD },         { SYS_read, TO_READ, WAIT_UNKNOWN },
	{ SYS_readv, TO_READ, WAIT_UNKNOWN },         { SYS_pread64, TO_READ, WAIT_STORAGE },
	{ SYS_preadv, TO_READ, WAIT_STORAGE },        { SYS_write, TO_WRITE, WAIT_UNKNOWN },
	{ SYS_writev, TO_WRITE, WAIT_UNKNOWN },       { SYS_pwrite64, TO_WRITE, WAIT_STORAGE },
	{ SYS_pwritev, TO_WRITE, WAIT_STORAGE },      { SYS_getdents64, TO_READ, WAIT_STORAGE },
	{ SYS_recvfrom, TO_READ, WAIT_SOCKET_READ },  { SYS_recvmsg, TO_READ, WAIT_SOCKET_READ },
	{ SYS_recvmmsg, TO_READ, WAIT_SOCKET_READ },  { SYS_sendto, TO_WRITE, WAIT_SOCKET_WRITE },
	{ SYS_sendmsg, TO_WRITE, WAIT_SOCKET_WRITE }, { SYS_sendfile, TO_WRITE, WAIT_UNKNOWN },
	{ SYS_connect, TO_WRITE, WAIT_CONNECTION },   { SYS_accept, TO_READ, WAIT_CONNECTION },
	{ SYS_accept4, TO_READ, WAIT_CONNECTION },    { SYS_ioctl, TO_READ, WAIT_UNKNOWN },
	{ SYS_fsync, TO_WRITE, WAIT_STORAGE },        { SYS_fdatasync, TO_WRITE, WAIT_STORAGE },
	{ SYS_wait4, BY_CHILD, WAIT_CHILD },          { SYS_waitid, BY_CHILD, WAIT_CHILD },
	{ SYS_nanosleep, BY_SLEEP, WAIT_TIMER },      { SYS_clock_nanosleep, BY_SLEEP, WAIT_TIMER },
	{ SYS_ppoll, BY_POLL, WAIT_EVENTS },          { SYS_pselect6, BY_POLL, WAIT_EVENTS },
	{ SYS_epoll_pwait, BY_POLL, WAIT_EVENTS },    { SYS_flock, BY_LOCK, WAIT_FILE_LOCK },
	{ SYS_fcntl, BY_LOCK, WAIT_FILE_LOCK },       { SYS_openat, BY_OPEN, WAIT_STORAGE },
	{ SYS_semop, BY_KIND, WAIT_QUEUE },           { SYS_semtimedop, BY_KIND, WAIT_QUEUE },
	{ SYS_msgrcv, BY_KIND, WAIT_QUEUE },          { SYS_msgsnd, BY_KIND, WAIT_QUEUE },
	{ SYS_mq_timedreceive, BY_KIND, WAIT_QUEUE }, { SYS_mq_timedsend, BY_KIND, WAIT_QUEUE },
	{ SYS_rt_sigsuspend, BY_KIND, WAIT_SIGNAL },  { SYS_rt_sigtimedwait, BY_KIND, WAIT_SIGNAL },
#ifdef SYS_poll
	{ SYS_open, BY_OPEN, WAIT_STORAGE },          { SYS_poll, BY_POLL, WAIT_EVENTS },
	{ SYS_select, BY_POLL, WAIT_EVENTS },         { SYS_epoll_wait, BY_POLL, WAIT_EVENTS },
	{ SYS_pause, BY_KIND, WAIT_SIGNAL },          { SYS_vfork, BY_CHILD, WAIT_CHILD },
#endif
};

bool object_call_parse(struct object_call *c, const char *text)
{
	char *end;

	*c = (struct object_call){ .number = strtol(text, &end, 10) };
	if (end == text)
		return false;
	for (size_t i = 0; c->number >= 0 && i < sizeof c->arg / sizeof c->arg[0]; i++)
		c->arg[i] = strtoull(end, &end, 16);
	c->sp = strtoull(end, &end, 16);
	c->pc = strtoull(end, &end, 16);
	if (c->number >= 0 && c->sp <= UINT32_MAX && c->pc <= UINT32_MAX)
		c->number = CALL_32;
	return c->sp && c->pc;
}

/* ---- files ---- */

static bool link_of(const struct wait_thread *t, int64_t fd, const struct object_world *w,
		    char out[WAIT_OBJECT])
{
	char path[48];
	ssize_t n;

	snprintf(path, sizeof path, "%d/fd/%lld", (int)t->pid, (long long)fd);
	n = fd < 0 || fd > INT32_MAX ? -1 : readlinkat(w->proc->fd, path, out, WAIT_OBJECT - 1);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static void name_of_process(const struct object_world *w, pid_t pid, char out[WAIT_NAME])
{
	char path[32], text[WAIT_NAME];
	ssize_t n;

	snprintf(path, sizeof path, "%d/comm", (int)pid);
	n = root_read(w->proc, path, text, sizeof text);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	snprintf(out, WAIT_NAME, "%s", text);
}

static void add_process(struct wait_thread *t, const struct object_world *w, pid_t pid)
{
	struct wait_holder h = { pid, 0, "" };

	name_of_process(w, pid, h.process);
	wait_add_holder(t, &h);
}

/* Those that have the other end: who could write what it reads. Of itself only where nobody else
 * has it. */
static bool add_ends(struct wait_thread *t, const struct object_world *w, char type, uint64_t inode,
		     bool they_write)
{
	const struct ends_file *end, *f = ends_find(w->ends, type, inode, &end);
	bool itself = false, others = false;

	for (; f < end; f++) {
		if (!(they_write ? f->writes : f->reads))
			continue;
		if (f->pid == t->pid)
			itself = true;
		else
			add_process(t, w, f->pid);
		others |= f->pid != t->pid;
	}
	if (itself && !others)
		add_process(t, w, t->pid);
	return itself || others;
}

static bool number_in(const char *link, const char *before, uint64_t *out)
{
	const char *at = link + strlen(before);

	return !strncmp(link, before, strlen(before)) && number_u64(&at, out) && *at == ']';
}

static void name_socket(struct wait_thread *t, const struct object_world *w, uint64_t inode,
			bool to_read)
{
	uint64_t peer = ends_peer(w->ends, inode);
	struct ends_connection c;

	t->object[0] = '\0';
	if (!peer && ends_connection(w->proc, t->pid, inode, &c)) {
		peer = c.peer;
		snprintf(t->object, sizeof t->object, "%s %s", c.protocol,
			 c.remote[0] && !c.listens ? c.remote : c.local);
		if (c.listens)
			t->kind = WAIT_CONNECTION;
	}
	if (peer && t->kind != WAIT_CONNECTION)
		t->closed = add_ends(t, w, 's', peer, to_read) && !w->ends->blind;
}

static bool is_device(const char *link, const char *const *names)
{
	for (; *names; names++)
		if (!strncmp(link, *names, strlen(*names)))
			return true;
	return false;
}

static const char *const gpus[] = { "/dev/nvidia", "/dev/kfd", "/dev/dri/", NULL };
static const char *const terminals[] = { "/dev/pts/", "/dev/tty", "/dev/console", NULL };

/* "/scratch/b.h5 (nfs4 at /scratch)" */
static void put_mount(struct wait_thread *t, const char *path, const char *type, const char *point)
{
	snprintf(t->object, sizeof t->object, "%.180s (%.31s at %.90s)", path, type, point);
}

static void name_storage(struct wait_thread *t, const struct object_world *w, int64_t fd,
			 const char *link)
{
	char path[48], fdinfo[FDINFO_BYTES], point[256], type[MOUNT_TYPE_SIZE];
	char *mounts = malloc(MOUNTS_BYTES);
	uint64_t id;

	snprintf(t->object, sizeof t->object, "%s", link);
	snprintf(path, sizeof path, "%d/fdinfo/%lld", (int)t->pid, (long long)fd);
	if (mounts && root_read(w->proc, path, fdinfo, sizeof fdinfo) > 0 &&
	    mountinfo_id_of(fdinfo, &id)) {
		snprintf(path, sizeof path, "%d/mountinfo", (int)t->pid);
		if (root_read(w->proc, path, mounts, MOUNTS_BYTES) > 0 &&
		    mountinfo_find(mounts, id, point, sizeof point, type))
			put_mount(t, link, type, point);
	}
	free(mounts);
}

static bool is_pipe_wait(const struct wait_thread *t)
{
	return strstr(t->function, "pipe_read") || strstr(t->function, "pipe_write") ||
	       strstr(t->function, "pipe_wait");
}

static void name_file(struct wait_thread *t, const struct object_world *w, int64_t fd, bool to_read)
{
	char link[WAIT_OBJECT];
	uint64_t inode;

	if (!link_of(t, fd, w, link))
		return;
	if (number_in(link, "pipe:[", &inode)) {
		t->kind = to_read ? WAIT_PIPE_READ : WAIT_PIPE_WRITE;
		t->closed = add_ends(t, w, 'p', inode, to_read) && !w->ends->blind;
	} else if (number_in(link, "socket:[", &inode)) {
		if (t->kind != WAIT_CONNECTION)
			t->kind = to_read ? WAIT_SOCKET_READ : WAIT_SOCKET_WRITE;
		name_socket(t, w, inode, to_read);
	} else if (is_device(link, gpus)) {
		t->kind = WAIT_GPU;
		snprintf(t->object, sizeof t->object, "%s", link);
	} else if (is_device(link, terminals)) {
		t->kind = WAIT_TERMINAL;
		snprintf(t->object, sizeof t->object, "%s", link);
	} else if (is_pipe_wait(t)) {
		t->kind = to_read ? WAIT_PIPE_READ : WAIT_PIPE_WRITE;
		snprintf(t->object, sizeof t->object, "%s", link);
	} else if (!strncmp(link, "anon_inode:", 11)) {
		t->kind = WAIT_EVENTS;
		snprintf(t->object, sizeof t->object, "%s", link + 11);
	} else {
		t->kind = WAIT_STORAGE;
		name_storage(t, w, fd, link);
	}
}

/* ---- locks on files ---- */

static void name_lock(struct wait_thread *t, const struct object_call *c,
		      const struct object_world *w)
{
	uint64_t inode = filelocks_inode(w->proc, t->pid, c->arg[0]);
	char *locks = malloc(LOCKS_BYTES);
	pid_t pid[WAIT_HOLDERS];
	size_t n = 0;

	link_of(t, (int64_t)c->arg[0], w, t->object);
	if (locks && root_read(w->proc, "locks", locks, LOCKS_BYTES) > 0)
		n = filelocks_holders(locks, t->pid, inode, pid, WAIT_HOLDERS);
	free(locks);
	t->closed = n > 0;
	for (size_t i = 0; i < n; i++) {
		char name[WAIT_NAME];

		if (pid[i] > 0)
			name_of_process(w, pid[i], name);
		if (pid[i] > 0 && !name[0]) { /* others may have got it as well */
			pid[i] = filelocks_heir(w->proc, inode, pid[i]);
			t->closed = false;
		}
		if (pid[i] > 0)
			add_process(t, w, pid[i]);
		else
			t->closed = false;
	}
}

/* ---- opening, children, sleep, poll ---- */

/* Where a path that does not begin at the root begins: the directory of a descriptor, or the one
 * that the process is in. */
static bool begin_path(const struct wait_thread *t, int32_t fd, const struct object_world *w,
		       char out[WAIT_OBJECT])
{
	char path[32];
	ssize_t n;

	if (fd != AT_FDCWD)
		return link_of(t, fd, w, out);
	snprintf(path, sizeof path, "%d/cwd", (int)t->pid);
	n = readlinkat(w->proc->fd, path, out, WAIT_OBJECT - 1);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Nothing but the words of the path is known, and what is below a link may be elsewhere: so a mount
 * is named only where such a wait is likely. */
static void name_path(struct wait_thread *t, const struct object_world *w, int32_t fd,
		      const char *path)
{
	char whole[2 * WAIT_OBJECT], begin[WAIT_OBJECT], *mounts = malloc(MOUNTS_BYTES), at[32];
	char point[256], type[MOUNT_TYPE_SIZE];
	uint64_t id = 0;

	while (!strncmp(path, "./", 2))
		path += 2;
	if (*path == '/' || strstr(path, "../") || !begin_path(t, fd, w, begin))
		snprintf(whole, sizeof whole, "%s", path);
	else
		snprintf(whole, sizeof whole, "%s/%s", begin, path);
	snprintf(t->object, sizeof t->object, "%.*s", (int)sizeof t->object - 1, whole);
	snprintf(at, sizeof at, "%d/mountinfo", (int)t->pid);
	if (mounts && root_read(w->proc, at, mounts, MOUNTS_BYTES) > 0 && *whole == '/')
		id = mountinfo_of_path(mounts, whole);
	if (id && mountinfo_find(mounts, id, point, sizeof point, type) && wait_is_far(type))
		put_mount(t, whole, type, point);
	free(mounts);
}

static void name_open(struct wait_thread *t, const struct object_call *c,
		      const struct object_world *w)
{
	bool at = c->number == SYS_openat;
	char path[WAIT_OBJECT];
	uint64_t flags = c->arg[at ? 2 : 1];
	bool fifo = strstr(t->function, "wait_for_partner") || strstr(t->function, "fifo_open");

	if (memory_text(t->pid, c->arg[at ? 1 : 0], path, sizeof path)) {
		if (fifo)
			snprintf(t->object, sizeof t->object, "%s", path);
		else
			name_path(t, w, at ? (int32_t)c->arg[0] : AT_FDCWD, path);
	}
	if (fifo)
		t->kind = (flags & O_ACCMODE) == O_WRONLY ? WAIT_FIFO_READER : WAIT_FIFO_WRITER;
}

/* Which one is in the call, or any: then all of them are named. */
static pid_t child_of(const struct object_call *c)
{
	bool id = c->number == SYS_waitid;
	int64_t pid = (int32_t)c->arg[id ? 1 : 0];

	if (id && c->arg[0] != P_PID)
		return 0;
	return pid > 0 && (c->number == SYS_wait4 || id) ? (pid_t)pid : 0;
}

static void name_child(struct wait_thread *t, const struct object_call *c,
		       const struct object_world *w)
{
	pid_t one = child_of(c);

	t->closed = true;
	for (uint32_t i = 0; i < w->nchildren; i++)
		if (w->child[i].parent == t->pid && (!one || w->child[i].pid == one)) {
			struct wait_holder h = { w->child[i].pid, 0, "" };

			snprintf(h.process, sizeof h.process, "%s", w->child[i].process);
			wait_add_holder(t, &h);
		}
	t->closed = t->closed && t->nholders;
}

static void name_sleep(struct wait_thread *t, const struct object_call *c)
{
	bool of_clock = c->number == SYS_clock_nanosleep;
	struct timespec length;

	if (of_clock && c->arg[1] & TIMER_ABSTIME)
		return;
	if (memory_read(t->pid, c->arg[of_clock ? 2 : 0], &length, sizeof length) &&
	    length.tv_sec >= 0 && length.tv_nsec >= 0 && length.tv_nsec < 1000000000)
		snprintf(t->object, sizeof t->object, "%.6g s",
			 (double)length.tv_sec + (double)length.tv_nsec * 1e-9);
}

static bool poll_is_timed(const struct object_call *c)
{
#ifdef SYS_poll
	if (c->number == SYS_poll)
		return (int32_t)c->arg[2] >= 0;
	if (c->number == SYS_select)
		return c->arg[4] != 0;
	if (c->number == SYS_epoll_wait)
		return (int32_t)c->arg[3] >= 0;
#endif
	if (c->number == SYS_epoll_pwait)
		return (int32_t)c->arg[3] >= 0;
	return c->arg[c->number == SYS_ppoll ? 2 : 4] != 0;
}

/* Any of these files may end it. Of which it waits to write is not asked: both ends are named. */
static void name_polled(struct wait_thread *t, const struct object_call *c,
			const struct object_world *w)
{
	struct polled polled;
	struct wait_thread one = { .pid = t->pid };
	size_t len = 0;
	bool closed = true;

	if (polled_read(w->proc, t->pid, c->number, c->arg, &polled))
		return;
	if (!polled.n && poll_is_timed(c)) {
		t->kind = WAIT_TIMER;
		return;
	}
	for (size_t i = 0; i < polled.n; i++) {
		one = (struct wait_thread){ .pid = t->pid };
		name_file(&one, w, polled.fd[i], true);
		for (uint32_t k = 0; k < one.nholders; k++)
			if (polled.n == 1 || one.holder[k].pid != t->pid)
				wait_add_holder(t, &one.holder[k]);
		closed = closed && one.closed;
		if (i < POLLED_NAMED && one.object[0] && len + 80 < sizeof t->object)
			len += (size_t)snprintf(t->object + len, sizeof t->object - len, "%s%.70s",
						len ? ", " : "", one.object);
	}
	if (polled.n == 1 && one.kind != WAIT_UNKNOWN && one.kind != WAIT_STORAGE)
		t->kind = one.kind;
	t->closed = closed && polled.n && !polled.by_epoll && t->nholders < WAIT_HOLDERS &&
		    t->nholders && !poll_is_timed(c);
}

static void name_futex(struct wait_thread *t, const struct object_call *c,
		       const struct object_world *w)
{
	const struct futex_call f = { c->arg[0], (int)c->arg[1], (uint32_t)c->arg[2],
				      c->arg[3] != 0 };

	futex_name(t, &f, w->proc);
}

static void by_call(struct wait_thread *t, const struct object_call *c, enum how how,
		    const struct object_world *w)
{
	switch (how) {
	case TO_READ:
	case TO_WRITE:
		name_file(t, w, (int64_t)c->arg[0], how == TO_READ);
		break;
	case BY_FUTEX:
		name_futex(t, c, w);
		break;
	case BY_POLL:
		name_polled(t, c, w);
		break;
	case BY_CHILD:
		name_child(t, c, w);
		break;
	case BY_LOCK:
		name_lock(t, c, w);
		break;
	case BY_OPEN:
		name_open(t, c, w);
		break;
	case BY_SLEEP:
		if (!w->lasting)
			name_sleep(t, c);
		break;
	default:
		break;
	}
}

/* The row of its call in calls[]; -1: it has none. */
static int row_of(const struct object_call *c)
{
	for (size_t i = 0; c->number >= 0 && i < sizeof calls / sizeof calls[0]; i++)
		if (calls[i].number == c->number)
			return (int)i;
	return -1;
}

static bool is_vfork(const struct wait_thread *t)
{
	return strstr(t->function, "wait_for_vfork") != NULL;
}

unsigned object_needs(const struct wait_thread *t, const struct object_call *c)
{
	int row = row_of(c);
	enum how how = row < 0 ? BY_KIND : calls[row].how;

	if (how == TO_READ || how == TO_WRITE || how == BY_POLL)
		return OBJECT_ENDS;
	return how == BY_CHILD || (row < 0 && is_vfork(t)) ? OBJECT_CHILDREN : 0;
}

void object_name(struct wait_thread *t, const struct object_call *c, char state,
		 const struct object_world *w)
{
	int row = row_of(c);

	if (row >= 0) {
		t->kind = calls[row].kind;
		by_call(t, c, calls[row].how, w);
	} else if (is_vfork(t)) {
		t->kind = WAIT_CHILD;
		name_child(t, c, w);
	} else if (c->number < 0) {
		t->kind = WAIT_MEMORY;
	} else if (state == 'D') {
		t->kind = WAIT_STORAGE;
	}
}
