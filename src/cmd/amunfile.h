/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amunfile.h - `import amun`: inspections become rows of the store, and no recording.
 */
#ifndef SONDE_CMD_AMUNFILE_H
#define SONDE_CMD_AMUNFILE_H

#include <stdbool.h>

/* store NULL: the user's. An exit code. */
int amunfile_import(const char *path, const char *store, bool json);

#endif
