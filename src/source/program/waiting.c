/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/waiting.h"

#include "base/text/number.h"
#include "source/procfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FDINFO_BYTES = 8192, SETS = 3 /* to read, to write, exceptions */ };

enum how { BY_POLL, BY_SELECT, BY_EPOLL };
static const struct {
	long call;
	enum how how;
} polling[] = {
	{ SYS_ppoll, BY_POLL },         { SYS_pselect6, BY_SELECT }, { SYS_epoll_pwait, BY_EPOLL },
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, BY_EPOLL },
#endif
#ifdef SYS_poll
	{ SYS_poll, BY_POLL },          { SYS_select, BY_SELECT },   { SYS_epoll_wait, BY_EPOLL },
#endif
};

static void add(struct polled *p, int64_t fd)
{
	if (fd >= 0 && fd <= INT32_MAX && p->n < POLLED_MAX)
		p->fd[p->n++] = (int)fd;
}

static int memory_at(const struct root *proc, pid_t pid, uint64_t at, void *out, size_t size)
{
	char path[32];
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "%d/mem", (int)pid);
	fd = root_file(proc, path);
	if (fd < 0)
		return fd;
	got = at <= INT64_MAX ? pread(fd, out, size, (off_t)at) : -1;
	close(fd);
	return got == (ssize_t)size ? 0 : -EIO;
}

static int by_poll(const struct root *proc, pid_t pid, const uint64_t *arg, struct polled *out)
{
	struct pollfd fds[POLLED_MAX];
	size_t n = arg[1] < POLLED_MAX ? (size_t)arg[1] : POLLED_MAX;
	int bad = n ? memory_at(proc, pid, arg[0], fds, n * sizeof *fds) : 0;

	for (size_t i = 0; !bad && i < n; i++)
		add(out, fds[i].fd);
	return bad;
}

/* Sets of bits in words; of so many descriptors as it says, and no more than FD_SETSIZE. */
static int by_select(const struct root *proc, pid_t pid, const uint64_t *arg, struct polled *out)
{
	enum { WORD = 8 * sizeof(unsigned long), WORDS = 1024 / WORD };
	unsigned long all[WORDS] = { 0 }, set[WORDS] = { 0 };
	size_t nfds = arg[0] < 1024 ? (size_t)arg[0] : 1024;
	size_t words = (nfds + WORD - 1) / WORD;

	for (int i = 1; i <= SETS && words; i++) {
		int bad = arg[i] ? memory_at(proc, pid, arg[i], set, words * sizeof *set) : 0;

		if (bad)
			return bad;
		for (size_t k = 0; arg[i] && k < words; k++)
			all[k] |= set[k];
	}
	for (size_t fd = 0; fd < nfds; fd++)
		if (all[fd / WORD] >> fd % WORD & 1)
			add(out, (int64_t)fd);
	return 0;
}

/* Lines "tfd:        5 events:       19 data: ..." */
static int by_epoll(const struct root *proc, pid_t pid, const uint64_t *arg, struct polled *out)
{
	char path[48], text[FDINFO_BYTES];
	ssize_t n;

	snprintf(path, sizeof path, "%d/fdinfo/%llu", (int)pid, (unsigned long long)arg[0]);
	n = root_read(proc, path, text, sizeof text);
	if (n < 0)
		return (int)n;
	out->by_epoll = true;
	for (const char *p = text; (p = number_find_line(p, "tfd:"));) {
		int64_t fd;

		p = number_skip_blanks(p);
		if (number_i64(&p, &fd))
			add(out, fd);
		p = number_next_line(p);
	}
	return 0;
}

int polled_read(const struct root *proc, pid_t pid, long call, const uint64_t *arg,
		struct polled *out)
{
	static int (*const readers[])(const struct root *, pid_t, const uint64_t *,
				      struct polled *) = {
		[BY_POLL] = by_poll,
		[BY_SELECT] = by_select,
		[BY_EPOLL] = by_epoll,
	};

	*out = (struct polled){ .n = 0 };
	for (size_t i = 0; i < sizeof polling / sizeof polling[0]; i++)
		if (polling[i].call == call)
			return readers[polling[i].how](proc, pid, arg, out);
	return -ENOENT;
}

