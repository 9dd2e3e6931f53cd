/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbols.h"

#include "source/program/stacks_page.h"
#include "unwind/scopes.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SYMBOLS_MAX = 2 << 20,
	UNITS_MAX = 1 << 20,
	TABLES_MAX = 4,
	/* Line tables stay in memory as long as the handle: then it is opened again. */
	UNITS_AT_ONCE = 64,
	INFLATED_BYTE_NS = 12, /* measured: to inflate it, and the page that it lies in */
};

struct symbol {
	uint64_t address;
	uint32_t size, name;
	bool sized;
	uint8_t table, rank; /* rank: which of several at one address is taken, the highest */
};

struct unit_range {
	uint64_t low, high;
	Dwarf_Off die;
};

struct symbols {
	const struct module *module;
	Elf *elf; /* the module's */
	Elf *debug_elf, *mini_elf;
	int debug_fd, mini_fd;
	Dwarf *dwarf;
	struct {
		Elf *elf;
		size_t strings;
	} table[TABLES_MAX];
	uint32_t ntables, nsymbols, cap;
	struct symbol *symbol;
	struct unit_range *unit; /* by low */
	uint32_t nunits, units_cap, used;
	bool units_read;
	Dwarf_Off last_unit;
	struct scopes scopes;
	int64_t lines_cost_ns;
};

/* ---- symbols ---- */

static bool is_code(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && sym->st_value &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC ||
		(type == STT_NOTYPE && GELF_ST_BIND(sym->st_info) != STB_LOCAL));
}

/* One without a size reaches to the end of its section at most. */
static uint64_t room_behind(Elf *elf, const GElf_Sym *sym)
{
	Elf_Scn *scn = elf_getscn(elf, sym->st_shndx);
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) || sym->st_value < sh.sh_addr ||
	    sym->st_value - sh.sh_addr >= sh.sh_size)
		return 0;
	return sh.sh_size - (sym->st_value - sh.sh_addr);
}

static void add_symbol(struct symbols *s, Elf *elf, const GElf_Sym *sym)
{
	uint64_t size = sym->st_size ? sym->st_size : room_behind(elf, sym);
	int bind = GELF_ST_BIND(sym->st_info);
	struct symbol *grown;

	if (s->nsymbols == SYMBOLS_MAX)
		return;
	if (s->nsymbols == s->cap) {
		uint32_t cap = s->cap ? 2 * s->cap : 1024;

		grown = reallocarray(s->symbol, cap, sizeof *grown);
		if (!grown)
			return;
		s->symbol = grown;
		s->cap = cap;
	}
	s->symbol[s->nsymbols++] = (struct symbol){
		.address = sym->st_value,
		.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
		.sized = sym->st_size != 0,
		.name = sym->st_name,
		.table = (uint8_t)s->ntables,
		.rank = (uint8_t)((sym->st_size ? 4 : 0) + (bind == STB_GLOBAL ? 2
							    : bind == STB_WEAK ? 1
									       : 0)),
	};
}

static void add_table(struct symbols *s, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;

	if (s->ntables == TABLES_MAX)
		return;
	s->table[s->ntables].elf = elf;
	s->table[s->ntables].strings = sh->sh_link;
	for (size_t i = 1; i < n && i < INT_MAX; i++) {
		GElf_Sym sym;

		if (gelf_getsym(data, (int)i, &sym) && is_code(&sym))
			add_symbol(s, elf, &sym);
	}
	s->ntables++;
}

