/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asking.h - a command of the system whose output is read while it runs, with an empty standard
 * input. Its messages are part of the output. Nobody waits for it.
 */
#ifndef SONDE_BASE_TEXT_ASKING_H
#define SONDE_BASE_TEXT_ASKING_H

#include "base/bytes.h"

#include <sys/types.h>

struct asking {
	pid_t pid; /* 0: none */
	int from;
	struct bytes output; /* so far; at most ASKING_OUTPUT and a little */
};

enum { ASKING_OUTPUT = 1 << 18 };

/* argv[0] is looked for in PATH. change: called in the new process before; or NULL. 0 or -errno; a
 * command that is not there says so in its output. */
int asking_start(struct asking *c, char *const *argv, void (*change)(void));
/* Takes what has been written. False once there will be no more. */
bool asking_take(struct asking *c);
/* The same for so long. False: it has not ended by then. */
bool asking_take_all(struct asking *c, int64_t patience_ns);
/* The output as a text. */
const char *asking_text(struct asking *c);
/* Kills and reaps it; {0} afterwards. As wait says how it ended, -1 if there was none. */
int asking_end(struct asking *c, int signal);

#endif
