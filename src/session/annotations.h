/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotations.h - `run --annotations`: the variables by which programs load libsonde_inject.so,
 * which hands what they mark already to the recorder.
 *
 * Without the option the job's environment is untouched. What is set already stays, and is said; so
 * is a static program, which loads nothing.
 */
#ifndef SONDE_SESSION_ANNOTATIONS_H
#define SONDE_SESSION_ANNOTATIONS_H

#include <stdbool.h>

/* A list of kinds, "mpi,nvtx": known; false: it has said why not. Without its library, which it
 * says, nothing of them is recorded. */
bool annotations_check(const char *list);
/* How the environment was; {0} before. */
enum { ANNOTATION_KINDS = 6 };
struct annotations {
	char *before[ANNOTATION_KINDS]; /* the variable's value; NULL: it was not set */
	bool set[ANNOTATION_KINDS];
};

/* For what is executed from now on. list NULL: nothing. program: what will be, as it was named. */
void annotations_export(struct annotations *x, const char *list, const char *program);
/* No more. */
void annotations_undo(struct annotations *x);

#endif
