/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - what commands tell a person on stderr: one line, "sonde: " before it.
 *
 * The whole line is escaped for the terminal, so hostile names may be handed in as they are. Data
 * goes to stdout and not through here.
 */
#ifndef SONDE_CONSOLE_SAY_H
#define SONDE_CONSOLE_SAY_H

#include <stdbool.h>

/* Nothing more is said once whoever read standard output has gone, as head -1 does: it has what it
 * wanted. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What was said last, without "sonde: "; "" when nothing was. */
const char *say_last(void);
/* Whether writing to standard output failed because its reader has gone. */
bool say_reader_is_gone(void);

#endif
