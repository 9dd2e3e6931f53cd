/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu/drm_gpu.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "source/kept.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a driver tells of a client ---- */

enum { REGIONS_MAX = 16 };

/* What no GPU reaches. All that one client tells can be summed up, and thousands of clients. */
static const int64_t BYTES_LIMIT = INT64_C(1) << 46, COUNT_LIMIT = INT64_C(1) << 58;

/* The later, the better: what is resident before what is allocated. */
enum region_kind { NO_KIND, TOTAL, MEMORY, RESIDENT };

struct region {
	char name[DRM_NAME_SIZE];
	enum region_kind kind;
	int64_t bytes;
};

struct reader {
	struct drm_fdinfo *out;
	size_t nregions;
	struct region region[REGIONS_MAX];
};

/* "gfx:\t12 ns": copies the name and returns what follows the colon; NULL when it has none. */
static const char *name_of(const char *p, char name[DRM_NAME_SIZE])
{
	size_t n = strcspn(p, ":\n");

	if (p[n] != ':' || !n || n >= DRM_NAME_SIZE)
		return NULL;
	memcpy(name, p, n);
	name[n] = '\0';
	return p + n + 1;
}

static struct drm_engine *engine_of(struct drm_fdinfo *out, const char *name)
{
	struct drm_engine *e = out->engine;

	for (; e < out->engine + out->nengines; e++)
		if (strcmp(e->name, name) == 0)
			return e;
	if (out->nengines == DRM_ENGINES_MAX)
		return NULL;
	*e = (struct drm_engine){ .busy_ns = -1, .cycles = -1, .total_cycles = -1, .capacity = 1 };
	snprintf(e->name, sizeof e->name, "%s", name);
	out->nengines++;
	return e;
}

static struct region *region_of(struct reader *r, const char *name)
{
	struct region *g = r->region;

	for (; g < r->region + r->nregions; g++)
		if (strcmp(g->name, name) == 0)
			return g;
	if (r->nregions == REGIONS_MAX)
		return NULL;
	*g = (struct region){ .kind = NO_KIND };
	snprintf(g->name, sizeof g->name, "%s", name);
	r->nregions++;
	return g;
}

/* False when it is not a size. */
static bool read_size(const char *p, int64_t *out)
{
	static const struct {
		const char *name;
		int64_t bytes;
	} units[] = { { "KiB", 1024 }, { "MiB", 1048576 }, { "", 1 } };
	int64_t v;

	if (!number_i64(&p, &v) || v < 0)
		return false;
	p = number_skip_blanks(p);
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		size_t n = strlen(units[i].name);

		if (strncmp(p, units[i].name, n) == 0 && (!p[n] || p[n] == '\n')) {
			if (v > BYTES_LIMIT / units[i].bytes)
				return false;
			*out = v * units[i].bytes;
			return true;
		}
	}
	return false;
}

/* The fields of an engine; the longer key before the one it begins with. */
static const struct engine_key {
	const char *key, *unit;
	size_t to; /* of struct drm_engine */
} engine_keys[] = {
	{ "drm-engine-capacity-", "", offsetof(struct drm_engine, capacity) },
	{ "drm-engine-", "ns", offsetof(struct drm_engine, busy_ns) },
	{ "drm-cycles-", "", offsetof(struct drm_engine, cycles) },
	{ "drm-total-cycles-", "", offsetof(struct drm_engine, total_cycles) },
};

static const struct memory_key {
	const char *key;
	enum region_kind kind;
} memory_keys[] = {
	{ "drm-total-", TOTAL },
	{ "drm-memory-", MEMORY },
	{ "drm-resident-", RESIDENT },
};

static int read_engine(struct drm_fdinfo *out, const struct engine_key *k, const char *p)
{
	char name[DRM_NAME_SIZE];
	struct drm_engine *e;
	size_t unit = strlen(k->unit);
	int64_t v;

	p = name_of(p, name);
	if (!p || !number_i64(&p, &v) || v < 0 || v > COUNT_LIMIT)
		return -EBADMSG;
	p = number_skip_blanks(p);
	if (strncmp(p, k->unit, unit) != 0 || (p[unit] && p[unit] != '\n'))
		return -EBADMSG;
	e = engine_of(out, name);
	if (e)
		memcpy((char *)e + k->to, &v, sizeof v);
	return e && e->capacity == 0 ? -EBADMSG : 0;
}

