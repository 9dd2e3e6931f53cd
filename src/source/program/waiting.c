/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/waiting.h"

#include "source/procfile.h"
#include "source/program/filelocks.h"
#include "source/program/opened.h"
#include "source/program/waiting_part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	LOCK_CONTENDED = 2, /* what a lock of glibc holds for whom somebody waits */
	PATH_SHOWN = 72,
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
	{ "nlmclnt_", STALL_FILE_LOCK },
	{ "nfs4_retry_setlk", STALL_FILE_LOCK },
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

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* "202 0x55e8 0x80 0x2 0x0 0x0 0x0 SP PC"; "running" and "-1 SP PC" are no call. False: it runs. */
static bool read_call(struct thread *t)
{
	char text[256], *end = text;
	long call;

	t->call = -1;
	if (read_of(t, "syscall", text, sizeof text) <= 0)
		return true;
	if (begins(text, "running"))
		return false;
	call = strtol(text, &end, 10);
	if (end == text || call < 0)
		return true;
	for (size_t i = 0; i < sizeof t->arg / sizeof t->arg[0]; i++)
		t->arg[i] = strtoull(end, &end, 16);
	t->call = call;
	return true;
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

bool thread_file(const struct thread *t, uint64_t fd, char *out, size_t size)
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

static enum stall by_file(struct thread *t, enum stall kind, enum stall pipe)
{
	char link[THREAD_TARGET];
	struct connection peer;

	if (!thread_file(t, t->arg[0], link, sizeof link))
		return kind;
	if (begins(link, "socket:")) {
		if (begins(t->function, "unix"))
			return STALL_LOCAL_SOCKET;
		if (connection_of(t->known, t->proc, t->pid, t->arg[0], link, &peer))
			snprintf(t->target, THREAD_TARGET, "%s", peer.text);
		return STALL_NETWORK;
	}
	if (begins(link, "pipe:"))
		return pipe ? pipe : kind;
	if (begins(link, "/dev/pts/") || begins(link, "/dev/tty") || begins(link, "/dev/console"))
		return STALL_TERMINAL;
	if (strstr(t->function, "pipe_read") || strstr(t->function, "pipe_write")) {
		snprintf(t->target, THREAD_TARGET, "%s", link);
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

/* The kernel's function is read where the call does not tell all. */
static enum stall by_call(struct thread *t)
{
	for (size_t i = 0; t->call >= 0 && i < sizeof calls / sizeof calls[0]; i++) {
		if (calls[i].call != t->call)
			continue;
		if (calls[i].by == BY_KIND)
			return calls[i].kind;
		if (calls[i].by == BY_FUTEX)
			return by_futex(t);
		read_function(t);
		return calls[i].by == BY_OPEN ? by_open(t)
					      : by_file(t, calls[i].kind, calls[i].pipe);
	}
	read_function(t);
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

/* What makes it wait until storage has the data: "fsync", "O_DIRECT", "O_SYNC"; NULL: nothing that
 * is known. */
static const char *flushed_by(const struct thread *t)
{
	if (t->call == SYS_fsync || t->call == SYS_fdatasync)
		return "fsync";
	return t->call == SYS_write || t->call == SYS_writev || t->call == SYS_pwrite64
		       ? opened_how(t->proc, t->pid, t->arg[0])
		       : NULL;
}

/* "/data/mesh.bin (NFS)", "/data/log (fsync)", "NFS", or the file alone. */
static void name_file(struct thread *t)
{
	const char *name = NULL;
	char link[THREAD_TARGET] = "";
	bool by_descriptor = false;

	for (size_t i = 0; !name && i < sizeof far / sizeof far[0]; i++)
		name = begins(t->function, far[i].begins) ? far[i].name : NULL;
	for (size_t i = 0; t->call >= 0 && i < sizeof calls / sizeof calls[0]; i++)
		by_descriptor |= calls[i].call == t->call && calls[i].by == BY_FILE;
	if (!by_descriptor || !thread_file(t, t->arg[0], link, sizeof link) || *link != '/')
		link[0] = '\0';
	if (!name && *link)
		name = flushed_by(t);
	snprintf(t->target, THREAD_TARGET, name && *link ? "%.100s (%s)" : "%.100s%s", link,
		 name ? name : "");
}

/* The end of a long path says more than its begin. */
static bool path_of(const struct thread *t, uint64_t fd, char out[PATH_SHOWN + 1])
{
	enum { DOTS = 3 };
	char link[512];
	size_t n = thread_file(t, fd, link, sizeof link) ? strlen(link) : 0;

	if (n > PATH_SHOWN)
		snprintf(out, PATH_SHOWN + 1, "...%s", link + n - (PATH_SHOWN - DOTS));
	else
		snprintf(out, PATH_SHOWN + 1, "%.*s", PATH_SHOWN, n ? link : "");
	return n > 0;
}

/* A search of all processes is as rare as one of connections. */
static bool may_search(const struct thread *t)
{
	if (t->known && t->known->may_search)
		t->known->searched = true;
	return !t->known || t->known->may_search;
}

/* The file that is locked, the first argument of flock and fcntl, and by whom. */
static void name_locked(struct thread *t)
{
	char path[PATH_SHOWN + 1], holder[FILELOCKS_TEXT];

	if ((t->call != SYS_flock && t->call != SYS_fcntl) || !path_of(t, t->arg[0], path))
		return;
	filelocks_say_holder(t->proc, t->locks, t->pid, t->arg[0], may_search(t), holder);
	snprintf(t->target, THREAD_TARGET, "%s%s", path, holder);
}

/* SQLite sleeps before it asks again for the lock of a database: 1, 2, 5, 10, 15, 20, 25, 50 or 100
 * ms, or what is left of its timeout. */
static bool sleeps_for_database(const struct thread *t)
{
	enum { MS = 1000000, MOST = 100 * MS };
	struct timespec asked;
	uint64_t at = t->call == SYS_nanosleep ? t->arg[0] : t->arg[2];

	if (t->call != SYS_nanosleep && (t->call != SYS_clock_nanosleep || t->arg[1]))
		return false;
	return !waiting_memory(t->proc, t->pid, at, &asked, sizeof asked) && !asked.tv_sec &&
	       asked.tv_nsec > 0 && asked.tv_nsec <= MOST && asked.tv_nsec % MS == 0;
}

static enum stall by_timer(struct thread *t)
{
	char path[PATH_SHOWN + 1], holder[FILELOCKS_TEXT];
	uint64_t fd;
	size_t end;

	if (!sleeps_for_database(t) ||
	    !filelocks_database(t->proc, t->locks, t->pid, &fd, holder) || !path_of(t, fd, path))
		return STALL_TIMER;
	end = strlen(path);
	if (end > 4 && !strcmp(path + end - 4, "-shm")) /* the database it belongs to */
		path[end - 4] = '\0';
	snprintf(t->target, THREAD_TARGET, "%s, held by %.50s", path, holder);
	return STALL_DATABASE;
}

/* Who asks for a lock that another one has, and sleeps before it asks again. */
static void name_asked(struct thread *t)
{
	char path[PATH_SHOWN + 1], holder[FILELOCKS_TEXT];
	uint64_t fd;

	if (may_search(t) && filelocks_beside(t->proc, t->locks, t->pid, &fd, holder) &&
	    path_of(t, fd, path))
		snprintf(t->target, THREAD_TARGET, "%s, which it has open, is locked by %.50s",
			 path, holder);
}

static enum stall kind_of(struct thread *t)
{
	enum stall kind;

	if (t->state == 'R')
		return STALL_NONE;
	if (t->state == 'T' || t->state == 't')
		return STALL_STOPPED;
	if (!read_call(t))
		return STALL_NONE;
	kind = by_call(t);
	if (kind == STALL_UNKNOWN)
		kind = by_function(t);
	if (kind == STALL_UNKNOWN && t->state == 'D')
		kind = STALL_STORAGE;
	if (kind == STALL_EVENTS)
		return thread_polls(t);
	if (kind == STALL_STORAGE)
		name_file(t);
	if (kind == STALL_FILE_LOCK)
		name_locked(t);
	if (kind == STALL_TIMER)
		kind = by_timer(t);
	if (kind == STALL_TIMER)
		name_asked(t);
	if (kind == STALL_NETWORK && !t->target[0] && t->call < 0)
		thread_polls(t); /* for its words only */
	return kind;
}

/* A thread that ended is passed over. False: it is gone. */
static bool look_at(struct thread *t, pid_t pid, const char *tid, enum stall *kind)
{
	char text[512];
	struct proc_stat st;

	*t = (struct thread){ .proc = t->proc, .known = t->known, .locks = t->locks, .pid = pid };
	snprintf(t->dir, sizeof t->dir, "%d/task/%.12s", (int)pid, tid);
	if (read_of(t, "stat", text, sizeof text) <= 0 || proc_stat_parse(text, &st) != 0 ||
	    st.state == 'Z' || st.state == 'X')
		return false;
	t->state = st.state;
	*kind = kind_of(t);
	return true;
}

/* Of its threads the one whose wait says most; and how many others wait for one mutex while it
 * runs.
 */
static enum stall look_at_threads(struct thread t, char target[THREAD_TARGET], struct waiting *out)
{
	uint64_t mutex = 0;
	uint32_t running = 0, same = 0;
	char path[48], buf[1024] __attribute__((aligned(8)));
	enum stall best = STALL_NUMBER_OF, kind;
	ssize_t got;
	int dir, n = 0;

	snprintf(path, sizeof path, "%d/task", (int)t.pid);
	dir = root_file(t.proc, path);
	while (dir > 0 && n < WAITING_THREADS && (got = getdents64(dir, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < got && n < WAITING_THREADS;) {
			const struct dirent64 *entry = (const void *)(buf + at);

			at += entry->d_reclen;
			if (entry->d_name[0] == '.' || !look_at(&t, t.pid, entry->d_name, &kind))
				continue;
			n++;
			running += kind == STALL_NONE;
			if (kind == STALL_LOCK && (!same || t.arg[0] == mutex) && ++same)
				mutex = t.arg[0];
			if (kind >= best)
				continue;
			best = kind;
			out->passes = t.passes;
			snprintf(target, THREAD_TARGET, "%s", t.target);
		}
	file_close(&dir);
	out->takers = running == 1 && same > 1 ? same : 0;
	return best;
}

/* False: it is gone. */
static bool read_stat(const struct root *proc, pid_t pid, struct proc_stat *out)
{
	char path[48], text[512];

	snprintf(path, sizeof path, "%d/stat", (int)pid);
	return root_read(proc, path, text, sizeof text) > 0 && proc_stat_parse(text, out) == 0;
}

int waiting_look(const struct root *proc, struct waiting_known *known, pid_t pid,
		 const struct proc_stat *stat, struct waiting *out)
{
	char threads[32] = "";
	struct filelocks own = { 0 };
	struct thread t = { .proc = proc,
			    .known = known ? &known->connections : NULL,
			    .locks = known ? &known->locks : &own,
			    .pid = pid };
	struct proc_stat now;

	if (!stat && read_stat(proc, pid, &now))
		stat = &now;
	if (!stat || proc_stat_ended(stat))
		return -ESRCH;
	*out = (struct waiting){ .takers = 0 };
	t.state = stat->state;
	snprintf(t.dir, sizeof t.dir, "%d", (int)pid); /* its files are those of its only thread */
	out->kind = stat->num_threads == 1 ? kind_of(&t) : look_at_threads(t, t.target, out);
	if (stat->num_threads == 1)
		out->passes = t.passes;
	filelocks_forget(&own);
	if (out->kind == STALL_NUMBER_OF)
		return -ESRCH;
	if (stat->num_threads > 1)
		snprintf(threads, sizeof threads, ", %lld threads", (long long)stat->num_threads);
	out->is_named = t.target[0] != '\0';
	snprintf(out->text, sizeof out->text, "%s (pid %d%s) %s%s%.159s", stat->comm, (int)pid,
		 threads, stall_words(out->kind), t.target[0] ? ": " : "", t.target);
	return 0;
}
