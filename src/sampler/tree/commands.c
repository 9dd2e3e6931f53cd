/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/commands.h"

#include "source/process.h"

#include <string.h>

static struct command_row *look_up(struct commands *c, const char *name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (!strncmp(c->row[i].name, name, COMMAND_NAME - 1))
			return &c->row[i];
	return NULL;
}

static struct command_row *find(struct commands *c, const struct command_use *use)
{
	const char *name = use->name;
	struct command_row *r = look_up(c, name);

	if (!r && c->n >= COMMANDS_MAX / 2) {
		name = use->comm;
		r = look_up(c, name);
	}
	if (r)
		return r;
	if (c->n == COMMANDS_MAX) {
		c->other = true;
		r = &c->row[COMMANDS_MAX];
		memcpy(r->name, "(other)", sizeof "(other)");
		return r;
	}
	r = &c->row[c->n++];
	*r = (struct command_row){ 0 };
	memcpy(r->name, name, strnlen(name, COMMAND_NAME - 1));
	return r;
}

void commands_add(struct commands *c, const struct command_use *use)
{
	struct command_row *r = find(c, use);

	r->processes++;
	r->cpu_ns += use->cpu_ns;
	r->read_bytes += use->read_bytes;
	r->written_bytes += use->written_bytes;
	r->io_seen |= use->io_known;
	if (use->peak_rss_bytes > r->peak_rss_bytes)
		r->peak_rss_bytes = use->peak_rss_bytes;
}

static void put(struct command_row *r, struct sample *s)
{
	if (!r->slot)
		r->slot = sample_series(s, &process_metrics[COMMAND_PROCESSES], COMMAND_SERIES,
					sample_instance(s, "command", r->name, 0, s->mono_ns, 0));
	if (!r->slot)
		return;
	sample_put(s, r->slot, r->processes);
	if (r->cpu_ns)
		sample_put(s, r->slot + (COMMAND_CPU - COMMAND_PROCESSES), r->cpu_ns);
	if (r->io_seen) {
		sample_put(s, r->slot + (COMMAND_READ - COMMAND_PROCESSES), r->read_bytes);
		sample_put(s, r->slot + (COMMAND_WRITTEN - COMMAND_PROCESSES), r->written_bytes);
	}
	if (r->peak_rss_bytes)
		sample_put(s, r->slot + (COMMAND_PEAK_RESIDENT - COMMAND_PROCESSES),
			   r->peak_rss_bytes);
}

void commands_put(struct commands *c, struct sample *s)
{
	for (uint32_t i = 0; i < c->n; i++)
		put(&c->row[i], s);
	if (c->other)
		put(&c->row[COMMANDS_MAX], s);
}
