/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit.h - names of code that a program makes while it runs: /tmp/perf-PID.map, which interpreters
 * and runtimes write.
 *
 * Anyone may put a file there: it counts only if it is a regular file of the process's own user. It
 * is hostile all the same, read as it grows, and bounded.
 */
#ifndef SONDE_UNWIND_JIT_H
#define SONDE_UNWIND_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
