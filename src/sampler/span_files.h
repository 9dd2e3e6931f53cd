/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_files.h - the files in which processes of the job leave their spans: they are found in the
 * folders of their launchers (job/said.h), taken (source/program/spans.h) while the processes
 * live, and removed when these are gone.
 *
 * Nothing is allocated but for a process that is new, and nobody is waited for.
 */
#ifndef SONDE_SAMPLER_SPAN_FILES_H
#define SONDE_SAMPLER_SPAN_FILES_H

#include "sampler/tree/tree.h"

enum { SPAN_FOLDERS_MAX = 1024, SPAN_PROCESSES_MAX = 512 };

struct span_files;

/* NULL when out of memory: a recording without them. */
struct span_files *span_files_open(void);
void span_files_close(struct span_files *x); /* NULL is fine */

/* Readable when a process has made its file; -1: it is not known, and looked for at each sample. */
int span_files_fd(const struct span_files *x);
/* Such a folder. Its number, or 0 when it is none. x may be NULL. */
uint32_t span_files_add(struct span_files *x, const char *path);
/* What processes of this folder are about that are not in the tree. */
void span_files_about(struct span_files *x, uint32_t folder, uint32_t instance);
/* When to call span_files_act; 0: no process is there. */
int64_t span_files_due_ns(const struct span_files *x);
/* span_files_fd is readable, or it is due: take what is there. */
void span_files_act(struct span_files *x, const struct tree *t, struct sample *s);
/* Processes wait for a place that others have left meanwhile. x may be NULL. */
bool span_files_wait(const struct span_files *x);
/* With a sample, behind that of the tree. last: no more will come. x may be NULL. */
void span_files_take(struct span_files *x, const struct tree *t, struct sample *s, bool last);

#endif
