/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/debug.h"

#include "base/array.h"
#include "base/bytes.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FUNCTIONS_MAX = 1 << 18, UNITS_MAX = 1 << 16, NESTED_MAX = 16 };

/* ---- the functions of a unit ---- */

/* A sibling further behind: others are a circle. */
static bool next_of(Dwarf_Die *die)
{
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) || dwarf_dieoffset(&next) <= dwarf_dieoffset(die))
		return false;
	*die = next;
	return true;
}

/* Room for one more of n; *array may move. */
static bool grow(void **array, uint32_t n, uint32_t *cap, uint32_t most, size_t size)
{
	uint32_t wanted = *cap ? 2 * *cap : 256;
	void *grown;

	if (n < *cap)
		return true;
	grown = n < most ? reallocarray(*array, wanted, size) : NULL;
	if (!grown)
		return false;
	*array = grown;
	*cap = wanted;
	return true;
}

static void add_function(struct scopes *s, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		void *all = s->function;

		if (high <= low)
			continue;
		if (!grow(&all, s->n, &s->cap, FUNCTIONS_MAX, sizeof *s->function))
			return;
		s->function = all;
		s->function[s->n++] = (struct scope){ low, high, dwarf_dieoffset(die) };
	}
}

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_interface_type || tag == DW_TAG_enumeration_type;
}

static void add_functions(struct scopes *s, Dwarf_Die *above)
{
	Dwarf_Die path[NESTED_MAX];
	int depth = 0;

	if (dwarf_child(above, &path[0]))
		return;
	while (depth >= 0) {
		int tag = dwarf_tag(&path[depth]);

		if (tag == DW_TAG_subprogram)
			add_function(s, &path[depth]);
		if (holds_functions(tag) && depth + 1 < NESTED_MAX &&
		    !dwarf_child(&path[depth], &path[depth + 1])) {
			depth++;
			continue;
		}
		while (depth >= 0 && !next_of(&path[depth]))
			depth--;
	}
}

static int by_low(const void *a, const void *b)
{
	const struct scope *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static const struct scopes_unit *read_unit(struct scopes *s, Dwarf_Die *unit)
{
	struct scopes_unit *u;
	void *all;

	if (s->n >= FUNCTIONS_MAX || s->nunits >= UNITS_MAX)
		s->n = s->nunits = 0; /* from the beginning */
	all = s->unit;
	if (!grow(&all, s->nunits, &s->units_cap, UNITS_MAX, sizeof *s->unit))
		return NULL;
	s->unit = all;
	u = &s->unit[s->nunits++];
	*u = (struct scopes_unit){ .die = dwarf_dieoffset(unit), .first = s->n };
	add_functions(s, unit);
	u->n = s->n - u->first;
	if (u->n)
		qsort(s->function + u->first, u->n, sizeof *s->function, by_low);
	return u;
}

static const struct scopes_unit *scopes_unit_of(struct scopes *s, Dwarf_Die *unit)
{
	Dwarf_Off die = dwarf_dieoffset(unit);

	for (uint32_t i = s->nunits; i-- > 0;)
		if (s->unit[i].die == die)
			return &s->unit[i];
	return read_unit(s, unit);
}

static bool function_at(struct scopes *s, Dwarf_Die *unit, uint64_t address, Dwarf_Off *die)
{
	const struct scopes_unit *u = scopes_unit_of(s, unit);
	uint32_t low = 0, high = u ? u->n : 0;
	const struct scope *f;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (s->function[u->first + mid].low <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	f = &s->function[u->first + low - 1];
	*die = f->die;
	return address < f->high;
}

/* ---- what is inlined in it ---- */

static bool is_within(Dwarf_Die *die, uint64_t address)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
		tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
	       dwarf_haspc(die, address) > 0;
}

/* The child that has the address, in die's place. */
static bool enter(Dwarf_Die *die, uint64_t address)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return false;
	do {
		if (is_within(&child, address)) {
			*die = child;
			return true;
		}
	} while (next_of(&child));
	return false;
}

unsigned scopes_at(struct scopes *s, Dwarf *dwarf, Dwarf_Die *unit, uint64_t address,
		   Dwarf_Die *out, unsigned room)
{
	unsigned n = 1;
	Dwarf_Die die;
	Dwarf_Off at;

	if (!room || !function_at(s, unit, address, &at) || !dwarf_offdie(dwarf, at, &die))
		return 0;
	out[0] = die;
	while (enter(&die, address)) {
		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		n -= n == room;
		memmove(out + 1, out, n * sizeof *out);
		out[0] = die;
		n++;
	}
	return n;
}

void scopes_free(struct scopes *s)
{
	free(s->function);
	free(s->unit);
	*s = (struct scopes){ 0 };
}

