/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unnamed.h - a private file without a name: it goes with who holds it.
 */
#ifndef SONDE_BASE_UNNAMED_H
#define SONDE_BASE_UNNAMED_H

/* Opened for reading and writing, in the file system of that directory. A descriptor or -errno. */
int unnamed_open(const char *directory);
/* In memory, or where the kernel is older than 3.17 in a temporary directory. */
int unnamed_memory(const char *name);

#endif
