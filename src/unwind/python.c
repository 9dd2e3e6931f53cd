/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/python_code.h"

#include "base/array.h"
#include "waits/memory.h"

#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SEARCHED_MAX = 20000, /* frames: 10 us each */
	TABLE_MAX = 1 << 16,
	CHARACTERS_MAX = 4 * PYTHON_TEXT,
	OWNED_BY_C = 3, /* a frame that only stands for a call from C, 3.12 and later */
	UNIT = 2,       /* bytes of an instruction */
};

static const struct python_layout layouts[] = {
	{ .version = 0x30b,
	  .interpreters = 40,
	  .threads = 16,
	  .next = 8,
	  .native_id = 160,
	  .frame = 56,
	  .cframe_frame = 8,
	  .by_cframe = true,
	  .code = 32,
	  .instruction = 56,
	  .previous = 48,
	  .owner = 69,
	  .entry = 68,
	  .gil = 360,
	  .gil_holder = 8,
	  .gil_locked = 16,
	  .gil_size = 208,
	  .name = 128,
	  .file = 112,
	  .first_line = 72,
	  .lines = 136,
	  .bytecode = 184,
	  .bytes = 32,
	  .size = 16,
	  .ascii = 48,
	  .compact = 72,
	  .length = 16,
	  .state = 32,
	  .locals = 72,
	  .nlocals = 76,
	  .exceptions = 40 },
	{ .version = 0x30c,
	  .interpreters = 40,
	  .threads = 72,
	  .next = 8,
	  .native_id = 144,
	  .frame = 56,
	  .cframe_frame = 0,
	  .by_cframe = true,
	  .code = 0,
	  .instruction = 56,
	  .previous = 8,
	  .owner = 70,
	  .gil_pointer = 384,
	  .gil_holder = 8,
	  .gil_locked = 16,
	  .gil_size = 208,
	  .name = 128,
	  .file = 112,
	  .first_line = 68,
	  .lines = 136,
	  .bytecode = 192,
	  .bytes = 32,
	  .size = 16,
	  .ascii = 40,
	  .compact = 56,
	  .length = 16,
	  .state = 32,
	  .locals = 72,
	  .nlocals = 72,
	  .exceptions = 40 },
	{ .version = 0x30d,
	  .interpreters = 632,
	  .threads = 7344,
	  .next = 8,
	  .native_id = 160,
	  .frame = 72,
	  .code = 0,
	  .instruction = 56,
	  .previous = 8,
	  .owner = 70,
	  .gil_pointer = 16,
	  .gil_holder = 8,
	  .gil_locked = 16,
	  .gil_size = 208,
	  .name = 128,
	  .file = 112,
	  .first_line = 68,
	  .lines = 136,
	  .bytecode = 200,
	  .bytes = 32,
	  .size = 16,
	  .ascii = 40,
	  .compact = 56,
	  .length = 16,
	  .state = 32,
	  .locals = 72,
	  .nlocals = 72,
	  .exceptions = 40 },
};

/* ---- finding it ---- */

/* Of a symbol of data; 0: there is none. */
static uint64_t symbol_in(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, const char *name)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;

	for (size_t i = 1; i < n && i < INT_MAX; i++) {
		GElf_Sym sym;
		const char *called;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(sym.st_info) != STT_OBJECT)
			continue;
		called = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (called && !strcmp(called, name))
			return sym.st_value;
	}
	return 0;
}

static uint64_t symbol_of(const struct module *m, const char *name)
{
	Elf_Scn *scn = NULL;
	uint64_t found = 0;

	while (!found && (scn = elf_nextscn(m->elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_DYNSYM)
			found = symbol_in(m->elf, scn, &sh, name);
	}
	return found;
}

bool python_is_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : "";

	return !strncmp(name, "python", 6) || !strncmp(name, "libpython", 9);
}

bool python_is_loop(const char *function)
{
	static const char loop[] = "_PyEval_EvalFrameDefault";

	return function && !strncmp(function, loop, sizeof loop - 1);
}

