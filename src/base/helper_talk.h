/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper_talk.h - work that a helper executable does with a library that Sonde itself does without.
 *
 * The helper sonde-NAME gets what it is to do on its standard input and the file to write as
 * descriptor 3, and answers on its standard output: an errno and a sentence. It ends with this
 * process. What the bytes mean is for the two to know.
 */
#ifndef SONDE_BASE_HELPER_TALK_H
#define SONDE_BASE_HELPER_TALK_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

struct helper_program {
	const char *name;        /* the program sonde-NAME */
	const char *development; /* Debian's packages that it is built with */
	const char *library;     /* those that it needs to run */
};

/* {0} is one that was not begun, and safe to free. */
struct helper_talk {
	const struct helper_program *program;
	pid_t pid; /* 0: not started */
	int work, answer;
};

/* file: a regular file that is open for reading and writing. 0, or -errno with a sentence, which is
 * -ENOENT when the helper is not installed or its library is not. */
int helper_talk_begin(struct helper_talk *t, const struct helper_program *program, int file,
		      struct err *e);
int helper_talk_send(struct helper_talk *t, const void *data, size_t n, struct err *e);
/* Waits until it is done: 0, or what it says went wrong. */
int helper_talk_end(struct helper_talk *t, struct err *e);
void helper_talk_free(struct helper_talk *t);

enum { HELPER_FILE = 3 };
/* The helper's part: its answer, as an exit status. */
int helper_answer(int code, const struct err *e);

#endif
