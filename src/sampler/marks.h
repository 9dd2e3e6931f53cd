/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marks.h - what the job's scripts write into their files of marks (job/marklog.h) becomes marks
 * and spans of the recording.
 *
 * A file is read from where its descriptor stands, which a later recorder goes on from. A line
 * without a time gets that of the file's last change. What is no such line, what is too much and
 * what does not fit is counted and said at the end. Nothing is allocated after marks_open, and
 * nobody is waited for.
 */
#ifndef SONDE_SAMPLER_MARKS_H
#define SONDE_SAMPLER_MARKS_H

#include "core/sample.h"
#include "job/secret/secret_list.h"

enum { MARK_FILES_MAX = 1024, MARKS_MAX = 100000, MARK_SPANS_MAX = 256, MARK_TRACKS_MAX = 64 };

struct marks;

/* NULL when out of memory: a recording without marks. */
struct marks *marks_open(const struct secret_list *secrets);
void marks_close(struct marks *m); /* NULL is fine */

/* Readable when something was written; -1: it is not known, and looked for at each sample. */
int marks_fd(const struct marks *m);
/* Take over this descriptor of such a file. Its number, or 0 when it is none. m may be NULL. */
uint32_t marks_add(struct marks *m, int fd);
/* What is written into this file is about this instance. */
void marks_about(struct marks *m, uint32_t file, uint32_t instance);
/* marks_fd is readable: take some of what was written. */
void marks_act(struct marks *m, struct sample *s);
/* With a sample: take the rest, and say which spans have begun. last: no more will come, and what
 * was left out is said. m may be NULL. */
void marks_take(struct marks *m, struct sample *s, bool last);

#endif
