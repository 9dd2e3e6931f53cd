/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - what commands tell a person on stderr: one line, "sonde: " before it.
 *
 * The whole line is escaped for the terminal, so hostile names may be handed in as they are. Data
 * goes to stdout and not through here.
 */
#ifndef SONDE_CMD_SAY_H
#define SONDE_CMD_SAY_H

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
