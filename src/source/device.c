/* SPDX-License-Identifier: Apache-2.0 */
#include "source/device.h"

#include "base/clock.h"
#include "base/reserve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int devices_init(struct devices *d, uint32_t cap)
{
	*d = (struct devices){ .row = reserve(cap * sizeof *d->row), .cap = cap };
	return d->row ? 0 : -ENOMEM;
}

void devices_free(struct devices *d)
{
	reserve_free(d->row, d->cap * sizeof *d->row);
	*d = (struct devices){ 0 };
}

void devices_begin(struct devices *d)
{
	d->pass++;
	d->next = 0;
}

static bool is_named(const struct device *v, const char *name, size_t len)
{
	return v->len == len && memcmp(v->name, name, len) == 0;
}

static struct device *search(struct devices *d, const char *name, size_t len)
{
	struct device *free_row = NULL;

	for (struct device *v = d->row; v < d->row + d->n; v++) {
		if (is_named(v, name, len))
			return v;
		if (!v->len && !free_row)
			free_row = v;
	}
	if (!free_row && d->n < d->cap)
		free_row = &d->row[d->n++];
	if (free_row) {
		*free_row = (struct device){ .len = (uint32_t)len };
		memcpy(free_row->name, name, len);
	}
	return free_row;
}

struct device *devices_meet(struct devices *d, const char *name, size_t len)
{
	struct device *v = d->next < d->n ? &d->row[d->next] : NULL;

	if (!len || len >= DEVICE_NAME_SIZE)
		return NULL;
	if (!v || !is_named(v, name, len))
		v = search(d, name, len);
	if (!v || v->seen == d->pass)
		return NULL;
	d->next = (uint32_t)(v - d->row) + 1;
	v->seen = d->pass;
	return v;
}

uint64_t device_hash(uint64_t h, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return h;
}

struct device *devices_meet_hash(struct devices *d, uint64_t h)
{
	char name[17];

	snprintf(name, sizeof name, "%016" PRIx64, h);
	return devices_meet(d, name, 16);
}

void device_announce(struct device *v, struct sample *s, const struct metric *metrics,
		     uint32_t count)
{
	device_announce_as(v, v->name, s, metrics, count);
}

void device_announce_as(struct device *v, const char *name, struct sample *s,
			const struct metric *metrics, uint32_t count)
{
	v->told = true;
	v->instance = sample_instance(s, metrics->domain, name, 0, clock_mono_ns(), v->flags);
	if (!v->instance)
		return;
	if (s->slot_cap - s->nslots < count + DEVICES_LEAVE) {
		sample_leave_out(s, metrics, name);
		return;
	}
	v->nslots = count;
	v->slot = sample_series(s, metrics, count, v->instance);
}

void device_lack(struct device *v, struct sample *s, uint32_t i, enum state state,
		 const char *reason)
{
	bool lacks = state != STATE_PRESENT;

	if (!v->slot || lacks == (v->lacks >> i & 1))
		return;
	v->lacks ^= UINT64_C(1) << i;
	sample_refuse(s, v->slot + i, state, reason);
}

bool devices_stand(const struct devices *d, struct sample *s)
{
	for (const struct device *v = d->row; v < d->row + d->n; v++)
		if (v->slot && !sample_stood(s, v->slot))
			return false;
	for (const struct device *v = d->row; v < d->row + d->n; v++)
		sample_hold(s, v->slot, v->nslots);
	return true;
}

void device_incomplete(struct device *v, struct sample *s, uint32_t count)
{
	for (uint32_t i = 0; v->slot && i < count && i < v->nslots; i++)
		if (s->state[v->slot + i] != STATE_PRESENT)
			device_lack(v, s, i, STATE_FAILED,
				    "its line is missing, is cut short or holds no number");
}

void devices_incomplete(struct devices *d, struct sample *s, uint32_t count)
{
	for (struct device *v = d->row; v < d->row + d->n; v++)
		device_incomplete(v, s, count);
}

static void end(struct device *v, struct sample *s)
{
	if (v->slot)
		sample_series_end(s, v->slot, v->nslots);
	if (v->instance)
		sample_end(s, v->instance, clock_mono_ns());
	*v = (struct device){ 0 };
}

void devices_sweep(struct devices *d, struct sample *s)
{
	for (struct device *v = d->row; v < d->row + d->n; v++)
		if (v->len && v->seen != d->pass)
			end(v, s);
}