struct place python_place(const struct python_frame *f)
{
	return (struct place){ .module = MODULE_PYTHON,
			       .address = f->line,
			       .function = f->function,
			       .file = f->file,
			       .line = f->line };
}

static uint64_t word(const struct python *p, uint64_t at)
{
	uint64_t v;

	return at && memory_read(p->pid, at, &v, sizeof v) ? v : 0;
}

static void use(struct python *p, const struct module *m, const struct mapping *map)
{
	uint64_t runtime = symbol_of(m, "_PyRuntime"), version = symbol_of(m, "Py_Version"), here;
	uint64_t number;

	if (!runtime || !version || !module_address(m, map->offset, &here))
		return;
	number = word(p, version + map->start - here) >> 16;
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (layouts[i].version == number)
			p->layout = &layouts[i];
	p->runtime = runtime + map->start - here;
}

static void list_threads(struct python *p)
{
	const struct python_layout *l = p->layout;
	uint64_t at;

	p->interpreter = word(p, p->runtime + l->interpreters);
	at = word(p, p->interpreter + l->threads);
	p->nthreads = 0;
	for (uint64_t id; at && p->nthreads < PYTHON_THREADS; at = word(p, at + l->next)) {
		struct python_thread *grown =
			array_room(p->thread, p->nthreads, &p->threads_cap, sizeof *grown);

		if (!grown)
			return;
		p->thread = grown;
		id = word(p, at + l->native_id);
		p->thread[p->nthreads++] =
			(struct python_thread){ at, id <= INT_MAX ? (pid_t)id : 0 };
	}
}

bool python_find(struct python *p, const struct modules *modules, const struct space *space)
{
	if (p->pid == space->pid && (p->layout || p->learnt_ns == space->learnt_ns))
		return p->layout != NULL;
	*p = (struct python){ .pid = space->pid,
			      .left = SEARCHED_MAX,
			      .learnt_ns = space->learnt_ns,
			      .codes = p->codes,
			      .thread = p->thread,
			      .threads_cap = p->threads_cap };
	for (uint32_t i = 0; i < space->n && !p->layout; i++) {
		const struct module *m = &modules->row[space->map[i].module];

		if (space->map[i].module >= MODULE_FIRST && m->usable && python_is_of(m->path))
			use(p, m, &space->map[i]);
	}
	if (p->layout)
		list_threads(p);
	return p->layout != NULL;
}

void python_free(struct python *p)
{
	if (p)
		free(p->thread);
	free(p);
}

struct python *python_of(const struct modules *modules, struct space *x, struct python_codes *codes)
{
	bool any = x->python != NULL;

	if (!any && x->searched == x->n)
		return NULL;
	for (uint32_t i = 0; i < x->n && !any; i++)
		any = x->map[i].module >= MODULE_FIRST &&
		      python_is_of(modules->row[x->map[i].module].path);
	x->searched = any ? 0 : x->n;
	if (any && !x->python)
		x->python = calloc(1, sizeof *x->python);
	if (!any || !x->python)
		return NULL;
	x->python->codes = codes;
	return python_find(x->python, modules, x) ? x->python : NULL;
}

/* ---- texts ---- */

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | (c >> 12 & 0x0f)); /* beyond the first plane it is not exact */
	out[1] = (char)(0x80 | (c >> 6 & 0x3f));
	out[2] = (char)(0x80 | (c & 0x3f));
	return 3;
}

