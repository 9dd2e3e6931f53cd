/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said.h - where a job says what it does: its scripts (markfile.h) and its programs
 * (the folder of spans).
 *
 * These lie below $TMPDIR, whose server may be gone: then the job begins without them, and its end
 * does not wait for them either.
 */
#ifndef SONDE_JOB_SAID_H
#define SONDE_JOB_SAID_H

#include "base/err.h"
#include "core/sample.h"
#include "job/marklog.h"
#include "job/message.h"
#include "job/secret/secret_list.h"

/* The folder in which a job's processes leave their spans (core/ring.h):
 * $SONDE_SPANS.
 *
 * On this node and in memory where that can be: what is mapped from a disk may make who writes
 * into it wait. Its launcher makes it and takes it away (leftover.h). */
enum { SPAN_FOLDER_SIZE = 256 };

struct span_folder {
	char path[SPAN_FOLDER_SIZE]; /* "": there is none */
	int fd;
};

struct said {
	struct mark_file marks;
	struct span_folder spans;
};

/* And the job's environment names them. 0, or -ETIMEDOUT with a sentence: there are none. */
int said_make(struct said *x, struct err *e);
/* What killed jobs left beside them goes, which the job need not wait for. */
void said_tidy(const struct said *x);
/* The recorder has them open itself: closing a file may wait for its server, and the launcher's end
 * closes what it has open. */
void said_taken(struct said *x);
/* Nothing that is executed from then on is told of them. */
void said_remove(struct said *x);

/*
 * What a command that failed printed last: the end of the regular file that is its
 * standard error, or its standard output where only that is one.
 *
 * The file is opened anew for reading: the position that the command writes at is never touched.
 * Nothing older than the command's start is read, and nothing of a terminal or a pipe.
 */
struct printed_place {
	int fd;             /* -1: there is nothing to read */
	int64_t from;       /* its size when the command started */
	bool at_hand;       /* it is on a disk of this machine, which knows its size */
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

/* Of a command that ended with 0 though a process of it failed: what is its standard error. */
void error_text_say_hidden(struct sample *s, const struct secret_list *l, const struct printed *p);
/* instance 0: of the node. */
void error_text_say(struct sample *s, uint32_t instance, const struct secret_list *l,
		    const struct printed *p);

#endif
