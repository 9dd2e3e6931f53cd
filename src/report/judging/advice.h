/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - what to do, where that depends on the language or the tool that the job used.
 */
#ifndef SONDE_REPORT_JUDGING_ADVICE_H
#define SONDE_REPORT_JUDGING_ADVICE_H

#include "report/summary/summary.h"

/* The command that runs an interpreter and used most CPU time; where none is known, that used most.
 * NULL: none. */
const char *advice_interpreter(const struct summary *s);
/* "Move loops into NumPy, Numba or Cython.": of that. */
const char *advice_of_interpreter(const struct summary *s);
/* How to learn the functions of a program that is interpreted, or compiled while it runs. */
const char *advice_of_profiler(const struct summary *s, const char *otherwise);
/* What helps where much CPU time collects garbage. */
const char *advice_of_collection(const struct summary *s);
/* What helps against page faults, by what manages the memory. */
const char *advice_of_faults(const struct summary *s);
/* Of a program whose functions have no names, by its command line; NULL: nothing is known. */
const char *advice_of_options(const char *line);
/* The line has that word, not first. */
bool advice_has_word(const char *line, const char *word);
/* What helps against system calls, and how to count them where they were not sampled. */
const char *advice_of_calls(const struct summary *s);
/* "(-O0). Build with -O2 ...": of the language of what was compiled without optimization. */
const char *advice_of_unoptimized(const struct summary *s);

/* ", also to pyenv, which ...": what looks for an interpreter at each start; else ".". */
const char *advice_of_shim(const struct summary *s);

#endif
