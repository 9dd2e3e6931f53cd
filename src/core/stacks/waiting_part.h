/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting_part.h - what the files of core/stacks/waiting.h share. Nobody outside includes this.
 */
#ifndef SONDE_CORE_STACKS_WAITING_PART_H
#define SONDE_CORE_STACKS_WAITING_PART_H

#include "core/stacks/stacks_part.h"
#include "core/stacks/waiting.h"

/* keys: the ids of rows BY_THREAD and BY_PLACE as a and b; time: of each. After those rows. 0 or
 * -ENOMEM. */
int waiting_spots_make(struct waiting *w, const struct tally *keys,
		       const struct waiting_time *time);

#endif
