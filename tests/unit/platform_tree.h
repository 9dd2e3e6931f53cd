/* SPDX-License-Identifier: Apache-2.0 */
/*
 * platform_tree.h - for tests: the folders of a machine from tests/fixtures/platform/NAME.tree,
 * made in the current directory: NAME/proc, NAME/sys, NAME/files. README.md there says how it is
 * written.
 */
#ifndef SONDE_TESTS_UNIT_PLATFORM_TREE_H
#define SONDE_TESTS_UNIT_PLATFORM_TREE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void platform_tree_folders(char *path)
{
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static inline void platform_tree_file(const char *machine, const char *path, const char *text,
				      size_t n)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof full, "%.60s/%.400s", machine, path);
	platform_tree_folders(full);
	f = fopen(full, "w");
	if (!f || fwrite(text, 1, n, f) != n || fclose(f))
		abort();
}

static inline void platform_tree_link(const char *machine, const char *path, const char *target)
{
	char full[512];

	snprintf(full, sizeof full, "%.60s/%.400s", machine, path);
	platform_tree_folders(full);
	unlink(full);
	if (symlink(target, full))
		abort();
}

/* \n, \t, \0 and \xNN, in place; the length. */
static inline size_t platform_tree_unescape(char *text)
{
	char *to = text;

	for (char *at = text; *at; at++) {
		if (*at != '\\') {
			*to++ = *at;
			continue;
		}
		at++;
		if (*at == 'x') {
			*to++ = (char)strtol((char[]){ at[1], at[2], 0 }, NULL, 16);
			at += 2;
		} else {
			*to++ = (char)(*at == 'n' ? '\n' : *at == 't' ? '\t' : '\0');
		}
	}
	*to = '\0';
	return (size_t)(to - text);
}

static inline void platform_tree_cpu_file(const char *machine, unsigned cpu, const char *name,
					  const char *text)
{
	char path[128];

	snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/%s", cpu, name);
	platform_tree_file(machine, path, text, strlen(text));
}

static inline void platform_tree_cpus(const char *machine, unsigned sockets, unsigned cores,
				      unsigned threads)
{
	unsigned all = sockets * cores;
	char text[64];

	snprintf(text, sizeof text, "0-%u\n", all * threads - 1);
	platform_tree_file(machine, "sys/devices/system/cpu/online", text, strlen(text));
	for (unsigned cpu = 0; cpu < all * threads; cpu++) {
		unsigned core = cpu % all, first = core / cores * cores;

		snprintf(text, sizeof text, threads > 1 ? "%u,%u\n" : "%u\n", core, core + all);
		platform_tree_cpu_file(machine, cpu, "topology/thread_siblings_list", text);
		snprintf(text, sizeof text, threads > 1 ? "%u-%u,%u-%u\n" : "%u-%u\n", first,
			 first + cores - 1, first + all, first + all + cores - 1);
		platform_tree_cpu_file(machine, cpu, "topology/core_siblings_list", text);
		platform_tree_cpu_file(machine, cpu, "cpufreq/scaling_governor", "performance\n");
	}
}

/* Makes it; environment is its one variable, or "". */
static inline void platform_tree_make(const char *top, const char *machine, char environment[256])
{
	unsigned sockets, cores, threads;
	char line[8192];
	FILE *f;

	snprintf(line, sizeof line, "%s/tests/fixtures/platform/%s.tree", top, machine);
	f = fopen(line, "r");
	if (!f)
		abort();
	*environment = '\0';
	while (fgets(line, sizeof line, f)) {
		char *link = strstr(line, " -> "), *is = strstr(line, " =");

		line[strcspn(line, "\n")] = '\0';
		if (*line == '#')
			continue;
		if (sscanf(line, "cpus %u %u %u", &sockets, &cores, &threads) == 3) {
			platform_tree_cpus(machine, sockets, cores, threads);
		} else if (link) {
			*link = '\0';
			platform_tree_link(machine, line, link + 4);
		} else if (is) {
			char *text = is + 2 + (is[2] == ' ');

			*is = '\0';
			if (strcmp(line, "environment") == 0)
				snprintf(environment, 256, "%s", text);
			else
				platform_tree_file(machine, line, text,
						   platform_tree_unescape(text));
		}
	}
	fclose(f);
}

#endif
