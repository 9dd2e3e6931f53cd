/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - what is known of the job's code: its frames, the tree of its stacks, and how often
 * each was seen since that was told last.
 *
 * All of it is bounded: beyond, stacks are their innermost function below FRAME_OTHER. Names come
 * later, from another thread (names.h), so that taking samples never waits for them.
 */
#ifndef SONDE_UNWIND_PROFILE_H
#define SONDE_UNWIND_PROFILE_H

#include "unwind/names.h"
#include "unwind/space.h"

enum { NODES_MAX = 81920, DEPTH_MAX = 127, GROUPS_MAX = 4096, OBJECTS_MAX = 8192 };

/* A frame of a stack: the innermost first. */
struct place {
	uint32_t module;
	uint64_t address;
	const char *function; /* of JIT code and of Python, or NULL */
	const char *file;     /* of Python, with its line; or NULL */
	uint32_t line;
};

struct stack {
	struct place place[DEPTH_MAX];
	uint32_t n, flags; /* how it ends: FRAME_CUT, FRAME_LOST_WAY, or 0 */
};

/* Of whom a sample is. */
struct sampled {
	pid_t pid, tid;
	int64_t at_ns, period;
};

/* Time that a thread was somewhere. */
struct timed {
	pid_t pid, tid;
	uint32_t node;
	int64_t from_ns, to_ns; /* within which that was */
	uint64_t weight;        /* how long, in periods */
};

struct looked {
	uint32_t node;
	enum sample_kind kind;
	uint64_t weight;
};

struct profile;

struct profile *profile_make(struct stacks_page *page, struct names *names, struct modules *modules,
			     enum sample_kind kind);
/* A sample of so much CPU time, which is put later: the node of its stack; 0: it is lost. */
uint32_t profile_seen(struct profile *p, const struct stack *stack, int64_t cpu_ns);
void profile_add(struct profile *p, struct space *x, const struct sampled *s,
		 const struct stack *stack);
/* Likewise of what the kernel did for it; it is put at once, and is not one of the samples. */
void profile_add_kernel(struct profile *p, struct space *x, const struct sampled *s,
			const struct stack *stack);
/* The node of a stack; 0: there is no room, not even for what has none. */
uint32_t profile_node(struct profile *p, const struct stack *stack);
/* Below it, what is no code: what was done or waited for. Where there is no room it is `node`. */
uint32_t profile_named(struct profile *p, uint32_t node, const char *name);
/* One look found so many periods (s->period) of CPU time there; or so many units of memory. */
void profile_look(struct profile *p, struct space *x, const struct sampled *s,
		  const struct looked *l);
void profile_time(struct profile *p, struct space *x, int64_t period_ns, const struct timed *t);
/* The node of memory that no sample is of; 0: there is no room. */
uint32_t profile_unseen(struct profile *p);
/* Put into messages what there is room for. False: something is left. */
bool profile_tell(struct profile *p);

#endif
