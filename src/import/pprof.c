/* SPDX-License-Identifier: Apache-2.0 */
/* pprof.c - a profile.proto of CPU time, as Go, gperftools and `sonde export --to pprof` write it.
 *
 * What samples name may follow them, so the file is read twice: texts, functions, mappings and
 * locations are kept (their number is bounded), then samples go to the recording one by one. */
#include "base/clock.h"
#include "core/stacks/profile_proto.h"
#include "import/protobuf.h"
#include "import/sampled.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES_MAX = 16, THINGS_MAX = 1 << 21, TEXTS_MOST = 128 << 20 };

/* A type of values: numbers of texts. */
struct value_type {
	uint64_t type, unit;
};

/* A function, mapping, location, or one of a location's lines: what they have of these. */
struct thing {
	uint64_t name, file, address, mapping;
	uint32_t line, lines, first; /* of a location: lines from that one on */
	uint32_t frame;              /* made; 0: not yet */
};

struct things {
	struct thing *row;
	uint32_t n, cap;
	struct sampled_ids ids; /* of the file: row + 1 */
};

struct pprof {
	const struct import *x;
	struct err *e, fault;
	struct packed file;
	struct protobuf in;
	struct sampled to;
	struct pool pool;
	const char **text;
	uint32_t ntexts, texts_cap;
	uint64_t bytes; /* of texts */
	struct things mappings, functions, locations, lines;
	struct value_type type[TYPES_MAX], period_type;
	uint32_t ntypes;
	int64_t time_ns, duration_ns, period;
	int count_at, time_at; /* which value of a sample; -1: none */
	int64_t unit_ns;       /* of the value of time */
	uint64_t malformed, beyond, empty;
	uint64_t place[SAMPLED_DEEP_MAX];
	int64_t value[TYPES_MAX];
};

static const char *text_of(const struct pprof *p, uint64_t at)
{
	return at < p->ntexts ? p->text[at] : "";
}

/* ---- what is kept ---- */

static int no_memory(struct pprof *p)
{
	return err_set(p->e, -ENOMEM, "out of memory for %.300s", p->x->path);
}

static int keep_text(struct pprof *p, struct message m)
{
	size_t n = (size_t)(m.end - m.at);
	const char **more;

	n = n < SAMPLED_TEXT_MAX ? n : SAMPLED_TEXT_MAX;
	if (p->ntexts >= THINGS_MAX || p->bytes + n > TEXTS_MOST) {
		p->beyond++;
		return 0;
	}
	if (p->ntexts == p->texts_cap) {
		uint32_t cap = p->texts_cap ? p->texts_cap * 2 : 256;

		more = reallocarray(p->text, cap, sizeof *more);
		if (!more)
			return no_memory(p);
		p->text = more;
		p->texts_cap = cap;
	}
	p->text[p->ntexts] = pool_text(&p->pool, (const char *)m.at, n);
	p->bytes += n;
	return p->text[p->ntexts++] ? 0 : no_memory(p);
}

/* id 0: it is found by its place alone. */
static int keep(struct pprof *p, struct things *t, uint64_t id, const struct thing *one)
{
	if (t->n >= THINGS_MAX) {
		p->beyond++;
		return 0;
	}
	if (t->n == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 256;
		struct thing *more = reallocarray(t->row, cap, sizeof *more);

		if (!more)
			return no_memory(p);
		t->row = more;
		t->cap = cap;
	}
	t->row[t->n++] = *one;
	return id && sampled_ids_put(&t->ids, id, t->n) ? no_memory(p) : 0;
}

static struct thing *find(const struct things *t, uint64_t id)
{
	uint32_t at = sampled_ids_get(&t->ids, id);

	return at ? &t->row[at - 1] : NULL;
}

static int end_of(struct pprof *p, int last)
{
	p->malformed += last < 0;
	return 0;
}

static void take_type(struct message m, struct value_type *out)
{
	struct field f;

	*out = (struct value_type){ 0 };
	while (message_next(&m, &f) > 0) {
		if (f.number == VALUE_TYPE && f.wire == PROTOBUF_VARINT)
			out->type = f.value;
		else if (f.number == VALUE_UNIT && f.wire == PROTOBUF_VARINT)
			out->unit = f.value;
	}
}

