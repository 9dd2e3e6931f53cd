/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thermal.h - the sensors that the source thermal reads: a file each, of a temperature or of a
 * package's throttling.
 */
#ifndef SONDE_SOURCE_THERMAL_H
#define SONDE_SOURCE_THERMAL_H

#include "base/root.h"
#include "core/sample.h"

enum { THERMAL_PATH_SIZE = 128 };

enum thermal_metric {
	THERMAL_TEMPERATURE,
	THERMAL_PACKAGE_THROTTLES,
	THERMAL_PACKAGE_THROTTLED,
	THERMAL_METRICS
};

extern const struct metric thermal_metrics[THERMAL_METRICS];

struct sensor {
	char path[THERMAL_PATH_SIZE];
	uint32_t slot;
	bool is_temperature;
	int told; /* why it gives nothing: sysfs_put_state */
};

struct sensors {
	const struct root *sys;
	struct sensor *row; /* allocated */
	uint32_t n;
};

/* slot 0: nothing is added. */
void sensors_add(struct sensors *x, const char *path, uint32_t slot, bool is_temperature);
/* Those of processors' temperatures: of hwmon, else of thermal zones. 0 or -ENOMEM. */
int sensors_find_temperatures(struct sensors *x, struct sample *s);

void thermal_label_number(struct sample *s, uint32_t instance, const char *key, int64_t v);

#endif
