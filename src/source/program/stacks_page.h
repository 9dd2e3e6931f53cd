/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks_page.h - the memory that the recorder and its helper sonde-unwind share.
 *
 * The recorder writes what the helper must know before it starts it, and asks; the helper answers
 * with messages in a ring: head is the helper's, tail the recorder's. A message is a struct
 * stacks_message, its body, and its texts, padded to 8 bytes; it never wraps: kind NONE fills the
 * rest of the ring. The recorder trusts none of it. Both come from the same build: `layout` is
 * checked, nothing else is negotiated.
 */
#ifndef SONDE_SOURCE_PROGRAM_STACKS_PAGE_H
#define SONDE_SOURCE_PROGRAM_STACKS_PAGE_H

#include "core/phase/event.h"

#include <stdatomic.h>
#include <stdint.h>

enum {
	STACKS_SOCKET = 3, /* the helper's descriptors */
	STACKS_MEMORY = 4,
	STACKS_RINGS = 5, /* the first of them */
	STACKS_RINGS_MAX = 256,
	STACKS_LEFT_OUT_MAX = 1024,
	STACKS_TEXT_MAX = 4096, /* longer names are cut */
	STACKS_REFUSED_MAX = 64,
	STACKS_PATH_MAX = 256,
	STACKS_ROOM = 1 << 20, /* of the ring */
	STACKS_PIDS_MAX = 32768,
	STACKS_SLOTS_MAX = 64, /* threads that are sampled at a time, in rounds */
	WATCH_SKIPPED_MAX = 64,
};

/* What is asked of the kernel for each sample: the registers that unwinding needs, in the order of
 * its own numbers (asm/perf_regs.h). */
#if defined(__x86_64__)
#define STACKS_REGISTERS UINT64_C(0xff01ff) /* AX BX CX DX SI DI BP SP IP R8 .. R15 */
enum { STACKS_NREGISTERS = 17 };
#elif defined(__aarch64__)
#define STACKS_REGISTERS ((UINT64_C(1) << 33) - 1) /* X0 .. X29 LR SP PC */
enum { STACKS_NREGISTERS = 33 };
#else
#define STACKS_REGISTERS UINT64_C(0) /* not supported */
enum { STACKS_NREGISTERS = 1 };
#endif

/* Every how many page faults there is a sample: primes, so that no loop is in step with them. */
enum { FAULTS_STEPS = 17, FAULTS_STEP_BYTES = 8 };
static const uint32_t faults_periods[FAULTS_STEPS] = { 1,    2,    3,     7,     13,   31,
						       61,   127,  251,   509,   1021, 2039,
						       4093, 8191, 16381, 32749, 65521 };

/* A sample of a page fault cannot have its period as a field (PERF_SAMPLE_PERIOD): then the kernel
 * makes one of each fault, 10,240 of 10,240 instead of 80 (seen with Linux 6.18). But events of
 * several periods write to the same ring. So each asks for another size of the stack, which its
 * samples do have: a little less for each step. */
static inline uint32_t faults_stack_bytes(uint32_t most, uint32_t step)
{
	return most - step * FAULTS_STEP_BYTES;
}

/* What a sample of that size stands for; one without a stack, of a task that has none, for 1. */
static inline uint32_t faults_period(uint32_t most, uint64_t stack_bytes)
{
	uint64_t step = stack_bytes < most ? (most - stack_bytes) / FAULTS_STEP_BYTES : 0;

	return faults_periods[step < FAULTS_STEPS ? step : 0];
}

enum stacks_stage { STACKS_STARTING, STACKS_READY, STACKS_FAILED };

enum stacks_kind { STACKS_NONE, STACKS_MODULE, STACKS_FRAME, STACKS_NODES, STACKS_SAMPLES };

struct stacks_message {
	uint32_t size; /* all of it, a multiple of 8 */
	uint32_t kind; /* enum stacks_kind */
};

struct stacks_module {
	uint32_t id;
	uint16_t name, build_id; /* lengths of the texts behind it, in this order */
};

struct stacks_frame {
	uint32_t id, module, outer, line, flags;
	uint16_t function, file; /* likewise */
	uint64_t address;
};