/* Of a Mapping or a Function, whose ids have the same number. */
static int take_named(struct pprof *p, struct message m, struct things *t, uint32_t name,
		      uint32_t file)
{
	struct thing one = { 0 };
	struct field f;
	uint64_t id = 0;
	int more;

	while ((more = message_next(&m, &f)) > 0) {
		if (f.wire != PROTOBUF_VARINT)
			continue;
		if (f.number == MAPPING_ID)
			id = f.value;
		else if (f.number == name)
			one.name = f.value;
		else if (f.number == file)
			one.file = f.value;
	}
	end_of(p, more);
	return id ? keep(p, t, id, &one) : 0;
}

static int take_line(struct pprof *p, struct message m)
{
	struct thing one = { 0 };
	struct field f;

	while (message_next(&m, &f) > 0) {
		if (f.number == LINE_FUNCTION && f.wire == PROTOBUF_VARINT)
			one.name = f.value;
		else if (f.number == LINE_NUMBER && f.wire == PROTOBUF_VARINT)
			one.line = f.value <= INT32_MAX ? (uint32_t)f.value : 0;
	}
	return keep(p, &p->lines, 0, &one);
}

static int take_location(struct pprof *p, struct message m)
{
	struct thing one = { .first = p->lines.n };
	struct field f;
	uint64_t id = 0;
	int more, rc = 0;

	while (!rc && (more = message_next(&m, &f)) > 0) {
		if (f.number == LOCATION_LINE && f.wire == PROTOBUF_BYTES)
			rc = take_line(p, f.bytes);
		else if (f.wire != PROTOBUF_VARINT)
			continue;
		else if (f.number == LOCATION_ID)
			id = f.value;
		else if (f.number == LOCATION_MAPPING)
			one.mapping = f.value;
		else if (f.number == LOCATION_ADDRESS)
			one.address = f.value;
	}
	one.lines = p->lines.n - one.first;
	if (!rc)
		end_of(p, more);
	return rc || !id ? rc : keep(p, &p->locations, id, &one);
}

static int take_message(struct pprof *p, uint32_t number, struct message m)
{
	switch (number) {
	case PROFILE_SAMPLE_TYPE:
		if (p->ntypes < TYPES_MAX)
			take_type(m, &p->type[p->ntypes++]);
		return 0;
	case PROFILE_PERIOD_TYPE:
		take_type(m, &p->period_type);
		return 0;
	case PROFILE_MAPPING:
		return take_named(p, m, &p->mappings, MAPPING_FILE, MAPPING_BUILD_ID);
	case PROFILE_FUNCTION:
		return take_named(p, m, &p->functions, FUNCTION_NAME, FUNCTION_FILE);
	case PROFILE_LOCATION:
		return take_location(p, m);
	default:
		return keep_text(p, m);
	}
}

static void take_number(struct pprof *p, const struct field *f)
{
	const int64_t v = f->value < INT64_MAX / 4 ? (int64_t)f->value : 0;

	if (f->number == PROFILE_TIME_NS)
		p->time_ns = v;
	else if (f->number == PROFILE_DURATION_NS)
		p->duration_ns = v;
	else if (f->number == PROFILE_PERIOD)
		p->period = v;
}

/* ---- samples ---- */

/* The frames of a location, the outermost of the inlined first: each names the one it is in. */
static uint32_t frame_of(struct pprof *p, uint64_t id)
{
	struct thing *at = find(&p->locations, id);
	struct thing *map = at ? find(&p->mappings, at->mapping) : NULL;
	struct frame_row row = { .function = "", .file = "" };

	if (!at || at->frame)
		return at ? at->frame : 0;
	row.address = at->address;
	if (map)
		row.module = sampled_module(&p->to, text_of(p, map->name), text_of(p, map->file));
	for (uint32_t i = at->lines; i--;) {
		const struct thing *line = &p->lines.row[at->first + i];
		const struct thing *function = find(&p->functions, line->name);

		row.line = line->line;
		row.function = function ? text_of(p, function->name) : "";
		row.file = function ? text_of(p, function->file) : "";
		row.outer = sampled_frame(&p->to, &row);
	}
	at->frame = at->lines ? row.outer : sampled_frame(&p->to, &row);
	return at->frame;
}

/* Numbers of a field, packed or alone. */
static uint32_t numbers(const struct field *f, uint64_t *out, uint32_t n, uint32_t most,
			uint64_t *left)
{
	struct message m = f->bytes;
	uint64_t v = f->value;

	if (f->wire == PROTOBUF_VARINT)
		m = (struct message){ NULL, NULL };
	else if (f->wire != PROTOBUF_BYTES || !message_varint(&m, &v))
		return n;
	do {
		if (n < most)
			out[n++] = v;
		else
			(*left)++;
	} while (m.at < m.end && message_varint(&m, &v));
	return n;
}

