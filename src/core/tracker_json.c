/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracker_json.h"

#include <math.h>

void tracker_sample_json(const struct tracker_sample *s, struct json *j)
{
	json_object(j);
	for (unsigned f = 0; f < TRACKER_FIELDS; f++) {
		double v = s->value[f] * tracker_fields[f].scale;

		if (f >= TRACKER_PLAIN_FIELDS && !isfinite(v))
			continue;
		json_key(j, tracker_fields[f].key);
		json_real(j, v);
	}
	json_key(j, "timestamp");
	json_real(j, s->utc_s);
	json_object_end(j);
}
