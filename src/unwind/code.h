/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - the name of one place in a file with code, for who asks over a socket
 * (source/program/code_name.h).
 */
#ifndef SONDE_UNWIND_CODE_H
#define SONDE_UNWIND_CODE_H

#include <stdbool.h>

bool code_is_asked(void); /* the question on standard input, a socket, is one of these */
int code_serve(void);     /* an exit status */

#endif