enum {
	FDS_MAX = 64,       /* that are looked at for a connection */
	SOCKETS_MAX = 8,    /* of them */
	LOCK_CONTENDED = 2, /* what a lock of glibc holds for whom somebody waits */
	TARGET = 128,
};

/* One thread. */
struct thread {
	const struct root *proc;
	struct connections *known; /* or NULL */
	pid_t pid;
	char dir[48]; /* "12/task/13", or "12" of the only one */
	char state;
	long call; /* -1: not told */
	uint64_t arg[6];
	char function[48];   /* of the kernel; "": not told */
	char target[TARGET]; /* what it waits for, for people */
};

/* What a system call waits for; of those with a descriptor, what that is decides. */
enum by { BY_KIND, BY_FILE, BY_FUTEX, BY_OPEN };
static const struct {
	long call;
	enum by by;
	enum stall kind; /* when nothing better is known */
	enum stall pipe; /* when it is a pipe */
} calls[] = {
	{ SYS_futex, BY_FUTEX, STALL_THREAD, 0 },
	{ SYS_read, BY_FILE, STALL_UNKNOWN, STALL_PIPE_WRITER },
	{ SYS_readv, BY_FILE, STALL_UNKNOWN, STALL_PIPE_WRITER },
	{ SYS_write, BY_FILE, STALL_UNKNOWN, STALL_PIPE_READER },
	{ SYS_writev, BY_FILE, STALL_UNKNOWN, STALL_PIPE_READER },
	{ SYS_pread64, BY_FILE, STALL_UNKNOWN, 0 },
	{ SYS_pwrite64, BY_FILE, STALL_UNKNOWN, 0 },
	{ SYS_getdents64, BY_FILE, STALL_UNKNOWN, 0 },
	{ SYS_recvfrom, BY_FILE, STALL_NETWORK, 0 },
	{ SYS_recvmsg, BY_FILE, STALL_NETWORK, 0 },
	{ SYS_recvmmsg, BY_FILE, STALL_NETWORK, 0 },
	{ SYS_sendto, BY_FILE, STALL_NETWORK, 0 },
	{ SYS_sendmsg, BY_FILE, STALL_NETWORK, 0 },
	{ SYS_connect, BY_FILE, STALL_NETWORK, 0 },
	{ SYS_accept, BY_KIND, STALL_CONNECTION, 0 },
	{ SYS_accept4, BY_KIND, STALL_CONNECTION, 0 },
	{ SYS_wait4, BY_KIND, STALL_CHILD, 0 },
	{ SYS_waitid, BY_KIND, STALL_CHILD, 0 },
	{ SYS_nanosleep, BY_KIND, STALL_TIMER, 0 },
	{ SYS_clock_nanosleep, BY_KIND, STALL_TIMER, 0 },
	{ SYS_ppoll, BY_KIND, STALL_EVENTS, 0 },
	{ SYS_pselect6, BY_KIND, STALL_EVENTS, 0 },
	{ SYS_epoll_pwait, BY_KIND, STALL_EVENTS, 0 },
	{ SYS_flock, BY_KIND, STALL_FILE_LOCK, 0 },
	{ SYS_fcntl, BY_KIND, STALL_FILE_LOCK, 0 },
	{ SYS_semtimedop, BY_KIND, STALL_SEMAPHORE, 0 },
	{ SYS_semop, BY_KIND, STALL_SEMAPHORE, 0 },
	{ SYS_msgrcv, BY_KIND, STALL_SEMAPHORE, 0 },
	{ SYS_msgsnd, BY_KIND, STALL_SEMAPHORE, 0 },
	{ SYS_mq_timedreceive, BY_KIND, STALL_SEMAPHORE, 0 },
	{ SYS_rt_sigsuspend, BY_KIND, STALL_SIGNAL, 0 },
	{ SYS_rt_sigtimedwait, BY_KIND, STALL_SIGNAL, 0 },
	{ SYS_fsync, BY_FILE, STALL_STORAGE, 0 },
	{ SYS_fdatasync, BY_FILE, STALL_STORAGE, 0 },
	{ SYS_openat, BY_OPEN, STALL_UNKNOWN, 0 },
#ifdef SYS_open
	{ SYS_open, BY_OPEN, STALL_UNKNOWN, 0 },
#endif
#ifdef SYS_poll
	{ SYS_poll, BY_KIND, STALL_EVENTS, 0 },
	{ SYS_select, BY_KIND, STALL_EVENTS, 0 },
	{ SYS_epoll_wait, BY_KIND, STALL_EVENTS, 0 },
	{ SYS_pause, BY_KIND, STALL_SIGNAL, 0 },
#endif
};

