/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/colour.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Of Okabe and Ito, which stay apart for all kinds of colour vision. */
static const struct {
	const char *name;
	uint32_t colour;
} names[] = {
	{ "blue", 0x0072b2 }, { "orange", 0xe69f00 }, { "green", 0x009e73 },
	{ "red", 0xd55e00 },  { "purple", 0xb5649b }, { "sky", 0x56b4e9 },
	{ "grey", 0x8a939c }, { "ink", 0x1f2933 },    { "pale", 0xe9ecef },
};
_Static_assert(sizeof names / sizeof names[0] > COLOUR_SERIES, "a colour for every line");

enum { NOTHING = 0xc4c9cf };

/* ColorBrewer's YlGnBu: each darker than the one before it. */
static const uint32_t scale[] = { 0xffffd9, 0xedf8b1, 0xc7e9b4, 0x7fcdbb, 0x41b6c4,
				  0x1d91c0, 0x225ea8, 0x253494, 0x081d58 };

uint32_t colour_named(const char *name)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].colour;
	return COLOUR_INK;
}

uint32_t colour_series(uint32_t n)
{
	return names[n % COLOUR_SERIES].colour;
}

static uint32_t mixed(uint32_t a, uint32_t b, double share)
{
	uint32_t out = 0;

	for (unsigned shift = 0; shift < 24; shift += 8) {
		double from = a >> shift & 255, to = b >> shift & 255;

		out |= (uint32_t)lround(from + (to - from) * share) << shift;
	}
	return out;
}

uint32_t colour_tint(uint32_t colour, double share)
{
	return mixed(colour, COLOUR_PAPER, share);
}

uint8_t colour_step(double share)
{
	if (isnan(share))
		return 0;
	return (uint8_t)(1 + lround(fmin(fmax(share, 0), 1) * (COLOUR_STEPS - 1)));
}

uint32_t colour_cell(uint8_t step)
{
	const uint32_t last = sizeof scale / sizeof scale[0] - 1;
	double at = (double)(step - 1) / (COLOUR_STEPS - 1) * last;
	uint32_t below;

	if (!step || step > COLOUR_STEPS)
		return NOTHING;
	below = (uint32_t)at;
	return below == last ? scale[last] : mixed(scale[below], scale[below + 1], at - below);
}
