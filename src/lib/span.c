/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process has one file of rings, and a thread one ring of it: the one place here with a state of
 * the process. What costs anything is done when a process or a thread makes its first span.
 */
#include "lib/span.h"
#include "base/clock.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	SPARE_BYTES = 64 << 20, /* what rings leave free where they lie; a head, half of it */
	WAITS = 1024,           /* spans of a thread without a ring until it looks for one again */
};

int sonde_spans_wanted = 1;

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	pthread_key_t key; /* so that a thread gives its ring back */
	bool keyed;
	sigset_t before_fork; /* of the thread that forks */
	bool tried;           /* whether there is a recorder is known */
	bool found;           /* one of a job takes what is in the file */
	int fd; /* of the file; its program may close it, and open another by that number */
	dev_t device;
	ino_t inode;
	_Atomic(struct ring_head *) head; /* NULL: none; it stays mapped */
	struct ring_thread *ring[RING_THREADS_MAX];
	bool taken[RING_THREADS_MAX];
	uint32_t nrings;
} process = { .lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT, .fd = -1 };

__thread struct ring_thread *span_mine FAST_TLS;
uint32_t span_forks; /* so that a handle of the parent's is none here */
/* There was no ring for it: how many spans until it looks again. */
static __thread uint32_t waits FAST_TLS;

/* ---- the lock ---- */

static void begin_once(void);

/* A signal's handler may make spans: one that came while its own thread has the lock would wait for
 * ever, and one that came while the file grows would end that. before: the thread's mask. */
void span_lock(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
	pthread_once(&process.once, begin_once);
	pthread_mutex_lock(&process.lock);
}

void span_unlock(const sigset_t *before)
{
	pthread_mutex_unlock(&process.lock);
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* ---- the file ---- */

static bool file_is_ours(void)
{
	struct stat st;

	return process.fd >= 0 && !fstat(process.fd, &st) && st.st_dev == process.device &&
	       st.st_ino == process.inode;
}

/* The job needs that memory, too: half of a small file system is left to it, and so many bytes of a
 * large one. One without a size has no limit. */
static bool leaves_room(int fd, size_t size, size_t spare)
{
	struct statvfs fs;
	uint64_t half;

	if (fstatvfs(fd, &fs))
		return false;
	half = (uint64_t)fs.f_blocks * fs.f_frsize / 2;
	return !fs.f_blocks ||
	       (uint64_t)fs.f_bavail * fs.f_frsize >= size + (half < spare ? half : spare);
}

/* Reserved, since who writes into memory that a full file system does not have is killed; and a
 * file that may not grow so far would be a signal. */
static void *file_map(int fd, size_t at, size_t size, size_t spare)
{
	struct rlimit most;
	void *memory;

	if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur < at + size ||
	    !leaves_room(fd, size, spare) || posix_fallocate(fd, (off_t)at, (off_t)size))
		return NULL;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
	return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (uint64_t)st.st_ino;
}

/* Its rank + 1; 0: nobody says one. A batch script's own rank is not that of what mpirun starts. */
static uint32_t rank_find(void)
{
	static const char *const names[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
		"MV2_COMM_WORLD_RANK",  "PALS_RANKID", "SLURM_PROCID"
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *text = secure_getenv(names[i]);
		char *end;
		long rank = text && *text ? strtol(text, &end, 10) : -1;

		if (rank >= 0 && rank < INT32_MAX && !*end)
			return (uint32_t)rank + 1;
	}
	return 0;
}

void *span_map(size_t at, size_t size)
{
	return file_is_ours() ? file_map(process.fd, at, size, SPARE_BYTES) : NULL;
}

static bool head_make(int fd)
{
	struct ring_head *head = file_map(fd, 0, ring_head_size(), SPARE_BYTES / 2);
	struct stat st;

	if (!head || fstat(fd, &st))
		return false;
	head->pid = (uint32_t)getpid();
	head->pid_namespace = pid_namespace();
	head->rank = rank_find();
	head->version = RING_VERSION;
	head->magic = RING_MAGIC;
	process.fd = fd;
	process.device = st.st_dev;
	process.inode = st.st_ino;
	span_names_put(head);
	atomic_store_explicit(&process.head, head, memory_order_release);
	return true;
}

/* In the folder of the job's recorder. It gets its name when it is whole. */
static bool file_in(const char *folder)
{
	char new[512], name[512];
	int fd, n;

	n = snprintf(new, sizeof new, "%s/" RING_NEW "%d-XXXXXX", folder, (int)getpid());
	if (folder[0] != '/' || n < 0 || (size_t)n >= sizeof new)
		return false;
	fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0)
		return false;
	snprintf(name, sizeof name, "%s/%s", folder, new + strlen(folder) + strlen("/" RING_NEW));
	if (head_make(fd) && !rename(new, name))
		return true;
	unlink(new);
	if (!process.head)
		close(fd);
	return false;
}

/* Once: is there a recorder? */
static void look_for_recorder(void)
{
	const char *folder = secure_getenv(RING_FOLDER_VARIABLE);
	int code = errno;

	if (process.tried)
		return;
	process.tried = true;
	process.found = folder && *folder && file_in(folder);
	if (!process.found)
		span_want(false);
	errno = code;
}

