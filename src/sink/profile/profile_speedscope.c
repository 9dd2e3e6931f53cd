/* SPDX-License-Identifier: Apache-2.0 */
/* profile_speedscope.c - https://www.speedscope.app/file-format-schema.json: a profile a command.
 */
#include "base/text/escape.h"
#include "base/text/json.h"
#include "sink/profile/profile.h"
#include "sink/text.h"

#include <math.h>
#include <string.h>

struct writing {
	const struct profile_data *d;
	struct json json;
	struct bytes text;
	FILE *out;
};

static int flush(struct writing *w, struct err *e)
{
	return text_flush(&w->text, w->out, TEXT_BLOCK, e);
}

/* Frames are functions, then one for what is deeper. */
static int put_frames(struct writing *w, struct err *e)
{
	const struct stacks *s = w->d->stacks;
	int rc = 0;

	json_key(&w->json, "shared");
	json_object(&w->json);
	json_key(&w->json, "frames");
	json_array(&w->json);
	for (uint32_t i = 0; i < s->nfunctions && !rc; i++) {
		json_object(&w->json);
		json_put_text(&w->json, "name", profile_name(&s->functions[i]));
		if (*s->functions[i].module && strcmp(s->functions[i].module, PYTHON_MODULE) != 0)
			json_put_text(&w->json, "file", s->functions[i].module);
		json_object_end(&w->json);
		rc = flush(w, e);
	}
	json_object(&w->json);
	json_put_text(&w->json, "name", "(deeper)");
	json_object_end(&w->json);
	json_array_end(&w->json);
	json_object_end(&w->json);
	return rc;
}

/* Cells of one group lie side by side, the heaviest command's first. */
static uint32_t group_end(const struct stacks_cells *c, uint32_t from)
{
	uint32_t to = from;

	while (to < c->n && c->cell[to].group == c->cell[from].group)
		to++;
	return to;
}

static int put_samples(struct writing *w, uint32_t from, uint32_t to, struct err *e)
{
	const struct stacks_cells *c = &w->d->nodes;
	uint32_t path[PROFILE_DEEP];
	int rc = 0;

	json_key(&w->json, "samples");
	json_array(&w->json);
	for (uint32_t i = from; i < to && !rc; i++) {
		uint32_t n = profile_path(w->d, c->cell[i].place, path);

		json_array(&w->json);
		for (uint32_t k = 0; k < n; k++)
			json_int(&w->json,
				 path[k] == PROFILE_CUT ? w->d->stacks->nfunctions : path[k]);
		json_array_end(&w->json);
		rc = flush(w, e);
	}
	json_array_end(&w->json);
	json_key(&w->json, "weights");
	json_array(&w->json);
	for (uint32_t i = from; i < to && !rc; i++) {
		json_real(&w->json, (double)c->cell[i].value);
		rc = flush(w, e);
	}
	json_array_end(&w->json);
	return rc;
}

static int put_profile(struct writing *w, uint32_t from, uint32_t to, struct err *e)
{
	const struct stacks_cells *c = &w->d->nodes;
	double sum = 0;
	int rc;

	for (uint32_t i = from; i < to; i++)
		sum += (double)c->cell[i].value;
	json_object(&w->json);
	json_put_text(&w->json, "type", "sampled");
	json_put_text(&w->json, "name", c->groups[c->cell[from].group].name);
	json_put_text(&w->json, "unit",
		      stacks_in_bytes(w->d->stacks->selection.kind) ? "bytes" : "seconds");
	json_put_int(&w->json, "startValue", 0);
	json_put_real(&w->json, "endValue", sum);
	rc = put_samples(w, from, to, e);
	json_object_end(&w->json);
	return rc;
}

static int speedscope_write(const struct profile_data *d, FILE *out, struct err *e)
{
	struct writing w = { .d = d, .out = out };
	int rc;

	w.json.out = &w.text;
	json_object(&w.json);
	json_put_text(&w.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_put_text(&w.json, "exporter", "sonde " SONDE_VERSION);
	json_put_text(&w.json, "name", d->stacks->run->path);
	rc = put_frames(&w, e);
	json_key(&w.json, "profiles");
	json_array(&w.json);
	for (uint32_t i = 0, to; i < d->nodes.n && !rc; i = to) {
		to = group_end(&d->nodes, i);
		rc = put_profile(&w, i, to, e);
	}
	json_array_end(&w.json);
	json_object_end(&w.json);
	bytes_puts(&w.text, "\n");
	if (!rc)
		rc = text_flush(&w.text, out, 0, e);
	bytes_free(&w.text);
	return rc;
}

const struct profile profile_speedscope = {
	.name = "speedscope",
	.file = "stacks.speedscope.json",
	.write = speedscope_write,
};
