/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost.h - a note on stderr of what a recording lost or left out, for commands that write files.
 */
#ifndef SONDE_CONSOLE_LOST_H
#define SONDE_CONSOLE_LOST_H

#include "core/frame/run.h"

/* One line; nothing when nothing was lost that changes what a reader believes. */
void lost_say(const char *verb, const struct run *r);

#endif
