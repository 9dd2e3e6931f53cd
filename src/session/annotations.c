/* SPDX-License-Identifier: Apache-2.0 */
#include "session/annotations.h"

#include "base/helper.h"
#include "console/say.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRELOAD_MAX = 8 * PATH_MAX, HEADERS_MAX = 64 };

static const struct kind {
	const char *name, *variable;
} kinds[] = {
	{ "mpi", "LD_PRELOAD" },
	{ "nvtx", "NVTX_INJECTION64_PATH" },
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
		say("run: --annotations %.*s: not known; use mpi and nvtx", (int)n, word);
		return false;
	} while (*list);
	return true;
}

/* A variable that has a list of libraries has no way to write a space or a colon of a path. */
bool annotations_check(const char *list)
{
	char path[PATH_MAX];
	struct err e = { "" };

	if (!all_known(list))
		return false;
	if (helper_library("libsonde_inject.so", path, sizeof path, &e)) {
		say("run: --annotations: %s", e.text);
		return false;
	}
	if (strpbrk(path, " :,;")) {
		say("run: --annotations: %s is in a folder with a space or a colon in its name",
		    path);
		return false;
	}
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

/* An executable of this machine's kind that names no loader. */
static bool is_static(const char *path)
{
	Elf64_Phdr header[HEADERS_MAX];
	Elf64_Ehdr head;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool none = fd >= 0 && read(fd, &head, sizeof head) == sizeof head &&
		    !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
		    head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phnum <= HEADERS_MAX &&
		    pread(fd, header, head.e_phnum * sizeof *header, (off_t)head.e_phoff) ==
			    (ssize_t)(head.e_phnum * sizeof *header);

	for (unsigned i = 0; none && i < head.e_phnum; i++)
		none = header[i].p_type != PT_INTERP;
	if (fd >= 0)
		close(fd);
	return none;
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

/* A variable that names one library is left alone where somebody else has set it. */
static bool export_one(const struct kind *k, const char *library, const char *before)
{
	if (before && *before)
		say("run: --annotations %s: %s is set already, and stays as it is", k->name,
		    k->variable);
	return !(before && *before) && !setenv(k->variable, library, 1);
}

static void export_kind(struct annotations *x, size_t i, const char *library)
{
	const struct kind *k = &kinds[i];
	const char *before = getenv(k->variable);

	x->before[i] = before ? strdup(before) : NULL;
	if (before && !x->before[i])
		return;
	x->set[i] = strcmp(k->variable, "LD_PRELOAD") ? export_one(k, library, x->before[i])
						      : preload(library, x->before[i]);
}

void annotations_export(struct annotations *x, const char *list, const char *program)
{
	char library[PATH_MAX], path[PATH_MAX];
	struct err e;

	if (!list || helper_library("libsonde_inject.so", library, sizeof library, &e))
		return;
	if (find_program(program, path) && is_static(path))
		say("run: --annotations: %s is a static program, of which nothing can be recorded "
		    "so",
		    program);
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
