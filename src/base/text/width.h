/* SPDX-License-Identifier: Apache-2.0 */
/*
 * width.h - how many columns of a terminal a character takes.
 *
 * From tables of its own: wcwidth() knows only what the caller's locale knows.
 */
#ifndef SONDE_BASE_TEXT_WIDTH_H
#define SONDE_BASE_TEXT_WIDTH_H

#include <stdint.h>

/* 0 (a mark on the character before it), 1 or 2; of control characters it says nothing of use. */
unsigned width_of(uint32_t c);

#endif
