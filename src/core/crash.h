/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash.h - what is known of a process that crashed beside its signal: labels of its instance, and
 * these in words.
 *
 * They come from the kernel's log (sampler/crash_log.h). What that does not say has no label. Texts
 * are hostile.
 */
#ifndef SONDE_CORE_CRASH_H
#define SONDE_CORE_CRASH_H

#include "core/frame/run.h"

#include <stdbool.h>
#include <stddef.h>

enum crash_kind {
	CRASH_UNKNOWN,
	CRASH_NULL_READ,
	CRASH_NULL_WRITE,
	CRASH_NULL_CALL,
	CRASH_STACK,
	CRASH_THREAD_STACK,
	CRASH_JUMP,
	CRASH_DATA_RUN,
	CRASH_READ_ONLY,
	CRASH_FORBIDDEN_READ,
	CRASH_READ,
	CRASH_WRITE,
	CRASH_GENERAL,
	CRASH_DIVISION,
	CRASH_INSTRUCTION,
	CRASH_KINDS
};

/* The labels: its kind, the file (without folders) that holds the code where it was, the function,
 * and "reader.c:88". */
#define CRASH_KIND     "crash.kind"
#define CRASH_FILE     "crash.file"
#define CRASH_FUNCTION "crash.function"
#define CRASH_SOURCE   "crash.source"

/* "null-read", the value of the first label. */
const char *crash_name(enum crash_kind kind);
enum crash_kind crash_of(const struct run *r, uint32_t instance);
bool crash_is_of_stack(enum crash_kind kind);
/* "a null pointer was read in parse_row (reader.c:88)", without a full stop; "": nothing is known.
 */
void crash_say(const struct run *r, uint32_t instance, char *out, size_t size);

#endif
