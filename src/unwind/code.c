/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code.h"

#include "source/program/code_name.h"
#include "unwind/symbols.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOCKET = 0, MEMORY_MAX = 512 << 20, CPU_MAX_S = 3 };

bool code_is_asked(void)
{
	uint32_t layout;

	return recv(SOCKET, &layout, sizeof layout, MSG_PEEK | MSG_WAITALL) ==
		       (ssize_t)sizeof layout &&
	       layout == CODE_QUESTION;
}

/* The kernel maps a segment from the page of its first byte to that of its last. */
static bool is_mapped_so(const GElf_Phdr *ph, const struct code_question *q, uint64_t page)
{
	uint64_t lead = ph->p_offset & (page - 1), size = (lead + ph->p_filesz + page - 1) & -page;

	return ph->p_type == PT_LOAD && ph->p_flags & PF_X && size == q->size && q->at < size &&
	       (q->offset < 0 || (uint64_t)q->offset == ph->p_offset - lead);
}

/* As the file has it. False: the file has no such mapping, or several. */
static bool address_of(Elf *elf, const struct code_question *q, uint64_t page, uint64_t *address)
{
	int found = 0;
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n && i < INT_MAX; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || !is_mapped_so(&ph, q, page))
			continue;
		*address = q->at - (ph.p_offset & (page - 1)) + ph.p_vaddr;
		found++;
	}
	return found == 1;
}

static void copy_name(char *out, size_t size, const char *text)
{
	if (text)
		snprintf(out, size, "%s", text);
}

static void take_names(const struct named *x, struct code_answer *a)
{
	const char *file = x->level[0].file, *slash = file ? strrchr(file, '/') : NULL;

	copy_name(a->function, sizeof a->function, x->level[0].function);
	copy_name(a->source, sizeof a->source, slash ? slash + 1 : file);
	a->line = x->level[0].line;
}

static void name(struct modules *modules, const struct code_question *q, struct code_answer *a)
{
	struct module_seen seen = { .pid = getpid(), .path = q->path };
	struct named x = { 0 };
	const struct module *m;
	struct symbols *s;
	uint64_t address;
	struct stat st;

	if (stat(q->path, &st))
		return;
	seen.inode = st.st_ino;
	m = &modules->row[modules_find(modules, &seen)];
	if (!m->usable || !address_of(m->names_elf, q, (uint64_t)sysconf(_SC_PAGESIZE), &address))
		return;
	s = symbols_open(m, m->names_elf);
	if (!s)
		return;
	if (symbols_lines_cost_ns(s))
		symbols_open_lines(s);
	symbols_name(s, address, &x);
	take_names(&x, a);
}

int code_serve(void)
{
	struct modules *modules = calloc(1, sizeof *modules);
	struct code_answer a = { .line = 0 };
	struct code_question q;

	setrlimit(RLIMIT_DATA, &(struct rlimit){ MEMORY_MAX, MEMORY_MAX });
	setrlimit(RLIMIT_CPU, &(struct rlimit){ CPU_MAX_S, CPU_MAX_S });
	if (!modules || !talk_read(SOCKET, &q, sizeof q)) {
		free(modules);
		return EXIT_FAILURE;
	}
	q.path[sizeof q.path - 1] = '\0';
	modules_init(modules);
	name(modules, &q, &a);
	return talk_write(SOCKET, &a, sizeof a) ? EXIT_SUCCESS
						: EXIT_FAILURE; /* its tables go with it */
}
