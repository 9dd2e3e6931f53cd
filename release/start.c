/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.c - a helper of a release whose libraries come with it: sonde-NAME starts lib/sonde-NAME
 * beside it with the loader and the libraries of lib/, whatever C library and LD_LIBRARY_PATH this
 * machine has. What is not in lib/ is looked for as ever: a driver's library, a BLAS.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { OWN_ARGUMENTS = 6, NOT_STARTED = 127 };

static int refuse(const char *what)
{
	fprintf(stderr, "sonde: a helper cannot start: %s; unpack Sonde again\n", what);
	return NOT_STARTED;
}

/* The folder of this program, which may have been moved; without a last slash. */
static int own_folder(char *folder, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", folder, size - 1);
	char *slash;

	folder[n > 0 ? n : 0] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return -1;
	*slash = '\0';
	return 0;
}

/* What is looked for after the release's own libraries stays; what would be loaded before them
 * goes. */
static int set_environment(const char *lib, char *path, size_t size)
{
	const char *others = getenv("LD_LIBRARY_PATH");
	char fonts[PATH_MAX];

	if ((size_t)snprintf(path, size, "%s%s%s", lib, others && *others ? ":" : "",
			     others ? others : "") >= size ||
	    (size_t)snprintf(fonts, sizeof fonts, "%s/fonts.conf", lib) >= sizeof fonts)
		return -1;
	unsetenv("LD_PRELOAD");
	unsetenv("LD_AUDIT");
	return setenv("FONTCONFIG_FILE", fonts, 0);
}

int main(int argc, char **argv)
{
	const char *called = (const char *)getauxval(AT_EXECFN);
	char folder[PATH_MAX], lib[PATH_MAX + 8], loader[PATH_MAX + 16],
		program[PATH_MAX + NAME_MAX];
	static char path[1 << 16];
	char **arguments = calloc((size_t)argc + OWN_ARGUMENTS + 1, sizeof *arguments);
	const char *name = called ? strrchr(called, '/') : NULL;

	if (!arguments || argc < 1 || own_folder(folder, sizeof folder))
		return refuse("it does not know where it lies");
	name = name ? name + 1 : called ? called : argv[0];
	snprintf(lib, sizeof lib, "%s/lib", folder);
	snprintf(loader, sizeof loader, "%s/ld.so", lib);
	if ((size_t)snprintf(program, sizeof program, "%s/%s", lib, name) >= sizeof program ||
	    access(program, X_OK) || set_environment(lib, path, sizeof path))
		return refuse("its program or its libraries are not there");
	memcpy(arguments,
	       (char *[]){ loader, (char *)"--library-path", path, (char *)"--argv0", argv[0],
			   program },
	       OWN_ARGUMENTS * sizeof *arguments);
	memcpy(arguments + OWN_ARGUMENTS, argv + 1, (size_t)argc * sizeof *arguments);
	execv(loader, arguments);
	return refuse("its loader does not start");
}
