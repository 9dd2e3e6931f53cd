/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweepexpand.h - stacks of a specification whose Python requirements are ranges, or a Pipfile,
 * become concrete ones in its document.
 *
 * The stack's own pip finds the versions and resolves them (sweep/expand.py). What came of it is
 * kept beside the virtual environments, so that a sweep that goes on has the same stacks, whatever
 * was published meanwhile.
 */
#ifndef SONDE_SWEEP_SWEEPEXPAND_H
#define SONDE_SWEEP_SWEEPEXPAND_H

#include "sweep/sweeping.h"

/* name: what errors call the document. 0, -EBADMSG with a sentence, -errno. */
int sweepexpand(struct sweeping *x, struct jsontree *document, const char *name, struct err *e);

#endif
