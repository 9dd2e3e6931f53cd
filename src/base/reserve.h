/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserve.h - address space taken at once, memory used only as it is touched.
 *
 * What must never fail later is reserved at the start and costs nothing until it is needed. It is
 * zeroed. Huge pages are refused: they would make the first touch cost 2 MiB.
 *
 * Where the address space is limited (ulimit -v), who reserves much takes a part of it.
 */
#ifndef SONDE_BASE_RESERVE_H
#define SONDE_BASE_RESERVE_H

#include "base/bytes.h"

#include <stddef.h>
#include <stdint.h>

/* By what, a power of two, counts of things to reserve for are divided under this process's limit.
 */
uint32_t reserve_parts(void);

/* Take one mapping of this size, from which later reservations are cut: a process that makes many
 * saves as many calls of the kernel. Where address space is limited, or there is not that much,
 * each is still a mapping of its own. */
void reserve_at_once(size_t size);

void *reserve(size_t size);                   /* NULL when there is no address space */
void reserve_free(void *memory, size_t size); /* NULL is fine */
/* Give the pages back that were touched in the first `size` bytes: these are zero again. */
void reserve_let_go(void *memory, size_t size);

/* A fixed buffer in reserved memory; free it with reserve_bytes_free. 0 or -ENOMEM. */
int reserve_bytes(struct bytes *b, size_t cap);
void reserve_bytes_free(struct bytes *b);

/*
 * How much of the program and its libraries is in memory.
 */

/* Let go of all pages of code and constants; those that are needed come back when they are used.
 * For a process that has started and from now on does little: most of what it holds, only its start
 * has used. */
void code_let_go(void);

#endif
