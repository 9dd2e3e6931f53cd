/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - functions, files, lines and inlined calls of frames, looked up once for each.
 *
 * A thread of its own does it, in the order in which frames were made. Symbols come from the module
 * and from its file of debug information, which is looked for where distributions install them and
 * is never downloaded. Where lines would cost much CPU time (unwind/symbols.h), frames have their
 * symbols first, and are found once more as soon as the job has used five hundred times that.
 */
#ifndef SONDE_UNWIND_NAMES_H
#define SONDE_UNWIND_NAMES_H

#include "unwind/module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct place;
struct symbols;

enum { FRAMES_MAX = 65536, CHAIN_MAX = 32 };

/* One level of a chain of inlined calls; the last one is the function itself. */
struct name {
	char *function, *file; /* or NULL */
	uint32_t line;
};

/* What was found of a frame. */
struct named {
	struct named *next;
	uint32_t frame; /* index */
	uint32_t n;
	uint8_t made;                 /* FRAME_UNOPTIMIZED, and of the innermost FRAME_SPINS */
	bool is_final;                /* lines that cost much do not follow */
	uint64_t start;               /* of a function without a name; 0: not known */
	struct name level[CHAIN_MAX]; /* n of them; the innermost first */
};

struct names;

struct names *names_make(struct modules *modules); /* NULL: no memory, or no thread */
/* Look this one up; frames[i] in order of i. */
void names_ask(struct names *n, uint32_t frame, uint32_t module, uint64_t address);
/* The job has used so much more CPU time. */
void names_earn(struct names *n, int64_t cpu_ns);
/* Give back pages of files and free memory, as soon as all is answered. */
void names_let_go(struct names *n);
/* One that was found, or NULL, a frame perhaps a second time. named_free it. */
struct named *names_take(struct names *n);
void named_free(struct named *x);
/* Wait until all are found, at most so long. */
void names_wait(struct names *n, int64_t patience_ns);
/* What was asked and has not been found yet. */
bool names_busy(struct names *n);

/*
 * Names of places in code at once, remembered for those that come often. For the thread that finds
 * callers alone: it reads the same handles, and makes it wait.
 */

enum { LOOKUP_NAMED = 1 << 14 };

struct lookup {
	const struct modules *modules;
	struct symbols *symbols[MODULES_MAX];
	struct lookup_row {
		uint64_t address;
		uint32_t module;
		struct named *named;
	} row[LOOKUP_NAMED];
};

/* Of a place in a file or the vdso, until the next question; NULL: no memory. */
const struct named *lookup_name(struct lookup *l, const struct place *p);

/*
 * Names of code that a program makes while it runs: /tmp/perf-PID.map, which interpreters and
 * runtimes write.
 *
 * Anyone may put a file there: it counts only if it is a regular file of the process's own user. It
 * is hostile all the same, read as it grows, and bounded.
 */

struct jit;

struct jit *jit_open(pid_t pid); /* NULL: no memory */
void jit_free(struct jit *j);    /* NULL is fine */
/* Read what is new in the file, at most once in a while. */
void jit_look(struct jit *j, int64_t now_ns);
/* The function at an address, and where it begins; NULL: not known. The name is good until the next
 * look. */
const char *jit_name(const struct jit *j, uint64_t address, uint64_t *start);
/* Of text as such a file has it; returns how many bytes of whole lines were taken. */
size_t jit_take(struct jit *j, const char *text, size_t n);

#endif
