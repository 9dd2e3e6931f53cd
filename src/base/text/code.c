/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/code.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

/* What cannot be written is as it is in its file: nothing is lost with it. */
static int let_go(struct dl_phdr_info *object, size_t size, void *page_size)
{
	const uintptr_t page = *(const uintptr_t *)page_size;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];
		uintptr_t from = (object->dlpi_addr + h->p_vaddr + page - 1) / page * page;
		uintptr_t to = (object->dlpi_addr + h->p_vaddr + h->p_memsz) / page * page;

		if (h->p_type == PT_LOAD && !(h->p_flags & PF_W) && to > from)
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
	return 0;
}

void code_let_go(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	dl_iterate_phdr(let_go, &page);
}