/* Without the system call: how the kernel's functions begin (Linux 4.18 to 6.18; those of CIFS,
 * Ceph and Lustre by their sources). */
static const struct {
	const char *begins;
	enum stall kind;
} functions[] = {
	{ "futex", STALL_THREAD },
	{ "do_futex", STALL_THREAD },
	{ "hrtimer_nanosleep", STALL_TIMER },
	{ "do_nanosleep", STALL_TIMER },
	{ "common_nsleep", STALL_TIMER },
	{ "do_wait", STALL_CHILD },
	{ "kernel_wait", STALL_CHILD },
	{ "anon_pipe_read", STALL_PIPE_WRITER },
	{ "pipe_read", STALL_PIPE_WRITER },
	{ "anon_pipe_write", STALL_PIPE_READER },
	{ "pipe_write", STALL_PIPE_READER },
	{ "pipe_wait", STALL_PIPE_WRITER },
	{ "fifo_open", STALL_FIFO_WRITER },
	{ "wait_for_partner", STALL_FIFO_WRITER },
	{ "unix_stream", STALL_LOCAL_SOCKET },
	{ "unix_dgram", STALL_LOCAL_SOCKET },
	{ "sk_wait", STALL_NETWORK },
	{ "sk_stream", STALL_NETWORK },
	{ "tcp_", STALL_NETWORK },
	{ "inet_wait_for_connect", STALL_NETWORK },
	{ "inet_csk_accept", STALL_CONNECTION },
	{ "inet_csk_wait_for_connect", STALL_CONNECTION },
	{ "__skb_wait", STALL_NETWORK },
	{ "skb_wait", STALL_NETWORK },
	{ "ep_poll", STALL_EVENTS },
	{ "do_epoll", STALL_EVENTS },
	{ "do_poll", STALL_EVENTS },
	{ "do_select", STALL_EVENTS },
	{ "poll_schedule", STALL_EVENTS },
	{ "do_sys_poll", STALL_EVENTS },
	{ "locks_lock", STALL_FILE_LOCK },
	{ "flock_lock", STALL_FILE_LOCK },
	{ "fcntl_setlk", STALL_FILE_LOCK },
	{ "posix_lock", STALL_FILE_LOCK },
	{ "do_semtimedop", STALL_SEMAPHORE },
	{ "do_msg", STALL_SEMAPHORE },
	{ "sigsuspend", STALL_SIGNAL },
	{ "do_sigtimedwait", STALL_SIGNAL },
	{ "__do_sys_pause", STALL_SIGNAL },
	{ "n_tty_read", STALL_TERMINAL },
	{ "wait_for_vfork", STALL_CHILD },
	{ "kernel_clone", STALL_CHILD },
	{ "_do_fork", STALL_CHILD },
	{ "rpc_wait", STALL_STORAGE },
	{ "nfs", STALL_STORAGE },
	{ "request_wait_answer", STALL_STORAGE },
	{ "fuse_", STALL_STORAGE },
	{ "wait_for_response", STALL_STORAGE },
	{ "cifs_", STALL_STORAGE },
	{ "ceph_", STALL_STORAGE },
	{ "ptlrpc_", STALL_STORAGE },
	{ "ldlm_", STALL_STORAGE },
	{ "cl_sync_io", STALL_STORAGE },
	{ "autofs_wait", STALL_STORAGE },
	{ "io_schedule", STALL_STORAGE },
	{ "folio_wait", STALL_STORAGE },
	{ "wait_on_page", STALL_STORAGE },
};

static ssize_t read_of(const struct thread *t, const char *file, char *out, size_t size)
{
	char path[72];

	snprintf(path, sizeof path, "%s/%s", t->dir, file);
	return root_read(t->proc, path, out, size);
}

