/* SPDX-License-Identifier: Apache-2.0 */
#include "session/annotations.h"

#include "base/helper.h"
#include "console/command.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRELOAD_MAX = 8 * PATH_MAX, HEADERS_MAX = 64, DYNAMIC_MAX = 256 };

/* rival: another variable which, where it is set, must not meet this one; NULL: none. */
static const struct kind {
	const char *name, *variable, *rival;
} kinds[] = {
	{ "mpi", "LD_PRELOAD", NULL },
	{ "nvtx", "NVTX_INJECTION64_PATH", NULL },
	{ "itt", "INTEL_LIBITTNOTIFY64", NULL },
	{ "kokkos", "KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY" },
	{ "kokkos3", "KOKKOS_PROFILE_LIBRARY", "KOKKOS_TOOLS_LIBS" },
	{ "ompt", "OMP_TOOL_LIBRARIES", NULL },
};
enum { KINDS = ANNOTATION_KINDS };
_Static_assert(sizeof kinds / sizeof kinds[0] == KINDS, "a place for each");

static const struct kind *kind_find(const char *name, size_t n)
{
	for (size_t i = 0; i < KINDS; i++)
		if (strlen(kinds[i].name) == n && !memcmp(kinds[i].name, name, n))
			return &kinds[i];
	return NULL;
}

/* The first of a list, which is moved behind it; NULL: it is not known, or there is none. */
static const struct kind *kind_next(const char **list, const char **word, size_t *n)
{
	*word = *list;
	*n = strcspn(*list, ",");
	*list += *n + ((*list)[*n] == ',');
	return kind_find(*word, *n);
}

static bool all_known(const char *list)
{
	const char *word;
	size_t n;

	do {
		if (kind_next(&list, &word, &n))
			continue;
		say("run: --annotations %.*s: not known; use mpi, nvtx, itt, kokkos, kokkos3 and "
		    "ompt",
		    (int)n, word);
		return false;
	} while (*list);
	return true;
}

/* A variable that has a list of libraries has no way to write a space or a colon of a path. */
static int find_library(char path[PATH_MAX], struct err *e)
{
	int bad = helper_library("libsonde_inject.so", path, PATH_MAX, e);

	if (!bad && strpbrk(path, " :,;"))
		return err_set(e, -EINVAL, "%s is in a folder with a space or a colon in its name",
			       path);
	return bad;
}

bool annotations_check(const char *list)
{
	char path[PATH_MAX];
	struct err e = { "" };

	if (!all_known(list))
		return false;
	if (find_library(path, &e))
		say("run: --annotations: %s; running CMD without them", e.text);
	return true;
}

/* ---- programs that load nothing ---- */

/* Where the shell would find it; false: nowhere. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *list = getenv("PATH");

	if (strchr(name, '/') || !list)
		return (size_t)snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	while (*list) {
		int n = (int)strcspn(list, ":");

		if ((size_t)snprintf(path, PATH_MAX, "%.*s/%s", n, list, name) < PATH_MAX &&
		    !access(path, X_OK))
			return true;
		list += n + (list[n] == ':');
	}
	return false;
}

struct program {
	int fd;
	unsigned n;
	Elf64_Phdr header[HEADERS_MAX];
};

/* False: it is no executable of this machine's kind, or cannot be read. */
static bool program_open(struct program *p, const char *path)
{
	Elf64_Ehdr head;

	p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (p->fd < 0)
		return false;
	if (read(p->fd, &head, sizeof head) == sizeof head &&
	    !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64 &&
	    head.e_phnum <= HEADERS_MAX) {
		size_t size = head.e_phnum * sizeof p->header[0];

		p->n = head.e_phnum;
		if (pread(p->fd, p->header, size, (off_t)head.e_phoff) == (ssize_t)size)
			return true;
	}
	close(p->fd);
	return false;
}

static const Elf64_Phdr *header_of(const struct program *p, uint32_t type)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->header[i].p_type == type)
			return &p->header[i];
	return NULL;
}

/* Where an address of the program is in its file; 0: nowhere. */
static uint64_t place_of(const struct program *p, uint64_t address)
{
	for (unsigned i = 0; i < p->n; i++) {
		const Elf64_Phdr *h = &p->header[i];

		if (h->p_type == PT_LOAD && address >= h->p_vaddr &&
		    address - h->p_vaddr < h->p_filesz)
			return address - h->p_vaddr + h->p_offset;
	}
	return 0;
}

