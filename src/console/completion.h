/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h - what shells offer at the tab key, made from the tables of commands and options.
 *
 * Nothing of it starts sonde: the scripts hold what they need.
 */
#ifndef SONDE_CONSOLE_COMPLETION_H
#define SONDE_CONSOLE_COMPLETION_H

#include "base/bytes.h"

void completion_bash(struct bytes *b);
void completion_zsh(struct bytes *b);
void completion_fish(struct bytes *b);

#endif