/* Whose it is: as Sonde names the process, and others the thread. */
static void take_label(struct pprof *p, struct message m, struct sampled_one *one)
{
	uint64_t key = 0, text = 0, number = 0;
	const char *name;
	struct field f;

	while (message_next(&m, &f) > 0) {
		if (f.wire != PROTOBUF_VARINT)
			continue;
		if (f.number == LABEL_KEY)
			key = f.value;
		else if (f.number == LABEL_TEXT)
			text = f.value;
		else if (f.number == LABEL_NUMBER)
			number = f.value;
	}
	name = text_of(p, key);
	if (!strcmp(name, "process") && *text_of(p, text))
		one->command = text_of(p, text);
	else if ((!strcmp(name, "tid") || !strcmp(name, "thread_id")) && number <= UINT32_MAX)
		one->tid = (uint32_t)number;
}

/* The count stays the number of samples where time is a multiple of it. */
static void weigh(struct pprof *p, struct sampled_one *one)
{
	int64_t count = p->count_at >= 0 ? p->value[p->count_at] : 1, ns;

	if (p->time_at < 0)
		ns = p->period;
	else if (__builtin_mul_overflow(p->value[p->time_at], p->unit_ns, &ns))
		ns = 0;
	one->weight = count > 0 && count < INT32_MAX ? (uint64_t)count : 1;
	if (p->time_at >= 0 && ns > 0 && ns < (int64_t)one->weight)
		one->weight = 1;
	one->unit = p->time_at < 0 ? ns : ns / (int64_t)one->weight;
	if (count <= 0 && p->time_at < 0)
		one->unit = 0;
}

/* By default what runs is the first mapping. */
static const char *command_of(const struct pprof *p)
{
	const char *path = p->mappings.n ? text_of(p, p->mappings.row[0].name) : "";
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int take_sample(struct pprof *p, struct message m)
{
	struct sampled_one one = { .command = command_of(p) };
	uint64_t value[TYPES_MAX] = { 0 }, more_values = 0;
	uint32_t n = 0, nvalues = 0;
	struct field f;
	int more;

	while ((more = message_next(&m, &f)) > 0) {
		if (f.number == SAMPLE_LOCATION)
			n = numbers(&f, p->place, n, SAMPLED_DEEP_MAX, &p->beyond);
		else if (f.number == SAMPLE_VALUE)
			nvalues = numbers(&f, value, nvalues, TYPES_MAX, &more_values);
		else if (f.number == SAMPLE_LABEL && f.wire == PROTOBUF_BYTES)
			take_label(p, f.bytes, &one);
	}
	if (more < 0) {
		p->malformed++;
		return 0;
	}
	memcpy(p->value, value, sizeof value);
	weigh(p, &one);
	if (one.unit <= 0) {
		p->empty++;
		return 0;
	}
	while (n--) {
		uint32_t frame = frame_of(p, p->place[n]);

		one.stack = frame ? sampled_stack(&p->to, one.stack, frame) : one.stack;
	}
	/* When each was is not known: all of them are of the whole time. */
	/* Who has a rank is a process, though it is not known which. */
	if (p->x->place.rank)
		one.instance = sampled_process(&p->to, 0, one.command, 0);
	return sampled_add(&p->to, &one);
}

/* ---- */

static int read_file(struct pprof *p, bool samples)
{
	struct message m;
	struct field f;
	int rc = packed_rewind(&p->file, p->e);

	p->fault = (struct err){ "" };
	if (!rc && protobuf_begin(&p->in, &p->file, &p->fault))
		rc = no_memory(p);
	while (!rc && !p->in.bad && !protobuf_is_over(&p->in) &&
	       protobuf_next(&p->in, UINT64_MAX, &f)) {
		bool kept = f.number <= PROFILE_STRING || f.number == PROFILE_PERIOD_TYPE;

		if (f.wire == PROTOBUF_VARINT && !samples)
			take_number(p, &f);
		else if (f.wire != PROTOBUF_BYTES || !f.number || !kept ||
			 samples != (f.number == PROFILE_SAMPLE))
			protobuf_pass(&p->in, &f);
		else if (protobuf_whole(&p->in, &f, &m))
			rc = samples ? take_sample(p, m) : take_message(p, f.number, m);
	}
	protobuf_end(&p->in);
	return rc;
}

static int64_t unit_named(const char *name)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = { { "nanoseconds", 1 },
		      { "microseconds", 1000 },
		      { "milliseconds", 1000000 },
		      { "seconds", NS_PER_S } };

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (!strcmp(name, units[i].name))
			return units[i].ns;
	return 0;
}