static int read_memory(struct reader *r, const struct memory_key *k, const char *p)
{
	char name[DRM_NAME_SIZE];
	struct region *g;
	int64_t v;

	p = name_of(p, name);
	if (!p || !read_size(p, &v))
		return -EBADMSG;
	g = region_of(r, name);
	if (g && k->kind >= g->kind) {
		g->kind = k->kind;
		g->bytes = v;
	}
	return 0;
}

static int read_line(struct reader *r, const char *line)
{
	for (size_t i = 0; i < sizeof engine_keys / sizeof engine_keys[0]; i++) {
		size_t n = strlen(engine_keys[i].key);

		if (strncmp(line, engine_keys[i].key, n) == 0)
			return read_engine(r->out, &engine_keys[i], line + n);
	}
	for (size_t i = 0; i < sizeof memory_keys / sizeof memory_keys[0]; i++) {
		size_t n = strlen(memory_keys[i].key);

		if (strncmp(line, memory_keys[i].key, n) == 0)
			return read_memory(r, &memory_keys[i], line + n);
	}
	return 0;
}

/* "vram", "vram0" and i915's "local0" are on the GPU; "gtt", "system", "cpu" and the one "memory"
 * of those that have none of their own are the node's. */
static bool is_on_gpu(const char *region)
{
	return strncmp(region, "vram", 4) == 0 || strncmp(region, "local", 5) == 0;
}

static void sum_up(struct reader *r)
{
	for (const struct region *g = r->region; g < r->region + r->nregions; g++) {
		int64_t *sum = is_on_gpu(g->name) ? &r->out->device_bytes : &r->out->host_bytes;

		if (*sum < 0)
			*sum = 0;
		number_add(sum, g->bytes);
	}
}

int drm_fdinfo_parse(const char *text, struct drm_fdinfo *out)
{
	const char *id = number_find_line(text, "drm-client-id:");
	const char *driver = number_find_line(text, "drm-driver:");
	struct reader r = { .out = out };

	*out = (struct drm_fdinfo){ .device_bytes = -1, .host_bytes = -1 };
	if (!id)
		return -ENODATA;
	if (!number_u64(&id, &out->client) || (*id && *id != '\n'))
		return -EBADMSG;
	driver = driver ? number_skip_blanks(driver) : "";
	snprintf(out->driver, sizeof out->driver, "%.*s", (int)strcspn(driver, "\n"), driver);
	for (const char *line = text; *line; line = number_next_line(line)) {
		int bad = read_line(&r, line);

		if (bad)
			return bad;
	}
	sum_up(&r);
	return 0;
}

/* ---- GPUs ---- */

#define SUMMED     .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM
#define GPU        .domain = "drm", SUMMED, .kind = KIND_GAUGE
#define ENGINE     .domain = "drm_engine", SUMMED, .kind = KIND_COUNTER
#define SINCE_SEEN ", since each client was first seen"
#define PAST_KERNEL                                                                                \
	" Work that a program gives to the GPU past the kernel, as ROCm does, is not in it."

