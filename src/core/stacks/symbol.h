/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - names of functions as people read them: of C++, Rust, Go, Fortran and C.
 *
 * Names are hostile text of any length; what cannot be understood stays as it is. Nothing is
 * demangled here: the recorder did that.
 */
#ifndef SONDE_CORE_STACKS_SYMBOL_H
#define SONDE_CORE_STACKS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

/* "void std::__sort<int*>(int*, int*) [clone .part.0]" becomes "std::__sort": without return type,
 * template arguments, parameters, versions and what compilers append. Cut to size, at a whole UTF-8
 * character. out, which may not be name. */
const char *symbol_short(const char *name, char *out, size_t size);

/* The last part of a path: "libz.so.1.2.13". Borrowed. */
const char *symbol_base(const char *path);

/* Does every program or thread begin in it, before its own code: _start, start_thread, ...? */
bool symbol_is_beginning(const char *name);

/* Does glibc, from 2.41 on, make those system calls in it that end a cancelled thread? The function
 * that the program called is further out. */
bool symbol_is_cancellation(const char *name);

/* Is it of the standard library of C++ or Rust, which compilers also put into programs? By its
 * name, or by the file where it is ("": not known): a template that takes a lambda, and an impl of
 * alloc for a type of the program, have no name of the library's. */
bool symbol_is_of_library(const char *name, const char *file);

/* Is it a file of Python's own library, or of one that was installed? */
bool symbol_is_of_python(const char *file);

/* Of each path from the root on in it the last part: "py::f:/opt/a/b.py" becomes "py::f:b.py". In
 * place. */
void symbol_strip_paths(char *name);

#endif
