/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classes.h - kinds of code ("memory copies", "MPI"), as data: by what functions and the programs
 * and libraries that they are in are called.
 *
 * docs/classes.md says how such a file is written and what a stack counts for. No file is found
 * here: the caller says which.
 */
#ifndef SONDE_CORE_STACKS_CLASSES_H
#define SONDE_CORE_STACKS_CLASSES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLASSES_MAX = 64, CLASS_PATTERNS_MAX = 1024 };

/* Those that no file says: code of which nothing is known, and code that no class has. */
enum { CLASS_UNKNOWN = 0, CLASS_OWN, CLASS_FIRST };

/* What counts for a class besides its functions: what they call in the same program or library; in
 * that and the C library below it; whatever they call; or nothing. */
enum class_claims {
	CLASS_CLAIMS_MODULE = 0,
	CLASS_CLAIMS_SYSTEM,
	CLASS_CLAIMS_ALL,
	CLASS_CLAIMS_NOTHING
};

struct class_pattern {
	const char *symbol; /* NULL: any */
	const char *module; /* NULL: any */
};

struct class_row {
	char *name, *label, *about;
	enum class_claims claims;
	struct class_pattern *pattern;
	uint32_t npatterns;
};

struct classes {
	struct class_row *row; /* [n], from CLASS_UNKNOWN on */
	uint32_t n;
};

/* Add those of text[0..len), which need not end in NUL; name is what errors call it. One of a name
 * that is there, from another text, takes its place; a new one comes before the others. 0 or -errno
 * with a sentence. {0} is empty. */
int classes_add(struct classes *c, const char *name, const char *text, size_t len, struct err *e);
/* Of a file, or of all files *.classes of a directory. */
int classes_read(struct classes *c, const char *path, struct err *e);
void classes_free(struct classes *c);

/* The class that has a function: its name (as symbol_short makes it) counts before its module (a
 * path), and among names the first class. *named: it was by name. 0: none has it. */
uint32_t classes_match(const struct classes *c, const char *function, const char *module,
		       bool *named);
/* The class of a stack, function by function from the outermost inwards. {0} is none yet. */
struct class_walk {
	uint32_t all, system, module; /* classes that claim what is called; 0: none does */
	uint32_t system_of, last;     /* ids of modules */
};
/* A function: what classes_match says of it, its module's id (0: not known), and whether that is of
 * the C library. Returns the class of the stack that ends there; CLASS_UNKNOWN is never one. */
struct class_step {
	uint32_t match, module;
	bool named, system;
};
uint32_t classes_walk(struct class_walk *w, const struct classes *c, const struct class_step *f);
/* Whether a module is the C library, or a part of it. */
bool classes_is_system(const char *module);
/* What a class is called, also where no file was read: "own", "own code". */
const char *classes_name(const struct classes *c, uint32_t class);
const char *classes_label(const struct classes *c, uint32_t class);
/* The class of this name; 0: there is none. */
uint32_t classes_find(const struct classes *c, const char *name);

#endif
