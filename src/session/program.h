/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - whether the command of `run` can be executed at all, so that a slip of the keyboard
 * makes no recording.
 *
 * It looks where execvp looks. What only the kernel can tell, as a script without its interpreter,
 * is left to it.
 */
#ifndef SONDE_SESSION_PROGRAM_H
#define SONDE_SESSION_PROGRAM_H

/* 0, or LAUNCH_NOT_FOUND or LAUNCH_NOT_EXECUTABLE, and then it has said why in a line; with the way
 * to hand the words to a shell when they are meant for one. */
int program_check(char *const *argv);

#endif
