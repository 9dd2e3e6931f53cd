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
