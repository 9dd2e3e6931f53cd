/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbols.h"

#include "source/program/stacks_page.h"
#include "unwind/debug.h"
#include "unwind/rust.h"
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

#ifdef UNWIND_DEMANGLE
/* Of the C++ library. */
extern char *__cxa_demangle(const char *name, char *out, size_t *size, int *status)
	__attribute__((visibility("default")));
#else
static char *__cxa_demangle(const char *name, char *out, size_t *size, int *status)
{
	(void)name;
	(void)out;
	(void)size;
	*status = -1;
	return NULL;
}
#endif

enum {
	SYMBOLS_MAX = 2 << 20,
	UNITS_MAX = 1 << 20,
	TABLES_MAX = 4,
	INFLATED_BYTE_NS = 12, /* measured: to inflate it, and the page that it lies in */
	COST_GROWS = 2,        /* each time, so that they are few */
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
	struct debugfile debug;
	Elf *inflated; /* the same file, while its lines are open, if they cost much */
	Elf *mini_elf;
	int mini_fd;
	Dwarf *dwarf;
	struct {
		Elf *elf;
		size_t strings;
	} table[TABLES_MAX];
	uint32_t ntables, nsymbols, cap;
	struct symbol *symbol;
	struct unit_range *unit; /* by low */
	uint32_t nunits, units_cap;
	bool units_read;
	struct lines lines;
	struct scopes scopes;
	struct optimized optimized;
	struct starts starts;
	int64_t lines_cost_ns;
	int64_t inflating_ns; /* that, when it was opened last */
};

/* ---- names ---- */

/* Rust's older names end in a hash, and have words in the place of signs. */
static void tidy_rust(char *text)
{
	static const struct {
		const char *word, *sign;
	} words[] = { { "$LT$", "<" },  { "$GT$", ">" },  { "$RF$", "&" },  { "$BP$", "*" },
		      { "$LP$", "(" },  { "$RP$", ")" },  { "$C$", "," },   { "$u20$", " " },
		      { "$u7b$", "{" }, { "$u7d$", "}" }, { "$u5b$", "[" }, { "$u5d$", "]" },
		      { "$u27$", "'" }, { "$u3d$", "=" }, { "$u3b$", ";" }, { "..", "::" } };
	size_t n = strlen(text);
	char *to = text;

	if (n < 19 || strncmp(text + n - 19, "::h", 3) != 0 ||
	    strspn(text + n - 16, "0123456789abcdef") != 16)
		return;
	text[n - 19] = '\0';
	for (const char *at = text; *at;) {
		size_t i = 0, len = 0;

		for (; i < sizeof words / sizeof words[0]; i++) {
			len = strlen(words[i].word);
			if (!strncmp(at, words[i].word, len))
				break;
		}
		if (i == sizeof words / sizeof words[0]) {
			*to++ = *at++;
			continue;
		}
		for (const char *c = words[i].sign; *c; c++)
			*to++ = *c;
		at += len;
	}
	*to = '\0';
}

static char *demangle_rust(const char *symbol)
{
	char text[STACKS_TEXT_MAX];

	return rust_demangle(symbol, text, sizeof text) ? strdup(text) : NULL;
}

char *name_demangle(const char *symbol)
{
	size_t n = strnlen(symbol, STACKS_TEXT_MAX - 1);
	char *plain = demangle_rust(symbol), *text = plain ? plain : strndup(symbol, n);
	int status;

	if (!text || strncmp(text, "_Z", 2) != 0)
		return text;
	plain = __cxa_demangle(text, NULL, NULL, &status);
	if (!plain)
		return text;
	free(text);
	tidy_rust(plain);
	if (strlen(plain) >= STACKS_TEXT_MAX)
		plain[STACKS_TEXT_MAX - 1] = '\0';
	return plain;
}

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

/* Which file has debug information, if any has. */
static Elf *debug_of(const struct symbols *s)
{
	return s->inflated ? s->inflated : s->debug.elf ? s->debug.elf : s->elf;
}

static void dwarf_open(struct symbols *s)
{
	s->dwarf = dwarf_begin_elf(debug_of(s), DWARF_C_READ, NULL);
}

void symbols_forget_lines(struct symbols *s)
{
	lines_free(&s->lines);
}

int64_t symbols_lines_bytes(const struct symbols *s)
{
	return s->lines.bytes;
}

