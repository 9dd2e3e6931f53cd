/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shorten.h - a sentence about a hang in a few lines: who waits for whom, and what to do.
 *
 * Its stacks, "in read < load (io.c:8) < main (app.c:3)", are left to whoever asks for all of it.
 */
#ifndef SONDE_REPORT_TEXT_SHORTEN_H
#define SONDE_REPORT_TEXT_SHORTEN_H

#include <stddef.h>

/* To so many columns if it is longer and has stacks: each as its outermost function with a line,
 * else none; if that is still longer by a quarter with a gap before the last sentence. One without
 * stacks stays as it is. */
void sentence_shorten(char *text, size_t most);

#endif