/* Which of the values is CPU time, and which the number of samples. */
static int choose(struct pprof *p)
{
	const int64_t unit = unit_named(text_of(p, p->period_type.unit));
	char has[200] = "";
	size_t n = 0;

	p->count_at = p->time_at = -1;
	for (uint32_t i = 0; i < p->ntypes; i++) {
		const char *type = text_of(p, p->type[i].type), *of = text_of(p, p->type[i].unit);

		if (!strcmp(type, "cpu") && unit_named(of) && p->time_at < 0) {
			p->time_at = (int)i;
			p->unit_ns = unit_named(of);
		} else if (!strcmp(of, "count") && !strncmp(type, "sample", 6)) {
			p->count_at = (int)i;
		}
		if (n < sizeof has)
			n += (size_t)snprintf(has + n, sizeof has - n, "%s%.40s", i ? ", " : "",
					      type);
	}
	if (__builtin_mul_overflow(p->period, unit, &p->period))
		p->period = 0;
	if (p->time_at >= 0 ||
	    (p->count_at >= 0 && p->period > 0 && !strcmp(text_of(p, p->period_type.type), "cpu")))
		return 0;
	if (!p->ntypes)
		return err_set(p->e, -EINVAL,
			       "%.200s holds no samples of pprof's profile.proto%s%.200s",
			       p->x->path, p->in.bad ? ": " : "", p->fault.text);
	return err_set(p->e, -ENODATA,
		       "%.200s has no CPU time, but %.200s; only profiles of CPU time are imported",
		       p->x->path, has);
}

static void tell(struct pprof *p)
{
	struct store *s = p->x->store;
	const char *path = p->x->path;

	if (!p->time_ns)
		store_note(s,
			   "%.200s does not say when it was: it is taken to end when the file was "
			   "last changed",
			   path);
	store_note(s, "%.200s: when each sample was is not known; all are of the whole profile",
		   path);
	if (p->in.bad || *p->file.e.text)
		store_leave_out(s, "%.150s: %.200s; what comes before is kept", path,
				*p->file.e.text ? p->file.e.text : p->fault.text);
	if (p->malformed || p->in.too_long)
		store_leave_out(s, "%.200s: left out, malformed or too long: %" PRIu64, path,
				p->malformed + p->in.too_long);
	if (p->empty)
		store_note(s, "%.200s: samples without CPU time, which are skipped: %" PRIu64, path,
			   p->empty);
	if (p->beyond || p->to.beyond)
		store_leave_out(s, "%.200s: left out, too many: %" PRIu64, path,
				p->beyond + p->to.beyond);
}

static int write_samples(struct pprof *p)
{
	int64_t begin = p->time_ns;
	int rc;

	if (!begin)
		begin = (int64_t)p->file.st.st_mtim.tv_sec * NS_PER_S - p->duration_ns;
	rc = sampled_open(&p->to, p->x, "pprof", begin > 0 ? begin : 0, p->e);
	p->to.whole_ns = p->duration_ns > 0 ? p->duration_ns : 1;
	rc = sampled_close(&p->to, p->x, p->duration_ns, rc ? rc : read_file(p, true));
	if (!rc) {
		tell(p);
		p->x->wrote(p->x->ctx, p->to.name);
	}
	return rc;
}

static void things_free(struct things *t)
{
	free(t->row);
	sampled_ids_free(&t->ids);
}

static int import_pprof(const struct import *x, struct err *e)
{
	struct pprof *p = calloc(1, sizeof *p);
	int rc;

	if (!p)
		return err_set(e, -ENOMEM, "out of memory for %.300s", x->path);
	p->x = x;
	p->e = e;
	rc = packed_open(&p->file, x->path, e);
	if (!rc) {
		rc = read_file(p, false);
		rc = rc ? rc : choose(p);
		rc = rc ? rc : write_samples(p);
		packed_close(&p->file);
	}
	things_free(&p->mappings);
	things_free(&p->functions);
	things_free(&p->locations);
	things_free(&p->lines);
	pool_free(&p->pool);
	free(p->text);
	free(p);
	return rc;
}

const struct importer importer_pprof = {
	.name = "pprof",
	.operand = "FILE",
	.what = "a profile of CPU time in pprof's format",
	.is_profile = true,
	.run = import_pprof,
};