/* Of a str object: bits of its state say how wide a character is, and whether all are ASCII. */
bool python_text(const struct python *p, uint64_t at, char out[PYTHON_TEXT])
{
	const struct python_layout *l = p->layout;
	uint64_t length = word(p, at + l->length);
	uint32_t state, kind, c;
	uint8_t raw[CHARACTERS_MAX];
	size_t n, len = 0;

	out[0] = '\0';
	if (!memory_read(p->pid, at + l->state, &state, sizeof state))
		return false;
	kind = state >> 2 & 7;
	if ((kind != 1 && kind != 2 && kind != 4) || !(state >> 5 & 1))
		return false;
	n = length < PYTHON_TEXT / 4 * 3 ? (size_t)length : PYTHON_TEXT / 4 * 3;
	if (!n ||
	    !memory_read(p->pid, at + (state >> 6 & 1 ? l->ascii : l->compact), raw, n * kind))
		return n == 0;
	for (size_t i = 0; i < n && len + 4 < PYTHON_TEXT; i++) {
		c = 0;
		memcpy(&c, raw + i * kind, kind);
		len += put_utf8(out + len, c ? c : '?');
	}
	out[len] = '\0';
	return true;
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

static uint32_t line_of(const struct python *p, uint64_t code, uint64_t instruction)
{
	const struct python_layout *l = p->layout;
	uint64_t table = word(p, code + l->lines), n = word(p, table + l->size);
	uint64_t start = code + l->bytecode;
	uint8_t bytes[TABLE_MAX];
	uint32_t first;

	if (!table || !n || n > sizeof bytes || instruction < start ||
	    !memory_read(p->pid, table + l->bytes, bytes, (size_t)n) ||
	    !memory_read(p->pid, code + l->first_line, &first, sizeof first))
		return 0;
	return python_line(bytes, (size_t)n, first, instruction - start);
}

/* ---- frames ---- */

static uint64_t innermost_of(const struct python *p, uint64_t thread)
{
	uint64_t at = word(p, thread + p->layout->frame);

	return p->layout->by_cframe ? word(p, at + p->layout->cframe_frame) : at;
}

/* One that has ended since has left its place, or the list. */
static bool is_there(const struct python *p, uint64_t at, pid_t tid)
{
	enum { PREVIOUS = 0 };
	const struct python_layout *l = p->layout;
	uint64_t before = word(p, at + PREVIOUS);

	return word(p, at + l->native_id) == (uint64_t)tid &&
	       word(p, before ? before + l->next : p->interpreter + l->threads) == at;
}

static uint64_t thread_of(const struct python *p, pid_t tid)
{
	for (uint32_t i = 0; i < p->nthreads; i++)
		if (p->thread[i].tid == tid && is_there(p, p->thread[i].at, tid))
			return p->thread[i].at;
	return 0;
}

static uint8_t byte_at(const struct python *p, uint64_t at)
{
	uint8_t v;

	return memory_read(p->pid, at, &v, sizeof v) ? v : 0xff;
}

static bool read_frame(const struct python *p, const uint8_t *raw, struct python_frame *f,
		       struct python_next *next)
{
	const struct python_layout *l = p->layout;
	uint64_t code = python_word(raw, l->code), at = python_word(raw, l->instruction);

	*f = (struct python_frame){ .line = 0 };
	if (!code)
		return false;
	if (!p->codes || !python_code_read(p, code, at, f, next)) {
		if (!python_text(p, word(p, code + l->name), f->function) ||
		    !python_text(p, word(p, code + l->file), f->file))
			return false;
		f->line = line_of(p, code, at);
	}
	f->entry = l->entry && raw[l->entry] == 1;
	return f->function[0] != '\0';
}

bool python_read(const struct python *p, pid_t tid, struct python_stack *out)
{
	const struct python_layout *l = p->layout;
	uint64_t thread = thread_of(p, tid);
	struct python_next next = { 0 };
	uint8_t raw[PYTHON_FRAME_BYTES];

	out->n = 0;
	out->torn = !thread;
	if (!thread)
		return false;
	next.at = innermost_of(p, thread);
	for (uint32_t turn = 0; next.at && out->n < PYTHON_FRAMES && turn < 2 * PYTHON_FRAMES;
	     turn++) {
		out->torn = !next.known && !memory_read(p->pid, next.at, next.raw, l->locals);
		if (out->torn)
			break;
		memcpy(raw, next.raw, sizeof raw);
		next.at = python_word(raw, l->previous);
		next.known = false;
		if (!l->entry && raw[l->owner] == OWNED_BY_C) {
			if (out->n)
				out->frame[out->n - 1].entry = true;
		} else if (!read_frame(p, raw, &out->frame[out->n], &next)) {
			out->torn = true;
			break;
		} else {
			out->n++;
		}
	}
	return out->n > 0;
}

bool python_read_new(struct python *p, pid_t tid, struct python_stack *out)
{
	if (python_read(p, tid, out) || out->n || thread_of(p, tid))
		return out->n > 0;
	list_threads(p);
	return python_read(p, tid, out);
}

/* ---- the lock ---- */

static uint64_t gil_of(const struct python *p)
{
	const struct python_layout *l = p->layout;

	return l->gil ? p->runtime + l->gil : word(p, p->interpreter + l->gil_pointer);
}

bool python_is_gil(const struct python *p, uint64_t address)
{
	uint64_t gil = gil_of(p);

	return gil && address >= gil && address - gil < p->layout->gil_size;
}

pid_t python_gil_holder(const struct python *p)
{
	const struct python_layout *l = p->layout;
	uint64_t gil = gil_of(p), holder = word(p, gil + l->gil_holder), id;
	int32_t locked;

	if (!holder || !memory_read(p->pid, gil + l->gil_locked, &locked, sizeof locked) ||
	    locked != 1)
		return 0;
	id = word(p, holder + l->native_id);
	return id <= INT_MAX ? (pid_t)id : 0;
}

/* ---- locks in with statements ---- */

/* Who waits in the queue of a lock of CPython 3.13.5 has its address before its semaphore
 * (Python/parking_lot.c). */
enum { METHOD = 16, SELF = 24, LOCK = 16, PARKED_BEFORE = 8, DEPTH_MOST = 64 };

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

static uint64_t depth_of(const struct python *p, uint64_t code, uint64_t instruction)
{
	const struct python_layout *l = p->layout;
	uint64_t table = word(p, code + l->exceptions), n = word(p, table + l->size);
	uint64_t start = code + l->bytecode;
	uint8_t bytes[TABLE_MAX];

	if (!table || !n || n > sizeof bytes || instruction < start ||
	    !memory_read(p->pid, table + l->bytes, bytes, (size_t)n))
		return 0;
	return python_depth(bytes, (size_t)n, (instruction - start) / UNIT);
}

/* Is it the method __exit__ of the lock, which a with statement keeps for its end? The lock points
 * to the semaphore that is waited for, or is what the waiter's queue has noted. */
static bool is_exit(const struct python *p, uint64_t method)
{
	uint64_t at = method ? word(p, method + SELF) + LOCK : 0;
	char name[sizeof "__exit__"];

	return at && (at == p->parked || word(p, at) == p->lock) &&
	       memory_read(p->pid, word(p, word(p, method + METHOD)), name, sizeof name) &&
	       !memcmp(name, "__exit__", sizeof name);
}

static bool frame_has(const struct python *p, uint64_t at)
{
	const struct python_layout *l = p->layout;
	uint64_t code = word(p, at + l->code), depth;
	int32_t locals;

	if (!code || !memory_read(p->pid, code + l->nlocals, &locals, sizeof locals) ||
	    locals < 0 || locals > TABLE_MAX)
		return false;
	depth = depth_of(p, code, word(p, at + l->instruction));
	for (uint64_t i = 0; i < depth; i++)
		if (is_exit(p, word(p, at + l->locals + 8 * ((uint64_t)locals + i))))
			return true;
	return false;
}

static bool thread_has(struct python *p, uint64_t thread)
{
	const struct python_layout *l = p->layout;
	uint64_t at = innermost_of(p, thread);

	for (int turn = 0; at && turn < 2 * PYTHON_FRAMES && p->left; turn++, p->left--) {
		if ((l->entry || byte_at(p, at + l->owner) != OWNED_BY_C) && frame_has(p, at))
			return true;
		at = word(p, at + l->previous);
	}
	return false;
}

pid_t python_lock_holder(struct python *p, uint64_t address)
{
	if (address == p->lock)
		return p->lock_holder;
	p->lock = address;
	p->parked = word(p, address - PARKED_BEFORE);
	p->lock_holder = 0;
	for (uint32_t i = 0; i < p->nthreads && !p->lock_holder; i++)
		if (thread_has(p, p->thread[i].at))
			p->lock_holder = p->thread[i].tid;
	return p->lock_holder;
}
