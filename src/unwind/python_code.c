/* SPDX-License-Identifier: Apache-2.0 */
/* python_code.c - code objects of Python, remembered: their names and files cost ten reads each.
 *
 * What is remembered counts only if the object still has the same texts, which their lengths and
 * hashes tell, and the same table of lines, byte by byte: another one may have taken its place. */
#include "unwind/python_part.h"

#include "waits/memory.h"

#include <stdlib.h>
#include <sys/uio.h>

enum {
	CODES = 1 << 12,
	HEAD_MAX = 256, /* bytes of a code object before its instructions */
	TABLE_MOST = 4096,
	TEXT_HEAD = 16,  /* length and hash */
	TABLE_HEAD = 16, /* size and hash */
};

/* What tells an object from another. */
struct identity {
	pid_t pid;
	uint32_t first_line;
	uint64_t code, name, file, table;
};

struct code {
	struct identity is;
	uint8_t name[TEXT_HEAD], file[TEXT_HEAD];
	char function[PYTHON_TEXT], path[PYTHON_TEXT];
	uint8_t *lines; /* TABLE_HEAD, and n bytes; NULL: nothing is remembered here */
	size_t n;
};

struct python_codes {
	struct code row[CODES];
};

struct python_codes *python_codes_make(void)
{
	return calloc(1, sizeof(struct python_codes));
}

/* All three at once, or false. */
static bool read_parts(const struct python *p, const struct identity *is, struct code *c, size_t n)
{
	const struct python_layout *l = p->layout;
	const struct iovec to[] = { { c->name, TEXT_HEAD },
				    { c->file, TEXT_HEAD },
				    { c->lines, TABLE_HEAD + n } };
	const struct iovec from[] = {
		{ (void *)(uintptr_t)(is->name + l->length), TEXT_HEAD },
		{ (void *)(uintptr_t)(is->file + l->length), TEXT_HEAD },
		{ (void *)(uintptr_t)(is->table + l->size), TABLE_HEAD + n },
	};

	return process_vm_readv(p->pid, to, 3, from, 3, 0) ==
	       (ssize_t)(2 * TEXT_HEAD + TABLE_HEAD + n);
}

/* One whose hash is not known yet may be any text. */
static bool has_hash(const uint8_t head[TEXT_HEAD])
{
	return python_word(head, 8) != UINT64_MAX;
}

/* The hash of the table is made when somebody asks for it. */
static bool is_same_table(const struct code *a, const struct code *b)
{
	return !memcmp(a->lines, b->lines, 8) &&
	       !memcmp(a->lines + TABLE_HEAD, b->lines + TABLE_HEAD, a->n);
}

static bool is_as_it_was(const struct python *p, const struct code *c)
{
	uint8_t lines[TABLE_HEAD + TABLE_MOST];
	struct code now = { .lines = lines };

	return has_hash(c->name) && has_hash(c->file) && read_parts(p, &c->is, &now, c->n) &&
	       !memcmp(now.name, c->name, TEXT_HEAD) && !memcmp(now.file, c->file, TEXT_HEAD) &&
	       is_same_table(c, &now);
}

static bool learn(const struct python *p, const struct identity *is, struct code *c)
{
	uint64_t n;

	free(c->lines);
	*c = (struct code){ .is = *is };
	if (!memory_read(p->pid, is->table + p->layout->size, &n, sizeof n) || !n ||
	    n > TABLE_MOST || !python_text(p, is->name, c->function) ||
	    !python_text(p, is->file, c->path))
		return false;
	c->n = (size_t)n;
	c->lines = malloc(TABLE_HEAD + c->n);
	if (c->lines && read_parts(p, is, c, c->n))
		return true;
	free(c->lines);
	c->lines = NULL;
	return false;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->pid == b->pid && a->first_line == b->first_line && a->code == b->code &&
	       a->name == b->name && a->file == b->file && a->table == b->table;
}

bool python_code_read(struct python_codes *codes, const struct python *p, uint64_t code,
		      uint64_t instruction, struct python_frame *f)
{
	const struct python_layout *l = p->layout;
	struct identity is = { .pid = p->pid, .code = code };
	uint64_t start = code + l->bytecode,
		 hash = (code ^ (uint64_t)p->pid << 40) * UINT64_C(0x9e3779b97f4a7c15);
	struct code *c = &codes->row[(hash >> 32) % CODES];
	uint8_t head[HEAD_MAX];

	if (!memory_read(p->pid, code, head, l->bytecode))
		return false;
	memcpy(&is.first_line, head + l->first_line, sizeof is.first_line);
	is.name = python_word(head, l->name);
	is.file = python_word(head, l->file);
	is.table = python_word(head, l->lines);
	if ((!c->lines || !is_same(&c->is, &is) || !is_as_it_was(p, c)) && !learn(p, &is, c))
		return false;
	memcpy(f->function, c->function, sizeof f->function);
	memcpy(f->file, c->path, sizeof f->file);
	f->line = instruction < start ? 0
				      : python_line(c->lines + TABLE_HEAD, c->n, is.first_line,
						    instruction - start);
	return true;
}
