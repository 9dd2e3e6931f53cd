/* SPDX-License-Identifier: Apache-2.0 */
/* Names, lines and inlined calls out of a program of any bytes: its symbols and its debug
 * information, as the helper sonde-unwind looks them up, by a file and not from memory. And any
 * bytes as a symbol of Rust. */
#include "core/stacks/symbol.h"
#include "source/program/stacks_page.h"
#include "unwind/debug.h"
#include "unwind/scopes.h"
#include "unwind/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOKS = 24, STEP = 7 };

static void named_clear(struct named *x)
{
	if (!x->n || x->n > CHAIN_MAX)
		abort();
	for (uint32_t i = 0; i < CHAIN_MAX; i++) {
		if (i >= x->n && (x->level[i].function || (i && x->level[i].file)))
			abort(); /* not in what is told */
		free(x->level[i].function);
		free(x->level[i].file);
	}
	*x = (struct named){ 0 };
}

/* From its entry on, and at one address that its last bytes name. */
static void look(struct symbols *s, Elf *elf, const uint8_t *data, size_t size)
{
	struct named x = { 0 };
	uint64_t other = 0;
	GElf_Ehdr head;

	if (!gelf_getehdr(elf, &head))
		head.e_entry = 0;
	memcpy(&other, data + size - 4, 4);
	for (uint64_t i = 0; i < LOOKS; i++) {
		symbols_name(s, head.e_entry + STEP * i, &x);
		named_clear(&x);
	}
	symbols_name(s, other, &x);
	named_clear(&x);
}

static void demangle(const uint8_t *data, size_t size)
{
	char *symbol = malloc(size + 3), *name, text[256];

	if (!symbol)
		return;
	memcpy(symbol, "_R", 2);
	memcpy(symbol + 2, data, size);
	symbol[size + 2] = '\0';
	name = name_demangle(symbol);
	if (!name || strlen(name) >= STACKS_TEXT_MAX)
		abort();
	(void)symbol_short(name, text, sizeof text);
	free(name);
	free(symbol);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module m = { .path = (char *)"/nowhere/program", .usable = true };
	int fd = size > 4 ? memfd_create("fuzz", MFD_CLOEXEC) : -1;
	Elf *elf = NULL;

	demangle(data, size);
	elf_version(EV_CURRENT);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		struct symbols *s = symbols_open(&m, elf);

		if (s) {
			if (symbols_lines_cost_ns(s))
				symbols_open_lines(s);
			look(s, elf, data, size);
		}
		symbols_close(s);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return 0;
}
