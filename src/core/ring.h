/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the file in which a process of the job leaves its spans (lib/span.c) until a recorder
 * has taken them (source/ring.c): a head, then a ring for each thread.
 *
 * The process maps it, so that what is in it survives the process; each ring has one writer, which
 * never waits. The recorder reads and writes the file and maps nothing: to it all of this is
 * hostile. Both are of one machine and one version.
 */
#ifndef SONDE_CORE_RING_H
#define SONDE_CORE_RING_H

#include <stddef.h>
#include <stdint.h>

enum {
	RING_MAGIC = 0x474e5253, /* "SRNG" */
	RING_VERSION = 1,

	RING_NAMES_MAX = 1024,
	RING_NAME_SIZE = 64, /* with its NUL */
	RING_THREADS_MAX = 256,
	RING_OPEN_MAX = 64, /* spans of a thread within each other */
	RING_SLOTS = 32768, /* of a thread; a power of two */
	RING_PAGE = 4096,
};

#define RING_FOLDER_VARIABLE "SONDE_SPANS"
#define RING_NEW             "new-" /* so a file's name begins until its head is written */

enum ring_what {
	RING_SPAN = 1,
	RING_MARK,
	RING_THREAD, /* what follows is of the thread to_ns */
};

struct ring_slot {
	int64_t from_ns, to_ns; /* of the monotonic clock */
	uint32_t name, what;
};

struct ring_open {
	int64_t from_ns;
	uint32_t name, unused;
};

/* A thread's ring: this, then its slots. What has been written is slots taken .. written - 1, each
 * modulo RING_SLOTS. When a thread ends, the next one may have it. */
struct ring_thread {
	_Alignas(64) uint64_t written;
	uint64_t lost;   /* what there was no room for */
	uint32_t depth;  /* how many spans are open, some of which may have no place below */
	uint32_t thread; /* its id */
	char called[16]; /* and name, when it came */
	_Alignas(64) uint64_t taken; /* by recorders */
	_Alignas(64) struct ring_open open[RING_OPEN_MAX];
};
_Static_assert(sizeof(struct ring_thread) <= RING_PAGE, "slots begin on the next page");

struct ring_head {
	uint32_t magic, version;
	uint32_t pid, unused; /* as its own pid namespace names it: */
	uint64_t pid_namespace;
	uint32_t nnames, nthreads;
	uint64_t lost; /* of threads that there was no ring for */
	/* Names are 1 .. nnames; they stay. A name whose value was set is a counter. */
	char name[RING_NAMES_MAX + 1][RING_NAME_SIZE];
	uint64_t value[RING_NAMES_MAX + 1]; /* a double's bits */
	uint8_t valued[RING_NAMES_MAX + 1];
};

static inline size_t ring_head_size(void)
{
	return (sizeof(struct ring_head) + RING_PAGE - 1) / RING_PAGE * RING_PAGE;
}
static inline size_t ring_thread_size(void)
{
	return RING_PAGE + RING_SLOTS * sizeof(struct ring_slot);
}
static inline size_t ring_thread_at(uint32_t thread)
{
	return ring_head_size() + thread * ring_thread_size();
}

#endif
