/* SPDX-License-Identifier: Apache-2.0 */
/* amdgpu.c - AMD GPUs: what the driver amdgpu tells in /sys/class/drm/cardN/device and its hwmon.
 */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/gpu/gpu.h"
#include "source/kept.h"
#include "source/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CARDS_MAX = 32, CARD_NUMBERS = 256, HWMONS_MAX = 64, AMD = 0x1002, RENDER_FIRST = 128 };
static const int64_t PERIOD_NS = NS_PER_S; /* a reading may ask the GPU's firmware */

/* Beside what GPUs of every maker have. */
enum { HOTSPOT = GPU_COMMON, HOST_MEMORY, PLACES_NUMBER_OF };

static const struct metric metrics[] = {
	[HOTSPOT - GPU_COMMON] = { "gpu.hotspot_temperature_celsius", .domain = "gpu",
				   .over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX,
				   .kind = KIND_GAUGE, .unit = UNIT_CELSIUS, .div = 1000,
				   .label = "GPU temperature, hottest",
				   .help = "Temperature where an AMD GPU is hottest (junction)." },
	[HOST_MEMORY - GPU_COMMON] = { "gpu.host_memory_used_bytes", .domain = "gpu",
				       .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM,
				       .kind = KIND_GAUGE, .unit = UNIT_BYTES,
				       .label = "Host memory of the GPU",
				       .help = "The node's memory that is mapped for an AMD GPU "
					       "(GTT)." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == PLACES_NUMBER_OF - GPU_COMMON,
	       "a row for every index");

/* Where a number is: a file of the device, or of its hwmon, the second where the first is not. */
static const struct place {
	const char *file, *other;
	bool hwmon, constant;
} places[] = {
	[GPU_UTILIZATION] = { "gpu_busy_percent", NULL, false, false },
	[GPU_MEMORY_UTILIZATION] = { "mem_busy_percent", NULL, false, false },
	[GPU_MEMORY_USED] = { "mem_info_vram_used", NULL, false, false },
	[GPU_MEMORY_TOTAL] = { "mem_info_vram_total", NULL, false, true },
	[GPU_POWER] = { "power1_average", "power1_input", true, false },
	[GPU_POWER_LIMIT] = { "power1_cap", NULL, true, true },
	[GPU_TEMPERATURE] = { "edge", "junction", true, false },
	[GPU_MEMORY_TEMPERATURE] = { "mem", NULL, true, false },
	[GPU_CLOCK] = { "freq1_input", NULL, true, false },
	[GPU_MEMORY_CLOCK] = { "freq2_input", NULL, true, false },
	[HOTSPOT] = { "junction", NULL, true, false },
	[HOST_MEMORY] = { "mem_info_gtt_used", NULL, false, false },
};
_Static_assert(sizeof places / sizeof places[0] == PLACES_NUMBER_OF, "a place for every metric");

struct card {
	uint32_t instance, slot, own; /* slots of the common metrics and of our own */
	int render;                   /* N of /dev/dri/renderDN; -1: not known */
	bool ours;
	int file[PLACES_NUMBER_OF];         /* kept open; 0: none */
	int error[PLACES_NUMBER_OF];        /* why it was not read last; 0: it was */
	int64_t constant[PLACES_NUMBER_OF]; /* -1: none */
};

struct amdgpu {
	const struct source_env *env;
	int64_t read_ns;
	uint32_t ncards;
	struct card card[CARDS_MAX];
	struct gpu_job *job;
};

static uint32_t slot_of(const struct card *c, unsigned metric)
{
	return metric < GPU_COMMON ? c->slot + metric : c->own + metric - GPU_COMMON;
}

/* The number N for which the directory `below`/`prefix`N is there, of the first `limit`; -1: none.
 */
static int find_numbered(const struct root *sys, const char *below, const char *prefix, int first,
			 int limit)
{
	char path[256];

	for (int i = first; i < limit; i++) {
		snprintf(path, sizeof path, "%s/%s%d", below, prefix, i);
		if (sysfs_exists(sys, path))
			return i;
	}
	return -1;
}

/* Temperatures are found by their labels: "edge", "junction", "mem". */
static int open_temperature(const struct root *sys, const char *hwmon, const char *wanted)
{
	char path[200], label[32];

	for (int i = 1; wanted && i < 8; i++) {
		ssize_t n;

		snprintf(path, sizeof path, "%s/temp%d_label", hwmon, i);
		n = root_read(sys, path, label, sizeof label);
		if (n <= 0)
			continue;
		label[strcspn(label, "\n")] = '\0';
		if (strcmp(label, wanted) != 0)
			continue;
		snprintf(path, sizeof path, "%s/temp%d_input", hwmon, i);
		return root_file(sys, path);
	}
	return -ENOENT;
}

static int open_place(const struct root *sys, const char *below, unsigned metric, const char *file)
{
	char path[200];

	if (!file)
		return -ENOENT;
	if (metric == GPU_TEMPERATURE || metric == GPU_MEMORY_TEMPERATURE || metric == HOTSPOT)
		return open_temperature(sys, below, file);
	snprintf(path, sizeof path, "%s/%s", below, file);
	return root_file(sys, path);
}

/* A number >= 0, or -errno: a GPU that sleeps, or has no such sensor, gives an error when it is
 * read. */
static int64_t read_number(int fd)
{
	char text[64];
	const char *p = text;
	int64_t value;
	ssize_t n = file_reread(fd, text, sizeof text);

	if (n <= 0)
		return n < 0 ? n : -ENODATA;
	if (!number_i64(&p, &value) || (*p && *p != '\n'))
		return -EBADMSG;
	return value >= 0 ? value : -ERANGE;
}

static void tell(struct card *c, unsigned metric, struct sample *s, int error)
{
	enum state state = error ? state_of(error) : STATE_PRESENT;
	const char *reason = error ? sysfs_reason(error) : NULL;

	if (c->error[metric] == error)
		return;
	c->error[metric] = error;
	if (error == -EPERM || error == -EBUSY) { /* drivers/gpu/drm/amd/pm/amdgpu_pm.c */
		state = STATE_FAILED;
		reason = "the GPU is suspended or being reset";
	} else if (state == STATE_UNSUPPORTED || error == -EINVAL) {
		state = STATE_UNSUPPORTED;
		reason = "the driver amdgpu does not report it of this GPU";
	}
	sample_refuse(s, slot_of(c, metric), state, reason);
}

static void open_metric(struct card *c, unsigned metric, const struct root *sys, const char *below,
			struct sample *s)
{
	const struct place *p = &places[metric];
	int fd = open_place(sys, below, metric, p->file);
	int64_t value;

	if (fd == -ENOENT)
		fd = open_place(sys, below, metric, p->other);
	value = fd < 0 ? fd : read_number(fd);
	c->constant[metric] = p->constant && value >= 0 ? value : -1;
	if (fd >= 0 && ((p->constant && value >= 0) || value == -EOPNOTSUPP || value == -EINVAL))
		file_close(&fd);
	if (fd >= 0)
		c->file[metric] = fd;
	tell(c, metric, s, value < 0 ? (int)value : 0);
}

static void label_device(struct card *c, const struct root *sys, const char *device,
			 struct sample *s)
{
	static const struct {
		const char *file, *label;
	} texts[] = { { "product_name", "model" }, { "unique_id", "uuid" } };
	char path[160], text[128];

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		ssize_t n;

		snprintf(path, sizeof path, "%s/%s", device, texts[i].file);
		n = root_read(sys, path, text, sizeof text);
		text[n > 0 ? strcspn(text, "\n") : 0] = '\0';
		if (*text)
			sample_label(s, c->instance, texts[i].label, text);
	}
	snprintf(path, sizeof path, "%s/drm", device);
	c->render = find_numbered(sys, path, "renderD", RENDER_FIRST, RENDER_FIRST + 64);
	snprintf(text, sizeof text, "/dev/dri/renderD%d", c->render);
	if (c->render >= 0)
		sample_label(s, c->instance, "device_file", text);
}

