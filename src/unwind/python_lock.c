/* SPDX-License-Identifier: Apache-2.0 */
/* Of Python's locks, the interpreter's own and those of scripts: who has them. */
#include "unwind/python_code.h"

#include "waits/memory.h"

enum { TABLE_MAX = 1 << 16, UNIT = 2 };

/* ---- the lock ---- */

static uint64_t gil_of(const struct python *p)
{
	const struct python_layout *l = p->layout;

	return l->gil ? p->runtime + l->gil : python_word_at(p, p->interpreter + l->gil_pointer);
}

bool python_is_gil(const struct python *p, uint64_t address)
{
	uint64_t gil = gil_of(p);

	return gil && address >= gil && address - gil < p->layout->gil_size;
}

pid_t python_gil_holder(const struct python *p)
{
	const struct python_layout *l = p->layout;
	uint64_t gil = gil_of(p), holder = python_word_at(p, gil + l->gil_holder);
	int32_t locked;

	if (!holder || !memory_read(p->pid, gil + l->gil_locked, &locked, sizeof locked) ||
	    locked != 1)
		return 0;
	return python_tid(p, holder);
}

/* ---- locks in with statements ---- */

/* Who waits in the queue of a lock of CPython 3.13.5 has its address before its semaphore
 * (Python/parking_lot.c). */
enum { METHOD = 16, SELF = 24, LOCK = 16, PARKED_BEFORE = 8, BLOCKS_MAX = 20 };

static uint64_t depth_of(const struct python *p, uint64_t code, uint64_t instruction)
{
	const struct python_layout *l = p->layout;
	uint64_t table = python_word_at(p, code + l->exceptions),
		 n = python_word_at(p, table + l->size);
	uint64_t start = code + l->bytecode;
	static uint8_t bytes[TABLE_MAX]; /* as in line_of */

	if (!table || !n || n > sizeof bytes || instruction < start ||
	    !memory_read(p->pid, table + l->bytes, bytes, (size_t)n))
		return 0;
	return python_depth(bytes, (size_t)n, (instruction - start) / UNIT);
}

/* Is it the method __exit__ of the lock, which a with statement keeps for its end? The lock points
 * to the semaphore that is waited for, or is what the waiter's queue has noted. */
static bool is_exit(const struct python *p, uint64_t method)
{
	uint64_t at = method ? python_word_at(p, method + SELF) + LOCK : 0;
	char name[sizeof "__exit__"];

	return at && (at == p->parked || python_word_at(p, at) == p->lock) &&
	       memory_read(p->pid, python_word_at(p, python_word_at(p, method + METHOD)), name,
			   sizeof name) &&
	       !memcmp(name, "__exit__", sizeof name);
}

/* Of 3.8 to 3.10: each block of a frame says how high its stack was. */
static bool frame_blocks_have(const struct python *p, uint64_t at)
{
	const struct python_layout *l = p->layout;
	uint64_t values = python_word_at(p, at + l->values);
	int32_t n, height;

	if (!memory_read(p->pid, at + l->nblocks, &n, sizeof n) || n > BLOCKS_MAX)
		return false;
	for (int32_t i = 0; i < n; i++) {
		uint64_t block = at + l->blocks + (uint64_t)i * l->block;

		if (!memory_read(p->pid, block + l->height, &height, sizeof height) || height < 0 ||
		    height > TABLE_MAX)
			return false;
		if (height && is_exit(p, python_word_at(p, values + 8 * ((uint64_t)height - 1))))
			return true;
	}
	return false;
}

static bool frame_has(const struct python *p, uint64_t at)
{
	const struct python_layout *l = p->layout;
	uint64_t code = python_word_at(p, at + l->code), depth;
	int32_t locals;

	if (l->blocks)
		return frame_blocks_have(p, at);
	if (!code || !memory_read(p->pid, code + l->nlocals, &locals, sizeof locals) ||
	    locals < 0 || locals > TABLE_MAX)
		return false;
	depth = depth_of(p, code, python_word_at(p, at + l->instruction));
	for (uint64_t i = 0; i < depth; i++)
		if (is_exit(p, python_word_at(p, at + l->locals + 8 * ((uint64_t)locals + i))))
			return true;
	return false;
}

static bool thread_has(struct python *p, uint64_t thread)
{
	const struct python_layout *l = p->layout;
	uint64_t at = python_innermost(p, thread);

	for (int turn = 0; at && turn < 2 * PYTHON_FRAMES && p->left; turn++, p->left--) {
		if (!python_is_shim(p, at) && frame_has(p, at))
			return true;
		at = python_word_at(p, at + l->previous);
	}
	return false;
}

pid_t python_lock_holder(struct python *p, uint64_t address)
{
	if (address == p->lock || p->layout->free_threads)
		return address == p->lock ? p->lock_holder : 0;
	p->lock = address;
	p->parked = python_word_at(p, address - PARKED_BEFORE);
	p->lock_holder = 0;
	for (uint32_t i = 0; i < p->nthreads && !p->lock_holder; i++)
		if (thread_has(p, p->thread[i].at))
			p->lock_holder = p->thread[i].tid;
	return p->lock_holder;
}
