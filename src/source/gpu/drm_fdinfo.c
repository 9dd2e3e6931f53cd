/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu/drm_fdinfo.h"

#include "base/text/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { REGIONS_MAX = 16 };

/* What no GPU reaches. All that one client tells can be summed up, and thousands of clients. */
static const int64_t BYTES_LIMIT = INT64_C(1) << 46, COUNT_LIMIT = INT64_C(1) << 58;

/* The later, the better: what is resident before what is allocated. */
enum kind { NO_KIND, TOTAL, MEMORY, RESIDENT };

struct region {
	char name[DRM_NAME_SIZE];
	enum kind kind;
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
	enum kind kind;
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
