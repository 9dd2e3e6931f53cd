/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/profile/profile.h"

#include "base/bytes.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "core/stacks/profile_proto.h"
#include "core/stacks/waitkind.h"
#include "sink/gzip.h"
#include "sink/protobuf.h"
#include "sink/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROFILE(x) extern const struct profile profile_##x;
#include "profiles.def"
#undef PROFILE

#define PROFILE(x) &profile_##x,
const struct profile *const profiles[] = {
#include "profiles.def"
};
#undef PROFILE

const size_t nprofiles = sizeof profiles / sizeof profiles[0];

int profile_data_make(struct profile_data *d, struct stacks *s, struct err *e)
{
	struct stacks_axis axis = { .buckets = 1,
				    .group = STACKS_PER_COMMAND,
				    .most_groups = UINT32_MAX,
				    .most = UINT32_MAX };
	int rc;

	*d = (struct profile_data){ .stacks = s };
	rc = stacks_fold_make(&d->tree, s, UINT32_MAX);
	if (rc)
		return err_set(e, rc, "out of memory");
	rc = stacks_cells_make(&d->nodes, s, &d->tree, &axis, e);
	axis.by_stack = true;
	return rc ? rc : stacks_cells_make(&d->places, s, NULL, &axis, e);
}

void profile_data_free(struct profile_data *d)
{
	stacks_fold_free(&d->tree);
	stacks_cells_free(&d->nodes);
	stacks_cells_free(&d->places);
}

uint32_t profile_path(const struct profile_data *d, uint32_t node, uint32_t path[PROFILE_DEEP])
{
	const struct stacks_node *nodes = d->tree.nodes;
	uint32_t depth = 0, n, at;

	for (at = node; at; at = nodes[at].parent)
		depth++;
	n = depth;
	for (at = node; at; at = nodes[at].parent)
		if (--depth < PROFILE_DEEP)
			path[depth] = nodes[at].function;
	if (n > PROFILE_DEEP) {
		n = PROFILE_DEEP;
		path[n - 1] = PROFILE_CUT;
	}
	return n;
}

const char *profile_name(const struct stacks_function *f)
{
	static const char *const states[][2] = {
		{ WAIT_ON_CPU, "on a CPU" },
		{ WAIT_WAS_READY, "ready, but without a core" },
		{ WAIT_UNSEEN, "waited, before a look found where" },
		{ WAIT_REFUSED, "waited, and no look is permitted" },
	};
	enum wait_kind kind;

	if (!*f->name)
		return f->shown;
	if (strcmp(f->module, WAIT_MODULE) != 0)
		return f->name;
	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		if (!strcmp(f->name, states[i][0]))
			return states[i][1];
	return wait_kind_find(f->name, &kind) ? wait_kind_words(kind) : f->name;
}

/*
 * A line for each stack: "process;main;f 1234", for flamegraph.pl and its like.
 *
 * The number is microseconds of CPU time, or of the time of threads; below one of them a stack
 * counts one.
 */

/* A semicolon separates, a blank precedes the number, and a line ends. */
static void put_name(struct bytes *out, const char *name)
{
	size_t from = out->len;

	escape_utf8(out, name);
	for (size_t i = from; i < out->len; i++) {
		if (out->data[i] == ';')
			out->data[i] = ':';
		else if (out->data[i] < ' ' || out->data[i] == 0x7f)
			out->data[i] = '?';
	}
}

static void put_line(const struct profile_data *d, const struct stacks_cell *c, struct bytes *out)
{
	const struct stacks_function *functions = d->stacks->functions;
	uint32_t path[PROFILE_DEEP], n = profile_path(d, c->place, path);
	double weight =
		round((double)c->value * (stacks_in_bytes(d->stacks->selection.kind) ? 1 : 1e6));

	put_name(out, d->nodes.groups[c->group].name);
	for (uint32_t i = 0; i < n; i++) {
		bytes_puts(out, ";");
		if (path[i] == PROFILE_CUT)
			bytes_puts(out, "(deeper)");
		else
			put_name(out, profile_name(&functions[path[i]]));
	}
	bytes_printf(out, " %.0f\n", fmax(1, weight));
}

static int folded_write(const struct profile_data *d, FILE *out, struct err *e)
{
	struct bytes text = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < d->nodes.n && !rc; i++) {
		put_line(d, &d->nodes.cell[i], &text);
		rc = text_flush(&text, out, TEXT_BLOCK, e);
	}
	if (!rc)
		rc = text_flush(&text, out, 0, e);
	bytes_free(&text);
	return rc;
}

const struct profile profile_folded = {
	.name = "folded",
	.file = "stacks.folded",
	.write = folded_write,
};

/*
 * Pprof's profile.proto, compressed with gzip: samples with their addresses,
 * lines and inlined functions, labelled with the process.
 *
 * Texts are numbers of a table. A sample's locations are the run's frames, the innermost first.
 */