static void add_tables(struct symbols *s, Elf *elf)
{
	Elf_Scn *scn = NULL;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
			add_table(s, elf, scn, &sh);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* The symbol whose bytes these are; one without a size reaches to the next. */
static const char *symbol_at(const struct symbols *s, uint64_t address)
{
	uint32_t low = 0, high = s->nsymbols;
	const struct symbol *x;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (s->symbol[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	/* Within a larger one there may lie labels: a few are looked at. */
	for (uint32_t i = low, looked = 0; i-- > 0 && looked < 16; looked++) {
		x = &s->symbol[i];
		if (address - x->address < x->size && (x->sized || i == low - 1))
			return elf_strptr(s->table[x->table].elf, s->table[x->table].strings,
					  x->name);
	}
	return NULL;
}

/* ---- files of debug information ---- */

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
	uint8_t buf[65536];
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
static bool try_debug(struct symbols *s, const char *path, const uint32_t *wanted)
{
	int fd = open_regular(path);
	Elf *elf = fd >= 0 && (!wanted || checksum_is(fd, *wanted)) ? elf_of(fd) : NULL;

	if (elf && (wanted || has_build_id(elf, s->module->build_id))) {
		s->debug_elf = elf;
		s->debug_fd = fd;
		return true;
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return false;
}

static void find_debug(struct symbols *s)
{
	const char *id = s->module->build_id, *name = s->module->path, *slash;
	char path[PATH_MAX];
	GElf_Word crc;
	const char *link;
	int directory;

	if (strlen(id) > 4) {
		snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
		if (try_debug(s, path, NULL))
			return;
	}
	link = dwelf_elf_gnu_debuglink(s->elf, &crc);
	slash = name ? strrchr(name, '/') : NULL;
	if (!link || !slash || strchr(link, '/'))
		return;
	directory = (int)(slash - name);
	snprintf(path, sizeof path, "%.*s/%s", directory, name, link);
	if (strcmp(path, name) != 0 && try_debug(s, path, &crc))
		return;
	snprintf(path, sizeof path, "%.*s/.debug/%s", directory, name, link);
	if (try_debug(s, path, &crc))
		return;
	snprintf(path, sizeof path, "/usr/lib/debug%.*s/%s", directory, name, link);
	try_debug(s, path, &crc);
}

/* Symbols that some distributions leave in a stripped file, compressed. */
static void find_mini(struct symbols *s)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(s->elf, &names))
		return;
	while ((scn = elf_nextscn(s->elf, scn))) {
		GElf_Shdr sh;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_strptr(s->elf, names, sh.sh_name);
		if (!name || strcmp(name, ".gnu_debugdata") != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		s->mini_fd = data && data->d_size ? memfd_create("sonde-symbols", MFD_CLOEXEC) : -1;
		if (s->mini_fd >= 0 &&
		    write(s->mini_fd, data->d_buf, data->d_size) == (ssize_t)data->d_size)
			s->mini_elf = dwelf_elf_begin(s->mini_fd);
		return;
	}
}

/* ---- units of debug information ---- */

static void add_unit(struct symbols *s, uint64_t low, uint64_t high, Dwarf_Off die)
{
	if (high <= low || s->nunits == UNITS_MAX)
		return;
	if (s->nunits == s->units_cap) {
		uint32_t cap = s->units_cap ? 2 * s->units_cap : 256;
		struct unit_range *grown = reallocarray(s->unit, cap, sizeof *grown);

		if (!grown)
			return;
		s->unit = grown;
		s->units_cap = cap;
	}
	s->unit[s->nunits++] = (struct unit_range){ low, high, die };
}

static int by_low(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static void read_units(struct symbols *s)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (!dwarf_get_units(s->dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		Dwarf_Addr base, low, high;
		ptrdiff_t at = 0;

		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		while ((at = dwarf_ranges(&die, at, &base, &low, &high)) > 0)
			add_unit(s, low, high, dwarf_dieoffset(&die));
	}
	if (s->nunits)
		qsort(s->unit, s->nunits, sizeof *s->unit, by_low);
}

static void dwarf_open(struct symbols *s)
{
	s->dwarf = dwarf_begin_elf(s->debug_elf ? s->debug_elf : s->elf, DWARF_C_READ, NULL);
	s->used = 0;
	s->last_unit = 0;
}

static bool has_debug_info(Elf *elf)
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

static int64_t inflated_bytes(Elf *elf)
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

int64_t symbols_lines_cost_ns(const struct symbols *s)
{
	return s->lines_cost_ns;
}

void symbols_open_lines(struct symbols *s)
{
	if (s->lines_cost_ns)
		dwarf_open(s);
	s->lines_cost_ns = 0;
}

struct symbols *symbols_open(const struct module *m, Elf *elf)
{
	struct symbols *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->module = m;
	s->debug_fd = s->mini_fd = -1;
	if (!m->usable)
		return s;
	s->elf = elf;
	if (!has_debug_info(s->elf))
		find_debug(s);
	add_tables(s, s->elf);
	add_tables(s, s->debug_elf);
	if (!s->debug_elf)
		find_mini(s);
	add_tables(s, s->mini_elf);
	if (s->nsymbols)
		qsort(s->symbol, s->nsymbols, sizeof *s->symbol, by_address);
	s->lines_cost_ns = inflated_bytes(s->debug_elf) * INFLATED_BYTE_NS;
	if (!s->lines_cost_ns)
		dwarf_open(s);
	return s;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	dwarf_end(s->dwarf);
	elf_end(s->mini_elf);
	elf_end(s->debug_elf);
	if (s->debug_fd >= 0)
		close(s->debug_fd);
	if (s->mini_fd >= 0)
		close(s->mini_fd);
	free(s->symbol);
	free(s->unit);
	scopes_free(&s->scopes);
	free(s);
}

/* ---- lines and inlined calls ---- */

/* In the table of all units, for compilers that write no .debug_aranges. */
static bool unit_in_table(struct symbols *s, uint64_t address, Dwarf_Off *die)
{
	uint32_t low = 0, high;

	if (!s->units_read)
		read_units(s);
	s->units_read = true;
	high = s->nunits;
	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (s->unit[mid].low <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address >= s->unit[low - 1].high)
		return false;
	*die = s->unit[low - 1].die;
	return true;
}

static bool unit_at(struct symbols *s, uint64_t address, Dwarf_Die *die)
{
	Dwarf_Off at;

	if (dwarf_addrdie(s->dwarf, address, die))
		at = dwarf_dieoffset(die);
	else if (!unit_in_table(s, address, &at))
		return false;
	if (at != s->last_unit && s->used++ == UNITS_AT_ONCE) {
		dwarf_end(s->dwarf);
		dwarf_open(s);
		if (!s->dwarf)
			return false;
	}
	s->last_unit = at;
	return dwarf_offdie(s->dwarf, at, die) != NULL;
}

static char *copy(const char *text)
{
	return text && *text ? strndup(text, STACKS_TEXT_MAX - 1) : NULL;
}

/* A DIE's own name: as the linker knows it, whose parameters tell overloads apart, or as the source
 * has it. */
static char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *linkage = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		linkage = dwarf_formstring(&attribute);
	return linkage ? name_demangle(linkage) : copy(dwarf_diename(die));
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) ||
	    value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* Where the call of an inlined function is. */
static void call_of(Dwarf_Die *unit, Dwarf_Die *die, struct name *level)
{
	uint32_t file = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t n;

	level->line = number_of(die, DW_AT_call_line);
	if (!dwarf_getsrcfiles(unit, &files, &n) && file < n)
		level->file = copy(dwarf_filesrc(files, file, NULL, NULL));
}

static void line_of(Dwarf_Die *unit, uint64_t address, struct name *level)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number;

	if (!line)
		return;
	if (!dwarf_lineno(line, &number) && number > 0)
		level->line = (uint32_t)number;
	level->file = copy(dwarf_linesrc(line, NULL, NULL));
}

static void read_debug(struct symbols *s, Dwarf_Die *unit, uint64_t address, struct named *x)
{
	Dwarf_Die scope[CHAIN_MAX];
	unsigned n = scopes_at(&s->scopes, s->dwarf, unit, address, scope, CHAIN_MAX);

	line_of(unit, address, &x->level[0]);
	while (x->n < n) {
		Dwarf_Die *die = &scope[x->n];

		x->level[x->n++].function = name_of(die);
		if (x->n < n)
			call_of(unit, die, &x->level[x->n]);
	}
}

/* "pthread_mutex_lock@@GLIBC_2.2.5", as files of debug information call it, without its version. */
static char *name_of_symbol(const char *symbol)
{
	char *name = name_demangle(symbol), *version = name ? strchr(name, '@') : NULL;

	if (version && version > name)
		*version = '\0';
	return name;
}

/* GCC keeps its options there, of which the last counts; others do not, which is no sign. */
static bool is_unoptimized(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *producer =
		dwarf_attr(unit, DW_AT_producer, &attribute) ? dwarf_formstring(&attribute) : NULL;
	bool optimized = false;

	if (!producer || !strstr(producer, " -m") ||
	    (strncmp(producer, "GNU C", 5) != 0 && strncmp(producer, "GNU Fortran", 11) != 0))
		return false;
	for (const char *at = producer; (at = strstr(at, " -O")); at += 3)
		optimized = at[3] != '0';
	return !optimized;
}

void symbols_name(struct symbols *s, uint64_t address, struct named *x)
{
	const char *symbol = symbol_at(s, address);
	Dwarf_Die unit;

	if (s->dwarf && unit_at(s, address, &unit)) {
		read_debug(s, &unit, address, x);
		x->plain = is_unoptimized(&unit);
	}
	if (!x->n)
		x->n = 1;
	/* The function itself is called as its symbol is: parts of it have names of their own. */
	if (!x->level[x->n - 1].function && symbol)
		x->level[x->n - 1].function = name_of_symbol(symbol);
}