/* ---- the separate file ---- */

static Elf *elf_of(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);

	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	return NULL;
}

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool has_build_id(Elf *elf, const char *build_id)
{
	const void *bytes;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);

	if (n <= 0 || (size_t)n * 2 != strlen(build_id))
		return false;
	for (ssize_t i = 0; i < n; i++) {
		char byte[3];

		snprintf(byte, sizeof byte, "%02x", ((const uint8_t *)bytes)[i]);
		if (memcmp(byte, build_id + 2 * i, 2) != 0)
			return false;
	}
	return true;
}

/* That of zlib, which .gnu_debuglink has. */
static bool checksum_is(int fd, uint32_t wanted)
{
	uint32_t table[256], crc = UINT32_MAX;
	uint8_t buf[16384];
	ssize_t n;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320U : 0);
	}
	while ((n = read(fd, buf, sizeof buf)) > 0)
		for (ssize_t i = 0; i < n; i++)
			crc = crc >> 8 ^ table[(crc ^ buf[i]) & 0xff];
	return n == 0 && ~crc == wanted;
}

/* wanted: the checksum of .gnu_debuglink; NULL: its build-id tells. */
static bool try_debug(struct debugfile *d, const struct module *m, const char *path,
		      const uint32_t *wanted)
{
	int fd = open_regular(path);
	Elf *elf = fd >= 0 && (!wanted || checksum_is(fd, *wanted)) ? elf_of(fd) : NULL;

	if (elf && (wanted || has_build_id(elf, m->build_id))) {
		*d = (struct debugfile){ elf, fd };
		return true;
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return false;
}

void debugfile_find(struct debugfile *d, const struct module *m, Elf *elf)
{
	const char *id = m->build_id, *name = m->path, *slash;
	char path[PATH_MAX];
	GElf_Word crc;
	const char *link;
	int directory;

	if (strlen(id) > 4) {
		snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
		if (try_debug(d, m, path, NULL))
			return;
	}
	link = dwelf_elf_gnu_debuglink(elf, &crc);
	slash = name ? strrchr(name, '/') : NULL;
	if (!link || !slash || strchr(link, '/'))
		return;
	directory = (int)(slash - name);
	snprintf(path, sizeof path, "%.*s/%s", directory, name, link);
	if (strcmp(path, name) != 0 && try_debug(d, m, path, &crc))
		return;
	snprintf(path, sizeof path, "%.*s/.debug/%s", directory, name, link);
	if (try_debug(d, m, path, &crc))
		return;
	snprintf(path, sizeof path, "/usr/lib/debug%.*s/%s", directory, name, link);
	try_debug(d, m, path, &crc);
}

bool debugfile_has_info(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")) &&
		    sh.sh_type != SHT_NOBITS)
			return true;
	}
	return false;
}

int64_t debugfile_inflated_bytes(Elf *elf)
{
	Elf_Scn *scn = NULL;
	int64_t n = 0;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		GElf_Chdr ch;

		if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_COMPRESSED &&
		    gelf_getchdr(scn, &ch))
			n += ch.ch_size < INT32_MAX ? (int64_t)ch.ch_size : INT32_MAX;
	}
	return n;
}

void debugfile_close(struct debugfile *d)
{
	elf_end(d->elf);
	if (d->fd >= 0)
		close(d->fd);
	*d = (struct debugfile){ NULL, -1 };
}

/* ---- lines ---- */

/* Rows after which the handle is closed: a new one costs as much as a few hundred. */
enum { ROWS_AT_ONCE = 8000 };

/* From an address of the unit on. */
struct row {
	uint32_t at;   /* from the unit's first one */
	uint32_t line; /* 0: none */
	uint32_t file;
};

struct lines_unit {
	Dwarf_Off die;
	uint64_t first;
	struct row *row;
	uint32_t n, nfiles;
	uint32_t *file; /* where each is in texts, + 1; 0: it has no name */
	struct bytes texts;
};

static void unit_free(struct lines_unit *u)
{
	free(u->row);
	free(u->file);
	bytes_free(&u->texts);
}

void lines_close(struct lines *l)
{
	dwarf_end(l->dwarf);
	l->dwarf = NULL;
	l->rows = 0;
}

void lines_free(struct lines *l)
{
	lines_close(l);
	for (uint32_t i = 0; i < l->n; i++)
		unit_free(&l->unit[i]);
	free(l->unit);
	*l = (struct lines){ 0 };
}

/* ---- one unit ---- */

