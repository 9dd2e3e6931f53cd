/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper.h - helper executables, found as git finds its own: NAME is the program sonde-NAME.
 *
 * They are looked for in $SONDE_LIBEXEC when it is set, else in ../libexec/sonde beside this
 * program, in libexec/sonde below it (where it was built), else where it was installed. PATH is
 * never searched for them.
 */
#ifndef SONDE_BASE_HELPER_H
#define SONDE_BASE_HELPER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The path of helper `name`. 0, or with a sentence -ENOENT when there is none (also for what is no
 * plain word), -ESTALE when the file `version` beside it names another version than this one's.
 * packages: Debian's that it is built with, or NULL. */
int helper_find(const char *name, const char *packages, char *path, size_t size, struct err *e);
/* Likewise a library that lies there. */
int helper_library(const char *name, char *path, size_t size, struct err *e);
/* The exit status of a helper whose program or a library of it is not there, as the loader has it.
 */
enum { HELPER_NOT_STARTED = 127 };
/* The sentence about it, and about one that ended before it had answered: -ENOENT, -EPIPE. library:
 * Debian's packages that it needs to run. */
int helper_cannot_start(const char *name, const char *library, struct err *e);
int helper_lost(const char *name, const char *library, struct err *e);
/* Become the helper with argv (argv[0] is replaced). Returns only on failure: -ENOENT when there is
 * none (e stays empty), else -errno with a sentence. */
int helper_exec(const char *name, char **argv, struct err *e);
/* Whether a shell would find a program under this word: a path, or a name in PATH. */
bool program_exists(const char *word);

#endif