void span_want(bool wanted)
{
	__atomic_store_n(&sonde_spans_wanted, wanted, __ATOMIC_RELAXED);
}

/* ---- forks ---- */

static void before_fork(void)
{
	sigset_t before;

	span_lock(&before);
	process.before_fork = before;
}

static void after_fork_here(void)
{
	const sigset_t before = process.before_fork;

	span_unlock(&before);
}

/* What is mapped is the parent's, whose threads go on writing into it. */
static void after_fork_there(void)
{
	struct ring_head *head = process.head;

	for (uint32_t i = 0; i < process.nrings; i++)
		munmap(process.ring[i], ring_thread_size());
	if (head)
		munmap(head, ring_head_size());
	if (file_is_ours())
		close(process.fd);
	process.head = NULL;
	process.fd = -1;
	process.nrings = 0;
	span_forks++;
	span_names_fork();
	span_lanes_fork();
	span_carried_fork();
	memset(process.taken, 0, sizeof process.taken);
	span_mine = NULL;
	waits = 0;
	process.tried = false;
	/* A recording of the parent's own is not the child's. */
	if (head)
		span_want(process.found);
	process.found = false;
	after_fork_here();
}

/* ---- threads ---- */

static void ring_give_back(void *ring)
{
	sigset_t before;

	span_lock(&before);
	for (uint32_t i = 0; i < process.nrings; i++)
		if (process.ring[i] == ring)
			process.taken[i] = false;
	span_mine = NULL;
	span_unlock(&before);
}

static void begin_once(void)
{
	process.keyed = !pthread_key_create(&process.key, ring_give_back);
	pthread_atfork(before_fork, after_fork_here, after_fork_there);
}

static bool ring_has_room(const struct ring_thread *r)
{
	return r->written - __atomic_load_n(&r->taken, __ATOMIC_ACQUIRE) < RING_SLOTS;
}

/* One that a thread gave back, or a new one. NULL: there is none. */
static struct ring_thread *ring_find(struct ring_head *head)
{
	uint32_t i = 0, n = process.nrings;
	struct ring_thread *r;

	while (i < n && (process.taken[i] || !ring_has_room(process.ring[i])))
		i++;
	if (i == RING_THREADS_MAX)
		return NULL;
	if (i == n) {
		r = span_map(ring_thread_at(n), ring_thread_size());
		if (!r)
			return NULL;
		r->number = n;
		process.ring[n] = r;
		process.nrings++;
		__atomic_store_n(&head->nthreads, n + 1, __ATOMIC_RELEASE);
	}
	process.taken[i] = true;
	return process.ring[i];
}

/* Threads without a ring do so side by side. */
static void count_lost(struct ring_head *head)
{
	__atomic_fetch_add(&head->lost, 1, __ATOMIC_RELAXED);
}

struct ring_head *span_head(void)
{
	return process.head;
}

static struct ring_thread *ring_take(struct ring_head *head)
{
	struct ring_thread *r = ring_find(head);
	struct ring_slot comes = { .what = RING_THREAD, .to_ns = syscall(SYS_gettid) };

	if (!r) {
		count_lost(head);
		waits = WAITS;
		return NULL;
	}
	r->depth = 0;
	r->thread = (uint32_t)comes.to_ns;
	prctl(PR_GET_NAME, r->called);
	comes.from_ns = clock_mono_ns();
	span_publish(r, comes);
	if (process.keyed)
		pthread_setspecific(process.key, r);
	return r;
}

/* A ring for this thread; NULL: it has none. */
struct ring_thread *span_join(void)
{
	struct ring_head *head = process.head;
	sigset_t before;
	int code = errno;

	if (waits && head) {
		waits--;
		count_lost(head);
		return NULL;
	}
	span_lock(&before);
	look_for_recorder();
	head = process.head;
	if (!span_mine && head && SONDE_SPANS_WANTED)
		span_mine = ring_take(head);
	span_unlock(&before);
	errno = code;
	return span_mine;
}

/* ---- for who asks ---- */

uint64_t sonde_spans_lost(void)
{
	uint64_t lost;
	sigset_t before;

	span_lock(&before);
	lost = process.head ? __atomic_load_n(&process.head->lost, __ATOMIC_RELAXED) : 0;
	for (uint32_t i = 0; i < process.nrings; i++)
		lost += __atomic_load_n(&process.ring[i]->lost, __ATOMIC_RELAXED);
	span_unlock(&before);
	return lost;
}

int span_rings(void)
{
	int fd = -1, rc = 0;
	sigset_t before;

	span_lock(&before);
	look_for_recorder();
	if (process.found) {
		rc = -EBUSY;
	} else if (!process.head) {
		fd = unnamed_memory("sonde");
		rc = fd < 0 ? fd : fchmod(fd, 0600) ? -errno : head_make(fd) ? 0 : -ENOSPC;
		if (rc && fd >= 0)
			close(fd);
	}
	if (!rc)
		rc = file_is_ours() ? fcntl(process.fd, F_DUPFD_CLOEXEC, 0) : -EBADF;
	if (rc == -1)
		rc = -errno;
	span_unlock(&before);
	return rc;
}