static void open_card(struct amdgpu *a, int number, struct sample *s)
{
	const struct root *sys = &a->env->sys;
	struct card *c = &a->card[a->ncards];
	char device[64], hwmons[80], hwmon[100], name[16];
	int n;

	snprintf(device, sizeof device, "class/drm/card%d/device", number);
	snprintf(hwmons, sizeof hwmons, "%s/hwmon", device);
	n = find_numbered(sys, hwmons, "hwmon", 0, HWMONS_MAX);
	snprintf(hwmon, sizeof hwmon, "%s/hwmon%d", hwmons, n);
	snprintf(name, sizeof name, "card%d", number);
	*c = (struct card){ .render = -1 };
	c->instance = sample_instance(s, gpu_metrics->domain, name, 0, clock_mono_ns(), 0);
	if (c->instance)
		c->slot = sample_series(s, gpu_metrics, GPU_COMMON, c->instance);
	if (c->slot)
		c->own = sample_series(s, metrics, PLACES_NUMBER_OF - GPU_COMMON, c->instance);
	if (!c->own)
		return;
	a->ncards++;
	label_device(c, sys, device, s);
	for (unsigned i = 0; i < PLACES_NUMBER_OF; i++)
		open_metric(c, i, sys, places[i].hwmon ? hwmon : device, s);
}

