/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - how much of the program and its libraries is in memory.
 */
#ifndef SONDE_BASE_TEXT_CODE_H
#define SONDE_BASE_TEXT_CODE_H

/* Let go of all pages of code and constants; those that are needed come back when they are used.
 * For a process that has started and from now on does little: most of what it holds, only its start
 * has used. */
void code_let_go(void);

#endif
