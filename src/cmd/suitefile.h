/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suitefile.h - `import pytest-benchmark` and its siblings: rows of the store, and no recording.
 */
#ifndef SONDE_CMD_SUITEFILE_H
#define SONDE_CMD_SUITEFILE_H

#include <stdbool.h>

bool suitefile_knows(const char *suite);
/* store NULL: the user's. An exit code. */
int suitefile_import(const char *suite, const char *path, const char *store, bool json);

#endif
