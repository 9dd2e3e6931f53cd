/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchimport.h - `import amun`, `import pytest-benchmark` and its siblings: what others measured
 * becomes rows of the store, and no recording.
 */
#ifndef SONDE_TRIAL_BENCHIMPORT_H
#define SONDE_TRIAL_BENCHIMPORT_H

#include <stdbool.h>

/* Is there such a benchmark suite? */
bool benchimport_knows(const char *suite);
/* suite NULL: inspections of amun; store NULL: the user's. An exit code. */
int benchimport(const char *suite, const char *path, const char *store, bool json);

#endif
