/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_sample.c - a sample as the library's users have it, and as trackers do. */
#include "lib/sampler.h"

static const struct {
	enum tracker_field field;
	size_t offset;
} places[] = {
#define PLACE(field, member)                                                                       \
	{                                                                                          \
		field, offsetof(struct sonde_sample, member)                                       \
	}
	PLACE(TRACKER_CPU_MEAN, cpu_mean),
	PLACE(TRACKER_CPU_MIN, cpu_min),
	PLACE(TRACKER_CPU_MAX, cpu_max),
	PLACE(TRACKER_MEMORY, memory),
	PLACE(TRACKER_DISK_USED, disk),
	PLACE(TRACKER_DISK_READ, disk_read),
	PLACE(TRACKER_DISK_WRITTEN, disk_written),
	PLACE(TRACKER_LOOPBACK_SENT, loopback_sent),
	PLACE(TRACKER_NETWORK_SENT, network_sent),
	PLACE(TRACKER_LOOPBACK_RECEIVED, loopback_received),
	PLACE(TRACKER_NETWORK_RECEIVED, network_received),
};
enum { NPLACES = sizeof places / sizeof places[0] };
_Static_assert((int)NPLACES == (int)TRACKER_PLAIN_FIELDS, "a member for each field");

struct sonde_sample sampler_public(const struct tracker_sample *s)
{
	struct sonde_sample out = { .timestamp = s->utc_s,
				    .seconds = s->seconds,
				    .window = s->stands_s };

	for (size_t i = 0; i < NPLACES; i++)
		*(double *)((char *)&out + places[i].offset) = s->value[places[i].field];
	return out;
}

struct tracker_sample sampler_private(const struct sonde_sample *s)
{
	struct tracker_sample out = tracker_sample_at(s->timestamp, s->seconds);

	out.stands_s = s->window;
	for (size_t i = 0; i < NPLACES; i++)
		out.value[places[i].field] = *(const double *)((const char *)s + places[i].offset);
	return out;
}
