/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the memory of another process, read without stopping it.
 *
 * It may block where a page comes from a server that is silent: for helpers only.
 */
#ifndef SONDE_WAITS_MEMORY_H
#define SONDE_WAITS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All of it, or false. */
bool memory_read(pid_t pid, uint64_t at, void *out, size_t size);
/* As much as there is from there on, in whole pages; 0: nothing, -errno: it is refused. */
ssize_t memory_copy(pid_t pid, uint64_t at, void *out, size_t size);
/* A text that ends in NUL, cut at size; false: there is none. */
bool memory_text(pid_t pid, uint64_t at, char *out, size_t size);

#endif
