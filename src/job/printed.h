/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printed.h - what a command that failed printed last: the end of the regular file that is its
 * standard error, or its standard output where only that is one.
 *
 * The file is opened anew for reading: the position that the command writes at is never touched.
 * Nothing older than the command's start is read, and nothing of a terminal or a pipe.
 */
#ifndef SONDE_JOB_PRINTED_H
#define SONDE_JOB_PRINTED_H

#include "core/sample.h"
#include "job/message.h"
#include "job/secret/secret_list.h"

struct printed_place {
	int fd;             /* -1: there is nothing to read */
	int64_t from;       /* its size when the command started */
	bool is_output;     /* it is standard output: a descriptor of its own */
	const char *absent; /* why there is nothing */
};

/* Nobody asks for it; the user does not want it; it is wanted. */
enum printed_wish { PRINTED_UNASKED = 0, PRINTED_REFUSED, PRINTED_WANTED };

/* Before the command starts, and before standard output is let go. Asks no server. */
void printed_begin(struct printed_place *p, enum printed_wish wish);
/* When it has failed: a file system that does not answer is left alone after a second. */
void printed_read(const struct printed_place *p, struct printed *out);
void printed_end(struct printed_place *p);

/* What a command that failed printed last, as metadata: its last lines in valid UTF-8
 * without control characters and secrets.
 *
 * job.error_text of a node, or the label error_text of a task's instance; error_text_from where
 * that is not standard error, and error_text_absent where there is none. */
enum { ERROR_TEXT_LINES = 20, ERROR_TEXT_BYTES = 4096 };

/* instance 0: of the node. */
void error_text_say(struct sample *s, uint32_t instance, const struct secret_list *l,
		    const struct printed *p);

#endif
