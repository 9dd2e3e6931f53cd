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

#include <string.h>

/* Where each version has what: bytes from the beginning of its structures, as offsetof gives them
 * with its own headers (pycore_runtime.h, pycore_interp.h, pycore_frame.h, pycore_code.h). 0 of
 * cframe_frame in 3.13, entry and gil: it does not have that. */
struct python_layout {
	uint32_t version; /* upper half of PY_VERSION_HEX */
	uint16_t interpreters, threads, next, native_id, frame, cframe_frame;
	bool by_cframe; /* the thread has a structure that has the frame */
	uint16_t code, instruction, previous, owner, entry;
	uint16_t gil, gil_pointer, gil_holder, gil_locked, gil_size;
	uint16_t name, file, first_line, lines, bytecode;
	uint16_t bytes, size, ascii, compact, length, state;
	uint16_t locals, nlocals, exceptions;
};

static inline uint64_t python_word(const uint8_t *raw, size_t at)
{
	uint64_t v;

	memcpy(&v, raw + at, sizeof v);
	return v;
}

/* Of a str object; false: it is none. In python.c. */
bool python_text(const struct python *p, uint64_t at, char out[PYTHON_TEXT]);
enum { PYTHON_FRAME_BYTES = 128 }; /* at least what comes before a frame's values */

/* The frame at `at`, as far as it was read with something else. */
struct python_next {
	uint64_t at;
	bool known;
	uint8_t raw[PYTHON_FRAME_BYTES];
};
/* Function, file and line of a code object at an instruction, remembered in p->codes. False: it
 * makes no sense, or is too large. next: read with it, where that costs little. */
bool python_code_read(const struct python *p, uint64_t code, uint64_t instruction,
		      struct python_frame *f, struct python_next *next);

#endif
