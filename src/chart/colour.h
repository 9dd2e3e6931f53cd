/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colour.h - the colours of charts: those of lines and layers, told apart by who does not see all
 * of them as well, and the scale of heat maps, from light to dark.
 */
#ifndef SONDE_CHART_COLOUR_H
#define SONDE_CHART_COLOUR_H

#include <stdint.h>

enum {
	COLOUR_INK = 0x1f2933,
	COLOUR_SOFT = 0x5b6672,
	COLOUR_GRID = 0xe3e7eb,
	COLOUR_AXIS = 0x9aa5b1,
	COLOUR_PAPER = 0xffffff,
	COLOUR_SERIES = 8 /* different ones for lines */
};

/* By the word that the tables of charts have for it: "blue"; ink for an unknown one. */
uint32_t colour_named(const char *name);
/* The n-th line's; they begin anew after COLOUR_SERIES. */
uint32_t colour_series(uint32_t n);
/* The same, half way to white: 1 is white, 0 the colour. */
uint32_t colour_tint(uint32_t colour, double share);

/* Cells of a heat map: 0 is no value, 1 to COLOUR_STEPS from the least to the most. */
enum { COLOUR_STEPS = 32 };
uint8_t colour_step(double share); /* of 0 to 1; NAN is no value */
uint32_t colour_cell(uint8_t step);

#endif
