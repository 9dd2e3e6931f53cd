/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - a directory that has to be there before something is put into it.
 */
#ifndef SONDE_BASE_FOLDER_H
#define SONDE_BASE_FOLDER_H

#include "base/err.h"

/* Its own user's alone (0700), unless it is there already; in one that is there. 0, or -errno with
 * a sentence. */
int folder_make(const char *path, struct err *e);
/* The same; one that is there and is a link to another is refused: somebody else may have put it
 * there. */
int folder_make_own(const char *path, struct err *e);

#endif
