/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cell.h"

#include <math.h>
#include <stdio.h>

const char *cell_text(char out[CELL], enum unit unit, double v)
{
	if (isnan(v))
		snprintf(out, CELL, "-");
	else
		unit_format(unit, v, out, CELL);
	return out;
}

const char *cell_cores(char out[CELL], double v)
{
	if (v < 0.005)
		snprintf(out, CELL, v > 0 ? "under 0.01" : "0");
	else
		cell_text(out, UNIT_ONE, v);
	return out;
}

const char *cell_share(char out[CELL], double v)
{
	if (v > 0 && v < 0.01)
		snprintf(out, CELL, "under 1 %%");
	else
		snprintf(out, CELL, "%.0f %%", 100 * v);
	return out;
}
