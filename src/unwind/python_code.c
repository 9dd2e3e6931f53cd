/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/python_code.h"

#include "base/process.h"

#include <stdlib.h>
#include <sys/uio.h>

enum {
	CODES = 1 << 11,
	HEAD_MAX = 256, /* bytes of a code object before its instructions */
	TABLE_MOST = 4096,
	TEXT_MOST = 64 + 4 * PYTHON_TEXT, /* from the length of a text on */
	HASH_AT = 8,                      /* from there; it is made when somebody asks for it, */
	HASH_END = 16,
	TABLE_HEAD = 16, /* size and hash, likewise */
};

/* What tells an object from another. */
struct identity {
	pid_t pid;
	uint32_t first_line;
	uint64_t code, type, name, file, table;
};

struct code {
	struct identity is;
	uint8_t name[TEXT_MOST], file[TEXT_MOST]; /* as they are there */
	size_t name_n, file_n;
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

/* What is read of an object at once, and of the frame after it. */
struct reading {
	struct identity is;
	uint8_t head[HEAD_MAX], name[TEXT_MOST], file[TEXT_MOST];
	uint8_t lines[TABLE_HEAD + TABLE_MOST];
};

static void take_head(const struct python *p, struct reading *r)
{
	const struct python_layout *l = p->layout;

	memcpy(&r->is.first_line, r->head + l->first_line, sizeof r->is.first_line);
	r->is.type = python_word(r->head, l->type);
	r->is.name = python_word(r->head, l->name);
	r->is.file = python_word(r->head, l->file);
	r->is.table = python_word(r->head, l->lines);
}

static struct iovec piece(uint64_t at, size_t n)
{
	return (struct iovec){ (void *)(uintptr_t)at, n };
}

/* All of c, or false. next: a frame that is wanted, too, or NULL. */
static bool read_at_once(const struct python *p, const struct code *c, struct reading *r,
			 struct python_next *next)
{
	const struct identity *is = &c->is;
	const struct python_layout *l = p->layout;
	const struct iovec to[] = { { r->head, l->code_size },
				    { r->name, c->name_n },
				    { r->file, c->file_n },
				    { r->lines, TABLE_HEAD + c->n },
				    { next ? next->raw : NULL, l->frame_size } };
	const struct iovec from[] = { piece(is->code, l->code_size),
				      piece(is->name + l->length, c->name_n),
				      piece(is->file + l->length, c->file_n),
				      piece(is->table + l->size, TABLE_HEAD + c->n),
				      piece(next ? next->at : 0, l->frame_size) };
	ssize_t want = (ssize_t)(l->code_size + c->name_n + c->file_n + TABLE_HEAD + c->n), got;
	unsigned long pieces = next && next->at ? 5 : 4;

	got = process_vm_readv(p->pid, to, pieces, from, pieces, 0);
	if (got < want)
		return false;
	if (pieces == 5)
		next->known = got == want + (ssize_t)l->frame_size;
	r->is = *is;
	take_head(p, r);
	return true;
}

/* From its length on, as much as python_text reads of a text; 0: it is none. */
static size_t text_size(const struct python *p, uint64_t at)
{
	const struct python_layout *l = p->layout;
	uint8_t head[HEAD_MAX];
	uint64_t length;
	uint32_t state;
	size_t n, size;

	if (!memory_read(p->pid, at, head, l->state + sizeof state))
		return 0;
	length = python_word(head, l->length);
	memcpy(&state, head + l->state, sizeof state);
	n = length < PYTHON_TEXT ? (size_t)length : PYTHON_TEXT;
	size = (unsigned)(state >> 6 & 1 ? l->ascii : l->compact) - (unsigned)l->length +
	       n * (state >> 2 & 7);
	return size <= TEXT_MOST ? size : 0;
}

static bool is_same_text(const uint8_t *a, const uint8_t *b, size_t n)
{
	return !memcmp(a, b, HASH_AT) && !memcmp(a + HASH_END, b + HASH_END, n - HASH_END);
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->pid == b->pid && a->first_line == b->first_line && a->code == b->code &&
	       a->type == b->type && a->name == b->name && a->file == b->file &&
	       a->table == b->table;
}

static bool is_as_it_was(const struct python *p, const struct code *c, struct python_next *next)
{
	struct reading r;

	return read_at_once(p, c, &r, next) && is_same(&r.is, &c->is) &&
	       is_same_text(r.name, c->name, c->name_n) &&
	       is_same_text(r.file, c->file, c->file_n) &&
	       is_same_text(r.lines, c->lines, TABLE_HEAD + c->n);
}

static bool learn(const struct python *p, uint64_t code, struct code *c)
{
	const struct python_layout *l = p->layout;
	struct reading r = { .is = { .pid = p->pid, .code = code } };
	uint64_t n;

	free(c->lines);
	*c = (struct code){ .is = r.is };
	if (!python_is_code(p, code) || !memory_read(p->pid, code, r.head, l->code_size))
		return false;
	take_head(p, &r);
	c->is = r.is;
	c->name_n = text_size(p, c->is.name);
	c->file_n = text_size(p, c->is.file);
	if (!c->name_n || !c->file_n || !memory_read(p->pid, c->is.table + l->size, &n, sizeof n) ||
	    n > TABLE_MOST || !python_text(p, c->is.name, c->function) ||
	    !python_text(p, c->is.file, c->path))
		return false;
	c->n = (size_t)n;
	if (!read_at_once(p, c, &r, NULL) || !is_same(&r.is, &c->is))
		return false;
	memcpy(c->name, r.name, c->name_n);
	memcpy(c->file, r.file, c->file_n);
	c->lines = malloc(TABLE_HEAD + c->n);
	if (c->lines)
		memcpy(c->lines, r.lines, TABLE_HEAD + c->n);
	return c->lines != NULL;
}

bool python_code_read(const struct python *p, uint64_t code, int64_t instruction,
		      struct python_frame *f, struct python_next *next)
{
	uint64_t hash = (code ^ (uint64_t)p->pid << 40) * UINT64_C(0x9e3779b97f4a7c15);
	struct code *c = &p->codes->row[(hash >> 32) % CODES];

	if ((!c->lines || c->is.pid != p->pid || c->is.code != code || !is_as_it_was(p, c, next)) &&
	    !learn(p, code, c))
		return false;
	memcpy(f->function, c->function, sizeof f->function);
	memcpy(f->file, c->path, sizeof f->file);
	f->line = python_line_at(p->layout, c->lines + TABLE_HEAD, c->n, c->is.first_line,
				 instruction);
	return true;
}
