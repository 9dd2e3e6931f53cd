/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/python_layout.h"

#include <limits.h>

enum { UNIT = 2 }; /* bytes of an instruction */

static const struct python_layout layouts[] = {
#include "unwind/python_layouts.def"
};

const struct python_layout *python_layout_of(uint64_t version)
{
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (layouts[i].version == version >> 16)
			return &layouts[i];
	return NULL;
}

/* ---- what it says itself ---- */

#define HAS(member, at)                                                                            \
	{                                                                                          \
		offsetof(struct python_layout, member), at                                         \
	}

/* The words of _Py_DebugOffsets of 3.13 (pycore_runtime.h). */
enum { COOKIE, VERSION, FREE_THREADED };
static const struct {
	size_t member, word;
} described[] = {
	HAS(interpreters, 5), HAS(threads, 9),     HAS(gil_pointer, 14), HAS(gil_locked, 17),
	HAS(gil_holder, 18),  HAS(next, 21),       HAS(interpreter, 22), HAS(frame, 23),
	HAS(native_id, 25),   HAS(previous, 29),   HAS(code, 30),        HAS(instruction, 31),
	HAS(locals, 32),      HAS(frame_size, 32), HAS(owner, 33),       HAS(file, 35),
	HAS(name, 37),        HAS(lines, 38),      HAS(first_line, 39),  HAS(bytecode, 43),
	HAS(code_size, 43),   HAS(type, 45),       HAS(type_name, 47),   HAS(size, 65),
	HAS(bytes, 66),       HAS(state, 68),      HAS(length, 69),      HAS(ascii, 70),
};

bool python_layout_described(struct python_layout *l, const uint8_t raw[PYTHON_DESCRIBED])
{
	enum { COMPACT = 16, FRAME_MAX = 128, CODE_MAX = 256, OBJECT_MAX = 96 };
	struct python_layout own = *l;

	if (memcmp(raw, "xdebugpy", 8) != 0 || python_word(raw, 8 * VERSION) >> 16 != l->version)
		return false;
	for (size_t i = 0; i < sizeof described / sizeof described[0]; i++) {
		uint64_t at = python_word(raw, 8 * described[i].word);

		if (at > UINT16_MAX)
			return false;
		memcpy((char *)&own + described[i].member, &(uint16_t){ (uint16_t)at },
		       sizeof(uint16_t));
	}
	own.free_threads = python_word(raw, 8 * FREE_THREADED) != 0;
	own.compact = (uint16_t)(own.ascii + COMPACT);
	if (own.frame_size > FRAME_MAX || own.owner >= own.frame_size ||
	    own.code + 8 > own.frame_size || own.instruction + 8 > own.frame_size ||
	    own.previous + 8 > own.frame_size || own.code_size > CODE_MAX ||
	    own.name + 8 > own.code_size || own.file + 8 > own.code_size ||
	    own.lines + 8 > own.code_size || own.first_line + 4 > own.code_size ||
	    own.type + 8 > own.code_size || own.ascii > OBJECT_MAX || own.length >= own.state ||
	    own.state + 4 > own.ascii || own.bytes != own.size + 16)
		return false;
	*l = own;
	return true;
}

int64_t python_instruction(const struct python_layout *l, const uint8_t *frame, uint64_t code)
{
	int32_t number;

	if (!l->unit)
		return (int64_t)(python_word(frame, l->instruction) - code - l->bytecode);
	memcpy(&number, frame + l->instruction, sizeof number);
	return (int64_t)number * l->unit;
}

/* ---- lines ---- */

struct table {
	const uint8_t *at, *end;
};

static uint8_t next(struct table *t)
{
	return t->at < t->end ? *t->at++ : 0;
}

/* Six bits at a time, the least first; signed ones have their sign in the lowest bit. */
static int64_t next_number(struct table *t, bool is_signed)
{
	uint64_t v = 0;
	uint8_t b = 0x40;

	for (unsigned shift = 0; b & 0x40 && shift < 36; shift += 6) {
		b = next(t);
		v |= (uint64_t)(b & 0x3f) << shift;
	}
	return !is_signed ? (int64_t)v : v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

/* Objects/locations.md of CPython: an entry begins with a byte that has its highest bit set. */
uint32_t python_line(const uint8_t *table, size_t n, uint32_t first, uint64_t at)
{
	enum { NONE = 15, LONG = 14, NO_COLUMN = 13, ONE_LINE = 10 };
	struct table t = { table, table + n };
	int64_t line = first;
	uint64_t from = 0;

	while (t.at < t.end) {
		uint8_t head = next(&t);
		unsigned code = head >> 3 & 15;
		uint64_t length = ((uint64_t)(head & 7) + 1) * UNIT;

		if (code == LONG || code == NO_COLUMN)
			line += next_number(&t, true);
		else if (code >= ONE_LINE && code < NO_COLUMN)
			line += code - ONE_LINE;
		while (t.at < t.end && !(*t.at & 0x80)) /* columns */
			t.at++;
		if (at < from + length)
			return code == NONE || line <= 0 || line > INT_MAX ? 0 : (uint32_t)line;
		from += length;
	}
	return 0;
}

/* Pairs of bytes: so many on, and then so many lines on. */
uint32_t python_line_by_steps(const uint8_t *table, size_t n, uint32_t first, uint64_t at)
{
	int64_t line = first;
	uint64_t from = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		from += table[i];
		if (from > at)
			break;
		line += (int8_t)table[i + 1];
	}
	return line <= 0 || line > INT_MAX ? 0 : (uint32_t)line;
}

/* So many lines on, -128 for none, for so many bytes. */
uint32_t python_line_by_ranges(const uint8_t *table, size_t n, uint32_t first, uint64_t at)
{
	enum { NONE = -128 };
	int64_t line = first;
	uint64_t from = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		int8_t lines = (int8_t)table[i + 1];

		line += lines == NONE ? 0 : lines;
		from += table[i];
		if (at < from)
			return lines == NONE || line <= 0 || line > INT_MAX ? 0 : (uint32_t)line;
	}
	return 0;
}

uint32_t python_line_at(const struct python_layout *l, const uint8_t *table, size_t n,
			uint32_t first, int64_t at)
{
	if (at < 0)
		return l->unit ? first : 0;
	switch (l->how) {
	case PYTHON_STEPS:
		return python_line_by_steps(table, n, first, (uint64_t)at);
	case PYTHON_RANGES:
		return python_line_by_ranges(table, n, first, (uint64_t)at);
	case PYTHON_LOCATIONS:
		break;
	}
	return python_line(table, n, first, (uint64_t)at);
}

/* ---- tables of exceptions ---- */

enum { DEPTH_MOST = 64 };

/* Six bits at a time, the most first; an entry begins with a byte that has its highest bit set. */
static uint64_t next_part(struct table *t)
{
	uint64_t v = 0;
	uint8_t b = 0x40;

	for (int i = 0; b & 0x40 && i < 6; i++) {
		b = next(t);
		v = v << 6 | (b & 0x3f);
	}
	return v;
}

/* Objects/exception_handling_notes.txt of CPython: start, size, target, depth and a flag. */
uint64_t python_depth(const uint8_t *table, size_t n, uint64_t unit)
{
	struct table t = { table, table + n };

	while (t.at < t.end) {
		uint64_t start = next_part(&t), size = next_part(&t), depth;

		(void)next_part(&t);
		depth = next_part(&t) >> 1;
		if (unit >= start && unit - start < size)
			return depth < DEPTH_MOST ? depth : DEPTH_MOST;
	}
	return 0;
}
