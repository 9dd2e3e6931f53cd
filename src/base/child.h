/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - ending a child process that may hang in the kernel.
 *
 * Nobody is ever waited for long: who does not end within 20 ms is left behind and goes when the
 * kernel lets it go.
 */
#ifndef SONDE_BASE_CHILD_H
#define SONDE_BASE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Kill and reap it. Does nothing for a pid that is no child, or was reaped. False: it was left
 * behind. */
bool child_end(pid_t pid);

#endif
