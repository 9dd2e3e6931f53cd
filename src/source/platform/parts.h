/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - what the parts of platform.h share; nobody else includes it.
 *
 * The helpers say one fact from one small file, when it is there and not empty. A text is its first
 * line, without the blanks around it, cut at PLATFORM_TEXT.
 */
#ifndef SONDE_SOURCE_PLATFORM_PARTS_H
#define SONDE_SOURCE_PLATFORM_PARTS_H

#include "source/cpulist.h"
#include "source/platform/platform.h"

#include <stdbool.h>

enum { PLATFORM_TEXT = 512, PLATFORM_PATH = 192, PLATFORM_KEY = 96, PLATFORM_NAME = 64 };

/* A fact that is in a file of its own. */
enum platform_place { IN_PROC, IN_SYS, IN_FILES };
enum platform_form {
	FORM_TEXT,
	FORM_NUMBER, /* times scale */
	FORM_CHOSEN, /* "always [madvise] never": madvise */
	FORM_CPUS,   /* "0-3,8" */
};
struct platform_fact {
	const char *key;
	enum platform_place place;
	const char *path;
	enum platform_form form;
	int64_t scale; /* of a number; 0: 1 */
};

#define FACTS(array) array, sizeof(array) / sizeof((array)[0])

/* Says those facts whose files are there. */
void platform_facts(const struct platform *p, const struct platform_fact *fact, size_t n);
/* The same, where keys and paths may have one %s: what stands for it. */
void platform_facts_of(const struct platform *p, const struct platform_fact *fact, size_t n,
		       const char *of);

/* The first line of a file; false when there is none. */
bool platform_line(const struct root *r, const char *path, char out[PLATFORM_TEXT]);
/* The list that a file is, whole; false when there is none. */
bool platform_list(const struct root *r, const char *path, struct cpulist *set);
/* In place: without the blanks around it, cut at the first newline. Returns where it begins. */
char *platform_trim(char *text);
/* Says text[0..n) when it is not empty. */
void platform_text(const struct platform *p, const char *key, const char *text, size_t n);

/* Names in a directory below a root, sorted; how many, at most max. Longer names are left out. */
size_t platform_names(const struct root *r, const char *path, char (*names)[PLATFORM_NAME],
		      size_t max);
/* The last part of what a symbolic link points to; false when it is none. */
bool platform_link(const struct root *r, const char *path, char out[PLATFORM_NAME]);

void platform_cpu(const struct platform *p);
void platform_memory(const struct platform *p);
void platform_devices(const struct platform *p);
void platform_gpus(const struct platform *p);

#endif