/* Whether a library whose name begins so is one that it is linked with. */
static bool is_linked_with(const struct program *p, const char *library)
{
	const Elf64_Phdr *dynamic = header_of(p, PT_DYNAMIC);
	Elf64_Dyn entry[DYNAMIC_MAX];
	uint64_t names = 0;
	char name[32];
	ssize_t size = dynamic ? pread(p->fd, entry, sizeof entry, (off_t)dynamic->p_offset) : 0;
	size_t n = size > 0 ? (size_t)size / sizeof entry[0] : 0, used = 0;

	for (; used < n && entry[used].d_tag != DT_NULL; used++)
		if (entry[used].d_tag == DT_STRTAB)
			names = place_of(p, entry[used].d_un.d_ptr);
	for (size_t i = 0; names && i < used; i++)
		if (entry[i].d_tag == DT_NEEDED &&
		    pread(p->fd, name, sizeof name, (off_t)(names + entry[i].d_un.d_val)) > 0 &&
		    !strncmp(name, library, strlen(library)))
			return true;
	return false;
}

/* Whether a kind is in a list. */
static bool is_listed(const char *list, const char *kind)
{
	for (const char *word; *list;) {
		size_t n;
		const struct kind *k = kind_next(&list, &word, &n);

		if (k && !strcmp(k->name, kind))
			return true;
	}
	return false;
}

/* What is known beforehand to record nothing. */
static void say_what_is_not(const char *list, const char *program)
{
	char path[PATH_MAX];
	struct program p;

	if (!find_program(program, path) || !program_open(&p, path))
		return;
	if (!header_of(&p, PT_INTERP))
		say("run: --annotations: %s is a static program, of which nothing can be recorded "
		    "so",
		    program);
	else if (is_listed(list, "ompt") && is_linked_with(&p, "libgomp.so"))
		say("run: --annotations ompt: %s uses libgomp, GCC's OpenMP, which tells tools "
		    "nothing; clang's libomp does",
		    program);
	close(p.fd);
}

/* ---- the environment ---- */

/* A tool that is loaded already comes behind: its calls are what this library goes on to. */
static bool preload(const char *library, const char *before)
{
	char all[PRELOAD_MAX];
	bool fits = !before || !*before ||
		    (size_t)snprintf(all, sizeof all, "%s:%s", library, before) < sizeof all;

	if (!fits)
		say("run: --annotations mpi: LD_PRELOAD is too long, and stays as it is");
	return fits && !setenv("LD_PRELOAD", before && *before ? all : library, 1);
}

static bool is_set(const char *variable)
{
	const char *value = variable ? getenv(variable) : NULL;

	return value && *value;
}

/* A variable that names one library is left alone where somebody else has set it. */
static bool export_one(const struct kind *k, const char *library)
{
	const char *set = is_set(k->variable) ? k->variable : is_set(k->rival) ? k->rival : NULL;

	if (set)
		say("run: --annotations %s: %s is set already, and stays as it is", k->name, set);
	return !set && !setenv(k->variable, library, 1);
}

static void export_kind(struct annotations *x, size_t i, const char *library)
{
	const struct kind *k = &kinds[i];
	const char *before = getenv(k->variable);

	x->before[i] = before ? strdup(before) : NULL;
	if (before && !x->before[i])
		return;
	x->set[i] = strcmp(k->variable, "LD_PRELOAD") ? export_one(k, library)
						      : preload(library, x->before[i]);
}

void annotations_export(struct annotations *x, const char *list, const char *program)
{
	char library[PATH_MAX];
	struct err e;

	if (!list || find_library(library, &e))
		return;
	say_what_is_not(list, program);
	for (const char *word; *list;) {
		size_t n;
		const struct kind *k = kind_next(&list, &word, &n);

		if (k && !x->set[k - kinds])
			export_kind(x, (size_t)(k - kinds), library);
	}
}

void annotations_undo(struct annotations *x)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (x->set[i] && x->before[i])
			setenv(kinds[i].variable, x->before[i], 1);
		else if (x->set[i])
			unsetenv(kinds[i].variable);
		free(x->before[i]);
	}
	*x = (struct annotations){ 0 };
}
