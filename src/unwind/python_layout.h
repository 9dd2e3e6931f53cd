/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_layout.h - where CPython's structures have what: bytes from their beginning.
 *
 * One row for each version, as offsetof gives them with its own headers
 * (tests/programs/python/offsets.c checks that). Interpreters of 3.13 describe their structures
 * themselves, so that one that was built in another way has its own.
 */
#ifndef SONDE_UNWIND_PYTHON_LAYOUT_H
#define SONDE_UNWIND_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How a code's table gives lines: each instruction's own (Objects/locations.md), or steps of
 * instructions and lines, of 3.10 with the lines before the steps (Objects/lnotab_notes.txt). */
enum python_lines { PYTHON_LOCATIONS, PYTHON_STEPS, PYTHON_RANGES };

/* 0: that version does not have it. */
struct python_layout {
	uint32_t version; /* upper half of PY_VERSION_HEX */
	enum python_lines how;
	bool by_cframe;    /* the thread has a structure that has the frame */
	bool each_enters;  /* each frame is one call of the interpreter's loop */
	bool free_threads; /* built without the lock that lets one thread at a time run */
	uint16_t interpreters, threads, next, interpreter, native_id, pthread, frame, cframe_frame;
	/* Of a frame. instruction: its address, of 3.8 to 3.10 its number; unit: bytes of one. */
	uint16_t code, instruction, unit, previous, owner, entry, frame_size;
	uint16_t locals, nlocals, exceptions;            /* with statements, 3.11 and later */
	uint16_t values, nblocks, blocks, block, height; /* the same, before */
	uint16_t gil, gil_pointer, gil_holder, gil_locked, gil_size;
	/* Of a code object, as much of it as is read, and of texts. */
	uint16_t name, file, first_line, lines, bytecode, code_size;
	uint16_t bytes, size, ascii, compact, length, state;
	uint16_t type, type_name; /* of any object */
};

static inline uint64_t python_word(const uint8_t *raw, size_t at)
{
	uint64_t v;

	memcpy(&v, raw + at, sizeof v);
	return v;
}

/* Of a version by PY_VERSION_HEX; NULL: it is not known. */
const struct python_layout *python_layout_of(uint64_t version);
/* How many bytes of an interpreter's _PyRuntime describe its structures. */
enum { PYTHON_DESCRIBED = 8 * 73 };
/* What it says itself takes the place of what *l has. False: it says nothing that makes sense. */
bool python_layout_described(struct python_layout *l, const uint8_t raw[PYTHON_DESCRIBED]);

/* Which instruction of a code object a frame is at, in bytes; below 0: before the first. */
int64_t python_instruction(const struct python_layout *l, const uint8_t *frame, uint64_t code);
/* The line of it; 0: it has none. */
uint32_t python_line_at(const struct python_layout *l, const uint8_t *table, size_t n,
			uint32_t first, int64_t at);

/* By the three kinds of tables: the line of the instruction `at` bytes into the code. */
uint32_t python_line(const uint8_t *table, size_t n, uint32_t first, uint64_t at);
uint32_t python_line_by_steps(const uint8_t *table, size_t n, uint32_t first, uint64_t at);
uint32_t python_line_by_ranges(const uint8_t *table, size_t n, uint32_t first, uint64_t at);

/* How many values are on the stack for sure at an instruction, by a code's table of exceptions: the
 * rest may be left from before. `unit`: the number of the instruction. */
uint64_t python_depth(const uint8_t *table, size_t n, uint64_t unit);

#endif
