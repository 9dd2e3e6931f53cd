/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper.h - helper executables, found as git finds its own: NAME is the program sonde-NAME.
 *
 * They are looked for in $SONDE_LIBEXEC when it is set, else in ../libexec/sonde beside this
 * program, in libexec/sonde below it (where it was built), else where it was installed. PATH is
 * never searched for them.
 */
#ifndef SONDE_BASE_HELPER_H
#define SONDE_BASE_HELPER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The path of helper `name`. 0, or with a sentence -ENOENT when there is none (also for what is no
 * plain word), -ESTALE when the file `version` beside it names another version than this one's.
 * packages: Debian's that it is built with, or NULL. */
int helper_find(const char *name, const char *packages, char *path, size_t size, struct err *e);
/* Likewise a library that lies there. */
int helper_library(const char *name, char *path, size_t size, struct err *e);
/* The exit status of a helper whose program or a library of it is not there, as the loader has it.
 */
enum { HELPER_NOT_STARTED = 127 };
/* The sentence about it, and about one that ended before it had answered: -ENOENT, -EPIPE. library:
 * Debian's packages that it needs to run. */
int helper_cannot_start(const char *name, const char *library, struct err *e);
int helper_lost(const char *name, const char *library, struct err *e);
/* Become the helper with argv (argv[0] is replaced). Returns only on failure: -ENOENT when there is
 * none (e stays empty), else -errno with a sentence. */
int helper_exec(const char *name, char **argv, struct err *e);
/* Whether a shell would find a program under this word: a path, or a name in PATH. */
bool program_exists(const char *word);

/*
 * Work that a helper executable does with a library that Sonde itself does without.
 *
 * The helper sonde-NAME gets what it is to do on its standard input and the file to write as
 * descriptor 3, and answers on its standard output: an errno and a sentence. It ends with this
 * process. What the bytes mean is for the two to know.
 */
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

/*
 * A helper executable (base/helper.h) that is asked over a socket, its standard input.
 *
 * It gets no other descriptor but /dev/null as output, and ends with this process. {0} is closed.
 */

struct talk {
	pid_t pid;  /* 0: closed */
	int socket; /* valid while pid is not 0 */
};

/* packages: Debian's that the helper is built with, for the sentence. 0, -ENOENT when it is not
 * there, or -errno. */
int talk_open(struct talk *t, const char *helper, const char *packages, struct err *e);
void talk_close(struct talk *t);

/* What came of a socket and was not asked for yet: one look at it takes many small messages. {0} is
 * empty. */
enum { TALK_AHEAD = 16384 };
struct talk_ahead {
	size_t at, end;
	unsigned char bytes[TALK_AHEAD];
};

/* As talk_read; once it is used, nothing else may read that socket. */
bool talk_read_ahead(int fd, struct talk_ahead *ahead, void *to, size_t n);

/* All n bytes of a socket; false at an end or an error. */
bool talk_read(int fd, void *to, size_t n);
bool talk_write(int fd, const void *from, size_t n);

/*
 * A helper that answers through memory that it has in common with this process, and is asked by a
 * byte on a socket.
 */
enum { HELPER_SOCKET = 3, HELPER_MEMORY = 4 }; /* its descriptors */

/* Zeroed memory for it, its size sealed. A descriptor of it to hand over, or -errno. */
int helper_memory(const char *name, size_t size, void **memory);
/* fd: the n descriptors that it has and no other, the first ones -1 for /dev/null;
 * fd[HELPER_SOCKET] becomes its end of t->socket. 0, or -errno with a sentence; *t is closed then.
 */
int helper_start(const char *path, int *fd, int n, struct talk *t, struct err *e);

#endif