enum { INLINED_MAX = 64, SAMPLE_DEEP = 10000 };

/* The strings that are always there, and their numbers. */
static const char *const words[] = { "", "samples", "count", "cpu", "nanoseconds", "process" };
enum { WORD_NONE, WORD_SAMPLES, WORD_COUNT, WORD_CPU, WORD_NANOSECONDS, WORD_PROCESS, WORDS };

/* Time of threads is no samples, and not only on a CPU. */
static const char *const of_waits[WORDS] = { [WORD_SAMPLES] = "periods", [WORD_CPU] = "wall" };

/* Memory is counted in pages, and weighed in bytes. */
static const char *const of_memory[WORDS] = {
	[WORD_SAMPLES] = "pages", [WORD_CPU] = "inuse_space", [WORD_NANOSECONDS] = "bytes"
};

struct pprof {
	const struct profile_data *d;
	struct bytes out, message, inner;
	uint64_t strings; /* given so far */
	FILE *to;
};

static uint64_t string_put(struct pprof *p, const char *text)
{
	bytes_reset(&p->inner);
	escape_utf8(&p->inner, text);
	protobuf_message(&p->out, PROFILE_STRING, &p->inner);
	return p->strings++;
}

static int flush(struct pprof *p, struct err *e)
{
	p->out.failed |= p->message.failed || p->inner.failed;
	return text_flush(&p->out, p->to, TEXT_BLOCK, e);
}

static void value_type_put(struct pprof *p, unsigned field, uint64_t type, uint64_t unit)
{
	protobuf_number(&p->inner, VALUE_TYPE, type);
	protobuf_number(&p->inner, VALUE_UNIT, unit);
	protobuf_message(&p->out, field, &p->inner);
}

static int mappings_put(struct pprof *p, struct err *e)
{
	const struct run *r = p->d->stacks->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->nmodules && !rc; i++) {
		uint64_t path = string_put(p, r->modules[i].path);
		uint64_t build_id = string_put(p, r->modules[i].build_id);

		protobuf_number(&p->message, MAPPING_ID, i);
		protobuf_number(&p->message, MAPPING_FILE, path);
		protobuf_number(&p->message, MAPPING_BUILD_ID, build_id);
		protobuf_number(&p->message, MAPPING_HAS_FUNCTIONS, 1);
		protobuf_message(&p->out, PROFILE_MAPPING, &p->message);
		rc = flush(p, e);
	}
	return rc;
}

/* A function is one of a source file: each frame has its own, so that none is given another's.
 * Where both names are the same, pprof cuts what is in < >, as C++ has it, and so Python's
 * <module>. */
static int function_put(struct pprof *p, uint32_t frame, struct err *e)
{
	const struct run_frame *f = &p->d->stacks->run->frames[frame];
	uint64_t name = string_put(p, profile_name(stacks_function_of(p->d->stacks, frame)));
	uint64_t file = *f->file ? string_put(p, f->file) : WORD_NONE;

	protobuf_number(&p->message, FUNCTION_ID, frame + 1u);
	protobuf_number(&p->message, FUNCTION_NAME, name);
	if (p->d->stacks->selection.kind != SAMPLE_PYTHON)
		protobuf_number(&p->message, FUNCTION_SYSTEM_NAME, name);
	protobuf_number(&p->message, FUNCTION_FILE, file);
	protobuf_message(&p->out, PROFILE_FUNCTION, &p->message);
	return flush(p, e);
}

static int location_put(struct pprof *p, uint32_t frame, struct err *e)
{
	const struct run *r = p->d->stacks->run;
	uint32_t at = frame, n = 0;

	protobuf_number(&p->message, LOCATION_ID, frame + 1u);
	if (r->frames[frame].module)
		protobuf_number(&p->message, LOCATION_MAPPING, r->frames[frame].module);
	protobuf_number(&p->message, LOCATION_ADDRESS, r->frames[frame].address);
	do {
		protobuf_number(&p->inner, LINE_FUNCTION, at + 1u);
		protobuf_number(&p->inner, LINE_NUMBER, r->frames[at].line);
		protobuf_message(&p->message, LOCATION_LINE, &p->inner);
		at = r->frames[at].outer;
	} while (at && at < r->nframes && ++n < INLINED_MAX);
	protobuf_message(&p->out, PROFILE_LOCATION, &p->message);
	return flush(p, e);
}

/* Every frame is a function and a location, whether a sample has it or not: 0 is what is not known.
 */
static int frames_put(struct pprof *p, struct err *e)
{
	const struct stacks *s = p->d->stacks;
	int rc = 0;

	for (uint32_t i = 0; i < s->run->nframes && !rc; i++) {
		rc = function_put(p, i, e);
		if (!rc)
			rc = location_put(p, i, e);
	}
	return rc;
}

