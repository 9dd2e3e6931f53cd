/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - makes the software stacks of a sweep real: modules, a virtual environment of
 * Python, a container's image.
 *
 * A virtual environment is made once, below a directory that is kept between sweeps, under a name
 * that follows from its interpreter, platform, requirements, lock and words for pip. Whoever comes
 * while it is made waits; one that was left half made is made anew.
 */
#ifndef SONDE_SWEEP_STACK_H
#define SONDE_SWEEP_STACK_H

#include "base/hash.h"
#include "bench/sweep/sweepspec.h"
#include "trial/evidence.h"

#include <limits.h>

struct stack_made {
	bool tried;
	char reason[512];               /* why it cannot be, all of it; "": it is there */
	struct option_list environment; /* what it adds to the environment */
	char interpreter[256];          /* that makes its virtual environment */
	char python[PATH_MAX];          /* of its virtual environment; "": none */
	char runtime[PATH_MAX];         /* that runs its image; "": none */
	char fingerprint[SHA256_HEX];   /* of what is in it; "": of the plain host */
	struct pool pool;
};

/* cache: where virtual environments are kept. What was made stays as it is. */
void sweepstack_make(struct stack_made *m, const struct sweep_stack *s, const char *cache);
void sweepstack_free(struct stack_made *m);

/* The directory that is kept: of --stacks, else of this user's cache. */
int sweepstack_cache(const char *chosen, char out[PATH_MAX], struct err *e);

/* Adds NAME=VALUE. False: there are too many, or no memory. */
bool sweepstack_set(struct option_list *list, struct pool *pool, const char *name,
		    const char *value);

#endif
