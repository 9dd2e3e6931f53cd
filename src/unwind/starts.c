/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/starts.h"

#include "base/array.h"

#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	ENCODED_PCREL_4 = 0x1b,
	ENCODED_U4 = 0x03,
	ENCODED_TABLE = 0x3b,
	HEADER = 12,
	OWN_MAX = 1 << 20,
};

size_t module_code(const struct module *m, uint64_t offset, const uint8_t **code, size_t n)
{
	if (!m->image || offset >= m->size)
		return 0;
	*code = m->image + offset;
	return m->size - offset < n ? m->size - offset : n;
}

/* The sorted table that the C library's own unwinding uses (LSB, .eh_frame_hdr). */
static bool find_table(struct starts *s, const struct module *m)
{
	size_t count;

	if (elf_getphdrnum(m->elf, &count))
		return false;
	for (size_t i = 0; i < count && i < INT_MAX; i++) {
		const uint8_t *h;
		GElf_Phdr ph;
		uint32_t n;

		if (!gelf_getphdr(m->elf, (int)i, &ph) || ph.p_type != PT_GNU_EH_FRAME)
			continue;
		if (ph.p_filesz < HEADER ||
		    module_code(m, ph.p_offset, &h, ph.p_filesz) != ph.p_filesz || h[0] != 1 ||
		    h[1] != ENCODED_PCREL_4 || h[2] != ENCODED_U4 || h[3] != ENCODED_TABLE)
			return false;
		memcpy(&n, h + 8, sizeof n);
		if (n > (ph.p_filesz - HEADER) / 8)
			return false;
		s->table = h + HEADER;
		s->base = ph.p_vaddr;
		s->n = n;
		return true;
	}
	return false;
}

static bool is_code(const struct module *m, uint64_t address)
{
	for (uint32_t i = 0; i < m->nsegments; i++)
		if (address >= m->segment[i].address &&
		    address - m->segment[i].address < m->segment[i].size)
			return true;
	return false;
}

/* Each description of a function; where it begins is relative to where that is written. */
static void read_section(struct starts *s, const struct module *m, Elf_Data *data, uint64_t address)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(m->elf, NULL);
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry e;
	uint32_t cap = 0;

	while (!dwarf_next_cfi(ident, data, true, at, &next, &e) && next > at) {
		const uint8_t *start = e.fde.start;
		uint64_t *grown, where;
		int32_t distance;

		at = next;
		if (dwarf_cfi_cie_p(&e) || e.fde.end - start < 8)
			continue;
		memcpy(&distance, start, sizeof distance);
		where = address + (uint64_t)(start - (const uint8_t *)data->d_buf) +
			(uint64_t)(int64_t)distance;
		grown = is_code(m, where) && s->n < OWN_MAX
				? array_room(s->own, s->n, &cap, sizeof *grown)
				: NULL;
		if (!grown)
			continue;
		s->own = grown;
		grown[s->n++] = where;
	}
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Of a static program, which has no such table. */
static void read_own(struct starts *s, const struct module *m)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(m->elf, &names))
		return;
	while ((scn = elf_nextscn(m->elf, scn))) {
		GElf_Shdr sh;
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(m->elf, names, sh.sh_name) : NULL;
		Elf_Data *data;

		if (!name || strcmp(name, ".eh_frame") != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf)
			read_section(s, m, data, sh.sh_addr);
	}
	if (s->n)
		qsort(s->own, s->n, sizeof *s->own, by_address);
}

static uint64_t entry_of(const struct starts *s, uint32_t i)
{
	int32_t v;

	if (!s->table)
		return s->own[i];
	memcpy(&v, s->table + (size_t)i * 8, sizeof v);
	return s->base + (uint64_t)(int64_t)v;
}

uint64_t starts_find(struct starts *s, const struct module *m, uint64_t address)
{
	uint32_t low = 0, high;

	if (!s->looked && m->usable && !find_table(s, m))
		read_own(s, m);
	s->looked = true;
	for (high = s->n; low < high;) {
		uint32_t mid = low + (high - low) / 2;

		if (entry_of(s, mid) <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? entry_of(s, low - 1) : 0;
}

void starts_free(struct starts *s)
{
	free(s->own);
	*s = (struct starts){ 0 };
}
