/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_code.h - code objects of Python, remembered: their names and files cost ten reads each.
 *
 * What is remembered counts only if the object still has the same texts and the same table of
 * lines, byte by byte: another one may have taken its place. All of that is one reading.
 */
#ifndef SONDE_UNWIND_PYTHON_CODE_H
#define SONDE_UNWIND_PYTHON_CODE_H

#include "unwind/python.h"

bool python_is_code(const struct python *p, uint64_t object);
/* Of a str object; false: it is none. In python.c. */
bool python_text(const struct python *p, uint64_t at, char out[PYTHON_TEXT]);
enum { PYTHON_FRAME_BYTES = 128 }; /* at least what comes before a frame's values */

/* The frame at `at`, as far as it was read with something else. */
struct python_next {
	uint64_t at;
	bool known;
	uint8_t raw[PYTHON_FRAME_BYTES];
};
/* Function, file and line of a code object at an instruction (its offset in bytes), remembered in
 * p->codes. False: it makes no sense, or is too large. next: read with it, where that costs little.
 */
bool python_code_read(const struct python *p, uint64_t code, int64_t instruction,
		      struct python_frame *f, struct python_next *next);

#endif
