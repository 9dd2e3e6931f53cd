/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the file in which a process of the job leaves its spans (lib/span.c) until a recorder
 * has taken them (source/program/spans.c): a head, then a ring for each thread.
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
	/* Longer names, and those that the head has no place for: numbers from RING_NAMES_MAX + 1
	 */
	RING_TEXTS_MAX = 15360,
	RING_TEXT_MAX = 255,         /* bytes, without a NUL */
	RING_TEXTS_CHUNK = 64 << 10, /* bytes that are mapped together */
	RING_TEXTS_CHUNKS = 64,
	RING_THREADS_MAX = 256,
	RING_OPEN_MAX = 64, /* spans of a thread within each other */
	RING_SLOTS = 32768, /* of a thread; a power of two */
	RING_PAGE = 4096,

	/* Spans that end wherever their handle is passed to: so many open at a time */
	RING_LANES_MAX = 16384,
	RING_LANES_CHUNK = 1024,

	RING_MORE_MAX = 40,      /* slots of arguments behind a span or a mark */
	RING_ARGUMENTS = 16,     /* ... and how many arguments at most */
	RING_ARG_TEXT_MAX = 255, /* bytes of one that is a text */

	RING_CALLS_MAX = 256, /* kinds of calls of MPI, and ranks that it sent to; powers of two */
	RING_PEERS_MAX = 256,
};

#define RING_FOLDER_VARIABLE "SONDE_SPANS"
#define RING_NEW             "new-" /* so a file's name begins until its head is written */

enum ring_what {
	RING_SPAN = 1,
	RING_MARK,
	RING_THREAD,    /* what follows is of the thread to_ns */
	RING_LANE_SPAN, /* its lane's number is RING_LANE_MASK from RING_LANE_BIT on */
	RING_VALUE,     /* of the counter `name` at from_ns: to_ns is a double's bits */
	RING_CALLED,    /* the thread's name from here on is `name` */
};
#define RING_WHAT      0xffu
#define RING_LANE_BIT  8
#define RING_LANE_MASK 0xffffu
#define RING_MORE_BIT  24 /* how many slots follow that hold the arguments of a span or a mark */

/* Arguments are bytes, one behind the other, in slots that are published together with the slot
 * before them: an u8 of these, then what stands beside it. The rest of the last slot is 0. */
enum ring_argument {
	RING_ARG_END = 0,
	RING_ARG_NUMBER,   /* u32 the key's name, a double */
	RING_ARG_INTEGER,  /* u32 the key's name, i64 */
	RING_ARG_TEXT,     /* u32 the key's name, u8 length, its bytes */
	RING_ARG_CATEGORY, /* u32 its name */
	RING_ARG_FLOW_OUT, /* u64: an arrow of this number begins here */
	RING_ARG_FLOW_IN,  /*      ... ends here */
};

struct ring_slot {
	int64_t from_ns, to_ns; /* of the monotonic clock */
	uint32_t name, what;
};

struct ring_open {
	int64_t from_ns; /* RING_ENDED: it ended before those within it */
	uint32_t name, serial;
};
enum { RING_ENDED = -1 };

/* A span with a handle, while it is open. It is on the lane of the span around it, where that is
 * the innermost one there, else on the lane of its own number. */
struct ring_lane {
	int64_t from_ns;
	uint32_t name;
	uint32_t lane; /* 0: it is not open; else number + 1 */
};

/* A thread's ring: this, then its slots. What has been written is slots taken .. written - 1, each
 * modulo RING_SLOTS. When a thread ends, the next one may have it. */
struct ring_thread {
	_Alignas(64) uint64_t written;
	uint64_t lost;   /* what there was no room for */
	uint32_t depth;  /* how many spans are open, some of which may have no place below */
	uint32_t thread; /* its id */
	char called[16]; /* and name, when it came */
	uint32_t serial; /* the process's own: spans begun */
	uint32_t number; /*  ... and which ring this is */
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
	/* What follows is 0 in files of programs that know none of it. */
	uint32_t ntexts;       /* names beyond RING_NAMES_MAX */
	uint32_t nlane_chunks; /* that are mapped */
	uint64_t wrong_order;  /* ends of what is not open, or not the innermost */
	uint64_t nameless;     /* names that there was no number for */
	uint32_t rank;         /* of the process, as its MPI or batch system says, + 1; 0: none */
	uint32_t unused_too;
	uint64_t args_left; /* arguments that there was no room for */
};
_Static_assert(sizeof(struct ring_head) <= 19 * RING_PAGE, "rings stay where they are");

/* Calls of MPI of one kind: of a function, over so many ranks, with bytes up to a power of two. */
struct ring_call {
	uint32_t named;     /* 1: what stands here is whole, but for what is counted */
	uint32_t ranks;     /* of its communicator; 0: it has none, or several */
	uint32_t size_log2; /* bytes of a call, at most 2 to this; 0: none, or one */
	char name[36];      /* "MPI_Allreduce" */
	uint64_t calls, ns, bytes;
	uint64_t least_ns;   /* the shortest of them */
	uint64_t arrived_us; /* the sum of when they began, since MPI began */
};

struct ring_peer {
	uint32_t rank; /* + 1; 0: nothing is here */
	uint32_t unused;
	uint64_t messages, bytes; /* that were sent to it */
};

/* What a process did with MPI, counted as it goes: it survives the process. */
struct ring_mpi {
	uint32_t rank, ranks;       /* of all that began together; ranks 0: MPI has not begun */
	int64_t began_ns, ended_ns; /* MPI_Init came back, MPI_Finalize was called; 0: not yet */
	/* Of the thread that began MPI: time in its calls but the first and the last, and since
	 * when it is in one; 0: it is not */
	int64_t inside_ns, open_ns;
	uint64_t other_messages, other_bytes;  /* sent to ranks that there was no place for */
	struct ring_call call[RING_CALLS_MAX]; /* anywhere; the last is of all without a place */
	struct ring_peer peer[RING_PEERS_MAX];
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
/* Behind all rings that there can be; the file is sparse. */
static inline size_t ring_lanes_at(uint32_t chunk)
{
	return ring_thread_at(RING_THREADS_MAX) +
	       chunk * RING_LANES_CHUNK * sizeof(struct ring_lane);
}
/* The number of its first text, u32; then of each a u16 length and its bytes; length 0: no more. */
static inline size_t ring_texts_at(uint32_t chunk)
{
	return ring_lanes_at(RING_LANES_MAX / RING_LANES_CHUNK) + (size_t)chunk * RING_TEXTS_CHUNK;
}
/* What MPI did, where it did anything: a struct ring_mpi. */
static inline size_t ring_mpi_at(void)
{
	return ring_texts_at(RING_TEXTS_CHUNKS);
}

#endif
