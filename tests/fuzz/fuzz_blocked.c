/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of a blocked thread in a program of any bytes: its tables, its code and its stack. */
#include "unwind/blocked.h"
#include "unwind/python.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct modules modules;
static struct rows *rows;
static struct starts starts[MODULES_MAX];

static void use(struct module *m, uint8_t *image, size_t size)
{
	GElf_Phdr ph;
	size_t n;

	*m = (struct module){ .image = image, .size = size };
	m->elf = elf_memory((char *)image, size);
	m->usable = m->elf && elf_kind(m->elf) == ELF_K_ELF;
	if (!m->usable || elf_getphdrnum(m->elf, &n))
		return;
	for (int i = 0; i < (int)n && m->nsegments < SEGMENTS_MAX; i++)
		if (gelf_getphdr(m->elf, i, &ph) && ph.p_type == PT_LOAD)
			m->segment[m->nsegments++] =
				(struct segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
	m->cfi = dwarf_getcfi_elf(m->elf);
}

/* The first 64 bytes are where it stands and the top of its stack; the rest is the program. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { STACK = 64 };
	uint64_t stack[STACK / 8];
	struct mapping map = { 0x10000, 0x10000 + (1 << 20), 0, MODULE_FIRST };
	struct space space = { .pid = getpid(), .known = true, .map = &map, .n = 1 };
	struct blocked *b;
	uint8_t *image;

	if (size <= STACK)
		return 0;
	if (!rows) {
		modules_init(&modules);
		rows = rows_make();
	}
	python_line(data + STACK, size - STACK, data[0], data[1]);
	python_depth(data + STACK, size - STACK, data[2]);
	image = malloc(size - STACK);
	b = calloc(1, sizeof *b);
	if (image && b) {
		struct module *m = &modules.row[MODULE_FIRST];
		struct stack_copy copy = { 0x7000, (const uint8_t *)stack, sizeof stack };

		memcpy(stack, data, STACK);
		memcpy(image, data + STACK, size - STACK);
		use(m, image, size - STACK);
		modules.n = MODULE_FIRST + 1;
		*b = (struct blocked){
			.modules = &modules, .rows = rows, .starts = starts, .space = &space
		};
		blocked_unwind(b, 0x7000, 0x10000 + (stack[0] & 0xfffff), &copy);
		starts_free(&starts[MODULE_FIRST]);
		dwarf_cfi_end(m->cfi);
		elf_end(m->elf);
		free(rows); /* it remembers rules of a module that is gone */
		rows = rows_make();
	}
	free(b);
	free(image);
	return 0;
}
