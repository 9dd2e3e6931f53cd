/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_name.h - the function and line of one place in a file with code, by the helper sonde-unwind.
 *
 * The place is what the kernel's log says: how far behind the begin of its mapping, and how large
 * that is. The helper answers only where the file has just such a mapping. The file is hostile:
 * only the helper reads it, and it is left behind when it takes too long.
 */
#ifndef SONDE_SOURCE_PROGRAM_CODE_NAME_H
#define SONDE_SOURCE_PROGRAM_CODE_NAME_H

#include "base/helper.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { CODE_QUESTION = 0x636f6465, CODE_FUNCTION = 256, CODE_SOURCE = 128 };

/* What the helper is asked, in the place of a look (waits/look.h). */
struct code_question {
	uint32_t layout; /* CODE_QUESTION */
	uint64_t at;     /* in the mapping */
	uint64_t size;   /* of the mapping */
	int64_t offset;  /* of the mapping in the file; -1: not known */
	char path[PATH_MAX];
};

struct code_answer {
	char function[CODE_FUNCTION], source[CODE_SOURCE]; /* the file's name alone; "": unknown */
	uint32_t line;                                     /* 0: unknown */
};

/* False: nothing is known, or not within that time. */
bool code_name_ask(const struct code_question *q, int64_t patience_ns, struct code_answer *a);

#endif
