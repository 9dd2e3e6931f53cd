/* SPDX-License-Identifier: Apache-2.0 */
/* futex.c - what kind of lock a thread waits for in futex(2), and who holds it. */
#include "base/process.h"
#include "base/text/number.h"
#include "waits/object.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	LOOKED_AT = 10, /* frames, from the innermost */
	CONTENDED = 2,  /* what a lock of glibc holds for whom somebody waits */
	OWNER = 8,      /* bytes from a mutex to its owner */
	BARRIER_ROUND = 4,
	BARRIER_MOST = 1 << 20,
	RWLOCK_WRITER = 24,
};

/* Functions of glibc, without the underscores before them, and parts of names in other libraries.
 */
static const struct {
	const char *name;
	bool part; /* anywhere in it */
	enum wait_kind kind;
} functions[] = {
	{ "lll_lock_wait_private", false, WAIT_LOCK },
	{ "lll_lock_wait", false, WAIT_MUTEX },
	{ "pthread_mutex_", true, WAIT_MUTEX },
	{ "pthread_rwlock_", true, WAIT_RWLOCK },
	{ "pthread_cond_", true, WAIT_CONDITION },
	{ "pthread_barrier_wait", true, WAIT_BARRIER },
	{ "gomp_team_barrier", true, WAIT_BARRIER },
	{ "gomp_barrier", true, WAIT_BARRIER },
	{ "kmp_hyper_barrier", true, WAIT_BARRIER },
	{ "new_sem_wait", true, WAIT_SEMAPHORE },
	{ "sem_wait", false, WAIT_SEMAPHORE },
	{ "sem_timedwait", false, WAIT_SEMAPHORE },
	{ "sem_clockwait", false, WAIT_SEMAPHORE },
	{ "pthread_clockjoin_ex", false, WAIT_THREAD_END },
	{ "pthread_join", false, WAIT_THREAD_END },
	{ "pthread_timedjoin", true, WAIT_THREAD_END },
	{ "lock_contended", true, WAIT_LOCK },
	{ "futex::Condvar::", true, WAIT_CONDITION },
};

enum wait_kind futex_kind_of(const char *function)
{
	const char *name = function + strspn(function, "_");

	if (!strncmp(name, "GI_", 3))
		name += 3 + strspn(name + 3, "_");
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		size_t n = strlen(functions[i].name);

		if (functions[i].part ? strstr(name, functions[i].name) != NULL
				      : !strncmp(name, functions[i].name, n) &&
						(!name[n] || name[n] == '@' || name[n] == '.'))
			return functions[i].kind;
	}
	return WAIT_UNKNOWN;
}

static enum wait_kind kind_of_frames(const struct wait_thread *t)
{
	enum wait_kind kind = WAIT_UNKNOWN;

	for (uint32_t i = 0; i < t->nframes && i < LOOKED_AT && kind == WAIT_UNKNOWN; i++)
		if (t->frame[i].function)
			kind = futex_kind_of(t->frame[i].function);
	return kind;
}

/* Is there such a thread? Of the same process, or of another in shared memory. */
static bool find_thread(const struct root *proc, pid_t pid, pid_t tid, struct wait_holder *h)
{
	char path[64], text[WAIT_NAME];
	ssize_t n;

	*h = (struct wait_holder){ pid, tid, "" };
	snprintf(path, sizeof path, "%d/task/%d/stat", (int)pid, (int)tid);
	if (tid <= 0 || faccessat(proc->fd, path, F_OK, 0))
		return false;
	snprintf(path, sizeof path, "%d/comm", (int)pid);
	n = root_read(proc, path, text, sizeof text);
	text[n > 0 ? n : 0] = '\0';
	snprintf(h->process, sizeof h->process, "%.*s", (int)strcspn(text, "\n"), text);
	return true;
}

/* The thread with that number holds it, and nobody else can let it go. */
static bool held_by(struct wait_thread *t, const struct root *proc, uint32_t tid, bool timed)
{
	struct wait_holder h;

	if (tid > INT32_MAX || !find_thread(proc, t->pid, (pid_t)tid, &h))
		return false;
	wait_add_holder(t, &h);
	t->closed = !timed;
	return true;
}