/* "202 0x55e8 0x80 0x2 0x0 0x0 0x0 SP PC"; "running" and "-1 SP PC" are no call. */
static void read_call(struct thread *t)
{
	char text[256], *end = text;
	long call;

	t->call = -1;
	if (read_of(t, "syscall", text, sizeof text) <= 0)
		return;
	call = strtol(text, &end, 10);
	if (end == text || call < 0)
		return;
	for (size_t i = 0; i < sizeof t->arg / sizeof t->arg[0]; i++)
		t->arg[i] = strtoull(end, &end, 16);
	t->call = call;
}

static void read_function(struct thread *t)
{
	ssize_t n = read_of(t, "wchan", t->function, sizeof t->function);

	if (n <= 0 ||
	    t->function[strspn(t->function, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789_.")] ||
	    !strcmp(t->function, "0"))
		t->function[0] = '\0';
}

/* What descriptor fd is: "socket:[123]", "pipe:[9]", a path. False: it is not told. */
static bool file_of(const struct thread *t, uint64_t fd, char *out, size_t size)
{
	char path[72];
	ssize_t n;

	snprintf(path, sizeof path, "%d/fd/%llu", (int)t->pid, (unsigned long long)fd);
	n = readlinkat(t->proc->fd, path, out, size - 1);
	if (n <= 0)
		return false;
	out[n] = '\0';
	return true;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* What descriptors are that somebody waits for, and the first two of the connections. */
struct ends {
	size_t peers, listening, pipes, local;
	struct connection first, second, where;
};

static size_t sockets(const struct ends *e)
{
	return e->peers + e->listening + e->local;
}

static void add_end(const struct thread *t, uint64_t fd, struct ends *e)
{
	char link[TARGET];
	struct connection peer;

	if (!file_of(t, fd, link, sizeof link))
		return;
	e->pipes += begins(link, "pipe:");
	if (!begins(link, "socket:"))
		return;
	if (!connection_of(t->known, t->proc, t->pid, fd, link, &peer)) {
		e->local++;
	} else if (peer.listens) {
		e->where = peer;
		e->listening++;
	} else if (!e->peers++) {
		e->first = peer;
	} else if (e->peers == 2) {
		e->second = peer;
	}
}

/* "10.0.0.7:5432", "10.0.0.7:5432 or 10.0.0.8:5432", "..., ... or more" */
static enum stall name_peers(struct thread *t, const struct ends *e)
{
	if (e->peers == 1 || !e->first.text[0] || !e->second.text[0])
		snprintf(t->target, TARGET, "%s",
			 e->first.text[0] ? e->first.text : e->second.text);
	else
		snprintf(t->target, TARGET,
			 e->peers == 2 ? "%.55s or %.55s" : "%.55s, %.55s or more", e->first.text,
			 e->second.text);
	return STALL_NETWORK;
}

/* What it polls, where that can be read; else the connections among its files. */
static enum stall by_polled(struct thread *t)
{
	struct polled polled;
	struct ends e = { 0 };
	bool known = polled_read(t->proc, t->pid, t->call, t->arg, &polled) == 0;

	if (known && !polled.n)
		return STALL_TIMER;
	for (uint64_t i = 0; i < (known ? polled.n : FDS_MAX) && sockets(&e) < SOCKETS_MAX; i++)
		add_end(t, known ? (uint64_t)polled.fd[i] : i, &e);
	if (e.peers)
		return name_peers(t, &e);
	if (!known)
		return STALL_EVENTS;
	if (e.listening) {
		snprintf(t->target, TARGET, "%s", e.where.text);
		return STALL_CONNECTION;
	}
	if (polled.by_epoll)
		return STALL_EVENTS;
	return e.pipes ? STALL_PIPE_WRITER : e.local ? STALL_LOCAL_SOCKET : STALL_EVENTS;
}

static enum stall by_file(struct thread *t, enum stall kind, enum stall pipe)
{
	char link[TARGET];
	struct connection peer;

	if (!file_of(t, t->arg[0], link, sizeof link))
		return kind;
	if (begins(link, "socket:")) {
		if (begins(t->function, "unix"))
			return STALL_LOCAL_SOCKET;
		if (connection_of(t->known, t->proc, t->pid, t->arg[0], link, &peer))
			snprintf(t->target, TARGET, "%s", peer.text);
		return STALL_NETWORK;
	}
	if (begins(link, "pipe:"))
		return pipe ? pipe : kind;
	if (begins(link, "/dev/pts/") || begins(link, "/dev/tty") || begins(link, "/dev/console"))
		return STALL_TERMINAL;
	if (strstr(t->function, "pipe_read") || strstr(t->function, "pipe_write")) {
		snprintf(t->target, TARGET, "%s", link);
		return pipe == STALL_PIPE_READER ? STALL_FIFO_READER : STALL_FIFO_WRITER;
	}
	if (begins(link, "anon_inode:"))
		return STALL_EVENTS;
	return t->state == 'D' ? STALL_STORAGE : kind;
}

/* A mutex of glibc waits with FUTEX_WAIT for a word that says that somebody does; pthread_join for
 * a word that holds the id of a thread; conditions and others otherwise. */
static enum stall by_futex(const struct thread *t)
{
	int op = (int)t->arg[1] & FUTEX_CMD_MASK;

	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2 ||
	    (op == FUTEX_WAIT && t->arg[2] == LOCK_CONTENDED))
		return STALL_LOCK;
	return STALL_THREAD;
}

static enum stall by_open(const struct thread *t)
{
	bool at = t->call == SYS_openat;
	uint64_t flags = t->arg[at ? 2 : 1];

	if (!begins(t->function, "wait_for_partner") && !begins(t->function, "fifo_open"))
		return t->state == 'D' ? STALL_STORAGE : STALL_UNKNOWN;
	return (flags & O_ACCMODE) == O_WRONLY ? STALL_FIFO_READER : STALL_FIFO_WRITER;
}

static enum stall by_call(struct thread *t)
{
	for (size_t i = 0; t->call >= 0 && i < sizeof calls / sizeof calls[0]; i++) {
		if (calls[i].call != t->call)
			continue;
		switch (calls[i].by) {
		case BY_FUTEX:
			return by_futex(t);
		case BY_OPEN:
			return by_open(t);
		case BY_FILE:
			return by_file(t, calls[i].kind, calls[i].pipe);
		default:
			return calls[i].kind;
		}
	}
	return STALL_UNKNOWN;
}

static enum stall by_function(const struct thread *t)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (begins(t->function, functions[i].begins))
			return functions[i].kind;
	return STALL_UNKNOWN;
}

/* File systems whose answers come from elsewhere, by the functions that wait for them. */
static const struct {
	const char *begins, *name;
} far[] = {
	{ "request_wait_answer", "FUSE" },
	{ "fuse_", "FUSE" },
	{ "rpc_wait", "NFS" },
	{ "nfs", "NFS" },
	{ "cifs_", "CIFS" },
	{ "wait_for_response", "CIFS" },
	{ "ceph_", "Ceph" },
	{ "ptlrpc_", "Lustre" },
	{ "ldlm_", "Lustre" },
	{ "cl_sync_io", "Lustre" },
	{ "autofs_wait", "autofs" },
};

/* "/data/mesh.bin (NFS)", "NFS", or the file alone. */
static void name_file(struct thread *t)
{
	const char *name = NULL;
	char link[TARGET] = "";
	bool by_descriptor = false;

	for (size_t i = 0; !name && i < sizeof far / sizeof far[0]; i++)
		name = begins(t->function, far[i].begins) ? far[i].name : NULL;
	for (size_t i = 0; t->call >= 0 && i < sizeof calls / sizeof calls[0]; i++)
		by_descriptor |= calls[i].call == t->call && calls[i].by == BY_FILE;
	if (!by_descriptor || !file_of(t, t->arg[0], link, sizeof link) || *link != '/')
		link[0] = '\0';
	snprintf(t->target, TARGET, name && *link ? "%.100s (%s)" : "%.100s%s", link,
		 name ? name : "");
}

/* The file that is locked: the first argument of flock and fcntl is its descriptor. */
static void name_locked(struct thread *t)
{
	char link[TARGET];

	if ((t->call == SYS_flock || t->call == SYS_fcntl) &&
	    file_of(t, t->arg[0], link, sizeof link))
		snprintf(t->target, TARGET, "%s", link);
}

static enum stall kind_of(struct thread *t)
{
	enum stall kind;

	if (t->state == 'R')
		return STALL_NONE;
	if (t->state == 'T' || t->state == 't')
		return STALL_STOPPED;
	read_call(t);
	read_function(t);
	kind = by_call(t);
	if (kind == STALL_UNKNOWN)
		kind = by_function(t);
	if (kind == STALL_UNKNOWN && t->state == 'D')
		kind = STALL_STORAGE;
	if (kind == STALL_EVENTS)
		return by_polled(t);
	if (kind == STALL_STORAGE)
		name_file(t);
	if (kind == STALL_FILE_LOCK)
		name_locked(t);
	if (kind == STALL_NETWORK && !t->target[0] && t->call < 0)
		by_polled(t); /* for its words only */
	return kind;
}

/* A thread that ended is passed over. False: it is gone. */
static bool look_at(struct thread *t, pid_t pid, const char *tid, enum stall *kind)
{
	char text[512];
	struct proc_stat st;

	*t = (struct thread){ .proc = t->proc, .known = t->known, .pid = pid };
	snprintf(t->dir, sizeof t->dir, "%d/task/%.12s", (int)pid, tid);
	if (read_of(t, "stat", text, sizeof text) <= 0 || proc_stat_parse(text, &st) != 0 ||
	    st.state == 'Z' || st.state == 'X')
		return false;
	t->state = st.state;
	*kind = kind_of(t);
	return true;
}

/* Of its threads the one whose wait says most. */
static enum stall look_at_threads(const struct root *proc, struct connections *known, pid_t pid,
				  char target[TARGET])
{
	char path[48], buf[1024] __attribute__((aligned(8)));
	enum stall best = STALL_NUMBER_OF, kind;
	struct thread t = { .proc = proc, .known = known };
	ssize_t got;
	int dir, n = 0;

	snprintf(path, sizeof path, "%d/task", (int)pid);
	dir = root_file(proc, path);
	while (dir > 0 && n < WAITING_THREADS && (got = getdents64(dir, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < got && n < WAITING_THREADS;) {
			const struct dirent64 *entry = (const void *)(buf + at);

			at += entry->d_reclen;
			if (entry->d_name[0] == '.' || !look_at(&t, pid, entry->d_name, &kind))
				continue;
			n++;
			if (kind >= best)
				continue;
			best = kind;
			snprintf(target, TARGET, "%s", t.target);
		}
	file_close(&dir);
	return best;
}

/* Of a process that has no other: its own files are that thread's. */
static enum stall look_at_only_thread(const struct root *proc, struct connections *known, pid_t pid,
				      const struct proc_stat *st, char target[TARGET])
{
	struct thread t = { .proc = proc, .known = known, .pid = pid, .state = st->state };
	enum stall kind;

	snprintf(t.dir, sizeof t.dir, "%d", (int)pid);
	kind = kind_of(&t);
	snprintf(target, TARGET, "%s", t.target);
	return kind;
}

int waiting_look(const struct root *proc, struct connections *known, pid_t pid, struct waiting *out)
{
	char path[48], text[512], threads[32] = "", target[TARGET] = "";
	struct proc_stat st;

	snprintf(path, sizeof path, "%d/stat", (int)pid);
	if (root_read(proc, path, text, sizeof text) <= 0 || proc_stat_parse(text, &st) != 0 ||
	    proc_stat_ended(&st))
		return -ESRCH;
	out->kind = st.num_threads == 1 ? look_at_only_thread(proc, known, pid, &st, target)
					: look_at_threads(proc, known, pid, target);
	if (out->kind == STALL_NUMBER_OF)
		return -ESRCH;
	if (st.num_threads > 1)
		snprintf(threads, sizeof threads, ", %lld threads", (long long)st.num_threads);
	out->is_named = target[0] != '\0';
	snprintf(out->text, sizeof out->text, "%s (pid %d%s) %s%s%.100s", st.comm, (int)pid,
		 threads, stall_words(out->kind), target[0] ? ": " : "", target);
	return 0;
}