void symbols_let_go(const struct symbols *s)
{
	mapped_let_go(s->debug.elf);
	mapped_let_go(s->inflated);
	if (!s->module->of_heap)
		mapped_let_go(s->elf);
}

bool symbols_have_lines(const struct symbols *s)
{
	return s->dwarf || s->lines_cost_ns;
}

int64_t symbols_lines_cost_ns(const struct symbols *s)
{
	return s->lines_cost_ns;
}

void symbols_open_lines(struct symbols *s)
{
	if (!s->lines_cost_ns)
		return;
	s->inflated = elf_begin(s->debug.fd, ELF_C_READ_MMAP, NULL);
	if (s->inflated)
		dwarf_open(s);
	symbols_let_go(s); /* what was inflated is not read again */
	s->inflating_ns = s->lines_cost_ns;
	s->lines_cost_ns = 0;
}

bool symbols_close_lines(struct symbols *s)
{
	if (!s->inflated)
		return false;
	lines_close(&s->lines);
	dwarf_end(s->dwarf);
	elf_end(s->inflated);
	s->dwarf = NULL;
	s->inflated = NULL;
	s->lines_cost_ns = COST_GROWS * s->inflating_ns;
	return true;
}

struct symbols *symbols_open(const struct module *m, Elf *elf)
{
	struct symbols *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->module = m;
	s->debug.fd = s->mini_fd = -1;
	if (!m->usable)
		return s;
	s->elf = elf;
	if (!debugfile_has_info(s->elf))
		debugfile_find(&s->debug, m, s->elf);
	add_tables(s, s->elf);
	add_tables(s, s->debug.elf);
	if (!s->debug.elf)
		find_mini(s);
	add_tables(s, s->mini_elf);
	if (s->nsymbols)
		qsort(s->symbol, s->nsymbols, sizeof *s->symbol, by_address);
	s->lines_cost_ns = debugfile_inflated_bytes(s->debug.elf) * INFLATED_BYTE_NS;
	if (!s->lines_cost_ns)
		dwarf_open(s);
	return s;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	(void)symbols_close_lines(s);
	dwarf_end(s->dwarf);
	elf_end(s->mini_elf);
	debugfile_close(&s->debug);
	if (s->mini_fd >= 0)
		close(s->mini_fd);
	free(s->symbol);
	free(s->unit);
	scopes_free(&s->scopes);
	starts_free(&s->starts);
	lines_free(&s->lines);
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
static void call_of(struct symbols *s, Dwarf_Off unit, Dwarf_Die *die, struct name *level)
{
	level->line = number_of(die, DW_AT_call_line);
	level->file =
		copy(lines_file(&s->lines, debug_of(s), unit, number_of(die, DW_AT_call_file)));
}

static void read_debug(struct symbols *s, Dwarf_Die *unit, uint64_t address, struct named *x)
{
	Dwarf_Die scope[CHAIN_MAX];
	unsigned n = scopes_at(&s->scopes, s->dwarf, unit, address, scope, CHAIN_MAX);
	Dwarf_Off at = dwarf_dieoffset(unit);

	x->level[0].file = copy(lines_at(&s->lines, debug_of(s), at, address, &x->level[0].line));
	while (x->n < n) {
		Dwarf_Die *die = &scope[x->n];

		x->level[x->n++].function = name_of(die);
		if (x->n < n)
			call_of(s, at, die, &x->level[x->n]);
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

void symbols_name(struct symbols *s, uint64_t address, struct named *x)
{
	const char *symbol = symbol_at(s, address);
	Dwarf_Die unit;

	if (s->dwarf && unit_at(s, address, &unit)) {
		read_debug(s, &unit, address, x);
		x->made = unit_is_unoptimized(&s->optimized, &unit) ? FRAME_UNOPTIMIZED : 0;
	}
	if (!x->n)
		x->n = 1;
	/* The function itself is called as its symbol is: parts of it have names of their own. */
	if (!x->level[x->n - 1].function && symbol)
		x->level[x->n - 1].function = name_of_symbol(symbol);
	if (!x->level[0].function)
		x->start = starts_find(&s->starts, s->module, address);
	if (module_spins(s->module, s->elf, address))
		x->made |= FRAME_SPINS;
	x->is_final = !s->lines_cost_ns;
}