static bool word_at(const struct wait_thread *t, uint64_t at, uint32_t *out)
{
	return memory_read(t->pid, at, out, sizeof *out);
}

/* Who has it is no thread of this process any more, and only such a one could let it go. */
static void name_lost_mutex(struct wait_thread *t, const struct futex_call *f, uint32_t owner)
{
	uint32_t now;

	if (owner && owner <= INT32_MAX && f->op & FUTEX_PRIVATE_FLAG &&
	    word_at(t, f->address + OWNER, &now) && now == owner)
		snprintf(t->object, sizeof t->object,
			 "at 0x%llx, locked by thread %u, which is not in this process: it ended, "
			 "or was lost by fork(); nobody can unlock it",
			 (unsigned long long)f->address, owner);
}

static void name_mutex(struct wait_thread *t, const struct futex_call *f, const struct root *proc)
{
	uint32_t word, owner;

	snprintf(t->object, sizeof t->object, "at 0x%llx", (unsigned long long)f->address);
	if (!word_at(t, f->address, &word) || !word_at(t, f->address + OWNER, &owner))
		return;
	/* Robust mutexes and those with priorities have the holder in the lock itself. */
	if (word != CONTENDED && word & FUTEX_WAITERS)
		owner = word & FUTEX_TID_MASK;
	if (word && !held_by(t, proc, owner, f->timed) && word == CONTENDED)
		name_lost_mutex(t, f, owner);
}

static void name_barrier(struct wait_thread *t, const struct futex_call *f)
{
	uint32_t in, round, count;

	if (word_at(t, f->address - BARRIER_ROUND, &in) && word_at(t, f->address, &round) &&
	    word_at(t, f->address + 4, &count) && count && count < BARRIER_MOST &&
	    in - round <= count)
		snprintf(t->object, sizeof t->object, "%u of %u have arrived", in - round, count);
}

/* It waits for one of two words, 8 and 12 bytes behind the lock's beginning. */
static void name_rwlock(struct wait_thread *t, const struct futex_call *f, const struct root *proc)
{
	uint32_t writer;

	snprintf(t->object, sizeof t->object, "at 0x%llx", (unsigned long long)f->address);
	for (uint64_t before = 8; before <= 12; before += 4)
		if (word_at(t, f->address - before + RWLOCK_WRITER, &writer) && writer &&
		    held_by(t, proc, writer, f->timed))
			return;
}

/* Without functions that tell: a word that says that somebody waits is a lock's, one that holds the
 * number of a thread is what its end clears. */
static enum wait_kind kind_of_call(const struct wait_thread *t, const struct futex_call *f,
				   const struct root *proc)
{
	struct wait_holder h;
	uint32_t owner, op = (uint32_t)f->op & (uint32_t)FUTEX_CMD_MASK;

	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2)
		return WAIT_MUTEX;
	if (op == FUTEX_WAIT && f->value == CONTENDED)
		return word_at(t, f->address + OWNER, &owner) && owner <= INT32_MAX &&
				       find_thread(proc, t->pid, (pid_t)owner, &h)
			       ? WAIT_MUTEX
			       : WAIT_LOCK;
	return f->value <= INT32_MAX && find_thread(proc, t->pid, (pid_t)f->value, &h) &&
			       h.tid != t->tid && f->value > 100
		       ? WAIT_THREAD_END
		       : WAIT_THREAD;
}

void futex_name(struct wait_thread *t, const struct futex_call *f, const struct root *proc)
{
	uint32_t tid;

	t->kind = kind_of_frames(t);
	if (t->kind == WAIT_UNKNOWN)
		t->kind = kind_of_call(t, f, proc);
	if (t->kind == WAIT_MUTEX)
		name_mutex(t, f, proc);
	else if (t->kind == WAIT_RWLOCK)
		name_rwlock(t, f, proc);
	else if (t->kind == WAIT_BARRIER)
		name_barrier(t, f);
	else if (t->kind == WAIT_THREAD_END && word_at(t, f->address, &tid))
		held_by(t, proc, tid, f->timed);
}