const struct metric drm_metrics[] = {
	[DRM_CLIENTS] = { "drm.job_clients_count", GPU, .unit = UNIT_COUNT,
			  .label = "GPU clients, job's",
			  .help = "Clients of the GPU's driver that processes of the job have: an "
				  "open device file each, counted once however many share it." },
	[DRM_DEVICE_MEMORY] = { "drm.job_device_memory_bytes", GPU, .unit = UNIT_BYTES,
				.label = "GPU memory, job's",
				.help = "Memory of the GPU that the job's clients have resident "
					"there (vram, local), else allocated; what they share "
					"counts for each." },
	[DRM_HOST_MEMORY] = { "drm.job_host_memory_bytes", GPU, .unit = UNIT_BYTES,
			      .label = "Host memory for the GPU, job's",
			      .help = "The node's memory that the job's clients use on the GPU "
				      "(gtt, system), resident, else allocated; what they share "
				      "counts for each." },
	[DRM_ENGINE_BUSY] = { "drm_engine.job_busy_seconds", ENGINE, .unit = UNIT_ELAPSED_SECONDS,
			      .div = 1000000000, .label = "GPU engine, job's",
			      .help = "Time that engines of this kind worked for the job's "
				      "clients" SINCE_SEEN "; of several engines, their "
				      "sum." PAST_KERNEL },
	[DRM_ENGINE_CYCLES] = { "drm_engine.job_cycles", ENGINE, .unit = UNIT_COUNT,
				.label = "GPU engine cycles, job's",
				.help = "Cycles that engines of this kind worked for the job's "
					"clients" SINCE_SEEN "." PAST_KERNEL },
	[DRM_ENGINE_TOTAL_CYCLES] = { "drm_engine.cycles", ENGINE, .unit = UNIT_COUNT,
				      .label = "GPU engine cycles, all",
				      .help = "Cycles that one engine of this kind had while its "
					      "clients were sampled." },
	[DRM_ENGINE_COUNT] = { "drm_engine.engines_count", .domain = "drm_engine", SUMMED,
			       .kind = KIND_GAUGE, .unit = UNIT_COUNT, .label = "GPU engines",
			       .help = "Engines of this kind that the GPU has." },
	[DRM_ENGINE_RATIO] = { "drm_engine.job_utilization_ratio", .domain = "drm_engine",
			       .over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX,
			       .kind = KIND_GAUGE, .unit = UNIT_RATIO,
			       .formula = "if(known(drm_engine.job_busy_ratio), "
					  "drm_engine.job_busy_ratio, "
					  "drm_engine.job_cycles_per_second / "
					  "drm_engine.cycles_per_second) / "
					  "drm_engine.engines_count",
			       .label = "GPU engine in use, job's",
			       .help = "Share of the time of engines of this kind in which they "
				       "worked for the job." },
};
_Static_assert(sizeof drm_metrics / sizeof drm_metrics[0] == DRM_NUMBER_OF,
	       "a row for every index");

enum { RENDER_FIRST = 128, RENDERS = 64 };

/* The value of a line such as "PCI_SLOT_NAME=0000:03:00.0"; "" when there is none. */
static void uevent_value(const char *text, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	out[0] = '\0';
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == '=') {
			snprintf(out, size, "%.*s", (int)strcspn(line + n + 1, "\n"), line + n + 1);
			return;
		}
	}
}

/* N of the cardN beside this render node; -1: it has none. */
static int card_of(const struct root *sys, int render)
{
	enum { ENTRIES = 16 };
	struct sysfs_name name[ENTRIES];
	char path[64];
	int n;

	snprintf(path, sizeof path, "class/drm/renderD%d/device/drm", render);
	n = sysfs_names(sys, path, name, ENTRIES);
	for (int i = 0; i < n; i++)
		if (strncmp(name[i].text, "card", 4) == 0)
			return (int)strtol(name[i].text + 4, NULL, 10);
	return -1;
}

static void announce(struct drm_gpu *v, const char *driver, const char *pci, struct sample *s)
{
	char name[32], file[40];

	snprintf(name, sizeof name, v->card < 0 ? "renderD%d" : "card%d",
		 v->card < 0 ? v->render : v->card);
	v->instance =
		sample_instance(s, drm_metrics[DRM_CLIENTS].domain, name, 0, clock_mono_ns(), 0);
	if (!v->instance)
		return;
	v->slot = sample_series(s, drm_metrics, DRM_GPU_SERIES, v->instance);
	snprintf(file, sizeof file, "/dev/dri/renderD%d", v->render);
	sample_label(s, v->instance, "device_file", file);
	if (*driver)
		sample_label(s, v->instance, "driver", driver);
	if (*pci)
		sample_label(s, v->instance, "pci", pci);
}

void drm_gpus_find(struct drm_gpus *g, const struct root *sys, struct sample *s)
{
	if (!sysfs_exists(sys, "class/drm"))
		return;
	for (int i = RENDER_FIRST; i < RENDER_FIRST + RENDERS && g->n < DRM_GPUS_MAX; i++) {
		char path[64], text[1024], driver[32], pci[32];
		struct drm_gpu *v = &g->gpu[g->n];

		snprintf(path, sizeof path, "class/drm/renderD%d", i);
		if (!sysfs_exists(sys, path))
			continue;
		snprintf(path, sizeof path, "class/drm/renderD%d/device/uevent", i);
		if (root_read(sys, path, text, sizeof text) < 0)
			text[0] = '\0';
		uevent_value(text, "DRIVER", driver, sizeof driver);
		uevent_value(text, "PCI_SLOT_NAME", pci, sizeof pci);
		if (strcmp(driver, "nvidia") == 0)
			continue;
		*v = (struct drm_gpu){ .render = i,
				       .card = card_of(sys, i),
				       .told = { STATE_PRESENT, STATE_PRESENT, STATE_PRESENT } };
		announce(v, driver, pci, s);
		g->n += v->slot != 0;
	}
}

