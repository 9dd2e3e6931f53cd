/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/python_code.h"

#include "base/array.h"
#include "base/process.h"

#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum {
	SEARCHED_MAX = 20000, /* frames: 10 us each */
	TABLE_MAX = 1 << 16,
	UNIT = 2, /* bytes of an instruction */
	CHARACTERS_MAX = 4 * PYTHON_TEXT,
	OWNED_BY_C = 3, /* a frame that only stands for a call from C, 3.12 and later */
};

/* ---- finding it ---- */

/* Of a symbol; 0: there is none. */
static uint64_t symbol_in(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, const char *name)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;

	for (size_t i = 1; i < n && i < INT_MAX; i++) {
		GElf_Sym sym;
		const char *called;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
		    (GELF_ST_TYPE(sym.st_info) != STT_OBJECT &&
		     GELF_ST_TYPE(sym.st_info) != STT_FUNC))
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

/* 0: it cannot be read, or is 0. */
static uint64_t python_word_at(const struct python *p, uint64_t at)
{
	uint64_t v;

	return at && memory_read(p->pid, at, &v, sizeof v) ? v : 0;
}

/* By PY_VERSION_HEX. Before 3.11 no symbol has it, but each version has a function that the one
 * before did not have. */
static uint64_t version_of(const struct python *p, const struct module *m, uint64_t bias)
{
	static const struct {
		const char *has;
		uint64_t version;
	} older[] = { { "Py_Is", 0x030a0000 },
		      { "PyFrame_GetCode", 0x03090000 },
		      { "PyCode_NewWithPosOnlyArgs", 0x03080000 } };
	uint64_t at = symbol_of(m, "Py_Version");

	if (at)
		return python_word_at(p, at + bias) & UINT32_MAX;
	for (size_t i = 0; i < sizeof older / sizeof older[0]; i++)
		if (symbol_of(m, older[i].has))
			return older[i].version;
	return 0;
}

static void use(struct python *p, const struct module *m, const struct mapping *map)
{
	uint64_t runtime = symbol_of(m, "_PyRuntime"), here;
	uint8_t raw[PYTHON_DESCRIBED];

	if (!runtime || !module_address(m, map->offset, &here))
		return;
	p->layout = python_layout_of(version_of(p, m, map->start - here));
	p->runtime = runtime + map->start - here;
	if (!p->layout || !memory_read(p->pid, p->runtime, raw, sizeof raw))
		return;
	p->own = *p->layout;
	if (python_layout_described(&p->own, raw))
		p->layout = &p->own;
}

/* Before 3.11 a thread has only what pthread_self() returns, and there glibc has the number. */
static pid_t python_tid(const struct python *p, uint64_t thread)
{
#ifdef __aarch64__
	enum { NUMBER = 208 };
#else
	enum { NUMBER = 720 };
#endif
	const struct python_layout *l = p->layout;
	uint64_t id;

	if (l->native_id) {
		id = python_word_at(p, thread + l->native_id);
	} else {
		id = python_word_at(p, thread + l->pthread);
		id = id ? python_word_at(p, id + NUMBER) & UINT32_MAX : 0;
	}
	return id <= INT_MAX ? (pid_t)id : 0;
}

