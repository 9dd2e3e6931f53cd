/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - `sonde --version [--json]`: which version this is, and what was built into it.
 */
#ifndef SONDE_CONSOLE_VERSION_H
#define SONDE_CONSOLE_VERSION_H

#include <stdbool.h>

int version_print(bool json); /* an exit code */

#endif