struct drm_gpu *drm_gpu_behind(struct drm_gpus *g, const char *target)
{
	uint64_t render = 0, card = 0;
	bool is_render = fdlist_device(target, "/dev/dri/renderD", RENDER_FIRST, &render);
	bool is_card = fdlist_device(target, "/dev/dri/card", 0, &card);

	for (struct drm_gpu *v = g->gpu; v < g->gpu + g->n; v++)
		if ((is_render && (int64_t)render == v->render) ||
		    (is_card && (int64_t)card == v->card))
			return v;
	return NULL;
}

struct drm_gpu_engine *drm_gpu_engine(struct drm_gpu *v, const char *name, struct sample *s)
{
	struct drm_gpu_engine *e = v->engine;
	char full[64];
	uint32_t instance;

	for (; e < v->engine + v->nengines; e++)
		if (strcmp(e->name, name) == 0)
			return e;
	if (v->nengines == DRM_ENGINES_MAX)
		return NULL;
	v->nengines++;
	*e = (struct drm_gpu_engine){
		.busy_ns = -1, .cycles = -1, .total_cycles = -1, .capacity = 1
	};
	snprintf(e->name, sizeof e->name, "%s", name);
	snprintf(full, sizeof full, v->card < 0 ? "renderD%d %s" : "card%d %s",
		 v->card < 0 ? v->render : v->card, name);
	instance = sample_instance(s, drm_metrics[DRM_ENGINE_BUSY].domain, full, v->instance,
				   clock_mono_ns(), 0);
	if (instance)
		e->slot =
			sample_series(s, &drm_metrics[DRM_GPU_SERIES], DRM_ENGINE_SERIES, instance);
	return e;
}

void drm_gpu_begin(struct drm_gpu *v)
{
	v->clients = 0;
	v->device_bytes = v->host_bytes = -1;
}

static void tell(struct drm_gpu *v, unsigned metric, enum state state, const char *reason,
		 struct sample *s)
{
	if (v->told[metric] == state)
		return;
	v->told[metric] = state;
	sample_refuse(s, v->slot + metric, state, state == STATE_PRESENT ? NULL : reason);
}

void drm_gpu_refuse(struct drm_gpu *v, enum state state, const char *reason, struct sample *s)
{
	for (unsigned i = 0; i < DRM_GPU_SERIES; i++)
		tell(v, i, state, reason, s);
}

static const char not_told[] = "the GPU's driver does not report it in fdinfo";

/* A job without clients there has no memory there, whatever the driver tells. */
static void put_of_gpu(struct drm_gpu *v, unsigned metric, int64_t value, struct sample *s)
{
	if (!v->clients)
		value = 0;
	tell(v, metric, value < 0 ? STATE_UNSUPPORTED : STATE_PRESENT, not_told, s);
	if (value >= 0)
		sample_put(s, v->slot + metric, value);
}

static void put_engine(struct drm_gpu_engine *e, struct sample *s)
{
	const int64_t value[DRM_ENGINE_SERIES] = { e->busy_ns, e->cycles, e->total_cycles,
						   e->capacity };

	for (uint32_t i = 0; e->slot && i < DRM_ENGINE_SERIES; i++)
		if (value[i] >= 0)
			sample_put(s, e->slot + i, value[i]);
		else if (!e->told)
			sample_refuse(s, e->slot + i, STATE_UNSUPPORTED, not_told);
	e->told = true;
}

void drm_gpu_put(struct drm_gpu *v, struct sample *s)
{
	put_of_gpu(v, DRM_CLIENTS, v->clients, s);
	put_of_gpu(v, DRM_DEVICE_MEMORY, v->device_bytes, s);
	put_of_gpu(v, DRM_HOST_MEMORY, v->host_bytes, s);
	for (struct drm_gpu_engine *e = v->engine; e < v->engine + v->nengines; e++)
		put_engine(e, s);
}
