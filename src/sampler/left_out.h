/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_out.h - says what a sample had no room for: of each kind how many, and the first of them.
 */
#ifndef SONDE_SAMPLER_LEFT_OUT_H
#define SONDE_SAMPLER_LEFT_OUT_H

#include "core/sample.h"

/* As metadata source.NAME of the source that would have told of them, as a source that failed. */
void left_out_say(struct sample *s);

#endif