static void files_read(struct lines_unit *u, Dwarf_Files *files, size_t n)
{
	uint8_t *exact;

	u->file = n < UINT32_MAX ? calloc(n + 1, sizeof *u->file) : NULL;
	for (size_t i = 0; u->file && i < n; i++) {
		const char *name = dwarf_filesrc(files, i, NULL, NULL);
		size_t at = u->texts.len;

		if (!name || !*name || at >= UINT32_MAX)
			continue;
		bytes_put(&u->texts, name, strlen(name) + 1);
		u->file[i] = u->texts.failed ? 0 : (uint32_t)at + 1;
	}
	u->nfiles = u->file ? (uint32_t)n : 0;
	exact = u->texts.len ? realloc(u->texts.data, u->texts.len) : NULL;
	if (exact) {
		u->texts.data = exact;
		u->texts.cap = u->texts.len;
	}
}

/* What libdw says of a row, which is one that ends a sequence where it has no line. */
static bool row_read(const struct lines_unit *u, Dwarf_Line *line, struct row *out)
{
	Dwarf_Files *files;
	Dwarf_Addr at;
	size_t file;
	bool end;
	int number;

	*out = (struct row){ 0 };
	if (!line || dwarf_lineaddr(line, &at) || at < u->first || at - u->first > UINT32_MAX)
		return false;
	out->at = (uint32_t)(at - u->first);
	if (dwarf_lineendsequence(line, &end) || end)
		return true;
	if (!dwarf_lineno(line, &number) && number > 0)
		out->line = (uint32_t)number;
	if (!dwarf_line_file(line, &files, &file) && file < u->nfiles)
		out->file = u->file[file];
	return true;
}

/* Rows are in the order of their addresses. Of several at one address the last counts, and what
 * says the same as the one before says nothing. */
static void rows_read(struct lines_unit *u, Dwarf_Lines *lines, size_t n)
{
	struct row x, *moved;
	uint32_t cap = 0;

	if (!n || dwarf_lineaddr(dwarf_onesrcline(lines, 0), &u->first))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct row *before = u->n ? &u->row[u->n - 1] : NULL;

		if (!row_read(u, dwarf_onesrcline(lines, i), &x))
			continue;
		if (before && before->at == x.at)
			u->n--;
		before = u->n ? &u->row[u->n - 1] : NULL;
		if (before && before->line == x.line && before->file == x.file)
			continue;
		moved = array_room(u->row, u->n, &cap, sizeof *moved);
		if (!moved)
			return;
		u->row = moved;
		u->row[u->n++] = x;
	}
	moved = u->n ? reallocarray(u->row, u->n, sizeof *moved) : NULL;
	u->row = moved ? moved : u->row;
}

static void unit_read(struct lines *l, struct lines_unit *u, Elf *elf)
{
	Dwarf_Files *files;
	Dwarf_Lines *lines;
	Dwarf_Die die;
	size_t n;

	if (!l->dwarf)
		l->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!l->dwarf || !dwarf_offdie(l->dwarf, u->die, &die))
		return;
	if (!dwarf_getsrcfiles(&die, &files, &n))
		files_read(u, files, n);
	if (!dwarf_getsrclines(&die, &lines, &n)) {
		rows_read(u, lines, n);
		l->rows += n;
	}
	if (l->rows > ROWS_AT_ONCE)
		lines_close(l);
}

/* ---- all of them ---- */

static const struct lines_unit *lines_unit_of(struct lines *l, Elf *elf, Dwarf_Off die)
{
	struct lines_unit *u;

	for (uint32_t i = l->n; i-- > 0;)
		if (l->unit[i].die == die)
			return &l->unit[i];
	if (l->n == LINES_UNITS_MAX)
		lines_free(l);
	u = array_room(l->unit, l->n, &l->cap, sizeof *u);
	if (!u)
		return NULL;
	l->unit = u;
	u = &l->unit[l->n++];
	*u = (struct lines_unit){ .die = die };
	unit_read(l, u, elf);
	l->bytes += (int64_t)(sizeof *u + u->n * sizeof *u->row + u->nfiles * sizeof *u->file +
			      u->texts.cap);
	return u;
}

static const char *text_of(const struct lines_unit *u, uint32_t file)
{
	return file ? (const char *)u->texts.data + file - 1 : NULL;
}

const char *lines_at(struct lines *l, Elf *elf, Dwarf_Off unit, uint64_t address, uint32_t *line)
{
	const struct lines_unit *u = lines_unit_of(l, elf, unit);
	uint32_t low = 0, high = u ? u->n : 0;

	*line = 0;
	if (!u || address < u->first)
		return NULL;
	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (u->row[mid].at <= address - u->first)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	*line = u->row[low - 1].line;
	return text_of(u, u->row[low - 1].file);
}

const char *lines_file(struct lines *l, Elf *elf, Dwarf_Off unit, uint32_t number)
{
	const struct lines_unit *u = lines_unit_of(l, elf, unit);

	return u && number < u->nfiles ? text_of(u, u->file[number]) : NULL;
}
