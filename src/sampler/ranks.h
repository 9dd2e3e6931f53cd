/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - which ranks of a parallel job the threads of a look are of, as the environments of
 * their processes tell. Reading one may block: as looks, for helpers and for who can wait.
 */
#ifndef SONDE_SAMPLER_RANKS_H
#define SONDE_SAMPLER_RANKS_H

#include "base/root.h"
#include "waits/wait.h"

/* Sets rank of each thread, and how many there are. */
void ranks_find(struct waits *w, const struct root *proc);

#endif