/* Connectors (card0-DP-1) are no cards; graphics of other makers are none of ours. */
static bool is_amd(const struct root *sys, int number)
{
	char path[64], text[16];

	snprintf(path, sizeof path, "class/drm/card%d/device/vendor", number);
	return root_read(sys, path, text, sizeof text) > 0 && strtol(text, NULL, 16) == AMD;
}

static void amdgpu_close(void *state)
{
	struct amdgpu *a = state;

	for (uint32_t i = 0; i < a->ncards; i++)
		for (unsigned k = 0; k < PLACES_NUMBER_OF; k++)
			file_close(&a->card[i].file[k]);
	free(a->job);
}

/* Where there is none, that may be found when the job has begun. */
static bool has_no_driver(const struct source_env *env)
{
	return !sysfs_exists(&env->sys, "module/amdgpu");
}

static int amdgpu_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct amdgpu *a = state;

	if (has_no_driver(env))
		return err_set(e, -ENODEV, "the driver amdgpu is not loaded");
	a->env = env;
	a->read_ns = INT64_MIN / 2;
	for (int i = 0; i < CARD_NUMBERS && a->ncards < CARDS_MAX; i++)
		if (is_amd(&env->sys, i))
			open_card(a, i, s);
	if (!a->ncards)
		return err_set(e, -ENODEV, "%s/class/drm shows no GPU of AMD's", env->sys.path);
	a->job = calloc(1, sizeof *a->job);
	if (!a->job) {
		amdgpu_close(a);
		return err_set(e, -ENOMEM, "there is no memory");
	}
	sample_catalogue(s, &gpu_metrics[GPU_MEASURED], GPU_DERIVED_END - GPU_MEASURED);
	return 0;
}

static void read_card(struct card *c, struct sample *s)
{
	for (unsigned i = 0; i < PLACES_NUMBER_OF; i++) {
		int64_t value = c->file[i] ? read_number(c->file[i]) : c->constant[i];

		if (c->file[i])
			tell(c, i, s, value < 0 ? (int)value : 0);
		if (value >= 0)
			sample_put(s, slot_of(c, i), value);
	}
}

static void look_at_job(struct amdgpu *a, struct sample *s)
{
	if (!gpu_job_look(a->job, a->env))
		return;
	for (struct card *c = a->card; c < a->card + a->ncards; c++)
		if (!c->ours && c->render >= 0 &&
		    (a->job->renders >> (c->render - RENDER_FIRST) & 1)) {
			c->ours = true;
			sample_label(s, c->instance, "job", "open device file");
		}
}

static int amdgpu_read(void *state, struct sample *s)
{
	struct amdgpu *a = state;

	/* Samples are not quite on time. */
	if (s->mono_ns - a->read_ns < PERIOD_NS - PERIOD_NS / 20)
		return 0;
	a->read_ns = s->mono_ns;
	for (uint32_t i = 0; i < a->ncards; i++)
		read_card(&a->card[i], s);
	look_at_job(a, s);
	return 0;
}

const struct source source_amdgpu = {
	.name = "amdgpu",
	.what = "AMD GPUs, by their driver's files",
	.fix_user = "ask the scheduler for a GPU",
	.fix_admin = "load the driver amdgpu",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct amdgpu),
	.can_wait = has_no_driver,
	.open = amdgpu_open,
	.read = amdgpu_read,
	.close = amdgpu_close,
};
