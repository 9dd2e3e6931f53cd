/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - what a process of this machine does just now, in words: runs, or what its first thread
 * waits for, by its state and the kernel's function that it sleeps in.
 */
#ifndef SONDE_LIVE_WAIT_H
#define SONDE_LIVE_WAIT_H

#include <stddef.h>
#include <stdint.h>

enum { WAIT_TEXT = 40 };

/* "-" when it is not known. A kernel's function that has no words is named. Returns out. */
const char *wait_words(char *out, size_t size, int64_t pid);
/* The same of a state as /proc/PID/stat has it, and a function's name ("" or "0": not known). */
const char *wait_words_of(char *out, size_t size, char state, const char *function);

#endif
