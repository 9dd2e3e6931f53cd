/* SPDX-License-Identifier: Apache-2.0 */
/*
 * now_part.h - what the files of live/now.h share: rates of series, figures made of them. Nobody
 * outside includes this.
 */
#ifndef SONDE_LIVE_NOW_PART_H
#define SONDE_LIVE_NOW_PART_H

#include "core/frame/rate.h"
#include "live/now.h"

struct now_series {
	uint32_t id;
	uint8_t role; /* which figure it is of, as live/now_figures.c has it */
	struct counter_reading last;
	double rate; /* of a counter; NAN: none yet */
};

int64_t now_interval_ns(const struct now_node *n);
/* Rates of what was read since the look before; of a replay, since the reading before. 0 or
 * -ENOMEM. */
int now_series_look(struct now_node *n, bool replays);

void now_figures_clear(double figure[NOW_FIGURE_NUMBER_OF]);
/* Those that are a quotient of two others. */
void now_figures_ratios(double figure[NOW_FIGURE_NUMBER_OF]);
void now_figures_look(struct now_node *n);

#endif