static void sample_locations_put(struct pprof *p, uint32_t stack)
{
	const struct run_stack *stacks = p->d->stacks->run->stacks;
	uint32_t n = 0;

	do {
		bytes_varint(&p->inner, stacks[stack].frame + 1u);
		stack = stacks[stack].parent;
	} while (stack && ++n < SAMPLE_DEEP);
	protobuf_message(&p->message, SAMPLE_LOCATION, &p->inner);
}

static int samples_put(struct pprof *p, struct err *e)
{
	const struct stacks_cells *c = &p->d->places;
	const double scale = stacks_in_bytes(p->d->stacks->selection.kind) ? 1 : 1e9;
	uint64_t *name = calloc(c->ngroups + 1u, sizeof *name);
	int rc = name ? 0 : err_set(e, -ENOMEM, "out of memory");

	for (uint32_t i = 0; i < c->ngroups && name; i++)
		name[i] = string_put(p, c->groups[i].name);
	for (uint32_t i = 0; i < c->n && name && !rc; i++) {
		const struct stacks_cell *cell = &c->cell[i];

		sample_locations_put(p, cell->place);
		bytes_varint(&p->inner, (uint64_t)fmin(round((double)cell->samples), 1e18));
		bytes_varint(&p->inner, (uint64_t)fmin(round((double)cell->value * scale), 1e18));
		protobuf_message(&p->message, SAMPLE_VALUE, &p->inner);
		protobuf_number(&p->inner, LABEL_KEY, WORD_PROCESS);
		protobuf_number(&p->inner, LABEL_TEXT, name[cell->group]);
		protobuf_message(&p->message, SAMPLE_LABEL, &p->inner);
		protobuf_message(&p->out, PROFILE_SAMPLE, &p->message);
		rc = flush(p, e);
	}
	free(name);
	return rc;
}

/* When it was, and how often a thread was looked at. */
static void head_put(struct pprof *p)
{
	const struct stacks *s = p->d->stacks;
	const bool bytes = stacks_in_bytes(s->selection.kind);
	const char *const *other = bytes ? of_memory : of_waits;
	const bool own = !bytes && s->selection.kind != SAMPLE_WAITS;
	double period_s = s->samples > 0 ? s->total / s->samples : 0;
	int64_t last_ns = s->run->t0_utc_ns;

	for (uint32_t i = 1; i < s->run->nnodes; i++) {
		int64_t at = run_utc_ns(s->run, i, s->run->nodes[i].last_ns);

		last_ns = at > last_ns ? at : last_ns;
	}
	for (size_t i = 0; i < WORDS; i++)
		string_put(p, !own && other[i] ? other[i] : words[i]);
	value_type_put(p, PROFILE_SAMPLE_TYPE, WORD_SAMPLES, WORD_COUNT);
	value_type_put(p, PROFILE_SAMPLE_TYPE, WORD_CPU, WORD_NANOSECONDS);
	value_type_put(p, PROFILE_PERIOD_TYPE, WORD_CPU, WORD_NANOSECONDS);
	protobuf_number(&p->out, PROFILE_PERIOD,
			(uint64_t)fmin(period_s * (bytes ? 1 : 1e9), 1e18));
	protobuf_number(&p->out, PROFILE_TIME_NS, (uint64_t)s->run->t0_utc_ns);
	protobuf_number(&p->out, PROFILE_DURATION_NS, (uint64_t)(last_ns - s->run->t0_utc_ns));
}

static int all_put(struct pprof *p, struct err *e)
{
	int rc;

	head_put(p);
	rc = mappings_put(p, e);
	if (!rc)
		rc = frames_put(p, e);
	if (!rc)
		rc = samples_put(p, e);
	return rc ? rc : text_flush(&p->out, p->to, 0, e);
}

static int pprof_write(const struct profile_data *d, FILE *out, struct err *e)
{
	struct pprof p = { .d = d, .to = gzip_open(out) };
	int rc = p.to ? all_put(&p, e) : err_set(e, -ENOMEM, "out of memory");

	if (p.to && fclose(p.to) && !rc)
		rc = err_set(e, -errno, "%s", strerror(errno));
	bytes_free(&p.out);
	bytes_free(&p.message);
	bytes_free(&p.inner);
	return rc;
}

const struct profile profile_pprof = {
	.name = "pprof",
	.file = "stacks.pb.gz",
	.write = pprof_write,
};

/* Https://www.speedscope.app/file-format-schema.json: a profile a command.
 */

struct writing {
	const struct profile_data *d;
	struct json json;
	struct bytes text;
	FILE *out;
};

static int speedscope_flush(struct writing *w, struct err *e)
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
		rc = speedscope_flush(w, e);
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
		rc = speedscope_flush(w, e);
	}
	json_array_end(&w->json);
	json_key(&w->json, "weights");
	json_array(&w->json);
	for (uint32_t i = from; i < to && !rc; i++) {
		json_real(&w->json, (double)c->cell[i].value);
		rc = speedscope_flush(w, e);
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
