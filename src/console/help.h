/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - what a person reads of the commands, made from their tables: --help and the man pages.
 *
 * Nothing is printed here; text is appended. Hidden commands and options are left out of lists, but
 * a hidden command that is asked for by name has its help.
 */
#ifndef SONDE_CONSOLE_HELP_H
#define SONDE_CONSOLE_HELP_H

#include "base/bytes.h"
#include "console/command.h"

void help_overview(struct bytes *b);
void help_command(struct bytes *b, const struct command *c);
/* The manual in man(7): sonde(1), or one command's page. */
void man_overview(struct bytes *b);
void man_command(struct bytes *b, const struct command *c);

#endif
