/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.h - comma-separated globs over names: "disk.*,node.load".
 */
#ifndef SONDE_CORE_GLOB_H
#define SONDE_CORE_GLOB_H

#include <stdbool.h>

/* Whether any of the globs (* ? [...]) matches the whole name. A NULL list matches everything. */
bool glob_match(const char *list, const char *name);

#endif