struct stacks_nodes {
	uint32_t first, n; /* items follow: struct event_item */
};

struct stacks_samples {
	int32_t pid;
	uint32_t n, kind;
	char command[20];
	int64_t unit, t0_ns, t1_ns;
};

/* What a helper that takes samples of page faults (unwind/touched.h) has done. */
struct stacks_touches {
	uint32_t hz; /* samples a second, at most; 0: it samples something else */
	uint32_t in_kernel;
	int32_t cpu[STACKS_RINGS_MAX]; /* of each ring */
	/* The helper asks to open events itself, now and then (unwind/gate.c); the recorder has
	 * closed its own then, all but those of tasks. step: of faults_periods. */
	_Atomic uint32_t windows, handed, step;
	_Atomic int64_t looks, refused; /* refused: processes that it may not look at */
	/* Of the job's memory, now: and what no sample is of. */
	_Atomic int64_t resident_bytes, unseen_bytes;
};

/* A file with code; a longer path is cut. */
struct stacks_file {
	uint64_t inode;
	uint32_t major, minor;
	char path[STACKS_PATH_MAX];
};

enum { WATCH_PERIOD_NS = 1000 }; /* what a weight of 1 of waits is worth */

/* What a helper that watches waits (unwind/watch.h) must know, and where it is. */
struct stacks_watch {
	uint32_t hz;      /* looks a second; 0: it takes samples instead */
	uint32_t share;   /* of a core that it may use, in millionths; 0: all it wants */
	int64_t began_ns; /* what a thread did before that does not count */
	/* Threads at which earlier helpers stayed. */
	uint32_t nskip;
	int32_t skip[WATCH_SKIPPED_MAX];
	/* The thread that it looks at now; 0: none. What it has done. */
	_Atomic int32_t at;
	_Atomic int64_t looks, moved, refused, rounds;
	_Atomic int64_t torn; /* Python's frames made no sense, or were not found */
};

/* What a helper that opens the events itself must know (unwind/rounds.h), and what it has done. */
struct stacks_rounds {
	uint32_t threads;        /* that it samples at a time; 0: the recorder's events are all */
	uint32_t bytes;          /* of memory that may be locked for their rings */
	uint32_t hz, hz_of_node; /* samples a second of CPU time, and of all threads together */
	int64_t began_ns;        /* CPU time that threads used before that does not count */
	uint32_t late; /* nor what a process used before it is heard of; so looks are rarer */
	/* Threads that ended without a sample, and their user time; threads that were refused, and
	 * those that get a CPU so often that it would slow them. */
	_Atomic int64_t unsampled, unsampled_ns, refused, restless;
};

struct stacks_page {
	uint32_t layout;
	int32_t parent;
	uint32_t nrings, ring_bytes, stack_bytes;
	/* Ids that the first of each may have: those before are an earlier helper's. */
	uint32_t module, frame, node;
	/* Files that earlier helpers died of. */
	uint32_t nrefused;
	struct stacks_file refused[STACKS_REFUSED_MAX];
	/* What this one read when it died. */
	_Atomic uint32_t died;
	struct stacks_file died_of;
	_Atomic uint32_t stage;
	_Atomic uint32_t asked, answered; /* by number */
	_Atomic uint32_t last;            /* the last question: all there is is wanted */
	_Atomic uint32_t left;            /* there was no room for the whole answer */
	/* Processes whose own samples are not the job's: launchers. */
	_Atomic uint32_t nleft_out;
	int32_t left_out[STACKS_LEFT_OUT_MAX];
	struct stacks_watch watch;
	struct stacks_rounds rounds;
	struct stacks_touches touches;
	/* The job's processes, for those two: changes only between an answer and the next question.
	 */
	uint32_t npids;
	int32_t pid[STACKS_PIDS_MAX];
	/* What the helper has seen and used. */
	_Atomic int64_t cpu_ns, resident_bytes, samples, lost, cut, lost_way, forks, folded;
	_Atomic uint64_t head, tail;
	_Alignas(64) uint8_t room[STACKS_ROOM];
};

#endif
