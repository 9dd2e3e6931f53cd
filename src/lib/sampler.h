/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - what of a sampler the report needs. Private to src/lib.
 */
#ifndef SONDE_LIB_SAMPLER_H
#define SONDE_LIB_SAMPLER_H

#include "core/tracker.h"

#include <sonde_sampler.h>

struct sonde_sample sampler_public(const struct tracker_sample *s);
struct tracker_sample sampler_private(const struct sonde_sample *s);
/* What all samples came to. */
struct tracker sampler_tracker(const struct sonde_sampler *sampler);

#endif
