/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.h - one look at all threads of some processes, for who asks over a socket (waits/look.h).
 *
 * Before each piece of work that may block it says of which thread that is, so that who asks knows
 * where it hangs.
 */
#ifndef SONDE_UNWIND_LOOK_H
#define SONDE_UNWIND_LOOK_H

#include <stdbool.h>

bool look_is_asked(void); /* standard input is a socket */
int look_serve(void);     /* an exit status */

#endif