static void list_threads(struct python *p)
{
	const struct python_layout *l = p->layout;
	uint64_t at;

	p->interpreter = python_word_at(p, p->runtime + l->interpreters);
	at = python_word_at(p, p->interpreter + l->threads);
	p->nthreads = 0;
	for (; at && p->nthreads < PYTHON_THREADS; at = python_word_at(p, at + l->next)) {
		struct python_thread *grown =
			array_room(p->thread, p->nthreads, &p->threads_cap, sizeof *grown);

		if (!grown || python_word_at(p, at + l->interpreter) != p->interpreter)
			return;
		p->thread = grown;
		p->thread[p->nthreads++] = (struct python_thread){ at, python_tid(p, at) };
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
	uint64_t length = python_word_at(p, at + l->length);
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

static uint32_t line_of(const struct python *p, uint64_t code, int64_t instruction)
{
	const struct python_layout *l = p->layout;
	uint64_t table = python_word_at(p, code + l->lines), n = python_word_at(p, table + l->size);
	static uint8_t bytes[TABLE_MAX]; /* a job may have a small stack, and so has the helper */
	uint32_t first;

	if (!table || n > sizeof bytes ||
	    (n && !memory_read(p->pid, table + l->bytes, bytes, (size_t)n)) ||
	    !memory_read(p->pid, code + l->first_line, &first, sizeof first))
		return 0;
	return python_line_at(l, bytes, (size_t)n, first, instruction);
}

/* ---- frames ---- */

/* Its innermost frame. */
static uint64_t python_innermost(const struct python *p, uint64_t thread)
{
	uint64_t at = python_word_at(p, thread + p->layout->frame);

	return p->layout->by_cframe ? python_word_at(p, at + p->layout->cframe_frame) : at;
}

static size_t head_size(const struct python_layout *l)
{
	const uint16_t at[] = { l->next, l->native_id, l->pthread, l->frame };
	size_t most = 0;

	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
		most = at[i] > most ? at[i] : most;
	return most + sizeof(uint64_t);
}

/* In two readings: is the thread there still, and its innermost frame. One that has ended since has
 * left its place, or the list. */
static bool thread_read(const struct python *p, uint64_t at, pid_t tid, uint64_t *frame)
{
	enum { PREVIOUS = 0, HEAD_MAX = 512 };
	const struct python_layout *l = p->layout;
	uint8_t head[HEAD_MAX];
	uint64_t before, here, behind[2] = { 0 };
	size_t n = head_size(l), pieces = l->by_cframe ? 2 : 1;

	if (n > sizeof head || !memory_read(p->pid, at, head, n))
		return false;
	before = python_word(head, PREVIOUS);
	here = python_word(head, l->frame);
	*frame = here;
	if (l->native_id ? (uint32_t)tid != python_word(head, l->native_id)
			 : tid != python_tid(p, at))
		return false;
	{
		const struct iovec to = { behind, pieces * sizeof behind[0] };
		const uint64_t link = before ? before + l->next : p->interpreter + l->threads;
		const struct iovec from[] = {
			{ (void *)(uintptr_t)link, sizeof behind[0] },
			{ (void *)(uintptr_t)(here + l->cframe_frame), sizeof behind[1] },
		};
		ssize_t got = process_vm_readv(p->pid, &to, 1, from, pieces, 0);

		if (got < (ssize_t)sizeof behind[0] || behind[0] != at)
			return false;
	}
	if (l->by_cframe)
		*frame = here ? behind[1] : 0;
	return true;
}

/* frame: its innermost one; 0: it has none. */
static uint64_t thread_of(const struct python *p, pid_t tid, uint64_t *frame)
{
	for (uint32_t i = 0; i < p->nthreads; i++)
		if (p->thread[i].tid == tid && thread_read(p, p->thread[i].at, tid, frame))
			return p->thread[i].at;
	return 0;
}

static bool has_shims(const struct python_layout *l)
{
	return !l->each_enters && !l->entry;
}

/* A frame that only stands for a call from C. */
static bool python_is_shim(const struct python *p, uint64_t frame)
{
	uint8_t owner;

	return has_shims(p->layout) &&
	       memory_read(p->pid, frame + p->layout->owner, &owner, sizeof owner) &&
	       owner == OWNED_BY_C;
}

/* Does the object's type say so? */
bool python_is_code(const struct python *p, uint64_t object)
{
	const struct python_layout *l = p->layout;
	uint64_t type = python_word_at(p, object + l->type);
	char name[sizeof "code"];

	return type &&
	       memory_read(p->pid, python_word_at(p, type + l->type_name), name, sizeof name) &&
	       !memcmp(name, "code", sizeof name);
}

static bool read_frame(const struct python *p, const uint8_t *raw, struct python_frame *f,
		       struct python_next *next)
{
	const struct python_layout *l = p->layout;
	uint64_t code = python_word(raw, l->code);
	int64_t at = python_instruction(l, raw, code);

	*f = (struct python_frame){ .line = 0 };
	if (!code || (!p->codes && !python_is_code(p, code)))
		return false;
	if (!p->codes || !python_code_read(p, code, at, f, next)) {
		if (!python_text(p, python_word_at(p, code + l->name), f->function) ||
		    !python_text(p, python_word_at(p, code + l->file), f->file))
			return false;
		f->line = line_of(p, code, at);
	}
	f->entry = l->each_enters || (l->entry && raw[l->entry] == 1);
	return f->function[0] != '\0';
}

bool python_read(const struct python *p, pid_t tid, struct python_stack *out)
{
	const struct python_layout *l = p->layout;
	uint64_t frame = 0, thread = thread_of(p, tid, &frame);
	struct python_next next = { .at = frame };
	uint8_t raw[PYTHON_FRAME_BYTES];

	out->n = 0;
	out->torn = !thread;
	if (!thread)
		return false;
	for (uint32_t turn = 0; next.at && out->n < PYTHON_FRAMES && turn < 2 * PYTHON_FRAMES;
	     turn++) {
		out->torn = !next.known && !memory_read(p->pid, next.at, next.raw, l->frame_size);
		if (out->torn)
			break;
		memcpy(raw, next.raw, sizeof raw);
		next.at = python_word(raw, l->previous);
		next.known = false;
		if (has_shims(l) && raw[l->owner] == OWNED_BY_C) {
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
	uint64_t frame;

	if (python_read(p, tid, out) || out->n || thread_of(p, tid, &frame))
		return out->n > 0;
	list_threads(p);
	return python_read(p, tid, out);
}

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
